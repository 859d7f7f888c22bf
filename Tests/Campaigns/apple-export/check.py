"""Reads a made export of Apple's Health app by the whole program. See Tests/Campaigns/apple-export/run."""

import argparse
import csv
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.parsers.expat
import zipfile
from collections import Counter, defaultdict
from datetime import datetime, timedelta

from generate import WATCH, generate
from rig import Bench, Gateway, free_port, require, secret, until

TOKEN = "a secret of the phone that nobody knows"
MEMORY = 30.0  # MiB above idle


def bare(path: str) -> float:
    """Seconds that expat takes for the elements, with a handler that does nothing. What is broken is left out."""
    began = time.monotonic()
    with zipfile.ZipFile(path) as archive, archive.open("apple_health_export/export.xml") as file:
        parser = xml.parsers.expat.ParserCreate()
        parser.StartElementHandler = lambda name, attributes: None
        parser.Parse(b"<HealthData>")
        isBelow = False
        for line in file:
            if isBelow and not line.startswith((b"</HealthData", b' <Record type="HKQuantityTypeIdentifierHeartRate" value="\x0b')):
                parser.Parse(line)
            isBelow = isBelow or line.startswith(b" <Me")
    return time.monotonic() - began


def post(port: int, start: datetime, values: list[float]) -> int:
    """Posts steps of minutes as Health Auto Export does."""
    data = [{"date": f"{start + timedelta(minutes=number):%Y-%m-%d %H:%M:%S} +0000", "qty": value, "source": WATCH}
            for number, value in enumerate(values)]
    body = json.dumps({"data": {"metrics": [{"name": "step_count", "units": "count", "data": data}]}})
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    try:
        connection.request("POST", "/v1/devices/phone", body, headers)
        return connection.getresponse().status
    except OSError:
        return 0


def table(gateway: Gateway) -> list[dict]:
    """What counts of the gateway's own export."""
    output = subprocess.run([gateway.program, "export", "--config", gateway.path, "--device", "phone", "--format", "csv", "-"],
                            capture_output=True, text=True, check=True).stdout
    return [row for row in csv.DictReader(output.splitlines()) if row["withdrawn"] == "false"]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--years", type=float, default=1 / 12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(options.gateway), folder)
        try:
            check(bench, folder, options.years, options.seed)
        finally:
            bench.end()
    return 0


def check(bench: Bench, folder: str, years: float, seed: int) -> None:
    path = os.path.join(folder, "export.zip")
    expected = generate(path + ".part", years, seed)
    parsing = bare(path + ".part")
    port, gateway = free_port(), bench.gateway
    bench.broker()
    gateway.write(
        [{"id": "phone", "name": "Phone", "driver": "health-auto-export", "options": {"export": path},
          "transport": {"type": "http", "token": secret(bench, "phone.token", TOKEN)}}],
        web={"listen": f"127.0.0.1:{port}"})
    gateway.start()
    day = datetime.fromisoformat(min(expected["sums"]["steps"]))
    require(until(lambda: post(port, day - timedelta(days=1), [30.0] * 60), 30, "no post") == 200, "a post was refused")
    time.sleep(15)
    idle = gateway.figures()["memory"]
    os.rename(path + ".part", path)
    began = time.monotonic()
    require(post(port, day, [11.5] * 120) == 200, "a post was refused")
    gateway.wait_for("An export is read.", 60)
    gateway.wait_for("The export is being read.", 600 + 600 * years)
    gateway.process.send_signal(signal.SIGKILL)
    gateway.process.wait()
    gateway.start()
    require(until(lambda: post(port, day, [11.5] * 120), 30, "no post") == 200, "a post was refused")
    gateway.wait_for("The export was taken.", 600 + 3600 * years)
    reading = time.monotonic() - began
    rise = gateway.figures()["peak"] - idle
    require(post(port, day + timedelta(days=1), [11.5] * 120) == 200, "a post was refused")
    gateway.stop()
    rows = table(gateway)
    found = Counter(row["metric"] for row in rows)
    sums: dict = defaultdict(float)
    for row in rows:
        if row["metric"] in expected["sums"]:
            sums[row["metric"], row["end"][:10]] += float(row["value"])
    for metric, number in expected["samples"].items():
        if metric not in expected["sums"]:
            require(found[metric] == number, f"{found[metric]} of {metric}, and not {number}")
    for metric, days in expected["sums"].items():
        for name, total in days.items():
            # A minute of a post in which the watch has recorded nothing counts beside the export.
            room = 2 * 120 * 11.5 if metric == "steps" and name in (f"{day:%Y-%m-%d}", f"{day + timedelta(days=1):%Y-%m-%d}") else 0
            require(total <= sums[metric, name] + 0.01 and sums[metric, name] <= total + room + 0.01,
                    f"{metric} of {name}: {sums[metric, name]}, and not {total}")
    print(f"{len(rows)} samples in {reading:.0f} s, {reading / parsing:.1f} times a bare parser ({parsing:.1f} s); "
          f"{rise:.0f} MiB above idle ({idle:.0f} MiB)")
    require(rise <= MEMORY, f"{rise:.0f} MiB above idle")


if __name__ == "__main__":
    sys.exit(main())
