import TestSupport
import Testing
import Vitals

@testable import Web

/// Values gathered into the points of a plot.
@Suite struct PlotBucketsTests {
    private let minute: Int64 = 60_000

    @Test func `a year of five-minute values has at most four hundred points, each with mean and extremes`() throws {
        let axis = try ShownPlots.axis(.year)
        let values = ShownPlots.values(axis)
        #expect(values.count == 365 * 288)
        #expect(values.buckets.count <= PlotBuckets.maximumCount)
        #expect(values.buckets.count == 365)
        #expect(
            values.buckets.allSatisfy {
                (276...300).contains($0.count) && (50...60).contains($0.minimum) && (140...150).contains($0.maximum)
            })
        #expect(values.buckets.allSatisfy { (90.0...110).contains($0.mean) })
    }

    @Test func `values in any order come to the same points`() throws {
        let axis = try ShownPlots.axis(.month)
        var moments = Array(stride(from: axis.from - 86_400_000, to: axis.to + 86_400_000, by: 777_777))
        func values() -> PlotBuckets {
            var values = PlotBuckets(axis)
            for moment in moments { values.add(Double(moment % 1000), at: moment) }
            return values
        }
        let ordered = values()
        var random = SplitMix64(seed: 5)
        moments.shuffle(using: &random)
        let shuffled = values()
        #expect(ordered.count == shuffled.count)
        #expect(ordered.buckets.map(\.count) == shuffled.buckets.map(\.count))
        #expect(ordered.buckets.map(\.minimum) == shuffled.buckets.map(\.minimum))
        #expect(ordered.buckets.map(\.first) == shuffled.buckets.map(\.first))
        #expect(ordered.newest?.moment == shuffled.newest?.moment)
    }

    @Test(arguments: PlotPeriod.allCases)
    func `a hole as long as the bridge is none, and a longer one is a gap`(period: PlotPeriod) throws {
        let axis = try ShownPlots.axis(period)
        let bridge = period.longestBridge
        for (hole, runs) in [(bridge, 1), (bridge + 1, 2)] {
            var values = PlotBuckets(axis)
            values.add(60, at: axis.from)
            values.add(70, at: axis.from + hole)
            #expect(values.runs(bridge: bridge).count == runs)
            #expect(values.gaps(bridge: bridge, now: axis.from + hole).count == runs - 1)
        }
        #expect(period.lineStep <= bridge)
        #expect(bridge < period.longestLastingBridge)
    }

    @Test func `before the first and after the last value are gaps, but not in the future`() throws {
        let axis = try ShownPlots.axis(.day)
        var values = PlotBuckets(axis)
        values.add(60, at: axis.from + 180 * minute)
        let gaps = values.gaps(bridge: 75 * minute, now: axis.from + 300 * minute)
        #expect(gaps == [axis.from..<axis.from + 180 * minute, axis.from + 180 * minute..<axis.from + 300 * minute])
    }

    @Test func `the extremes of a period count for a mean only where there are no other values`() throws {
        let axis = try ShownPlots.axis(.day)
        var values = PlotBuckets(axis)
        values.add(150, at: axis.from, isExtreme: true)
        #expect(values.buckets[0].mean == 150)
        values.add(60, at: axis.from + minute)
        values.add(62, at: axis.from + 2 * minute)
        #expect(values.buckets[0].mean == 61)
        #expect(values.mean == 61)
        #expect(values.buckets[0].maximum == 150)
    }

    @Test func `what is no number or outside of the axis is left out, and what is too large is clamped`() throws {
        let axis = try ShownPlots.axis(.day)
        var values = PlotBuckets(axis)
        for value in [Double.nan, .infinity, -.infinity] { values.add(value, at: axis.from) }
        for moment in [Int64.min, axis.from - 1, axis.to, .max] { values.add(60, at: moment) }
        values.add(mean: 1, minimum: 1, maximum: 1, count: 0, from: axis.from, to: axis.to)
        #expect(values.count == 0)
        values.add(mean: 1e300, minimum: -1e300, maximum: 1e300, count: .max, from: axis.from, to: .max)
        values.add(mean: 1e300, minimum: -1e300, maximum: 1e300, count: .max, from: axis.from, to: .max)
        #expect(values.highest?.value == PlotNumber.maximum)
        #expect(LinePlot("A", unit: nil, values: values, now: axis.to).svg(.wide).hasSuffix("</svg>"))
    }

    @Test func `the summary of a day is its point, and a withdrawn sample none`() throws {
        let (axis, calendar) = (try ShownPlots.axis(.year), try ShownPlots.calendar())
        let day = try ShownPlots.day("2026-03-29")
        let now = try ShownPlots.moment("2026-11-28T12:00:00Z")
        func sample(_ value: Double, revision: Int = 1, isWithdrawn: Bool = false) throws -> StoredSample {
            guard let device = DeviceID("band-1") else { throw Unexpected(text: "band-1") }
            let start = calendar.bounds(of: day).lowerBound + .hours(3)
            return StoredSample(
                sample: Sample(metric: .heartRate, start: start, reading: .value(value)), of: device,
                revision: revision, receivedAt: start, isWithdrawn: isWithdrawn)
        }
        let summary = DailySummary(
            metric: .heartRate, day: day, count: 270, manualCount: 0, average: 71.5,
            details: .values(.init(maximum: try sample(141, revision: 2), minimum: try sample(48))))
        var values = PlotBuckets(axis)
        values.add(summary, in: calendar, now: now)
        values.add(try sample(300, isWithdrawn: true))
        let bucket = values.buckets[87]
        #expect(values.count == 270)
        #expect(bucket.mean == 71.5)
        #expect(bucket.minimum == 48)
        #expect(bucket.maximum == 141)
        #expect(bucket.hasCorrection)
        #expect(bucket.last - bucket.first < 23 * 3_600_000)
    }
}
