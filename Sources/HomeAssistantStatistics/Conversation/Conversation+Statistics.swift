package import HomeAssistant
import JSON
package import Vitals

/// A row of statistics as Home Assistant has it.
package struct StatisticRow: Sendable, Hashable {
    package var start: Timestamp
    package var mean: Double?
    package var lowest: Double?
    package var highest: Double?
    package var state: Double?
    package var sum: Double?
    package var lastReset: Timestamp?

    package init(
        start: Timestamp, mean: Double? = nil, lowest: Double? = nil, highest: Double? = nil, state: Double? = nil,
        sum: Double? = nil, lastReset: Timestamp? = nil
    ) {
        self.start = start
        self.mean = mean
        self.lowest = lowest
        self.highest = highest
        self.state = state
        self.sum = sum
        self.lastReset = lastReset
    }
}

/// Where statistics are read from and written to: an entity, and how its statistics are kept.
package struct StatisticTarget: Sendable, Hashable {
    package var entity: String
    package var metadata: StatisticMetadata

    package init(entity: String, metadata: StatisticMetadata) {
        self.entity = entity
        self.metadata = metadata
    }
}

extension Conversation {
    /// The first release that takes `mean_type` and `unit_class` instead of `has_mean`
    /// (https://developers.home-assistant.io/blog/2025/10/16/recorder-statistics-api-changes).
    static let namesMeanType = HomeAssistantVersion(year: 2025, month: 11)

    /// The rows that begin within a time, ascending, in the unit in which they are stored.
    package func rows(
        of target: StatisticTarget, in range: Range<Timestamp>, fiveMinutes: Bool = false
    ) async throws -> [StatisticRow] {
        var members: [JSONValue.Member] = [
            JSONValue.Member("start_time", .string(range.lowerBound.description)),
            JSONValue.Member("end_time", .string(range.upperBound.description)),
            JSONValue.Member("statistic_ids", [.string(target.entity)]),
            JSONValue.Member("period", fiveMinutes ? "5minute" : "hour"),
            JSONValue.Member("types", ["mean", "min", "max", "state", "sum", "last_reset"]),
        ]
        if let name = target.metadata.unitClass, let unit = target.metadata.unit {
            // Without it they come in the unit that is shown.
            members.append(JSONValue.Member("units", .object([JSONValue.Member(name, .string(unit))])))
        }
        let answer = try await ask("recorder/statistics_during_period", members).value
        return (answer[target.entity]?.asArray ?? []).compactMap { StatisticRow($0) }
    }

    /// Has hours stored in place of those that are there. It is queued, so that `rows` shows it a moment later.
    package func store(
        _ statistics: [HourlyStatistic], to target: StatisticTarget, _ version: HomeAssistantVersion
    ) async throws {
        guard let first = statistics.first else { return }
        let isMeasured = if case .measured = first.content { true } else { false }
        var metadata: [JSONValue.Member] = [
            JSONValue.Member("has_sum", .bool(!isMeasured)), JSONValue.Member("name", .null),
            JSONValue.Member("source", "recorder"), JSONValue.Member("statistic_id", .string(target.entity)),
            JSONValue.Member("unit_of_measurement", target.metadata.unit.map { .string($0) } ?? .null),
        ]
        if version >= Self.namesMeanType {
            metadata.append(JSONValue.Member("mean_type", isMeasured ? 1 : 0))
            metadata.append(
                JSONValue.Member("unit_class", target.metadata.unitClass.map { .string($0) } ?? .null))
        } else {
            metadata.append(JSONValue.Member("has_mean", .bool(isMeasured)))
        }
        _ = try await ask(
            "recorder/import_statistics",
            [
                JSONValue.Member("metadata", .object(metadata)),
                JSONValue.Member("stats", .array(statistics.map(\.json))),
            ])
    }

    /// Deletes all statistics of entities, also those of five minutes. It needs an administrator's token.
    package func clear(_ entities: [String]) async throws {
        guard !entities.isEmpty else { return }
        let ids = JSONValue.Member("statistic_ids", .array(entities.map { .string($0) }))
        _ = try await ask("recorder/clear_statistics", [ids])
    }

    /// Adds to all sums from a moment on. It is queued, too.
    package func shift(_ target: StatisticTarget, from moment: Timestamp, by difference: Double) async throws {
        _ = try await ask(
            "recorder/adjust_sum_statistics",
            [
                JSONValue.Member("statistic_id", .string(target.entity)),
                JSONValue.Member("start_time", .string(moment.description)),
                JSONValue.Member("adjustment", .number(difference)),
                JSONValue.Member(
                    "adjustment_unit_of_measurement", target.metadata.unit.map { .string($0) } ?? .null),
            ])
    }
}

extension StatisticRow {
    /// A row of an answer; `nil` without a time of the calendar. What is no number, or no such time, is missing.
    init?(_ row: JSONValue) {
        func moment(_ name: String) -> Timestamp? {
            guard let number = row[name]?.asDouble,
                (Double(Timestamp.earliest.milliseconds)...Double(Timestamp.latest.milliseconds)).contains(number)
            else { return nil }
            return Timestamp(milliseconds: Int64(number))
        }
        guard let start = moment("start") else { return nil }
        self.init(
            start: start, mean: row["mean"]?.asDouble, lowest: row["min"]?.asDouble, highest: row["max"]?.asDouble,
            state: row["state"]?.asDouble, sum: row["sum"]?.asDouble, lastReset: moment("last_reset"))
    }
}

extension HourlyStatistic {
    fileprivate var json: JSONValue {
        let start = JSONValue.string(hour.start.description)
        return switch content {
        case .measured(let mean, let lowest, let highest):
            ["start": start, "mean": .number(mean), "min": .number(lowest), "max": .number(highest)]
        case .counted(let state, let sum, let since):
            [
                "start": start, "state": .number(state), "sum": .number(sum),
                "last_reset": .string(since.description),
            ]
        }
    }
}
