import Foundation
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import ColmiRing

/// Damaged packets must neither trap nor yield a sample that breaks the rules of `RingInput`.
@Suite struct RingFuzzTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Inputs")
    private static var inputs: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path()))?.sorted() ?? []
    }

    private static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: name)))
    }

    @Test func `finds the inputs`() { #expect(Self.inputs.count >= 6) }

    @Test(arguments: inputs) func `takes what fuzzing begins with, and what once failed`(name: String) throws {
        let bytes = try Self.bytes(name)
        #expect(RingInput.issues(in: bytes) == [])
    }

    @Test(arguments: UInt64(1)...8) func `never traps on damaged packets`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let seeds = try Self.inputs.map(Self.bytes)
        for _ in 0..<2_000 {
            var bytes = try #require(seeds.randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: bytes[position] = [0, 0x7f, 0x80, 0xf0, 0xff].randomElement(using: &random) ?? 0
                case 2: bytes.remove(at: position)
                case 3: bytes.removeSubrange(position...)
                default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: position)
                }
            }
            let issues = RingInput.issues(in: bytes)
            #expect(issues == [], "\(bytes)")
        }
    }
}
