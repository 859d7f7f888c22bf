import Foundation
import GRDB
import Vitals

/// The notes that drivers keep of their devices, by names that only they understand (see `DeviceNotes`).
enum NoteTable {
    static func notes(of device: DeviceID, in database: Database) throws -> [String: [UInt8]] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT driver_note.name, bytes FROM driver_note JOIN device ON device.id = driver_note.device
                WHERE device.name = ?
                """)
        var notes: [String: [UInt8]] = [:]
        let rows = try Row.fetchCursor(statement, arguments: [device.text])
        while let row = try rows.next() { notes[row[0]] = [UInt8](row[1] as Data) }
        return notes
    }
}

extension Transaction {
    /// Changes the notes of a device's driver; `nil` removes one.
    func saveNotes(_ changes: [String: [UInt8]?], of device: DeviceID) throws {
        let row = try cachedDevice(of: device).row
        for (name, bytes) in changes {
            if let bytes {
                try execute(
                    """
                    INSERT INTO driver_note(device, name, bytes) VALUES (?, ?, ?)
                    ON CONFLICT(device, name) DO UPDATE SET bytes = excluded.bytes
                    """, [row, name, Data(bytes)])
            } else {
                try execute("DELETE FROM driver_note WHERE device = ? AND name = ?", [row, name])
            }
        }
    }
}
