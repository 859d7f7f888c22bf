"""Other programs that use the same bluetoothd, and the commands for people."""

import json
import os
import pty
import re
import subprocess
import sys
import time

import figures
from programs import CONFIGURATION, ENVIRONMENT, FOLDER, LOGS, START, STATE, VITALS2MQTT, found

SCANNED = {
    "Strap": "gatt-health (by its services)", "Cuff": "gatt-health (by its services)",
    "Oximeter": "gatt-health (by its services)", "Scale": "gatt-health (by its services)",
    "R02_A1B2": "colmi-ring (by its services)", "O2Ring": "o2ring (by its services)"}
CONFIGURED = {"Strap": "strap", "Cuff": "cuff", "Oximeter": "oximeter", "R02_A1B2": "ring", "O2Ring": "night", "Scale": "scale"}


def vitals2mqtt(*arguments: str) -> subprocess.CompletedProcess:
    """Runs a command of the program without a terminal."""
    return subprocess.run(
        [*VITALS2MQTT, *arguments], env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=2 * START, check=False)


def independent_client() -> None:
    """What another program reads of the strap is what the gateway is checked by, too."""
    since = time.monotonic()
    with open(f"{LOGS}/client.errors", "ab") as errors:
        client = subprocess.run(
            [sys.executable, f"{FOLDER}/client.py"], stdout=subprocess.PIPE, stderr=errors, timeout=START * 2, check=False)
    seen = json.loads(client.stdout or "null")
    wanted = {"serial": figures.STRAP_SERIAL, "rates": sorted(figures.STRAP_RATES)}
    found("bleak reads the strap", seen == wanted, seen, since)


def scan() -> None:
    """Lists each wearable with its signal, its address, the driver that recognises it, and the device that it is."""
    since = time.monotonic()
    result = vitals2mqtt("scan", "--config", CONFIGURATION)
    rows = [re.split(r"  +", line) for line in result.stdout.splitlines()[1:]]
    seen = {row[2]: (row[3], row[4]) for row in rows if len(row) == 5 and row[0].endswith(" dBm")}
    wanted = {name: (driver, f"is {CONFIGURED[name]}") for name, driver in SCANNED.items()}
    found("scan lists the wearables", result.returncode == 0 and seen == wanted, result, since)


def doctor(what: str, status: int, *lines: str) -> None:
    """Says these lines, apart from the width of the columns, and has this status."""
    since = time.monotonic()
    result = vitals2mqtt("doctor", "--config", CONFIGURATION)
    seen = [" ".join(line.split()) for line in result.stdout.splitlines()]
    found(what, result.returncode == status and all(line in seen for line in lines), result, since)


def is_accepted(entry: str) -> bool:
    """Whether a gateway with the entry alone would start."""
    file = f"{STATE}/added.yaml"
    with open(file, "w", encoding="utf-8") as configuration:
        configuration.write('gateway: {id: guest, timezone: UTC}\nmqtt: {url: "mqtt://127.0.0.1:1883"}\n')
        configuration.write(f"store: {{path: {STATE}/added.sqlite}}\ndevices:\n{entry}")
    os.chmod(file, 0o644)
    return vitals2mqtt("check-config", "--config", file).returncode == 0


def add() -> None:
    """Prints an entry that check-config accepts: as a script calls it, and with the answers of a person at a terminal."""
    since = time.monotonic()
    result = vitals2mqtt(
        "add", "--config", CONFIGURATION, "--device", "Scale", "--id", "bathroom", "--transport", "pairing=ask")
    lines = result.stdout.splitlines()
    holds = (
        result.returncode == 0 and lines[:1] == ["  - id: bathroom"] and "    driver: gatt-health" in lines
        and "      pairing: ask" in lines and "F0:00:00:00:00:06" in result.stdout and is_accepted(result.stdout))
    found("add prints an entry for a script", holds, result, since)
    since = time.monotonic()
    entry, questions = answered("O2Ring", "bedside", "Bedside ring")
    lines = entry.splitlines()
    holds = (
        lines[:1] == ["  - id: bedside"] and "    driver: o2ring" in lines and '    name: "Bedside ring"' in lines
        and "F0:00:00:00:00:05" in entry and is_accepted(entry))
    found("add asks at a terminal", holds, (entry, questions), since)


def answered(device: str, *answers: str) -> tuple[str, str]:
    """What `add` prints to standard output, and its questions, of which the first one is answered with the number of a device."""
    ours, terminal = pty.openpty()
    program = subprocess.Popen(
        [*VITALS2MQTT, "add", "--config", CONFIGURATION], env=ENVIRONMENT, stdin=terminal, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, bufsize=0)
    os.close(terminal)
    questions, left = "", list(answers)
    while chunk := program.stderr.read(4096):
        questions += chunk.decode()
        if not questions.endswith(("? ", "]: ")):
            continue
        number = re.search(rf"^(\d+)  {device}  ", questions, re.MULTILINE)
        if questions.endswith("? ") and number:
            os.write(ours, number[1].encode() + b"\n")
        elif left:
            os.write(ours, left.pop(0).encode() + b"\n")
        else:
            program.terminate()
    entry = program.stdout.read().decode()
    program.wait(START)
    os.close(ours)
    return entry, questions
