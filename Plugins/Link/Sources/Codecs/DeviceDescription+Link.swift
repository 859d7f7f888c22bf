import GatewayKit
import JSON
import Vitals

extension DeviceDescription {
    /// Reads the answer to `initialize`.
    /// - Throws: `failure`, naming the member that is wrong. Refusing the device is better than using it with half of
    ///   its abilities.
    init(link answer: JSONValue) throws(DeviceError) {
        self.init(
            identity: try DeviceIdentity(link: answer["device"] ?? .null),
            capabilities: try Capabilities(link: answer["capabilities"] ?? .null),
            clock: try DeviceClock(link: answer["clock"] ?? .null))
    }
}

extension DeviceIdentity {
    /// The most characters kept of a name: it is published, and stored.
    static let maximumNameLength = 100

    fileprivate init(link value: JSONValue) throws(DeviceError) {
        guard value.isNull || value.asObject != nil else { throw .answer("device", "an object") }
        func text(_ key: String) throws(DeviceError) -> String? {
            switch value[key] {
            case nil, .null: return nil
            case .string(let text): return text.isEmpty ? nil : text.printable(atMost: Self.maximumNameLength)
            default: throw .answer("device.\(key)", "a text or null")
            }
        }
        self.init(
            manufacturer: try text("manufacturer"), model: try text("model"), serial: try text("serial"),
            firmware: try text("firmware"), hardware: try text("hardware"))
    }
}

extension Capabilities {
    fileprivate init(link value: JSONValue) throws(DeviceError) {
        self.init()
        guard !value.isNull else { return }
        guard let members = value.asObject else { throw .answer("capabilities", "an object") }
        for member in members {
            if member.key == "max_history_days" {
                guard !member.value.isNull else { continue }
                guard let days = member.value.asInt, days >= 0 else {
                    throw .answer("capabilities.max_history_days", "a whole number or null")
                }
                maximumHistoryDays = days
            } else if let metric = Metric(rawValue: member.key) {
                metrics[metric] = try Abilities(link: member.value, of: metric)
            }
        }
    }
}

extension Abilities {
    fileprivate init(link value: JSONValue, of metric: Metric) throws(DeviceError) {
        guard value.asObject != nil else { throw .answer("capabilities.\(metric.rawValue)", "an object") }
        self = []
        for (name, ability) in Abilities.named {
            switch value[name] {
            case nil, .null, .bool(false): continue
            case .bool(true): insert(ability)
            default: throw .answer("capabilities.\(metric.rawValue).\(name)", "true or false")
            }
        }
        if !metric.distinguishesExercise { subtract(.heartRateOnly) }
    }
}

extension DeviceClock {
    fileprivate init?(link value: JSONValue) throws(DeviceError) {
        if value.isNull { return nil }
        guard let now = value["now"]?.asInt64 else { throw .answer("clock.now", "milliseconds since 1970") }
        var offset: Int?
        if let value = value["utc_offset_min"], !value.isNull {
            // No place on Earth is further from UTC than 14 hours; RFC 3339 readers usually allow 18.
            guard let minutes = value.asInt, (-1080...1080).contains(minutes) else {
                throw .answer("clock.utc_offset_min", "whole minutes from -1080 to 1080")
            }
            offset = minutes
        }
        self.init(now: Timestamp(milliseconds: now), utcOffset: offset)
    }
}

extension DeviceError {
    fileprivate static func answer(_ path: String, _ wanted: String) -> DeviceError {
        DeviceError(.failure, "In the device's answer to initialize, \(path) must be \(wanted).")
    }
}
