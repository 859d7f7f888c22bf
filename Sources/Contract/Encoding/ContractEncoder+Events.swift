import JSON
package import MQTT
package import Vitals

extension ContractEncoder {
    /// The `event_type` of a cleared edge; that of a raised edge is the name of its rule.
    package static let alertCleared = "alert_cleared"

    func alert(_ event: AlertEvent, person: String?, sequence: Int64, to topic: Topic) -> OutgoingMessage {
        message(topic, .alert) { writer in
            writer.member("seq", sequence)
            members(of: event, person: person, to: &writer)
        }
    }

    func members(of event: AlertEvent, person: String?, to writer: inout JSONWriter) {
        writer.member("event_type", event.edge == .raised ? event.rule.name : Self.alertCleared)
        writer.member("id", event.id)
        writer.member("raised_id", event.raisedID)
        writer.member("person", person)
        writer.member("rule", event.rule.name)
        writer.member("edge", event.edge.rawValue)
        writer.member("metric", event.rule.metric.rawValue)
        writer.member("value", event.value)
        writer.member("limit", event.limit)
        writer.member("unit", event.rule.unit)
        writer.member("origin", event.origin.rawValue)
        writer.member("measured_at", event.measuredAt)
        writer.member("raised_at", event.raisedAt)
        writer.member("sample_id", event.sampleID)
    }

    func gap(_ gap: Gap, sequence: Int64, of device: DeviceID) -> OutgoingMessage {
        message(.gapEvent(device), .gap) { writer in
            writer.member("seq", sequence)
            writer.member("metric", gap.metric?.rawValue)
            writer.member("from", gap.from)
            writer.member("to", gap.to)
            writer.member("count", gap.count)
            writer.member("reason", gap.reason.rawValue)
            writer.member("at", gap.at)
            writer.member("sequences", numbers: gap.sequences)
            writer.member("refused", refusals: gap.refused)
        }
    }

    /// The level of an alert.
    package func level(_ level: AlertLevel, of device: DeviceID, person: String?) -> OutgoingMessage {
        message(.level(device, level.rule), .alertState) { writer in
            writer.member("person", person)
            writer.member("rule", level.rule.name)
            writer.member("state", level.isActive ? "active" : "ok")
            writer.member("since", level.since)
            writer.member("metric", level.rule.metric.rawValue)
            writer.member("value", level.value)
            writer.member("limit", level.limit)
            writer.member("unit", level.rule.unit)
            writer.member("last_id", level.lastID)
            writer.member("acknowledged_by", level.acknowledgement?.person)
            writer.member("acknowledged_at", level.acknowledgement?.at)
        }
    }
}
