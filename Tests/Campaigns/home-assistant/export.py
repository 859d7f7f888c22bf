"""The database of a phone, as a trial makes it, and what statistics of it must be, by the documented rules."""

import os
import sqlite3
from datetime import datetime, timedelta
from typing import Optional
from zoneinfo import ZoneInfo

from clock import Clock

HOUR = 3600
OVER = 3 * HOUR  # since when there is no stress any more: its values are fresh for two hours, so its sensor never has one


class Export:
    """The database of a phone: a row each quarter of an hour, ten more in a row each evening, and a night each day.

    The newest rows have no stress.
    """

    def __init__(self, path: str, zone: ZoneInfo, days: int, clock: Clock) -> None:
        self.path = path
        self.zone = zone
        now = clock.now()
        begin = datetime.fromtimestamp(now, zone).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)
        self.begin = int(begin.timestamp())
        self.calm = now - OVER
        self.rows: dict[int, tuple[int, int, float, Optional[int]]] = {}  # by second: steps, heart rate, metres, stress
        for moment in range(self.begin, now, 900):
            self.add(moment)
        self.nights: dict[int, int] = {}  # by their end: minutes
        day = begin
        while True:
            day += timedelta(days=1)
            end = int(day.replace(hour=6, minute=30).timestamp())
            if end > now:
                break
            self.nights[end] = 380 + end // 86400 % 90
            for minute in range(10):  # of a run
                moment = int(day.replace(hour=18, minute=minute + 1).timestamp())
                if moment < now:
                    self.add(moment, 150)
        self.write()

    def local(self, second: int) -> datetime:
        return datetime.fromtimestamp(second, self.zone)

    def add(self, moment: int, rate: int = 0, walks: bool = False) -> None:
        # Somebody gets up in every second hour of the night, also in the repeated one of the day on which the clock changes.
        walks = walks or self.local(moment).hour >= 7 or moment // 3600 % 2 == 0
        steps = moment // 900 * 37 % 211 if walks else 0
        stress = 20 + moment // 900 * 7 % 61 if moment < self.calm else None
        self.rows[moment] = (steps, rate or 55 + moment // 900 * 13 % 41, steps * 0.75, stress)

    def write(self) -> None:
        """Writes it anew, and puts it in the place of the one before."""
        beside = self.path + ".new"
        if os.path.exists(beside):
            os.remove(beside)
        with sqlite3.connect(beside) as database:
            database.executescript("""
                PRAGMA user_version = 137;
                CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT NOT NULL, MANUFACTURER TEXT NOT NULL,
                    IDENTIFIER TEXT NOT NULL UNIQUE, TYPE INTEGER NOT NULL, TYPE_NAME TEXT NOT NULL, MODEL TEXT, ALIAS TEXT,
                    PARENT_FOLDER TEXT);
                CREATE TABLE DEVICE_ATTRIBUTES (_id INTEGER PRIMARY KEY, FIRMWARE_VERSION1 TEXT NOT NULL, FIRMWARE_VERSION2 TEXT,
                    VALID_FROM_UTC INTEGER, VALID_TO_UTC INTEGER, DEVICE_ID INTEGER NOT NULL, VOLATILE_IDENTIFIER TEXT);
                INSERT INTO DEVICE VALUES (1, 'Band', 'Xiaomi', 'C0:11:22:33:44:55', 0, 'MIBAND8', 'M2239B1', NULL, NULL);
                CREATE TABLE XIAOMI_ACTIVITY_SAMPLE (TIMESTAMP INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL,
                    USER_ID INTEGER NOT NULL, RAW_INTENSITY INTEGER NOT NULL, STEPS INTEGER NOT NULL, RAW_KIND INTEGER NOT NULL,
                    HEART_RATE INTEGER NOT NULL, DISTANCE_METERS REAL, STRESS INTEGER, PRIMARY KEY (TIMESTAMP, DEVICE_ID)) WITHOUT ROWID;
                CREATE TABLE COLMI_SLEEP_SESSION_SAMPLE (TIMESTAMP INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL,
                    USER_ID INTEGER NOT NULL, WAKEUP_TIME INTEGER, PRIMARY KEY (TIMESTAMP, DEVICE_ID)) WITHOUT ROWID;
                CREATE TABLE COLMI_SLEEP_STAGE_SAMPLE (TIMESTAMP INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL,
                    USER_ID INTEGER NOT NULL, DURATION INTEGER NOT NULL, STAGE INTEGER NOT NULL,
                    PRIMARY KEY (TIMESTAMP, DEVICE_ID)) WITHOUT ROWID;
                """)
            database.executemany(
                "INSERT INTO XIAOMI_ACTIVITY_SAMPLE VALUES (?, 1, 1, 0, ?, 0, ?, ?, ?)",
                [(moment, *row) for moment, row in sorted(self.rows.items())])
            for end, minutes in sorted(self.nights.items()):
                begin = (end - minutes * 60) * 1000
                database.execute("INSERT INTO COLMI_SLEEP_SESSION_SAMPLE VALUES (?, 1, 1, ?)", (begin, end * 1000))
                database.execute("INSERT INTO COLMI_SLEEP_STAGE_SAMPLE VALUES (?, 1, 1, ?, 2)", (begin, minutes))
        database.close()
        os.replace(beside, self.path)

    def correct(self, begin: int, end: int, is_lower: bool = False) -> None:
        """All rows of a time show more than they did, or less. One with steps keeps some: what is zero takes no record back."""
        for moment, (steps, rate, metres, stress) in self.rows.items():
            if not begin <= moment < end:
                continue
            if not is_lower:
                self.rows[moment] = (steps + 11, rate + 1, metres + 8, stress)
            elif steps > 0:
                self.rows[moment] = ((steps + 1) // 2, rate, metres / 2, stress)
        self.write()

    # What the statistics must be, by hour. Each row's steps are those of the minute before it.

    def counted(self, place: int) -> list[tuple[int, float]]:
        return sorted((moment - 60, row[place]) for moment, row in self.rows.items() if row[0] > 0)

    def measured(self, place: int, last: int) -> dict[int, dict]:
        periods: dict[int, dict[int, list[float]]] = {}
        for moment, row in self.rows.items():
            if row[place] is not None:
                periods.setdefault(moment // HOUR * HOUR, {}).setdefault(moment // 300, []).append(row[place])
        hours = {}
        for hour, fives in periods.items():
            if hour <= last:
                means = [sum(values) / len(values) for values in fives.values()]
                values = [value for five in fives.values() for value in five]
                hours[hour] = {"mean": sum(means) / len(means), "min": min(values), "max": max(values)}
        return hours

    def counts(self, place: int, last: int) -> dict[int, dict]:
        steps = self.counted(place)
        hours, total, index, day, today = {}, 0.0, 0, None, 0.0
        for hour in range(steps[0][0] // HOUR * HOUR, last + 1, HOUR):
            local = self.local(hour).date()
            if local != day:
                day, today = local, 0.0
            while index < len(steps) and steps[index][0] < hour + HOUR:
                total += steps[index][1]
                today += steps[index][1]
                index += 1
            hours[hour] = {"sum": total, "state": today}
        return hours

    def slept(self, last: int) -> dict[int, dict]:
        hours = {}
        for end, minutes in self.nights.items():
            hour = end // HOUR * HOUR
            while hour <= last and self.local(hour).date() == self.local(end).date():
                hours[hour] = {"mean": minutes, "min": minutes, "max": minutes}
                hour += HOUR
        return hours
