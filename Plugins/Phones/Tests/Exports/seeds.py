"""Writes what fuzzing begins with: seeds.py (export|record|health-connect) FOLDER.

Exports are small databases of Gadgetbridge, or of Health Connect, with the tables of several families, and zips of one; records are a night of
Huami and summaries of workouts.
"""

import os
import sqlite3
import struct
import sys
import zipfile

NOON = 1700049600
KEYS = "TIMESTAMP INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL, USER_ID INTEGER NOT NULL"
END = "PRIMARY KEY (TIMESTAMP, DEVICE_ID) ON CONFLICT REPLACE) WITHOUT ROWID"
MORNING = 1743249600000
RECORD = ("row_id INTEGER PRIMARY KEY, uuid BLOB, last_modified_time INTEGER, device_info_id INTEGER, app_info_id INTEGER, "
          "recording_method INTEGER")
INSTANT = "time INTEGER, zone_offset INTEGER, local_date INTEGER"
INTERVAL = "start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER"


def night():
    midnight, stages = NOON - 43200, [(1350, 1410, 4), (1410, 1500, 5), (1500, 1530, 8), (1530, 1535, 7), (1535, 1800, 4)]
    record = bytearray(594)
    struct.pack_into("<II", record, 0, midnight + 18000, midnight)
    struct.pack_into("<HH", record, 0x0A, 1350, 1800)
    record[0x54] = len(stages)
    for index, stage in enumerate(stages):
        struct.pack_into("<HHB", record, 0x56 + 5 * index, *stage)
    struct.pack_into("<HHHH", record, 0x24A, 30, 325, 90, 5)
    return bytes(record)


GADGETBRIDGE = {
    "mi-band": [("MI_BAND_ACTIVITY_SAMPLE", "RAW_INTENSITY, STEPS, RAW_KIND, HEART_RATE",
                 [(NOON + 60 * i, 20, i % 5, [1, 9, 11, 10][i % 4], 60 + i) for i in range(20)])],
    "colmi": [("COLMI_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME", [(NOON * 1000, (NOON + 3600) * 1000)]),
              ("COLMI_SLEEP_STAGE_SAMPLE", "DURATION, STAGE", [((NOON + 1800 * i) * 1000, 30, 2 + i) for i in range(2)]),
              ("COLMI_TEMPERATURE_SAMPLE", "TEMPERATURE, TEMPERATURE_TYPE, TEMPERATURE_LOCATION", [(NOON * 1000, 36.6, 1, 4)])],
    "garmin": [("GARMIN_ACTIVITY_SAMPLE", "RAW_INTENSITY, STEPS, RAW_KIND, HEART_RATE, DISTANCE_CM",
                [(NOON + 3600 * i, 0, 100 * (i % 30), 1, 61, 7000 * (i % 30)) for i in range(6)]),
               ("GARMIN_EVENT_SAMPLE", "EVENT, EVENT_TYPE", [(NOON * 1000, 74, 0), ((NOON + 3600) * 1000, 74, 1)]),
               ("GARMIN_SLEEP_STAGE_SAMPLE", "STAGE", [((NOON + 600 * i) * 1000, i) for i in range(5)])],
    "huami": [("HUAMI_SLEEP_SESSION_SAMPLE", "DATA", [(NOON * 1000, night())]),
              ("HUAMI_STRESS_SAMPLE", "TYPE_NUM, STRESS", [(NOON * 1000 + i, i, 40) for i in range(3)])],
    "huawei": [("HUAWEI_ACTIVITY_SAMPLE", "OTHER_TIMESTAMP, RAW_KIND, STEPS, CALORIES, SPO, HEART_RATE",
                [(NOON + 60 * i, NOON + 60 * i + 60, 6, 40, 2500, 97, -125) for i in range(4)])],
    "cuff": [("GENERIC_BLOOD_PRESSURE_SAMPLE", "BP_SYSTOLIC, BP_DIASTOLIC, USER_INDEX, PULSE_RATE", [(NOON * 1000, 121, 79, 2, 66)]),
             ("MI_SCALE_WEIGHT_SAMPLE", "WEIGHT_KG", [(NOON * 1000, 71.5)])],
}


def instants(*values):
    return [(MORNING + 60_000 * i, 3600, 20176, value) for i, value in enumerate(values)]


def interval(minutes, *values):
    return (MORNING, 3600, MORNING + 60_000 * minutes, 3600) + values


# Of each export: its tables of records, and the tables of values that belong to them.
HEALTH_CONNECT = {
    "steps": ([("steps_record_table", INTERVAL + ", count INTEGER", [interval(9, 800), interval(20, 1500)]),
               ("distance_record_table", INTERVAL + ", distance REAL", [interval(9, 512.5)]),
               ("exercise_session_record_table", INTERVAL + ", exercise_type INTEGER", [interval(30, 56)])], []),
    "heart-rates": ([("heart_rate_record_table", INTERVAL, [interval(9)]),
                     ("resting_heart_rate_record_table", INSTANT + ", beats_per_minute INTEGER", instants(52))],
                    [("heart_rate_record_series_table", "parent_key, beats_per_minute, epoch_millis",
                      [(1, 60 + i, MORNING + 1000 * i) for i in range(9)])]),
    "night": ([("sleep_session_record_table", INTERVAL, [interval(300)])],
              [("sleep_stages_table", "parent_key, stage_start_time, stage_end_time, stage_type",
                [(1, MORNING + 3_600_000 * i, MORNING + 3_600_000 * (i + 1), 4 + i % 3) for i in range(5)])]),
    "skin": ([("skin_temperature_record_table", INTERVAL + ", measurement_location INTEGER, baseline REAL", [interval(9, 2, 33.5)])],
             [("skin_temperature_delta_table", "parent_key, delta, epoch_millis", [(1, 0.5, MORNING), (1, -0.25, MORNING + 60_000)])]),
    "cuff": ([("blood_pressure_record_table", INSTANT + ", systolic REAL, diastolic REAL", [(MORNING, 3600, 20176, 121.0, 79.0)]),
              ("weight_record_table", INSTANT + ", weight REAL", instants(71500.0, 71400.0)),
              ("blood_glucose_record_table", INSTANT + ", level REAL", instants(5.5)),
              ("oxygen_saturation_record_table", INSTANT + ", percentage REAL", instants(97.0))], []),
}


def write(path, script, tables):
    """A database of this script, and of tables: what creates each, and its rows."""
    database = sqlite3.connect(path)
    database.executescript("PRAGMA page_size = 512;" + script)
    for name, columns, rows in tables:
        database.execute(f"CREATE TABLE {name} ({columns}")
        for row in rows:
            database.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    database.commit()
    database.close()


def gadgetbridge(path, tables):
    write(path, f"""
        PRAGMA user_version = 137;
        CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT, IDENTIFIER TEXT, ALIAS TEXT);
        INSERT INTO DEVICE VALUES (1, 'Band', 'C0:11:22:33:44:55', NULL);
        CREATE TABLE BATTERY_LEVEL (TIMESTAMP, DEVICE_ID, LEVEL, BATTERY_INDEX);
        INSERT INTO BATTERY_LEVEL VALUES ({NOON}, 1, 64, 0);
        CREATE TABLE BASE_ACTIVITY_SUMMARY (_id INTEGER PRIMARY KEY, START_TIME, END_TIME, ACTIVITY_KIND, DEVICE_ID, SUMMARY_DATA TEXT);
        INSERT INTO BASE_ACTIVITY_SUMMARY VALUES (1, {NOON * 1000}, {(NOON + 1800) * 1000}, 16, 1,
            '{{"averageHR":{{"value":131}},"steps":{{"value":"4500"}}}}');
        """, [(name, f"{KEYS}, {columns}, {END}", [(row[0], 1, 1, *row[1:]) for row in rows]) for name, columns, rows in tables])


def health_connect(path, tables):
    records, values = tables
    write(path, """
        PRAGMA user_version = 23;
        CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT, app_name TEXT);
        CREATE TABLE device_info_table (row_id INTEGER PRIMARY KEY, manufacturer TEXT, model TEXT);
        INSERT INTO application_info_table VALUES (1, 'com.example.watch', 'Watch');
        INSERT INTO device_info_table VALUES (1, 'Example', 'Watch 3');
        """, [(name, f"{RECORD}, {columns})", [(number, number, 1, 1, 1, 2, *row) for number, row in enumerate(rows, 1)])
              for name, columns, rows in records] + [(name, f"{columns})", rows) for name, columns, rows in values])


parser, folder = sys.argv[1:]
if parser == "record":
    texts = ['{"averageHR":{"value":131,"unit":"bpm"},"steps":{"value":"4500"}}', '{"distanceMeters":{"value":"1e999"}}', "[]"]
    for number, content in enumerate([night()] + [text.encode() for text in texts]):
        with open(os.path.join(folder, f"{number}"), "wb") as file:
            file.write(content)
    sys.exit()
make, exports, packed, entry = {
    "export": (gadgetbridge, GADGETBRIDGE, "cuff", "database/Gadgetbridge"),
    "health-connect": (health_connect, HEALTH_CONNECT, "steps", "health_connect_export.db"),
}[parser]
for name, tables in exports.items():
    make(os.path.join(folder, name), tables)
for name, method in (("zip", zipfile.ZIP_DEFLATED), ("zip-stored", zipfile.ZIP_STORED)):
    with zipfile.ZipFile(os.path.join(folder, name), "w", method) as archive:
        archive.write(os.path.join(folder, packed), entry)
        if parser == "export" and name == "zip":
            archive.writestr("gadgetbridge.json", "{}")
        elif parser == "export":
            archive.comment = b"a comment"
