"""A broker, a Home Assistant and a gateway that imports statistics of an export; and whether they are as they must be."""

import contextlib
import os
import signal
import sqlite3
from datetime import datetime, timezone
from typing import Optional
from zoneinfo import ZoneInfo

from clock import Clock
from export import HOUR, Export
from household import Household
from processes import Finding, until

DEVICE = "phone-1"
SETTLING = 75 * 60  # seconds after its end in which an hour is Home Assistant's own


class Importing(Household):
    """A gateway with the export as its only device, but for those that a trial adds."""

    more: list[dict] = []

    def __init__(
        self, folder: str, version: str, program: str, zone: ZoneInfo, days: int, clock: Optional[Clock] = None
    ) -> None:
        super().__init__(folder, version, program, zone.key, clock=clock)
        self.clock = self.processes.clock
        self.export = Export(os.path.join(folder, "Gadgetbridge.db"), zone, days, self.clock)
        self.clock.load(self.home.folder)

    def start_gateway(self, imports: bool) -> None:
        self.configure(
            [{"id": DEVICE, "name": "Phone", "driver": "gadgetbridge", "options": {"path": self.export.path}}, *self.more],
            store={"path": "trial.sqlite", "retention": {"samples": "500d"}},
            home_assistant=self.home.for_gateway() if imports else {}, sync={"first": "all"})
        self.run_gateway()

    def begin_import(self) -> None:
        """Lets Home Assistant count by itself, and starts the import then."""
        self.start_gateway(False)
        # The counts of today must have been seen, so that there is a row to be continued.
        until("the entities have states", lambda: self.state("steps").replace(".", "").isdigit(), 90)
        self.home.connection.call("trial_statistics.compile", None)
        self.processes.end("gateway", signal.SIGTERM, 15)
        self.start_gateway(True)

    def series(self, key: str) -> str:
        return self.entity(DEVICE, key)

    def state(self, key: str) -> str:
        return self.home.connection.get(f"/api/states/{self.series(key)}")["state"]

    def rows(self, entity: str, period: str = "hour", since: float = 0) -> list[dict]:
        start = datetime.fromtimestamp(since or self.export.begin - HOUR, timezone.utc).isoformat()
        return self.ask(
            "recorder/statistics_during_period", start_time=start, statistic_ids=[entity], period=period,
            types=["mean", "min", "max", "state", "sum", "last_reset"]).get(entity, [])

    def stored(self, sql: str) -> list[tuple]:
        """Rows of the gateway's store."""
        with contextlib.closing(sqlite3.connect(f"file:{self.folder}/trial.sqlite?mode=ro", uri=True)) as store:
            return store.execute(sql).fetchall()

    def done(self) -> bool:
        """Whether all that is old enough is imported: what is still pending has only hours that are not."""
        left = self.stored("SELECT series.metric, first_hour, last_hour FROM pending_statistics "
                           "JOIN series ON series.id = pending_statistics.series")
        late = [row for row in left if row[1] * HOUR <= self.last()]
        if late:
            raise Finding(f"pending are {late}")
        return True

    def last(self) -> int:
        """The beginning of the last hour that may be imported."""
        return (self.clock.now() - SETTLING) // HOUR * HOUR - HOUR

    def expected(self, last: int) -> dict[str, dict[int, dict]]:
        return {
            "heart_rate": self.export.measured(1, last), "stress": self.export.measured(3, last),
            "steps": self.export.counts(0, last), "distance": self.export.counts(2, last),
            "sleep": self.export.slept(last)}

    def compared(self) -> str:
        last = self.last() - HOUR  # one that is surely imported
        wrong, count = [], 0
        for key, hours in self.expected(last).items():
            rows = {int(row["start"]) // 1000: row for row in self.rows(self.series(key))}
            missing = [hour for hour in hours if hour not in rows]
            if missing:
                wrong.append(f"{key} lacks {len(missing)} of {len(hours)} hours, the first {self.export.local(missing[0])}")
            strange = [hour for hour in rows if hour not in hours and hour <= last]
            if strange:
                wrong.append(f"{key} has {len(strange)} other hours, the first {self.export.local(strange[0])}")
            for hour, numbers in hours.items():
                for name, number in numbers.items():
                    shown = rows.get(hour, {}).get(name)
                    if hour in rows and (shown is None or abs(shown - number) > 1e-6 * max(1, abs(number))):
                        wrong.append(f"{key} at {self.export.local(hour)}: {name} is {shown} and should be {number}")
                    count += 1
        if wrong:
            raise Finding("\n".join([*wrong[:10], f"{len(wrong)} differences"]))
        return f"{count} numbers"

    def lower(self) -> str:
        """Corrects the last hours downwards, also those that Home Assistant has counted itself: it must go on with what is left."""
        self.export.correct(self.last() - 2 * HOUR, self.clock.now(), is_lower=True)
        numbers = until("the correction is imported", lambda: self.done() and self.compared(), 200)
        self.joined()
        return numbers

    def joined(self) -> None:
        """Every row of Home Assistant's own after the imported hours continues their sums, and so does the next one that it compiles."""
        self.home.connection.call("trial_statistics.compile", None)
        last = self.last()
        for place, key in ((0, "steps"), (2, "distance")):
            counted = self.export.counted(place)

            def excess(row: dict, counted: list[tuple[int, float]] = counted) -> float:
                before = sum(number for start, number in counted if start < row["last_reset"] / 1000)
                return row["sum"] - row["state"] - before

            entity = self.series(key)
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
