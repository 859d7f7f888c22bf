#!/usr/bin/env python3
"""A phone that posts one document after the other, and prints the number of each that was answered with 200.

    posting_phone.py PORT DEVICE TOKEN FIRST COUNT

A document has one heart rate, at so many seconds after 2026-01-05 12:00 as its number says. It ends when the gateway is gone.
"""
import datetime
import http.client
import json
import sys
import time

port, device, token, first, count = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
start = datetime.datetime(2026, 1, 5, 12)
connection = None
number = first
begin = time.monotonic()
while number < first + count:
    moment = (start + datetime.timedelta(seconds=number)).strftime("%Y-%m-%d %H:%M:%S +0000")
    entry = {"date": moment, "Min": 50, "Avg": 60 + number % 40, "Max": 120}
    document = {"data": {"metrics": [{"name": "heart_rate", "units": "count/min", "data": [entry]}]}}
    try:
        connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", f"/v1/devices/{device}", json.dumps(document), {
            "Content-Type": "application/json", "Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        response.read()
        if response.status == 200:
            print(number, flush=True)
            number += 1
            continue
        connection.close()
        connection = None
    except ConnectionRefusedError:
        # It does not listen yet, or no longer.
        connection = None
        if number > first or time.monotonic() - begin > 60:
            sys.exit(0)
    except (OSError, http.client.HTTPException):
        sys.exit(0)
    time.sleep(0.05)
