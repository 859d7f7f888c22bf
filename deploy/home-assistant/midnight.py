"""Tries the import of statistics shortly before and shortly after midnight, and over it.

The zone is one where it is that time now. Each hour that is imported then belongs to the day that ends, or to the one before the day
in which Home Assistant counts.
"""

import time
from typing import Callable
from zoneinfo import ZoneInfo

from export import HOUR
from gateway import zone
from importing import Importing
from processes import Finding, until
from trial import same

DAYS = 3
WALK = 2 * HOUR  # before now, and so on both sides of a midnight that has just passed


class Midnight(Importing):
    """With the last minutes before midnight, or the first ones after it."""

    oclock: int

    def __init__(self, folder: str, version: str, program: str) -> None:
        super().__init__(folder, version, program, ZoneInfo(zone(self.oclock)), DAYS)
        now = int(time.time())
        for moment in range(now - WALK, now, 60):
            self.export.add(moment, walks=True)
        self.export.write()

    def today(self, place: int) -> float:
        """What was counted since midnight."""
        day = self.export.local(int(time.time())).date()
        return sum(number for moment, number in self.export.counted(place) if self.export.local(moment).date() == day)

    def now(self) -> str:
        return f"{self.export.local(int(time.time())):%H:%M} in {self.export.zone.key}"


class Before(Midnight):
    oclock = 23


class After(Midnight):
    oclock = 0


def imported(trial: Midnight) -> str:
    """statistics are imported at this time of the day, and Home Assistant goes on from them"""
    at = trial.now()
    trial.begin_import()
    numbers = until("the import is complete", lambda: trial.done() and trial.compared(), 120)
    trial.joined()
    return f"{numbers}, at {at}"


def days(trial: Midnight) -> str:
    """its days begin and end at midnight, also the running one"""
    for place, key in ((0, "steps"), (2, "distance")):
        until(f"{key} of today", lambda place=place, key=key: same(trial.state(key), trial.today(place)), 30)
    per_day: dict = {}
    for moment, number in trial.export.counted(0):
        day = trial.export.local(moment).date()
        per_day[day] = per_day.get(day, 0) + number
    entity = trial.entity("steps")
    begin = trial.export.local(trial.export.begin)
    shown = trial.ask(
        "recorder/statistics_during_period", start_time=begin.isoformat(), statistic_ids=[entity], period="day",
        types=["change"])[entity]
    whole = [row for row in shown if row["end"] / 1000 <= trial.last()]
    wrong = [row for row in whole if abs(row["change"] - per_day[trial.export.local(row["start"] // 1000).date()]) > 0.01]
    if wrong or len(whole) < DAYS - 1:
        raise Finding(f"the days are {shown}, and should be {per_day}")
    return f"{trial.today(0):.0f} steps today, and {len(whole)} days before"


def late(trial: Midnight) -> str:
    """a correction of some hours ago reaches its day, and the sums of both days"""
    end = trial.last()
    trial.export.correct(end - 2 * HOUR, end)
    numbers = until("the correction is imported", lambda: trial.done() and trial.compared(), 120)
    trial.joined()
    days(trial)
    return f"{numbers}, at {trial.now()}"


CHECKS: list[Callable[[Midnight], str]] = [imported, days, late]
