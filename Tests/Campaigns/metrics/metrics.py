"""The gateway as Prometheus sees it: what promtool says of its metrics, its health, and the cost of scrapes."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "soak"))
from soak import Process, Subscriber, free_port, until_open  # noqa: E402

PERSON = "annabelle"
# The most by which the samples of a second may differ between the two halves: simulated devices are no clocks.
DIFFERENCE = 0.05
SCRAPES = 10  # a second; Prometheus comes every 15 s or later


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def configuration(broker: int, web: int, count: int, vitals: bool) -> dict:
    devices = [{"id": f"band-{number}", "name": f"The band of {PERSON}", "person": PERSON, "driver": "simulator",
                "options": {"model": "band", "seed": number, "history_days": 1, "live_interval": "1s"}} for number in range(count)]
    return {"gateway": {"id": "soak", "timezone": "Etc/UTC"}, "mqtt": {"url": f"mqtt://127.0.0.1:{broker}"},
            "store": {"path": "metrics.sqlite"}, "devices": devices,
            "web": {"listen": f"127.0.0.1:{web}", "vital_metrics": vitals}}


def until(condition, seconds: float, what: str):
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} within {seconds:.0f} s")
        time.sleep(0.1)
    return value


def check(text: str, devices: int, vitals: bool) -> list[str]:
    """What is wrong with the metrics."""
    findings = []
    tool = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False)
    if tool.returncode != 0 or tool.stderr.strip() or tool.stdout.strip():
        findings.append(f"promtool: {tool.stdout}{tool.stderr}")
    if PERSON in text.lower():
        findings.append("a person is named")
    if ("vitals2mqtt_vital_value{" in text) != vitals:
        findings.append(f"values are {'not ' if vitals else ''}there")
    for name in ("device_link_state", "device_last_sample_timestamp_seconds", "device_battery_ratio"):
        seen = {line.split('device="')[1].split('"')[0] for line in text.splitlines() if line.startswith(f"vitals2mqtt_{name}{{")}
        if len(seen) != devices:
            findings.append(f"{name} has {len(seen)} devices")
    return findings


def rate(subscriber: Subscriber, process: Process, seconds: float) -> tuple[float, float]:
    """Samples, and seconds of the processor, in a second."""
    began, samples, processor = time.monotonic(), subscriber.samples, process.read()["processor"]
    time.sleep(seconds)
    passed = time.monotonic() - began
    return (subscriber.samples - samples) / passed, (process.read()["processor"] - processor) / passed


def scrape(port: int, stop: threading.Event, times: list[float]) -> None:
    while not stop.wait(1 / SCRAPES):
        began = time.monotonic()
        if get(port, "/metrics")[0] == 200:
            times.append(time.monotonic() - began)


def run(arguments: argparse.Namespace, folder: str) -> list[str]:
    broker, web = free_port(), free_port()
    path = os.path.join(folder, "gateway.yaml")

    def write(vitals: bool) -> None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(configuration(broker, web, arguments.devices, vitals), file)  # JSON is YAML

    def health(*options: str) -> tuple[int, str]:
        done = subprocess.run([arguments.gateway, "health", "--config", path, *options], text=True, capture_output=True, check=False)
        return done.returncode, done.stdout + done.stderr

    write(vitals=False)
    mosquitto = subprocess.Popen(["mosquitto", "-p", str(broker)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    gateway, findings = None, []
    try:
        until_open(broker)
        subscriber = Subscriber(broker)
        with open(os.path.join(folder, "gateway.log"), "wb") as log:
            gateway = subprocess.Popen([arguments.gateway, "run", "--config", path], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: health("--ready")[0] == 0, 60, "it is not ready")
        devices = arguments.devices
        until(lambda: get(web, "/metrics")[1].count("device_battery_ratio{") == devices, 60, "not every device has said its battery")
        findings += check(get(web, "/metrics")[1], devices, vitals=False)
        process = Process(gateway.pid)
        time.sleep(5)
        alone, processor = rate(subscriber, process, arguments.seconds)
        stop, times = threading.Event(), []
        thread = threading.Thread(target=scrape, args=(web, stop, times))
        thread.start()
        scraped, more = rate(subscriber, process, arguments.seconds)
        stop.set()
        thread.join()
        times.sort()
        print(f"{devices} devices: {alone:.1f} samples/s without and {scraped:.1f} with {len(times) / arguments.seconds:.1f} scrapes/s; "
              f"{(more - processor) / max(len(times) / arguments.seconds, 0.1) * 1e3:.2f} ms of processor a scrape, "
              f"answered in {times[len(times) // 2] * 1e3:.1f} ms, the slowest in {times[-1] * 1e3:.1f} ms")
        if abs(scraped / alone - 1) > DIFFERENCE:
            findings.append(f"scrapes change the delivery from {alone:.1f} to {scraped:.1f} samples a second")
        write(vitals=True)
        gateway.send_signal(1)
        until(lambda: "vitals2mqtt_vital_value{" in get(web, "/metrics")[1], 30, "no values after a reload")
        findings += check(get(web, "/metrics")[1], devices, vitals=True)
        mosquitto.terminate()
        mosquitto.wait()
        status, answer = until(lambda: (found := health("--ready"))[0] != 0 and found, 60, "it is still ready without a broker")
        if status != 1 or json.loads(answer)["late"] != ["broker"]:
            findings.append(f"without a broker it says {answer}")
        if (found := health())[0] != 0:
            findings.append(f"without a broker it is not alive: {found}")
        return findings
    finally:
        for child in (gateway, mosquitto):
            if child is not None and child.poll() is None:
                child.terminate()
                child.wait(10)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--devices", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30, help="of each of the two measurements")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        findings = run(arguments, folder)
    for finding in findings:
        print(f"FAILED: {finding}")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
