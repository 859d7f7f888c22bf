"""Writes what fuzzing begins with: seeds.py FOLDER. Small databases with some tables of Health Connect each, and zips of one."""

import os
import sqlite3
import sys
import zipfile

NOON = 1743249600000
RECORD = ("row_id INTEGER PRIMARY KEY, uuid BLOB, last_modified_time INTEGER, device_info_id INTEGER, app_info_id INTEGER, "
          "recording_method INTEGER")
INSTANT = "time INTEGER, zone_offset INTEGER, local_date INTEGER"
INTERVAL = "start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER"


def instants(*values):
    return [(NOON + 60_000 * i, 3600, 20176, value) for i, value in enumerate(values)]


def interval(minutes, *values):
    return (NOON, 3600, NOON + 60_000 * minutes, 3600) + values


# Of each export: its tables of records, and the tables of values that belong to them.
EXPORTS = {
    "steps": ([("steps_record_table", INTERVAL + ", count INTEGER", [interval(9, 800), interval(20, 1500)]),
               ("distance_record_table", INTERVAL + ", distance REAL", [interval(9, 512.5)]),
               ("exercise_session_record_table", INTERVAL + ", exercise_type INTEGER", [interval(30, 56)])], []),
    "heart-rates": ([("heart_rate_record_table", INTERVAL, [interval(9)]),
                     ("resting_heart_rate_record_table", INSTANT + ", beats_per_minute INTEGER", instants(52))],
                    [("heart_rate_record_series_table", "parent_key, beats_per_minute, epoch_millis",
                      [(1, 60 + i, NOON + 1000 * i) for i in range(9)])]),
    "night": ([("sleep_session_record_table", INTERVAL, [interval(300)])],
              [("sleep_stages_table", "parent_key, stage_start_time, stage_end_time, stage_type",
                [(1, NOON + 3_600_000 * i, NOON + 3_600_000 * (i + 1), 4 + i % 3) for i in range(5)])]),
    "skin": ([("skin_temperature_record_table", INTERVAL + ", measurement_location INTEGER, baseline REAL", [interval(9, 2, 33.5)])],
             [("skin_temperature_delta_table", "parent_key, delta, epoch_millis", [(1, 0.5, NOON), (1, -0.25, NOON + 60_000)])]),
    "cuff": ([("blood_pressure_record_table", INSTANT + ", systolic REAL, diastolic REAL", [(NOON, 3600, 20176, 121.0, 79.0)]),
              ("weight_record_table", INSTANT + ", weight REAL", instants(71500.0, 71400.0)),
              ("blood_glucose_record_table", INSTANT + ", level REAL", instants(5.5)),
              ("oxygen_saturation_record_table", INSTANT + ", percentage REAL", instants(97.0))], []),
}


def export(path, tables, values):
    database = sqlite3.connect(path)
    database.executescript("PRAGMA page_size = 512; PRAGMA user_version = 23;"
                           "CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT, app_name TEXT);"
                           "CREATE TABLE device_info_table (row_id INTEGER PRIMARY KEY, manufacturer TEXT, model TEXT);"
                           "INSERT INTO application_info_table VALUES (1, 'com.example.watch', 'Watch');"
                           "INSERT INTO device_info_table VALUES (1, 'Example', 'Watch 3');")
    for name, columns, rows in tables:
        database.execute(f"CREATE TABLE {name} ({RECORD}, {columns})")
        for number, row in enumerate(rows, 1):
            places = ", ".join("?" * len(row))
            database.execute(f"INSERT INTO {name} VALUES ({number}, {number}, 1, 1, 1, 2, {places})", row)
    for name, columns, rows in values:
        database.execute(f"CREATE TABLE {name} ({columns})")
        for row in rows:
            database.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    database.commit()
    database.close()


folder = sys.argv[1]
for name, (tables, values) in EXPORTS.items():
    export(os.path.join(folder, name), tables, values)
for name, method in [("zip", zipfile.ZIP_DEFLATED), ("zip-stored", zipfile.ZIP_STORED)]:
    with zipfile.ZipFile(os.path.join(folder, name), "w", method) as archive:
        archive.write(os.path.join(folder, "steps"), "health_connect_export.db")
