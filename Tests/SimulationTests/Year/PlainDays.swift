import Foundation
import JSON

/// The local days of a time zone according to Foundation, each with its first moment in the contract's format: texts of
/// one form, which sort like the moments.
struct PlainDays: Sendable {
    private let names: [String]
    private let starts: [String]
    let calendar: Calendar
    var count: Int { names.count }
    var first: String { names[0] }

    /// `count` days, from the day of `first`.
    init(zone: String, from first: Date, count: Int) throws {
        guard let timeZone = TimeZone(identifier: zone) else { throw CocoaError(.formatting) }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        self.calendar = calendar
        let noon = calendar.startOfDay(for: first).addingTimeInterval(43_200)
        let days = (0..<count).compactMap { calendar.date(byAdding: .day, value: $0, to: noon) }
        names = days.map { day in
            let parts = calendar.dateComponents([.year, .month, .day], from: day)
            return [(parts.year, 4), (parts.month, 2), (parts.day, 2)].map { part, width in
                let text = String(part ?? 0)
                return String(repeating: "0", count: width - text.count) + text
            }.joined(separator: "-")
        }
        starts = days.map { calendar.startOfDay(for: $0).formatted(Self.wire) }
    }

    /// The contract's format of moments.
    static let wire = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The local day of a moment.
    func day(of moment: String) -> String? {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= moment { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? names[low - 1] : nil
    }

    /// Two days: those with a clock change, or any others if there are none.
    func remarkable() throws -> [String] {
        var turns: [String] = []
        var moment = try Date(starts[0], strategy: Self.wire)
        let last = try Date(starts[starts.count - 1], strategy: Self.wire)
        while let turn = calendar.timeZone.nextDaylightSavingTimeTransition(after: moment), turn < last {
            turns += day(of: turn.formatted(Self.wire)).map { [$0] } ?? []
            moment = turn
        }
        return Array((turns + [names[names.count / 2], names[names.count * 2 / 3]]).prefix(2))
    }

    /// The first moment of a date.
    func start(of day: String) throws -> Date {
        guard let index = names.firstIndex(of: day) else { throw CocoaError(.formatting) }
        return try Date(starts[index], strategy: Self.wire)
    }
}

/// One sample as received by a consumer.
struct PlainSample: Sendable {
    let body: JSONValue
    let id: String
    let revision: Int
    let start: String
    let end: String
    let kind: String
    let isManual: Bool
    let isWithdrawn: Bool

    init?(_ body: JSONValue) {
        guard let id = body["id"]?.asString, let revision = body["rev"]?.asInt, let start = body["start"]?.asString,
            let end = body["end"]?.asString, let kind = body["kind"]?.asString,
            let isManual = body["user_initiated"]?.asBool
        else { return nil }
        (self.body, self.id, self.revision, self.start, self.end) = (body, id, revision, start, end)
        (self.kind, self.isManual) = (kind, isManual)
        isWithdrawn = body["withdrawn"]?.asBool ?? false
    }

    /// A number of the sample: its value, or one of its fields.
    func number(_ field: String) -> Double? {
        (field == "value" ? body["value"] : body["fields"]?[field])?.asDouble
    }

    /// Whole minutes between two moments.
    static func milliseconds(from start: String, to end: String) throws -> Int {
        let seconds = try Date(end, strategy: PlainDays.wire).timeIntervalSince(
            try Date(start, strategy: PlainDays.wire))
        return Int((seconds * 1000).rounded())
    }
}

/// A day's summary as described by the contract, computed from a consumer's samples in the simplest way, without the
/// gateway's own arithmetic.
struct PlainSummary {
    let metric: String
    /// Sorted in the order in which equal values count.
    let samples: [PlainSample]
    /// The day's resting items, which the other heart metric also has.
    private let resting: [PlainSample]

    /// - Parameter others: for a heart rate the day's resting heart rates, and vice versa.
    init(metric: String, samples: [PlainSample], others: [PlainSample]) {
        self.metric = metric
        self.samples = samples.sorted { ($0.start, $0.end, $0.id) < ($1.start, $1.end, $1.id) }
        let isRate = metric == "heart_rate"
        let rates = (isRate ? samples : others).filter { $0.kind == "resting" }
        let restingRates = metric == "resting_heart_rate" ? samples : isRate ? others : []
        let own = isRate || metric == "resting_heart_rate" ? rates : samples.filter { $0.kind == "resting" }
        let news = restingRates.filter { item in
            !rates.contains { ($0.start, $0.end, $0.number("value")) == (item.start, item.end, item.number("value")) }
        }
        resting = (own + news).sorted { ($0.start, $0.end, $0.id) < ($1.start, $1.end, $1.id) }
    }

    /// Every key of the payload that depends on the samples.
    func members() throws -> [String: JSONValue] {
        let manual = samples.count { $0.isManual }
        var result: [String: JSONValue] = [
            "count": .number(Double(samples.count)), "manual_count": .number(Double(manual)),
            "auto_count": .number(Double(samples.count - manual)), "average": .null, "maximum": .null,
            "minimum": .null, "resting": .array([]),
        ]
        switch metric {
        case "steps":
            result["total"] = .number(samples.compactMap { $0.number("value") }.reduce(0, +))
            for field in ["distance_m", "energy_kcal"] { result[field] = sum(field) }
        case "sport":
            let minutes = try samples.map { try PlainSample.milliseconds(from: $0.start, to: $0.end) / 60_000 }
            result["total"] = .number(Double(minutes.reduce(0, +)))
            result["sessions"] = .number(Double(samples.count))
            for field in ["distance_m", "energy_kcal"] { result[field] = sum(field) }
        case "sleep": try result.merge(sleep()) { $1 }
        case "blood_pressure":
            for field in ["systolic", "diastolic"] {
                result["maximum_\(field)"] = extreme(field) { $0 > $1 }
                result["minimum_\(field)"] = extreme(field) { $0 < $1 }
            }
            let means = ["systolic", "diastolic", "pulse"].map { JSONValue.Member($0, mean($0)) }
            result["average"] = samples.isEmpty ? .null : .object(means)
        default:
            result["average"] = mean("value")
            result["maximum"] = extreme("value") { $0 > $1 }
            result["minimum"] = extreme("value") { $0 < $1 }
            result["resting"] = .array(resting.suffix(288).map(\.body))
        }
        return result
    }

    private func sleep() throws -> [String: JSONValue] {
        var minutes: [String: Int] = [:]
        for sample in samples {
            var lengths: [String: Int] = [:]
            for stage in sample.body["fields"]?["stages"]?.asArray ?? [] {
                guard let name = stage["stage"]?.asString, let start = stage["start"]?.asString,
                    let end = stage["end"]?.asString
                else { continue }
                lengths[name, default: 0] += try PlainSample.milliseconds(from: start, to: end)
            }
            for (name, length) in lengths { minutes[name, default: 0] += length / 60_000 }
        }
        var result: [String: JSONValue] = [:]
        for name in ["deep", "light", "rem", "awake"] { result["\(name)_min"] = .number(Double(minutes[name] ?? 0)) }
        let asleep = ["deep", "light", "rem"].compactMap { minutes[$0] }.reduce(0, +)
        result["total"] = .number(Double(asleep))
        result["start"] = samples.map(\.start).min().map { .string($0) } ?? .null
        result["end"] = samples.map(\.end).max().map { .string($0) } ?? .null
        return result
    }

    private func extreme(_ field: String, _ isFurther: (Double, Double) -> Bool) -> JSONValue {
        var best: (value: Double, body: JSONValue)?
        for sample in samples {
            guard let value = sample.number(field) else { continue }
            if best.map({ isFurther(value, $0.value) }) ?? true { best = (value, sample.body) }
        }
        return best?.body ?? .null
    }

    /// The mean to one decimal, in decimal arithmetic. Extremes of a period count only if there is nothing else.
    private func mean(_ field: String) -> JSONValue {
        let ordinary = decimals(field, of: samples.filter { $0.kind == "normal" || $0.kind == "resting" })
        let values = ordinary.isEmpty ? decimals(field, of: samples) : ordinary
        guard !values.isEmpty else { return .null }
        var mean = values.reduce(0, +) / Decimal(values.count)
        var rounded = Decimal()
        NSDecimalRound(&rounded, &mean, 1, .plain)
        return .number(Double("\(rounded)") ?? .nan)
    }

    private func sum(_ field: String) -> JSONValue {
        let values = decimals(field, of: samples)
        return values.isEmpty ? .null : .number(Double("\(values.reduce(0, +))") ?? .nan)
    }

    private func decimals(_ field: String, of samples: [PlainSample]) -> [Decimal] {
        samples.compactMap { sample in sample.number(field).flatMap { Decimal(string: "\($0)") } }
    }
}
