"""Writes an export of Apple's Health app of simulated years, and knows what it comes to.

  generate.py FILE.zip [--years 10] [--seed 1]    about 200 MB of XML a year

Prints JSON: by metric how many samples, and the sums of counts by day of UTC; written by what the format is, not by what the gateway does.
"""

import argparse
import json
import random
import zipfile
from collections import Counter, defaultdict
from datetime import datetime, timedelta, timezone

WATCH, PHONE = "Anna’s Apple\u00a0Watch", "iPhone"
LAST = datetime(2026, 1, 1, tzinfo=timezone.utc)
DEVICE = "&lt;&lt;HKDevice: 0x28&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,7, software:11.3&gt;"
ZONE = timezone(timedelta(hours=2))  # that of the day of exporting
PROLOG = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE HealthData [
<!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout|ActivitySummary)*)>
<!ATTLIST HealthData
  locale CDATA #REQUIRED
<!ELEMENT Record ((MetadataEntry)*)>
<!ATTLIST CategoryType value #IMPLIED startDate CDATA #REQUIRED>
]>
<HealthData locale="de_DE">
 <ExportDate value="2026-01-01 10:00:00 +0200"/>
 <Me HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale"/>
"""


def text(moment: datetime) -> str:
    return moment.astimezone(ZONE).strftime("%Y-%m-%d %H:%M:%S %z")


class Export:
    def __init__(self, file, years: float, seed: int) -> None:
        self.file, self.random = file, random.Random(seed)
        self.days = [LAST - timedelta(days=number) for number in range(round(years * 365), 0, -1)]
        self.samples: Counter = Counter()
        self.sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.malformed = 0

    def write(self, line: str) -> None:
        self.file.write(line.encode())

    def record(self, kind: str, value, start, end, unit: str = "", source: str = WATCH, content: str = "") -> None:
        measured = f' unit="{unit}"' if unit else ""
        self.write(f' <Record type="HK{kind}" sourceName="{source}" sourceVersion="11.3" device="{DEVICE}"{measured} '
                   f'creationDate="{text(end)}" startDate="{text(start)}" endDate="{text(end)}" value="{value}"'
                   + (f">\n{content}\n </Record>\n" if content else "/>\n"))

    def count(self, metric: str, day: datetime, amount: float) -> None:
        self.samples[metric] += 1
        self.sums[metric][f"{day:%Y-%m-%d}"] += amount

    def heart_rates(self, day: datetime) -> None:
        second = self.random.randrange(1, 200)
        while second < 86_400:
            moment, motion = day + timedelta(seconds=second), self.random.choice("012")
            self.record("QuantityTypeIdentifierHeartRate", self.random.randrange(45, 180), moment, moment, "count/min",
                        content=f'  <MetadataEntry key="HKMetadataKeyHeartRateMotionContext" value="{motion}"/>')
            self.samples["heart_rate"] += 1
            second += self.random.randrange(120, 400)

    def counted(self, day: datetime, kind: str, metric: str, unit: str, most: int) -> None:
        second = self.random.randrange(1, 200)
        while second < 86_000:
            length, amount = self.random.randrange(20, 300), self.random.randrange(1, most)
            start, end = day + timedelta(seconds=second), day + timedelta(seconds=second + length)
            self.record(f"QuantityTypeIdentifier{kind}", amount, start, end, unit)
            self.count(metric, day, amount)
            second += length + self.random.randrange(0, 120)

    def phone_steps(self, day: datetime) -> None:
        """Within what the watch has counted, so that none of them counts."""
        start = day + timedelta(hours=12)
        self.record("QuantityTypeIdentifierStepCount", 777, start, start + timedelta(minutes=30), "count", PHONE)

    def left_out(self, day: datetime) -> None:
        self.record("QuantityTypeIdentifierWalkingSpeed", 4.8, day, day + timedelta(minutes=5), "km/hr")

    def night(self, day: datetime) -> None:
        moment = day + timedelta(hours=1, minutes=self.random.randrange(60))
        for _ in range(20):
            end = moment + timedelta(minutes=self.random.randrange(5, 30))
            stage = self.random.choice(["AsleepCore", "AsleepDeep", "AsleepREM", "Awake"])
            self.record("CategoryTypeIdentifierSleepAnalysis", f"HKCategoryValueSleepAnalysis{stage}", moment, end)
            moment = end
        self.samples["sleep"] += 1

    def workout(self, day: datetime) -> None:
        start = day + timedelta(hours=17)
        self.write(f' <Workout workoutActivityType="HKWorkoutActivityTypeRunning" sourceName="{WATCH}" startDate="{text(start)}" '
                   f'endDate="{text(start + timedelta(minutes=40))}">\n  <WorkoutStatistics '
                   'type="HKQuantityTypeIdentifierHeartRate" average="150" minimum="90" maximum="170" unit="count/min"/>\n </Workout>\n')
        self.samples["sport"] += 1
        if self.random.random() < 0.05:
            self.write(' <Record type="HKQuantityTypeIdentifierHeartRate" value="\x0b1>\n')
            self.malformed += 1

    def make(self) -> dict:
        self.write(PROLOG)
        for part in (self.heart_rates, lambda day: self.counted(day, "StepCount", "steps", "count", 120), self.phone_steps,
                     lambda day: self.counted(day, "ActiveEnergyBurned", "active_energy", "kcal", 9), self.left_out,
                     self.night, self.workout):
            for day in self.days:
                part(day)
        self.write("</HealthData>\n")
        return {"samples": self.samples, "sums": self.sums, "malformed": self.malformed, "left_out": len(self.days)}


def generate(path: str, years: float, seed: int) -> dict:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("apple_health_export/export.xml", "w", force_zip64=True) as file:
            return Export(file, years, seed).make()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--years", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(json.dumps(generate(options.file, options.years, options.seed)))
