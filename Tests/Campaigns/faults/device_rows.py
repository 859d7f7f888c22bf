"""Rows about devices: bad records, too many links, and links that stay silent."""

import resource
import time
from collections.abc import Sequence

from log_rows import chatty
from peers import record
from rig import TIMEOUT, Bench, require, row, until


def bad_record(start: int, kind: int) -> dict:
    """A record of a heart rate's history that cannot be one: a value of 0, another metric, or none at all."""
    if kind == 0:
        return record(start, 0)
    if kind == 1:
        return record(start, 30) | {"metric": "stress"}
    return {key: value for key, value in record(start, 60).items() if key != "value"}


class BadRecords(Sequence):
    """So many records of each kind, and a good one. They are made when they are read: three million need a gigabyte."""

    STEP = 500  # milliseconds between two

    def __init__(self, each: int) -> None:
        self.each = each
        self.bad = 3 * each
        self.first = int(time.time() * 1000) - 20 * 24 * 3600 * 1000
        self.good = self.first + self.bad * self.STEP  # the start of the last one

    def __len__(self) -> int:
        return self.bad + 1

    def __getitem__(self, place):
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if place == self.bad:
            return record(self.good, 61)
        # One kind after the other, so that each has many pages of its own.
        return bad_record(self.first + place * self.STEP, place // self.each)


@row("a device with a great many bad records",
     "33,333 zeros with --quick, else 1,000,000; as many of another metric; as many without a value; then a good one",
     "the good one arrives within 1 minute, or 5; each bad one is counted; another device is served")
def bad_records(bench: Bench) -> str:
    records = BadRecords(33_333 if bench.is_quick else 1_000_000)
    bad, each = records.bad, records.each
    bench.peers.history("band", records)
    (ring,) = bench.begin("ring", rate=20)
    ring.flow(20)
    bench.write("band", "ring")
    began, before = time.monotonic(), len(ring.acknowledged)
    bench.gateway.reload()
    bench.consumer.expect_all("band", [records.good], 60 if bench.is_quick else 300)
    took = time.monotonic() - began
    beside = len(ring.acknowledged) - before  # twenty a second, less on a busy machine
    require(beside >= int(2 * took), f"only {beside} samples of another device were taken in {took:.0f} s")

    def reported() -> dict[str, int]:
        reasons: dict[str, int] = {}
        for gap in bench.consumer.gaps:
            if gap["device"] == "band" and gap["reason"] == "refused":
                require(sum(gap["refused"].values()) == gap["count"], f"a gap counts {gap['count']}, and {gap['refused']}")
                for reason, count in gap["refused"].items():
                    reasons[reason] = reasons.get(reason, 0) + count
        return reasons
    until(lambda: sum(reported().values()) >= bad, TIMEOUT, "not every bad record is reported")
    wanted = {"out_of_range": each, "malformed": 2 * each}
    require(reported() == wanted, f"{reported()} are reported of {wanted}")
    bench.settle("ring")
    return (f"{bad:,} bad ones; the good one after {took:.1f} s, {bad / took:,.0f} records a second; {beside} samples beside them; "
            f"{bench.gateway.peak:.0f} MiB")


@row("64 file descriptors", "100 devices and a program",
     "the program is connected; broker, store and commands work; with 16 it does not start, and says why")
def descriptors(bench: Bench) -> str:
    names = [f"d{number}" for number in range(100)]
    last = names[-10:]
    for name in names:
        bench.peers.load(name, rate=1)
    bench.broker()
    bench.write(*names, more=(chatty("program", "true"),))
    bench.gateway.refuses(70, "may have 16 file descriptors", limits={resource.RLIMIT_NOFILE: 16})
    bench.gateway.start(limits={resource.RLIMIT_NOFILE: 64})
    # Of the 24 beside the reserve, small links leave nine to the program, and have two each.
    until(lambda: len(bench.peers.connected) >= 7, TIMEOUT, "no seven devices are connected")
    bench.served("program")
    time.sleep(5)
    bench.gateway.check()
    connected = len(bench.peers.connected)
    for number, name in enumerate(["d0", "d99", "program"]):
        status = bench.consumer.ask(name, "fetch", f"f{number}")
        require(status in ("done", "failed", "rejected"), f"the command for {name} is {status}")
    require(bench.gateway.figures()["descriptors"] <= 64, "there are more descriptors than the limit")
    # With room again, every device is served.
    bench.write(*last)
    bench.gateway.reload()
    for name in last:
        bench.served(name)
        bench.peers.loads[name].flow(1, what="not all of the last devices are served")
    bench.end_loads(*last)
    count = bench.received(*names)
    bench.gateway.stop()
    return f"{connected} of 100 connected at a time; {count} samples, lost 0; after a reload all of the last 10 are served"


@row("half-open links", "50 devices accept the connection and stay silent", "the others are served; they are, too, once they speak")
def silent_links(bench: Bench) -> str:
    silent = [f"s{number}" for number in range(50)]
    bench.peers.silent.update(silent)
    (load,) = bench.begin("band", more=tuple(map(bench.peers.device, silent)))
    load.flow(150, 30)
    began = time.monotonic()
    for name in silent:
        bench.consumer.send(name, "fetch", f"f-{name}")
    require(bench.consumer.ask("band", "fetch", "f-band") == "done", "a command for the device that speaks is not done")
    until(lambda: all(f"f-{name}" in bench.consumer.answers for name in silent), TIMEOUT, "commands without an answer")
    answered = time.monotonic() - began
    bench.peers.silent.clear()
    began = time.monotonic()
    for name in silent:
        bench.served(name, 2 * TIMEOUT)
    served = time.monotonic() - began
    stopped = bench.gateway.stop()
    count = bench.received("band", seconds=10)
    return (f"50 commands to silent ones answered in {answered:.1f} s; connected {served:.0f} s after they speak; "
            f"{count} samples, lost 0; stop in {stopped:.2f} s")
