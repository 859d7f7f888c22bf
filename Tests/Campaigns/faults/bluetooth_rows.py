"""Rows about Bluetooth without a radio: what the other devices have of it when D-Bus comes and goes."""

import os
import subprocess
import time

from rig import TIMEOUT, Bench, require, row, until

STRAP = {"id": "strap", "driver": "gatt-health", "transport": {"type": "bluez", "address": "A4:C1:38:00:11:22"}}
NO_BUS = "D-Bus"
MISSING = "the strap does not say that D-Bus is missing"
SERVED = "the strap says what is missing; the other device loses nothing, and the gateway goes on"


class Bus:
    """A bus of its own, without the Bluetooth service."""

    def __init__(self, bench: Bench) -> None:
        self.address = f"unix:path={os.path.join(bench.folder, 'bus')}"
        self.process = None
        bench.cleanups.append(self.end)

    def start(self) -> None:
        self.process = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address", f"--address={self.address}"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        require(self.process.stdout.readline() != b"", "dbus-daemon does not start")

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)


def error(bench: Bench) -> str:
    return bench.consumer.newest.get("strap/link", {}).get("last_error") or ""


def begin(bench: Bench, **options) -> tuple:
    bus = Bus(bench)
    (load,) = bench.begin("band", more=(STRAP,), plugins={"bluez": {"bus": bus.address, **options}})
    return load, bus


@row("no D-Bus", "30 s with --quick, else 60 s", SERVED)
def no_bus(bench: Bench) -> str:
    load, _ = begin(bench)
    until(lambda: NO_BUS in error(bench), TIMEOUT, MISSING)
    end = time.monotonic() + (30 if bench.is_quick else 60)
    while time.monotonic() < end:
        load.flow(1)
        bench.gateway.check()
        time.sleep(0.2)
    return f"\"{error(bench)[:48]}…\"; {bench.settle('band')} samples of the other device, lost 0"


@row("D-Bus comes and goes", "3 times with --quick, else 10 times", SERVED)
def bus_restarts(bench: Bench) -> str:
    rounds = 3 if bench.is_quick else 10
    _, bus = begin(bench)
    for _ in range(rounds):
        until(lambda: NO_BUS in error(bench), 60, MISSING)
        bus.start()
        until(lambda: error(bench) and NO_BUS not in error(bench), 60, f"the strap still says: {error(bench)}")
        bus.end()
        bench.gateway.check()
    return f"{rounds} times, the last said without D-Bus: \"{error(bench)[:40]}…\"; {bench.settle('band')} samples, lost 0"


@row("new options of Bluetooth", "10 reloads with another number of links", "each holds; the other device loses nothing")
def bluetooth_reloads(bench: Bench) -> str:
    load, bus = begin(bench, links=11)
    bus.start()
    for links in range(1, 11):
        bench.write("band", more=(STRAP,), plugins={"bluez": {"bus": bus.address, "links": links}})
        bench.gateway.reload()
        require(bench.consumer.ask("gateway", "reload", f"reload-{links}") == "done", "a reload is refused")
        load.flow(20)
        bench.gateway.check()
    return f"10 reloads; {bench.settle('band')} samples of the other device, lost 0"
