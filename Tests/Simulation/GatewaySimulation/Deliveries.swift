import JSON
import MQTT
import TestSupport

/// The facts that a consumer has, by their numbers, and those that it has to request with `replay`.
struct Deliveries: Sendable {
    /// What is known of the messages of a fact.
    private struct Parts {
        var seen: Set<Int> = []
        var count = 1
        var isComplete: Bool { seen.count >= count }
    }

    /// The messages that were sent as usual.
    private var usual: [Int: Parts] = [:]
    /// The messages that were sent again.
    private var again: [Int: Parts] = [:]
    /// The facts that are measurements: only these say whether they are sent again, and may come in parts.
    private var measurements: Set<Int> = []
    /// The numbers that a gap says the broker does not take.
    private var refused: Set<Int> = []
    /// The store whose numbers these are.
    private var store: String?
    /// The facts that are still quarantined, as `gateway/state` said last.
    private(set) var quarantined = 0

    mutating func read(_ message: PublishedMessage) {
        let levels = message.levels
        guard levels.count >= 4, !message.isWill else { return }
        switch levels[3] {
        case "measurement", "daily", "event", "state", "info": break
        default: return
        }
        guard let body = try? JSONValue(parsing: message.message.payload) else { return }
        if levels[3] == "info" {
            if levels[2] == "gateway", let named = body["store"]?.asString { begin(named) }
            return
        }
        if levels[3] == "state" {
            if let count = body["quarantined"]?.asInt { quarantined = count }
            return
        }
        guard let number = body["seq"]?.asInt else { return }
        let part = body["part"]?.asInt ?? 1
        let count = body["parts"]?.asInt ?? 1
        if body["source"]?.asString == "replay" {
            Self.add(part, of: count, to: &again[number, default: Parts()])
        } else {
            Self.add(part, of: count, to: &usual[number, default: Parts()])
            if levels[3] == "measurement" { measurements.insert(number) }
        }
        guard levels.last == "gap", body["reason"]?.asString == "refused" else { return }
        for range in body["sequences"]?.asArray ?? [] {
            guard let from = range["from_seq"]?.asInt, let last = range["to_seq"]?.asInt, from <= last else { continue }
            refused.formUnion(from...last)
        }
    }

    /// In another store the numbers begin again.
    private mutating func begin(_ named: String) {
        guard named != store else { return }
        if store != nil { self = Deliveries() }
        store = named
    }

    /// A repeated message may be cut otherwise, for example once the broker has announced its limit.
    private static func add(_ part: Int, of count: Int, to parts: inout Parts) {
        if parts.count != count, !parts.isComplete { parts = Parts(count: count) }
        parts.seen.insert(part)
    }

    /// The numbers to request: everything while facts are quarantined, or else what is missing. The broker may have a fact that the
    /// gateway still keeps, because it crashed before it could note that.
    var requests: [ClosedRange<Int>] {
        quarantined > 0 ? [1...(usual.keys.max() ?? 1)] : wanted
    }

    /// The numbers that are missing, and those that the broker did not take.
    private var wanted: [ClosedRange<Int>] {
        guard let last = (Array(usual.keys) + Array(again.keys)).max() else { return [] }
        var ranges: [ClosedRange<Int>] = []
        for number in 1...last where isWanted(number) {
            if let range = ranges.last, range.upperBound == number - 1 {
                ranges[ranges.count - 1] = range.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges
    }

    private func isWanted(_ number: Int) -> Bool {
        if again[number]?.isComplete == true { return false }
        guard usual[number]?.isComplete == true else { return true }
        // Another fact was perhaps sent again already, and then it is not quarantined any more.
        return refused.contains(number) && (measurements.contains(number) || quarantined > 0)
    }

    /// What is wrong with the numbers at the end.
    var issues: [String] {
        var issues: [String] = []
        if !wanted.isEmpty {
            issues.append("facts are missing by their numbers: \(wanted.prefix(10).map { "\($0)" })")
        }
        let unreported = again.keys.filter { usual[$0] == nil && !refused.contains($0) }.sorted()
        if !unreported.isEmpty { issues.append("facts were quarantined, and no gap says so: \(unreported.prefix(10))") }
        if quarantined != 0 { issues.append("\(quarantined) facts are still quarantined") }
        return issues
    }
}
