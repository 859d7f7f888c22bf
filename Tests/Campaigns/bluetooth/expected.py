"""Whether what was published is what the wearables measured."""

import datetime
import struct
from typing import Any

import figures
from subscriber import Subscriber


def cuff_values(subscriber: Subscriber) -> set[tuple[Any, ...]]:
    return {
        (sample["start"], *(sample["fields"][name] for name in ("systolic", "diastolic", "pulse")))
        for sample in subscriber.of("cuff", "blood_pressure")}


def expected_cuff(later: int) -> set[tuple[Any, ...]]:
    year, month, day = figures.CUFF_DAY
    records = figures.CUFF_RECORDS + figures.CUFF_LATER[:later]
    return {(f"{year}-{month:02}-{day:02}T{hour:02}:00:00.000Z", *rest) for hour, *rest in records}


def time_is_right(line: str) -> bool:
    """Whether the cuff read one Current Time (0x2A2B), and that was the guest's at this moment. The gateway's zone is UTC."""
    words = line.split()
    if len(words) != 7 or len(words[4]) != 20:
        return False
    *clock, weekday, fractions, reason = struct.unpack("<HBBBBBBBB", bytes.fromhex(words[4]))
    shown = datetime.datetime(*clock, fractions * 1_000_000 // 256, datetime.timezone.utc)
    late = float(words[6]) - shown.timestamp()
    # 1 is a Monday, and four reasons are defined.
    return abs(late) < figures.CLOCK_DIFFERS and weekday == shown.isoweekday() and reason < 0x10


def time_is_set(said: list[str]) -> bool:
    """Whether the cuff read the right time each time that it asked, and asked."""
    lines = [line for line in said if line.startswith("Cuff reads ")]
    return bool(lines) and all(time_is_right(line) for line in lines)


def scale_is_received(subscriber: Subscriber, later: int) -> bool:
    year, month, day = figures.SCALE_DAY
    records = figures.SCALE_RECORDS + figures.SCALE_LATER[:later]
    wanted = {f"{year}-{month:02}-{day:02}T{hour:02}:00:00.000Z": weight for hour, weight in records}
    return subscriber.reported("scale", "weight") == wanted


def oximeter_is_received(subscriber: Subscriber) -> bool:
    year, month, day = figures.CUFF_DAY
    wanted = {
        f"{year}-{month:02}-{day:02}T22:{minute:02}:00.000Z": oxygen for minute, oxygen, _ in figures.OXIMETER_RECORDS}
    return subscriber.reported("oximeter", "blood_oxygen").items() >= wanted.items()


def at(minutes: float) -> str:
    """The text of a moment of the day that the rings remember, by minutes from its midnight."""
    midnight = datetime.datetime.combine(figures.RING_DAY, datetime.time())
    return (midnight + datetime.timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def ring_is_received(subscriber: Subscriber) -> bool:
    begin, end = figures.RING_SLEEP
    asleep = sum(minutes for depth, minutes in figures.RING_STAGES if depth != 5)
    wanted = {
        "heart_rate": {at(5 * slot): rate for slot, rate in enumerate(figures.RING_RATES)},
        "stress": {at(30 * slot): stress for slot, stress in enumerate(figures.RING_STRESS)},
        "steps": {at(60 * hour): steps for hour, steps, _ in figures.RING_STEPS},
        "blood_oxygen": {at(60 * hour): lowest for hour, lowest in enumerate(figures.RING_OXYGEN)},
        "sleep": {at(begin - 24 * 60): asleep},
    }
    ends = {sample["end"] for sample in subscriber.of("ring", "sleep")}
    return ends == {at(end)} and all(subscriber.reported("ring", metric) == values for metric, values in wanted.items())


def night_is_received(subscriber: Subscriber) -> bool:
    starts = [at(60 * figures.NIGHT_START + figures.NIGHT_INTERVAL * index / 60) for index in range(len(figures.NIGHT_RECORDS))]
    records = {start: record for start, record in zip(starts, figures.NIGHT_RECORDS)}
    return all(
        subscriber.reported("night", metric).items() >= {start: record[place] for start, record in records.items()}.items()
        for place, metric in enumerate(("blood_oxygen", "heart_rate")))
