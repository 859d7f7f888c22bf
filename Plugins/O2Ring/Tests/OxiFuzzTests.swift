import TestSupport
import Testing
import Vitals

@testable import O2Ring

/// Damaged bytes must neither trap nor yield a sample that breaks the rules of `OxiInput`.
@Suite struct OxiFuzzTests {
    private static let inputs = FuzzInputs()

    @Test func `finds the inputs`() { #expect(Self.inputs.names.count >= 5) }

    @Test(arguments: inputs.names) func `takes what fuzzing begins with, and what once failed`(name: String) throws {
        #expect(OxiInput.issues(in: try Self.inputs.bytes(name)) == [])
    }

    @Test(arguments: UInt64(1)...8) func `never traps on damaged bytes`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let seeds = try Self.inputs.all()
        for _ in 0..<2_000 {
            var bytes = try #require(seeds.randomElement(using: &random))
            Damage.packet(&bytes, with: [0, 0x7f, 0x80, 0x55, 0xff], &random)
            let issues = OxiInput.issues(in: bytes)
            #expect(issues == [], "\(bytes)")
        }
    }
}
