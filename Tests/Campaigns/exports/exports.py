"""Exports a year of two people, compares the files with the store, and erases one of them. See Tests/Campaigns/exports/run."""

import argparse
import csv
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict

from consumer import ROOT, Consumer, milliseconds
from readers import POINTS
from rig import TIMEOUT, Finding, Gateway, Mosquitto, require, until

# The first one is erased; no word of a program has such a name in it.
ANNA, BEN = "anna-whose-bytes-are-sought", "ben"
PEOPLE = {"1": ANNA, "2": BEN}
# Kilobytes that an export may take more than one of nothing.
MOST = 30 * 1024
# Seconds without a new sample after which all history is there, and for all of it.
QUIET, READING = 20, 1800
FORMATS = ["csv", "ndjson", "fhir", "open-mhealth"]
# Runs a program and prints the most kilobytes that it took. The system counts the memory of who starts a program as the program's, too, so
# that must be small.
METER = """import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)"""
# What the formats have a place for, by the page docs/Exporting.md.
HAS = {"fhir": lambda metric: metric != "battery", "open-mhealth": lambda metric: metric in POINTS.values()}


def devices(days: int) -> list[dict]:
    def device(name: str, model: str, seed: int, sleep: str = "stages", history: int = days, **whose) -> dict:
        return {"id": name, "driver": "simulator",
                "options": {"model": model, "seed": seed, "history_days": history, "live_interval": "off", "sleep": sleep},
                "sync": {"first": "all"}, **whose}
    # Nights of each kind.
    return [device("band-1", "band", 1, person=ANNA), device("band-2", "band", 2, "asleep", person=BEN),
            device("ring-1", "ring", 3, "totals", min(days, 14), person=ANNA),
            device("ring-2", "ring", 4, "in_bed", min(days, 14), person=BEN),
            device("cuff", "cuff", 1, people=PEOPLE), device("scale", "scale", 1, people=PEOPLE)]


# Which devices and user slots are hers.
HERS = "(device.name IN ('band-1', 'ring-1') OR device.name IN ('cuff', 'scale') AND sample.user = 1)"


class Store:
    """What is in the store, by SQL alone. The gateway must not run: its journal is not read."""

    def __init__(self, path: str) -> None:
        self.counts: Counter = Counter()
        self.sums: dict[str, float] = defaultdict(float)
        self.withdrawn: Counter = Counter()
        self.amended = 0
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        require(database.execute("SELECT count(*) FROM journal").fetchone()[0] == 0, "the journal has samples")
        rows = database.execute("""SELECT metric, value, withdrawn != 0, revision FROM sample JOIN series ON series.id = sample.series""")
        for metric, value, is_withdrawn, revision in rows:
            self.counts[metric] += 1
            self.sums[metric] += value or 0
            self.withdrawn[metric] += is_withdrawn
            self.amended += revision > 1 and not is_withdrawn and metric != "battery"
        database.close()

    def expected(self, form: str) -> Counter:
        has = HAS.get(form, lambda metric: True)
        counts = Counter({metric: count for metric, count in self.counts.items() if has(metric)})
        if form == "open-mhealth":
            counts -= self.withdrawn
            # A resting heart rate is a heart rate there, at rest.
            counts["heart_rate"] += self.counts["resting_heart_rate"] - self.withdrawn["resting_heart_rate"]
        return counts


class Traces:
    """What the samples of the person who is erased leave in a file: her name, their ids, and their starts as SQLite writes them, of
    those that are no other's and began before the gateway did."""

    def __init__(self, table: str, until_moment: int) -> None:
        texts, starts, others = set(), set(), set()
        with open(table, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file, strict=True):
                start = milliseconds(row["start"])
                if row["person"] == ANNA:
                    texts.add(row["id"].encode())
                    starts.add(start)
                else:
                    others.add(start)
        self.texts = texts
        self.ids = {bytes.fromhex(text.decode().replace("-", "")) for text in texts}
        self.starts = {start.to_bytes(6, "big") for start in starts - others if start < until_moment}

    def count(self, path: str, but: set[int] = frozenset()) -> int:
        with open(path, "rb") as file:
            content = file.read()
        starts = self.starts - {moment.to_bytes(6, "big") for moment in but}
        patterns = [
            (rb"(?s)(?=([0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}))", self.texts),
            (rb"(?s)(?=(.{6}[\x50-\x5f].[\x80-\xbf].{7}))", self.ids),  # the version and the variant
            (rb"(?s)(?=(\x01.{5}))", starts)]  # until the year 2039
        found = sum(match[1] in sought for pattern, sought in patterns for match in re.finditer(pattern, content))
        return found + content.count(ANNA.encode())


class Trial:
    def __init__(self, program: str, folder: str, days: int) -> None:
        self.folder, self.days = folder, days
        self.mosquitto = Mosquitto(folder)
        self.gateway = Gateway(program, folder, self.mosquitto.port)
        self.began = 0  # milliseconds, when the gateway was started

    def export(self, form: str, name: str, *options: str, status: int = 0) -> tuple[str, int]:
        """Exports to a new file. Returns its path, and the most kilobytes of memory that it took."""
        path = os.path.join(self.folder, name)
        command = [self.gateway.program, "export", "--config", self.gateway.path, "--format", form, *options, path]
        result = subprocess.run([sys.executable, "-c", METER, *command], capture_output=True, text=True, check=False)
        require(result.returncode == status, f"{' '.join(command)} ended with status {result.returncode}: {result.stderr}")
        if status == 0:
            require(os.stat(path).st_mode & 0o777 == 0o600, f"{path} has the mode {os.stat(path).st_mode:o}")
        return path, int(result.stdout.splitlines()[-1])

    def count(self) -> int:
        """How many samples the running gateway has, by its own account."""
        command = [self.gateway.program, "store", "info", "--config", self.gateway.path]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        return sum(int(match[1]) for line in lines if (match := re.search(r": (\d+) samples?, ", line)))

    def fill(self) -> int:
        self.mosquitto.start()
        self.gateway.write(devices(self.days))
        self.began = int(time.time() * 1000)
        self.gateway.start()
        state = {"count": -1, "since": time.monotonic()}

        def is_quiet() -> bool:
            self.gateway.check()
            count = self.count() if os.path.exists(self.gateway.store) else 0
            # A live value every ten minutes is no history.
            if count > state["count"] + 20:
                state.update(count=count, since=time.monotonic())
            return count > 50 * self.days and time.monotonic() - state["since"] > QUIET
        until(is_quiet, READING, f"the history is not there ({state})", step=2)
        return self.count()

    def beside(self) -> str:
        """An export while the gateway runs has all that was there before, and at most what is there after."""
        before = self.count()
        path, _ = self.export("csv", "beside.csv")
        after = self.count()
        rows = sum(read_table(path).values())
        require(before <= rows <= after, f"{rows} rows of {before} to {after} samples")
        return f"beside the gateway: {rows} rows"

    def run(self) -> None:
        print(f"the store has {self.fill()} samples of {self.days} days", flush=True)
        print(self.beside(), flush=True)
        self.gateway.stop()
        store = Store(self.gateway.store)
        _, idle = self.export("csv", "nothing", "--to", "1971-01-01", status=1)
        for form in FORMATS:
            people = [option for name in PEOPLE.values() for option in ("--person", name)] if form == "fhir" else []
            began = time.monotonic()
            path, memory = self.export(form, f"all.{form}", *people)
            seconds = time.monotonic() - began
            require(memory - idle <= MOST, f"{form} took {memory - idle} KiB more than an export of nothing")
            found = READ[form](path, store)
            expected = +store.expected(form)
            require(found == expected, f"{form} has other counts than the store: {(expected - found) + (found - expected)}")
            print(f"{form}: {sum(found.values())} samples, {os.path.getsize(path) >> 20} MiB in {seconds:.1f} s, "
                  f"{(memory - idle) / 1024:.1f} MiB of memory more than for nothing", flush=True)
        week, _ = self.export("fhir", "week.fhir", "--person", ANNA, "--device", "band-1", "--from",
                              time.strftime("%Y-%m-%d", time.gmtime(time.time() - 7 * 86_400)))
        read_by_others("bundle", week)
        print(self.erase(), flush=True)

    def kept(self, condition: str) -> int:
        """How many samples the store has of a condition, by SQL alone."""
        database = sqlite3.connect(f"file:{self.gateway.store}?mode=ro", uri=True)
        require(database.execute("SELECT count(*) FROM journal").fetchone()[0] == 0, "the journal has samples")
        count = database.execute(f"""SELECT count(*) FROM sample JOIN series ON series.id = sample.series
                                     JOIN device ON device.id = series.device WHERE {condition}""").fetchone()[0]
        database.close()
        return count

    def files(self) -> list[str]:
        """The store, its log, and the copies beside it."""
        return glob.glob(f"{glob.escape(self.gateway.store)}*")

    def erase(self) -> str:
        """After an erasure no byte of hers is in the store, its log and the copies beside it, and her devices bring nothing back."""
        store, traces = self.gateway.store, Traces(os.path.join(self.folder, "all.csv"), self.began)
        # What is not found before proves nothing.
        found = sum(map(traces.count, self.files()))
        require(found >= len(traces.starts) > self.days, f"only {found} of the {len(traces.starts)} starts are found before")
        shutil.copy(store, f"{store}.replaced-1")
        hers, others, moment = self.kept(HERS), self.kept(f"NOT coalesce({HERS}, false)"), int(time.time() * 1000)
        command = [self.gateway.program, "erase", "--config", self.gateway.path, "--person", ANNA, "--yes"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        require(result.returncode == 0, f"{' '.join(command)} ended with {result.returncode}: {result.stderr}")
        require(self.kept(HERS) == 0 and self.kept("true") == others, f"the store has other samples than before: {result.stdout}")
        database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        # Of a shared device the moment of its last record stays, from which it is read again.
        cursors = {known for row in database.execute("SELECT cursor, high_water, latest_start FROM series") for known in row if known}
        database.close()
        left = {path: count for path in self.files() if (count := traces.count(path, cursors))}
        require(not left, f"after the erasure there are bytes of hers: {left}")

        consumer = Consumer(self.mosquitto.port)
        try:
            require(consumer.connected.wait(TIMEOUT), "the consumer is not connected")
            # What is retained comes before what is published after the subscription.
            consumer.client.publish(f"{ROOT}/gateway/link/marker", "{}", 1)
            until(lambda: "gateway/link/marker" in consumer.newest, TIMEOUT, "the marker does not come")
            retained = [topic for topic in consumer.newest if topic.startswith(("band-1/", "ring-1/"))]
            require(not retained, f"the broker retains {retained}")
            self.gateway.start()
            skipped = 0
            for device in ("band-1", "ring-1", "cuff", "scale"):
                until(lambda: consumer.newest.get(f"{device}/link", {}).get("state") == "connected", TIMEOUT, f"{device} is away")
                require(consumer.ask(device, "sync", f"again-{device}", READING) == "done", f"{device} is not read")
                skipped += consumer.answers[f"again-{device}"][0]["data"]["skipped"].get("erased", 0)
        finally:
            consumer.end()
        self.gateway.stop()
        require(self.kept(f"{HERS} AND sample.start < {moment}") == 0, "her samples are there again")
        require(self.kept(f"NOT coalesce({HERS}, false)") >= others, "samples of others are gone")
        require(skipped > hers // 2, f"only {skipped} of {hers} samples were sent again")
        return f"erased: {hers} samples, whose bytes are nowhere; {skipped} that came again were refused"


def is_number(text: str) -> bool:
    try:
        float(text)
        return True
    except ValueError:
        return False


def read_table(path: str, store: Store | None = None) -> Counter:
    counts: Counter = Counter()
    sums: dict[str, float] = defaultdict(float)
    ids = set()
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, strict=True):
            require(None not in row and None not in row.values(), f"a row has other columns: {row}")
            for cell in row.values():
                require(cell[:1] not in tuple("=+-@\t\r") or not cell or is_number(cell), f"a spreadsheet would run {cell!r}")
            counts[row["metric"]] += 1
            sums[row["metric"]] += float(row["value"] or 0)
            ids.add(row["id"])
    require(len(ids) == sum(counts.values()), "an id is there twice")
    for metric, value in sums.items() if store else ():
        require(abs(value - store.sums[metric]) < 0.01, f"the sum of {metric} is {value}, not {store.sums[metric]}")
    return counts


def read_lines(path: str, store: Store) -> Counter:
    counts: Counter = Counter()
    sums: dict[str, float] = defaultdict(float)
    with open(path, encoding="utf-8") as file:
        for line in file:
            sample = json.loads(line)
            require(sample["person"] in PEOPLE.values() or sample["metric"] == "battery", f"a sample of {sample['person']}")
            counts[sample["metric"]] += 1
            sums[sample["metric"]] += sample["value"] or 0
    for metric, value in sums.items():
        require(abs(value - store.sums[metric]) < 0.01, f"the sum of {metric} is {value}, not {store.sums[metric]}")
    return counts


def read_by_others(kind: str, path: str) -> dict:
    """What the readers of other people find, which refuse what is wrong."""
    command = [os.environ["READERS"], "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)), "readers.py"), kind, path]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""})
    require(result.returncode == 0, f"{path} is refused: {result.stdout[-2000:]}{result.stderr[-2000:]}")
    return json.loads(result.stdout)


def read_bundle(path: str, store: Store) -> Counter:
    found = read_by_others("entries", path)
    require(found["others"] == {"Patient": 2, "Device": len(devices(1))}, f"beside observations there are {found['others']}")
    withdrawn = sum(store.withdrawn.values())
    statuses = {name: found["statuses"].get(name, 0) for name in ("entered-in-error", "amended")}
    require(statuses == {"entered-in-error": withdrawn, "amended": store.amended}, f"statuses are {found['statuses']}")
    return Counter(found["metrics"])


READ = {"csv": read_table, "ndjson": read_lines, "fhir": read_bundle,
        "open-mhealth": lambda path, _: Counter(read_by_others("points", path)["metrics"])}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--days", type=int, default=366)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="exports-") as folder:
        trial = Trial(options.gateway, folder, options.days)
        try:
            trial.run()
        except Finding as finding:
            print(finding, file=sys.stderr)
            return 1
        finally:
            trial.gateway.kill()
            trial.mosquitto.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
