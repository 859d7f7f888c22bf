"""The gateway in a storm: its process, what it holds, and how it ends."""

import json
import os
import signal
import subprocess
import threading
import time


class Finding(Exception):
    """Something was not served within its limit, or is left over."""


class Gateway:
    """One run of the program after the other, on the same store."""

    STOP = 6.0  # maximum seconds of a clean end; five are promised
    LATE = "A part of the gateway does not answer"  # what it logs when it finds itself stuck

    def __init__(self, program: str, folder: str, broker: int) -> None:
        self.program = program
        self.folder = folder
        self.broker = broker
        self.path = os.path.join(folder, "gateway.yaml")
        self.process = None
        self.news = threading.Condition()
        self.lines: list[str] = []
        self.late = ""

    def configure(self, devices: list[dict], **sections) -> None:
        """Writes the configuration; a section replaces the usual one."""
        configuration = {
            "gateway": {"id": "storm", "timezone": "Etc/UTC"},
            "mqtt": {"url": f"mqtt://127.0.0.1:{self.broker}"},
            "store": {"path": "storm.sqlite"},
            "home_assistant": {"discovery": "off"},
            "devices": devices,
            **sections,
        }
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(configuration, file)  # JSON is YAML
        os.replace(self.path + ".new", self.path)

    def start(self) -> None:
        self.lines = []
        self.process = subprocess.Popen(
            [self.program, "run", "--config", self.path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, args=(self.process.stderr,), daemon=True).start()

    def read(self, lines) -> None:
        for line in lines:
            with self.news:
                self.lines.append(line)
                if self.LATE in line:
                    self.late = line
                del self.lines[:-2000]
                self.news.notify_all()

    def wait_for(self, text: str, seconds: float) -> None:
        """Waits for a line of the log."""
        end = time.monotonic() + seconds
        with self.news:
            while not any(text in line for line in self.lines):
                if not self.news.wait(max(0, end - time.monotonic())) or time.monotonic() > end:
                    raise Finding(f"the gateway did not log '{text}' within {seconds:.0f} s")

    def reload(self) -> None:
        self.process.send_signal(signal.SIGHUP)

    def stop(self) -> float:
        """Ends it as systemd does. Returns how long that took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(self.STOP)
        except subprocess.TimeoutExpired:
            raise Finding(f"SIGTERM did not end the gateway within {self.STOP:.0f} s") from None
        if status != 0:
            raise Finding(f"the gateway ended with status {status}")
        return time.monotonic() - began

    def check(self) -> None:
        if self.process.poll() is not None:
            raise Finding(f"the gateway ended with status {self.process.returncode}")
        if self.late:
            raise Finding(f"the gateway logged that a part of it is late: {self.late.strip()}")

    def held(self) -> tuple[int, int]:
        """How many descriptors and threads the process has."""
        place = f"/proc/{self.process.pid}"
        return len(os.listdir(f"{place}/fd")), len(os.listdir(f"{place}/task"))

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
