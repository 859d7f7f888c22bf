import Engines
import Testing
import Vitals

@Suite struct NewestValuesTests {
    private static let freshness: [Metric: Duration] = [.heartRate: .minutes(5)]
    private static let old = Fixture.stored(Fixture.heartRate(60, at: 0))
    private static let new = Fixture.stored(Fixture.heartRate(70, at: 1))

    /// The published values (`nil` for a stale one), after the old value was published at noon.
    private static func published(
        after change: (inout NewestValues) -> Void, latest: StoredSample, at minute: Int
    ) -> [Double?] {
        var values = NewestValues(freshness: freshness)
        _ = values.update([.heartRate: old], at: Fixture.noon)
        change(&values)
        return values.update([.heartRate: latest], at: Fixture.minute(minute))
            .map { $0.isStale ? nil : $0.stored.sample.value }
    }

    private static func change(isSync: Bool) -> (inout NewestValues) -> Void {
        { $0.change(from: [.heartRate: old], to: [.heartRate: new], isSync: isSync) }
    }

    @Test func `publishes a value once`() {
        #expect(Self.published(after: { _ in }, latest: Self.old, at: 1) == [])
    }

    @Test func `publishes a newer live value at once`() {
        #expect(Self.published(after: Self.change(isSync: false), latest: Self.new, at: 1) == [70])
    }

    @Test func `holds back what a synchronisation brings, until it is released`() {
        let held = Self.change(isSync: true)
        #expect(Self.published(after: held, latest: Self.new, at: 1) == [])
        #expect(
            Self.published(
                after: {
                    held(&$0); $0.release(.heartRate)
                }, latest: Self.new, at: 1) == [70])
        #expect(
            Self.published(
                after: {
                    held(&$0); $0.release()
                }, latest: Self.new, at: 1) == [70])
        #expect(
            Self.published(
                after: {
                    held(&$0); $0.release(.steps)
                }, latest: Self.new, at: 1) == [])
    }

    @Test func `a value that was taken back is null where no other one is left`() {
        var values = NewestValues(freshness: [:])
        _ = values.update([.heartRate: Self.old], at: Fixture.noon)
        let states = values.update([:], at: Fixture.minute(1))
        #expect(states.map(\.isStale) == [true] && states.map(\.stored) == [Self.old])
        #expect(values.update([:], at: Fixture.minute(2)).isEmpty)
    }

    @Test func `lets a live value pass what is held back`() {
        let both: (inout NewestValues) -> Void = {
            Self.change(isSync: true)(&$0)
            Self.change(isSync: false)(&$0)
        }
        #expect(Self.published(after: both, latest: Self.new, at: 1) == [70])
    }

    @Test func `a published value goes stale, also while a newer one is held back`() {
        #expect(Self.published(after: { _ in }, latest: Self.old, at: 5) == [nil])
        #expect(Self.published(after: Self.change(isSync: true), latest: Self.new, at: 5) == [nil])
    }

    @Test func `a metric without a limit never goes stale`() {
        var values = NewestValues(freshness: Self.freshness)
        let steps = Fixture.stored(Fixture.steps(10, at: -20))
        #expect(values.update([.steps: steps], at: Fixture.minute(60 * 24)).map(\.isStale) == [false])
        #expect(values.nextExpiry == nil)
    }

    @Test func `knows when the next value goes stale`() {
        var values = NewestValues(freshness: Self.freshness)
        _ = values.update([.heartRate: Self.old], at: Fixture.noon)
        #expect(values.nextExpiry == Fixture.minute(5))
        _ = values.update([.heartRate: Self.old], at: Fixture.minute(5))
        #expect(values.nextExpiry == nil)
    }
}
