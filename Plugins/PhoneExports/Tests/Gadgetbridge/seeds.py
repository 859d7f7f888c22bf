"""Writes what fuzzing begins with: seeds.py (export|record) FOLDER.

Exports are small databases with the tables of several families, and a zip of one; records are a night of Huami and summaries of workouts.
"""

import os
import sqlite3
import struct
import sys
import zipfile

NOON = 1700049600
KEYS = "TIMESTAMP INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL, USER_ID INTEGER NOT NULL"
END = "PRIMARY KEY (TIMESTAMP, DEVICE_ID) ON CONFLICT REPLACE) WITHOUT ROWID"


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


FAMILIES = {
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


def export(path, tables):
    database = sqlite3.connect(path)
    database.executescript("PRAGMA page_size = 512; PRAGMA user_version = 137;"
                           "CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT, IDENTIFIER TEXT, ALIAS TEXT);"
                           "INSERT INTO DEVICE VALUES (1, 'Band', 'C0:11:22:33:44:55', NULL);"
                           "CREATE TABLE BATTERY_LEVEL (TIMESTAMP, DEVICE_ID, LEVEL, BATTERY_INDEX);"
                           f"INSERT INTO BATTERY_LEVEL VALUES ({NOON}, 1, 64, 0);"
                           "CREATE TABLE BASE_ACTIVITY_SUMMARY (_id INTEGER PRIMARY KEY, START_TIME, END_TIME, ACTIVITY_KIND, DEVICE_ID,"
                           "SUMMARY_DATA TEXT);")
    database.execute("INSERT INTO BASE_ACTIVITY_SUMMARY VALUES (1, ?, ?, 16, 1, ?)",
                     (NOON * 1000, (NOON + 1800) * 1000, '{"averageHR":{"value":131},"steps":{"value":"4500"}}'))
    for name, columns, rows in tables:
        database.execute(f"CREATE TABLE {name} ({KEYS}, {columns}, {END}")
        for row in rows:
            places = ", ".join("?" * (len(row) - 1))
            database.execute(f"INSERT INTO {name} VALUES (?, 1, 1, {places})", row)
    database.commit()
    database.close()


parser, folder = sys.argv[1:]
if parser == "export":
    for name, tables in FAMILIES.items():
        export(os.path.join(folder, name), tables)
    with zipfile.ZipFile(os.path.join(folder, "zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(os.path.join(folder, "cuff"), "database/Gadgetbridge")
        archive.writestr("gadgetbridge.json", "{}")
    with zipfile.ZipFile(os.path.join(folder, "zip-stored"), "w", zipfile.ZIP_STORED) as archive:
        archive.comment = b"a comment"
        archive.write(os.path.join(folder, "cuff"), "database/Gadgetbridge")
else:
    texts = ['{"averageHR":{"value":131,"unit":"bpm"},"steps":{"value":"4500"}}', '{"distanceMeters":{"value":"1e999"}}', "[]"]
    for number, content in enumerate([night()] + [text.encode() for text in texts]):
        with open(os.path.join(folder, f"{number}"), "wb") as file:
            file.write(content)
