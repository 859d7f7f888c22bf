"""A wearable that does what good ones seldom do, for tests: one on standard input and output.

Its history of heart rates begins with very many that cannot be true. It measures stress without a good reading, refuses to
stop a measurement of temperature, cannot say how it monitors stress, and hangs up while blood oxygen is configured.
"""

import json
import sys
import time

NOW = int(time.time()) * 1000
PAGES, PAGE = 40, 50
CAPABILITIES = {
    "heart_rate": {"measure": True, "history": True}, "stress": {"measure": True, "monitor": True},
    "temperature": {"measure": True}, "blood_oxygen": {"monitor": True, "schedule_time": True},
}
schedule = {"enabled": False, "start": 480, "end": 1200, "interval_min": 30}
running = 0


def send(message):
    sys.stdout.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")
    sys.stdout.flush()


def notify(method, **params):
    send({"method": method, "params": params})


def rate(value, start):
    return {"metric": "heart_rate", "start": start, "end": start, "value": value}


def history(params):
    page = params.get("page") or 0
    begin = NOW - 3600_000 + page * PAGE * 1000
    if params["metric"] != "heart_rate":
        return {"samples": [], "next": None}
    if page < PAGES:
        return {"samples": [rate(900, begin + i * 1000) for i in range(PAGE)], "next": page + 1}
    return {"samples": [rate(61, begin)], "next": None}


def measure(metric):
    """Starts a measurement, and says of it what there is to say."""
    global running
    running += 1
    if metric == "stress":
        notify("measurement/error", measurement=running, error={"code": 4, "message": "Put it on."})
        notify("measurement/sample", measurement=running, sample={"metric": "stress", "start": NOW, "value": 500})
        notify("measurement/ended", measurement=running, completed=True, error=None)
    return {"measurement": running}


class Refusal(Exception):
    pass


def answer(method, params):
    if method == "initialize":
        return {"protocol": 1, "device": {"model": "Strange"}, "capabilities": CAPABILITIES}
    if method == "history/read":
        return history(params)
    if method == "measurement/start":
        return measure(params["metric"])
    if method == "measurement/stop":
        if params["measurement"] == 1:
            raise Refusal("It is stuck.")
        notify("measurement/ended", measurement=params["measurement"], completed=False, error=None)
        return {}
    if method == "monitor/read":
        if params["metric"] == "stress":
            raise Refusal("Not now.")
        return {"configuration": {"schedule": schedule}}
    if method == "monitor/write":
        sys.exit()
    return {}


for line in sys.stdin:
    call = json.loads(line)
    if "method" not in call:
        continue
    try:
        send({"id": call["id"], "result": answer(call["method"], call["params"])})
    except Refusal as refusal:
        send({"id": call["id"], "error": {"code": 2, "message": str(refusal)}})
    if call["method"] == "initialize":
        notify("wear", worn=True)
        notify("battery", percent=50, charging=False)
        notify("signal", rssi=-61)
