"""A heart-rate device under load, for tests: sends samples as requests, as fast as the gateway acknowledges them.

Every acknowledged sample is written to the journal as `id start`, and counted on standard error. What was not acknowledged
when the connection broke is sent again on the next one, in the same order, as a device with a memory would.
"""

import argparse
import json
import socket
import sys
import threading
import time
import uuid

NAMESPACE = uuid.UUID("bb0af8a1-e772-4d44-b4ac-d9696c7ac5e7")
# Samples that are under way at a time.
WINDOW = 32
# Milliseconds from sample to sample; they begin so long ago that a million and a half stay fresh and in the past.
STEP = 1
PAST = 25 * 60 * 1000


class Load:
    def __init__(self, name, journal, first, rate):
        self.name = name
        self.journal = open(journal, "a", encoding="ascii")
        self.first = first
        self.acknowledged = 0
        self.rate = rate
        self.began = time.monotonic()
        self.made = 0
        self.waiting = {}  # number -> start, in the order of the numbers

    def start(self, number):
        return self.first + number * STEP

    def sample(self, number):
        start = self.start(number)
        return {"metric": "heart_rate", "start": start, "end": start, "kind": "normal", "user_initiated": False,
                "value": 60 + number % 20}

    def acknowledge(self, number):
        start = self.start(number)
        identity = uuid.uuid5(NAMESPACE, "%s|heart_rate|%d|%d|0" % (self.name, start, start))
        self.journal.write("%s %d\n" % (identity, start))
        self.journal.flush()
        self.acknowledged += 1
        print("acknowledged %d" % self.acknowledged, file=sys.stderr, flush=True)


class Connection:
    """One connection of a gateway. Samples go out from the first answered `initialize` on."""

    def __init__(self, load, connection):
        self.load = load
        self.reader = connection.makefile("rb")
        self.connection = connection
        self.lock = threading.Lock()

    def send(self, message):
        data = json.dumps(dict(message, jsonrpc="2.0"), separators=(",", ":")).encode() + b"\n"
        with self.lock:
            self.connection.sendall(data)

    def request(self, number):
        self.send({"id": "s%d" % number, "method": "sample", "params": {"sample": self.load.sample(number)}})

    def fill(self):
        while len(self.load.waiting) < WINDOW:
            number = self.load.made
            if self.load.rate:
                time.sleep(max(0, self.load.began + number / self.load.rate - time.monotonic()))
            self.load.made += 1
            self.load.waiting[number] = True
            self.request(number)

    def serve(self):
        for line in self.reader:
            message = json.loads(line)
            method = message.get("method")
            if method == "initialize":
                self.send({"id": message["id"], "result": {
                    "protocol": 1,
                    "device": {"manufacturer": "vitals2mqtt", "model": "load", "serial": self.load.name,
                               "firmware": "1", "hardware": None},
                    "capabilities": {"heart_rate": {"measure": False}},
                    "clock": {"now": int(time.time() * 1000), "utc_offset_min": 0},
                }})
                for number in list(self.load.waiting):
                    self.request(number)
                self.fill()
            elif method:
                self.send({"id": message["id"], "result": {}})
                if method == "shutdown":
                    return
            elif str(message.get("id", "")).startswith("s"):
                number = int(message["id"][1:])
                if "error" in message:
                    print("refused %s" % message["error"], file=sys.stderr, flush=True)
                elif self.load.waiting.pop(number, None):
                    self.load.acknowledge(number)
                self.fill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tcp", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--journal", required=True)
    parser.add_argument("--rate", type=float, help="samples a second at most")
    arguments = parser.parse_args()
    load = Load(arguments.name, arguments.journal, int(time.time() * 1000) - PAST, arguments.rate)
    host, _, port = arguments.tcp.rpartition(":")
    with socket.create_server((host, int(port))) as server:
        print("listening %d" % server.getsockname()[1], file=sys.stderr, flush=True)
        while True:
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with connection:
                try:
                    Connection(load, connection).serve()
                except OSError:
                    pass  # the gateway was killed


if __name__ == "__main__":
    main()
