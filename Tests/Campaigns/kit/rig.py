"""What every row of a campaign has: a mosquitto, a gateway, a consumer, devices, and the list of the rows."""

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import threading
import time
from types import SimpleNamespace
from typing import Callable, NamedTuple

from consumer import ROOT, Consumer  # noqa: F401  for the rows, too
from middle import Middle
from peers import Load, Peers, sample_id  # noqa: F401
from waiting import TIMEOUT, Finding, free_port, require, until

# To take a capability from a process (linux/prctl.h, linux/capability.h).
LIBC = ctypes.CDLL(None)
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


class Row(NamedTuple):
    name: str
    fault: str
    done: str
    holds: str
    is_apart: bool  # runs only where it is named
    numbers: dict  # `--set` changes them
    function: Callable[["Bench"], str]


ROWS: list[Row] = []


def row(fault: str, done: str, holds: str, is_apart: bool = False, name: str = "", **numbers):
    """Adds a row to the table. The function, whose name is the row's, gets the bench and returns the result in words."""
    def add(function):
        ROWS.append(Row(name or function.__name__, fault, done, holds, is_apart, numbers, function))
        return function
    return add


class Gateway:
    """One run of the program after the other, on the same store."""

    STOP = 6.0  # maximum seconds of a clean end; five are promised
    LATE = "A part of the gateway does not answer"  # what it logs when it finds itself stuck

    def __init__(self, program: str, folder: str, broker: int) -> None:
        self.program, self.broker = program, broker
        self.path = os.path.join(folder, "gateway.yaml")
        self.store = os.path.join(folder, "storm.sqlite")
        # Rows need what only version 5 has; `auto` is 3.1.1 with an old library.
        self.mqtt: dict = {"protocol": "5"}
        self.peak = 0.0  # MiB of memory before the last stop
        self.process = None
        self.lines: list[str] = []  # the newest of its log
        self.late = ""

    def write(self, devices: list[dict], **sections) -> None:
        """Writes the configuration; a section replaces the usual one."""
        configuration = {
            "gateway": {"id": "storm", "timezone": "Etc/UTC"},
            "mqtt": {"url": f"mqtt://127.0.0.1:{self.broker}", **self.mqtt},
            "store": {"path": self.store},
            "home_assistant": {"discovery": "off"},
            "devices": devices,
            **sections,
        }
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(configuration, file)  # JSON is YAML
        os.replace(self.path + ".new", self.path)

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
            threading.Thread(target=self.read, args=(self.process.stderr, self.lines), daemon=True).start()

    def read(self, log, lines: list[str]) -> None:
        """Reads the log of one run: what the run before wrote last may come only after the next has begun."""
        for line in log:
            lines.append(line)
            if self.LATE in line:
                self.late = line
            del lines[:-2000]

    def said(self, text: str) -> bool:
        return any(text in line for line in list(self.lines))

    def wait_for(self, text: str, seconds: float) -> None:
        """Waits for a line of the log."""
        until(lambda: self.said(text), seconds, f"the gateway did not log '{text}'", step=0.01)

    def reload(self) -> None:
        self.process.send_signal(signal.SIGHUP)

    def stop(self) -> float:
        """Ends it as systemd does. Returns how long that took."""
        with contextlib.suppress(OSError, KeyError):  # it has ended by itself
            self.peak = self.figures()["peak"]
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(self.STOP)
        except subprocess.TimeoutExpired:
            raise Finding(f"SIGTERM did not end the gateway within {self.STOP:.0f} s") from None
        require(status == 0, f"the gateway ended with status {status}")
        return time.monotonic() - began

    def check(self) -> None:
        require(self.process.poll() is None, f"the gateway ended with status {self.process.returncode}")
        require(not self.late, f"the gateway logged that a part of it is late: {self.late.strip()}")

    def refuses(self, status: int, reason: str, **start) -> None:
        """Starts it, and wants it to end at once with this status and reason."""
        self.start(**start)
        until(lambda: self.process.poll() is not None, 30, "it does not refuse to start")
        found = self.process.returncode
        until(lambda: self.said(reason), TIMEOUT, f"no line has {reason!r}: {self.lines[-3:]}")
        require(found == status, f"it ended with status {found}: {self.lines[-3:]}")

    def figures(self) -> dict[str, float]:
        """What the kernel says of the process: MiB of memory now and at most, descriptors, threads, seconds of processor, and bytes
        written to disk."""
        place = f"/proc/{self.process.pid}"
        with open(f"{place}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        with open(f"{place}/io", encoding="ascii") as file:
            written = dict(line.split(": ") for line in file.read().splitlines())["write_bytes"]
        with open(f"{place}/status", encoding="ascii") as file:
            status = dict(line.split(":", 1) for line in file.read().splitlines())
        return {
            "memory": int(status["VmRSS"].split()[0]) / 1024, "peak": int(status["VmHWM"].split()[0]) / 1024,
            "descriptors": len(os.listdir(f"{place}/fd")), "threads": int(status["Threads"]),
            "processor": (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), "written": int(written)}

    def stacks(self) -> str:
        """The stacks of all threads of a process that is stuck."""
        if self.process is None or self.process.poll() is not None:
            return ""
        command = ["gdb", "-p", str(self.process.pid), "-batch", "-ex", "thread apply all backtrace 24"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


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

    topics = "#"  # that the consumer subscribes to

    def __init__(self, program: str, folder: str, peers: Peers | None = None, is_quick: bool = False, kills: int = 0) -> None:
        self.folder = folder
        self.is_quick = is_quick
        self.kills = kills  # in each row about kills
        self.numbers = SimpleNamespace()
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
            self.consumer = Consumer(self.mosquitto.port, self.topics)
        require(self.consumer.connected.wait(TIMEOUT), "the consumer is not connected")

    def through_middle(self) -> Middle:
        middle = Middle(self.mosquitto.port)
        self.gateway.broker = middle.port
        return middle

    def write(self, *names: str, more: tuple[dict, ...] = (), **sections) -> None:
        """Writes a configuration with these peers, and with more devices."""
        self.gateway.write([*map(self.peers.device, names), *more], **sections)

    def begin(self, *names: str, rate: float | None = 50, broker: tuple[str, ...] = (), start: dict | None = None, **options) -> list[Load]:
        """Starts the broker with these lines, and the gateway with these load devices; see `write` for options. Returns the loads once
        the devices are connected."""
        loads = [self.peers.load(name, rate) for name in names]
        self.broker(*broker)
        self.write(*names, **options)
        self.gateway.start(**(start or {}))
        for name in names:
            self.served(name)
        return loads

    def served(self, device: str, seconds: float = TIMEOUT) -> None:
        until(lambda: self.consumer.newest.get(f"{device}/link", {}).get("state") == "connected", seconds,
              f"{device} is not connected")

    def end_loads(self, *names: str) -> None:
        """Ends these loads, and waits until each of their samples is acknowledged."""
        loads = [self.peers.loads[name] for name in names]
        for load in loads:
            load.is_over = True
        until(lambda: not any(load.waiting for load in loads), TIMEOUT, "samples without an answer")

    def received(self, *names: str, seconds: float = TIMEOUT) -> int:
        """Waits until all that was acknowledged to these loads is there. Returns how many samples that are."""
        return sum(self.consumer.expect_all(name, list(self.peers.loads[name].acknowledged), seconds) for name in names)

    def settle(self, *names: str) -> int:
        """Ends these loads and stops the gateway, once all of their samples are there. Returns how many there are.

        A stop waits a second for what is on its way; what waits behind a cut connection comes only after the next start.
        """
        self.end_loads(*names)
        count = self.received(*names)
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


def secret(bench: Bench, name: str, text: str) -> dict:
    """A secret in a file of the row, as a configuration names it."""
    path = os.path.join(bench.folder, name)
    with open(path, "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(text)
    return {"file": path}
