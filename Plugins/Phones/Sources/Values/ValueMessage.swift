import JSON
import Vitals

/// What a message of a topic has for a device.
struct ValueMessage: Sendable {
    /// A value, by its place among the topic's.
    struct Value: Sendable, Hashable {
        let index: Int
        let sample: Sample
    }
    /// What is wrong with a value, as a word for consumers.
    enum Problem: String, Sendable, Hashable {
        case noJSON = "no_json"
        case noNumber = "no_number"
        case noTime = "no_time"
        case unsetClock = "unset_clock"
        case wrongUnit = "wrong_unit"
        case outOfRange = "out_of_range"
    }
    /// The highest number that is a Unix time in seconds; higher ones are milliseconds. It is the year 5138, or 1973.
    static let lastSecond = 1e11

    /// The earliest time of measurement, 2001: a clock that was never set counts from 1970, or that of a chip from 2000.
    static let earliest = Timestamp(seconds: 978_307_200)

    /// The values with a time of their own.
    private(set) var timed: [Value] = []
    /// The values that were measured when the message came.
    private(set) var untimed: [Value] = []
    private(set) var problems: [(metric: Metric, problem: Problem)] = []

    /// Reads a message.
    /// - Parameters:
    ///   - isStored: whether the broker had it before the subscription: values without a time are nothing then.
    ///   - calendar: the zone of times without one.
    init(
        _ bytes: [UInt8], of topic: ValueTopic, receivedAt: Timestamp, isStored: Bool, calendar: LocalCalendar
    ) {
        let document = JSONValue(message: bytes)
        for (index, rule) in topic.values.enumerated() where Self.isMet(rule.conditions, by: document) {
            if isStored, rule.time == nil { continue }
            do throws(Failure) {
                guard let reading = try Self.reading(of: rule, in: document) else { continue }
                var start = receivedAt
                if let path = rule.time {
                    guard let value = path.value(in: document), let time = Self.moment(value, calendar) else {
                        throw Failure(.noTime)
                    }
                    guard time >= Self.earliest else { throw Failure(.unsetClock) }
                    start = time
                }
                let sample = Sample(metric: rule.metric, start: start, reading: reading)
                guard sample.isValid else { throw Failure(.outOfRange) }
                if rule.time == nil {
                    untimed.append(Value(index: index, sample: sample))
                } else {
                    timed.append(Value(index: index, sample: sample))
                }
            } catch {
                problems.append((rule.metric, error.problem))
            }
        }
    }

    private struct Failure: Error {
        let problem: Problem
        init(_ problem: Problem) { self.problem = problem }
    }

    private static func isMet(_ conditions: [ValueRule.Condition], by document: JSONValue) -> Bool {
        conditions.allSatisfy { condition in
            guard let value = condition.path.value(in: document) else { return false }
            return condition.texts.contains { text in
                value.asText == text || value.asDouble.map { $0 == Double(text) } ?? false
            }
        }
    }

    /// The reading; `nil` if the message has none.
    private static func reading(of rule: ValueRule, in document: JSONValue) throws(Failure) -> Reading? {
        func read(_ path: ValuePath?) throws(Failure) -> Double? {
            guard let path else {
                guard !document.isNull else { return nil }
                guard let number = document.asNumber else { throw Failure(.noNumber) }
                return number
            }
            // A text that should be JSON.
            if document.asString != nil { throw Failure(.noJSON) }
            guard let value = path.value(in: document) else { return nil }
            guard let number = value.asNumber else { throw Failure(.noNumber) }
            return number
        }
        switch rule.place {
        case .value(let path):
            guard let number = try read(path) else { return nil }
            return .value(try unit(of: rule, in: document).convert(number))
        case .pressure(let systolic, let diastolic, let pulse):
            guard let upper = try read(systolic), let lower = try read(diastolic) else { return nil }
            let unit = try unit(of: rule, in: document)
            let beats: Double? = if let pulse { try read(pulse) } else { nil }
            return .bloodPressure(
                BloodPressure(systolic: unit.convert(upper), diastolic: unit.convert(lower), pulse: beats))
        }
    }

    private static func unit(of rule: ValueRule, in document: JSONValue) throws(Failure) -> ValueUnit {
        switch rule.unit {
        case .known(let unit): return unit
        case .written(let path):
            guard let text = path.value(in: document)?.asString, let unit = ValueUnit(text, of: rule.metric) else {
                throw Failure(.wrongUnit)
            }
            return unit
        }
    }

    /// A time in RFC 3339 or similar, in the calendar's zone if it names none, or a Unix time in seconds or milliseconds.
    static func moment(_ value: JSONValue, _ calendar: LocalCalendar) -> Timestamp? {
        if let number = value.asNumber {
            let milliseconds = number.magnitude < lastSecond ? number * 1000 : number
            guard milliseconds.magnitude < 1e15 else { return nil }
            return Timestamp(milliseconds: Int64(milliseconds.rounded()))
        }
        // A day alone is no time of measurement.
        guard let text = value.asString, text.utf8.contains(UInt8(ascii: ":")) else { return nil }
        if let moment = PhoneTime.moment(text, calendar: calendar) { return moment }
        // What local clocks showed, as if it were UTC.
        guard let shown = PhoneTime.moment(text + "Z", calendar: calendar), shown >= Timestamp(seconds: 0) else {
            return nil
        }
        let (day, rest) = shown.milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        let (minute, further) = rest.quotientAndRemainder(dividingBy: 60_000)
        return calendar.moment(on: LocalDay(number: Int(day)), minute: Int(minute)) + .milliseconds(further)
    }
}
