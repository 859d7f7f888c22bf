import GRDB
import JSON
import Vitals

/// The edges of alerts as rows, for the history of alerts. Facts have them, too, but only until they are too old to be replayed.
enum EdgeTable {
    /// Adds an edge. One that is stored again, such as in a repeated transaction, is there once.
    static func add(_ event: AlertEvent, body: [UInt8], of device: Int64, in database: Database) throws {
        let statement = try RawStatement(
            "INSERT OR REPLACE INTO alert_edge(device, measured_at, id, user, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            in: database)
        statement.bind(device, at: 1)
        statement.bind(event.measuredAt.milliseconds, at: 2)
        statement.bind(text: Array(event.id.description.utf8), at: 3)
        statement.bind(event.user, at: 4)
        statement.bind(blob: body, at: 5)
        _ = try statement.run()
    }

    /// Notes that a person has seen an alert, which began with an edge of this moment.
    static func acknowledge(
        _ id: SampleID, measuredAt moment: Timestamp, _ seen: Acknowledgement, of device: Int64, in database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE alert_edge SET acknowledged_by = ?4, acknowledged_at = ?5
                WHERE device = ?1 AND measured_at = ?2 AND id = ?3
                """)
        try statement.execute(
            arguments: [device, moment.milliseconds, id.description, seen.person, seen.at.milliseconds])
    }

    /// The edges of a device that were measured before a moment, the newest first. Those of one moment are never separated, so there
    /// may be a few more than `limit`.
    static func edges(
        of device: DeviceID, before: Timestamp, limit: Int, in database: Database
    ) throws -> [AlertEvent] {
        let sql = """
            SELECT body, acknowledged_by, acknowledged_at FROM alert_edge
            WHERE device = (SELECT id FROM device WHERE name = ?1) AND measured_at < ?2 AND measured_at >= coalesce(
                (SELECT measured_at FROM alert_edge
                WHERE device = (SELECT id FROM device WHERE name = ?1) AND measured_at < ?2
                ORDER BY measured_at DESC LIMIT 1 OFFSET ?3), -9223372036854775808)
            ORDER BY measured_at DESC, id DESC
            """
        let rows = try Row.fetchAll(
            database.cachedStatement(sql: sql), arguments: [device.text, before.milliseconds, max(0, limit - 1)])
        return try rows.map { row in
            var event = try AlertEvent(json: .kept(row.bytes(at: 0)))
            if let person = row[1] as String?, let moment = row[2] as Int64? {
                event.acknowledgement = Acknowledgement(by: person, at: Timestamp(milliseconds: moment))
            }
            return event
        }
    }

    /// Deletes edges that were measured before a moment. Returns how many.
    static func drop(before moment: Timestamp, limit: Int, in database: Database) throws -> Int {
        let statement = try database.cachedStatement(
            sql: """
                DELETE FROM alert_edge WHERE (device, measured_at, id) IN (
                    SELECT device, measured_at, id FROM alert_edge
                    WHERE device IN (SELECT id FROM device) AND measured_at < ?1 LIMIT ?2)
                """)
        try statement.execute(arguments: [moment.milliseconds, limit])
        return database.changesCount
    }
}
