import Testing
import Vitals

@Suite struct DailySummaryTests {
    private typealias Make = DailySamples

    private func extremes(_ summary: DailySummary) throws -> DailySummary.Extremes {
        guard case .values(let extremes) = summary.details else {
            throw UnexpectedDetails()
        }
        return extremes
    }

    private struct UnexpectedDetails: Error {}

    @Test func `has the mean to one decimal, the extremes and the counts`() throws {
        let samples = [Make.value(60, at: 1), Make.value(71, at: 2, isManual: true), Make.value(66, at: 3)]
        let summary = DailySummary(metric: .heartRate, day: Make.day, samples: samples)
        #expect(summary.metric == .heartRate)
        #expect(summary.day == Make.day)
        #expect((summary.count, summary.manualCount, summary.automaticCount) == (3, 1, 2))
        #expect(summary.average == 65.7)
        #expect(try extremes(summary).maximum == samples[1])
        #expect(try extremes(summary).minimum == samples[0])
        #expect(try extremes(summary).resting == [])
    }

    @Test(arguments: Metric.allCases.filter { $0.shape == .value })
    func `has the mean, the extremes and the counts of every metric of one value`(metric: Metric) throws {
        let samples = [
            Make.value(44, at: 3, metric: metric), Make.value(36, at: 1, metric: metric, isManual: true),
            Make.value(37, at: 2, metric: metric),
        ]
        let summary = DailySummary(metric: metric, day: Make.day, samples: samples)
        #expect((summary.count, summary.manualCount, summary.automaticCount) == (3, 1, 2))
        #expect(summary.average == 39)
        #expect(try extremes(summary).maximum == samples[0])
        #expect(try extremes(summary).minimum == samples[1])
    }

    @Test(
        arguments: [[], ["rmssd"], ["rmssd", "rmssd"], ["rmssd", "sdnn"], ["rmssd", nil], [nil, nil]] as [[String?]])
    func `has no mean and no extremes of values by different statistics`(words: [String?]) throws {
        let samples = words.enumerated().map { number, word in
            var stored = Make.value(Double(40 + number), at: number, metric: .heartRateVariability)
            stored.sample.qualifiers = word.map { [.statistic: $0] } ?? [:]
            return stored
        }
        let summary = DailySummary(metric: .heartRateVariability, day: Make.day, samples: samples)
        let isOne = Set(words).count == 1
        #expect(summary.count == words.count)
        #expect((summary.average != nil) == isOne)
        #expect(try extremes(summary).maximum == (isOne ? samples.last : nil))
        #expect(try extremes(summary).minimum == (isOne ? samples.first : nil))
    }

    @Test func `has the mean of a blood glucose whatever the meals`() {
        let samples = ["before", "after"].enumerated().map { number, word in
            var stored = Make.value(Double(90 + 60 * number), at: number, metric: .bloodGlucose)
            stored.sample.qualifiers = [.meal: word]
            return stored
        }
        #expect(DailySummary(metric: .bloodGlucose, day: Make.day, samples: samples).average == 120)
    }

    @Test(
        arguments: [
            ([60.0], 60), ([60, 61], 60.5), ([36.6, 36.7], 36.7), ([36.64], 36.6), ([36.65], 36.7), ([0.1, 0.2], 0.2),
            ([1, 1, 2], 1.3), ([-1, -1.1], -1.1), ([-0.25], -0.3),
        ] as [([Double], Double)])
    func `rounds the mean's halves away from zero`(values: [Double], average: Double) {
        let samples = values.enumerated().map { Make.value($0.element, at: $0.offset, metric: .temperature) }
        #expect(DailySummary(metric: .temperature, day: Make.day, samples: samples).average == average)
    }

    @Test func `of equal extremes takes the first, in whatever order they come`() throws {
        let samples = [Make.value(60, at: 3), Make.value(60, at: 1), Make.value(60, at: 2)]
        let result = try extremes(DailySummary(metric: .heartRate, day: Make.day, samples: samples))
        #expect(result.maximum == samples[1])
        #expect(result.minimum == samples[1])
    }

    @Test func `lists resting items as they follow one another in time`() throws {
        let samples = [
            Make.value(50, at: 9, kind: .resting), Make.value(80, at: 5), Make.value(48, at: 2, kind: .resting),
        ]
        let summary = DailySummary(metric: .heartRate, day: Make.day, samples: samples)
        #expect(try extremes(summary).resting == [samples[2], samples[0]])
        #expect(summary.average == 59.3)
        #expect(try extremes(summary).minimum == samples[2])
    }

    @Test func `takes every resting heart rate for a resting item`() throws {
        let samples = [
            Make.value(50, at: 9, metric: .restingHeartRate), Make.value(48, at: 2, metric: .restingHeartRate),
        ]
        let summary = DailySummary(metric: .restingHeartRate, day: Make.day, samples: samples)
        #expect(try extremes(summary).resting == [samples[1], samples[0]])
    }

    @Test func `keeps the newest resting items of a day that has too many`() throws {
        let limit = DailyAccumulator.restingLimit
        let samples = (0..<limit + 10).map { Make.value(50, at: $0, kind: .resting) }
        for order in [samples, samples.reversed()] {
            let summary = DailySummary(metric: .heartRate, day: Make.day, samples: order)
            #expect(try extremes(summary).resting == Array(samples.suffix(limit)))
            #expect(summary.count == limit + 10)
        }
    }

    @Test func `keeps the newest resting items of both metrics of the heart`() {
        let limit = DailyAccumulator.restingLimit
        let rates = (0..<limit).map { Make.value(50, at: 2 * $0, kind: .resting) }
        let resting = (0..<limit).map { Make.value(50, at: 2 * $0 + 1, metric: .restingHeartRate) }
        let newest = Array(zip(rates, resting).flatMap { [$0, $1] }.suffix(limit))
        for (metric, own, others) in [(Metric.heartRate, rates, resting), (.restingHeartRate, resting, rates)] {
            var summary = DailySummary(metric: metric, day: Make.day, samples: own)
            summary.addResting(others)
            #expect(summary.resting == newest, "\(metric)")
        }
    }

    @Test func `leaves the device's own extremes out of the mean, but not out of the extremes`() throws {
        let samples = [
            Make.value(60, at: 1), Make.value(180, at: 2, kind: .maximum), Make.value(40, at: 3, kind: .minimum),
        ]
        let summary = DailySummary(metric: .heartRate, day: Make.day, samples: samples)
        #expect(summary.average == 60)
        #expect(summary.count == 3)
        #expect(try extremes(summary).maximum == samples[1])
        #expect(try extremes(summary).minimum == samples[2])
        #expect(DailySummary(metric: .heartRate, day: Make.day, samples: samples.dropFirst()).average == 110)
    }

    @Test func `has four extremes and three means of blood pressures`() {
        let samples = [
            Make.pressure(120, 80, 60, at: 1), Make.pressure(141, 75, at: 2), Make.pressure(110, 95, 71, at: 3),
            Make.pressure(250, 20, at: 4, kind: .maximum),
        ]
        let summary = DailySummary(metric: .bloodPressure, day: Make.day, samples: samples)
        #expect(summary.average == nil)
        #expect(
            summary.details
                == .bloodPressure(
                    DailySummary.PressureExtremes(
                        maximumSystolic: samples[3], minimumSystolic: samples[2], maximumDiastolic: samples[2],
                        minimumDiastolic: samples[3],
                        average: BloodPressure(systolic: 123.7, diastolic: 83.3, pulse: 65.5))))
    }

    @Test func `adds up steps, with distance and energy where any sample has them`() {
        let bare = Make.stored(.steps, at: 1, lasting: 15, .count(Increment(count: 100)))
        let full = Make.stored(.steps, at: 20, lasting: 15, .count(Increment(count: 50, distance: 40.1, energy: 2.2)))
        let more = Make.stored(.steps, at: 40, lasting: 15, .count(Increment(count: 5, distance: 0.2)))
        #expect(Make.summary(.steps, bare).details == .count(total: 100, distance: nil, energy: nil))
        let summary = Make.summary(.steps, bare, full, more)
        #expect(summary.details == .count(total: 155, distance: 40.3, energy: 2.2))
        #expect(summary.count == 3)
        #expect(summary.average == nil)
    }

    /// Increments in thousandths, and their total.
    static let sums: [(Metric, [Int], Double)] = [
        (.distance, [812_500, 2_604_000, 40_250], 3_457), (.activeEnergy, [400, 400, 400], 1),
        (.activeEnergy, [400], 0), (.hydration, [250_000, 330_000], 580), (.floors, [2_500], 3),
        (.protein, [21_340, 34_040], 55.4), (.fat, [9_001, 49], 9.1), (.carbohydrates, [], 0),
    ]

    @Test(arguments: sums)
    func `adds up a counter, and rounds only the sum`(metric: Metric, thousandths: [Int], total: Double) {
        let samples = thousandths.enumerated().map { place, number in
            Make.stored(
                metric, at: place * 10, lasting: 10,
                .count(Increment(count: number / 1000, thousandths: number % 1000)))
        }
        let summary = DailySummary(metric: metric, day: Make.day, samples: samples)
        #expect(summary.details == .count(total: total, distance: nil, energy: nil))
        #expect(summary.count == samples.count && summary.average == nil)
    }

    @Test func `minutes asleep without a depth are part of the night, and those in bed are beside it`() {
        let night = Make.sleep([(.inBed, 20), (.asleep, 200), (.awake, 10), (.asleep, 64)], at: -60)
        let nap = Make.stored(
            .sleep, at: 780, lasting: 60, .sleep(Sleep(stages: [], untimed: [.deep: 12, .light: 38, .awake: 10])))
        let bed = Make.sleep([(.inBed, 30)], at: 900)
        let totals = DailySummary.SleepTotals(
            asleep: 314, deep: 12, light: 38, awake: 20, unstaged: 264, inBed: 50, start: night.sample.start,
            end: bed.sample.end)
        #expect(Make.summary(.sleep, nap, bed, night).details == .sleep(totals))
    }

    @Test func `adds naps to the night`() {
        let night = Make.sleep([(.light, 60), (.deep, 90), (.awake, 10), (.rem, 30)], at: -60)
        let nap = Make.sleep([(.light, 20)], at: 780)
        let totals = DailySummary.SleepTotals(
            asleep: 200, deep: 90, light: 80, rem: 30, awake: 10, start: night.sample.start, end: nap.sample.end)
        #expect(Make.summary(.sleep, nap, night).details == .sleep(totals))
    }

    @Test func `adds up workouts in whole minutes`() {
        let run = Make.stored(
            .sport, at: 60, lasting: 30, .sport(Sport(activity: "running", distance: 5000, energy: 400)))
        let walk = Make.stored(.sport, at: 120, lasting: 45, .sport(Sport(activity: "walking", energy: 100.5)))
        let workouts = [(run, "running"), (walk, "walking")].map { stored, activity in
            DailySummary.Workout(
                id: stored.id, start: stored.sample.start, end: stored.sample.end, activity: activity)
        }
        let totals = DailySummary.SportTotals(
            minutes: 75, sessions: 2, distance: 5000, energy: 500.5, workouts: workouts)
        #expect(Make.summary(.sport, run, walk).details == .sport(totals))
    }

    @Test(arguments: Metric.allCases)
    func `is empty without samples, and takes none of another metric or reading`(metric: Metric) {
        let empty = DailySummary(metric: metric, day: Make.day, samples: [])
        #expect((empty.count, empty.manualCount) == (0, 0))
        #expect(empty.average == nil)
        let other = Make.value(50, at: 1, metric: metric == .stress ? .temperature : .stress)
        let mismatch =
            metric.shape == .count
            ? Make.stored(metric, at: 1, .sleep(Sleep(stages: [])))
            : Make.stored(metric, at: 1, .count(Increment(count: 1)))
        #expect(Make.summary(metric, other, mismatch) == empty)
    }

    @Test func `belongs to the day of a sample's start, a sleep's end`() throws {
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        var cache = OffsetCache(calendar)
        let start = try moment("2026-11-20T22:30:00Z")  // 23:30 in Berlin
        let end = try moment("2026-11-21T05:30:00Z")
        let sleep = Sample(metric: .sleep, start: start, end: end, reading: .sleep(Sleep(stages: [])))
        let sport = Sample(metric: .sport, start: start, end: end, reading: .sport(Sport(activity: "night hike")))
        let spot = Sample(metric: .heartRate, start: start + .minutes(30), reading: .value(60))
        for (sample, date) in [(sleep, "2026-11-21"), (sport, "2026-11-20"), (spot, "2026-11-21")] {
            #expect(DailySummary.day(of: sample, in: calendar).description == date)
            #expect(DailySummary.day(of: sample, in: &cache).description == date)
        }
    }

    @Test(arguments: [([0.0, 70], 70.0), ([0], nil), ([60, 70], 65)] as [([Double], Double?)])
    func `a pulse of zero was not measured`(pulses: [Double], mean: Double?) {
        let samples = pulses.enumerated().map { Make.pressure(120, 80, $0.element, at: $0.offset) }
        let summary = DailySummary(metric: .bloodPressure, day: Make.day, samples: samples)
        guard case .bloodPressure(let extremes) = summary.details else {
            Issue.record("\(summary)")
            return
        }
        #expect(extremes.average?.pulse == mean)
        #expect(summary.count == pulses.count)
    }
}
