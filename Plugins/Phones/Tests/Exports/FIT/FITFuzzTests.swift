import Foundation
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Damaged FIT files, by seeds: the same invariants as the fuzzer of `Tests/Fuzz/run`.
@Suite struct FITFuzzTests {
    private static let inputs = FuzzInputs()

    @Test func `finds the inputs`() { #expect(!Self.inputs.names.isEmpty) }

    @Test(arguments: inputs.names) func `takes what fuzzing begins with, and what once failed`(name: String) throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID().uuidString).fit")
        #expect(FITInput.issues(in: try Self.inputs.bytes(name), at: place) == [])
    }

    @Test(arguments: [UInt64](0..<8)) func `a damaged file is refused, or gives possible samples only`(seed: UInt64) {
        let place = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID().uuidString).fit")
        var writer = FITWriter()
        writer.begin()
        writer.add(103, at: 0, [(0, .uint32, FITWriter.midnight)])
        writer.add(55, at: 3600, [(5, .enumeration, 6), (3, .uint32, 100), (2, .uint32, 8000)])
        writer.add(20, at: 3700, [(3, .uint8, 95)])
        writer.add(
            18, at: 7200, [(2, .uint32, FITWriter.midnight + 3600), (7, .uint32, 3_600_000), (9, .uint32, 900_000)])
        writer.add(275, at: 7300, [(0, .enumeration, 2)])
        writer.add(275, at: 7900, [(0, .enumeration, 3)])
        var random = SplitMix64(seed: seed)
        for _ in 0..<150 {
            var damaged = writer
            Damage.bytes(&damaged.records, &random)
            // With the right check sum of the wrong bytes.
            #expect(FITInput.issues(in: damaged.file(), at: place) == [])
        }
    }
}
