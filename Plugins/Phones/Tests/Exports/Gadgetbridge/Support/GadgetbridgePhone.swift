import Foundation
import GRDBSQLite
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// A phone with Gadgetbridge: a folder into which it exports a database that the test fills.
///
/// The tables are those that the app creates, by their documented columns.
final class GadgetbridgePhone: Sendable {
    let folder: URL
    var file: URL { folder.appending(path: "Gadgetbridge.db") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "gadgetbridge-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try run(Self.core)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Midnight of 2023-11-15 in UTC, in seconds.
    static let midnight: Int64 = 1_700_006_400

    /// A moment of 2023-11-15 in UTC.
    static func at(_ hour: Int64, _ minute: Int64 = 0, _ second: Int64 = 0) -> Timestamp {
        Timestamp(seconds: midnight + hour * 3600 + minute * 60 + second)
    }

    /// The tables that every export has, with one wearable.
    private static let core = """
        PRAGMA user_version = 137;
        CREATE TABLE "DEVICE" ("_id" INTEGER PRIMARY KEY, "NAME" TEXT NOT NULL, "MANUFACTURER" TEXT NOT NULL,
            "IDENTIFIER" TEXT NOT NULL UNIQUE, "TYPE" INTEGER NOT NULL, "TYPE_NAME" TEXT NOT NULL, "MODEL" TEXT,
            "ALIAS" TEXT, "PARENT_FOLDER" TEXT);
        CREATE TABLE "DEVICE_ATTRIBUTES" ("_id" INTEGER PRIMARY KEY, "FIRMWARE_VERSION1" TEXT NOT NULL,
            "FIRMWARE_VERSION2" TEXT, "VALID_FROM_UTC" INTEGER, "VALID_TO_UTC" INTEGER, "DEVICE_ID" INTEGER NOT NULL,
            "VOLATILE_IDENTIFIER" TEXT);
        CREATE TABLE "BATTERY_LEVEL" ("TIMESTAMP" INTEGER NOT NULL, "DEVICE_ID" INTEGER NOT NULL,
            "LEVEL" INTEGER NOT NULL, "BATTERY_INDEX" INTEGER NOT NULL,
            PRIMARY KEY ("TIMESTAMP", "DEVICE_ID", "BATTERY_INDEX") ON CONFLICT REPLACE) WITHOUT ROWID;
        CREATE TABLE "BASE_ACTIVITY_SUMMARY" ("_id" INTEGER PRIMARY KEY AUTOINCREMENT, "NAME" TEXT,
            "START_TIME" INTEGER NOT NULL, "END_TIME" INTEGER NOT NULL, "ACTIVITY_KIND" INTEGER NOT NULL,
            "BASE_LONGITUDE" INTEGER, "DEVICE_ID" INTEGER NOT NULL, "USER_ID" INTEGER NOT NULL, "SUMMARY_DATA" TEXT,
            "RAW_SUMMARY_DATA" BLOB);
        INSERT INTO DEVICE VALUES (1, 'Band 8', 'Xiaomi', 'C0:11:22:33:44:55', 0, 'MIBAND8', 'M2239B1', NULL, NULL);
        INSERT INTO DEVICE_ATTRIBUTES VALUES (1, '1.0.0', NULL, 1600000000000, 1690000000000, 1, NULL),
            (2, '2.3.4', NULL, 1690000000000, NULL, 1, NULL);
        """

    /// Runs statements on the database in place.
    func run(_ sql: String) throws { try Self.run(sql, at: file.path) }

    static func run(_ sql: String, at path: String) throws {
        var handle: OpaquePointer?
        try #require(sqlite3_open(path, &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        var message: UnsafeMutablePointer<CChar>?
        let status = sqlite3_exec(handle, sql, nil, nil, &message)
        let text = message.map { String(cString: $0) } ?? ""
        sqlite3_free(message)
        try #require(status == SQLITE_OK, "\(text) in \(sql)")
    }

    /// Creates a table of samples with columns in the documentation's notation, such as `STEPS I!, HEART_RATE I!`, and with rows of a
    /// device.
    func table(
        _ name: String, _ columns: String, key: [String] = ["TIMESTAMP", "DEVICE_ID"], device: Int = 1,
        _ rows: [[Any]] = []
    ) throws {
        let types = ["I": "INTEGER", "R": "REAL", "B": "BLOB", "T": "TEXT"]
        let definitions = columns.split(separator: ",").map { column in
            let parts = column.split(whereSeparator: \.isWhitespace)
            let type = types[String(parts[1].prefix(1))] ?? ""
            return "\"\(parts[0])\" \(type)\(parts[1].hasSuffix("!") ? " NOT NULL" : "")"
        }
        let all = ["TIMESTAMP", "DEVICE_ID", "USER_ID"].map { "\"\($0)\" INTEGER NOT NULL" } + definitions
        let keys = key.map { "\"\($0)\"" }.joined(separator: ", ")
        try run(
            "CREATE TABLE \"\(name)\" (\(all.joined(separator: ", ")), PRIMARY KEY (\(keys)) ON CONFLICT REPLACE) WITHOUT ROWID"
        )
        if !rows.isEmpty { try insert(name, device: device, rows) }
    }

    /// Inserts rows, each with its TIMESTAMP and the columns that follow the ids.
    func insert(_ table: String, device: Int = 1, _ rows: [[Any]]) throws {
        let values = rows.map { row in
            "(\(row[0]), \(device), 1\(row.dropFirst().map { ", \($0)" }.joined()))"
        }
        try run("INSERT INTO \"\(table)\" VALUES \(values.joined(separator: ", "))")
    }
}

// MARK: - What the driver makes of it

extension GadgetbridgePhone {
    static func context(clock: GatewayClock = .system, zone: String = "UTC") throws -> SessionContext {
        var context = SessionContext.testing(try #require(DeviceID("band")), clock: clock)
        context.calendar = try #require(LocalCalendar(identifier: zone))
        context.services = RunningServices([ExportFolders<GadgetbridgeOptions>()])
        return context
    }

    func open(_ device: String? = nil, zone: String = "UTC") throws -> OpenExport {
        try OpenExport(
            try #require(FileStamp(of: file.path)), GadgetbridgeOptions(path: file.path, device: device),
            Self.context(zone: zone))
    }

    /// All samples of a metric, as read page by page.
    func samples(_ metric: Metric, _ device: String? = nil, zone: String = "UTC", limit: Int = 3) throws -> [Sample] {
        try open(device, zone: zone).samples(metric, zone: zone, limit: limit)
    }

    /// The values of a metric, by their seconds since `midnight`.
    func values(_ metric: Metric, _ device: String? = nil, zone: String = "UTC") throws -> [Value] {
        try samples(metric, device, zone: zone).map { Value($0) }
    }
}

/// A sample in short: when it begins and ends, in seconds from `GadgetbridgePhone.midnight`, and its number.
struct Value: Hashable, CustomStringConvertible {
    var start: Int64
    var end: Int64
    var number: Double

    init(_ sample: Sample) {
        start = sample.start.milliseconds / 1000 - GadgetbridgePhone.midnight
        end = sample.end.milliseconds / 1000 - GadgetbridgePhone.midnight
        number = sample.value ?? -1
    }

    init(_ start: Int64, _ end: Int64, _ number: Double) { (self.start, self.end, self.number) = (start, end, number) }
    /// A value of a moment.
    init(_ start: Int64, _ number: Double) { self.init(start, start, number) }

    var description: String { "\(start)…\(end): \(number)" }
}
