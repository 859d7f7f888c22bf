"""The example of Vitals Link as a strap that takes its time: a person sees how far its history is, and a setting that it does not have yet.

    strap.py RATES.csv --tcp HOST:PORT
"""

import os
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "Plugins", "Link", "Examples"))

import csv_heart_rate as example  # noqa: E402

PAGE = 1.5  # seconds that it needs for a page of its history
SETTINGS = 8  # seconds that it needs for settings, longer than the page waits for them


class Strap(example.Device):
    def history_read(self, params: dict, link) -> dict:
        time.sleep(PAGE)
        return super().history_read(params, link)

    def monitor_write(self, params: dict, link) -> dict:
        time.sleep(SETTINGS)
        return super().monitor_write(params, link)


if __name__ == "__main__":
    example.Device = Strap
    example.main()
