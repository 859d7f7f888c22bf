"""Tries the import of statistics with a real Home Assistant: an export of 400 days and documents of a script, and what Home Assistant
has of them then.

What its statistics must be is computed here, from the rows of the export and by the documented rules, without the gateway's code.
"""

import signal
import time
from datetime import datetime
from typing import Any, Callable
from zoneinfo import ZoneInfo

import posted
from export import HOUR
from household import ID
from importing import DEVICE, Importing
from processes import Finding, until
from trial import NOTHING

ZONE = ZoneInfo("Europe/Berlin")
DAYS = 400
LONG = 240  # seconds that the import of them may take


class Backfill(Importing):
    more = posted.devices()

    def __init__(self, folder: str, version: str, program: str) -> None:
        super().__init__(folder, version, program, ZONE, DAYS)


def imported(trial: Backfill) -> str:
    """statistics of 400 days are imported, also if Home Assistant restarts in the middle, and of a sensor without a state"""
    trial.begin_import()
    began = time.monotonic()
    until("the import has begun", lambda: len(trial.rows(trial.series("heart_rate"))) > 1_000, 120)
    if trial.stored("SELECT count(*) FROM pending_statistics") == [(0,)]:
        raise Finding("the import was over before Home Assistant was stopped")
    trial.home.stop()
    trial.home.start()
    trial.home.wait()
    trial.home.wait_until_running()
    until("the import is complete", trial.done, LONG)
    numbers = trial.compared()
    trial.joined()
    shown = trial.state("stress")
    if shown not in NOTHING:
        raise Finding(f"the stress of three hours ago is shown as {shown}")
    return f"{numbers}, {time.monotonic() - began:.0f} s"


def daylight(trial: Backfill) -> str:
    """the days on which the clocks are changed have 23 and 25 hours, and midnight is where it is in Berlin"""
    days: dict[Any, int] = {}
    rows = trial.rows(trial.series("steps"))
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
    old = trial.series("steps")
    trial.ask("config/entity_registry/update", entity_id=old, new_entity_id="sensor.walked_by_anna")
    day = trial.export.begin + 300 * 86_400
    trial.export.correct(day, day + 86_400)
    until("the correction is imported", lambda: trial.done() and trial.compared(), 200)
    trial.joined()
    if trial.series("steps") != "sensor.walked_by_anna":
        raise Finding("the entity lost its name")
    return trial.compared()


def lowered(trial: Backfill) -> str:
    """a correction downwards, also of hours that Home Assistant has counted itself, lowers the sums and is no new start"""
    return trial.lower()


def repeated(trial: Backfill) -> str:
    """after a kill a second import of everything changes nothing"""
    names = [trial.series(key) for key in ("heart_rate", "stress", "steps", "distance", "sleep")]
    last = trial.last() - HOUR
    before = [[row for row in trial.rows(name) if row["start"] / 1000 <= last] for name in names]
    trial.processes.end("gateway", signal.SIGKILL)
    for imports in (False, True):
        trial.start_gateway(imports)
        until("the store is asked", lambda: trial.stored("SELECT keeps_pending_statistics FROM store") == [(imports,)], 60)
        if not imports:
            trial.processes.end("gateway", signal.SIGTERM, 15)
    until("the second import is complete", trial.done, LONG)
    after = [[row for row in trial.rows(name) if row["start"] / 1000 <= last] for name in names]
    if before != after:
        raise Finding(f"{sum(old != new for a, b in zip(before, after) for old, new in zip(a, b))} rows changed")
    trial.joined()
    return f"{sum(map(len, after))} rows"


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
    until("the import is reported", lambda: trial.broker.last(
        f"vitals2mqtt/{ID}/gateway/state")["statistics"]["imported_at"] is not None, 30)
    state = trial.broker.last(f"vitals2mqtt/{ID}/gateway/state")["statistics"]
    if state["problem"] is not None:
        raise Finding(f"gateway/state says {state}")
    return f"{state['activity']}, {state['due']} pending"


def refused(trial: Backfill) -> str:
    """a token that Home Assistant does not take is reported once, and no sample waits for it"""
    trial.processes.end("gateway", signal.SIGTERM, 15)
    with open(trial.home.token, "w", encoding="utf-8") as file:
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
        raise Finding(f"the log has it {lines} times")
    return problem


CHECKS: list[Callable[[Backfill], str]] = [
    imported, daylight, corrected, lowered, posted.nights, posted.lowered, repeated, quiet, refused]
