import TestSupport
import Testing
import Vitals

@testable import GATTHealth

/// Damaged values must neither trap nor yield a sample that breaks the rules of `CharacteristicInput`.
@Suite struct CharacteristicFuzzTests {
    private static let inputs = FuzzInputs()

    @Test func `finds the inputs`() { #expect(Self.inputs.names.count >= 10) }

    @Test(arguments: inputs.names) func `takes what fuzzing begins with, and what once failed`(name: String) throws {
        #expect(CharacteristicInput.issues(in: try Self.inputs.bytes(name)) == [])
    }

    @Test(arguments: UInt64(1)...8) func `never traps on damaged values`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let seeds = try Self.inputs.all()
        for _ in 0..<5_000 {
            var bytes = try #require(seeds.randomElement(using: &random))
            Damage.packet(&bytes, with: [0, 0x7f, 0x80, 0xfe, 0xff], &random)
            let issues = CharacteristicInput.issues(in: bytes)
            #expect(issues == [], "\(bytes)")
        }
    }
}
