import Foundation
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Damaged exports, by seeds: the same invariants as the fuzzer of `Tests/Fuzz/run`.
@Suite struct HealthConnectFuzzTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    private static let inputs = FuzzInputs()

    @Test func `finds the inputs`() { #expect(Self.inputs.names.count >= 2) }

    @Test(arguments: inputs.names) func `takes what fuzzing begins with, and what once failed`(name: String) throws {
        let bytes = try Self.inputs.bytes(name)
        let place = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID().uuidString)")
        #expect(HealthConnectInput.result(of: bytes, at: place).issues == [])
    }

    /// Runs a body with the small exports with which fuzzing begins, of which each byte counts.
    private static func withSeeds(_ body: (_ seeds: [String: [UInt8]], _ place: URL) throws -> Void) throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "seeds-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let script = tests.deletingLastPathComponent().appending(path: "seeds.py").path
        process.arguments = ["python3", "-B", script, "health-connect", place.path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        var seeds: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: place.path) {
            seeds[name] = [UInt8](try Data(contentsOf: place.appending(path: name)))
        }
        try body(seeds, place.appending(path: "mutated"))
    }

    @Test(arguments: [UInt64](0..<8)) func `a damaged export is refused, or gives possible samples only`(seed: UInt64)
        throws
    {
        try Self.withSeeds { seeds, place in
            let names = seeds.keys.sorted()
            #expect(names.count >= 7)
            // All of them are read as they are.
            for name in names {
                #expect(HealthConnectInput.result(of: seeds[name] ?? [], at: place).refusal == nil, "\(name)")
            }
            var random = SplitMix64(seed: seed)
            var (read, refused) = (0, 0)
            for _ in 0..<150 {
                let name = try #require(names.randomElement(using: &random))
                var bytes = try #require(seeds[name])
                if Int.random(in: 0..<10, using: &random) == 0 {
                    bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
                }
                Damage.bytes(&bytes, &random)
                let result = HealthConnectInput.result(of: bytes, at: place)
                #expect(result.issues == [], "\(name)")
                if result.refusal == nil { read += 1 } else { refused += 1 }
            }
            // Both ways are taken.
            #expect(read > 20 && refused > 20, "\(read) \(refused)")
        }
    }
}
