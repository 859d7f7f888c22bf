"""Random documents of the four drivers of phones, from a seed, as the apps write them."""

import contextlib
import datetime
import json
import os
import random
import sqlite3
import zoneinfo

ZONE = zoneinfo.ZoneInfo("Europe/Berlin")
HOURS = 10
# The sources of a phone's records; `None` names none.
EXPORTED = [None, "Anna's Apple Watch", "iPhone", "Anna's Apple Watch|iPhone", "Oura Ring", "Zepp"]
PIXEL_WATCH = {"manufacturer": "Google", "model": "Pixel Watch", "type": 1}
PIXEL = {"manufacturer": "Google", "model": "Pixel 9", "type": 2}
POSTED = [None, {"data_origin": "com.fit", "device": PIXEL_WATCH}, {"data_origin": "com.fit", "device": PIXEL},
          {"data_origin": "com.other"}, {"data_origin": "com.mi", "device": {"model": "Mi Band 8"}}]
# What adds up, by the name of the metric: lists of Health Auto Export with their units, and what of them is a unit of the metric; lists
# of HC Webhook; tables and columns of Health Connect, in eighths where a part may be.
EXPORTED_COUNTERS = {"steps": ("step_count", "count", 1), "distance": ("walking_running_distance", "km", 1000),
                     "active_energy": ("active_energy", "kcal", 1), "floors": ("flights_climbed", "count", 1)}
POSTED_COUNTERS = {"steps": ("steps", "count"), "distance": ("distance", "meters"), "active_energy": ("active_calories", "calories")}
STORED_COUNTERS = {"steps": ("steps", "count", 1), "distance": ("distance", "distance", 1 / 8),
                   "active_energy": ("active_calories_burned", "energy", 1000), "floors": ("floors_climbed", "floors", 1 / 8)}
COUNTERS = {"health-auto-export": EXPORTED_COUNTERS, "health-connect-webhook": POSTED_COUNTERS,
            "health-connect-export": STORED_COUNTERS, "gadgetbridge": {"steps": None}}
CONNECT = {"awake": 7, "light": 4, "deep": 5, "rem": 6}
XIAOMI = {"awake": 5, "light": 3, "deep": 2, "rem": 4}


def change_of_clocks(before: float, forward: bool) -> int:
    """The last moment before another one at which the clocks of Berlin went forward, or back."""
    def offset(moment: int) -> datetime.timedelta:
        return datetime.datetime.fromtimestamp(moment, ZONE).utcoffset()
    moment = int(before) // 3600 * 3600
    while offset(moment) == offset(moment - 3600) or (offset(moment) > offset(moment - 3600)) != forward:
        moment -= 3600
    return moment


class Phone:
    """What a phone has of a night in which the clocks change, and its documents: parts of that, in any order and any number."""

    def __init__(self, driver: str, number: int, seed: int, before: float) -> None:
        self.driver, self.number, self.id = driver, number, f"{driver}-{number}"
        self.random = random.Random(f"{seed}/{self.id}")
        self.start = change_of_clocks(before, number % 2 == 0) - HOURS // 2 * 3600
        self.sources = {"health-auto-export": len(EXPORTED), "health-connect-webhook": len(POSTED),
                        "health-connect-export": 4}.get(driver, 1)
        self.counts: list[dict] = []
        self.rates: list[dict] = []
        self.sleeps: list[dict] = []  # stages, or sessions with stages
        for source in range(self.sources):
            self.add(source)
        self.sent: list = []
        self.newest: str | list[str] = []

    def add(self, source: int) -> None:
        rng = self.random
        counters = list(COUNTERS[self.driver])
        length = 1 if self.driver == "gadgetbridge" else rng.choice([1, 5, 15, 60])
        shift = 0 if self.driver == "gadgetbridge" else rng.choice([0, 20])
        for place in range(HOURS * 60 // length):
            if rng.random() < max(0.1, 0.6 - 0.5 / length):
                start = self.start + place * length * 60 + shift
                # Mostly of one counter, so that its records meet; the others lie between them.
                metric = counters[self.number // 2 % len(counters)] if rng.random() < 0.7 else rng.choice(counters)
                record = {"source": source, "metric": metric, "start": start, "end": start + length * 60,
                          "count": rng.randint(2, 90 * length)}
                self.counts.append(record)
                if self.driver != "gadgetbridge" and length > 1 and rng.random() < 0.2:  # the same when it was shorter
                    self.counts.append({**record, "end": start + length * 30, "count": record["count"] // 2})
        for minute in rng.sample(range(HOURS * 60), 40):
            self.rates.append({"source": source, "start": self.start + minute * 60, "rate": rng.randint(45, 180)})
        if source != {"gadgetbridge": 0, "health-connect-export": 1}.get(self.driver, source) or self.sources > 1 and source in (0, 2):
            return
        moment = self.start + rng.randint(0, 2 * 3600)
        if self.driver == "gadgetbridge":
            moment = moment // 60 * 60
        for _ in range(rng.randint(3, 30)):
            length = rng.randint(120, 2400) if rng.random() < 0.9 else rng.choice([30, 59])
            depth = rng.choice(["awake", "light", "deep", "rem"])
            self.sleeps.append({"source": source, "start": moment, "end": moment + length, "stage": depth})
            moment += length
            if rng.random() < 0.1 and self.driver != "gadgetbridge":
                moment += rng.choice([30, 600, 5400])

    def part(self) -> tuple[list[dict], list[dict], list[dict]]:
        """What a document has: all sleep from some hour on, and most of what else some hours have. Never nothing of a kind."""
        rng = self.random
        first = self.start + rng.randint(0, (HOURS - 1) * 3600)
        last = rng.randint(first, self.start + HOURS * 3600)
        if rng.random() < 0.3:
            first, last = self.start, self.start + 2 * HOURS * 3600

        def within(records: list[dict], share: float) -> list[dict]:
            return [record for record in records if first <= record["start"] <= last and rng.random() < share]
        def some(records: list[dict]) -> list[dict]:  # none before the hour: that is where the document's window begins
            return within(records, 0.8) or [record for record in records if first <= record["start"]][:1] or [max(records, key=lambda record: record["start"])]
        # An app sends a night as far as it knows it, so that only the beginning of a window cuts it.
        return some(self.counts), some(self.rates), [record for record in self.sleeps if first <= record["start"]]

    def document(self) -> str | list[str]:
        """The next document: a new one, or one that was sent before. Of an export, the statements that make it."""
        rng = self.random
        if self.sent and rng.random() < 0.25:
            self.newest = rng.choice(self.sent)
            return self.newest
        counts, rates, sleeps = self.part()
        rng.shuffle(counts)
        rng.shuffle(rates)
        made = getattr(self, self.driver.replace("-", "_"))(counts, rates, sleeps)
        self.newest = made
        self.sent.append(made)
        return made

    def ahead(self, now: float) -> str | list[str]:
        """A document, or the newest export once more, with heart rates of ten minutes and of ten days ahead."""
        rates = [{"source": min(1, self.sources - 1), "start": int(now) + seconds, "rate": 99} for seconds in (600, 864_000)]
        if self.driver == "health-auto-export" or self.driver == "health-connect-webhook":
            return getattr(self, self.driver.replace("-", "_"))([], rates, [])
        if self.driver == "gadgetbridge":
            return self.newest + [f"INSERT INTO XIAOMI_ACTIVITY_SAMPLE VALUES ({rate['start']}, 1, 1, 0, 0, 0, 99)" for rate in rates]
        return self.newest + [f"INSERT INTO heart_rate_record_series_table VALUES (1, 99, {rate['start'] * 1000})" for rate in rates]

    def health_auto_export(self, counts: list[dict], rates: list[dict], sleeps: list[dict]) -> str:
        def text(moment: int) -> str:
            # In the zone in which the phone was when it wrote, such as after a flight.
            hours = self.random.choice([0, 1, 2, -7.5])
            zone = datetime.timezone(datetime.timedelta(hours=hours))
            return datetime.datetime.fromtimestamp(moment, zone).strftime("%Y-%m-%d %H:%M:%S %z")

        def entry(record: dict, **members) -> dict:
            name = EXPORTED[record["source"]]
            return members if name is None else {**members, "source": name}

        def count(record: dict, units: int) -> dict:
            amount = record["count"] / 8 / units  # HealthKit divides a record among its minutes
            if record["end"] - record["start"] == 60:
                return entry(record, date=text(record["start"]), qty=amount)
            return entry(record, start=text(record["start"]), end=text(record["end"]), qty=amount)
        lists = {"heart_rate": [entry(record, date=text(record["start"]), Avg=record["rate"]) for record in rates],
                 "sleep_analysis": [entry(record, startDate=text(record["start"]), endDate=text(record["end"]),
                                          value="Core" if record["stage"] == "light" else record["stage"].capitalize())
                                    for record in sleeps]}
        metrics = [{"name": name, "data": data} for name, data in lists.items()]
        for metric, (name, unit, units) in EXPORTED_COUNTERS.items():
            data = [count(record, units) for record in counts if record["metric"] == metric]
            metrics.append({"name": name, "units": unit, "data": data})
        return json.dumps({"data": {"metrics": metrics}})

    def health_connect_webhook(self, counts: list[dict], rates: list[dict], sleeps: list[dict]) -> str:
        def text(moment: int) -> str:
            return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

        def entry(record: dict, **members) -> dict:
            data = POSTED[record["source"]]
            return members if data is None else {**members, "metadata": data}
        lists = {name: [entry(record, start_time=text(record["start"]), end_time=text(record["end"]), **{member: record["count"]})
                        for record in counts if record["metric"] == metric]
                 for metric, (name, member) in POSTED_COUNTERS.items()}
        lists |= {"heart_rate": [entry(record, time=text(record["start"]), bpm=record["rate"]) for record in rates],
                 # A session for each stage, as some apps write them; those of several apps in the order of time.
                 "sleep": [entry(record, session_end_time=text(record["end"]), duration_seconds=record["end"] - record["start"],
                                 sleep_updated_at=text(record["end"] + 60),
                                 stages=[{"stage": record["stage"], "start_time": text(record["start"]),
                                          "end_time": text(record["end"])}])
                           for record in sorted(sleeps, key=lambda record: record["start"])]}
        return json.dumps({"timestamp": text(self.start), **lists})

    def health_connect_export(self, counts: list[dict], rates: list[dict], sleeps: list[dict]) -> list[str]:
        common = "row_id INTEGER PRIMARY KEY, uuid BLOB, last_modified_time INTEGER, device_info_id INTEGER, app_info_id INTEGER," \
                 " recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER"
        statements = [
            "PRAGMA user_version = 23",
            "CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT, app_name TEXT)",
            "INSERT INTO application_info_table VALUES (1, 'com.fit', 'Fit')",
            "CREATE TABLE device_info_table (row_id INTEGER PRIMARY KEY, manufacturer TEXT, model TEXT, device_type INTEGER)",
            "INSERT INTO device_info_table VALUES (1, 'Google', 'Pixel Watch', 1), (2, 'Google', 'Pixel 9', 2), (3, 'Xiaomi', 'Band 8', 0)",
            *(f"CREATE TABLE {table}_record_table ({common}, {column} {'REAL' if column != 'count' else 'INTEGER'})"
              for table, column, _ in STORED_COUNTERS.values()),
            f"CREATE TABLE heart_rate_record_table ({common})",
            "CREATE TABLE heart_rate_record_series_table (parent_key INTEGER, beats_per_minute INTEGER, epoch_millis INTEGER)",
            f"CREATE TABLE sleep_session_record_table ({common}, notes TEXT, title TEXT)",
            "CREATE TABLE sleep_stages_table (parent_key INTEGER, stage_start_time INTEGER, stage_end_time INTEGER, stage_type INTEGER)"]

        def insert(table: str, number: int, record: dict, *values) -> None:
            offset = self.random.choice([3600, 7200, 32_400])
            times = record["start"] * 1000, offset, record.get("end", record["start"] + 60) * 1000, offset
            row = number, f"x'{number:032x}'", 1, record["source"] or "NULL", 1, 2, *times, *values
            statements.append(f"INSERT INTO {table} VALUES ({', '.join(map(str, row))})")
        for number, record in enumerate(counts, 1):
            table, _, units = STORED_COUNTERS[record["metric"]]
            insert(f"{table}_record_table", number, record, record["count"] * units)
        for number, record in enumerate(rates, 1):
            insert("heart_rate_record_table", number, record)
            statements.append(f"INSERT INTO heart_rate_record_series_table VALUES ({number}, {record['rate']}, {record['start'] * 1000})")
        for number, record in enumerate(sleeps or self.sleeps[:1], 1):
            insert("sleep_session_record_table", number, record, "NULL", "NULL")
            stage = number, record["start"] * 1000, record["end"] * 1000, CONNECT[record["stage"]]
            statements.append(f"INSERT INTO sleep_stages_table VALUES ({', '.join(map(str, stage))})")
        return statements

    def gadgetbridge(self, counts: list[dict], rates: list[dict], sleeps: list[dict]) -> list[str]:
        ids = "TIMESTAMP INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL, USER_ID INTEGER NOT NULL"
        statements = [
            "PRAGMA user_version = 137",
            "CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT, IDENTIFIER TEXT, ALIAS TEXT)",
            "INSERT INTO DEVICE VALUES (1, 'Band', 'C0:11:22:33:44:55', NULL)",
            f"CREATE TABLE XIAOMI_ACTIVITY_SAMPLE ({ids}, RAW_INTENSITY INTEGER, STEPS INTEGER, RAW_KIND INTEGER, HEART_RATE INTEGER)",
            f"CREATE TABLE XIAOMI_SLEEP_TIME_SAMPLE ({ids}, WAKEUP_TIME INTEGER)",
            f"CREATE TABLE XIAOMI_SLEEP_STAGE_SAMPLE ({ids}, STAGE INTEGER)"]
        minutes: dict[int, list[int]] = {}
        for record in counts:
            minutes.setdefault(record["start"], [0, 0])[0] = record["count"]
        for record in rates:
            minutes.setdefault(record["start"], [0, 0])[1] = record["rate"]
        statements += [f"INSERT INTO XIAOMI_ACTIVITY_SAMPLE VALUES ({second}, 1, 1, 0, {count}, 0, {rate})"
                       for second, (count, rate) in sorted(minutes.items())]
        night = sleeps or self.sleeps[:1]
        statements.append(f"INSERT INTO XIAOMI_SLEEP_TIME_SAMPLE VALUES ({night[0]['start'] * 1000}, 1, 1, {night[-1]['end'] * 1000})")
        statements += [f"INSERT INTO XIAOMI_SLEEP_STAGE_SAMPLE VALUES ({record['start'] * 1000}, 1, 1, {XIAOMI[record['stage']]})"
                       for record in night]
        return statements


def write(statements: list[str], path: str) -> None:
    """Makes a database, which is whole when it has its name."""
    hidden = os.path.join(os.path.dirname(path), ".part")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(hidden)
    with contextlib.closing(sqlite3.connect(hidden)) as database:
        database.executescript("BEGIN;" + ";".join(statements) + ";COMMIT;")
    os.replace(hidden, path)
