import Concurrency
import HomeAssistantStatistics
import JSON
import StoreAPI
import Synchronization
import Vitals

/// As much of Home Assistant as an import meets: the login, the registry, and the recorder with its two tables, whose
/// five-minute rows continue the sum as Home Assistant's own do.
final class FakeHome: Sendable {
    struct Row: Hashable {
        var mean: Double?
        var lowest: Double?
        var highest: Double?
        var state: Double?
        var sum: Double?
        var lastReset: Timestamp?
    }
    struct State {
        var version = "2026.11.0"
        var token = "right"
        /// By `unique_id`.
        var entities: [String: String] = [:]
        var units: [String: String] = [:]
        var hours: [String: [Timestamp: Row]] = [:]
        var fiveMinutes: [String: [Timestamp: Row]] = [:]
        /// How many imports it takes before the connection ends.
        var importsBeforeEnd: Int?
        var imports: [JSONValue] = []
        var shifts = 0
        /// Whether its recorder forgets what it was given, as when it is killed.
        var storesNothing = false
        var logins = 0
    }
    let state: Mutex<State>

    init(_ entities: [String: (id: String, unit: String)]) {
        var state = State()
        for (key, entity) in entities {
            state.entities["vitals2mqtt_home_band_\(key)"] = entity.id
            state.units[entity.id] = entity.unit
        }
        self.state = Mutex(state)
    }

    /// What the recorder compiles at a moment from a count, by Home Assistant's rule for `total`.
    func compile(_ entity: String, _ count: Double, since: Timestamp, at moment: Timestamp) {
        state.withLock { state in
            let last = state.fiveMinutes[entity]?.max { $0.key < $1.key }?.value
            var sum = last?.sum ?? 0
            if let known = last?.state { sum += last?.lastReset == since ? count - known : count }
            let row = Row(state: count, sum: sum, lastReset: since)
            state.fiveMinutes[entity, default: [:]][moment] = row
            let hour = Hour(of: moment)
            if moment + .minutes(5) == hour.end { state.hours[entity, default: [:]][hour.start] = row }
        }
    }

    /// The hourly rows of an entity by their hour's number from `first`.
    func rows(_ entity: String, from first: Timestamp) -> [Int: Row] {
        let rows = state.withLock { $0.hours[entity] ?? [:] }
        return Dictionary(uniqueKeysWithValues: rows.map { (Hour(of: first).distance(to: Hour(of: $0.key)), $0.value) })
    }

    /// A connection to it.
    func connection() -> any MessageStream { Stream(home: self) }

    private final class Stream: MessageStream {
        let home: FakeHome
        let waiting = Mutex<[JSONValue]>([["type": "auth_required", "ha_version": "2026.11.0"]])
        init(home: FakeHome) { self.home = home }

        func send(_ message: [UInt8]) async throws {
            let answers = try home.answer(try JSONValue(parsing: message))
            waiting.withLock { $0 += answers }
        }

        func receive() async throws -> [UInt8] {
            let next = waiting.withLock { waiting -> [JSONValue] in
                let next = Array(waiting.prefix(1))
                waiting = Array(waiting.dropFirst())
                return next
            }
            guard let next = next.first else {
                throw HomeAssistantError.away("the test's connection ended")
            }
            return next.bytes
        }
    }

    private func answer(_ message: JSONValue) throws -> [JSONValue] {
        try state.withLock { state in
            let id = message["id"] ?? .null
            func result(_ value: JSONValue) -> [JSONValue] {
                [["id": id, "type": "result", "success": true, "result": value]]
            }
            switch message["type"]?.asString {
            case "auth":
                state.logins += 1
                guard message["access_token"]?.asString == state.token else {
                    return [["type": "auth_invalid", "message": "Invalid access token or password"]]
                }
                return [["type": "auth_ok", "ha_version": .string(state.version)]]
            case "config/entity_registry/list":
                // An event in between, and an entity of somebody else with a number as unique_id.
                return [["id": 99, "type": "event", "event": ["a": 1]]]
                    + result(
                        .array(
                            [["entity_id": "light.x", "platform": "hue", "unique_id": 7, "disabled_by": .null]]
                                + state.entities.sorted { $0.key < $1.key }.map { unique, entity in
                                    [
                                        "entity_id": .string(entity), "platform": "mqtt", "unique_id": .string(unique),
                                        "disabled_by": .null,
                                    ]
                                }))
            case "recorder/get_statistics_metadata":
                return result(
                    .array(
                        state.units.sorted { $0.key < $1.key }.map { entity, unit in
                            [
                                "statistic_id": .string(entity), "statistics_unit_of_measurement": .string(unit),
                                "unit_class": unit == "°F" ? "temperature" : .null,
                            ]
                        }))
            case "recorder/statistics_during_period": return result(state.during(message))
            case "recorder/import_statistics":
                if let left = state.importsBeforeEnd {
                    if left == 0 { throw HomeAssistantError.away("the test ends the connection") }
                    state.importsBeforeEnd = left - 1
                }
                state.store(message)
                return result(.null)
            case "recorder/adjust_sum_statistics":
                state.shift(message)
                return result(.null)
            default:
                return [
                    [
                        "id": id, "type": "result", "success": false,
                        "error": ["code": "unknown_command", "message": "?"],
                    ]
                ]
            }
        }
    }
}

extension FakeHome.State {
    fileprivate func during(_ message: JSONValue) -> JSONValue {
        let entity = message["statistic_ids"]?[0]?.asString ?? ""
        let from = time(message["start_time"]?.asString ?? "")
        let to = time(message["end_time"]?.asString ?? "")
        let table = message["period"]?.asString == "hour" ? hours : fiveMinutes
        let rows = (table[entity] ?? [:]).filter { from <= $0.key && $0.key < to }.sorted { $0.key < $1.key }
        let values: [JSONValue] = rows.map { start, row in
            [
                "start": .number(Double(start.milliseconds)), "mean": row.mean.map { .number($0) } ?? .null,
                "min": row.lowest.map { .number($0) } ?? .null, "max": row.highest.map { .number($0) } ?? .null,
                "state": row.state.map { .number($0) } ?? .null, "sum": row.sum.map { .number($0) } ?? .null,
                "last_reset": row.lastReset.map { .number(Double($0.milliseconds)) } ?? .null,
            ]
        }
        return .object([JSONValue.Member(entity, .array(values))])
    }

    fileprivate mutating func store(_ message: JSONValue) {
        imports.append(message)
        if storesNothing { return }
        let entity = message["metadata"]?["statistic_id"]?.asString ?? ""
        for item in message["stats"]?.asArray ?? [] {
            hours[entity, default: [:]][time(item["start"]?.asString ?? "")] = FakeHome.Row(
                mean: item["mean"]?.asDouble, lowest: item["min"]?.asDouble, highest: item["max"]?.asDouble,
                state: item["state"]?.asDouble, sum: item["sum"]?.asDouble,
                lastReset: item["last_reset"]?.asString.map { time($0) })
        }
    }

    fileprivate mutating func shift(_ message: JSONValue) {
        shifts += 1
        let entity = message["statistic_id"]?.asString ?? ""
        let from = time(message["start_time"]?.asString ?? "")
        let by = message["adjustment"]?.asDouble ?? 0
        for (start, row) in fiveMinutes[entity] ?? [:] where start >= from {
            fiveMinutes[entity]?[start]?.sum = (row.sum ?? 0) + by
        }
        for (start, row) in hours[entity] ?? [:] where start >= Hour(of: from).start {
            hours[entity]?[start]?.sum = (row.sum ?? 0) + by
        }
    }
}
