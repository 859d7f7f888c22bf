"""A device that does everything right. `faulty.py` changes one thing."""

import json
import os
import sys
import threading

UNSUPPORTED, BUSY, INVALID = 1, 2, 3
METRIC = "heart_rate"
START = 1_760_000_000_000


def record(minute):
    return {"metric": METRIC, "start": START + minute * 60_000, "value": 60 + minute}


class CallError(Exception):
    def __init__(self, code):
        super().__init__("refused")
        self.code = code


class Device:
    """Calls by their name, with `_` for `/`. A faulty device overrides one of them."""

    def __init__(self):
        self.configuration = {
            "schedule": {"enabled": True, "start": 0, "end": 1440, "interval_min": 10},
            "resting_alert": {"enabled": False, "lower": 40, "upper": 120},
        }
        self.running = None
        self.count = 0

    def initialize(self, params):
        abilities = {"measure": True, "monitor": True, "history": True, "rest_alert": True}
        return {"protocol": 1, "device": {"model": "Fixture"}, "capabilities": {METRIC: abilities}}

    def history_read(self, params):
        self.supported(params)
        first = params.get("page") or 0
        wanted = [r for r in map(record, range(first, 10)) if params["from"] <= r["start"] < params["to"]]
        page = wanted[: params["limit"]]
        position = page and (page[-1]["start"] - START) // 60_000 + 1
        return {"samples": page, "next": position if len(wanted) > len(page) else None}

    def monitor_read(self, params):
        self.supported(params)
        return {"configuration": self.configuration}

    def monitor_write(self, params):
        self.supported(params)
        part = params["configuration"]
        for name, value in part.items():
            low, high = ("start", "end") if name == "schedule" else ("lower", "upper")
            if name not in self.configuration or value[low] >= value[high]:
                raise CallError(INVALID)
        self.configuration = {**self.configuration, **part}
        return {}

    def measurement_start(self, params):
        self.supported(params)
        if self.running:
            raise CallError(BUSY)
        self.count += 1
        self.running = threading.Event()
        threading.Timer(0, self.measure, (self.count, self.running, params["duration_s"])).start()
        return {"measurement": self.count}

    def measurement_stop(self, params):
        if self.running and params["measurement"] == self.count:
            self.running.set()
        return {}

    def measure(self, name, stop, duration):
        stop.wait(0.05)
        sample = {"metric": METRIC, "start": START + 3_600_000, "value": 70}
        send({"method": "measurement/sample", "params": {"measurement": name, "sample": sample}})
        stopped = stop.wait(duration)
        self.running = None
        send({"method": "measurement/ended", "params": {"measurement": name, "completed": not stopped}})

    def ping(self, params):
        return {}

    def shutdown(self, params):
        threading.Timer(0.05, os._exit, (0,)).start()
        return {}

    def supported(self, params):
        if params.get("metric") != METRIC:
            raise CallError(UNSUPPORTED)

    def answer(self, call):
        """The answer to a call, as a line of text; `None` for none."""
        answer = {"jsonrpc": "2.0", "id": call["id"]}
        method = getattr(self, call["method"].replace("/", "_"), None)
        try:
            if not method:
                raise CallError(-32601)
            answer["result"] = method(call["params"])
        except CallError as error:
            answer["error"] = {"code": error.code, "message": str(error)}
        return json.dumps(answer)

    def serve(self):
        for line in sys.stdin:
            answer = self.answer(json.loads(line))
            if answer is not None:
                write(answer)
        os._exit(0)


lock = threading.Lock()


def write(text):
    with lock:
        print(text, flush=True)


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


if __name__ == "__main__":
    Device().serve()
