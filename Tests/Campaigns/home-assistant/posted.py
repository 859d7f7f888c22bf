"""What somebody's script publishes: nights of which more or less is known, and counts that are corrected downwards, up to the statistics
of Home Assistant. The numbers are worked out by hand."""

import time
from datetime import datetime, timedelta
from typing import Any, Iterator

from export import HOUR
from importing import Importing
from processes import Finding, until
from trial import same

MINUTE = 60
NIGHT = 8 * HOUR
SLOT = 300  # seconds; Home Assistant compiles each five minutes once
COUNTER = "script"
# Of each counter what is said first of an interval and what then, whole numbers as they are shown: of one of today, and of a quarter of an
# hour of yesterday.
AMOUNTS = {
    "distance": ((900, 600), (3000, 2000)), "active_energy": ((41, 30), (120, 80)), "hydration": ((250, 200), (750, 500)),
    "floors": ((4, 3), (12, 9))}


def devices() -> list[dict]:
    def device(name: str, *metrics: str) -> dict:
        return {"id": name, "driver": "documents", "options": {"metrics": metrics}, "offline_after": "1d",
                "transport": {"type": "mqtt", "topic": f"scripts/{name}"}}
    return [device(COUNTER, *AMOUNTS), *(device(f"night-{kind}", "sleep") for kind in ("stages", "asleep", "totals", "in-bed"))]


def known_nights(start: int) -> Iterator[tuple[str, dict, int, dict[str, int]]]:
    """The same night four ways: what is published, the minutes asleep, and the minutes of each depth."""
    def stages(*parts: tuple[str, int]) -> list[dict]:
        moment, found = start, []
        for stage, minutes in parts:
            found.append({"stage": stage, "start": moment, "end": moment + minutes * MINUTE})
            moment += minutes * MINUTE
        return found
    yield ("stages", {"stages": stages(("light", 180), ("deep", 120), ("rem", 90), ("awake", 30), ("light", 60))}, 450,
           {"light_min": 240, "deep_min": 120, "rem_min": 90, "awake_min": 30})
    yield "asleep", {}, 480, {"asleep_min": 480}
    yield ("totals", {"minutes": {"deep": 100, "light": 250, "rem": 70, "awake": 40}}, 420,
           {"deep_min": 100, "light_min": 250, "rem_min": 70, "awake_min": 40})
    yield "in-bed", {"stages": stages(("in_bed", 480))}, 0, {"in_bed_min": 480}


def yesterday(trial: Importing, hour: int, minute: int = 0) -> int:
    now = datetime.fromtimestamp(trial.clock.now(), trial.export.zone)
    return int((now.replace(hour=hour, minute=minute, second=0, microsecond=0) - timedelta(days=1)).timestamp())


def publish(trial: Importing, device: str, document: dict) -> None:
    if trial.broker.publish(f"scripts/{device}", document):
        raise Finding(f"the document of {device} was not published")


def shown(trial: Importing, device: str, key: str, wanted: Any) -> dict:
    """The state of an entity, once it is as wanted."""
    def found() -> dict:
        state = trial.home.connection.get(f"/api/states/{trial.entity(device, key)}")
        if not same(state["state"], wanted):
            raise Finding(f"it is {state['state']}")
        return state
    return until(f"{key} of {device} is {wanted}", found, 90)


def nights(trial: Importing) -> str:
    """a night with stages, with times asleep, with minutes alone, and of which only the time in bed is known, has its minutes and hours"""
    end = yesterday(trial, 6, 30)
    hours = range(end // HOUR * HOUR, min(yesterday(trial, 23), trial.last()) + 1, HOUR)
    for kind, entry, _, _ in known_nights(end - NIGHT):
        publish(trial, f"night-{kind}", {"sleeps": [{"start": end - NIGHT, "end": end, **entry}]})
    for kind, _, asleep, depths in known_nights(end - NIGHT):
        attributes = shown(trial, f"night-{kind}", "last_sleep", asleep)["attributes"]
        for name in ("deep_min", "light_min", "rem_min", "awake_min", "asleep_min", "in_bed_min"):
            if attributes.get(name) != depths.get(name, 0):
                raise Finding(f"{name} of night-{kind} is {attributes.get(name)}, not {depths.get(name, 0)}")

    def imported() -> bool:
        for kind, _, asleep, _ in known_nights(end - NIGHT):
            rows = {row["start"] // 1000: row for row in trial.rows(trial.entity(f"night-{kind}", "sleep"), since=end - NIGHT)}
            for hour in hours:
                numbers = [rows.get(hour, {}).get(name) for name in ("mean", "min", "max")]
                if numbers != [asleep] * 3:
                    raise Finding(f"night-{kind} at {trial.export.local(hour)} is {numbers}, not {asleep}")
        return True
    until("the nights are imported", imported, 120)
    return f"{len(hours)} hours of each"


def counted(begin: int, end: int, day: int, form: int) -> dict:
    """A document with all amounts of an interval: of today or of yesterday, in their first form or the second one."""
    return {"samples": [{"metric": metric, "value": amounts[day][form], "start": begin, "end": end} for metric, amounts in AMOUNTS.items()]}


def own_rows(trial: Importing, entity: str, midnight: int) -> list[dict]:
    return [row for row in trial.rows(entity, "5minute", midnight) if row.get("sum") is not None]


def lowered(trial: Importing) -> str:
    """a count that is corrected downwards lowers the state and the sums, of today and of yesterday, and is no new start"""
    local = datetime.fromtimestamp(trial.clock.now(), trial.export.zone)
    midnight = int(local.replace(hour=0, minute=0, second=0, microsecond=0).timestamp())
    until("the day has begun", lambda: trial.clock.now() >= midnight + SLOT, SLOT + 5)
    end = trial.clock.now() - 1
    begin = max(midnight, end - 2 * SLOT)
    for form in (0, 1):
        publish(trial, COUNTER, counted(begin, end, 0, form))
        for metric, amounts in AMOUNTS.items():
            state = shown(trial, COUNTER, f"{metric}_today", amounts[0][form])
            reset = datetime.fromisoformat(state["attributes"]["last_reset"]).timestamp()
            if reset != midnight or state["attributes"]["state_class"] != "total":
                raise Finding(f"{metric} is {state['attributes']}")
    entities = {metric: trial.entity(COUNTER, f"{metric}_today") for metric in AMOUNTS}

    def compiled() -> bool:
        trial.home.connection.call("trial_statistics.compile", None)
        missing = [metric for metric, entity in entities.items()
                   if not any(same(str(row["state"]), AMOUNTS[metric][0][1]) for row in own_rows(trial, entity, midnight))]
        if missing:
            time.sleep(5)
            raise Finding(f"without a row: {missing}")
        return True
    # What was compiled in these five minutes already is compiled again in the next ones.
    until("Home Assistant has compiled it", compiled, SLOT + 60)
    for metric, entity in entities.items():
        states = trial.history(entity, trial.export.local(trial.export.begin))
        numbers = [float(state["state"]) for state in states if state["state"] not in ("unknown", "unavailable")]
        # The sum begins with the first state of the first five minutes that Home Assistant had not compiled, which may be the lower one,
        # and follows each change, down as well as up. A new start would add the whole state.
        last = own_rows(trial, entity, midnight)[-1]
        if all(abs(last["sum"] - (numbers[-1] - first)) > 0.01 for first in numbers):
            raise Finding(f"{metric} went {numbers}, and its sum is {last['sum']}")

    first, quarter = yesterday(trial, 10), 15 * MINUTE
    for form in (0, 1):
        publish(trial, COUNTER, counted(first, first + quarter, 1, form))

        def imported(form: int = form) -> bool:
            for metric, entity in entities.items():
                total = AMOUNTS[metric][1][form]
                rows = {row["start"] // 1000: row for row in trial.rows(entity, since=first)}
                for hour in range(first, trial.last(), HOUR):
                    row = rows.get(hour, {})
                    if not same(str(row.get("sum")), total) or not same(str(row.get("state")), total if hour < midnight else 0):
                        raise Finding(f"{metric} at {trial.export.local(hour)} is {row}, with {total} in all")
                # Home Assistant's own rows go on from there.
                for row in own_rows(trial, entity, midnight):
                    if abs(row["sum"] - row["state"] - total) > 0.01:
                        raise Finding(f"{metric} goes on with {row}, after {total}")
            return True
        until("yesterday's counts are imported", imported, 180)
    return f"{len(entities)} counters"
