import GRDB

/// The tables of the store, and how an older file becomes a newer one: by a step for each version after the first. A step that
/// was released never changes, and the tests keep a file of each released version.
///
/// Times are milliseconds since 1970 UTC. What is written once per sample or per message is kept in small numbers; the rest
/// is text, so that the `sqlite3` shell shows something that a person can read (see also the view `readable_sample`).
enum Schema {
    /// What marks a file as ours in its header: "V2MQ" in ASCII.
    static let applicationID: Int64 = 0x5632_4D51

    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        // Foreign keys are checked as always; the check of the whole file after a migration would read all samples.
        migrator.registerMigration("1", foreignKeyChecks: .immediate) { try $0.execute(sql: Schema.version1) }
        return migrator
    }()

    private static let version1 = """
        -- One row: the store's identity, and the last numbers that were given.
        CREATE TABLE store(
            id INTEGER PRIMARY KEY CHECK(id = 1),
            identity TEXT NOT NULL,
            last_sequence INTEGER NOT NULL DEFAULT 0,
            last_answer INTEGER NOT NULL DEFAULT 0,
            answer_bytes INTEGER NOT NULL DEFAULT 0,
            -- Whether pending_statistics is kept: only if the gateway imports the statistics.
            keeps_pending_statistics INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        -- Per lane: up to where the broker has everything, and how many messages and samples wait after that.
        CREATE TABLE lane(
            lane INTEGER PRIMARY KEY,
            acknowledged INTEGER NOT NULL DEFAULT 0,
            messages INTEGER NOT NULL DEFAULT 0,
            samples INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        INSERT INTO lane(lane) VALUES (0), (1), (2), (3);

        -- What was dropped unsent since the store was made.
        CREATE TABLE dropped(class TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;

        -- A device that was forgotten keeps its row for its samples, with known = 0.
        CREATE TABLE device(
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            known INTEGER NOT NULL DEFAULT 1,
            identity TEXT,
            capabilities TEXT,
            -- What it reports beside samples, as the bits of `DeviceFeatures`.
            features INTEGER NOT NULL DEFAULT 0,
            twin TEXT,
            last_seen INTEGER,
            last_sync INTEGER
        ) STRICT;

        -- All samples of one metric of a device. latest_* is the key of the newest sample by its end.
        CREATE TABLE series(
            id INTEGER PRIMARY KEY,
            device INTEGER NOT NULL REFERENCES device(id),
            metric TEXT NOT NULL,
            high_water INTEGER,
            cursor INTEGER,
            latest_start INTEGER,
            latest_duration INTEGER,
            latest_user_initiated INTEGER,
            UNIQUE(device, metric)
        ) STRICT;

        -- The identity that consumers see is computed from the key. kind: 0 normal, 1 maximum, 2 minimum, 3 resting. No
        -- foreign key: it would look the series up for each sample, which the writer has just done. A withdrawn sample was
        -- superseded by another; it stays, so that it is known when the device sends it again. withdrawn: 0 it counts, 1 one of
        -- another source counts instead, 2 a newer form by its own source does.
        CREATE TABLE sample(
            series INTEGER NOT NULL,
            start INTEGER NOT NULL,
            duration INTEGER NOT NULL,
            user_initiated INTEGER NOT NULL,
            value REAL,
            fields TEXT,
            kind INTEGER NOT NULL,
            exercise INTEGER,
            user INTEGER,
            revision INTEGER NOT NULL,
            device_revision INTEGER,
            received_at INTEGER NOT NULL,
            withdrawn INTEGER NOT NULL DEFAULT 0,
            -- NULL: whose it is the device has said, or nobody. '-': it was decided, also that it is nobody's (withdrawn = 2). The users
            -- who are candidates, each between spaces: it waits until somebody says it (withdrawn = 2).
            whose TEXT,
            PRIMARY KEY(series, start, duration, user_initiated)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX waiting_sample ON sample(series, start) WHERE whose < '-';

        -- Facts. kind: 0 measurement (body: the keys of its samples), 1 day, 2 alert, 3 late alert, 4 gap, 5 question (body: JSON).
        CREATE TABLE message(
            lane INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            device INTEGER NOT NULL,
            series INTEGER,
            source TEXT,
            historical INTEGER,
            user INTEGER,
            day INTEGER,
            samples INTEGER NOT NULL,
            made_at INTEGER NOT NULL,
            body BLOB,
            PRIMARY KEY(lane, sequence)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE day(
            series INTEGER NOT NULL REFERENCES series(id),
            day INTEGER NOT NULL,
            revision INTEGER,
            is_final INTEGER,
            summary TEXT,
            device_summary TEXT,
            updated_at INTEGER,
            PRIMARY KEY(series, day)
        ) STRICT, WITHOUT ROWID;

        -- Days with samples that are not in their summary yet.
        CREATE TABLE unsettled(
            series INTEGER NOT NULL REFERENCES series(id),
            day INTEGER NOT NULL,
            PRIMARY KEY(series, day)
        ) STRICT, WITHOUT ROWID;

        -- raised_at: when the rule last raised an alert, for its cool-down. acknowledged_by: who has seen the active alert.
        CREATE TABLE alert_level(
            device INTEGER NOT NULL REFERENCES device(id),
            rule TEXT NOT NULL,
            active INTEGER NOT NULL,
            since INTEGER NOT NULL,
            value REAL,
            measured_limit REAL,
            last_id TEXT,
            raised_at INTEGER,
            user INTEGER,
            acknowledged_by TEXT,
            acknowledged_at INTEGER,
            PRIMARY KEY(device, rule)
        ) STRICT, WITHOUT ROWID;

        -- When a device warned of what (see `AlertRule.Warning`), so that none is raised twice.
        CREATE TABLE warning(
            device INTEGER NOT NULL REFERENCES device(id),
            rule TEXT NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY(device, rule, at)
        ) STRICT, WITHOUT ROWID;

        -- The edges of alerts, as long as samples are kept. body: JSON, as in message. acknowledged_by: who has seen the alert.
        CREATE TABLE alert_edge(
            device INTEGER NOT NULL REFERENCES device(id),
            measured_at INTEGER NOT NULL,
            id TEXT NOT NULL,
            user INTEGER,
            body BLOB NOT NULL,
            acknowledged_by TEXT,
            acknowledged_at INTEGER,
            PRIMARY KEY(device, measured_at, id)
        ) STRICT, WITHOUT ROWID;

        -- Commands, and their answers as the lane of answers: the answer's number is its place there. key: the device or `gateway`,
        -- then the command's name and id, or a random one; content: the fingerprint of its arguments (see `CommandEnvelope`).
        -- An answer that went to a caller of this process has no number.
        CREATE TABLE command(
            number INTEGER PRIMARY KEY,
            key TEXT NOT NULL UNIQUE,
            content TEXT,
            begun_at INTEGER NOT NULL,
            envelope TEXT,
            answer INTEGER UNIQUE,
            answered_at INTEGER,
            topic TEXT,
            correlation BLOB,
            payload BLOB
        ) STRICT;
        CREATE INDEX unnumbered_command ON command(number) WHERE answer IS NULL;

        -- Samples with their messages on the way to their tables, and the counters after each commit (see `JournalRecord`).
        -- While there are rows, store and lane and the end of series are as they were before the first one.
        CREATE TABLE journal(number INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT;

        -- Facts that the broker does not take, with the columns of message. reason is text for a person.
        CREATE TABLE quarantine(
            sequence INTEGER PRIMARY KEY,
            lane INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            device INTEGER NOT NULL,
            series INTEGER,
            source TEXT,
            historical INTEGER,
            user INTEGER,
            day INTEGER,
            samples INTEGER NOT NULL,
            made_at INTEGER NOT NULL,
            body BLOB,
            reason TEXT NOT NULL,
            set_at INTEGER NOT NULL
        ) STRICT;

        -- The hours whose statistics wait to be imported (see `PendingTable`).
        CREATE TABLE pending_statistics(
            series INTEGER NOT NULL,
            sensor TEXT NOT NULL,
            first_hour INTEGER NOT NULL,
            last_hour INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            -- Whether all hours are imported, and only Home Assistant's own rows do not follow them yet.
            is_joining INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(series, sensor)
        ) STRICT, WITHOUT ROWID;

        -- The notes that drivers keep of their devices (see `DeviceNotes`).
        CREATE TABLE driver_note(
            device INTEGER NOT NULL REFERENCES device(id),
            name TEXT NOT NULL,
            bytes BLOB NOT NULL,
            PRIMARY KEY(device, name)
        ) STRICT, WITHOUT ROWID;

        -- What was erased: what a part of a device measured before a moment is refused. slot: a user slot, -1 without one, -2 all.
        -- is_complete: whether the files and the topics have nothing of it any more.
        CREATE TABLE erasure(
            device INTEGER NOT NULL REFERENCES device(id),
            slot INTEGER NOT NULL,
            taken_from INTEGER NOT NULL,
            is_complete INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(device, slot)
        ) STRICT, WITHOUT ROWID;

        CREATE VIEW readable_sample AS
            SELECT device.name AS device, series.metric AS metric,
                strftime('%Y-%m-%dT%H:%M:%fZ', sample.start / 1000.0, 'unixepoch') AS start,
                sample.duration / 1000.0 AS seconds, sample.value, sample.fields,
                CASE sample.kind WHEN 1 THEN 'maximum' WHEN 2 THEN 'minimum' WHEN 3 THEN 'resting' ELSE 'normal' END
                    AS kind, sample.user_initiated, sample.revision, sample.withdrawn,
                strftime('%Y-%m-%dT%H:%M:%fZ', sample.received_at / 1000.0, 'unixepoch') AS received_at
            FROM sample JOIN series ON series.id = sample.series JOIN device ON device.id = series.device;
        """
}
