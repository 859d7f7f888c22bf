"""Compares the samples of FIT files with what other people's libraries read in them. See Tests/Campaigns/fit/run."""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile

import consumer
from consumer import milliseconds
from rig import Bench, Finding, require, until

# Seconds for all files, and for what was stored to arrive.
READING, ARRIVAL = 600, 60
# Metrics that decoders.py has.
METRICS = ["heart_rate", "stress", "blood_oxygen", "respiratory_rate", "heart_rate_variability", "weight", "body_fat",
           "resting_heart_rate", "sport"]


class Consumer(consumer.Consumer):
    """Holds the samples of the device."""

    def __init__(self, port: int) -> None:
        self.samples: set[tuple] = set()
        super().__init__(port)

    def note(self, levels: list[str], body) -> None:
        if levels[3] == "measurement":
            for sample in body["samples"]:
                self.samples.add((levels[4], milliseconds(sample["start"]), milliseconds(sample["end"]), round(float(sample["value"]), 3)))


def decoders(*arguments: str) -> bytes:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "decoders.py")
    python = os.path.join(os.environ["READERS"], "bin", "python")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([python, "-B", program, *arguments], check=True, stdout=subprocess.PIPE, env=environment).stdout


def run(bench: Bench, files: int, seed: int) -> str:
    folder = os.path.join(bench.folder, "fit")
    os.mkdir(folder)
    decoders("make", folder, str(files), str(seed))
    read = json.loads(decoders("read", folder))
    wanted: set[tuple] = set()
    for path, (garmin, decoded) in read.items():
        # Where both read a file they must agree, or else the expectation is wrong.
        require(garmin is None or decoded is None or garmin == decoded, f"the libraries differ in {path}: {garmin} {decoded}")
        # One that only one of them reads is no measure of another.
        if garmin is not None and decoded is not None:
            wanted |= {tuple(sample) for sample in garmin}
        elif garmin is not None or decoded is not None:
            os.remove(path)
    bench.consumer = Consumer(bench.mosquitto.port)
    bench.broker()
    bench.gateway.write([{"id": "fit", "driver": "fit-files", "options": {"path": folder, "metrics": METRICS}}], sync={"first": "all"})
    bench.gateway.start()
    until(lambda: bench.gateway.said("FIT files were read."), READING, "the files were not read")
    # What is read is durable; it is on its way.
    with contextlib.suppress(Finding):
        until(lambda: bench.consumer.samples >= wanted, ARRIVAL, "not all samples arrived")
    missing, more = wanted - bench.consumer.samples, bench.consumer.samples - wanted
    require(not missing, f"{len(missing)} missing: {sorted(missing)[:5]}")
    require(not more, f"{len(more)} too many: {sorted(more)[:5]}")
    bench.gateway.check()
    bench.gateway.stop()
    refused = sum(garmin is None and decoded is None for garmin, decoded in read.values())
    return f"{len(read)} files, {len(wanted)} samples as both libraries have them, {refused} files refused by all"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateway", required=True, metavar="PROGRAM", help="the built vitals2mqtt")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vitals2mqtt-fit-") as folder:
        bench = Bench(options.gateway, folder)
        try:
            print(run(bench, options.files, options.seed))
        except Finding as finding:
            print(finding, *bench.gateway.lines[-20:], sep="\n", file=sys.stderr)
            return 1
        finally:
            bench.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
