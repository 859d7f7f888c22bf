"""The strap of the trial: the example of Vitals Link, with more metrics in its history than the heart rate.

    strap.py RECORDS [argument of the example]…        RECORDS is a file: lists of samples by metric, as JSON
"""

import json
import os
import sys
from typing import Any

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "Plugins", "Link", "Examples"))

import csv_heart_rate as example  # noqa: E402


class Strap(example.Device):
    records: dict[str, list[dict]] = {}

    def initialize(self, params: dict, link: Any) -> dict:
        answer = super().initialize(params, link)
        for metric in self.records:
            answer["capabilities"][metric] = {"history": True}
        return answer

    def history_read(self, params: dict, link: Any) -> dict:
        records = self.records.get(params.get("metric", ""))
        if records is None:
            return super().history_read(params, link)
        return {"samples": [record for record in records if params["from"] <= record["start"] < params["to"]], "next": None}

    def history_acknowledge(self, params: dict, link: Any) -> dict:
        return {} if params.get("metric") in self.records else super().history_acknowledge(params, link)


if __name__ == "__main__":
    with open(sys.argv.pop(1), encoding="utf-8") as file:
        Strap.records = json.load(file)
    example.Device = Strap
    example.main()
