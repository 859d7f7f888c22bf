import Testing
import Vitals

@Suite struct SampleViolationsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var sample: Sample
        /// The paths of the violations, in order; empty for a valid sample.
        var paths: [String] = []
        var testDescription: String { name }
    }

    private static let start = Timestamp(milliseconds: 1_795_000_000_000)

    private static func value(_ metric: Metric, _ value: Double, _ paths: String...) -> Case {
        Case(
            name: "\(metric.rawValue) \(value)",
            sample: Sample(metric: metric, start: start, reading: .value(value)), paths: paths)
    }

    private static func pressure(_ systolic: Double, _ diastolic: Double, _ pulse: Double?, _ paths: String...) -> Case
    {
        Case(
            name: "\(systolic)/\(diastolic) \(pulse as Any)",
            sample: Sample(
                metric: .bloodPressure, start: start,
                reading: .bloodPressure(BloodPressure(systolic: systolic, diastolic: diastolic, pulse: pulse))),
            paths: paths)
    }

    static let values: [Case] = [
        value(.heartRate, 20), value(.heartRate, 300), value(.heartRate, 19.9, "value"),
        value(.heartRate, 301, "value"), value(.heartRate, .nan, "value"), value(.heartRate, .infinity, "value"),
        value(.restingHeartRate, 45), value(.restingHeartRate, 0, "value"), value(.restingHeartRate, 255),
        value(.bloodOxygen, 0), value(.bloodOxygen, 100), value(.bloodOxygen, 101, "value"),
        value(.bloodOxygen, -1, "value"), value(.stress, 0), value(.stress, 100), value(.stress, 100.5, "value"),
        value(.temperature, 25), value(.temperature, 36.65), value(.temperature, 45),
        value(.temperature, 24.9, "value"), value(.temperature, 98.6, "value"),
        value(.temperature, -.infinity, "value"), value(.battery, 0), value(.battery, 100),
        value(.battery, 255, "value"),
        value(.heartRateVariability, 1), value(.heartRateVariability, 500), value(.heartRateVariability, 0, "value"),
        value(.respiratoryRate, 3), value(.respiratoryRate, 100), value(.respiratoryRate, 0, "value"),
        value(.skinTemperature, 15), value(.skinTemperature, 45), value(.weight, 0.4), value(.weight, 650),
        value(.weight, 0, "value"), value(.bloodGlucose, 10), value(.bloodGlucose, 1000),
        value(.vo2Max, 3), value(.vo2Max, 96.7), value(.vo2Max, 101, "value"), value(.bodyFat, 0, "value"),
        value(.leanMass, 60), value(.height, 272), value(.height, 1.8, "value"), value(.bodyMassIndex, 185.5),
        value(.heartRateRecovery, 0), value(.heartRateRecovery, -1, "value"), value(.walkingHeartRate, 19, "value"),
        value(.noiseExposure, 0), value(.noiseExposure, 195, "value"),
        value(.bloodGlucose, 0, "value"),
        pressure(120, 80, nil), pressure(120, 120, 60), pressure(300, 20, 0),
        pressure(301, 80, nil, "systolic"), pressure(120, 19, nil, "diastolic"),
        pressure(80, 120, nil, "diastolic"), pressure(120, 80, 301, "pulse"), pressure(120, 80, -1, "pulse"),
        pressure(.nan, 80, nil, "systolic"), pressure(120, .nan, nil, "diastolic"),
        pressure(0, 400, .nan, "systolic", "diastolic", "diastolic", "pulse"),
    ]

    /// Numbers that are no values of the metric: a difference from a baseline, mmol/L.
    static let others: [Case] = [
        value(.skinTemperature, -0.4, "value"), value(.skinTemperature, 1.2, "value"),
        value(.bloodGlucose, 5.5, "value"), value(.bloodGlucose, 9.9, "value"),
    ]

    @Test(arguments: others)
    func `takes no difference for a skin temperature, and no usual mmol/L for a blood glucose`(_ example: Case) {
        check(example)
    }

    private static func words(_ metric: Metric, _ words: [Qualifier: String], _ paths: String...) -> Case {
        Case(
            name: "\(metric.rawValue) \(words.map { "\($0.key.rawValue) \($0.value)" }.sorted())",
            sample: Sample(metric: metric, start: start, qualifiers: words, reading: .value(80)), paths: paths)
    }

    static let qualified: [Case] = [
        words(.heartRateVariability, [.statistic: "rmssd"]), words(.heartRateVariability, [.statistic: "sdnn"]),
        words(.heartRateVariability, [:]), words(.heartRateVariability, [.statistic: "RMSSD"], "statistic"),
        words(.heartRateVariability, [.statistic: ""], "statistic"),
        words(.heartRateVariability, [.meal: "after"], "meal"),
        words(.bloodGlucose, [.meal: "after", .specimen: "interstitial_fluid"]),
        words(.bloodGlucose, [.meal: "lunch", .specimen: "blood"], "meal", "specimen"),
        words(.heartRate, [.statistic: "rmssd"], "statistic"),
        words(.heartRateVariability, [Qualifier(rawValue: "colour"): "red"], "colour"),
    ]

    @Test(arguments: qualified)
    func `takes only the words of its metric`(_ example: Case) { check(example) }

    @Test(arguments: values)
    func `takes what a living person can have`(_ example: Case) { check(example) }

    private static func steps(
        _ count: Int, _ distance: Double?, _ energy: Double?, in length: Duration = .days(7), _ paths: String...
    ) -> Case {
        Case(
            name: "\(count) steps, \(distance as Any) m, \(energy as Any) kcal in \(length)",
            sample: Sample(
                metric: .steps, start: start, end: start + length,
                reading: .count(Increment(count: count, distance: distance, energy: energy))), paths: paths)
    }

    /// Amounts of lengths: six steps, 15 m on foot, 85 m of a workout and 3 kcal in each second, of a minute at least.
    static let rates: [Case] = [
        steps(360, 900, 180, in: .minutes(1)),
        steps(361, 900.1, 180.1, in: .minutes(1), "value", "distance_m", "energy_kcal"),
        steps(360, nil, nil, in: .seconds(1)), steps(2941, nil, nil, in: .seconds(1), "value"),
        steps(5400, 13_500, 2700, in: .minutes(15)), steps(5401, nil, nil, in: .minutes(15), "value"),
        // It does not say how long it took.
        steps(100_000, 80_000, 4000, in: .zero),
        sport("as fast as a bicycle ever was") { $0.distance = 296_000 },
        sport("faster", "distance_m", "energy_kcal", "steps") { sport in
            sport.distance = 306_001
            sport.energy = 10_801
            sport.steps = 21_601
        },
    ]

    /// The same of counters: by any means, on foot, and floors.
    static let counterRates: [Case] = [
        count(.distance, 5100, in: .minutes(1)), count(.distance, 5101, in: .minutes(1), "value"),
        count(.distance, 5100, in: .minutes(1), of: "cycling"),
        count(.distance, 5101, in: .minutes(1), of: "wheelchair", "value"),
        count(.distance, 900, in: .minutes(1), of: "walking_running"),
        count(.distance, 901, in: .minutes(1), of: "walking_running", "value"),
        count(.distance, 901, in: .minutes(1), of: "swimming", "value"),
        count(.activeEnergy, 180, in: .minutes(1)), count(.activeEnergy, 180.1, in: .minutes(1), "value"),
        count(.totalEnergy, 180, in: .seconds(1)), count(.totalEnergy, 180.1, in: .seconds(1), "value"),
        count(.floors, 30, in: .minutes(1)), count(.floors, 30.1, in: .minutes(1), "value"),
    ]

    /// At rest, minutes and hours of the time itself, and what is eaten and drunk: an app may give a whole day of that the time of a
    /// minute.
    static let restRates: [Case] = [
        count(.basalEnergy, 90, in: .hours(1)), count(.basalEnergy, 2400, in: .days(1)),
        count(.basalEnergy, 8640, in: .days(1)), count(.basalEnergy, 8640.5, in: .days(1), "value"),
        count(.basalEnergy, 6, in: .seconds(5)), count(.basalEnergy, 6.1, in: .minutes(1), "value"),
        count(.basalEnergy, 2000, in: .zero),
        count(.exerciseMinutes, 1, in: .seconds(1)), count(.exerciseMinutes, 60, in: .hours(1)),
        count(.exerciseMinutes, 61, in: .hours(1), "value"), count(.exerciseMinutes, 60, in: .seconds(3599)),
        count(.exerciseMinutes, 40, in: .minutes(1), "value"), count(.exerciseMinutes, 30, in: .zero),
        count(.standHours, 2, in: .minutes(20)), count(.standHours, 3, in: .minutes(20), "value"),
        count(.standHours, 2, in: .hours(1)), count(.standHours, 3, in: .hours(1), "value"),
        count(.standHours, 24, in: .days(1)), count(.standHours, 26, in: .days(1), "value"),
        count(.standHours, 12, in: .zero),
        count(.hydration, 750, in: .minutes(1)), count(.hydration, 20_016, in: .minutes(1)),
        count(.hydration, 20_017, in: .minutes(1), "value"), count(.hydration, 44_000, in: .days(1)),
        count(.hydration, 44_001, in: .days(1), "value"), count(.hydration, 44_001, in: .zero),
        count(.dietaryEnergy, 1500, in: .seconds(1)), count(.dietaryEnergy, 30_017, in: .minutes(1)),
        count(.dietaryEnergy, 30_018, in: .minutes(1), "value"), count(.dietaryEnergy, 55_000, in: .days(1)),
        count(.dietaryEnergy, 55_001, in: .days(1), "value"), count(.dietaryEnergy, 55_001, in: .zero),
    ]

    @Test(arguments: rates + counterRates + restRates)
    func `takes what a person can do in its time`(_ example: Case) { check(example) }

    @Test func `what is possible grows with the length, from a minute on, and has no end without one`() {
        #expect(SampleLimits.most(at: SampleLimits.floorRate, in: .minutes(10)) == 300)
        #expect(SampleLimits.most(at: SampleLimits.floorRate, in: .milliseconds(1)) == 30)
        #expect(SampleLimits.most(at: SampleLimits.floorRate, in: .zero) == .infinity)
        // Each minute and hour that has begun counts, also where their rate is no short binary number.
        for minutes in 1...10_080 {
            let most = SampleLimits.most(at: SampleLimits.exerciseRate, in: .minutes(minutes), by: .minutes(1))
            #expect(most >= Double(minutes) && most < Double(minutes) + 0.001)
        }
        #expect(SampleLimits.most(at: SampleLimits.exerciseRate, in: .milliseconds(60_001), by: .minutes(1)) == 2)
        #expect(SampleLimits.most(at: SampleLimits.standRate, in: .minutes(1), by: .hours(1)) == 1)
    }

    private static func sport(_ name: String, _ paths: String..., change: (inout Sport) -> Void) -> Case {
        var sport = Sport(activity: "running", distance: 5000, energy: 400, steps: 6000, averageHeartRate: 140)
        change(&sport)
        return Case(
            name: name,
            sample: Sample(metric: .sport, start: start, end: start + .hours(1), reading: .sport(sport)), paths: paths)
    }

    static let totals: [Case] = [
        steps(0, nil, nil), steps(500_000, 5_000_000, 1_000_000), steps(-1, nil, nil, "value"),
        steps(500_001, nil, nil, "value"), steps(.max, -1, .nan, "value", "distance_m", "energy_kcal"),
        steps(1, 5_000_001, 1_000_001, "distance_m", "energy_kcal"),
        sport("a run") { _ in },
        sport("nothing known") { $0 = Sport(activity: "x") },
        sport("longest name") { $0.activity = String(repeating: "x", count: 64) },
        sport("too long a name", "activity") { $0.activity = String(repeating: "x", count: 65) },
        sport("64 letters of two bytes", "activity") { $0.activity = String(repeating: "ü", count: 64) },
        sport("no name", "activity") { $0.activity = "" },
        sport("negative distance", "distance_m") { $0.distance = -0.1 },
        sport("negative energy", "energy_kcal") { $0.energy = -1 },
        sport("negative steps", "steps") { $0.steps = -1 },
        sport("heart rates not measured") { $0.minimumHeartRate = 0 },
        sport("no highest heart rate") { ($0.minimumHeartRate, $0.maximumHeartRate) = (95, 0) },
        sport("rounded heart rates") { ($0.minimumHeartRate, $0.maximumHeartRate) = (141, 139) },
        sport("a mean below the lowest", "heart_rate_avg") { $0.minimumHeartRate = 141.1 },
        sport("a mean above the highest", "heart_rate_max") { $0.maximumHeartRate = 138.9 },
        sport("turned round without a mean", "heart_rate_max") {
            ($0.minimumHeartRate, $0.averageHeartRate, $0.maximumHeartRate) = (150, nil, 90)
        },
        sport("heart rates", "heart_rate_min", "heart_rate_avg", "heart_rate_max") {
            $0.minimumHeartRate = -1
            $0.averageHeartRate = .nan
            $0.maximumHeartRate = 301
        },
    ]

    @Test(arguments: totals)
    func `takes totals that are possible`(_ example: Case) { check(example) }

    /// A sleep of eight hours with stages given in minutes from its start.
    private static func sleep(_ name: String, _ stages: [(Int, Int)], _ paths: String...) -> Case {
        let stages = stages.map { Sleep.Stage(.light, from: start + .minutes($0.0), to: start + .minutes($0.1)) }
        return Case(
            name: name,
            sample: Sample(
                metric: .sleep, start: start, end: start + .hours(8), reading: .sleep(Sleep(stages: stages))),
            paths: paths)
    }

    /// A sleep of hours, asleep from its beginning on, with further minutes asleep.
    private static func long(_ hours: Int, asleep: Int, minutes: Int = 0, _ paths: String...) -> Case {
        let stage = Sleep.Stage(.asleep, from: start, to: start + .minutes(asleep))
        let sleep = Sleep(stages: [stage], untimed: minutes == 0 ? [:] : [.light: minutes])
        return Case(
            name: "\(hours) hours, \(asleep) and \(minutes) minutes asleep",
            sample: Sample(metric: .sleep, start: start, end: start + .hours(hours), reading: .sleep(sleep)),
            paths: paths)
    }

    static let longSleeps: [Case] = [
        long(24, asleep: 1440), long(56, asleep: 1440), long(25, asleep: 1441, "end"),
        long(56, asleep: 56 * 60, "end"), long(56, asleep: 600, minutes: 840),
        long(56, asleep: 600, minutes: 841, "end"),
    ]

    @Test(arguments: longSleeps)
    func `takes a sleep of a day at most, however long somebody lies in bed`(_ example: Case) { check(example) }

    static let sleeps: [Case] = [
        sleep("none", []), sleep("whole", [(0, 480)]), sleep("neighbours", [(0, 60), (60, 60), (60, 480)]),
        sleep("with a hole", [(10, 20), (30, 40)]), sleep("before the sleep", [(-1, 20)], "stages[0]"),
        sleep("after the sleep", [(0, 20), (20, 481)], "stages[1]"),
        sleep("overlapping", [(0, 60), (59, 70)], "stages[1].start"),
        sleep("within an earlier one", [(0, 100), (10, 20), (50, 110)], "stages[1].start", "stages[2].start"),
        sleep("descending", [(60, 90), (0, 60)], "stages[1].start"),
        sleep("turned round", [(60, 30), (60, 90)], "stages[0].end"),
        sleep("most stages", [(Int, Int)](repeating: (5, 5), count: 2880)),
        sleep("too many stages", [(Int, Int)](repeating: (5, 5), count: 2881), "stages"),
    ]

    @Test(arguments: sleeps)
    func `takes stages that ascend within their sleep`(_ example: Case) { check(example) }

    private static func minutes(_ name: String, _ minutes: [Sleep.Stage.Depth: Int], _ paths: String...) -> Case {
        let stage = Sleep.Stage(.light, from: start, to: start + .minutes(60))
        return Case(
            name: name,
            sample: Sample(
                metric: .sleep, start: start, end: start + .hours(8),
                reading: .sleep(Sleep(stages: [stage], untimed: minutes))), paths: paths)
    }

    static let sleepTotals: [Case] = [
        minutes("the rest", [.deep: 200, .asleep: 220]), minutes("one rounded up", [.deep: 421]),
        minutes("three rounded up", [.deep: 200, .rem: 213, .inBed: 10]),
        minutes("more than the night", [.deep: 422], "minutes"),
        minutes("none below zero", [.deep: -1, .rem: 5], "minutes"),
        minutes("far too many", [.asleep: .max], "minutes"),
    ]

    @Test(arguments: sleepTotals)
    func `takes minutes of a sleep that are together no longer than it`(_ example: Case) { check(example) }

    private static func count(
        _ metric: Metric, _ amount: Double, in length: Duration = .days(7), of activity: String? = nil,
        _ paths: String...
    ) -> Case {
        Case(
            name: "\(metric.rawValue) \(amount) \(activity ?? "") in \(length)",
            sample: Sample(
                metric: metric, start: start, end: start + length,
                qualifiers: activity.map { [.activity: $0] } ?? [:],
                reading: .count(Increment(amount: amount) ?? Increment(count: -1))), paths: paths)
    }

    static let counts: [Case] = [
        count(.distance, 5_000_000), count(.distance, 5_000_000.001, "value"), count(.distance, -1, "value"),
        count(.activeEnergy, 1_000_000), count(.activeEnergy, 1_000_000.5, "value"), count(.totalEnergy, 0),
        count(.floors, 65_000), count(.floors, 65_001, "value"), count(.exerciseMinutes, 10_080),
        count(.exerciseMinutes, 10_081, "value"), count(.standHours, 168), count(.standHours, 169, "value"),
        count(.hydration, 150_000), count(.hydration, 150_001, "value"), count(.dietaryEnergy, 200_000),
        count(.dietaryEnergy, 200_001, "value"), count(.protein, 50_000), count(.protein, 50_000.1, "value"),
        count(.fat, 22_000), count(.fat, 22_001, "value"), count(.carbohydrates, 12.345),
    ]

    @Test(arguments: counts)
    func `takes of a counter what a person can do in a week`(_ example: Case) { check(example) }

    private static func spot(_ name: String, _ paths: String..., change: (inout Sample) -> Void) -> Case {
        var sample = Sample(metric: .heartRate, start: start, reading: .value(60))
        change(&sample)
        return Case(name: name, sample: sample, paths: paths)
    }

    static let frames: [Case] = [
        spot("end before start", "end") { $0.end = $0.start - .milliseconds(1) },
        spot("a week") { $0.end = $0.start + .days(7) },
        spot("more than a week", "end") { $0.end = $0.start + .days(7) + .milliseconds(1) },
        spot("1970") { ($0.start, $0.end) = (Timestamp(milliseconds: 0), Timestamp(milliseconds: 0)) },
        spot("before 1970", "start", "end") {
            ($0.start, $0.end) = (Timestamp(milliseconds: -1), Timestamp(milliseconds: -1))
        },
        spot("2199") { sample in
            sample.start = Timestamp(milliseconds: 7_258_118_399_999)
            sample.end = sample.start
        },
        spot("2200", "end") { sample in
            sample.start = Timestamp(milliseconds: 7_258_118_399_999)
            sample.end = Timestamp(milliseconds: 7_258_118_400_000)
        },
        spot("all of time", "start", "end", "end") {
            ($0.start, $0.end) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        },
        spot("user 0") { $0.user = 0 }, spot("user -1", "user") { $0.user = -1 },
        spot("user 10000", "user") { $0.user = 10_000 }, spot("revision 1") { $0.revision = 1 },
        spot("user 9999") { $0.user = 9_999 },
        spot("a thousand million revisions") { $0.revision = 1_000_000_000 },
        spot("one revision more", "rev") { $0.revision = 1_000_000_001 },
        spot("revision 0", "rev") { $0.revision = 0 }, spot("last revision", "rev") { $0.revision = .max },
    ]

    @Test(arguments: frames)
    func `takes times, users and revisions that make sense`(_ example: Case) { check(example) }

    @Test(arguments: Metric.allCases)
    func `refuses the reading of another metric`(metric: Metric) {
        let readings: [Reading] = [
            .value(50), .bloodPressure(BloodPressure(systolic: 120, diastolic: 80)), .count(Increment(count: 1)),
            .sleep(Sleep(stages: [])), .sport(Sport(activity: "x")),
        ]
        let wrong = readings.map { Sample(metric: metric, start: Self.start, reading: $0) }
            .filter { $0.violations.map(\.path) == ["metric"] }
        #expect(wrong.count == readings.count - 1)
    }

    private func check(_ example: Case) {
        let violations = example.sample.violations
        #expect(violations.map(\.path) == example.paths)
        #expect(violations.allSatisfy { $0.code == .invalid && $0.message.hasPrefix("must") })
        #expect(example.sample.isValid == example.paths.isEmpty)
    }
}
