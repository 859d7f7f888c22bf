"""Writes a database as Gadgetbridge exports it: phone_export.py FILE SQL… (one wearable, and what the SQL adds)."""

import os
import sqlite3
import sys

path = sys.argv[1]
database = sqlite3.connect(path + ".new")
database.executescript("""
    PRAGMA user_version = 137;
    CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT NOT NULL, MANUFACTURER TEXT NOT NULL, IDENTIFIER TEXT NOT NULL,
        TYPE_NAME TEXT, MODEL TEXT, ALIAS TEXT);
    INSERT INTO DEVICE VALUES (1, 'Ring', 'Colmi', 'C0:11:22:33:44:55', 'COLMI_R02', NULL, NULL);
""")
for sql in sys.argv[2:]:
    database.executescript(sql)
database.commit()
database.close()
os.replace(path + ".new", path)
