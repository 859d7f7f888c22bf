import Foundation
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

/// The knowledge of a consumer that reads every message, and the days computed from it.
struct YearConsumer: Sendable {
    /// A device's metric.
    struct Series: Sendable, Hashable {
        var device: String
        var metric: String
    }

    let days: PlainDays
    private(set) var samples: [Series: [String: [String: PlainSample]]] = [:]
    /// The names of the records that count, in addition to their ids.
    private(set) var names: Set<String> = []
    /// The payloads of past days, in order.
    private(set) var past: [Series: [String: [JSONValue]]] = [:]
    /// The latest payloads of the running days.
    private(set) var running: [Series: JSONValue] = [:]
    private var read = 0

    init(days: PlainDays) { self.days = days }

    /// The name of a record: all of its identifying properties.
    static func name(_ device: String, _ metric: String, _ start: String, _ end: String, _ isManual: Bool) -> String {
        "\(device) \(metric) \(start) \(end) \(isManual)"
    }

    /// The number of published past days, repeated ones included.
    var factCount: Int { past.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } } }

    /// Reads the messages since the last call.
    mutating func read(_ messages: [PublishedMessage]) throws {
        for message in messages[read...] {
            let levels = message.message.topic.split(separator: "/").map(String.init)
            guard levels.count >= 5, ["measurement", "daily"].contains(levels[3]) else { continue }
            let series = Series(device: levels[2], metric: levels[4])
            let body = try JSONValue(parsing: message.message.payload)
            switch (levels[3], levels.count) {
            case ("measurement", _): try take(body, series)
            case (_, 5): running[series] = body
            default: past[series, default: [:]][levels[5], default: []].append(body)
            }
        }
        read = messages.count
    }

    private mutating func take(_ body: JSONValue, _ series: Series) throws {
        guard series.metric != "battery" else { return }
        for element in body["samples"]?.asArray ?? [] {
            let sample = try #require(PlainSample(element))
            let day = try #require(days.day(of: series.metric == "sleep" ? sample.end : sample.start))
            let known = samples[series]?[day]?[sample.id]
            if let known, known.revision >= sample.revision { continue }
            let name = Self.name(series.device, series.metric, sample.start, sample.end, sample.isManual)
            if sample.isWithdrawn { names.remove(name) } else { names.insert(name) }
            samples[series, default: [:]][day, default: [:]][sample.id] = sample
        }
    }

    /// The expected summary of a day.
    func expected(_ series: Series, _ day: String) throws -> [String: JSONValue] {
        func samples(_ metric: String) -> [PlainSample] {
            self.samples[Series(device: series.device, metric: metric)]?[day]?.values.filter { !$0.isWithdrawn } ?? []
        }
        let hearts = ["heart_rate", "resting_heart_rate"]
        let others = hearts.contains(series.metric) ? hearts.filter { $0 != series.metric }.flatMap(samples) : []
        return try PlainSummary(metric: series.metric, samples: samples(series.metric), others: others).members()
    }

    /// The differences of a published or answered day from the expected one, key by key.
    func differences(_ body: JSONValue, _ series: Series, _ day: String) throws -> [String] {
        var result: [String] = []
        if body["date"]?.asString != day { result.append("date is \(body["date"] ?? .null)") }
        if body["tz"]?.asString != days.calendar.timeZone.identifier { result.append("tz is \(body["tz"] ?? .null)") }
        let start = try days.start(of: day).formatted(PlainDays.wire)
        if body["day_start"]?.asString != start { result.append("day_start is \(body["day_start"] ?? .null)") }
        for (key, value) in try expected(series, day) where body[key] != value {
            result.append("\(key) is \(body[key] ?? "missing") and should be \(value)")
        }
        return result.map { "\(series.device) \(series.metric) \(day): \($0)" }
    }

    /// The differences of published past days before `today` from the expected ones. Their revisions must rise by one.
    func pastDifferences(before today: String) throws -> [String] {
        var result: [String] = []
        for (series, byDay) in samples {
            for day in byDay.keys where day < today {
                let published = past[series]?[day] ?? []
                guard let last = published.last else {
                    result.append("\(series.device) \(series.metric) \(day) was not published")
                    continue
                }
                result += try differences(last, series, day)
                if last["final"] != true { result.append("\(series) \(day) is not final") }
                if published.compactMap({ $0["rev"]?.asInt }) != Array(1...published.count) {
                    result.append("\(series) \(day) has revisions \(published.map { $0["rev"] ?? .null })")
                }
            }
            let strangers = try (past[series] ?? [:]).filter { day, published in
                try byDay[day] == nil && !published.allSatisfy(Self.isOnlySaidByDevice)
                    && !isOnlyAtRest(published, series, day)
            }.keys
            if !strangers.isEmpty { result.append("\(series): \(strangers) have no samples") }
        }
        return result
    }

    /// Whether a day has only a device summary and no samples: the device's daily summaries reach further back than the
    /// records requested from it.
    static func isOnlySaidByDevice(_ body: JSONValue) -> Bool {
        body["count"] == 0 && body["average"] == .null && (body["device_summary"]?["count"]?.asInt ?? 0) > 0
    }

    /// Whether a day has no samples, but the resting items of the other heart metric.
    private func isOnlyAtRest(_ published: [JSONValue], _ series: Series, _ day: String) throws -> Bool {
        guard let last = published.last, last["resting"]?.asArray?.isEmpty == false else { return false }
        return try differences(last, series, day).isEmpty
    }

    /// The differences of the running days from the expected ones.
    func runningDifferences(on today: String) throws -> [String] {
        var result: [String] = []
        for (series, byDay) in samples {
            guard let body = running[series] else {
                if byDay[today] != nil { result.append("\(series) was not published") }
                continue
            }
            result += try differences(body, series, today)
            if body["final"] != false { result.append("\(series) is final") }
        }
        return result
    }
}
