import GRDB
import JSON
import Vitals

extension CheckedTable {
    /// The tables whose rows may be more than numbers, small ones first.
    static let all = [
        device, alertLevel, warning, alertEdge, pending, journal, command, quarantine, message, day, sample,
    ]

    private static let noDevice = "belongs to no device"
    private static let noSeries = "belongs to no series"
    private static let halfSeen = "says only who has seen it, or only when"

    private static let device = CheckedTable(
        name: "device", row: "The device", key: ["id"], columns: "name, identity, capabilities, twin"
    ) { row, _ in
        _ = try (row[1] as String?).map { DeviceIdentity(json: try .kept($0)) }
        _ = try (row[2] as String?).map { Capabilities(json: try .kept($0)) }
        _ = try (row[3] as String?).map { try TwinState(json: .kept($0)) }
        return nil
    }

    private static let alertLevel = CheckedTable(
        name: "alert_level", row: "The alert level", key: ["device", "rule"],
        columns: "rule, device, last_id, acknowledged_by IS NULL, acknowledged_at IS NULL"
    ) { row, references in
        guard references.devices.contains(row[1]) else { return noDevice }
        guard AlertRule(name: row[0]) != nil else { return "belongs to no rule" }
        if row[3] as Bool != row[4] as Bool { return halfSeen }
        guard let id = row[2] as String? else { return nil }
        return SampleID(id) == nil ? "names no sample" : nil
    }

    private static let warning = CheckedTable(
        name: "warning", row: "The warning", key: ["device", "rule", "at"], columns: "rule, device"
    ) { row, references in
        guard references.devices.contains(row[1]) else { return noDevice }
        return AlertRule(name: row[0])?.warning == nil ? "belongs to no rule" : nil
    }

    private static let alertEdge = CheckedTable(
        name: "alert_edge", row: "The edge of an alert", key: ["device", "measured_at", "id"],
        columns: "id, device, body, acknowledged_by IS NULL, acknowledged_at IS NULL"
    ) { row, references in
        guard references.devices.contains(row[1]) else { return noDevice }
        if row[3] as Bool != row[4] as Bool { return halfSeen }
        _ = try AlertEvent(json: .kept(row.bytes(at: 2)))
        return nil
    }

    private static let pending = CheckedTable(
        name: "pending_statistics", row: "The pending statistics of the series", key: ["series", "sensor"],
        columns: "series, first_hour, last_hour"
    ) { row, references in
        guard references.series[row[0]] != nil else { return noSeries }
        return row[1] as Int64 > row[2] ? "end before they begin" : nil
    }

    private static let journal = CheckedTable(
        name: "journal", row: "The journal's record", key: ["number"], columns: "number, record"
    ) { row, references in
        let record = try JournalRecord(packed: row.bytes(at: 1) ?? [])
        let series = record.items.map(\.series) + record.messages.map(\.series) + record.marks.map(\.series)
        guard series.allSatisfy({ references.series[$0] != nil }) else { return noSeries }
        return record.messages.allSatisfy { references.devices.contains($0.device) } ? nil : noDevice
    }

    private static let command = CheckedTable(
        name: "command", row: "The command", key: ["number"],
        columns: "number, envelope, answer, answered_at, topic, payload IS NULL"
    ) { row, _ in
        _ = try (row[1] as String?).map { try CommandEnvelope(json: .kept($0)) }
        guard row[2] as Int64? != nil else { return nil }
        let isWhole = row[3] as Int64? != nil && row[4] as String? != nil && row[5] as Bool == false
        return isWhole ? nil : "has an answer without its content"
    }

    private static let quarantine = CheckedTable(
        name: "quarantine", row: "The quarantined fact", key: ["sequence"], columns: factColumns, fault: factFault)

    private static let message = CheckedTable(
        name: "message", row: "The message", key: ["lane", "sequence"], columns: factColumns, fault: factFault)

    private static let factColumns = "sequence, lane, kind, device, series, source, day, samples, body"

    /// What is wrong with a row of `message` or `quarantine`.
    private static let factFault: @Sendable (Row, References) throws -> String? = { row, references in
        guard references.devices.contains(row[3]) else { return noDevice }
        if let series = row[4] as Int64?, references.series[series] == nil { return noSeries }
        guard let kind = OutboxTable.Kind(rawValue: row[2]), let lane = Lane(rawValue: row[1]), lane != .answer else {
            throw JSONValue.isDamaged
        }
        let isOfSeries = row[4] as Int64? != nil
        switch kind {
        case .measurement:
            let keys = try SampleKeys.unpack(row.bytes(at: 8) ?? [])
            guard isOfSeries, (row[5] as String?).flatMap(SampleSource.init(rawValue:)) != nil else {
                throw JSONValue.isDamaged
            }
            if keys.count != row[7] as Int { return "has \(keys.count) samples, and not \(row[7] as Int)" }
        case .day: guard isOfSeries, row[6] as Int? != nil else { throw JSONValue.isDamaged }
        case .alert, .lateAlert: _ = try AlertEvent(json: .kept(row.bytes(at: 8)))
        case .gap: _ = try Gap(json: .kept(row.bytes(at: 8)))
        case .question: _ = try Question(json: .kept(row.bytes(at: 8)))
        }
        return nil
    }

    private static let day = CheckedTable(
        name: "day", row: "The summary of the day", key: ["series", "day"],
        columns: "day, revision, is_final, summary, device_summary, updated_at, series"
    ) { row, references in
        guard let metric = references.series[row[6]] else { return noSeries }
        guard let metric else { return nil }
        if try DayTable.record(row, metric: metric) == nil { _ = try DayTable.deviceSummary(row, metric: metric) }
        return nil
    }

    /// Samples that are more than a number: the others are sound if their page is.
    private static let sample = CheckedTable(
        name: "sample", row: "The sample with the start", key: ["series", "start", "duration", "user_initiated"],
        columns: "start, series, value, fields",
        condition: """
            fields IS NOT NULL OR series NOT IN (SELECT id FROM series)
                OR series IN (SELECT id FROM series WHERE metric IN ('blood_pressure', 'sleep', 'sport'))
            """
    ) { row, references in
        guard let metric = references.series[row[1]] else { return noSeries }
        guard let metric else { return nil }
        let fields = row.bytes(at: 3)
        _ = try metric.qualifiers(fields: fields)
        _ = try Reading(metric: metric, value: row[2] as Double? ?? 0, fields: fields)
        return nil
    }
}
