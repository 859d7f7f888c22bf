#!/usr/bin/env python3
"""Runs inside the guest: the real bluetoothd, the emulated wearables, mosquitto and the gateway, judged by what a subscriber of MQTT
sees. Prints each finding with the seconds it took, goes on after one that does not come, and has status 1 then."""

import datetime
import glob
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any, Callable

# Both processes have the same day, also around midnight.
os.environ["RING_DAY"] = str(datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=1))

import figures  # noqa: E402  it reads the day

FOLDER = os.path.dirname(os.path.abspath(__file__))
LOGS = os.path.join(FOLDER, "logs")
STATE = "/tmp/gateway"  # the gateway's own folder, in the guest's memory
START = 60  # seconds until what is there is connected: an emulated processor is some ten times slower
BACK = 20  # seconds until a link is back
DESCRIPTORS = 4  # that a gateway may have more than before the faults
MEMORY = 16 << 10  # KiB that it may have more
REPEATED_LOSSES = 3
DEVICES = ("strap", "cuff", "oximeter", "ring", "night")
USER = 10001  # whom the gateway runs as
HOUR = 3600  # seconds of use, which the guest's clock passes over where nothing happens
LOSS_EVERY = 600  # seconds of it
PACE = 5  # seconds between live values meanwhile

GATEWAY = f"""
gateway: {{id: guest, timezone: UTC}}
mqtt: {{url: "mqtt://127.0.0.1:1883"}}
store: {{path: {STATE}/vitals.sqlite}}
devices:
  - id: strap
    name: Strap
    driver: gatt-health
    transport: {{type: bluez, address: "F0:00:00:00:00:01"}}
  - id: cuff
    name: Cuff
    driver: gatt-health
    transport: {{type: bluez, address: "F0:00:00:00:00:02", pairing: just_works}}
  - id: oximeter
    name: Oximeter
    driver: gatt-health
    transport: {{type: bluez, address: "F0:00:00:00:00:03"}}
  - id: ring
    name: Ring
    driver: colmi-ring
    transport: {{type: bluez, name: R02_A1B2}}
  - id: night
    name: Ring of the night
    driver: o2ring
    options: {{live_every: 10s}}
    transport: {{type: bluez, address: "F0:00:00:00:00:05"}}
"""

processes: dict[str, subprocess.Popen] = {}
failures: list[str] = []
began = time.monotonic()


def start(name: str, command: list[str], **options: Any) -> subprocess.Popen:
    if "stdout" not in options:
        options["stdout"] = open(os.path.join(LOGS, name), "ab")
    process = subprocess.Popen(command, stderr=open(os.path.join(LOGS, f"{name}.errors"), "ab"), **options)
    processes[name] = process
    return process


def until(what: str, holds: Callable[[], bool], within: float) -> None:
    since = time.monotonic()
    while not holds():
        for name, process in processes.items():
            if process.poll() is not None:
                raise SystemExit(f"FAILED  {what}: {name} ended with {process.returncode}")
        if time.monotonic() - since > within:
            failures.append(what)
            print(f"FAILED  {what}: not within {within:.0f} s", flush=True)
            return
        time.sleep(0.1)
    print(f"{time.monotonic() - began:6.1f} s  {what}: {time.monotonic() - since:.1f} s of {within:.0f} s", flush=True)


class Subscriber:
    """All that the gateway publishes, by an independent client."""

    def __init__(self) -> None:
        self.samples: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.states: dict[str, Any] = {}
        self.gaps: list[Any] = []
        command = ["mosquitto_sub", "-h", "127.0.0.1", "-V", "5", "-q", "1", "-t", "vitals2mqtt/#", "-F", "%j"]
        process = start("subscriber", command, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.receive, args=(process.stdout,), daemon=True).start()

    def receive(self, lines: Any) -> None:
        with open(os.path.join(LOGS, "messages"), "w", encoding="utf-8") as log:
            for line in lines:
                log.write(line)
                log.flush()
                message = json.loads(line)
                levels = message["topic"].split("/")
                if "measurement" in levels:
                    place = levels.index("measurement")
                    known = self.samples.setdefault((levels[place - 1], levels[place + 1]), [])
                    known.extend(json.loads(message["payload"])["samples"])
                elif levels[-1] == "link":
                    self.states[levels[-2]] = json.loads(message["payload"])["state"]
                elif levels[-2:] == ["event", "gap"]:
                    self.gaps.append(message["payload"])

    def of(self, device: str, metric: str) -> list[dict[str, Any]]:
        return list(self.samples.get((device, metric), []))


def command(text: str) -> None:
    with socket.create_connection(("127.0.0.1", figures.PORT), timeout=20) as port:
        port.sendall(text.encode() + b"\n")
        assert port.recv(16) == b"ok\n", text


def bluetoothd() -> None:
    program = (glob.glob("/usr/libexec/bluetooth/bluetoothd") + glob.glob("/usr/lib/bluetooth/bluetoothd"))[0]
    start("bluetoothd", [program, "-n", "-d"])


def has_adapter() -> bool:
    return "Controller" in subprocess.run(["bluetoothctl", "list"], capture_output=True, text=True, check=False).stdout


def cuff_values(subscriber: Subscriber) -> set[tuple[Any, ...]]:
    return {
        (sample["start"], *(sample["fields"][name] for name in ("systolic", "diastolic", "pulse")))
        for sample in subscriber.of("cuff", "blood_pressure")}


def expected_cuff(later: int) -> set[tuple[Any, ...]]:
    year, month, day = figures.CUFF_DAY
    records = figures.CUFF_RECORDS + figures.CUFF_LATER[:later]
    return {(f"{year}-{month:02}-{day:02}T{hour:02}:00:00.000Z", *rest) for hour, *rest in records}


def at(minutes: float) -> str:
    """The text of a moment of the day that the rings remember, by minutes from its midnight."""
    midnight = datetime.datetime.combine(figures.RING_DAY, datetime.time())
    return (midnight + datetime.timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def told(subscriber: Subscriber, device: str, metric: str) -> dict[str, Any]:
    """The values by their start."""
    return {sample["start"]: sample["value"] for sample in subscriber.of(device, metric)}


def ring_is_told(subscriber: Subscriber) -> bool:
    begin, end = figures.RING_SLEEP
    asleep = sum(minutes for depth, minutes in figures.RING_STAGES if depth != 5)
    wanted = {
        "heart_rate": {at(5 * slot): rate for slot, rate in enumerate(figures.RING_RATES)},
        "stress": {at(30 * slot): stress for slot, stress in enumerate(figures.RING_STRESS)},
        "steps": {at(60 * hour): steps for hour, steps, _ in figures.RING_STEPS},
        "blood_oxygen": {at(60 * hour): lowest for hour, lowest in enumerate(figures.RING_OXYGEN)},
        "sleep": {at(begin - 24 * 60): asleep},
    }
    ends = {sample["end"] for sample in subscriber.of("ring", "sleep")}
    return ends == {at(end)} and all(told(subscriber, "ring", metric) == values for metric, values in wanted.items())


def night_is_told(subscriber: Subscriber) -> bool:
    starts = [at(60 * figures.NIGHT_START + figures.NIGHT_INTERVAL * index / 60) for index in range(len(figures.NIGHT_RECORDS))]
    records = {start: record for start, record in zip(starts, figures.NIGHT_RECORDS)}
    return all(
        told(subscriber, "night", metric).items() >= {start: record[place] for start, record in records.items()}.items()
        for place, metric in enumerate(("blood_oxygen", "heart_rate")))


def publish(topic: str, payload: dict[str, Any]) -> None:
    subprocess.run(
        ["mosquitto_pub", "-h", "127.0.0.1", "-q", "1", "-t", f"vitals2mqtt/guest/{topic}", "-m", json.dumps(payload)], check=True)


def peripherals_said(line: str) -> bool:
    with open(f"{LOGS}/peripherals", encoding="utf-8") as log:
        return line in log.read().splitlines()


def footprint() -> tuple[int, int]:
    """Open descriptors and resident KiB of the gateway."""
    process = processes["gateway"].pid
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return len(os.listdir(f"/proc/{process}/fd")), resident


def independent_client() -> None:
    """What another program reads of the strap is what the gateway is judged by, too."""
    since = time.monotonic()
    with open(f"{LOGS}/client.errors", "ab") as errors:
        client = subprocess.run(
            [sys.executable, f"{FOLDER}/client.py"], stdout=subprocess.PIPE, stderr=errors, timeout=START * 2, check=False)
    seen = json.loads(client.stdout or "null")
    if seen != {"serial": figures.STRAP_SERIAL, "rates": sorted(figures.STRAP_RATES)}:
        failures.append("bleak reads the strap")
        print(f"FAILED  bleak reads the strap: {seen}", flush=True)
        return
    print(f"{time.monotonic() - began:6.1f} s  bleak reads the strap: {time.monotonic() - since:.1f} s", flush=True)


def scan(program: list[str], environment: dict[str, str]) -> None:
    """The command lists each wearable with the driver that recognises it."""
    since = time.monotonic()
    with open(f"{LOGS}/scan.errors", "ab") as errors:
        result = subprocess.run(
            [*program, "scan", "--json", "--config", f"{STATE}/gateway.yaml"], env=environment, stdout=subprocess.PIPE,
            stderr=errors, timeout=2 * START, check=False)
    seen = {device["name"]: device["driver"] for device in json.loads(result.stdout or "{}").get("devices", [])}
    wanted = {
        "Strap": "gatt-health", "Cuff": "gatt-health", "Oximeter": "gatt-health", "R02_A1B2": "colmi-ring", "O2Ring": "o2ring"}
    if seen != wanted:
        failures.append("scan lists the wearables")
        print(f"FAILED  scan lists the wearables: {seen}", flush=True)
        return
    print(f"{time.monotonic() - began:6.1f} s  scan lists the wearables: {time.monotonic() - since:.1f} s", flush=True)


def use_for_an_hour(subscriber: Subscriber) -> None:
    """All wearables tell live values, and the strap's link is lost now and then. Its values must be as many as the time allows."""
    command(f"pace {PACE}")
    for part in range(HOUR // LOSS_EVERY):
        command("leave Strap")
        until("the strap's link is lost", lambda: subscriber.states.get("strap") != "connected", BACK)
        command("come Strap")
        until("the strap is back", lambda: subscriber.states.get("strap") == "connected", BACK)
        before = len(subscriber.of("strap", "heart_rate")), len(subscriber.of("oximeter", "blood_oxygen"))
        time.sleep(LOSS_EVERY)
        came = (len(subscriber.of("strap", "heart_rate")) - before[0], len(subscriber.of("oximeter", "blood_oxygen")) - before[1])
        wanted = LOSS_EVERY // PACE - 2
        until(f"minute {(part + 1) * LOSS_EVERY // 60}: {came} live values", lambda: min(came) >= wanted, 0)
        print(f"descriptors {footprint()[0]}, memory {footprint()[1]} KiB", flush=True)


def check() -> None:
    os.makedirs(STATE)
    with open(f"{STATE}/gateway.yaml", "w", encoding="utf-8") as file:
        file.write(GATEWAY)
    with open(f"{STATE}/mosquitto.conf", "w", encoding="utf-8") as file:
        file.write("listener 1883 127.0.0.1\nallow_anonymous true\npersistence false\nmax_queued_messages 0\nuser root\n")
    start("peripherals", [sys.executable, f"{FOLDER}/peripherals.py"])
    start("mosquitto", ["mosquitto", "-c", f"{STATE}/mosquitto.conf"])
    until("the wearables advertise", lambda: "ready" in open(f"{LOGS}/peripherals", encoding="utf-8").read(), START)
    bluetoothd()
    until("bluetoothd has the adapter", has_adapter, START)
    independent_client()
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{FOLDER}/libraries"}
    # As an ordinary user without groups: bluetoothd's rights must be enough.
    with open("/etc/passwd", "a", encoding="ascii") as users:  # D-Bus serves nobody whom the system does not know
        users.write(f"gateway:x:{USER}:{USER}::/:/usr/sbin/nologin\n")
    os.chown(STATE, USER, USER)
    alone = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs"]
    scan([*alone, f"{FOLDER}/vitals2mqtt"], environment)
    subscriber = Subscriber()
    start("gateway", [*alone, f"{FOLDER}/vitals2mqtt", "run", "--config", f"{STATE}/gateway.yaml"], env=environment)

    def rates() -> set[int]:
        return {sample["value"] for sample in subscriber.of("strap", "heart_rate")}

    def all_are_connected(what: str) -> None:
        until(what, lambda: all(subscriber.states.get(device) == "connected" for device in DEVICES), BACK)

    def strap_goes_on(what: str, within: float) -> None:
        before = len(subscriber.of("strap", "heart_rate"))
        until(what, lambda: len(subscriber.of("strap", "heart_rate")) > before + 2, within)

    until("every rate of the strap arrives", lambda: rates() == set(figures.STRAP_RATES), START)
    until("the cuff is paired and its records arrive", lambda: cuff_values(subscriber) == expected_cuff(0), START)
    until(
        "the oximeter's stored spot checks arrive",
        lambda: {(sample["start"], sample["value"]) for sample in subscriber.of("oximeter", "blood_oxygen")} >= {
            ("{:04}-{:02}-{:02}T22:{:02}:00.000Z".format(*figures.CUFF_DAY, minute), oxygen)
            for minute, oxygen, pulse in figures.OXIMETER_RECORDS}, START)
    until(
        "the oximeter's live value arrives",
        lambda: any(sample["value"] == figures.OXIMETER_LIVE[0] for sample in subscriber.of("oximeter", "blood_oxygen")), START)
    until("the ring's day arrives", lambda: ring_is_told(subscriber), START)
    until("the recording of the night arrives", lambda: night_is_told(subscriber), START)
    until(
        "the present value of the night's ring arrives",
        lambda: figures.NIGHT_LIVE[0] in told(subscriber, "night", "blood_oxygen").values(), START)
    publish("ring/config/set", {"id": "interval", "heart_rate": {"schedule": {"interval_min": figures.RING_INTERVAL}}})
    publish("night/config/set", {"id": "limit", "blood_oxygen": {"alert": {"lower": figures.NIGHT_LIMIT}}})
    until(
        "the ring has its interval", lambda: peripherals_said(f"Ring measures each {figures.RING_INTERVAL} minutes"), BACK)
    until(
        "the night's ring has its limit", lambda: peripherals_said(f"O2Ring is set SetOxiThr {figures.NIGHT_LIMIT}"), BACK)
    before = footprint()

    def lose_the_link(later: int) -> None:
        command("leave Cuff")
        command("leave Strap")
        until("the strap's link is lost", lambda: subscriber.states.get("strap") != "connected", BACK)
        command("record")
        command("come Strap")
        command("come Cuff")
        strap_goes_on("the strap is back after a lost link", BACK)
        until("the cuff's record of meanwhile arrives", lambda: cuff_values(subscriber) == expected_cuff(later), BACK)

    lose_the_link(1)

    daemon = processes.pop("bluetoothd")
    daemon.kill()
    daemon.wait()
    until("bluetoothd's end is told", lambda: subscriber.states.get("strap") != "connected", BACK)
    command("record")
    bluetoothd()
    strap_goes_on("the strap is back after bluetoothd was killed", BACK)
    until("the cuff's record of meanwhile arrives", lambda: cuff_values(subscriber) == expected_cuff(2), BACK)
    all_are_connected("every wearable is back after bluetoothd was killed")

    command("unplug")
    until("the adapter's end is told", lambda: subscriber.states.get("strap") != "connected", BACK)
    command("record")
    command("plug")
    strap_goes_on("the strap is back after the adapter was unplugged", BACK)
    until("the cuff's record of meanwhile arrives", lambda: cuff_values(subscriber) == expected_cuff(3), BACK)
    all_are_connected("every wearable is back after the adapter was unplugged")

    for _ in range(REPEATED_LOSSES):
        command("leave Strap")
        until("the strap's link is lost", lambda: subscriber.states.get("strap") != "connected", BACK)
        command("come Strap")
        strap_goes_on("the strap is back after a lost link", BACK)
    use_for_an_hour(subscriber)

    after = footprint()
    print(f"descriptors {before[0]} and {after[0]}, memory {before[1]} and {after[1]} KiB", flush=True)
    until("descriptors are bounded", lambda: footprint()[0] <= before[0] + DESCRIPTORS, BACK)
    until("memory is bounded", lambda: footprint()[1] <= before[1] + MEMORY, BACK)

    for (device, metric), samples in subscriber.samples.items():
        revisions = [(sample["id"], sample["rev"]) for sample in samples]
        if len(revisions) != len(set(revisions)):
            raise SystemExit(f"FAILED  {device} {metric}: an id came twice")
    if subscriber.gaps:
        raise SystemExit(f"FAILED  something was lost: {subscriber.gaps[:3]}")
    print("no id came twice, and nothing is told as lost", flush=True)

    gateway = processes.pop("gateway")
    gateway.send_signal(signal.SIGTERM)
    if gateway.wait(BACK) != 0:
        raise SystemExit(f"FAILED  the gateway ended with {gateway.returncode}")
    if failures:
        raise SystemExit(f"Failed: {'; '.join(failures)}")


def main() -> None:
    os.makedirs(LOGS, exist_ok=True)
    try:
        check()
    finally:
        for process in processes.values():
            process.kill()


main()
