"""Rows about standard error: a log without a reader, and a program that writes too much."""

import os
import re
import sys
import time

from rig import TIMEOUT, Bench, require, row

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
EXAMPLE = os.path.join(ROOT, "Plugins", "Link", "Examples", "csv_heart_rate.py")


def chatty(name: str, flood: str) -> dict:
    """A device whose program is quiet on standard output, while a child of it floods standard error."""
    script = f"{flood} >&2 & exec {sys.executable} -B {EXAMPLE}"
    return {"id": name, "name": name, "driver": "link", "transport": {"type": "exec", "command": ["sh", "-c", script]}}


def command_time(bench: Bench) -> float:
    """Sends the device `load` a command, and returns the seconds until its final answer."""
    start = time.monotonic()
    bench.consumer.ask("load", "fetch", f"f{start}")
    return time.monotonic() - start


@row("standard error is a pipe that nobody reads", "three programs fill it", "samples and commands go on; a stop takes 6 s at most")
def unread_log(bench: Bench) -> str:
    names = ["one", "two", "three"]
    flood = f"yes '{'a line of a chatty program ' * 8}'"
    unread, log = os.pipe()
    bench.cleanups += [lambda: os.close(unread), lambda: os.close(log)]
    (load,) = bench.begin("load", more=tuple(chatty(name, flood) for name in names), start={"log": log})
    for name in names:
        bench.served(name)
    # The pipe and the log's own buffer are full after a few seconds.
    time.sleep(3)
    load.flow(200, 30)
    began = time.monotonic()
    for name in names:
        require(bench.consumer.ask(name, "sync", f"sync-{name}") == "done", f"the command for {name} is not done")
    answered = time.monotonic() - began
    stopped = bench.gateway.stop()
    count = bench.received("load", seconds=5)
    return f"{count} samples, lost 0; 3 commands in {answered:.2f} s; stop in {stopped:.2f} s"


@row("a program writes 100 MB to standard error", "beside another device", "no delay of others; all lines are logged or counted")
def flood(bench: Bench) -> str:
    bench.peers.load("load", rate=50)
    bench.broker()
    bench.write("load", more=(chatty("chatty", f"yes '{'x' * 99}' | head -n 1000000"),))
    logged = [0, 0]

    class Lines(list):
        def append(self, line: str) -> None:
            logged[0] += "xxxxxxxxxx" in line
            if found := re.search(r"exec\.skipped=(\d+)", line):
                logged[1] += int(found[1])
            super().append(line)
    bench.gateway.start()
    bench.gateway.lines = Lines()
    bench.served("load")
    slowest = 0.0
    began = time.monotonic()
    while sum(logged) < 950_000:
        require(time.monotonic() - began < 2 * TIMEOUT, f"only {sum(logged)} lines were read")
        slowest = max(slowest, command_time(bench))
        time.sleep(0.2)
    took = time.monotonic() - began
    require(slowest < 2, f"a command for another device took {slowest:.1f} s")
    require(sum(logged) <= 1_000_000, f"{sum(logged)} lines of a million are logged or counted")
    processor = bench.gateway.figures()["processor"]
    # It was 14 s before lines were limited; a busy machine counts some more than a quiet one.
    require(processor < 4, f"100 MB cost {processor:.1f} s of processor time")
    bench.gateway.stop()
    count = bench.received("load", seconds=5)
    return (f"100 MB in {took:.0f} s and {processor:.1f} s of processor time; slowest command {slowest:.2f} s; "
            f"{count} samples, lost 0")


@row("programs write empty lines to standard error", "eight of them, without end, beside another device",
     "no delay of others; half a core at most; a stop takes 6 s at most")
def empty_lines(bench: Bench) -> str:
    names = [f"p{number}" for number in range(8)]
    bench.begin("load", more=tuple(chatty(name, "yes ''") for name in names))
    for name in names:
        bench.served(name)
    slowest, spent = 0.0, bench.gateway.figures()["processor"]
    began = time.monotonic()
    while time.monotonic() - began < 10:
        slowest = max(slowest, command_time(bench))
        time.sleep(0.2)
    share = (bench.gateway.figures()["processor"] - spent) / (time.monotonic() - began)
    require(slowest < 2, f"a command for another device took {slowest:.1f} s")
    require(share < 0.5, f"the lines cost {share:.0%} of a core")
    stopped = bench.gateway.stop()
    count = bench.received("load", seconds=5)
    return f"{share:.0%} of a core; slowest command {slowest:.2f} s; stop in {stopped:.2f} s; {count} samples, lost 0"
