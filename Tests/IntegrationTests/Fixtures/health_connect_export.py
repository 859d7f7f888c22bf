"""Writes an export of Health Connect: health_connect_export.py FILE.zip FROM-TO=STEPS… (minutes since 2026-01-05 12:00 UTC).

Two apps have the same steps. The first one also has a sleep of the night before, from 22:00 until TO of the first argument.
"""

import os
import sqlite3
import sys
import zipfile

NOON = 1767614400000  # 2026-01-05 12:00 UTC
MINUTE = 60000

path = sys.argv[1]
database = sqlite3.connect(path + ".db")
common = "row_id INTEGER PRIMARY KEY, uuid BLOB UNIQUE NOT NULL, last_modified_time INTEGER, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER"
interval = "start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, local_date INTEGER"
database.executescript(f"""
    PRAGMA user_version = 23;
    CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT NOT NULL UNIQUE, app_name TEXT);
    CREATE TABLE device_info_table (row_id INTEGER PRIMARY KEY, manufacturer TEXT, model TEXT, device_type INTEGER);
    CREATE TABLE steps_record_table ({common}, {interval}, count INTEGER);
    CREATE TABLE sleep_session_record_table ({common}, {interval}, notes TEXT, title TEXT);
    CREATE TABLE sleep_stages_table (parent_key INTEGER NOT NULL, stage_start_time INTEGER NOT NULL,
        stage_end_time INTEGER NOT NULL, stage_type INTEGER NOT NULL);
    CREATE TABLE cervical_mucus_record_table ({common}, time INTEGER, zone_offset INTEGER, local_date INTEGER, appearance INTEGER);
    INSERT INTO application_info_table VALUES (1, 'com.example.watch', 'Watch: "Pro"'), (2, 'com.example.fit', 'Fit');
    INSERT INTO device_info_table VALUES (1, 'Example', 'Watch 3', 1);
    INSERT INTO cervical_mucus_record_table VALUES (1, x'01', 1, 1, 1, 2, {NOON}, 3600, 20458, 2);
""")
first = None
for number, argument in enumerate(sys.argv[2:]):
    span, steps = argument.split("=")
    start, end = (NOON + int(minute) * MINUTE for minute in span.split("-"))
    first = first or end
    for app in (1, 2):
        row = 2 * number + app
        database.execute(
            "INSERT INTO steps_record_table VALUES (?, ?, 1, 1, ?, 2, ?, 3600, ?, 3600, 20458, ?)",
            (row, row.to_bytes(16, "big"), app, start, end, int(steps)))
bed = NOON - 14 * 60 * MINUTE
database.execute("INSERT INTO sleep_session_record_table VALUES (1, x'01', 1, 1, 1, 2, ?, 3600, ?, 3600, 20458, NULL, NULL)", (bed, first))
database.execute("INSERT INTO sleep_stages_table VALUES (1, ?, ?, 4)", (bed, first))
database.commit()
database.close()
with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.write(path + ".db", "health_connect_export.db")
os.remove(path + ".db")
os.replace(path + ".new", path)
