-- A store of version 0 of the schema, which never existed: version 1 without the notes of drivers, and with has_battery in
-- place of features. Once a version is released, its fixture is never edited.
PRAGMA application_id = 1446137169;

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
    has_battery INTEGER NOT NULL DEFAULT 0,
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
-- superseded by another; it stays, so that it is known when the device sends it again.
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

-- Facts. kind: 0 measurement (body: the keys of its samples), 1 day, 2 alert, 3 late alert, 4 gap (body: JSON).
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

-- Commands, and their answers as the lane of answers: the answer's number is its place there.
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

CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO grdb_migrations VALUES('0');
INSERT INTO store(id, identity, last_sequence, last_answer, answer_bytes, keeps_pending_statistics)
    VALUES (1, '00000000-0000-0005-0000-000000000000', 3, 1, 2, 1);
INSERT INTO lane(lane, acknowledged, messages, samples)
    VALUES (0, 0, 0, 0);
INSERT INTO lane(lane, acknowledged, messages, samples)
    VALUES (1, 0, 1, 0);
INSERT INTO lane(lane, acknowledged, messages, samples)
    VALUES (2, 2, 1, 1);
INSERT INTO lane(lane, acknowledged, messages, samples)
    VALUES (3, 0, 0, 0);
INSERT INTO device(id, name, known, identity, capabilities, has_battery, twin, last_seen, last_sync)
    VALUES (1, 'band-1', 1, NULL, NULL, 1, NULL, NULL, NULL);
INSERT INTO series(id, device, metric, high_water, cursor, latest_start, latest_duration, latest_user_initiated)
    VALUES (1, 1, 'heart_rate', 1794960000000, NULL, 1794960000000, 0, 0);
INSERT INTO series(id, device, metric, high_water, cursor, latest_start, latest_duration, latest_user_initiated)
    VALUES (2, 1, 'sleep', NULL, NULL, NULL, NULL, NULL);
INSERT INTO sample(series, start, duration, user_initiated, value, fields, kind, exercise, user, revision, device_revision, received_at, withdrawn)
    VALUES (1, 1794960000000, 0, 0, 61.0, NULL, 0, NULL, NULL, 1, NULL, 9, 0);
INSERT INTO sample(series, start, duration, user_initiated, value, fields, kind, exercise, user, revision, device_revision, received_at, withdrawn)
    VALUES (2, 1794960000000, 3600000, 0, 60.0, '{"stages":[["deep",1794960000000,1794963600000]]}', 0, NULL, NULL, 1, NULL, 9, 0);
INSERT INTO message(lane, sequence, kind, device, series, source, historical, user, day, samples, made_at, body)
    VALUES (2, 3, 0, 1, 1, 'live', 0, NULL, NULL, 1, 9, X'8090A0BFBD6800');
INSERT INTO alert_level(device, rule, active, since, value, measured_limit, last_id, raised_at, user, acknowledged_by, acknowledged_at)
    VALUES (1, 'stress_high', 1, 5, NULL, NULL, NULL, 4, NULL, 'anna', 6);
INSERT INTO warning(device, rule, at)
    VALUES (1, 'heart_rhythm_irregular', 5);
INSERT INTO command(number, key, begun_at, envelope, answer, answered_at, topic, correlation, payload)
    VALUES (1, 'id:1', 9, '{"id":"1","device":"band-1","command":"sync","correlation":[0,255,7]}', NULL, NULL, NULL, NULL, NULL);
INSERT INTO command(number, key, begun_at, envelope, answer, answered_at, topic, correlation, payload)
    VALUES (2, 'id:2', 9, NULL, 1, 1794960000000, 'me', X'01', X'7B7D');
INSERT INTO pending_statistics(series, sensor, first_hour, last_hour, changed_at, revision, is_joining)
    VALUES (1, '', 498600, 498600, 1794960000000, 1, 0);
