"""Tries the import of statistics with a real Home Assistant: an export of 400 days, and what Home Assistant has of it then.

What its statistics must be is computed here, from the rows of the export and by the documented rules, without the gateway's code.
"""

import json
import os
import signal
import sqlite3
import time
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Optional
from zoneinfo import ZoneInfo

from broker import Broker
from connection import Connection
from instance import Instance
from processes import Finding, Processes, until
from trial import NOTHING

ZONE = ZoneInfo("Europe/Berlin")
ID, DEVICE = "trial", "phone-1"
DAYS = 400
HOUR = 3600
SETTLING = 75 * 60  # seconds after its end in which an hour is Home Assistant's own
LONG = 240  # seconds that the import of 400 days may take
OVER = 3 * HOUR  # since when there is no stress any more: its values are fresh for two hours, so its sensor never has one


class Export:
    """The database of a phone: a row each quarter of an hour, ten more in a row each evening, and a night each day.

    The newest rows have no stress.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        now = int(time.time())
        begin = datetime.fromtimestamp(now, ZONE).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS)
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

    def add(self, moment: int, rate: int = 0) -> None:
        # Somebody gets up in every second hour of the night, also in the repeated one of the day on which the clock changes.
        walks = datetime.fromtimestamp(moment, ZONE).hour >= 7 or moment // 3600 % 2 == 0
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
            local = datetime.fromtimestamp(hour, ZONE).date()
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
            while hour <= last and datetime.fromtimestamp(hour, ZONE).date() == datetime.fromtimestamp(end, ZONE).date():
                hours[hour] = {"mean": minutes, "min": minutes, "max": minutes}
                hour += HOUR
        return hours


class Backfill:
    """A broker, a Home Assistant and a gateway with the export as its only device."""

    def __init__(self, folder: str, version: str, program: str) -> None:
        self.processes = Processes(folder)
        self.version = version
        self.program = program
        self.folder = folder
        self.export = Export(os.path.join(folder, "Gadgetbridge.db"))
        self.home = Instance(self.processes, version, ZONE.key)
        self.token = os.path.join(folder, "token")

    def begin(self) -> None:
        self.broker = Broker(self.processes)
        self.home.start()
        self.home.wait()
        self.home.onboard()
        self.home.add_mqtt(self.broker.port)
        self.home.wait_until_running()
        token = self.ask("auth/long_lived_access_token", client_name="vitals2mqtt", lifespan=30)
        with open(os.open(self.token, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(token + "\n")

    def start_gateway(self, imports: bool) -> None:
        home: dict[str, Any] = {}
        if imports:
            home = {"url": f"http://127.0.0.1:{self.home.connection.port}", "token": {"file": self.token}}
        path = os.path.join(self.folder, "gateway.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({
                "gateway": {"id": ID, "timezone": ZONE.key},
                "mqtt": {"url": f"mqtt://127.0.0.1:{self.broker.port}"},
                "store": {"path": "trial.sqlite", "retention": {"samples": "500d"}},
                "home_assistant": home,
                "sync": {"first": "all"},
                "devices": [{
                    "id": DEVICE, "name": "Phone", "driver": "gadgetbridge", "options": {"path": self.export.path}}],
            }, file)
        self.processes.start("gateway", [self.program, "run", "--config", path])

    def ask(self, kind: str, **members: Any) -> Any:
        return self.home.connection.ask(kind, **members)

    def entity(self, key: str) -> str:
        unique = f"vitals2mqtt_{ID}_{DEVICE}_{key}"
        for entry in self.ask("config/entity_registry/list"):
            if entry["unique_id"] == unique:
                return entry["entity_id"]
        raise Finding(f"there is no {unique}")

    def rows(self, entity: str, period: str = "hour", since: float = 0) -> list[dict]:
        start = datetime.fromtimestamp(since or self.export.begin - HOUR, timezone.utc).isoformat()
        return self.ask(
            "recorder/statistics_during_period", start_time=start, statistic_ids=[entity], period=period,
            types=["mean", "min", "max", "state", "sum", "last_reset"]).get(entity, [])

    def done(self) -> bool:
        """Whether all that is old enough is imported: what is left due has only hours that are not."""
        with sqlite3.connect(f"file:{self.folder}/trial.sqlite?mode=ro", uri=True) as store:
            left = store.execute("SELECT series.metric, first_hour, last_hour FROM due_statistics "
                                 "JOIN series ON series.id = due_statistics.series").fetchall()
        store.close()
        late = [row for row in left if row[1] * HOUR <= self.last()]
        if late:
            raise Finding(f"due are {late}")
        return True

    @staticmethod
    def last() -> int:
        """The beginning of the last hour that may be imported."""
        return int(time.time() - SETTLING) // HOUR * HOUR - HOUR

    def expected(self, last: int) -> dict[str, dict[int, dict]]:
        return {
            "heart_rate": self.export.measured(1, last), "stress": self.export.measured(3, last),
            "steps": self.export.counts(0, last), "distance": self.export.counts(2, last),
            "sleep": self.export.slept(last)}

    def compared(self) -> str:
        last = self.last() - HOUR  # one that is surely imported
        wrong, count = [], 0
        for key, hours in self.expected(last).items():
            rows = {int(row["start"]) // 1000: row for row in self.rows(self.entity(key))}
            missing = [hour for hour in hours if hour not in rows]
            if missing:
                wrong.append(f"{key} lacks {len(missing)} of {len(hours)} hours, the first {moment(missing[0])}")
            strange = [hour for hour in rows if hour not in hours and hour <= last]
            if strange:
                wrong.append(f"{key} has {len(strange)} other hours, the first {moment(strange[0])}")
            for hour, numbers in hours.items():
                for name, number in numbers.items():
                    shown = rows.get(hour, {}).get(name)
                    if hour in rows and (shown is None or abs(shown - number) > 1e-6 * max(1, abs(number))):
                        wrong.append(f"{key} at {moment(hour)}: {name} is {shown} and should be {number}")
                    count += 1
        if wrong:
            raise Finding("\n".join([*wrong[:10], f"{len(wrong)} differences"]))
        return f"{count} numbers"

    def joined(self) -> None:
        """Every row of Home Assistant's own after the imported hours continues their sums, and so does the next one that it compiles."""
        self.home.connection.call("trial_statistics.compile", None)
        last = self.last()
        for place, key in ((0, "steps"), (2, "distance")):
            counted = self.export.counted(place)

            def excess(row: dict, counted: list[tuple[int, float]] = counted) -> float:
                before = sum(number for start, number in counted if start < row["last_reset"] / 1000)
                return row["sum"] - row["state"] - before

            entity = self.entity(key)
            own = [row for row in self.rows(entity, "5minute", last + HOUR) if row.get("sum") is not None]
            if not own:
                raise Finding(f"Home Assistant has no row of {key}")
            hours = [row for row in self.rows(entity, "hour", last - HOUR) if row.get("sum") is not None]
            for row in [*hours, *own]:
                if abs(excess(row)) > 0.01:
                    raise Finding(f"{key} has {row}, which is {excess(row)} too much")
            imported = [row for row in hours if row["start"] / 1000 <= last]
            # On one day the sum rises as the state does.
            step, same = own[0]["sum"] - imported[-1]["sum"], own[0]["last_reset"] == imported[-1]["last_reset"]
            if same and abs(step - own[0]["state"] + imported[-1]["state"]) > 0.01:
                raise Finding(f"{key} goes on from {imported[-1]} with {own[0]}")


def moment(second: int) -> str:
    return datetime.fromtimestamp(second, ZONE).isoformat()


def imported(trial: Backfill) -> str:
    """statistics of 400 days are imported, also if Home Assistant restarts in the middle, and of a sensor without a state"""
    trial.start_gateway(False)
    # The counts of today must have been seen, so that there is a row to be continued.
    until("the entities have states", lambda: trial.home.connection.get(
        f"/api/states/{trial.entity('steps')}")["state"].replace(".", "").isdigit(), 90)
    trial.home.connection.call("trial_statistics.compile", None)
    trial.processes.end("gateway", signal.SIGTERM, 15)
    trial.start_gateway(True)
    began = time.monotonic()
    until("the import has begun", lambda: len(trial.rows(trial.entity("heart_rate"))) > 1_000, 120)
    if due(trial) == 0:
        raise Finding("the import was over before Home Assistant was stopped")
    trial.home.stop()
    trial.home.start()
    trial.home.wait()
    trial.home.wait_until_running()
    until("the import is complete", trial.done, LONG)
    numbers = trial.compared()
    trial.joined()
    shown = trial.home.connection.get(f"/api/states/{trial.entity('stress')}")["state"]
    if shown not in NOTHING:
        raise Finding(f"the stress of three hours ago is shown as {shown}")
    return f"{numbers}, {time.monotonic() - began:.0f} s"


def daylight(trial: Backfill) -> str:
    """the days on which the clocks are changed have 23 and 25 hours, and midnight is where it is in Berlin"""
    days: dict[Any, int] = {}
    rows = trial.rows(trial.entity("steps"))
    resets: dict[Any, set] = {}
    for row in rows:
        day = datetime.fromtimestamp(row["start"] / 1000, ZONE).date()
        days[day] = days.get(day, 0) + 1
        resets.setdefault(day, set()).add(row["last_reset"])
    lengths = sorted(set(list(days.values())[1:-1]))
    if lengths != [23, 24, 25]:
        raise Finding(f"days have {lengths} hours")
    several = [day for day, moments in resets.items() if len(moments) != 1]
    if several:
        raise Finding(f"{several[0]} begins {resets[several[0]]}")
    return f"{len(days)} days"


def corrected(trial: Backfill) -> str:
    """a correction of a day 100 days ago reaches an entity that was renamed meanwhile, and all later sums"""
    old = trial.entity("steps")
    trial.ask("config/entity_registry/update", entity_id=old, new_entity_id="sensor.walked_by_anna")
    day = trial.export.begin + 300 * 86_400
    for moment_ in range(day - day % 900, day + 86_400, 900):
        if moment_ in trial.export.rows:
            steps, rate, metres, stress = trial.export.rows[moment_]
            trial.export.rows[moment_] = (steps + 11, rate + 1, metres + 8, stress)
    trial.export.write()

    def done() -> bool:
        trial.done()
        trial.compared()
        return True

    until("the correction is imported", done, 200)
    trial.joined()
    if trial.entity("steps") != "sensor.walked_by_anna":
        raise Finding("the entity lost its name")
    return trial.compared()


def repeated(trial: Backfill) -> str:
    """after a kill a second import of everything changes nothing"""
    names = [trial.entity(key) for key in ("heart_rate", "stress", "steps", "distance", "sleep")]
    last = trial.last() - HOUR
    before = [[row for row in trial.rows(name) if row["start"] / 1000 <= last] for name in names]
    trial.processes.end("gateway", signal.SIGKILL)
    for imports in (False, True):
        trial.start_gateway(imports)
        until("the store is asked", lambda: kept(trial) == int(imports), 60)
        if not imports:
            trial.processes.end("gateway", signal.SIGTERM, 15)
    until("the second import is complete", trial.done, LONG)
    after = [[row for row in trial.rows(name) if row["start"] / 1000 <= last] for name in names]
    if before != after:
        raise Finding(f"{sum(old != new for a, b in zip(before, after) for old, new in zip(a, b))} rows changed")
    trial.joined()
    return f"{sum(map(len, after))} rows"


def due(trial: Backfill) -> int:
    """For how many series and sensors hours are to be imported."""
    with sqlite3.connect(f"file:{trial.folder}/trial.sqlite?mode=ro", uri=True) as store:
        number = store.execute("SELECT count(*) FROM due_statistics").fetchone()[0]
    store.close()
    return number


def kept(trial: Backfill) -> int:
    with sqlite3.connect(f"file:{trial.folder}/trial.sqlite?mode=ro", uri=True) as store:
        number = store.execute("SELECT keeps_due_statistics FROM store").fetchone()[0]
    store.close()
    return number


def quiet(trial: Backfill) -> str:
    """neither log complains"""
    for name in ("gateway", "home-assistant"):
        with open(trial.processes.log(name), encoding="utf-8", errors="replace") as log:
            lines = [line for line in log if "import_statistics" in line or "statistic" in line.lower() and (
                "WARNING" in line or "ERROR" in line or " warning " in line or " error " in line)]
        lines = [line for line in lines if "trial_statistics" not in line]
        if lines:
            raise Finding(f"{name}: {''.join(lines[:5])}")
    # The state of the gateway follows within ten seconds.
    until("the import is told", lambda: trial.broker.last(
        f"vitals2mqtt/{ID}/gateway/state")["statistics"]["imported_at"] is not None, 30)
    state = trial.broker.last(f"vitals2mqtt/{ID}/gateway/state")["statistics"]
    if state["problem"] is not None:
        raise Finding(f"gateway/state says {state}")
    return f"{state['activity']}, {state['due']} due"


def refused(trial: Backfill) -> str:
    """a token that Home Assistant does not take is told once, and no sample waits for it"""
    trial.processes.end("gateway", signal.SIGTERM, 15)
    with open(trial.token, "w", encoding="utf-8") as file:
        file.write("wrong\n")
    newest = max(trial.export.rows)
    trial.export.rows[newest - 86_400] = (1, 199, 0.75, 50)
    trial.export.write()
    since = trial.broker.count
    trial.start_gateway(True)
    state = f"vitals2mqtt/{ID}/gateway/state"
    trial.broker.wait(
        "the refusal", state, lambda payload: (payload["statistics"] or {}).get("activity") == "refused", seconds=120)
    problem = trial.broker.last(state)["statistics"]["problem"]
    if "token" not in problem:
        raise Finding(problem)
    trial.broker.wait(
        "the new sample", f"vitals2mqtt/{ID}/{DEVICE}/measurement/heart_rate",
        lambda payload: any(sample.get("value") == 199 for sample in payload["samples"]), since, 120)
    with open(trial.processes.log("gateway"), encoding="utf-8", errors="replace") as log:
        lines = sum("Statistics are not imported." in line for line in log)
    if lines != 1:
        raise Finding(f"the log tells it {lines} times")
    return problem


CHECKS: list[Callable[[Backfill], str]] = [imported, daylight, corrected, repeated, quiet, refused]
