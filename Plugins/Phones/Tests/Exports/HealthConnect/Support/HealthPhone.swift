import Foundation
import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Phones

/// A phone with Health Connect: a folder into which it exports a database that the test fills by hand.
///
/// The tables have the columns that Android creates, by its own source (`service/java/com/android/server/healthconnect/storage/
/// datatypehelpers` of HealthFitness) and by notes on real exports.
final class HealthPhone: Sendable {
    let folder: URL
    var file: URL { folder.appending(path: "health_connect_export.db") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "health-connect-export-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try run(Self.core)
        for (name, columns) in Self.instants { try run(Self.create(name, Self.instant, columns)) }
        for (name, columns) in Self.intervals { try run(Self.create(name, Self.interval, columns)) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Midnight of 2025-03-29 in UTC, in milliseconds. The night after it, Berlin's clocks go forward.
    static let midnight: Int64 = 1_743_206_400_000

    /// A moment from that midnight on, in milliseconds.
    static func ms(_ hour: Int64, _ minute: Int64 = 0, _ second: Int64 = 0) -> Int64 {
        midnight + ((hour * 60 + minute) * 60 + second) * 1000
    }
    static func at(_ hour: Int64, _ minute: Int64 = 0, _ second: Int64 = 0) -> Timestamp {
        Timestamp(milliseconds: ms(hour, minute, second))
    }

    // MARK: - Tables

    private static let core = """
        PRAGMA user_version = 23;
        CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT NOT NULL UNIQUE, app_name TEXT,
            app_icon BLOB, record_types_used TEXT);
        CREATE TABLE device_info_table (row_id INTEGER PRIMARY KEY, manufacturer TEXT, model TEXT, device_type INTEGER);
        CREATE TABLE heart_rate_record_series_table (parent_key INTEGER NOT NULL, beats_per_minute INTEGER NOT NULL,
            epoch_millis INTEGER NOT NULL);
        CREATE TABLE skin_temperature_delta_table (parent_key INTEGER NOT NULL, delta REAL NOT NULL,
            epoch_millis INTEGER NOT NULL);
        CREATE TABLE sleep_stages_table (parent_key INTEGER NOT NULL, stage_start_time INTEGER NOT NULL,
            stage_end_time INTEGER NOT NULL, stage_type INTEGER NOT NULL);
        CREATE TABLE change_logs_table (row_id INTEGER PRIMARY KEY, uuids BLOB, app_id INTEGER);
        INSERT INTO application_info_table VALUES (1, 'com.example.watch', 'Watch', NULL, NULL);
        INSERT INTO device_info_table VALUES (1, 'Example', 'Watch 3', 1), (2, 'Example', 'Phone 9', 2);
        """
    private static let common = """
        row_id INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB UNIQUE NOT NULL, last_modified_time INTEGER,
        client_record_id TEXT, client_record_version TEXT, device_info_id INTEGER, app_info_id INTEGER,
        recording_method INTEGER, dedupe_hash BLOB UNIQUE
        """
    private static let instant = "time INTEGER, zone_offset INTEGER, local_date INTEGER"
    private static let interval = """
        start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, local_date INTEGER
        """
    private static let instants = [
        ("resting_heart_rate_record_table", "beats_per_minute INTEGER"),
        ("heart_rate_variability_rmssd_record_table", "heart_rate_variability_millis REAL"),
        ("respiratory_rate_record_table", "rate REAL"), ("oxygen_saturation_record_table", "percentage REAL"),
        (
            "blood_pressure_record_table",
            "systolic REAL, diastolic REAL, measurement_location TEXT NOT NULL, body_position TEXT NOT NULL"
        ),
        ("body_temperature_record_table", "temperature REAL, measurement_location TEXT NOT NULL"),
        ("weight_record_table", "weight REAL"),
        (
            "blood_glucose_record_table",
            "specimen_source TEXT NOT NULL, level REAL, relation_to_meal TEXT NOT NULL, meal_type TEXT NOT NULL"
        ),
        ("basal_body_temperature_record_table", "measurement_location INTEGER, temperature REAL"),
        ("body_fat_record_table", "percentage REAL"), ("lean_body_mass_record_table", "mass REAL"),
        ("bone_mass_record_table", "mass REAL"), ("height_record_table", "height REAL"),
        ("basal_metabolic_rate_record_table", "basal_metabolic_rate REAL"),
        ("vo2_max_record_table", "measurement_method INTEGER, vo2_milliliters_per_minute_kilogram REAL"),
    ]
    private static let intervals = [
        ("heart_rate_record_table", ""), ("steps_record_table", "count INTEGER"),
        ("distance_record_table", "distance REAL"), ("active_calories_burned_record_table", "energy REAL"),
        ("total_calories_burned_record_table", "energy REAL"),
        ("sleep_session_record_table", "notes TEXT, title TEXT"),
        ("exercise_session_record_table", "notes TEXT, exercise_type INTEGER, title TEXT, has_route INTEGER"),
        ("skin_temperature_record_table", "measurement_location INTEGER NOT NULL, baseline REAL"),
        ("floors_climbed_record_table", "floors REAL"), ("hydration_record_table", "volume REAL"),
        ("activity_intensity_record_table", "type INTEGER"), ("wheelchair_pushes_record_table", "count INTEGER"),
        (
            "nutrition_record_table",
            "energy REAL, protein REAL, total_carbohydrate REAL, total_fat REAL, sugar REAL, meal_type INTEGER, meal_name TEXT"
        ),
    ]

    private static func create(_ name: String, _ times: String, _ columns: String) -> String {
        let all = [common, times, columns].filter { !$0.isEmpty }.joined(separator: ", ")
        let local =
            times == instant
            ? "local_date_time INTEGER AS (time + 1000 * zone_offset)"
            : "local_date_time_start_time INTEGER AS (start_time + 1000 * start_zone_offset)"
        return "CREATE TABLE \(name) (\(all), \(local))"
    }

    // MARK: - Rows

    /// Runs statements on the database in place.
    func run(_ sql: String) throws { try GadgetbridgePhone.run(sql, at: file.path) }

    /// Inserts a record.
    /// - Parameters:
    ///   - number: its row_id and its uuid.
    ///   - values: columns with their values in SQL.
    func insert(
        _ table: String, _ number: Int, app: Int = 1, device: Int = 1, method: Int = 2, offset: Int = 3600,
        _ values: [(String, String)]
    ) throws {
        let zones = values.contains { $0.0 == "time" } ? ["zone_offset"] : ["start_zone_offset", "end_zone_offset"]
        let names =
            ["row_id", "uuid", "app_info_id", "device_info_id", "recording_method", "last_modified_time"] + zones
        let data = ["\(number)", "CAST(printf('%016d', \(number)) AS BLOB)", "\(app)", "\(device)", "\(method)", "1"]
        try run(
            """
            INSERT INTO \(table) (\((names + values.map(\.0)).joined(separator: ", ")))
            VALUES (\((data + zones.map { _ in "\(offset)" } + values.map(\.1)).joined(separator: ", ")))
            """)
    }

    /// Inserts a record of a moment.
    func instant(
        _ table: String, _ number: Int, at time: Int64, app: Int = 1, device: Int = 1, method: Int = 2,
        _ values: [(String, String)]
    ) throws {
        try insert(table, number, app: app, device: device, method: method, [("time", "\(time)")] + values)
    }

    /// Inserts a record of an interval.
    func interval(
        _ table: String, _ number: Int, _ start: Int64, _ end: Int64, app: Int = 1, device: Int = 1, method: Int = 2,
        _ values: [(String, String)] = []
    ) throws {
        try insert(
            table, number, app: app, device: device, method: method,
            [("start_time", "\(start)"), ("end_time", "\(end)")] + values)
    }
}
