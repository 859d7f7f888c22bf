#!/usr/bin/env python3
"""Runs inside the guest: the real bluetoothd, the emulated wearables, mosquitto and the gateway, checked by what a subscriber of MQTT
sees. Prints each result with the seconds it took, goes on after one that does not come, and has status 1 then."""

import os
import sys
import time
from typing import Callable

import figures
import passkeys
import tools
from expected import (
    cuff_values, expected_cuff, night_is_received, oximeter_is_received, ring_is_received, scale_is_received, time_is_set)
from programs import (
    BACK, CONFIGURATION, FOLDER, LOGS, START, STATE, USER, bluetoothd, command, failures, footprint, gateway, gateway_said,
    has_adapter, peripherals_said, processes, start, stop_gateway, until)
from subscriber import Subscriber, publish

DESCRIPTORS = 4  # that a gateway may have more than before the faults
MEMORY = 16 << 10  # KiB that it may have more
REPEATED_LOSSES = 3
DEVICES = ("strap", "cuff", "oximeter", "ring", "night", "scale")
HOUR = 3600  # seconds of use, which the guest's clock passes over where nothing happens
LOSS_EVERY = 600  # seconds of it
PACE = 5  # seconds between live values meanwhile
NIGHT_PACE = 10  # seconds after which the night's ring is asked for its present values again

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
    options: {{live_every: {NIGHT_PACE}s}}
    transport: {{type: bluez, address: "F0:00:00:00:00:05"}}
  - id: scale
    name: Scale
    driver: gatt-health
    transport: {{type: bluez, address: "F0:00:00:00:00:06", pairing: ask}}
plugins:
  bluez: {{links: 6}}
"""


def lose_strap(subscriber: Subscriber, end: Callable[[], object], what: str = "the strap's link is lost") -> float:
    """Does what ends the link, and waits until that is reported. Returns when it began."""
    since = time.monotonic()
    end()
    until(what, lambda: subscriber.was_lost("strap", since), BACK)
    return since


def use_for_an_hour(subscriber: Subscriber) -> None:
    """All wearables stay, and the strap's link is lost now and then. Live values must be as many as the time allows."""
    command(f"pace {PACE}")
    wanted = {
        ("strap", "heart_rate"): LOSS_EVERY // PACE - 2, ("oximeter", "blood_oxygen"): LOSS_EVERY // PACE - 2,
        # The pause is between an answer and the next question, so it is a little longer from value to value.
        ("night", "blood_oxygen"): LOSS_EVERY // NIGHT_PACE * 9 // 10}
    for part in range(HOUR // LOSS_EVERY):
        lost = lose_strap(subscriber, lambda: command("leave Strap"))
        come = command("come Strap")
        until("the strap is back", lambda: subscriber.is_back("strap", lost), BACK, come)
        back = time.monotonic()
        time.sleep(LOSS_EVERY)
        came = {place: len(subscriber.measured(*place, back)) for place in wanted}
        minute = (part + 1) * LOSS_EVERY // 60
        until(
            f"minute {minute}: {list(came.values())} live values",
            lambda: all(came[place] >= least for place, least in wanted.items()), 0)
        stayed = [device for device in DEVICES if not subscriber.was_lost(device, back)]
        until(f"minute {minute}: {' '.join(stayed)} stayed connected", lambda: len(stayed) == len(DEVICES), 0)
        print(f"descriptors {footprint()[0]}, memory {footprint()[1]} KiB", flush=True)


def check() -> None:
    os.makedirs(STATE)
    with open(CONFIGURATION, "w", encoding="utf-8") as file:
        file.write(GATEWAY)
    with open(f"{STATE}/mosquitto.conf", "w", encoding="utf-8") as file:
        file.write("listener 1883 127.0.0.1\nallow_anonymous true\npersistence false\nmax_queued_messages 0\nuser root\n")
    start("peripherals", [sys.executable, f"{FOLDER}/peripherals.py"])
    start("mosquitto", ["mosquitto", "-c", f"{STATE}/mosquitto.conf"])
    until("the wearables advertise", lambda: "ready" in peripherals_said(), START)
    bluetoothd()
    until("bluetoothd has the adapter", has_adapter, START)
    with open("/etc/passwd", "a", encoding="ascii") as users:  # D-Bus serves nobody whom the system does not know
        users.write(f"gateway:x:{USER}:{USER}::/:/usr/sbin/nologin\n")
    os.chown(STATE, USER, USER)
    tools.independent_client()
    tools.scan()
    tools.add()
    tools.doctor(
        "doctor finds broker and Bluetooth fine", 0, "ok bluetooth BlueZ serves this user over D-Bus.",
        "ok bluetooth The adapter hci0 is on.",
        "ok broker mqtt://127.0.0.1:1883 lets the gateway in, and subscribe to its commands.")
    command("leave Scale")
    subscriber = Subscriber()
    started = gateway()

    def rates() -> set[int]:
        return {sample["value"] for sample in subscriber.of("strap", "heart_rate")}

    def live_oxygen(device: str) -> set[int]:
        return {sample["value"] for sample in subscriber.measured(device, "blood_oxygen", started)}

    def all_are_back(what: str, within: float, since: float, lost: float) -> None:
        until(what, lambda: all(subscriber.is_back(device, lost) for device in DEVICES), within, since)

    def strap_goes_on(what: str, since: float, lost: float) -> None:
        until(
            what, lambda: subscriber.is_back("strap", lost) and len(subscriber.measured("strap", "heart_rate", since)) > 2,
            BACK, since)

    until("every rate of the strap arrives", lambda: rates() == set(figures.STRAP_RATES), START, started)
    until("the cuff is paired and its records arrive", lambda: cuff_values(subscriber) == expected_cuff(0), START, started)
    until("the cuff has the time", lambda: time_is_set(peripherals_said()), START, started)
    until("the oximeter's stored spot checks arrive", lambda: oximeter_is_received(subscriber), START, started)
    until(
        "the oximeter's live value arrives", lambda: figures.OXIMETER_LIVE[0] in live_oxygen("oximeter"), START, started)
    until("the ring's day arrives", lambda: ring_is_received(subscriber), START, started)
    until("the recording of the night arrives", lambda: night_is_received(subscriber), START, started)
    until(
        "the present value of the night's ring arrives", lambda: figures.NIGHT_LIVE[0] in live_oxygen("night"), START, started)
    said = len(peripherals_said())
    publish("ring/config/set", {"id": "interval", "heart_rate": {"schedule": {"interval_min": figures.RING_INTERVAL}}})
    publish("night/config/set", {"id": "limit", "blood_oxygen": {"alert": {"lower": figures.NIGHT_LIMIT}}})
    until(
        "the ring has its interval",
        lambda: f"Ring measures each {figures.RING_INTERVAL} minutes" in peripherals_said(said), BACK)
    until(
        "the night's ring has its limit",
        lambda: f"O2Ring is set SetOxiThr {figures.NIGHT_LIMIT}" in peripherals_said(said), BACK)
    passkeys.pair(subscriber)
    lost = time.monotonic()
    restarted = passkeys.restart(subscriber)
    all_are_back("every wearable is back after the gateway was restarted", START, restarted, lost)
    before = footprint()

    def mended(
        what: str, later: int, end: Callable[[], object], mend: Callable[[], float], reported: str, without: str = "", advice: str = ""
    ) -> None:
        """Does what ends links, and mends it. With advice of doctor, all links are lost, and the scale's too."""
        lost = lose_strap(subscriber, end, reported)
        if advice:
            tools.doctor(f"doctor says what to do without {without}", 1, f"FAIL bluetooth {advice}")
            command("weigh")
        command("record")
        said = len(peripherals_said())
        since = mend()
        strap_goes_on(f"the strap is back after {what}", since, lost)
        until("the cuff's record of meanwhile arrives", lambda: cuff_values(subscriber) == expected_cuff(later), BACK, since)
        until(f"the cuff has the time after {what}", lambda: time_is_set(peripherals_said(said)), BACK, since)
        if advice:
            all_are_back(f"every wearable is back after {what}", BACK, since, lost)
            until("the scale's record of meanwhile arrives", lambda: scale_is_received(subscriber, later), BACK, since)

    def come_again() -> float:
        come = command("come Strap")
        command("come Cuff")
        return come

    def kill_daemon() -> None:
        daemon = processes.pop("bluetoothd")
        daemon.kill()
        daemon.wait()

    command("leave Cuff")
    mended("a lost link", 1, lambda: command("leave Strap"), come_again, "the strap's link is lost")
    mended("bluetoothd was killed", 2, kill_daemon, bluetoothd, "bluetoothd's end is reported", "bluetoothd",
           "BlueZ does not run. Start it: systemctl start bluetooth.")
    mended("the adapter was unplugged", 3, lambda: command("unplug"), lambda: command("plug"), "the adapter's end is reported",
           "an adapter", "There is no Bluetooth adapter. Plug it in.")
    passkeys.nobody_is_asked(subscriber)

    for _ in range(REPEATED_LOSSES):
        lost = lose_strap(subscriber, lambda: command("leave Strap"))
        strap_goes_on("the strap is back after a lost link", command("come Strap"), lost)
    use_for_an_hour(subscriber)

    after = footprint()
    print(f"descriptors {before[0]} and {after[0]}, memory {before[1]} and {after[1]} KiB", flush=True)
    until("descriptors are bounded", lambda: footprint()[0] <= before[0] + DESCRIPTORS, BACK)
    until("memory is bounded", lambda: footprint()[1] <= before[1] + MEMORY, BACK)

    # Each wearable measures a record once and never corrects it, so no revision is due: two records with one id are two values of
    # which a consumer keeps one.
    for (device, metric), samples in subscriber.samples.items():
        identities = [sample["id"] for sample in samples]
        if len(identities) != len(set(identities)):
            twice = [sample for sample in samples if identities.count(sample["id"]) > 1]
            raise SystemExit(f"FAILED  {device} {metric}: an id came twice: {twice[:4]}")
    if subscriber.gaps:
        raise SystemExit(f"FAILED  something was lost: {subscriber.gaps[:3]}")
    print("no id came twice, and nothing is reported as lost", flush=True)
    said = gateway_said()
    until("the gateway's log is read", lambda: "A device is paired." in said, 0)
    until("the time is offered to all devices", lambda: "The time is not offered" not in said, 0)

    stop_gateway()
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
