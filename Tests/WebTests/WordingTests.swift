import Testing
import Vitals

@testable import Web

/// How the pages write numbers, times and the words of the contract.
@Suite struct WordingTests {
    private static let berlin = LocalCalendar(identifier: "Europe/Berlin")

    private static func moment(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }

    @Test(arguments: [
        (0, 0, "0"), (58.4, 0, "58"), (8213.5, 0, "8,214"), (1_234_567, 0, "1,234,567"), (36.6, 1, "36.6"),
        (36, 1, "36.0"), (0.05, 2, "0.05"), (-1.5, 1, "−1.5"), (-0.04, 1, "0.0"), (999.96, 1, "1,000.0"),
    ]) func `a number has all of its decimals, and groups of three digits`(
        value: Double, decimals: Int, text: String
    ) {
        #expect(NumberText.of(value, decimals: decimals) == text)
    }

    @Test(arguments: [Double.infinity, .nan, 1e300]) func `a number that no text fits is written as it is`(
        value: Double
    ) {
        #expect(NumberText.of(value) == "\(value)")
    }

    @Test(arguments: [
        (-1, "0 B"), (999, "999 B"), (1000, "1 kB"), (812_400, "812 kB"), (12_400_000, "12.4 MB"),
        (3_000_000_000, "3.0 GB"),
    ]) func `a size has the unit that leaves few digits`(bytes: Int, text: String) {
        #expect(NumberText.bytes(Int64(bytes)) == text)
    }

    @Test func `a number of one has its noun in the singular`() {
        #expect(NumberText.count(1, "record") == "1 record")
        #expect(NumberText.count(0, "record") == "0 records")
        #expect(NumberText.count(1310, "record") == "1,310 records")
    }

    @Test(arguments: [
        (-30, "just now"), (59, "just now"), (60, "1 min ago"), (3599, "59 min ago"), (3600, "1 h ago"),
        (86_399, "23 h ago"), (86_400, "1 day ago"), (172_799, "1 day ago"), (172_800, "2 days ago"),
    ]) func `an age has one unit, and what lies in the future is just now`(seconds: Int, text: String) {
        #expect(TimeText.age(.seconds(seconds)) == text)
    }

    @Test(arguments: [(-5, "0 min"), (42, "42 min"), (60, "1 h"), (462, "7 h 42 min"), (1500, "25 h")])
    func `a span has hours and minutes`(minutes: Int, text: String) {
        #expect(TimeText.span(minutes: minutes) == text)
    }

    @Test(arguments: [(0, "00:00"), (485, "08:05"), (1440, "24:00")])
    func `a time of day has two digits of each`(minutes: Int, text: String) {
        #expect(TimeText.clock(minutes) == text)
    }

    @Test(arguments: [
        ("2026-11-28", "Sat 28 Nov"), ("2026-01-01", "Thu 1 Jan"), ("2025-12-31", "Wed 31 Dec 2025"),
        ("1969-12-31", "Wed 31 Dec 1969"),
    ]) func `a date has its weekday, and its year if that is another one`(date: String, text: String) throws {
        let day = try #require(LocalDay(date))
        let today = try #require(LocalDay("2026-11-28"))
        #expect(TimeText.date(day, in: today) == text)
    }

    @Test(arguments: [
        ("2026-11-28T06:31:04.120Z", "07:31", "11 min ago"),
        ("2026-11-27T22:18:00.000Z", "Fri 27 Nov, 23:18", "8 h ago"),
        ("2026-11-27T23:00:00.000Z", "00:00", "7 h ago"),
        ("2025-06-01T10:00:00.000Z", "Sun 1 Jun 2025, 12:00", "544 days ago"),
    ]) func `a moment has the local time, of another day with its date`(iso: String, text: String, age: String) throws {
        let calendar = try #require(Self.berlin)
        let now = try Self.moment("2026-11-28T06:42:30.000Z")
        let moment = Moment(try Self.moment(iso), now: now, in: calendar)
        #expect(moment.iso == iso && moment.text == text && moment.age == age)
    }

    @Test func `every metric has a name that is no word of the wire`() {
        for metric in Metric.synchronised + [.battery] {
            let name = Wording.name(of: metric)
            #expect(name.first?.isUppercase ?? false, "\(name)")
            #expect(!name.contains("_"), "\(name)")
        }
        #expect(Wording.name(of: .heartRate) == "Heart rate")
        #expect(Wording.name(of: .vo2Max) == "VO₂ max")
    }

    @Test func `every rule of an alert is a sentence of its own`() {
        let rules = AlertRule.all + AlertRule.warnings
        let texts = Set(rules.map { Wording.name(of: $0) })
        #expect(texts.count == rules.count)
        #expect(texts.allSatisfy { !$0.contains("_") })
        #expect(Wording.name(of: AlertRule(.heartRate, .resting, .high)) == "Heart rate at rest is high")
        #expect(Wording.name(of: AlertRule(.bloodPressure, .diastolic, .low)) == "Diastolic blood pressure is low")
    }

    @Test func `every reason of a refusal is in plain words`() {
        let texts = Set(RefusalReason.allCases.map { Wording.text(of: $0) })
        #expect(texts.count == RefusalReason.allCases.count)
        #expect(texts.allSatisfy { !$0.contains("_") })
        #expect(Wording.text(ofSkipped: "out_of_range") == Wording.text(of: .outOfRange))
        #expect(Wording.text(ofSkipped: "a_word_of_a_driver") == "a word of a driver")
    }

    @Test func `why one record was refused is in the singular`() {
        #expect(Wording.text(of: .future, isOne: true) == "lies in the future")
        #expect(Wording.text(of: .future) == "lie in the future")
        #expect(Wording.text(ofSkipped: "too_many", isOne: true) == "is beyond what the driver reads at once")
        #expect(Wording.text(ofSkipped: "too_many") == "are beyond what the driver reads at once")
        for reason in RefusalReason.allCases {
            let one = Wording.text(of: reason, isOne: true)
            #expect(!one.hasPrefix("have ") && !one.hasPrefix("end ") && !one.hasPrefix("last "))
        }
    }

    @Test(arguments: [(62.0, "62.0 (48–121)"), (62.34, "62.3 (48–121)")])
    func `means of days have as many decimals as each other`(mean: Double, text: String) throws {
        let (time, id) = (Timestamp(seconds: 0), try #require(DeviceID("band-1")))
        func stored(_ value: Double) -> StoredSample {
            StoredSample(
                sample: Sample(metric: .heartRate, start: time, reading: .value(value)), of: id, revision: 1,
                receivedAt: time)
        }
        let day = DailySummary(
            metric: .heartRate, day: try #require(LocalDay("2025-11-20")), count: 9, manualCount: 0, average: mean,
            details: .values(.init(maximum: stored(121), minimum: stored(48))))
        #expect(DayText.text(of: day) == text)
    }

    @Test func `a value is written as its metric is read`() throws {
        let time = try Self.moment("2026-11-28T06:31:04.120Z")
        func text(_ metric: Metric, _ reading: Reading, for minutes: Int = 0) -> String {
            Wording.text(of: Sample(metric: metric, start: time, end: time + .minutes(minutes), reading: reading))
        }
        #expect(text(.heartRate, .value(58)) == "58")
        #expect(text(.temperature, .value(36.6)) == "36.6")
        #expect(text(.bloodPressure, .bloodPressure(BloodPressure(systolic: 121, diastolic: 78))) == "121/78")
        #expect(text(.steps, .count(Increment(count: 8214)), for: 10) == "8,214")
    }
}
