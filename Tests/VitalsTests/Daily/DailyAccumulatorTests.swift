import Testing

@testable import Vitals

@Suite struct DailyAccumulatorTests {
    private typealias Make = DailySamples

    /// Samples of a metric with many equal values and times, to detect any dependence on their order.
    private func samples(of metric: Metric, using generator: inout SplitMix64) -> [StoredSample] {
        let count = Int.random(in: 0...60, using: &generator)
        return (0..<count).map { index in
            let minute = Int.random(in: 0..<300, using: &generator)
            let kind = Sample.Kind.allCases.randomElement(using: &generator) ?? .normal
            let value = Double.random(in: 40...45, using: &generator)
            let rounded = Bool.random(using: &generator) ? value.rounded() : value
            let part: Double? = Bool.random(using: &generator) ? value : nil
            let reading: Reading =
                switch metric.shape {
                case .pressure:
                    .bloodPressure(BloodPressure(systolic: rounded * 3, diastolic: rounded * 2, pulse: part))
                case .count: .count(Increment(count: Int(rounded), distance: part, energy: part))
                case .sleep:
                    .sleep(
                        Sleep(stages: [
                            Sleep.Stage(
                                Sleep.Stage.Depth.allCases.randomElement(using: &generator) ?? .rem,
                                from: Make.midnight, to: Make.midnight + .seconds(Int(value * 100)))
                        ]))
                case .session: .sport(Sport(activity: "running", distance: part, energy: part))
                case .value: .value(rounded)
                }
            let stored = Make.stored(
                metric, at: minute, lasting: index % 3, kind: kind, isManual: index.isMultiple(of: 4), reading)
            return StoredSample(
                sample: stored.sample, id: SampleID(random: &generator), revision: 1, receivedAt: stored.receivedAt)
        }
    }

    @Test func `a term beyond a thousand million counts as that, so that no sum overflows`() {
        var sum = ExactSum()
        for _ in 0..<1000 { sum.add(1e300) }
        sum.add(-.infinity)
        sum.add(.nan)
        #expect(sum.total == 999e9)
        #expect(sum.count == 1001)
    }

    @Test(arguments: Metric.allCases, [1, 2, 3, 4, 5] as [UInt64])
    func `gives the same summary in whatever order samples come`(metric: Metric, seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<10 {
            let samples = samples(of: metric, using: &generator)
            let whole = DailySummary(
                metric: metric, day: Make.day, samples: samples.sorted { $0.sample.start < $1.sample.start })
            #expect(whole.count == samples.count)
            for _ in 0..<5 {
                var accumulator = DailyAccumulator(metric: metric, day: Make.day)
                for sample in samples.shuffled(using: &generator) { accumulator.add(sample) }
                #expect(accumulator.summary == whole)
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `agrees with a plain computation`(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let samples = samples(of: .heartRate, using: &generator) + [Make.value(44, at: 301)]
        let values = samples.filter { $0.sample.kind == .normal || $0.sample.kind == .resting }.compactMap(
            \.sample.value)
        let summary = DailySummary(metric: .heartRate, day: Make.day, samples: samples)
        let mean = values.reduce(0, +) / Double(values.count)
        #expect(abs((summary.average ?? 0) - mean) < 0.0501)
        #expect(summary.manualCount == samples.count { $0.sample.isUserInitiated })
        guard case .values(let extremes) = summary.details else {
            Issue.record("heart rates have extremes")
            return
        }
        #expect(extremes.maximum?.sample.value == samples.compactMap(\.sample.value).max())
        #expect(extremes.minimum?.sample.value == samples.compactMap(\.sample.value).min())
        #expect(extremes.resting.map(\.id).count == samples.count { $0.sample.kind == .resting })
    }

    @Test func `bears values that no validation has seen`() {
        let nonsense = [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude]
        for value in nonsense {
            let samples = [Make.value(value, at: 1), Make.value(60, at: 2)]
            let forwards = DailySummary(metric: .heartRate, day: Make.day, samples: samples)
            #expect(forwards.count == 2)
            #expect(forwards.average?.isFinite == true)
        }
        let steps = Make.stored(.steps, at: 1, .count(Increment(count: .max, distance: .nan, energy: .infinity)))
        let twice = Make.summary(.steps, steps, Make.stored(.steps, at: 2, .count(Increment(count: 1))))
        #expect(twice.details == .count(total: Double(Int.max), distance: nil, energy: 1e9))
    }
}
