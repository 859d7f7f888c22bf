"""What a consumer must have after some documents of a phone, by the rule of docs/ContractMeasurements.md and the plugins' pages alone.

It knows the formats of the documents and nothing of the gateway. Times are in milliseconds, what adds up in thousandths.
"""

import contextlib
import datetime
import json
import re
import sqlite3

# What a source is, by its name, in the order in which they count.
KINDS = ["watch", "(?<![a-z])(band|ring)(?![a-z])", "phone|(?<![a-z])pixel(?![a-z])"]
# The same by the numbers that Health Connect has for devices.
TYPES = {1: 0, 2: 2, 4: 1, 6: 1}
# Behind all sources with a name.
NAMELESS = (len(KINDS) + 1, True, "")
# What adds up: the lists of Health Auto Export with thousandths, those of HC Webhook, the tables of Health Connect with columns.
LISTS = {"step_count": ("steps", 1e3), "walking_running_distance": ("distance", 1e6), "active_energy": ("active_energy", 1e3),
         "flights_climbed": ("floors", 1e3)}
POSTS = {"steps": ("steps", "count"), "distance": ("distance", "meters"), "active_calories": ("active_energy", "calories")}
TABLES = {"steps": ("steps", "count", 1e3), "distance": ("distance", "distance", 1e3),
          "active_calories_burned": ("active_energy", "energy", 1), "floors_climbed": ("floors", "floors", 1e3)}
ASLEEP = ("deep", "light", "rem")
# Stages, by the numbers of Health Connect and of Xiaomi.
CONNECT = {1: "awake", 3: "awake", 4: "light", 5: "deep", 6: "rem", 7: "awake"}
XIAOMI = {2: "deep", 3: "light", 4: "rem", 5: "awake"}
MINUTE = 60_000
DAY = 1440 * MINUTE


def kind(name):
    return next((place for place, words in enumerate(KINDS) if re.search(words, name, re.I)), len(KINDS))


def milliseconds(text):
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def export_time(text):
    """A time of Health Auto Export, such as 2026-06-12 09:00:00 +0200."""
    return round(datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S %z").timestamp() * 1000)


def nights(stages, gap):
    """Stages, ascending, as sleeps: those with at most this gap between them are one."""
    found = []
    for stage in sorted(stages):
        if found and stage[0] - found[-1][-1][1] <= gap:
            found[-1].append(stage)
        else:
            found.append([stage])
    return [(night[0][0], night[-1][1], night) for night in found]


def export_place(source):
    """The place of a source of Health Auto Export in the order; what the app has merged comes before its first source alone."""
    if not source:
        return NAMELESS
    names = source.split("|")
    return min(map(kind, names)), len(names) == 1, source


def health_auto_export(text):
    for metric in json.loads(text)["data"]["metrics"]:
        stages = {}
        for entry in metric["data"]:
            source = export_place(entry.get("source"))
            start = export_time(entry.get("startDate") or entry.get("start") or entry["date"])
            end = export_time(entry.get("endDate") or entry.get("end") or entry["date"])
            if counter := LISTS.get(metric["name"]):
                yield counter[0], source, start, end, round(entry["qty"] * counter[1])
            elif metric["name"] == "heart_rate":
                yield "heart_rate", source, start, end, entry["Avg"]
            else:
                depth = {"Core": "light"}.get(entry["value"], entry["value"].lower())
                stages.setdefault(source, []).append((start, end, depth))
        for source, found in stages.items():
            for night in nights(found, 60 * MINUTE):
                yield "sleep", source, *night


def health_connect_webhook(text):
    def place(record):
        data = record.get("metadata") or {}
        device = data.get("device") or {}
        name = " ".join(filter(None, [data.get("data_origin"), device.get("manufacturer"), device.get("model")]))
        words = " ".join(filter(None, [device.get("manufacturer"), device.get("model")])) or data.get("data_origin", "")
        return (TYPES.get(device.get("type"), kind(words)), True, name) if name else NAMELESS

    document = json.loads(text)
    for name, (counter, member) in POSTS.items():
        for record in document.get(name, ()):
            yield counter, place(record), *(milliseconds(record[word]) for word in ("start_time", "end_time")), record[member] * 1000
    for record in document.get("heart_rate", ()):
        moment = milliseconds(record["time"])
        yield "heart_rate", place(record), moment, moment, record["bpm"]
    apps = {}
    for record in document.get("sleep", ()):
        app = (record.get("metadata") or {}).get("data_origin")
        apps.setdefault(app, (place(record), []))[1].extend(
            (milliseconds(stage["start_time"]), milliseconds(stage["end_time"]), stage["stage"]) for stage in record["stages"])
    for source, found in apps.values():
        for night in nights(found, MINUTE):
            yield "sleep", source, *night


def health_connect_export(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        places = {None: NAMELESS}
        for number, maker, model, word in database.execute("SELECT row_id, manufacturer, model, device_type FROM device_info_table"):
            places[number] = TYPES.get(word, kind(f"{maker} {model}")), True, f"{maker} {model}"
        for table, (counter, column, thousandths) in TABLES.items():
            for device, start, end, count in database.execute(
                    f"SELECT device_info_id, start_time, end_time, {column} FROM {table}_record_table"):
                yield counter, places[device], start, end, round(count * thousandths)
        for device, moment, rate in database.execute(
                "SELECT device_info_id, epoch_millis, beats_per_minute FROM heart_rate_record_series_table"
                " JOIN heart_rate_record_table ON row_id = parent_key"):
            yield "heart_rate", places[device], moment, moment, rate
        stages = [(start, end, CONNECT[word]) for start, end, word in database.execute(
            "SELECT stage_start_time, stage_end_time, stage_type FROM sleep_stages_table")]
        for night in nights(stages, MINUTE):
            yield "sleep", NAMELESS, *night


def gadgetbridge(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        for second, steps, rate in database.execute("SELECT TIMESTAMP, STEPS, HEART_RATE FROM XIAOMI_ACTIVITY_SAMPLE"):
            # A row has the steps of the minute before it. What it says no more is corrected.
            yield "steps", NAMELESS, second * 1000 - MINUTE, second * 1000, steps * 1000
            yield "heart_rate", NAMELESS, second * 1000, second * 1000, rate
        rows = database.execute("SELECT TIMESTAMP, STAGE FROM XIAOMI_SLEEP_STAGE_SAMPLE ORDER BY 1").fetchall()
        for start, end in database.execute("SELECT TIMESTAMP, WAKEUP_TIME FROM XIAOMI_SLEEP_TIME_SAMPLE"):
            own = [row for row in rows if start <= row[0] < end]
            ends = [moment for moment, _ in own[1:]] + [end]
            yield "sleep", NAMELESS, start, end, [(moment, to, XIAOMI[word]) for (moment, word), to in zip(own, ends)]


READERS = {"health-auto-export": health_auto_export, "health-connect-webhook": health_connect_webhook,
           "health-connect-export": health_connect_export, "gadgetbridge": gadgetbridge}


def meet(start, end, other, until):
    """Whether two records have a time in common, or begin together."""
    return start == other or start < until and other < end


class Reference:
    """What the documents of one device come to."""

    def __init__(self, driver):
        self.driver = driver
        self.is_export = driver in ("gadgetbridge", "health-connect-export")
        self.rates, self.counted, self.sleeps, self.newest, self.days_before = {}, {}, {}, {}, {}

    def take(self, document):
        records = sorted(READERS[self.driver](document))
        days = {}
        for record in records:
            if record[-1]:
                days.setdefault((record[0], record[2] // DAY), []).append(record)
        before, self.days_before = self.days_before, days
        for metric, place, start, end, content in records:
            # Only a day that differs from the export before is read again.
            if not content and before.get(day := (metric, start // DAY)) in (None, days.get(day)):
                continue
            if metric == "heart_rate":
                self.rates[place, start] = content
                if not content:
                    del self.rates[place, start]
            elif metric != "sleep":
                if not content and (place, start, end) not in self.counted.get(metric, {}):
                    continue
                self.counted.setdefault(metric, {})[place, start, end] = content
                self.newest[metric, place, start] = end
            else:
                if self.is_export:  # the newest export's counts
                    self.sleeps = {key: value for key, value in self.sleeps.items() if not meet(start, end, *key)}
                if place <= self.sleeps.get((start, end), (place,))[0]:
                    self.sleeps[start, end] = place, sum(
                        sum(to - since for since, to, depth in content if depth == one) // MINUTE for one in ASLEEP)

    def counts(self, metric, place, start, end):
        """Whether a count holds: no earlier source has the time uncorrected, and none of its own with the same start is a better one."""
        for other, since, until in self.counted[metric]:
            if other < place and meet(start, end, since, until) and (not self.is_export or self.newest[metric, other, since] == until):
                return False
            if other != place or since != start or until == end:
                continue
            if not self.is_export and until > end:  # a window has cut the shorter one
                return False
        return not self.is_export or self.newest[metric, place, start] == end

    def held(self):
        """The records that hold, ascending: metric, start, end and value."""
        found = [("heart_rate", start, start, rate) for (_, start), rate in self.rates.items()]
        found += [(metric, *key[1:], amount / 1000) for metric, records in self.counted.items()
                  for key, amount in records.items() if self.counts(metric, *key)]
        def better(key, sleeps):
            return any(other != key and meet(*key, *other) and (other[1], -other[0]) > (key[1], -key[0]) for other in sleeps)
        # Of one source windows have cut the same night; what is left of each stands against the others.
        whole = {key: value for key, value in self.sleeps.items()
                 if not better(key, [other for other, (place, _) in self.sleeps.items() if place == value[0]])}
        found += [("sleep", *key, minutes) for key, (_, minutes) in whole.items() if not better(key, whole)]
        return sorted(found)

    def days(self, zone):
        """The number of each day that its topic has: heart rates, whole steps, metres …, and minutes asleep on the day of waking."""
        found = {}
        for metric, start, end, value in self.held():
            moment = end if metric == "sleep" else start
            day = metric, datetime.datetime.fromtimestamp(moment / 1000, zone).date().isoformat()
            found[day] = found.get(day, 0) + (1 if metric == "heart_rate" else round(value * 1000))
        return {day: total if day[0] == "heart_rate" else (total + 500) // 1000 for day, total in found.items()}
