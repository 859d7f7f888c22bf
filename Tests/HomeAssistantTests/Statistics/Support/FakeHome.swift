import Concurrency
import HomeAssistantStatistics
import JSON
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
        /// The entities that a user switched off.
        var disabled: Set<String> = []
        /// The entities that are shown in another unit than they are kept in.
        var isShownOtherwise: Set<String> = []
        /// The entities whose statistics are refused.
        var refused: Set<String> = []
        /// What happens once after the next import.
        var afterImport: (@Sendable (inout State) -> Void)?
        var registryReads = 0
        var refusal = "Invalid access token or password"
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

    /// What the recorder compiles for the five minutes from a moment, of a count that has this value at their end, by Home Assistant's
    /// rule for `total`: a first row has the sum 0, a new reset adds the count itself, and else the difference is added. The
    /// newest row counts, however old it is.
    func compile(_ entity: String, _ count: Double, since: Timestamp, at moment: Timestamp) {
        state.withLock { state in
            let last = state.fiveMinutes[entity]?.max { $0.key < $1.key }?.value
            var sum = last?.sum ?? 0
            if let known = last?.state { sum += last?.lastReset == since ? count - known : count }
            let row = Row(state: count, sum: sum, lastReset: since)
            state.fiveMinutes[entity, default: [:]][moment] = row
        }
        if moment + .minutes(5) == Hour(of: moment).end { endHour(entity, Hour(of: moment)) }
    }

    /// What the recorder compiles at the end of an hour: the newest of its five-minute rows, if there is one.
    func endHour(_ entity: String, _ hour: Hour) {
        state.withLock { state in
            let rows = state.fiveMinutes[entity]?.filter { Hour(of: $0.key) == hour }
            guard let row = rows?.max(by: { $0.key < $1.key })?.value else { return }
            state.hours[entity, default: [:]][hour.start] = row
        }
    }

    /// Adds an entity of the device, or gives one another name.
    func add(_ key: String, _ id: String, _ unit: String) {
        state.withLock {
            $0.entities["vitals2mqtt_home_band_\(key)"] = id
            $0.units[id] = unit
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
                throw HomeAssistantError.offline("the test's connection ended")
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
            func refuse(_ code: String, _ text: String) -> [JSONValue] {
                [
                    [
                        "id": id, "type": "result", "success": false,
                        "error": ["code": .string(code), "message": .string(text)],
                    ]
                ]
            }
            switch message["type"]?.asString {
            case "auth":
                state.logins += 1
                guard message["access_token"]?.asString == state.token else {
                    return [["type": "auth_invalid", "message": .string(state.refusal)]]
                }
                return [["type": "auth_ok", "ha_version": .string(state.version)]]
            case "config/entity_registry/get":
                let entity = message["entity_id"]?.asString ?? ""
                guard let unique = state.entities.first(where: { $0.value == entity })?.key else {
                    return refuse("not_found", "Entity not found")
                }
                return result(["entity_id": .string(entity), "unique_id": .string(unique)])
            case "config/entity_registry/list":
                state.registryReads += 1
                // An event in between, and an entity of another integration with a number as unique_id.
                return [["id": 99, "type": "event", "event": ["a": 1]]]
                    + result(
                        .array(
                            [["entity_id": "light.x", "platform": "hue", "unique_id": 7, "disabled_by": .null]]
                                + state.entities.sorted { $0.key < $1.key }.map { unique, entity in
                                    [
                                        "entity_id": .string(entity), "platform": "mqtt", "unique_id": .string(unique),
                                        "disabled_by": state.disabled.contains(entity) ? "user" : .null,
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
                    if left == 0 { throw HomeAssistantError.offline("the test ends the connection") }
                    state.importsBeforeEnd = left - 1
                }
                if state.refused.contains(message["metadata"]?["statistic_id"]?.asString ?? "") {
                    return refuse("invalid_format", "no")
                }
                state.store(message)
                let after = state.afterImport
                state.afterImport = nil
                after?(&state)
                return result(.null)
            case "recorder/adjust_sum_statistics":
                state.shift(message)
                return result(.null)
            default: return refuse("unknown_command", "?")
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
        let types = Set((message["types"]?.asArray ?? []).compactMap(\.asString))
        let unit = message["units"]?["temperature"]?.asString
        // A user sees degrees Celsius of what is kept in degrees Fahrenheit.
        let isConverted = isShownOtherwise.contains(entity) && unit != units[entity]
        let values: [JSONValue] = rows.map { start, row in
            func value(_ type: String, _ number: Double?) -> JSONValue {
                guard let number, types.contains(type) else { return .null }
                return .number(isConverted ? (number - 32) / 1.8 : number)
            }
            return [
                "start": .number(Double(start.milliseconds)), "mean": value("mean", row.mean),
                "min": value("min", row.lowest), "max": value("max", row.highest),
                "state": value("state", row.state), "sum": value("sum", row.sum),
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
