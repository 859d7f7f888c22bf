"""The programs of the guest, and what is found out about them."""

import glob
import os
import socket
import subprocess
import time
from typing import Any, Callable

import figures

FOLDER = os.path.dirname(os.path.abspath(__file__))
LOGS = os.path.join(FOLDER, "logs")
STATE = "/tmp/gateway"  # the gateway's own folder, in the guest's memory
CONFIGURATION = f"{STATE}/gateway.yaml"
# What Plugins/BlueZ/README.md promises in "How soon a device is connected".
START = 60  # seconds from the gateway's start until all is reported: an emulated processor is some ten times slower
BACK = 20  # seconds from a cause until its links are back, and what was stored meanwhile is reported
USER = 10001  # whom the gateway runs as

# As an ordinary user without groups: bluetoothd's rights must be enough.
VITALS2MQTT = [
    "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs", f"{FOLDER}/vitals2mqtt"]
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": f"{FOLDER}/libraries"}

processes: dict[str, subprocess.Popen] = {}
failures: list[str] = []
began = time.monotonic()


def start(name: str, command: list[str], **options: Any) -> subprocess.Popen:
    if "stdout" not in options:
        options["stdout"] = open(os.path.join(LOGS, name), "ab")
    process = subprocess.Popen(command, stderr=open(os.path.join(LOGS, f"{name}.errors"), "ab"), **options)
    processes[name] = process
    return process


def until(what: str, holds: Callable[[], bool], within: float, since: float | None = None) -> None:
    """Waits until something holds, at most so many seconds since its cause; without one, since now. Checks of one cause share its
    clock, so that what waits for another device is late as it is for people. What holds must be an effect of the cause: check only
    what was reported or measured since then, as `Subscriber.is_back` and `Subscriber.measured` do."""
    since = time.monotonic() if since is None else since
    while not holds():
        for name, process in processes.items():
            if process.poll() is not None:
                raise SystemExit(f"FAILED  {what}: {name} ended with {process.returncode}")
        if time.monotonic() - since > within:
            failures.append(what)
            print(f"FAILED  {what}: not within {within:.0f} s", flush=True)
            return
        time.sleep(0.1)
    print(f"{time.monotonic() - began:6.1f} s  {what}: {time.monotonic() - since:.1f} s of {within:.0f} s", flush=True)


def found(what: str, holds: bool, seen: Any, since: float) -> None:
    """Prints whether something is as it must be, and what was seen if not."""
    if holds:
        print(f"{time.monotonic() - began:6.1f} s  {what}: {time.monotonic() - since:.1f} s", flush=True)
    else:
        failures.append(what)
        print(f"FAILED  {what}: {seen}", flush=True)


def bluetoothd() -> float:
    """Starts it, and returns when."""
    program = (glob.glob("/usr/libexec/bluetooth/bluetoothd") + glob.glob("/usr/lib/bluetooth/bluetoothd"))[0]
    start("bluetoothd", [program, "-n", "-d"])
    return time.monotonic()


def gateway() -> float:
    """Starts it, and returns when."""
    start("gateway", [*VITALS2MQTT, "run", "--config", CONFIGURATION], env=ENVIRONMENT)
    return time.monotonic()


def stop_gateway() -> None:
    """Ends the gateway as a service manager does."""
    process = processes.pop("gateway")
    process.terminate()
    if process.wait(BACK) != 0:
        raise SystemExit(f"FAILED  the gateway ended with {process.returncode}")


def has_adapter() -> bool:
    return "Controller" in subprocess.run(["bluetoothctl", "list"], capture_output=True, text=True, check=False).stdout


def command(text: str) -> float:
    """Moves the wearables, and returns when that was done."""
    with socket.create_connection(("127.0.0.1", figures.PORT), timeout=20) as port:
        port.sendall(text.encode() + b"\n")
        assert port.recv(16) == b"ok\n", text
    return time.monotonic()


def peripherals_said(since: int = 0) -> list[str]:
    """The lines of the wearables' log after so many: those before a cause are no effect of it."""
    with open(f"{LOGS}/peripherals", encoding="utf-8") as log:
        return log.read().splitlines()[since:]


def gateway_said() -> str:
    """The log of the gateway, and of the one before it."""
    said = ""
    for name in ("gateway", "gateway.errors"):
        with open(f"{LOGS}/{name}", encoding="utf-8", errors="replace") as log:
            said += log.read()
    return said


def footprint() -> tuple[int, int]:
    """Open descriptors and resident KiB of the gateway."""
    process = processes["gateway"].pid
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return len(os.listdir(f"/proc/{process}/fd")), resident
