"""Rows that give the gateway what nobody should give it: hostile exports in the folders of two phones, and raw HTTP requests. 3 GB of disk are
in use at times."""

import contextlib
import os
import shutil
import time
import traceback

import hostile_exports as exports
import hostile_requests
from rig import Bench, Finding, free_port, require, row, secret, until

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
        self.starts: list[int] = []
        self.folders = {kind: os.path.join(bench.folder, kind.driver) for kind in exports.KINDS}
        for folder in self.folders.values():
            os.mkdir(folder)
        token = secret(bench, "phone.token", hostile_requests.TOKEN)
        devices = [{"id": kind.driver, "driver": kind.driver, "options": {"path": folder}} for kind, folder in self.folders.items()]
        devices.append({"id": "phone", "driver": "health-auto-export", "transport": {"type": "http", "token": token}})
        bench.broker()
        bench.gateway.write(devices, web={"listen": f"127.0.0.1:{self.port}"})
        bench.gateway.start()

    def arrived(self, device: str) -> bool:
        """Whether all good samples of a device have arrived, whatever their metric."""
        return {start for name, start in self.bench.consumer.known() if name == device} >= set(self.starts)

    def add_good(self) -> None:
        """Gives each phone one more good sample, and waits until all have arrived."""
        self.starts.append(self.first + 60_000 * len(self.starts))
        for kind, folder in self.folders.items():
            path = os.path.join(folder, ".good")
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            kind.make(path, self.starts)
            # Newer than what is there, also where a stranger has set the time.
            os.replace(path, os.path.join(folder, "good.db"))
        self.post(self.starts[-1])
        for device in [*(kind.driver for kind in self.folders), "phone"]:
            until(lambda device=device: self.arrived(device), ARRIVAL, f"the good input of {device} did not arrive", step=0.2)

    def post(self, start: int) -> None:
        request = hostile_requests.post(hostile_requests.document(start))
        until(lambda: hostile_requests.status(hostile_requests.send(self.port, request)) == 200, ARRIVAL, "a good document is not taken", 1)

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

    def try_export(self, function) -> str:
        ends = []
        try:
            for kind, folder in self.folders.items():
                ends.append(function(folder, kind))
            time.sleep(CONSIDERED)
        finally:
            for end in filter(callable, ends):
                end()
        # What is hostile stays where it is while the next good one comes.
        self.add_good()
        self.clear()
        return "refused, the next one read"

    def try_request(self, content: bytes, may_be_taken: bool | None) -> str:
        status = hostile_requests.status(hostile_requests.send(self.port, content))
        require(may_be_taken is None or status is None or status >= 400, f"it is answered with {status}")
        self.post(self.starts[-1])
        return "no answer" if status is None else str(status)


def outside(bench: Bench) -> set[str]:
    """What lies beside the folders of the phones."""
    return {name for name in os.listdir(bench.folder) if not name.endswith(".elsewhere") and not name.startswith("storm.sqlite")}


def attacked(bench: Bench, attacks) -> str:
    """Tries these attacks, or the one that `--set attack=NAME` names: each has a name, says what it does, and is a function that returns
    the result."""
    strangers = Strangers(bench)
    for _ in range(2):
        strangers.add_good()
    idle, before, failed, count, highest = bench.gateway.figures()["peak"], outside(bench), [], 0, 0.0
    for name, does, attempt in attacks(strangers):
        if bench.numbers.attack not in ("", name):
            continue
        began, rise, count = time.monotonic(), float("nan"), count + 1
        try:
            result = attempt()
            bench.gateway.check()
            rise = bench.gateway.figures()["peak"] - idle
            highest = max(highest, rise)
            require(rise < MEMORY, f"its memory rose by {rise:.0f} MiB")
            require(outside(bench) == before, f"it left {sorted(outside(bench) - before)}")
        except Exception as error:  # pylint: disable=broad-except
            failed.append(name)
            result = f"FAILED: {error}"
            if not isinstance(error, Finding):
                traceback.print_exc()
            print("".join(bench.gateway.lines[-30:]), flush=True)
            if bench.gateway.process.poll() is not None:
                bench.gateway.start()
            strangers.clear()
        print(f"{name:20} {does:62} {rise:4.0f} MiB  {result}, {time.monotonic() - began:.0f} s", flush=True)
    bench.gateway.stop()
    require(count > 0, f"there is no attack {bench.numbers.attack}")
    require(not failed, f"{len(failed)} of {count} fail: {', '.join(failed)}")
    return f"{count} tried, the next good one read after each; at most {highest:.0f} MiB more"


HOLDS = "it lives, with at most 60 MiB more; nothing is written outside of its folder; the next good input arrives"


@row("hostile exports", "files, databases and archives in the folders of two phones, one after the other", HOLDS, is_apart=True, attack="")
def hostile_files(bench: Bench) -> str:
    return attacked(bench, lambda strangers: (
        (name, does, lambda function=function: strangers.try_export(function)) for name, does, function in exports.ATTACKS))


@row("raw HTTP requests", "that no phone sends, one after the other", HOLDS, is_apart=True, attack="")
def hostile_posts(bench: Bench) -> str:
    return attacked(bench, lambda strangers: (
        (f"request_{number}", does, lambda content=content, taken=taken: strangers.try_request(content, taken))
        for number, (does, content, taken) in enumerate(hostile_requests.requests(strangers.first - 86_400_000), 1)))
