"""Prints what has to arrive at a consumer from a CSV file of heart rates, a JSON object per line, by the contract's words."""

import csv
import json
import sys
import uuid
from datetime import datetime, timedelta, timezone

NAMESPACE = uuid.UUID("bb0af8a1-e772-4d44-b4ac-d9696c7ac5e7")

path, device = sys.argv[1:3]
with open(path, newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        start = round(float(row["epoch_s"]) * 1000)
        time = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=start)
        text = time.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (time.microsecond // 1000)
        name = "%s|heart_rate|%d|%d|0" % (device, start, start)
        print(json.dumps({
            "id": str(uuid.uuid5(NAMESPACE, name)), "start": text, "end": text, "value": float(row["bpm"]),
            "user_initiated": False,
        }))
