"""What every row of Tests/Campaigns/faults/run has: a mosquitto, a gateway, a consumer, and the list of the rows."""

import contextlib
import ctypes
import json
import os
import resource
import socket
import subprocess
import sys
import threading
import time
import uuid

import paho.mqtt.client as mqtt

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "storm"))
import gateway as storm  # noqa: E402
from gateway import Finding  # noqa: E402
from middle import Middle  # noqa: E402

ROOT = "vitals2mqtt/storm"
# The name space of sample ids; the contract says how an id is computed.
NAMESPACE = uuid.UUID("bb0af8a1-e772-4d44-b4ac-d9696c7ac5e7")
# To take a capability from a process (linux/prctl.h, linux/capability.h).
LIBC = ctypes.CDLL(None)
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
TIMEOUT = 60.0  # seconds for anything that takes less than a few

ROWS = []


def row(fault: str, done: str, holds: str):
    """Adds a row to the table. The function gets the bench and returns the result in words."""
    def add(function):
        ROWS.append((function.__name__, fault, done, holds, function))
        return function
    return add


def require(condition: bool, what: str) -> None:
    if not condition:
        raise Finding(what)


def until(condition, seconds: float, what: str, step: float = 0.05):
    """Waits until the condition gives something, and returns that."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise Finding(f"{what} within {seconds:.0f} s")
        time.sleep(step)
    return value


def sample_id(device: str, start: int) -> str:
    return str(uuid.uuid5(NAMESPACE, f"{device}|heart_rate|{start}|{start}|0"))


class Gateway(storm.Gateway):
    """The program, with limits and a log of the row's choice."""

    def __init__(self, program: str, folder: str, broker: int) -> None:
        super().__init__(program, folder, broker)
        # Rows need what only version 5 has; `auto` is 3.1.1 with an old library.
        self.mqtt: dict = {"protocol": "5"}
        self.peak = 0.0  # MiB of memory before the last stop
        self.store = os.path.join(folder, "storm.sqlite")

    def write(self, devices: list[dict], **sections) -> None:
        mqtt_section = {"url": f"mqtt://127.0.0.1:{self.broker}", **self.mqtt}
        self.configure(devices, **{"mqtt": mqtt_section, "store": {"path": self.store}, **sections})

    def start(self, limits: dict | None = None, log=None, environment: dict | None = None, overrides_modes: bool = True) -> None:
        """Starts it with these resource limits and variables. With `log`, its standard error goes to this descriptor. Without
        `overrides_modes`, the modes of files hold for root, too."""
        def limit() -> None:
            for kind, value in (limits or {}).items():
                resource.setrlimit(kind, (value, value))
            for capability in [] if overrides_modes else [CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH]:
                LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        self.lines = []
        self.process = subprocess.Popen(
            [self.program, "run", "--config", self.path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=log if log is not None else subprocess.PIPE, text=True, errors="replace",
            preexec_fn=limit if limits or not overrides_modes else None, env={**os.environ, **(environment or {})})
        if log is None:
            threading.Thread(target=self.read, args=(self.process.stderr,), daemon=True).start()

    def stop(self) -> float:
        self.peak = self.memory_mib()
        return super().stop()

    def refuses(self, status: int, reason: str, **start) -> None:
        """Starts it, and wants it to end at once with this status and reason."""
        self.start(**start)
        until(lambda: self.process.poll() is not None, 30, "it does not refuse to start")
        found = self.process.returncode
        until(lambda: any(reason in line for line in self.lines), TIMEOUT, f"no line has {reason!r}: {self.lines[-3:]}")
        require(found == status, f"it ended with status {found}: {self.lines[-3:]}")

    def processor_seconds(self) -> float:
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self) -> float:
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            peak = next(line for line in file if line.startswith("VmHWM:"))
        return int(peak.split()[1]) / 1024


class Consumer:
    """An independent client of the broker, which keys on `id` and remembers what the rows ask for."""

    def __init__(self, port: int) -> None:
        self.lock = threading.Lock()
        self.ids: dict[tuple[str, int], set[str]] = {}  # the ids of each device and start
        self.answers: dict[str, list[str]] = {}  # the final statuses of each command
        self.codes: dict[str, str | None] = {}  # of the last of them
        self.facts: dict[int, set[tuple]] | None = None  # what came under each number, if a row wants to know
        self.gaps: list[dict] = []
        self.newest: dict[str, dict] = {}  # the newest payload of each topic
        self.statuses: list[str] = []  # what gateway/status said, in order
        self.largest = 0
        self.connected = threading.Event()
        self.client = mqtt.Client(protocol=mqtt.MQTTv311)
        self.client.max_queued_messages_set(0)
        self.client.max_inflight_messages_set(1000)
        self.client.reconnect_delay_set(0.1, 0.5)
        self.client.on_message = self.receive
        self.client.on_connect = self.subscribe
        self.client.on_subscribe = lambda *_: self.connected.set()
        self.client.connect_async("127.0.0.1", port)
        self.client.loop_start()

    def subscribe(self, client, *_) -> None:
        client.subscribe(f"{ROOT}/#", 1)

    def receive(self, _client, _data, message) -> None:
        levels = message.topic.split("/")
        if len(levels) < 4 or "command" in levels or not message.payload:
            return
        with self.lock:
            self.largest = max(self.largest, len(message.payload))
            if levels[2:] == ["gateway", "status"]:
                self.statuses.append(message.payload.decode())
            if levels[3] in ("measurement", "response", "event", "state", "link", "info", "config"):
                self.note(levels, json.loads(message.payload))

    def note(self, levels: list[str], body) -> None:
        self.newest["/".join(levels[2:])] = body
        if self.facts is not None and levels[3:] != ["event", "history"] and body.get("seq") is not None:
            content = (sample["id"] for sample in body.get("samples", ()))
            self.facts.setdefault(body["seq"], set()).add((levels[2], *levels[3:], *content))
        if levels[3] == "measurement":
            for sample in body["samples"]:
                start = milliseconds(sample["start"])
                self.ids.setdefault((levels[2], start), set()).add(sample["id"])
        elif levels[3] == "response" and body["status"] != "accepted":
            self.codes[body["id"]] = body.get("code")
            self.answers.setdefault(body["id"], []).append(body["status"])
        elif levels[3:] == ["event", "gap"]:
            self.gaps.append({"device": levels[2], **body})

    def send(self, device: str, command: str, name: str, **members) -> None:
        self.client.publish(f"{ROOT}/{device}/command/{command}", json.dumps({"id": name, **members}), 1)

    def ask(self, device: str, command: str, name: str, seconds: float = TIMEOUT, **members) -> str:
        """Sends a command and returns its final status."""
        self.send(device, command, name, **members)
        return until(lambda: self.answers.get(name), seconds, f"no final answer of {command} for {device}")[0]

    def known(self) -> dict[tuple[str, int], set[str]]:
        with self.lock:
            return dict(self.ids)

    def lost(self, device: str, starts) -> list[int]:
        with self.lock:
            return [start for start in starts if sample_id(device, start) not in self.ids.get((device, start), ())]

    def refused(self) -> list[tuple[int, int]]:
        """The numbers that gaps with the reason `refused` name."""
        with self.lock:
            return [(item["from_seq"], item["to_seq"]) for gap in self.gaps if gap["reason"] == "refused"
                    for item in gap["sequences"]]

    def expect_all(self, device: str, starts, seconds: float = TIMEOUT) -> int:
        """Waits for these samples. Returns how many there are, after a check that none has a second id."""
        starts = list(starts)
        try:
            until(lambda: not self.lost(device, starts), seconds, "not all samples", step=0.2)
        except Finding:
            lost = self.lost(device, starts)
            raise Finding(f"{len(lost)} of {len(starts)} samples of {device} are lost: {lost[:5]}") from None
        second = [key for key, ids in self.known().items() if len(ids) != 1]
        require(not second, f"{len(second)} samples have a second id: {second[:5]}")
        return len(starts)

    def end(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def milliseconds(text: str) -> int:
    """The milliseconds of a time of the contract, such as 2026-11-21T07:31:04.120Z."""
    seconds, fraction = text[:-1].split(".")
    return calendar_seconds(seconds) * 1000 + int(fraction)


def calendar_seconds(text: str, known: dict = {}) -> int:
    if text not in known:
        if len(known) > 10_000:
            known.clear()
        import calendar
        known[text] = calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    return known[text]


class Mosquitto:
    """The broker, on one port through all of its restarts."""

    def __init__(self, folder: str) -> None:
        self.port = free_port()
        self.path = os.path.join(folder, "mosquitto.conf")
        self.process = None

    def start(self, *lines: str) -> None:
        text = [f"listener {self.port} 127.0.0.1", "allow_anonymous true", "max_queued_messages 1000000",
                "max_inflight_messages 1000", *lines]
        if os.geteuid() == 0:
            text.append("user root")  # otherwise it becomes a user that cannot read the row's folder
        with open(self.path, "w", encoding="ascii") as file:
            file.write("\n".join(text) + "\n")
        self.process = subprocess.Popen(
            ["mosquitto", "-c", self.path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self.is_open, TIMEOUT, "mosquitto does not listen")

    def is_open(self) -> bool:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        return False

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)


class Bench:
    """One row's own broker, gateway, consumer and folder."""

    def __init__(self, program: str, folder: str, peers, is_quick: bool, kills: int) -> None:
        self.folder = folder
        self.is_quick = is_quick
        self.kills = kills  # in each row about kills
        self.peers = peers
        self.mosquitto = Mosquitto(folder)
        self.gateway = Gateway(program, folder, self.mosquitto.port)
        self.consumer = None
        self.cleanups = []

    def broker(self, *lines: str) -> None:
        """Starts the broker with these settings, and waits until the consumer listens."""
        if self.consumer is not None:
            self.consumer.connected.clear()
        self.mosquitto.start(*lines)
        if self.consumer is None:
            self.consumer = Consumer(self.mosquitto.port)
        require(self.consumer.connected.wait(TIMEOUT), "the consumer is not connected")

    def through_middle(self) -> Middle:
        middle = Middle(self.mosquitto.port)
        self.gateway.broker = middle.port
        return middle

    def served(self, device: str, seconds: float = TIMEOUT) -> None:
        until(lambda: self.consumer.newest.get(f"{device}/link", {}).get("state") == "connected", seconds,
              f"{device} is not connected")

    def end_loads(self, *names: str) -> None:
        """Ends these loads, and waits until each of their samples is acknowledged."""
        loads = [self.peers.loads[name] for name in names]
        for load in loads:
            load.is_over = True
        until(lambda: not any(load.waiting for load in loads), TIMEOUT, "samples without an answer")

    def settle(self, *names: str) -> int:
        """Ends these loads and stops the gateway, once all of their samples are there. Returns how many there are.

        A stop waits a second for what is on its way; what waits behind a cut connection comes only after the next start.
        """
        self.end_loads(*names)
        count = sum(self.consumer.expect_all(name, list(self.peers.loads[name].acknowledged)) for name in names)
        self.gateway.stop()
        return count

    def end(self) -> None:
        for cleanup in reversed(self.cleanups):
            with contextlib.suppress(Exception):
                cleanup()
        self.gateway.kill()
        if self.consumer is not None:
            self.consumer.end()
        self.mosquitto.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
