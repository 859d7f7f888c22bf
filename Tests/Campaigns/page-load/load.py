"""Measures what the page costs: delivery with many who look, memory, and times in a browser. See Tests/Campaigns/page-load/run."""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from consumer import Consumer, milliseconds
from peers import Peers, record
from rig import TIMEOUT, Bench, Finding, free_port, require, until

from visitor import Visitor

HERE = os.path.dirname(os.path.abspath(__file__))
STREAMS, SLOW = 200, 50
# Devices, and samples of each in a second.
DEVICES, RATE = 10, 10
# The least part of the samples, and the most of the time until they arrive, with the crowd to that without. A sample takes a few milliseconds,
# so that what another program of the machine does counts more than a tenth.
DELIVERY, LATENCY, SLACK = 0.9, 1.1, 10
# The most memory, in MiB: of one page that is open, and what stays of crowds that are gone beside what stayed of a first one: the allocator
# keeps what was free for a moment.
ONE_PAGE, LEFT = 10, 30
# The most times of the page with data to that without: a year of heart rates, and fifty devices.
YEAR, FIFTY = 10, 5
CLICKS = 9


class Timed(Consumer):
    """Notes when each sample arrives."""

    def __init__(self, port: int, topics: str = "#") -> None:
        self.arrivals: dict[tuple[str, int], float] = {}
        super().__init__(port, topics)

    def note(self, levels: list[str], body) -> None:
        if levels[3] == "measurement":
            moment = time.monotonic()
            for sample in body["samples"]:
                self.arrivals.setdefault((levels[2], milliseconds(sample["start"])), moment)
        else:
            self.newest["/".join(levels[2:])] = body


class Sending(Peers):
    """Notes when each sample is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: dict[int, dict[int, float]] = {}
        self.CAPABILITIES = {**self.CAPABILITIES, "max_history_days": 400}

    def request(self, load, number: int, writer) -> None:
        self.sent.setdefault(id(load), {})[load.first + number] = time.monotonic()
        Peers.request(load, number, writer)


class Crowd:
    """The processes of those who look."""

    def __init__(self, port: int, streams: int, slow: int, device: str) -> None:
        self.process = subprocess.Popen([sys.executable, "-B", os.path.join(HERE, "crowd.py"), str(port), str(streams), str(slow), device],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        require(self.process.stdout.readline().strip() == "ready", "not all streams have begun")

    def end(self) -> list[int]:
        self.process.stdin.close()
        figures = [int(word) for word in self.process.stdout.readline().split()]
        self.process.wait(30)
        return figures


class Trial:
    def __init__(self, bench: Bench, options) -> None:
        self.bench, self.options, self.port = bench, options, free_port()
        bench.consumer = Timed(bench.mosquitto.port)
        self.failed: list[str] = []

    def begin(self, *devices: dict) -> None:
        if self.bench.mosquitto.process is None:
            self.bench.broker()
        self.bench.gateway.write(list(devices), web={"listen": f"127.0.0.1:{self.port}"})
        # As the shipped service has it.
        self.bench.gateway.start(environment={"MALLOC_ARENA_MAX": "1"})
        for device in devices:
            self.bench.served(device["id"])

    def code(self) -> float:
        """MiB of files, such as the program's, among its memory."""
        with open(f"/proc/{self.bench.gateway.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("RssFile:")) / 1024

    def check(self, is_kept: bool, text: str) -> None:
        print(f"{text}{'' if is_kept else '  <- not kept'}", flush=True)
        if not is_kept:
            self.failed.append(text)

    # Delivery

    def window(self, names: list[str]) -> tuple[float, float, float]:
        """Samples in a second, the median of the milliseconds until they arrive, and the seconds of the processor for a second."""
        time.sleep(3)
        began, before = time.monotonic(), self.bench.gateway.figures()["processor"]
        time.sleep(self.options.seconds)
        end = time.monotonic()
        processor = (self.bench.gateway.figures()["processor"] - before) / (end - began)
        time.sleep(3)  # what was sent at the end arrives
        sent = {name: dict(self.bench.peers.sent.get(id(self.bench.peers.loads[name]), {})) for name in names}
        arrivals = dict(self.bench.consumer.arrivals)
        times = [(arrivals[name, start] - moment) * 1000 for name in names for start, moment in sent[name].items()
                 if (name, start) in arrivals and began <= moment < end]
        count = sum(began <= moment < end for moment in arrivals.values())
        return count / (end - began), statistics.median(times), processor

    def delivery(self) -> None:
        peers = self.bench.peers
        names = [f"band-{number}" for number in range(DEVICES)]
        for name in names:
            peers.load(name, RATE)
        self.begin(*map(peers.device, names))
        without, with_crowd, figures = [], [], []
        # What is made once is made, and there is a history that takes long to read.
        peers.loads[names[0]].flow(1000, 1000 / RATE + TIMEOUT)
        crowd = Crowd(self.port, STREAMS, SLOW, names[0])
        time.sleep(10)
        crowd.end()
        time.sleep(12)
        for number in range(self.options.rounds):
            figures.append(self.bench.gateway.figures())
            without.append(self.window(names))
            crowd = Crowd(self.port, STREAMS, SLOW, names[0])
            try:
                with_crowd.append(self.window(names))
                during = self.bench.gateway.figures()
            finally:
                begun, received, refused, answers = crowd.end()
            (rate, latency, _), (rate_with, latency_with, processor) = without[-1], with_crowd[-1]
            print(f"round {number + 1}: {rate:.0f} samples/s after {latency:.0f} ms, {figures[-1]['memory']:.0f} MiB; with {begun} streams "
                  f"({received >> 10} KiB, {refused} refused) and {answers} slow readers in turn {rate_with:.0f} after {latency_with:.0f} ms, "
                  f"{processor:.2f} processors, {during['memory']:.0f} MiB, {during['descriptors']} descriptors", flush=True)
            until(lambda: self.bench.gateway.figures()["descriptors"] <= figures[0]["descriptors"], 60, "descriptors stay open", step=1)
        for name in names:
            peers.loads[name].is_over = True
        time.sleep(5)
        figures.append(self.bench.gateway.figures())

        def middle(rows, place: int) -> float:
            return statistics.median(row[place] for row in rows)
        rate, before, after = middle(with_crowd, 0) / middle(without, 0), middle(without, 1), middle(with_crowd, 1)
        self.check(rate >= DELIVERY, f"delivery with {STREAMS} streams and {SLOW} slow readers: {rate:.3f} of that without, at least {DELIVERY}")
        self.check(after <= before * LATENCY + SLACK,
                   f"time until a sample arrives: {after:.1f} ms and {before:.1f} ms without, at most {LATENCY} times and {SLACK} ms more")
        rise = figures[-1]["memory"] - figures[0]["memory"]
        self.check(rise <= LEFT, f"memory after {len(without)} crowds: {rise:+.1f} MiB, at most {LEFT}")
        self.check(figures[-1]["descriptors"] <= figures[0]["descriptors"],
                   f"descriptors: {figures[0]['descriptors']} before, {figures[-1]['descriptors']} after")
        self.bench.gateway.check()
        self.bench.gateway.stop()

    # Memory

    def memory(self) -> None:
        peers = self.bench.peers
        names = [f"band-{number}" for number in range(DEVICES)]
        for name in names:
            peers.load(name, 1)
        self.begin(*map(peers.device, names))
        time.sleep(15)
        before, code = self.bench.gateway.figures()["memory"], self.code()
        visitor = Visitor(self.bench.folder)
        try:
            visitor.ask("Page.navigate", url=f"http://127.0.0.1:{self.port}/")
            time.sleep(20)
            require(visitor.run("document.querySelector('#live').className") == "on", "the page has no live values")
            rise, code = self.bench.gateway.figures()["memory"] - before, self.code() - code
        finally:
            visitor.end()
        self.check(rise <= ONE_PAGE, f"memory with the overview open: {rise:+.1f} MiB on {before:.0f}, at most {ONE_PAGE}; {code:.1f} of it are "
                                     "pages of the program's file")
        for name in names:
            peers.loads[name].is_over = True
        self.bench.gateway.check()
        self.bench.gateway.stop()

    # Times

    def clicks(self, visitor: Visitor, start: str, link: str) -> float:
        visitor.open(f"http://127.0.0.1:{self.port}", start)
        return visitor.click(link)

    def year(self, visitor: Visitor) -> None:
        peers = self.bench.peers
        last = int(time.time()) // 300 * 300
        count = self.options.days * 288
        peers.history("year", [record((last - 300 * number) * 1000, 60 + number * number % 41) for number in range(count, 0, -1)])
        peers.history("empty", [])
        began = time.monotonic()
        self.begin(*(peers.device(name, sync={"first": "all"}) for name in ("year", "empty")))
        until(lambda: all(self.bench.consumer.newest.get(f"{name}/sync", {}).get("last_success_at") for name in ("year", "empty")), 900,
              "the year is not read", step=1)
        print(f"{count} heart rates are there after {time.monotonic() - began:.0f} s", flush=True)
        time.sleep(10)  # the days are summed up

        def times(name: str) -> float:
            return self.clicks(visitor, f"/devices/{name}/values?range=week", f"devices/{name}/values?range=year")
        self.compare("a year of five-minute heart rates", YEAR, lambda: times("year"), lambda: times("empty"))
        self.bench.gateway.stop()

    def fifty(self, visitor: Visitor) -> None:
        def device(number: int) -> dict:
            return {"id": f"band-{number:02}", "name": f"Band {number}", "person": f"Person {number % 10}", "driver": "simulator",
                    "sync": {"first": "all"},
                    "options": {"model": "band", "seed": number, "history_days": 1, "live_interval": "off"}}
        results: dict[str, list[float]] = {}
        for name, devices in (("with", [device(number) for number in range(50)]), ("without", [])):
            os.makedirs(os.path.join(self.bench.folder, name), exist_ok=True)
            self.bench.gateway.store = os.path.join(self.bench.folder, name, "store.sqlite")
            self.begin(*devices)
            for one in devices:
                sync = f"{one['id']}/sync"
                until(lambda sync=sync: self.bench.consumer.newest.get(sync, {}).get("last_success_at"), 300, "a band is not read", step=0.5)
            time.sleep(5)
            results[name] = [self.clicks(visitor, "/gateway", "./") for _ in range(CLICKS + 1)][1:]
            self.bench.gateway.stop()
        self.ratio("the overview with 50 devices", FIFTY, results["with"], results["without"])

    def compare(self, what: str, most: float, full, empty) -> None:
        full(), empty()
        pairs = [(full(), empty()) for _ in range(CLICKS)]
        self.ratio(what, most, [pair[0] for pair in pairs], [pair[1] for pair in pairs])

    def ratio(self, what: str, most: float, full: list[float], empty: list[float]) -> None:
        one, other = statistics.median(full), statistics.median(empty)
        self.check(one / other <= most, f"{what}: {one:.0f} ms, {one / other:.1f} times the {other:.0f} ms of the page without data, at most {most}")

    def times(self) -> None:
        visitor = Visitor(self.bench.folder)
        try:
            self.year(visitor)
            self.fifty(visitor)
        finally:
            visitor.end()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--only", default="memory,delivery,times")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--days", type=int, default=365)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failed = []
    for part in options.only.split(","):
        with tempfile.TemporaryDirectory(prefix="page-load-") as folder:
            bench = Bench(os.path.abspath(options.gateway), folder, Sending())
            try:
                trial = Trial(bench, options)
                getattr(trial, part)()
                failed += trial.failed
            except Finding as finding:
                print("".join(bench.gateway.lines[-20:]), f"{part}: {finding}", sep="", file=sys.stderr)
                failed.append(str(finding))
            finally:
                bench.end()
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
