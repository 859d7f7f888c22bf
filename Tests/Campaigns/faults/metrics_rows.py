"""A row that looks at the gateway as Prometheus sees it: what promtool says of its metrics and rules, its health, and the cost of scrapes."""

import json
import os
import subprocess
import threading
import time
import urllib.error
import urllib.request

from consumer import Consumer
from rig import Bench, free_port, require, row, until

PERSON = "annabelle"
# The most by which the samples of a second may differ between the two halves: simulated devices are no clocks.
DIFFERENCE = 0.05
SCRAPES = 10  # a second; Prometheus comes every 15 s or later
RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "deploy", "prometheus")


class Counting(Consumer):
    """It only counts samples."""

    samples = 0

    def receive(self, _client, _data, message) -> None:
        if "/measurement/" in message.topic:
            self.samples += len(json.loads(message.payload)["samples"])


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def promtool(*words: str, text: str = "") -> None:
    tool = subprocess.run(["promtool", *words], input=text, text=True, capture_output=True, check=False)
    require(tool.returncode == 0, f"promtool {' '.join(words)}: {tool.stdout}{tool.stderr}")
    require(words[1] != "metrics" or not tool.stdout + tool.stderr, f"promtool: {tool.stdout}{tool.stderr}")


def check(text: str, devices: int, vitals: bool) -> None:
    promtool("check", "metrics", text=text)
    require(PERSON not in text.lower(), "the metrics name a person")
    require(("vitals2mqtt_vital_value{" in text) == vitals, f"values are {'not ' if vitals else ''}among the metrics")
    for name in ("device_link_state", "device_last_sample_timestamp_seconds", "device_battery_ratio"):
        seen = {line.split('device="')[1].split('"')[0] for line in text.splitlines() if line.startswith(f"vitals2mqtt_{name}{{")}
        require(len(seen) == devices, f"{name} has {len(seen)} devices")


def rate(bench: Bench, seconds: float) -> tuple[float, float]:
    """Samples, and seconds of the processor, in a second."""
    began, samples, processor = time.monotonic(), bench.consumer.samples, bench.gateway.figures()["processor"]
    time.sleep(seconds)
    passed = time.monotonic() - began
    return (bench.consumer.samples - samples) / passed, (bench.gateway.figures()["processor"] - processor) / passed


def scrape(port: int, stop: threading.Event, times: list[float]) -> None:
    while not stop.wait(1 / SCRAPES):
        began = time.monotonic()
        if get(port, "/metrics")[0] == 200:
            times.append(time.monotonic() - began)


def health(bench: Bench, *options: str) -> tuple[int, str]:
    done = subprocess.run([bench.gateway.program, "health", "--config", bench.gateway.path, *options], text=True, capture_output=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


@row("Prometheus and a health check ask", "50 devices; ten scrapes a second, a reload with values, then no broker",
     "promtool finds nothing, nobody is named, samples come as fast; not ready but alive without the broker", is_apart=True,
     devices=50, seconds=30)
def metrics(bench: Bench) -> str:
    promtool("check", "rules", os.path.join(RULES, "rules.yaml"))
    promtool("test", "rules", os.path.join(RULES, "rules_test.yaml"))
    web, count, seconds = free_port(), bench.numbers.devices, bench.numbers.seconds
    devices = [{"id": f"band-{number}", "name": f"The band of {PERSON}", "person": PERSON, "driver": "simulator",
                "options": {"model": "band", "seed": number, "history_days": 1, "live_interval": "1s"}} for number in range(count)]

    def write(vitals: bool) -> None:
        bench.gateway.write(devices, web={"listen": f"127.0.0.1:{web}", "vital_metrics": vitals})
    bench.consumer = Counting(bench.mosquitto.port)
    bench.broker()
    write(vitals=False)
    bench.gateway.start()
    until(lambda: health(bench, "--ready")[0] == 0, 60, "it is not ready")
    until(lambda: get(web, "/metrics")[1].count("device_battery_ratio{") == count, 60, "not every device has said its battery")
    check(get(web, "/metrics")[1], count, vitals=False)
    time.sleep(5)
    alone, processor = rate(bench, seconds)
    stop, times = threading.Event(), []
    thread = threading.Thread(target=scrape, args=(web, stop, times))
    thread.start()
    scraped, more = rate(bench, seconds)
    stop.set()
    thread.join()
    times.sort()
    require(abs(scraped / alone - 1) <= DIFFERENCE, f"scrapes change the delivery from {alone:.1f} to {scraped:.1f} samples a second")
    write(vitals=True)
    bench.gateway.reload()
    until(lambda: "vitals2mqtt_vital_value{" in get(web, "/metrics")[1], 30, "no values after a reload")
    check(get(web, "/metrics")[1], count, vitals=True)
    bench.mosquitto.stop()
    status, answer = until(lambda: (found := health(bench, "--ready"))[0] != 0 and found, 60, "it is still ready without a broker")
    require(status == 1 and json.loads(answer)["late"] == ["broker"], f"without a broker it says {answer}")
    require((found := health(bench))[0] == 0, f"without a broker it is not alive: {found}")
    cost = (more - processor) / max(len(times) / seconds, 0.1) * 1e3
    return (f"{alone:.1f} samples/s without and {scraped:.1f} with {len(times) / seconds:.1f} scrapes/s; {cost:.2f} ms of processor a "
            f"scrape, answered in {times[len(times) // 2] * 1e3:.1f} ms, the slowest in {times[-1] * 1e3:.1f} ms")
