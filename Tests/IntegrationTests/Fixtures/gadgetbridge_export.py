"""Writes a database as Gadgetbridge exports it: gadgetbridge_export.py FILE MINUTE=RATE… (minutes since 2026-01-05 12:00 UTC)."""

import os
import sqlite3
import sys

NOON = 1767614400  # 2026-01-05 12:00 UTC

path = sys.argv[1]
database = sqlite3.connect(path + ".new")
database.executescript("""
    PRAGMA user_version = 92;
    CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT NOT NULL, MANUFACTURER TEXT NOT NULL, IDENTIFIER TEXT NOT NULL,
        TYPE_NAME TEXT, MODEL TEXT, ALIAS TEXT);
    INSERT INTO DEVICE VALUES (1, 'Band 7', 'Huami', 'C0:11:22:33:44:55', 'MIBAND7', NULL, NULL);
    CREATE TABLE MI_BAND_ACTIVITY_SAMPLE (TIMESTAMP INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL, USER_ID INTEGER NOT NULL,
        RAW_INTENSITY INTEGER NOT NULL, STEPS INTEGER NOT NULL, RAW_KIND INTEGER NOT NULL, HEART_RATE INTEGER NOT NULL,
        PRIMARY KEY (TIMESTAMP, DEVICE_ID)) WITHOUT ROWID;
""")
for argument in sys.argv[2:]:
    minute, rate = argument.split("=")
    database.execute("INSERT INTO MI_BAND_ACTIVITY_SAMPLE VALUES (?, 1, 1, 20, 0, 1, ?)", (NOON + 60 * int(minute), int(rate)))
database.commit()
database.close()
os.replace(path + ".new", path)
