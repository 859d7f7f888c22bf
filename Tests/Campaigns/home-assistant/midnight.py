"""Tries the import of statistics shortly before midnight and over it, and shortly after midnight.

The zone is one where it is that time now. Each hour that is imported then belongs to the day that ends, or to the one before
the day in which Home Assistant counts.
"""

import time
from typing import Callable
from zoneinfo import ZoneInfo

from clock import Clock
from export import HOUR
from gateway import zone
from importing import Importing
from processes import Finding, until
from trial import same

DAYS = 3
WALK = 2 * HOUR  # before now, and so on both sides of a midnight that has just passed
BEFORE = 120  # seconds from the start of a trial to midnight; the first import takes less
LATE = 10  # seconds before midnight in which samples come that are imported after it


class Midnight(Importing):
    oclock: int

    def __init__(self, folder: str, version: str, program: str, clock: Clock) -> None:
        super().__init__(folder, version, program, ZoneInfo(zone(self.oclock, clock.now())), DAYS, clock)
        self.midnight = self.beginning_of_today() + (86_400 if self.oclock else 0)
        now = clock.now()
        for moment in range(now - now % 60 - WALK, now, 60):
            self.export.add(moment, walks=True)
        self.export.write()

    def beginning_of_today(self) -> int:
        return int(self.export.local(self.clock.now()).replace(hour=0, minute=0, second=0).timestamp())

    def today(self, place: int) -> float:
        """What was counted since midnight."""
        return sum(number for moment, number in self.export.counted(place) if moment >= self.beginning_of_today())

    def now(self) -> str:
        return f"{self.export.local(self.clock.now()):%H:%M:%S} in {self.export.zone.key}"


class Before(Midnight):
    """In the last minutes before midnight. The clocks of the programs are set for it."""

    oclock = 23

    def __init__(self, folder: str, version: str, program: str) -> None:
        # It is so long before a full hour.
        super().__init__(folder, version, program, Clock((-BEFORE - int(time.time())) % HOUR))


class After(Midnight):
    """In the first hour after midnight."""

    oclock = 0

    def __init__(self, folder: str, version: str, program: str) -> None:
        super().__init__(folder, version, program, Clock())


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
    entity = trial.series("steps")
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
    at = trial.now()
    end = trial.last()
    trial.export.correct(end - 2 * HOUR, end)
    numbers = until("the correction is imported", lambda: trial.done() and trial.compared(), 120)
    trial.joined()
    days(trial)
    return f"{numbers}, from {at} to {trial.now()}"


def lowered(trial: Midnight) -> str:
    """a correction downwards, also of the hours that Home Assistant has counted itself, lowers its days and is no new start"""
    at = trial.now()
    numbers = trial.lower()
    days(trial)
    return f"{numbers}, from {at} to {trial.now()}"


def over(trial: Before) -> str:
    """midnight passes during an import, and Home Assistant counts the new day on from it"""
    until("midnight is near", lambda: trial.clock.now() >= trial.midnight - LATE, BEFORE)
    result = late(trial)
    # What is walked in a minute comes at its end.
    first = trial.midnight + 60
    until("the first minute is over", lambda: trial.clock.now() > first, 60 + LATE)
    trial.export.add(first, walks=True)
    trial.export.rows[first] = (101, *trial.export.rows[first][1:])
    trial.export.write()
    until("the steps of the new day", lambda: same(trial.state("steps"), 101), 60)
    trial.joined()
    days(trial)
    return result


CHECKS: list[Callable[[Midnight], str]] = [imported, days, late, lowered]
OVER: list[Callable[[Before], str]] = [imported, days, over, late, lowered]
