"""Makes FIT files, and says what garmin-fit-sdk and fitdecode read in them, as samples. See Tests/Campaigns/fit/run.

  decoders.py make FOLDER FILES SEED   writes the files
  decoders.py read FOLDER              prints the samples of each library as JSON: metric, start, end in ms, value
"""

import datetime
import glob
import json
import random
import sys
from os.path import dirname, join

import fitdecode
import fitdecode.types
from garmin_fit_sdk import Decoder, Encoder, Stream

EPOCH = 631065600
# The metric, message, its field, and the field of its time; a value below the least is none.
VALUES = [("heart_rate", 20, "heart_rate", "timestamp", 20), ("stress", 227, "stress_level_value", "stress_level_time", 1),
          ("blood_oxygen", 269, "reading_spo2", "timestamp", 1), ("respiratory_rate", 297, "respiration_rate", "timestamp", 3),
          ("heart_rate_variability", 371, "value", "timestamp", 1), ("weight", 30, "weight", "timestamp", 1),
          ("body_fat", 30, "percent_fat", "timestamp", 1), ("resting_heart_rate", 211, "current_day_resting_heart_rate", "timestamp", 20)]


def make(folder: str, files: int, seed: int) -> None:
    rng = random.Random(seed)
    begin = 1136505600  # 2026-01-05T00:00:00Z
    for number in range(files):
        encoder, second = Encoder(), begin + number * 7200
        encoder.on_mesg(0, {"type": "activity", "manufacturer": "garmin", "product": 3113, "serial_number": 77, "time_created": second})
        for _ in range(rng.randint(1, 300)):
            second += rng.randint(1, 9)
            kind = rng.randint(0, 9)
            stamp = {"timestamp": second}
            if kind < 5:
                encoder.on_mesg(20, {**stamp, "heart_rate": rng.randint(40, 199), "distance": rng.randint(0, 9999) / 100, "altitude": 12.4})
            elif kind == 5:
                encoder.on_mesg(227, {"stress_level_time": second, "stress_level_value": rng.randint(-2, 99)})
            elif kind == 6:
                encoder.on_mesg(269, {**stamp, "reading_spo2": rng.randint(80, 100)})
            elif kind == 7:
                encoder.on_mesg(297, {**stamp, "respiration_rate": rng.randint(800, 3000) / 100})
            elif kind == 8:
                encoder.on_mesg(371, {**stamp, "value": rng.randint(1280, 19200) / 128})
            else:
                encoder.on_mesg(30, {**stamp, "weight": rng.randint(5000, 9900) / 100, "percent_fat": rng.randint(900, 3900) / 100})
        start = begin + number * 7200
        encoder.on_mesg(18, {"timestamp": second, "start_time": start, "sport": "running", "total_elapsed_time": float(second - start),
                             "total_distance": rng.randint(0, 900000) / 100, "avg_heart_rate": 120, "total_calories": 99})
        write(join(folder, f"{number}.fit"), encoder.close())
    sys.path.insert(0, join(dirname(sys.executable), "..", "tests"))
    from data import Data  # the bytes of the library's own tests
    for name, content in vars(Data).items():
        if isinstance(content, (bytes, bytearray)):
            write(join(folder, f"{name}.fit"), bytes(content))


def write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


def seconds(value) -> int | None:
    """Seconds since 1989-12-31 of what a library has for a time."""
    if isinstance(value, datetime.datetime):
        return int(value.timestamp()) - EPOCH
    return value if isinstance(value, int) else None


def samples(messages: list[tuple[int, dict]]) -> list:
    found, kind = set(), 4
    for number, fields in messages:
        if number == 0:
            kind = fields.get("type")
        is_workout = kind in (None, 4, "activity")
        for metric, message, field, time, least in VALUES:
            value, when = fields.get(field), seconds(fields.get(time))
            if number == message and isinstance(value, (int, float)) and value >= least and when is not None and (number != 20 or is_workout):
                found.add((metric, (when + EPOCH) * 1000, (when + EPOCH) * 1000, round(float(value), 3)))
        if number == 18 and is_workout and seconds(fields.get("start_time")) is not None and fields.get("total_elapsed_time"):
            start = (seconds(fields["start_time"]) + EPOCH) * 1000
            end = start + round(fields["total_elapsed_time"] * 1000)
            found.add(("sport", start, end, float((end - start) // 60000)))
    return sorted(one for one in found if one[1] >= 946684800000)


def garmin(path: str) -> list | None:
    if not Decoder(Stream.from_file(path)).check_integrity():
        return None
    messages: list = []
    decoder = Decoder(Stream.from_file(path))
    _, errors = decoder.read(mesg_listener=lambda number, fields: messages.append((number, fields)), convert_datetimes_to_dates=False)
    return None if errors else samples(messages)


def decoded(path: str) -> list | None:
    try:
        with fitdecode.FitReader(path, check_crc=fitdecode.CrcCheck.RAISE) as reader:
            return samples([(frame.global_mesg_num, {field.name: field.value for field in reversed(frame.fields)})
                            for frame in reader if isinstance(frame, fitdecode.FitDataMessage)])
    except fitdecode.FitError:
        return None


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    print(json.dumps({path: [garmin(path), decoded(path)] for path in sorted(glob.glob(join(sys.argv[2], "*.fit")))}))
