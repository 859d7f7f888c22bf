"""A storm on real threads: 300 devices that stream, vanish and reconnect, a broker that disconnects and hangs, changed configurations,
commands, and stops, all at once."""

import asyncio
import random
import threading
import time
from collections import Counter
from datetime import datetime, timedelta, timezone

from peers import Peers, record, write
from rig import Bench, Finding, require, row, until

DEVICES = 300
SERVED = 60.0  # seconds until every device is connected and every command answered, after the storm
SPARE = 8  # tolerated difference of descriptors and threads between two idle moments of the gateway
LIFETIME = 8.0  # mean seconds until a device vanishes
RATE = 0.25  # seconds between two lines of samples
BURST = 40  # samples of an occasional burst
RECORD = 600_000  # milliseconds between two records of the history
HISTORY = 6 * 60 * 60 * 1000  # how far back it goes, in milliseconds
PAGE = 10  # records of a page


class StormPeers(Peers):
    """Devices that break off whenever they like."""

    CAPABILITIES = {
        "heart_rate": {"measure": True, "monitor": True, "history": True, "rest_alert": True}, "max_history_days": 1}

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lifetime: float | None = LIFETIME  # `None` for never
        self.measurements: dict[str, tuple[int, asyncio.Task]] = {}  # by device: at most one at a time, with its number
        super().__init__()

    def vanish_all(self) -> None:
        """Every device is gone at the same moment."""
        self.loop.call_soon_threadsafe(lambda: [writer.transport.abort() for writer in list(self.open)])

    async def answer(self, name: str, method: str, params: dict, writer: asyncio.StreamWriter) -> dict:
        number, running = self.measurements.get(name, (0, None))
        if method == "initialize":
            if running:  # of the connection before
                running.cancel()
            return await super().answer(name, method, params, writer)
        if method == "history/read":
            await asyncio.sleep(self.random.uniform(0, 0.1))
            return {"result": page(params)}
        if method == "monitor/read":
            limits = {"enabled": False, "lower": 40, "upper": 120}
            schedule = {"enabled": True, "start": 0, "end": 1440, "interval_min": 10}
            return {"result": {"configuration": {"schedule": schedule, "resting_alert": limits}}}
        if method == "measurement/start":
            if (running and not running.done()) or self.random.random() >= 0.7:
                return {"error": {"code": 2, "message": "This peer does not measure now."}}
            task = asyncio.create_task(measure(number + 1, params["duration_s"], writer))
            self.measurements[name] = number + 1, task
            return {"result": {"measurement": f"m{number + 1}"}}
        if method == "measurement/stop" and running and params["measurement"] == f"m{number}":
            running.cancel()
        return {"result": {}}

    async def send(self, name: str, writer: asyncio.StreamWriter) -> None:
        lifetime = self.lifetime
        end = time.monotonic() + self.random.expovariate(1 / lifetime) if lifetime else float("inf")
        try:
            while time.monotonic() < end or self.lifetime is None:
                count = BURST if self.random.random() < 0.02 else 1
                write(writer, *map(sample, reversed(range(count))))
                await writer.drain()
                await asyncio.sleep(self.random.uniform(0, 2 * RATE))
        except ConnectionError:
            return
        if self.random.random() < 0.3:
            writer.write(b'{"jsonrpc":"2.0",')  # half a line
        writer.transport.abort() if self.random.random() < 0.5 else writer.close()


async def measure(number: int, seconds: float, writer: asyncio.StreamWriter) -> None:
    name, end, completed = f"m{number}", time.monotonic() + seconds, False

    def tell(method: str, **params) -> None:
        if not writer.is_closing():
            write(writer, {"method": method, "params": {"measurement": name, **params}})
    try:
        while time.monotonic() < end:
            await asyncio.sleep(1)
            tell("measurement/sample", sample=sample(0)["params"]["sample"])
        completed = True
    finally:
        tell("measurement/ended", completed=completed, error=None)


def sample(milliseconds_ago: int) -> dict:
    start = int(time.time() * 1000) - milliseconds_ago
    return {"method": "sample", "params": {"sample": record(start, 50 + start % 70)}}


def page(params: dict) -> dict:
    """A page of the history, which begins at the time that the page before named as the next one."""
    now = int(time.time() * 1000)
    first = max(params.get("page") or params["from"], now - HISTORY)
    starts = list(range(-(-first // RECORD) * RECORD, min(params["to"], now), RECORD))
    more = starts[PAGE:PAGE + 1]
    return {"samples": [record(start, 50 + start % 70) for start in starts[:PAGE]], "next": more[0] if more else None}


class Storm:
    def __init__(self, bench: Bench) -> None:
        self.bench, self.gateway, self.seed = bench, bench.gateway, bench.numbers.seed
        bench.topics = "+/response"
        bench.gateway.mqtt = {}
        bench.broker()
        self.consumer = bench.consumer
        self.middle = bench.through_middle()
        self.peers = StormPeers(self.seed)
        self.changes = [0] * DEVICES
        self.commands = 0

    def configure(self, count: int = DEVICES) -> None:
        self.gateway.write([
            self.peers.device(f"d{number}", name=f"Device {number}, {self.changes[number]}") for number in range(count)])

    def reconfigure(self, count: int = DEVICES) -> None:
        self.configure(count)
        self.gateway.reload()

    # The parts of the storm, each on its own thread.

    def cut_broker(self, end: float) -> None:
        rng = random.Random(self.seed + 1)
        while time.monotonic() < end:
            time.sleep(rng.uniform(0.2, 5))
            if rng.random() < 0.3:
                self.middle.hang()
                time.sleep(rng.uniform(0.1, 2))
                self.middle.flow()
            else:
                self.middle.cut()

    def change_configuration(self, end: float) -> None:
        rng = random.Random(self.seed + 2)
        while time.monotonic() < end:
            time.sleep(rng.uniform(0.5, 4))
            for number in rng.sample(range(DEVICES), rng.randrange(1, 120)):
                self.changes[number] += 1
            self.reconfigure(rng.choice([DEVICES, DEVICES, DEVICES - 40, DEVICES // 2]))

    def command(self, end: float) -> None:
        rng = random.Random(self.seed + 3)
        while time.monotonic() < end:
            time.sleep(rng.uniform(0, 0.2))
            for _ in range(rng.choice([1, 1, 10, 60])):
                self.commands += 1
                command = rng.choice(["reconnect", "reconnect", "fetch", "sync", "measure"])
                members = {}
                if command == "measure":
                    members = {"metric": "heart_rate", "action": rng.choice(["start", "start", "stop"]), "duration_s": 10}
                elif command == "sync" and rng.random() < 0.2:
                    members = {"from": moment(-6 * 60 * 60)}  # reads many pages again
                self.consumer.send(f"d{rng.randrange(DEVICES)}", command, f"s{self.commands}", **members)
            if rng.random() < 0.02:
                self.peers.vanish_all()

    def rage(self, seconds: float) -> None:
        """One run of the gateway through everything at once."""
        self.reconfigure()
        end = time.monotonic() + seconds
        parts = [
            threading.Thread(target=part, args=(end,), daemon=True)
            for part in (self.cut_broker, self.change_configuration, self.command)]
        self.peers.lifetime = LIFETIME
        for part in parts:
            part.start()
        while time.monotonic() < end:
            time.sleep(0.5)
            self.gateway.check()
        for part in parts:
            part.join()

    def await_answers(self, names: set[str], what: str) -> None:
        until(lambda: self.consumer.answers.keys() >= names, SERVED, f"no answer to all {what}", step=0.2)

    def evaluate(self) -> int:
        """Every command that was accepted gets its final answer; others were lost with a connection to the broker. An answer may come
        again when the broker was cut at it, but never another one. Returns how many came again."""
        self.await_answers(set(self.consumer.accepted), "accepted commands")
        answers = dict(self.consumer.answers)
        several = [finals for finals in answers.values() if any(answer != finals[0] for answer in finals)]
        require(not several, f"commands have several final answers: {several[:3]}")
        return sum(len(finals) > 1 for finals in answers.values())

    def calm_down(self) -> None:
        """Every device has to be connected and to answer now."""
        self.peers.lifetime = None
        self.middle.flow()
        self.reconfigure()
        before, connected = dict(self.peers.connected), self.peers.connected
        devices = [f"d{number}" for number in range(DEVICES)]
        time.sleep(2)
        self.commands += 1
        for device in devices:
            self.consumer.send(device, "reconnect", f"again{self.commands}-{device}")

        def all_came() -> bool:
            self.gateway.check()
            return all(connected.get(device, 0) > before.get(device, 0) for device in devices)
        until(all_came, SERVED - 2, "not all devices were connected", step=0.2)
        later = moment(SERVED)
        names = {f"calm{self.commands}-{device}" for device in devices}
        for device in devices:
            self.consumer.send(device, "fetch", f"calm{self.commands}-{device}", expires_at=later)
        self.await_answers(names, "commands to devices that are connected")
        failed = [answers[0] for name in names if (answers := self.consumer.answers[name])[0]["status"] != "done"]
        require(not failed, f"{len(failed)} commands to devices that are connected failed: {failed[:3]}")
        self.evaluate()

    def held(self) -> tuple[int, int]:
        figures = self.gateway.figures()
        return figures["descriptors"], figures["threads"]

    def let_go(self) -> tuple[int, int]:
        """Without devices nothing of them is left. Returns what the gateway still holds."""
        self.reconfigure(0)
        until(lambda: not self.peers.open, SERVED, "links stayed open after their devices were removed", step=0.2)
        time.sleep(2)
        return self.held()

    def start(self) -> None:
        self.configure(0)
        self.gateway.start()
        self.gateway.wait_for("The broker is connected.", 30)

    def run(self, seconds: float) -> str:
        self.start()
        time.sleep(1)
        at_rest = self.held()
        rounds = max(1, round(seconds / 40))
        for number in range(rounds):
            self.rage(seconds / rounds)
            self.calm_down()
            held = self.let_go()
            print(f"round {number + 1} of {rounds}: {sum(self.peers.connected.values())} connections, "
                  f"{len(self.consumer.answers)} answers, {held[0]} descriptors and {held[1]} threads at rest", flush=True)
            require(all(now <= then + SPARE for now, then in zip(held, at_rest)), f"descriptors and threads grew from {at_rest} to {held}")
            # The stop happens in the middle of a storm.
            self.rage(3)
            print(f"  ended in {self.gateway.stop():.2f} s", flush=True)
            self.start()
        # The last commands were accepted before the stop.
        repeated = self.evaluate()
        self.gateway.stop()
        finals = Counter(" ".join(filter(None, (answers[0]["status"], answers[0]["code"]))) for answers in self.consumer.answers.values())
        print(", ".join(f"{count} {status}" for status, count in finals.most_common()))
        return (f"{sum(self.peers.connected.values())} connections; {self.commands} commands, {len(self.consumer.accepted)} accepted and "
                f"answered, {repeated} answers that came again (the broker was cut at them)")


def moment(seconds: float) -> str:
    """The time in so many seconds."""
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


@row("a storm", "300 devices and everything at once for `seconds`", "every device, command and stop is served in time; nothing is left over",
     is_apart=True, seconds=120, seed=1)
def storm(bench: Bench) -> str:
    return Storm(bench).run(bench.numbers.seconds)


@row("stops of a beginning", "as many `stops`, each within 100 ms of a connection", "each takes 6 s at most", is_apart=True, stops=60, seed=1)
def stops(bench: Bench) -> str:
    all_at_once, longest = Storm(bench), 0.0
    all_at_once.peers.lifetime = None
    rng = random.Random(bench.numbers.seed)
    for number in range(bench.numbers.stops):
        all_at_once.configure(12)
        bench.gateway.start()
        bench.gateway.wait_for("The device is connected.", 30)
        time.sleep(rng.uniform(0, 0.1))
        try:
            longest = max(longest, bench.gateway.stop())
        except Finding as finding:
            raise Finding(f"stop {number + 1} of {bench.numbers.stops}: {finding}") from None
    return f"{bench.numbers.stops} stops; the longest took {longest:.2f} s"
