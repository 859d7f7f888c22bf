#!/usr/bin/env python3
"""A heart-rate device for vitals2mqtt, made of a CSV file: an example of a plugin in another language.

It speaks Vitals Link (see ../Protocol.md) over standard input and output:

    transport: {type: exec, command: [python3, csv_heart_rate.py]}

or over TCP, for the transport `tcp`:

    python3 csv_heart_rate.py --tcp 127.0.0.1:7878

The file has two columns, `epoch_s,bpm`. It is served as the device's history. Only the standard library is used;
Python 3.9 or newer. Copy it, and replace `Device` by what talks to your hardware: the rest stays.
"""

import argparse
import csv
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

# Errors of Vitals Link, beside those of JSON-RPC 2.0.
UNSUPPORTED, BUSY, INVALID, NOT_WORN, LOW_BATTERY, FAILURE = 1, 2, 3, 4, 5, 6
UNKNOWN_METHOD = -32601

METRIC = "heart_rate"

DEFAULT_CONFIGURATION = {
    "schedule": {"enabled": True, "start": 0, "end": 1440, "interval_min": 10},
    "resting_alert": {"enabled": False, "lower": 40, "upper": 120},
    "exercise_alert": {"enabled": False, "lower": 60, "upper": 180},
    "exercise_max_bpm": 190,
}


class CallError(Exception):
    """Answers the gateway's call with an error."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Device:
    """What a wearable does. The methods that `Link.METHODS` names are the calls of Vitals Link."""

    def __init__(self, samples, page_size=500, interval=1.0, state=None, signal=None):
        self.samples = samples  # [(milliseconds, bpm)], ascending
        self.page_size = page_size
        self.interval = interval
        self.state = state  # a file, or None to forget everything at the end
        self.signal = signal  # the strength of the radio's signal in dBm, or None if the device has no radio
        self.configuration = json.loads(json.dumps(DEFAULT_CONFIGURATION))
        self.clock_offset = 0  # milliseconds to add to the machine's clock
        self.measurement = None  # (id, event that stops it)
        self.measurements = 0
        if state and state.exists():
            self.configuration = json.loads(state.read_text())

    def initialize(self, params, link):
        if params.get("protocol") != 1:
            raise CallError(UNSUPPORTED, "this device speaks protocol 1")
        if self.signal is not None:
            link.after_answer(lambda: link.notify("signal", {"rssi": self.signal}))
        return {
            "protocol": 1,
            "device": {
                "manufacturer": "vitals2mqtt",
                "model": "CSV heart rate",
                "serial": "csv-1",
                "firmware": "1.0",
                "hardware": None,
            },
            "capabilities": {
                METRIC: {
                    "measure": True,
                    "monitor": True,
                    "schedule_time": True,
                    "schedule_interval": True,
                    "alert": True,
                    "history": True,
                    "rest_alert": True,
                    "exercise_alert": True,
                },
            },
            "clock": {"now": self.now(), "utc_offset_min": 0},
        }

    def time_set(self, params, link):
        self.clock_offset = integer(params, "now") - int(time.time() * 1000)
        return {}

    def history_read(self, params, link):
        check_metric(params)
        first, last = integer(params, "from"), integer(params, "to")
        limit = min(integer(params, "limit"), self.page_size)
        # A page is named by the position of its first record. The gateway gives the name back as it is.
        position = params.get("page") or 0
        if type(position) is not int or not 0 <= position <= len(self.samples):
            raise CallError(INVALID, "there is no such page")
        page = []
        while position < len(self.samples) and len(page) < limit:
            start, bpm = self.samples[position]
            position += 1
            if first <= start < last:
                page.append(sample(start, bpm))
        is_last = not any(first <= start < last for start, _ in self.samples[position:])
        return {"samples": page, "next": None if is_last else position}

    def history_acknowledge(self, params, link):
        # Everything up to `through` is safe on the gateway. A device with little memory would free it here.
        check_metric(params)
        integer(params, "through")
        return {}

    def monitor_read(self, params, link):
        check_metric(params)
        return {"configuration": self.configuration}

    def monitor_write(self, params, link):
        check_metric(params)
        # Parts that are missing stay as they are.
        changed = dict(self.configuration)
        changed.update(validated(params.get("configuration")))
        self.configuration = changed
        if self.state:
            # Written beside and renamed: a crash leaves either the old file or the new one.
            beside = self.state.with_suffix(".new")
            beside.write_text(json.dumps(changed))
            beside.replace(self.state)
        return {}

    def measurement_start(self, params, link):
        check_metric(params)
        duration = integer(params, "duration_s")
        if self.measurement:
            raise CallError(BUSY, "a measurement is running")
        self.measurements += 1
        name, stop = "m-%d" % self.measurements, threading.Event()
        self.measurement = (name, stop)
        # The answer goes out first: the gateway must know the measurement before its samples come.
        thread = threading.Thread(target=self.measure, args=(name, stop, duration, link), daemon=True)
        link.after_answer(thread.start)
        return {"measurement": name}

    def measurement_stop(self, params, link):
        if self.measurement and params.get("measurement") == self.measurement[0]:
            self.measurement[1].set()
        return {}

    def ping(self, params, link):
        return {}

    def shutdown(self, params, link):
        link.after_answer(link.close)
        return {}

    def measure(self, name, stop, duration, link):
        """Sends a few samples, then the end. It runs in a thread of its own."""
        count = max(1, min(3, int(duration / self.interval)))
        for number in range(count):
            if stop.wait(self.interval):
                break
            bpm = self.samples[number % len(self.samples)][1]
            link.notify("measurement/sample", {"measurement": name, "sample": sample(self.now(), bpm, manual=True)})
        self.measurement = None
        link.notify("measurement/ended", {"measurement": name, "completed": not stop.is_set(), "error": None})

    def now(self):
        return int(time.time() * 1000) + self.clock_offset


def sample(start, bpm, manual=False):
    return {"metric": METRIC, "start": start, "end": start, "kind": "normal", "user_initiated": manual, "value": bpm}


def check_metric(params):
    if params.get("metric") != METRIC:
        raise CallError(UNSUPPORTED, "only %s is supported" % METRIC)


def integer(params, key):
    value = params.get(key)
    if type(value) is not int:
        raise CallError(INVALID, "%s must be a whole number" % key)
    return value


def validated(configuration):
    """Checks a configuration, or a part of one. A device must not trust that the gateway did."""

    def check(good, message):
        if not good:
            raise CallError(INVALID, message)

    check(isinstance(configuration, dict), "configuration must be an object")
    for name, part in configuration.items():
        if name == "exercise_max_bpm":
            check(type(part) is int and 100 <= part <= 220, "exercise_max_bpm must be 100 to 220")
            continue
        check(name in DEFAULT_CONFIGURATION, "there is no %s" % name)
        check(isinstance(part, dict) and set(part) == set(DEFAULT_CONFIGURATION[name]), "%s is not complete" % name)
        check(type(part["enabled"]) is bool, "%s.enabled must be true or false" % name)
        numbers = [value for key, value in part.items() if key != "enabled"]
        check(all(type(value) in (int, float) for value in numbers), "%s must have numbers" % name)
        if name == "schedule":
            check(0 <= part["start"] < part["end"] <= 1440, "schedule.end must be after start")
            check(part["interval_min"] in range(5, 1441, 5), "schedule.interval_min must be a multiple of 5")
        else:
            check(20 <= part["lower"] < part["upper"] <= 300, "%s.upper must be above lower" % name)
    return configuration


class Link:
    """One line-based connection: reads calls, writes answers and notifications."""

    # Each is a method of the device, with `_` for `/`.
    METHODS = ("initialize", "time/set", "history/read", "history/acknowledge", "monitor/read", "monitor/write",
               "measurement/start", "measurement/stop", "ping", "shutdown")

    def __init__(self, device, reader, writer, faults):
        self.device = device
        self.reader = reader
        self.writer = writer
        self.faults = faults
        self.lock = threading.Lock()  # a line is written as a whole
        self.is_open = True
        self.afterwards = []

    def serve(self):
        """Answers calls until the gateway closes the connection."""
        while self.is_open:
            line = self.reader.readline()
            if not line:
                return
            try:
                call = json.loads(line)
                method, params = call["method"], call.get("params") or {}
            except (ValueError, TypeError, KeyError):
                log("W", "ignored a line that is no call")
                continue
            self.faults.received(method, params)
            if self.faults.swallows(method, self):
                continue
            self.answer(call, method, params)

    def answer(self, call, method, params):
        answer = {"jsonrpc": "2.0", "id": call.get("id")}
        try:
            if method not in self.METHODS:
                raise CallError(UNKNOWN_METHOD, "there is no method " + method)
            answer["result"] = getattr(self.device, method.replace("/", "_"))(params, self)
        except CallError as error:
            answer["error"] = {"code": error.code, "message": str(error)}
        self.send(answer)
        actions, self.afterwards = self.afterwards, []
        for action in actions:
            action()

    def after_answer(self, action):
        """Runs something as soon as the answer to the present call has been sent."""
        self.afterwards.append(action)

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, message):
        self.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def write(self, data):
        try:
            with self.lock:
                self.writer.write(data)
                self.writer.flush()
        except (OSError, ValueError):
            self.is_open = False  # the gateway has gone; `serve` finds out, too

    def close(self):
        self.is_open = False


class Faults:
    """Misbehaves as the tests of the gateway want it, and keeps a journal of what arrived. A real device has none of it."""

    def __init__(self, arguments):
        self.hang = arguments.hang
        self.die = arguments.die
        self.garbage = arguments.garbage
        self.endless_line = arguments.endless_line
        self.journal = arguments.journal

    def received(self, method, params):
        if self.journal:
            with open(self.journal, "a", encoding="utf-8") as file:
                file.write(json.dumps({"method": method, "params": params}) + "\n")

    def swallows(self, method, link):
        """Whether a call stays without an answer."""
        if method == self.die:
            log("E", "dying on purpose")
            os._exit(1)
        if self.garbage:
            link.write(b'hello\n{"jsonrpc":\n\xff\xfe\n{"method":"sample","params":{"sample":{"metric":"odd"}}}\n')
        if self.endless_line and method != "initialize":
            while link.is_open:
                link.write(b"x" * 65536)
        return method in self.hang


def log(level, message):
    """Standard error goes to the gateway's log; the first letter is the level."""
    print("%s! %s" % (level, message), file=sys.stderr, flush=True)


def read_samples(path, shift):
    with open(path, newline="", encoding="utf-8") as file:
        rows = [(round((float(row["epoch_s"]) + shift) * 1000), float(row["bpm"])) for row in csv.DictReader(file)]
    return sorted(rows)


def serve_tcp(address, device, faults):
    """Serves one gateway after the other. Port 0 takes any free port; the line on standard error says which."""
    host, _, port = address.rpartition(":")
    with socket.create_server((host, int(port))) as server:
        print("listening %d" % server.getsockname()[1], file=sys.stderr, flush=True)
        while True:
            connection, _ = server.accept()
            try:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with connection, connection.makefile("rb") as reader, connection.makefile("wb") as writer:
                    Link(device, reader, writer, faults).serve()
            except OSError as error:  # a gateway that is killed resets the connection; the next one is served
                log("W", "the connection is lost: %s" % error)


def main():
    parser = argparse.ArgumentParser(description="Serves a CSV file of heart rates over Vitals Link.")
    parser.add_argument("csv", nargs="?", type=Path, default=Path(__file__).with_name("ppg_heart_rate.csv"))
    parser.add_argument("--tcp", metavar="HOST:PORT", help="listen there instead of standard input and output")
    parser.add_argument("--page-size", type=int, default=500, help="the most samples of a page")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between the samples of a measurement")
    parser.add_argument("--shift", type=float, default=0, metavar="SECONDS", help="added to every time in the file")
    parser.add_argument("--state", type=Path, metavar="FILE", help="keeps the configuration from one start to the next")
    parser.add_argument("--signal", type=int, metavar="DBM", help="the strength of a radio's signal, reported at each connection")
    tests = parser.add_argument_group("for tests")
    tests.add_argument("--journal", metavar="FILE", help="append a line for every call")
    tests.add_argument("--hang", metavar="METHOD", action="append", default=[], help="never answer this method")
    tests.add_argument("--die", metavar="METHOD", nargs="?", const="history/read", help="exit when it is called")
    tests.add_argument("--garbage", action="store_true", help="send lines that are none before every answer")
    tests.add_argument("--endless-line", action="store_true", help="after initialize, send a line that never ends")
    arguments = parser.parse_args()
    samples = read_samples(arguments.csv, arguments.shift)
    if not samples:
        parser.error("%s has no samples" % arguments.csv)
    device = Device(samples, max(1, arguments.page_size), arguments.interval, arguments.state, arguments.signal)
    faults = Faults(arguments)
    if arguments.tcp:
        serve_tcp(arguments.tcp, device, faults)
    else:
        Link(device, sys.stdin.buffer, sys.stdout.buffer, faults).serve()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
