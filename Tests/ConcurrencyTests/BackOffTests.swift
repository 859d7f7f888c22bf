import Concurrency
import Testing
import Vitals

@Suite struct BackOffTests {
    private static let upToAMinute = BackOff(first: .seconds(1), longest: .minutes(1))

    @Test(arguments: 0..<100) func `waits between half and all of a time that doubles up to the longest`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var backOff = Self.upToAMinute
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            let ceiling = Duration.seconds(seconds)
            #expect((ceiling / 2...ceiling).contains(backOff.next(using: &random)))
        }
        backOff.reset()
        #expect(backOff.next(using: &random) <= .seconds(1))
    }

    @Test func `never waits longer than the longest, not even at first`() {
        var random = SplitMix64(seed: 1)
        var backOff = BackOff(first: .seconds(10), longest: .seconds(2))
        for _ in 0..<3 { #expect(backOff.next(using: &random) <= .seconds(2)) }
        backOff.reset()
        #expect(backOff.next(using: &random) <= .seconds(2))
    }

    @Test func `differs from one who waits to another`() {
        var random = SplitMix64(seed: 1)
        let waits = (0..<20).map { _ in
            var backOff = Self.upToAMinute
            return backOff.next(using: &random)
        }
        #expect(Set(waits).count > 1)
    }
}
