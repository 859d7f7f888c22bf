import Testing
import Vitals

@Suite struct SplitMix64Tests {
    /// The first numbers for the seed 1234567, as in other implementations.
    @Test func `draws the published numbers`() {
        var random = SplitMix64(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        #expect(expected.indices.map { _ in random.next() } == expected)
    }

    @Test func `a part has numbers of its own, whatever the whole draws afterwards`() {
        var whole = SplitMix64(seed: 7)
        var part = whole.split()
        var again = SplitMix64(seed: 7)
        var samePart = again.split()
        _ = again.next()
        #expect((0..<8).map { _ in part.next() } == (0..<8).map { _ in samePart.next() })
        #expect(whole != part)
    }
}
