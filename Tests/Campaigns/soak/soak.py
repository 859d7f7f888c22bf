"""Watches a gateway with simulated devices for hours from outside, and checks whether it stays the same. See Tests/Campaigns/soak/run."""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import paho.mqtt.client as mqtt

SETTLED = 600  # seconds after which nothing may grow any more
GROWTH = 0.05  # tolerated growth of memory from the first hour's quarter after that to the last quarter, as a share
SPARE = 4  # tolerated growth of descriptors and threads
MODELS = ("band", "ring", "cuff", "oximeter")


class Subscriber:
    """An independent consumer: it counts samples, and checks the numbers of facts for gaps."""

    def __init__(self, port: int) -> None:
        self.samples = 0
        self.facts = 0  # all facts up to this number have come
        self.ahead: set[int] = set()  # the later ones that have come
        self.client = mqtt.Client(protocol=mqtt.MQTTv311)
        self.client.on_message = self.receive
        self.client.on_connect = lambda *_: self.client.subscribe("vitals2mqtt/soak/#", 1)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()

    def receive(self, _client, _data, message) -> None:
        try:
            body = json.loads(message.payload)
        except ValueError:
            return  # a bare word, such as `online`
        if not isinstance(body, dict):
            return
        if "/measurement/" in message.topic:
            self.samples += len(body["samples"])
        # A gap names the numbers that never come.
        ranges = [(gap["from_seq"], gap["to_seq"]) for gap in body.get("sequences", [])]
        if isinstance(number := body.get("seq"), int):
            ranges.append((number, number))
        for first, last in ranges:
            self.ahead.update(range(max(first, self.facts + 1), last + 1))
        while self.facts + 1 in self.ahead:
            self.facts += 1
            self.ahead.discard(self.facts)

    def missing(self) -> list[int]:
        return sorted(set(range(self.facts + 1, max(self.ahead, default=0))) - self.ahead)


class Process:
    """What /proc says of the gateway."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.ticks = os.sysconf("SC_CLK_TCK")

    def read(self) -> dict[str, float]:
        place = f"/proc/{self.pid}"
        with open(f"{place}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        with open(f"{place}/io", encoding="ascii") as file:
            written = dict(line.split(": ") for line in file.read().splitlines())["write_bytes"]
        with open(f"{place}/status", encoding="ascii") as file:
            status = dict(line.split(":", 1) for line in file.read().splitlines() if ":" in line)
        return {
            "memory": int(status["VmRSS"].split()[0]) * 1024 / 1e6,
            "descriptors": len(os.listdir(f"{place}/fd")),
            "threads": int(status["Threads"]),
            "processor": (int(fields[11]) + int(fields[12])) / self.ticks,
            "written": int(written),
        }


def configuration(port: int, count: int) -> dict:
    """Simulated devices of all models; each has a month of history, breaks its link now and then, and streams."""
    devices = []
    for number in range(count):
        model = MODELS[number % len(MODELS)]
        devices.append({
            "id": f"{model}-{number}", "driver": "simulator",
            "options": {"model": model, "seed": number, "history_days": 3 if model == "oximeter" else 30,
                        "live_interval": "1s", "faults": {"disconnect_every": f"{600 + 7 * number}s"}}})
    return {
        "gateway": {"id": "soak", "timezone": "Europe/Berlin"},
        "mqtt": {"url": f"mqtt://127.0.0.1:{port}"},
        "store": {"path": "soak.sqlite"},
        "devices": devices,
    }


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until_open(port: int) -> None:
    end = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def show(minute: float, row: dict[str, float], samples: int) -> None:
    print(f"{minute:7.1f} min {row['memory']:8.1f} MB {row['descriptors']:4.0f} descriptors {row['threads']:3.0f} threads "
          f"{row['processor']:8.1f} s of processor {row['written'] / 1e6:9.1f} MB written {samples:9d} samples", flush=True)


def mean(rows: list[tuple[float, dict[str, float], int]], name: str) -> float:
    return sum(row[name] for _, row, _ in rows) / len(rows)


def evaluate(rows: list[tuple[float, dict[str, float], int]]) -> list[str]:
    """What is not as it should be. Compares the first and the last quarter of the time after it has settled."""
    settled = [row for row in rows if row[0] >= SETTLED]
    findings = []
    if len(settled) < 8:
        return [f"it was too short to evaluate: it needs more than {SETTLED / 60:.0f} minutes"]
    quarter = len(settled) // 4
    first, last = settled[:quarter], settled[-quarter:]
    memory = mean(last, "memory") / mean(first, "memory") - 1
    if memory > GROWTH:
        findings.append(f"memory grew by {memory:.1%} from {mean(first, 'memory'):.1f} MB")
    for name in ("descriptors", "threads"):
        growth = mean(last, name) - mean(first, name)
        if growth > SPARE:
            findings.append(f"{name} grew by {growth:.1f}")
    seconds = settled[-1][0] - settled[0][0]
    samples = settled[-1][2] - settled[0][2]
    processor = settled[-1][1]["processor"] - settled[0][1]["processor"]
    written = settled[-1][1]["written"] - settled[0][1]["written"]
    print(f"\nafter the first {SETTLED / 60:.0f} minutes, {seconds / 60:.0f} minutes with {samples} samples:")
    for name, unit in (("memory", "MB"), ("descriptors", ""), ("threads", "")):
        values = [row[name] for _, row, _ in settled]
        print(f"  {name:12} first quarter {mean(first, name):7.1f} {unit}, last quarter {mean(last, name):7.1f} {unit}, "
              f"lowest {min(values):.1f}, highest {max(values):.1f}")
    print(f"  processor    {processor / seconds:.2%} of a core, {processor / max(samples, 1) * 1e3:.3f} ms a sample")
    print(f"  written      {written / max(samples, 1):.0f} bytes a sample, {written / seconds * 86400 / 1e6:.0f} MB a day")
    return findings


def run(arguments: argparse.Namespace, folder: str) -> list[str]:
    port = free_port()
    mosquitto = subprocess.Popen(
        ["mosquitto", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    gateway = None
    try:
        until_open(port)
        subscriber = Subscriber(port)
        path = os.path.join(folder, "soak.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(configuration(port, arguments.devices), file)  # JSON is YAML
        log = open(os.path.join(folder, "gateway.log"), "wb")
        gateway = subprocess.Popen(
            [arguments.gateway, "run", "--config", path], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, "MALLOC_ARENA_MAX": "1"})  # as the unit and the container run it
        process, began, rows = Process(gateway.pid), time.monotonic(), []
        while (passed := time.monotonic() - began) < arguments.minutes * 60:
            if gateway.poll() is not None:
                return [f"the gateway ended with status {gateway.returncode}"]
            rows.append((passed, process.read(), subscriber.samples))
            if len(rows) % 6 == 1:
                show(passed / 60, *rows[-1][1:])
            arguments.stop.wait(10)
            if arguments.stop.is_set():
                break
        findings = evaluate(rows)
        gateway.send_signal(signal.SIGTERM)
        if (status := gateway.wait(10)) != 0:
            findings.append(f"the gateway ended with status {status}")
        time.sleep(1)  # the broker still sends what it has taken
        missing = subscriber.missing()
        if missing:
            findings.append(f"{len(missing)} facts are missing, such as {missing[:5]}")
        print(f"  facts        {subscriber.facts + len(subscriber.ahead)}, missing {len(missing)}")
        return findings
    finally:
        for child in (gateway, mosquitto):
            if child is not None and child.poll() is None:
                child.kill()
                child.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--devices", type=int, default=50)
    arguments = parser.parse_args()
    arguments.stop = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: arguments.stop.set())
    with tempfile.TemporaryDirectory() as folder:
        findings = run(arguments, folder)
    for finding in findings:
        print(f"FAILED: {finding}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
