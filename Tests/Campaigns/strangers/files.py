#!/usr/bin/env python3
"""Gives the real gateway what nobody should give it: hostile exports in the folders of two phones, and raw HTTP requests.

  . deploy/prepare; Tests/Campaigns/strangers/files.py --gateway PROGRAM [--only NAME,…] [--list]

After each the program must be alive, with at most 60 MiB of memory more than it had at its highest before the first, nothing may be
written outside of its folder, and the next good export or document must arrive. Prints a table, and ends with status 1 if one does
not hold. It needs mosquitto, and paho for Python. 3 GB of disk are in use at times.
"""

import argparse
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))
import hostile_exports as exports  # noqa: E402
import hostile_requests  # noqa: E402
from rig import Bench, Finding, free_port, require, until  # noqa: E402

# MiB that the program's peak may rise above that of its idle life.
MEMORY = 60
# Seconds: an export is read after it stood still for five.
CONSIDERED = 9
# Seconds until a good input has arrived.
ARRIVAL = 90


class Strangers:
    """A gateway with two phones that export and one that posts, and the good samples so far."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.port = free_port()
        self.first = (int(time.time()) - 86_400) * 1000
        self.count = 0
        self.folders = {kind: os.path.join(bench.folder, kind.driver) for kind in exports.KINDS}
        for folder in self.folders.values():
            os.mkdir(folder)
        secret = os.path.join(bench.folder, "phone.token")
        with open(secret, "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(hostile_requests.TOKEN)
        devices = [{"id": kind.driver, "driver": kind.driver, "options": {"path": folder}} for kind, folder in self.folders.items()]
        devices.append({"id": "phone", "driver": "health-auto-export", "transport": {"type": "http", "token": {"file": secret}}})
        bench.broker()
        bench.gateway.write(devices, plugins={"http": {"listen": f"127.0.0.1:{self.port}"}})

    def starts(self) -> list[int]:
        return [self.first + 60_000 * number for number in range(self.count)]

    def add_good(self) -> None:
        """Gives each phone one more good sample, and waits until all have arrived."""
        self.count += 1
        starts = self.starts()
        for kind, folder in self.folders.items():
            path = os.path.join(folder, ".good")
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            kind.make(path, starts)
            # Newer than what is there, also where a stranger has set the time.
            os.replace(path, os.path.join(folder, "good.db"))
        self.post(starts[-1])
        for device in [*(kind.driver for kind in self.folders), "phone"]:
            until(lambda device=device: not lost_moments(self.bench.consumer, device, starts), ARRIVAL,
                  f"the good input of {device} did not arrive", step=0.2)

    def post(self, start: int) -> None:
        request = hostile_requests.post(hostile_requests.document(start))
        until(lambda: hostile_requests.status(hostile_requests.send(self.port, request)) == 200, ARRIVAL, "a good document is not taken", 1)

    def check(self, idle: float) -> float:
        """Returns the rise of the peak in MiB."""
        self.bench.gateway.check()
        rise = self.bench.gateway.memory_mib() - idle
        require(rise < MEMORY, f"its memory rose by {rise:.0f} MiB")
        return rise

    def clear(self) -> None:
        for folder in self.folders.values():
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if name == "good.db":
                    continue
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path)
                else:
                    os.unlink(path)


def outside(bench: Bench) -> set[str]:
    """What lies beside the folders of the phones."""
    return {name for name in os.listdir(bench.folder) if not name.endswith(".elsewhere") and not name.startswith("storm.sqlite")}


def try_export(strangers: Strangers, function) -> None:
    ends = []
    try:
        for kind, folder in strangers.folders.items():
            ends.append(function(folder, kind))
        time.sleep(CONSIDERED)
    finally:
        for end in filter(callable, ends):
            end()
    # What is hostile stays where it is while the next good one comes.
    strangers.add_good()
    strangers.clear()


def try_request(strangers: Strangers, content: bytes, may_be_taken: bool | None) -> str:
    status = hostile_requests.status(hostile_requests.send(strangers.port, content))
    require(may_be_taken is None or status is None or status >= 400, f"it is answered with {status}")
    strangers.post(strangers.starts()[-1])
    return "no answer" if status is None else str(status)


def attacks(strangers: Strangers):
    """Each one's name, what it does, and the function that tries it and returns the result."""
    for name, does, function in exports.ATTACKS:
        yield name, does, lambda function=function: try_export(strangers, function)
    start = strangers.first - 86_400_000
    for number, (does, content, may_be_taken) in enumerate(hostile_requests.requests(start)):
        yield f"request_{number + 1}", does, lambda content=content, taken=may_be_taken: try_request(strangers, content, taken)


def lost_moments(consumer, device: str, starts: list[int]) -> list[int]:
    """The samples of a device that have not arrived, whatever their metric."""
    known = {start for name, start in consumer.known() if name == device}
    return [start for start in starts if start not in known]


def run(bench: Bench, only: set[str] | None) -> int:
    strangers = Strangers(bench)
    bench.gateway.start()
    for _ in range(2):
        strangers.add_good()
    idle, before, failed = bench.gateway.memory_mib(), outside(bench), 0
    print(f"{'attack':20} {'what it is':62} {'rise':>8}  result\n{'-' * 20} {'-' * 62} {'-' * 8}  ------", flush=True)
    for name, does, attempt in attacks(strangers):
        if only is not None and name not in only:
            continue
        began, rise = time.monotonic(), float("nan")
        try:
            result = attempt() or "refused, the next one read"
            rise = strangers.check(idle)
            require(outside(bench) == before, f"it left {sorted(outside(bench) - before)}")
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            result = f"FAILED: {error}"
            if not isinstance(error, Finding):
                traceback.print_exc()
            print("".join(bench.gateway.lines[-30:]), flush=True)
            if bench.gateway.process.poll() is not None:
                bench.gateway.start()
            strangers.clear()
        print(f"{name:20} {does:62} {rise:4.0f} MiB  {result}, {time.monotonic() - began:.0f} s", flush=True)
    bench.gateway.stop()
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gateway", required=True, metavar="PROGRAM", help="the built vitals2mqtt")
    parser.add_argument("--only", metavar="NAME,…", help="only these attacks")
    parser.add_argument("--list", action="store_true", help="prints the names of the attacks")
    options = parser.parse_args()
    listed = [(name, does) for name, does, _ in exports.ATTACKS]
    listed += [(f"request_{number + 1}", does) for number, (does, _, _) in enumerate(hostile_requests.requests(0))]
    if options.list:
        print("\n".join(f"{name:20} {does}" for name, does in listed))
        return 0
    only = set(options.only.split(",")) if options.only else None
    if only and (unknown := only - {name for name, _ in listed}):
        parser.error(f"there is no attack {', '.join(sorted(unknown))}; --list names them")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="vitals2mqtt-strangers-") as folder:
        bench = Bench(os.path.abspath(options.gateway), folder, None, False, 0)
        try:
            failed = run(bench, only)
        except Finding as finding:
            print(f"FAILED: {finding}\n" + "".join(bench.gateway.lines[-30:]))
            failed = 1
        finally:
            bench.end()
    print(f"{failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
