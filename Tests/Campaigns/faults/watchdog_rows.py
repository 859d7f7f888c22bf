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


def threads(process: int, matches) -> list[int]:
    """The threads whose name is so."""
    return [int(thread) for thread in os.listdir(f"/proc/{process}/task") if matches(thread, about(process, thread, "comm"))]


def network(process: int) -> list[int]:
    return threads(process, lambda _, name: name == "broker_network")


def event_loop(process: int) -> list[int]:
    """The thread of all TCP connections, which SwiftNIO names."""
    return threads(process, lambda _, name: name.startswith("NIO-ELT-"))


def timers(process: int) -> list[int]:
    """The thread that waits for all timers: of Dispatch's threads the one that sleeps in epoll_wait or epoll_pwait."""
    calls = ("232", "281") if os.uname().machine == "x86_64" else ("22",)
    return threads(process, lambda thread, name: name.endswith("overcommit")
                   and about(process, thread, "syscall").split(" ")[0] in calls)


class Watched:
    """A gateway under a service manager, of which one thread is frozen."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.manager = Manager(bench.folder)
        (self.load,) = bench.begin("load", start={"environment": self.manager.variables()})
        self.newest, self.statuses = bench.consumer.newest, bench.consumer.statuses

    def is_healthy(self) -> bool:
        return self.newest.get("gateway/state", {}).get("late") == [] and self.statuses[-1:] == ["online"]

    def freeze(self, find) -> None:
        found = until(lambda: find(self.bench.gateway.process.pid), TIMEOUT, "the thread is not there", step=0.005)
        self.manager.listen(0.5)  # what was not heard until now
        self.thread, self.frozen = FrozenThread(found), time.monotonic()

    def hang(self, find, part: str) -> str:
        """Freezes a thread, and checks that the part is reported, and that the manager hears no sign of life any more."""
        until(self.is_healthy, TIMEOUT, "not healthy")
        self.freeze(find)
        while not (late := self.newest["gateway/state"]["late"]):
            require(time.monotonic() - self.frozen < 3 * LIMIT, "gateway/state names no part")
            self.manager.listen(0.2)
        reported = time.monotonic() - self.frozen
        require(part in late, f"gateway/state names {late}")
        until(lambda: self.statuses[-1] == "offline", TIMEOUT, "gateway/status is not offline")
        self.manager.listen(2 * WATCHDOG)
        last = self.manager.last_sign() - self.frozen
        require(last < 2 * LIMIT, f"a sign of life {last:.1f} s after the thread hung")
        require(time.monotonic() - self.manager.last_sign() > WATCHDOG, "signs of life go on, though a thread hangs")
        self.start_again()
        until(self.is_healthy, TIMEOUT, "not healthy after the restart")
        return f"{late} in gateway/state and offline after {reported:.1f} s, last sign of life after {last:.1f} s; {self.end()}"

    def start_again(self) -> None:
        """What systemd does then (WatchdogSignal=SIGKILL, Restart=on-failure), and the samples that follow."""
        self.bench.gateway.process.send_signal(signal.SIGKILL)
        self.thread.end()
        self.bench.gateway.process.wait(TIMEOUT)
        self.bench.gateway.start(environment=self.manager.variables())
        self.load.flow(100, what="no samples after the restart")

    def end(self) -> str:
        stopped = self.bench.gateway.stop()
        return f"{self.bench.received('load', seconds=20)} samples, lost 0; stop in {stopped:.2f} s"


@row("a part of the gateway hangs", "one thread is frozen", "no sign of life from then on; the part is named; started again, lost 0")
def stuck_part(bench: Bench) -> str:
    watched = Watched(bench)
    manager = watched.manager
    manager.listen(2 * WATCHDOG)
    signs = manager.lines().count(SIGN)
    require("READY=1" in manager.lines(), "the gateway did not say that it is ready")
    require(signs >= 4, f"{signs} signs of life in {2 * WATCHDOG:.0f} s without a fault")
    watched.freeze(network)
    while time.monotonic() - max(manager.last_sign(), watched.frozen) < WATCHDOG:
        require(time.monotonic() - watched.frozen < 3 * LIMIT, "signs of life go on, though a thread hangs")
        manager.listen(0.5)
    silent = time.monotonic() - watched.frozen
    line = until(
        lambda: next((line for line in bench.gateway.lines if "A part of the gateway does not answer" in line), None), TIMEOUT,
        "the log names no part")
    require("liveness.part=broker_network" in line, f"the log names another part: {line}")
    watched.start_again()
    return f"no sign {silent:.1f} s after the thread hung; \"broker_network\" is named; {watched.end()}"


@row("the thread of all TCP connections hangs", "it is frozen", "it is named, offline; no sign of life; lost 0 after it")
def stuck_connections(bench: Bench) -> str:
    return Watched(bench).hang(event_loop, "transport.tcp")


@row("the thread of all timers hangs", "it is frozen; the network's is not", "gateway/state names it, gateway/status is offline; no sign of life")
def stuck_timers(bench: Bench) -> str:
    return Watched(bench).hang(timers, "timers")
