import Foundation
import GRDB

/// A database as the phone app Gadgetbridge exports it: the minutes of a Mi Band, each with a heart rate.
///
/// The tables are those that the app creates. Each minute is a row; row `i` begins at the plan's key `i`.
enum ExportFile {
    private static let tables = """
        PRAGMA user_version = 137;
        PRAGMA journal_mode = OFF;
        PRAGMA synchronous = OFF;
        CREATE TABLE "DEVICE" ("_id" INTEGER PRIMARY KEY, "NAME" TEXT NOT NULL, "MANUFACTURER" TEXT NOT NULL,
            "IDENTIFIER" TEXT NOT NULL UNIQUE, "TYPE" INTEGER NOT NULL, "TYPE_NAME" TEXT NOT NULL, "MODEL" TEXT,
            "ALIAS" TEXT, "PARENT_FOLDER" TEXT);
        INSERT INTO "DEVICE" VALUES (1, 'Mi Band 4', 'Huami', 'C0:11:22:33:44:55', 0, 'MIBAND4', 'V1', NULL, NULL);
        CREATE TABLE "MI_BAND_ACTIVITY_SAMPLE" ("TIMESTAMP" INTEGER NOT NULL, "DEVICE_ID" INTEGER NOT NULL,
            "USER_ID" INTEGER NOT NULL, "RAW_INTENSITY" INTEGER NOT NULL, "STEPS" INTEGER NOT NULL,
            "RAW_KIND" INTEGER NOT NULL, "HEART_RATE" INTEGER NOT NULL,
            PRIMARY KEY ("TIMESTAMP", "DEVICE_ID") ON CONFLICT REPLACE) WITHOUT ROWID;
        """

    /// Writes as many rows as the plan has records.
    static func write(_ plan: FeedPlan, to path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: tables)
            try database.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
                    INSERT INTO MI_BAND_ACTIVITY_SAMPLE SELECT (? + i * ?) / 1000, 1, 1, 20, 0, 1, 60 + i % 40 FROM n
                    """, arguments: [plan.historyCount, plan.base, plan.step])
        }
        try queue.close()
    }
}
