"""The programs of a trial: started in order, ended in the reverse one, and none left behind."""

import os
import signal
import subprocess
import time
from typing import Any, Callable, Optional

from clock import Clock
from connection import Refused
from waiting import Finding


def until(what: str, condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Waits until a condition holds, and returns what it gave. Its own finding, if it ends with one, says why it does not; nor
    does it where something that it needs is not there yet."""
    end = time.monotonic() + seconds
    while True:
        why: Optional[Exception] = None
        try:
            found = condition()
            if found:
                return found
        except (Finding, Refused, KeyError) as error:
            why = error
        if time.monotonic() > end:
            raise Finding(f"not within {seconds:.0f} s: {what}" + (f" ({why})" if why else ""))
        time.sleep(0.1)


class Processes:
    def __init__(self, folder: str, clock: Clock) -> None:
        self.folder = folder
        self.running: list[tuple[str, subprocess.Popen]] = []
        self.clock = clock

    def log(self, name: str) -> str:
        return os.path.join(self.folder, f"{name}.log")

    def start(self, name: str, command: list[str], **options: Any) -> subprocess.Popen:
        """Starts a program in a session of its own, so that Ctrl-C reaches it in our order and not at once."""
        with open(self.log(name), "ab") as log:
            options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "env": self.clock.environment(), **options}
            process = subprocess.Popen(command, start_new_session=True, **options)
        self.running.append((name, process))
        return process

    def end(self, name: str, how: signal.Signals = signal.SIGTERM, seconds: float = 60) -> None:
        """Ends a program and whatever it started. One that does not end by itself in time is killed, which is a finding."""
        process = next(process for known, process in reversed(self.running) if known == name)
        self.running.remove((name, process))
        late = False
        if process.poll() is None:
            process.send_signal(how)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                late = True
        self.kill_group(process)
        process.wait()
        if late:
            raise Finding(f"{name} did not end within {seconds:.0f} s")

    def end_all(self) -> None:
        while self.running:
            try:
                self.end(self.running[-1][0], seconds=20)
            except Finding as finding:
                print(finding, flush=True)

    @staticmethod
    def kill_group(process: subprocess.Popen) -> None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def check(self) -> None:
        """A program that ended by itself is a finding."""
        for name, process in self.running:
            if process.poll() is not None:
                raise Finding(f"{name} ended with status {process.returncode}:\n{self.tail(name)}")

    def tail(self, name: str, lines: int = 15) -> str:
        with open(self.log(name), encoding="utf-8", errors="replace") as log:
            return "".join(log.readlines()[-lines:])
