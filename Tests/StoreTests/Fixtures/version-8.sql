-- A store of version 8 of the schema. Written by hand from the steps of the schema up to 8, not by a program of that
-- version. Never edit it: what was shipped does not change.
PRAGMA application_id = 1446137169;
CREATE TABLE alert_level(
    device INTEGER NOT NULL REFERENCES device(id),
    rule TEXT NOT NULL,
    active INTEGER NOT NULL,
    since INTEGER NOT NULL,
    value REAL,
    measured_limit REAL,
    last_id TEXT, raised_at INTEGER,
    PRIMARY KEY(device, rule)
) STRICT, WITHOUT ROWID;
INSERT INTO "alert_level" VALUES(1,'stress_high',1,5,NULL,NULL,NULL,4);
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
CREATE TABLE command(
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    begun_at INTEGER NOT NULL,
    envelope TEXT,
    answer INTEGER UNIQUE,
    answered_at INTEGER,
    topic TEXT,
    correlation BLOB,
    payload BLOB
) STRICT;
INSERT INTO "command" VALUES(1,'id:1',9,'{"id":"1","device":"band-1","command":"sync","correlation":[0,255,7]}',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "command" VALUES(2,'id:2',9,NULL,1,1794960000000,'me',X'01',X'7B7D');
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
CREATE TABLE device(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    known INTEGER NOT NULL DEFAULT 1,
    identity TEXT,
    capabilities TEXT,
    features INTEGER NOT NULL DEFAULT 0,
    twin TEXT,
    last_seen INTEGER,
    last_sync INTEGER
) STRICT;
INSERT INTO "device" VALUES(1,'band-1',1,NULL,NULL,1,NULL,NULL,NULL);
CREATE TABLE driver_note(
    device INTEGER NOT NULL REFERENCES device(id),
    name TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY(device, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "driver_note" VALUES(1,'origin',X'01');
CREATE TABLE dropped(class TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
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
INSERT INTO "pending_statistics" VALUES(1,'',498600,498600,1794960000000,1,0);
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('1');
INSERT INTO "grdb_migrations" VALUES('2');
INSERT INTO "grdb_migrations" VALUES('3');
INSERT INTO "grdb_migrations" VALUES('4');
INSERT INTO "grdb_migrations" VALUES('5');
INSERT INTO "grdb_migrations" VALUES('6');
INSERT INTO "grdb_migrations" VALUES('7');
INSERT INTO "grdb_migrations" VALUES('8');
CREATE TABLE journal(number INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT;
CREATE TABLE lane(
    lane INTEGER PRIMARY KEY,
    acknowledged INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0,
    samples INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "lane" VALUES(0,0,0,0);
INSERT INTO "lane" VALUES(1,0,1,0);
INSERT INTO "lane" VALUES(2,2,1,1);
INSERT INTO "lane" VALUES(3,0,0,0);
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
INSERT INTO "message" VALUES(2,3,0,1,1,'live',0,NULL,NULL,1,9,X'8090A0BFBD6800');
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
    received_at INTEGER NOT NULL, withdrawn INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(series, start, duration, user_initiated)
) STRICT, WITHOUT ROWID;
INSERT INTO "sample" VALUES(1,1794960000000,0,0,61.0,NULL,0,NULL,NULL,1,NULL,9,0);
INSERT INTO "sample" VALUES(2,1794960000000,3600000,0,60.0,'{"stages":[["deep",1794960000000,1794963600000]]}',0,NULL,NULL,1,NULL,9,0);
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
INSERT INTO "series" VALUES(1,1,'heart_rate',1794960000000,NULL,1794960000000,0,0);
INSERT INTO "series" VALUES(2,1,'sleep',NULL,NULL,NULL,NULL,NULL);
CREATE TABLE store(
    id INTEGER PRIMARY KEY CHECK(id = 1),
    identity TEXT NOT NULL,
    last_sequence INTEGER NOT NULL DEFAULT 0,
    last_answer INTEGER NOT NULL DEFAULT 0,
    answer_bytes INTEGER NOT NULL DEFAULT 0
, keeps_pending_statistics INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "store" VALUES(1,'00000000-0000-0005-0000-000000000000',3,1,2,1);
CREATE TABLE unsettled(
    series INTEGER NOT NULL REFERENCES series(id),
    day INTEGER NOT NULL,
    PRIMARY KEY(series, day)
) STRICT, WITHOUT ROWID;
CREATE VIEW readable_sample AS
    SELECT device.name AS device, series.metric AS metric,
        strftime('%Y-%m-%dT%H:%M:%fZ', sample.start / 1000.0, 'unixepoch') AS start,
        sample.duration / 1000.0 AS seconds, sample.value, sample.fields,
        CASE sample.kind WHEN 1 THEN 'maximum' WHEN 2 THEN 'minimum' WHEN 3 THEN 'resting' ELSE 'normal' END
            AS kind, sample.user_initiated, sample.revision, sample.withdrawn,
        strftime('%Y-%m-%dT%H:%M:%fZ', sample.received_at / 1000.0, 'unixepoch') AS received_at
    FROM sample JOIN series ON series.id = sample.series JOIN device ON device.id = series.device;
