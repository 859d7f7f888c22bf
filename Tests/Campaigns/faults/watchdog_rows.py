"""Rows about the watchdog: a part of the real program hangs, and the service manager starts it again."""

import contextlib
import ctypes
import os
import signal
import socket
import time

from rig import TIMEOUT, Bench, require, row, until

SIGN = "WATCHDOG=1"
LIMIT = 15.0  # seconds within which a part that only computes must answer (LivenessPart.answerLimit)
WATCHDOG = 4.0  # seconds without a sign of life after which the manager of this row kills


class Manager:
    """The socket on which systemd would hear the gateway."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.heard: list[tuple[float, str]] = []

    def variables(self) -> dict:
        return {"NOTIFY_SOCKET": self.path, "WATCHDOG_USEC": str(int(WATCHDOG * 1_000_000))}

    def listen(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            with contextlib.suppress(TimeoutError):
                message = self.socket.recv(65536).decode()
                self.heard += [(time.monotonic(), line) for line in message.splitlines()]

    def lines(self) -> list[str]:
        return [line for _, line in self.heard]

    def last_sign(self) -> float:
        return max((moment for moment, line in self.heard if line == SIGN), default=0.0)


class FrozenThread:
    """One thread of another process that does nothing any more, while all others go on: a tracer that never lets it continue."""

    SEIZE, INTERRUPT = 0x4206, 0x4207

    def __init__(self, threads: list[int]) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        require(len(threads) == 1, f"{len(threads)} threads are like the one to freeze")
        self.thread = threads[0]
        for request in (self.SEIZE, self.INTERRUPT):
            require(self.libc.ptrace(request, self.thread, None, None) == 0, f"ptrace: {os.strerror(ctypes.get_errno())}")
        os.waitpid(self.thread, 0x40000000)  # __WALL: threads, too

    def end(self) -> None:
        """Takes the end of the thread, for which the end of its killed process waits."""
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.thread, 0x40000000)


def about(process: int, thread: str, what: str) -> str:
    """A file of the kernel about a thread; empty if the thread has just ended."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/task/{thread}/{what}", encoding="ascii") as file:
        return file.read().strip()
    return ""


def named(process: int, name: str) -> list[int]:
    return [int(thread) for thread in os.listdir(f"/proc/{process}/task") if about(process, thread, "comm") == name]


def timers(process: int) -> list[int]:
    """The thread that waits for all timers: of Dispatch's threads the one that sleeps in epoll_wait or epoll_pwait."""
    calls = ("232", "281") if os.uname().machine == "x86_64" else ("22",)
    return [int(thread) for thread in os.listdir(f"/proc/{process}/task")
            if about(process, thread, "comm").endswith("overcommit") and about(process, thread, "syscall").split(" ")[0] in calls]


def start_again(bench: Bench, manager: Manager, thread: FrozenThread, load) -> None:
    """What systemd does then (WatchdogSignal=SIGKILL, Restart=on-failure), and the samples that follow."""
    bench.gateway.process.send_signal(signal.SIGKILL)
    thread.end()
    bench.gateway.process.wait(TIMEOUT)
    before = len(load.acknowledged)
    bench.gateway.start(environment=manager.variables())
    until(lambda: len(load.acknowledged) > before + 100, TIMEOUT, "no samples after the restart")


@row("a part of the gateway hangs", "one thread is frozen", "no sign of life from then on; the part is named; started again, lost 0")
def stuck_part(bench: Bench) -> str:
    load = bench.peers.load("load", rate=50)
    bench.broker()
    manager = Manager(bench.folder)
    bench.gateway.write([bench.peers.device("load")])
    bench.gateway.start(environment=manager.variables())
    bench.served("load")
    manager.listen(2 * WATCHDOG)
    signs = manager.lines().count(SIGN)
    require("READY=1" in manager.lines(), "the gateway did not say that it is ready")
    require(signs >= 4, f"{signs} signs of life in {2 * WATCHDOG:.0f} s without a fault")
    thread = FrozenThread(named(bench.gateway.process.pid, "broker_network"))
    frozen = time.monotonic()
    while time.monotonic() - max(manager.last_sign(), frozen) < WATCHDOG:
        require(time.monotonic() - frozen < 3 * LIMIT, "signs of life go on, though a thread hangs")
        manager.listen(0.5)
    silent = time.monotonic() - frozen
    line = until(
        lambda: next((line for line in bench.gateway.lines if "A part of the gateway does not answer" in line), None), TIMEOUT,
        "the log names no part")
    require("liveness.part=broker_network" in line, f"the log names another part: {line}")
    start_again(bench, manager, thread, load)
    stopped = bench.gateway.stop()
    count = bench.consumer.expect_all("load", list(load.acknowledged), 20)
    return f"no sign {silent:.1f} s after the thread hung; \"broker_network\" is named; {count} samples, lost 0; stop in {stopped:.2f} s"


def event_loop(process: int) -> list[int]:
    """The thread of all TCP connections, which SwiftNIO names."""
    return [int(thread) for thread in os.listdir(f"/proc/{process}/task") if about(process, thread, "comm").startswith("NIO-ELT-")]


@row("the thread of all TCP connections hangs", "it is frozen", "it is named, offline; no sign of life; lost 0 after it")
def stuck_connections(bench: Bench) -> str:
    load = bench.peers.load("load", rate=50)
    bench.broker()
    manager = Manager(bench.folder)
    bench.gateway.write([bench.peers.device("load")])
    bench.gateway.start(environment=manager.variables())
    bench.served("load")
    statuses, newest = bench.consumer.statuses, bench.consumer.newest
    until(lambda: newest.get("gateway/state", {}).get("late") == [] and statuses[-1:] == ["online"], TIMEOUT, "not healthy")
    manager.listen(0.5)  # what was not heard until now
    thread, frozen = FrozenThread(event_loop(bench.gateway.process.pid)), time.monotonic()
    while not (late := newest["gateway/state"]["late"]):
        require(time.monotonic() - frozen < 3 * LIMIT, "gateway/state names no part")
        manager.listen(0.2)
    reported = time.monotonic() - frozen
    require("transport.tcp" in late, f"gateway/state names {late}")
    until(lambda: statuses[-1] == "offline", TIMEOUT, "gateway/status is not offline")
    manager.listen(2 * WATCHDOG)
    require(time.monotonic() - manager.last_sign() > WATCHDOG, "signs of life go on, though a thread hangs")
    start_again(bench, manager, thread, load)
    bench.gateway.stop()
    count = bench.consumer.expect_all("load", list(load.acknowledged), 20)
    return f"{late} and offline after {reported:.1f} s; {count} samples, lost 0"


@row("the thread of all timers hangs", "it is frozen; the network's is not", "gateway/state names it, gateway/status is offline; no sign of life")
def stuck_timers(bench: Bench) -> str:
    load = bench.peers.load("load", rate=50)
    bench.broker()
    manager = Manager(bench.folder)
    bench.gateway.write([bench.peers.device("load")])
    bench.gateway.start(environment=manager.variables())
    bench.served("load")
    statuses, newest = bench.consumer.statuses, bench.consumer.newest
    until(lambda: newest.get("gateway/state", {}).get("late") == [] and statuses[-1:] == ["online"], TIMEOUT, "not healthy")
    found = until(lambda: timers(bench.gateway.process.pid), TIMEOUT, "the thread of the timers does not sleep", step=0.005)
    manager.listen(0.5)  # what was not heard until now
    thread, frozen = FrozenThread(found), time.monotonic()
    while not (late := newest["gateway/state"]["late"]):
        require(time.monotonic() - frozen < 3 * LIMIT, "gateway/state names no part")
        manager.listen(0.2)
    reported = time.monotonic() - frozen
    require("timers" in late, f"gateway/state names {late}")
    until(lambda: statuses[-1] == "offline", TIMEOUT, "gateway/status is not offline")
    manager.listen(2 * WATCHDOG)
    last = manager.last_sign() - frozen
    require(last < 2 * LIMIT, f"a sign of life {last:.1f} s after the thread hung")
    require(time.monotonic() - manager.last_sign() > WATCHDOG, "signs of life go on, though a thread hangs")
    start_again(bench, manager, thread, load)
    until(lambda: newest["gateway/state"]["late"] == [] and statuses[-1] == "online", TIMEOUT, "not healthy after the restart")
    bench.gateway.stop()
    count = bench.consumer.expect_all("load", list(load.acknowledged), 20)
    return f"{late} in gateway/state and offline after {reported:.1f} s, last sign of life after {last:.1f} s; {count} samples, lost 0"
