import Contract
import Vitals

/// Realistic values for all tests of the contract.
enum Examples {
    static let topics = ContractTopics(gateway: id("home"))
    static let calendar: LocalCalendar = {
        guard let calendar = LocalCalendar(identifier: "Europe/Berlin") else { preconditionFailure("no time zones") }
        return calendar
    }()
    static let encoder = ContractEncoder(topics: topics, calendar: calendar)
    static let parser = CommandParser(topics: topics, discoveryPrefix: "homeassistant", calendar: calendar)
    static let device = id("ring-1")
    static let now = time("2026-11-21T07:31:04.120Z")

    static func id(_ text: String) -> DeviceID {
        guard let id = DeviceID(text) else { preconditionFailure("\(text) is no identifier") }
        return id
    }

    static func time(_ text: String) -> Timestamp {
        guard let time = Timestamp(rfc3339: text) else { preconditionFailure("\(text) is no time") }
        return time
    }

    static func stored(
        _ metric: Metric, _ reading: Reading, start: String = "2026-11-20T22:10:00Z", end: String? = nil,
        kind: Sample.Kind = .normal, isUserInitiated: Bool = false, isExercise: Bool? = nil, revision: Int = 1,
        qualifiers: [Qualifier: String] = [:]
    ) -> StoredSample {
        let sample = Sample(
            metric: metric, start: time(start), end: end.map(time), kind: kind, isUserInitiated: isUserInitiated,
            isExercise: isExercise, qualifiers: qualifiers, reading: reading)
        return StoredSample(
            sample: sample, of: device, revision: revision,
            receivedAt: time("2026-11-21T07:31:03.900Z"))
    }

    static let heartRate = stored(.heartRate, .value(58))
    static let restingRate = stored(.heartRate, .value(51), kind: .resting, isExercise: false, revision: 3)
    static let manualRate = stored(.heartRate, .value(72), start: "2026-11-20T22:15:00Z", isUserInitiated: true)
    static let pressure = stored(
        .bloodPressure, .bloodPressure(BloodPressure(systolic: 128, diastolic: 79.5, pulse: 66)), isUserInitiated: true)
    static let temperature = stored(.temperature, .value(36.7))
    static let variability = stored(.heartRateVariability, .value(42), qualifiers: [.statistic: "rmssd"])
    static let otherVariability = stored(
        .heartRateVariability, .value(61), start: "2026-11-20T22:15:00Z", qualifiers: [.statistic: "sdnn"])
    static let glucose = stored(
        .bloodGlucose, .value(99.1), isUserInitiated: true,
        qualifiers: [.meal: "fasting", .specimen: "capillary_blood"])
    static let plainGlucose = stored(.bloodGlucose, .value(104), start: "2026-11-20T22:15:00Z")
    static let weight = stored(.weight, .value(72.35), isUserInitiated: true)
    static let steps = stored(
        .steps, .count(Increment(count: 412, distance: 301.5)), end: "2026-11-20T22:20:00Z")
    static let sleep = stored(
        .sleep,
        .sleep(
            Sleep(stages: [
                Sleep.Stage(.light, from: time("2026-11-20T22:10:00Z"), to: time("2026-11-20T23:00:00Z")),
                Sleep.Stage(.deep, from: time("2026-11-20T23:00:00Z"), to: time("2026-11-21T00:30:00Z")),
                Sleep.Stage(.awake, from: time("2026-11-21T00:30:00Z"), to: time("2026-11-21T00:35:00Z")),
            ])), end: "2026-11-21T00:35:00Z")
    /// A night without stages, after 20 minutes in bed, and a nap of which only the minutes are known.
    static let unstagedSleep = stored(
        .sleep,
        .sleep(
            Sleep(stages: [
                Sleep.Stage(.inBed, from: time("2026-11-20T22:10:00Z"), to: time("2026-11-20T22:30:00Z")),
                Sleep.Stage(.asleep, from: time("2026-11-20T22:30:00Z"), to: time("2026-11-21T02:54:00Z")),
            ])), end: "2026-11-21T02:54:00Z")
    static let untimedNap = stored(
        .sleep, .sleep(Sleep(stages: [], untimed: [.deep: 12, .light: 38, .awake: 10])),
        start: "2026-11-21T13:00:00Z", end: "2026-11-21T14:00:00Z")
    /// What was walked and what was cycled in the same ten minutes, and what was covered somehow in the next ones.
    static let distances = [
        stored(
            .distance, .count(Increment(count: 812, thousandths: 500)), end: "2026-11-20T22:20:00Z",
            qualifiers: [.activity: "walking_running"]),
        stored(
            .distance, .count(Increment(count: 2604)), end: "2026-11-20T22:20:00Z",
            qualifiers: [.activity: "cycling"]),
        stored(
            .distance, .count(Increment(count: 40, thousandths: 250)), start: "2026-11-20T22:20:00Z",
            end: "2026-11-20T22:30:00Z"),
    ]
    static let meals = [
        stored(.protein, .count(Increment(count: 21, thousandths: 340)), end: "2026-11-20T22:20:00Z"),
        stored(.protein, .count(Increment(count: 34, thousandths: 40)), start: "2026-11-20T22:20:00Z"),
    ]
    static let shorterSleep: StoredSample = {
        var result = stored(
            .sleep,
            .sleep(
                Sleep(stages: [
                    Sleep.Stage(.light, from: time("2026-11-20T22:10:00Z"), to: time("2026-11-20T23:00:00Z"))
                ])), end: "2026-11-20T23:00:00Z", revision: 2)
        result.isWithdrawn = true
        return result
    }()
    static let sport = stored(
        .sport,
        .sport(Sport(activity: "running", distance: 8012, energy: 610, averageHeartRate: 148, maximumHeartRate: 171)),
        start: "2026-11-20T16:00:00Z", end: "2026-11-20T16:47:30Z")

    static let zones = HeartRateZones(milliseconds: [1_234_567, 720_000, 0, 59_999, 6_000])

    static let info = DeviceInfo(
        id: device, name: "Anna's ring", person: "anna", people: [1: "anna", 2: "ben"], driver: "link",
        transport: "tcp",
        identity: DeviceIdentity(manufacturer: "Acme", model: "Ring", serial: "R-1", firmware: "1.2.3", hardware: "B"),
        capabilities: Capabilities(
            [.heartRate: [.measure, .monitor, .history, .restAlert], .stress: [.history], .steps: [.history]],
            maximumHistoryDays: 7), features: .battery)

    static let settings = MonitorSettings.defaults(
        for: Capabilities(Dictionary(uniqueKeysWithValues: Metric.allCases.map { ($0, Abilities(rawValue: .max)) })))
}
