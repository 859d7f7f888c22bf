"""A row that watches a gateway with simulated devices for hours from outside, and checks whether it stays the same."""

import json
import time

from consumer import Consumer
from rig import Bench, Finding, row

SETTLED = 600  # seconds after which nothing may grow any more
GROWTH = 0.05  # tolerated growth of memory from the first quarter of the time after that to the last quarter, as a share
SPARE = 4  # tolerated growth of descriptors and threads
MODELS = ("band", "ring", "cuff", "oximeter")
UNITS = {"memory": "MiB", "descriptors": "descriptors", "threads": "threads", "processor": "s of processor", "written": "bytes written"}


class Counting(Consumer):
    """It counts samples, and checks the numbers of facts for gaps."""

    def __init__(self, port: int) -> None:
        self.samples = 0
        self.last = 0  # all facts up to this number have come
        self.ahead: set[int] = set()  # the later ones that have come
        super().__init__(port)

    def receive(self, _client, _data, message) -> None:
        try:
            body = json.loads(message.payload)
        except ValueError:
            return  # a bare word, such as `online`
        if not isinstance(body, dict):
            return
        if "/measurement/" in message.topic:
            self.samples += len(body["samples"])
        # A gap names the numbers that never come.
        ranges = [(gap["from_seq"], gap["to_seq"]) for gap in body.get("sequences", [])]
        if isinstance(number := body.get("seq"), int):
            ranges.append((number, number))
        for first, last in ranges:
            self.ahead.update(range(max(first, self.last + 1), last + 1))
        while self.last + 1 in self.ahead:
            self.last += 1
            self.ahead.discard(self.last)

    def missing(self) -> list[int]:
        return sorted(set(range(self.last + 1, max(self.ahead, default=0))) - self.ahead)


def device(number: int) -> dict:
    """Simulated devices of all models; each has a month of history, breaks its link now and then, and streams."""
    model = MODELS[number % len(MODELS)]
    return {"id": f"{model}-{number}", "driver": "simulator",
            "options": {"model": model, "seed": number, "history_days": 3 if model == "oximeter" else 30,
                        "live_interval": "1s", "faults": {"disconnect_every": f"{600 + 7 * number}s"}}}


def watched(bench: Bench) -> list[dict[str, float]]:
    """The figures of each ten seconds, until the time is over or a person ends it."""
    rows, began = [], time.monotonic()
    try:
        while (passed := time.monotonic() - began) < bench.numbers.minutes * 60:
            bench.gateway.check()
            rows.append({"time": passed, "samples": bench.consumer.samples, **bench.gateway.figures()})
            if len(rows) % 6 == 1:
                print(f"{passed / 60:7.1f} min ", *(f"{rows[-1][name]:9.1f} {unit} " for name, unit in UNITS.items()),
                      f"{rows[-1]['samples']:9d} samples", flush=True)
            time.sleep(10)
    except KeyboardInterrupt:
        pass
    return rows


def evaluate(rows: list[dict[str, float]]) -> tuple[list[str], str]:
    """What is not as it should be, and figures. Compares the first and the last quarter of the time after it has settled."""
    settled = [row for row in rows if row["time"] >= SETTLED]
    if len(settled) < 8:
        return [f"it was too short to evaluate: it needs more than {SETTLED / 60:.0f} minutes"], ""
    quarter, findings, texts = len(settled) // 4, [], []
    for name in ("memory", "descriptors", "threads"):
        values = [row[name] for row in settled]
        first, last = sum(values[:quarter]) / quarter, sum(values[-quarter:]) / quarter
        if last - first > (GROWTH * first if name == "memory" else SPARE):
            findings.append(f"{name} grew by {last - first:.1f} from {first:.1f}")
        texts.append(f"{name} from {first:.1f} to {last:.1f} {UNITS[name]} (lowest {min(values):.1f}, highest {max(values):.1f})")
    seconds, samples, processor, written = (settled[-1][name] - settled[0][name] for name in ("time", "samples", "processor", "written"))
    texts += [f"{processor / seconds:.2%} of a core, {processor / max(samples, 1) * 1e3:.3f} ms a sample",
              f"{written / max(samples, 1):.0f} bytes a sample, {written / seconds * 86400 / 1e6:.0f} MB a day"]
    return findings, f"after the first {SETTLED / 60:.0f} minutes, {seconds / 60:.0f} with {samples} samples: {'; '.join(texts)}"


@row("a long life", "so many simulated `devices` that stream, for `minutes`", "memory, descriptors and threads do not grow; each numbered fact comes",
     is_apart=True, minutes=120, devices=50)
def soak(bench: Bench) -> str:
    bench.consumer = Counting(bench.mosquitto.port)
    bench.broker()
    bench.gateway.write(list(map(device, range(bench.numbers.devices))), gateway={"id": "storm", "timezone": "Europe/Berlin"}, home_assistant={})
    bench.gateway.start(environment={"MALLOC_ARENA_MAX": "1"})  # as the unit and the container run it
    findings, text = evaluate(watched(bench))
    bench.gateway.stop()
    time.sleep(1)  # the broker still sends what it has taken
    if missing := bench.consumer.missing():
        findings.append(f"{len(missing)} facts are missing, such as {missing[:5]}")
    if findings:
        raise Finding("; ".join([*findings, text]))
    return f"{text}; {bench.consumer.last} facts, missing 0"
