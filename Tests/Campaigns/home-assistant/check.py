#!/usr/bin/env python3
"""Tries the gateway with a real Home Assistant: everything is started here, on free ports of loopback, and ended here.

    check.py --gateway PROGRAM VERSION…        of versions that `hass install` installed

Prints what was found, and ends with 1 where something is not as it should be.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from typing import Any, Callable, Optional

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import backfill
import board
import controls
import entities
import life
import midnight
import passkeys
import seen
from connection import Refused
from processes import Finding
from trial import Trial

CHECKS: list[Callable[[Trial], str]] = [
    entities.exist, entities.are_hidden, entities.are_grouped, entities.are_described, entities.show_values,
    entities.show_attributes, controls.numbers_reach_the_device, controls.switches_reach_the_device,
    controls.times_reach_the_device, controls.refused_values_fall_back, controls.measurements_fail, life.leave,
    controls.buttons_act, controls.measurements_are_shown, controls.measurements_are_stopped, controls.alerts_arrive,
    seen.asks_one_after_the_other, seen.stops_with_the_button, seen.stops_with_the_alert,
    life.of_an_offline_device, controls.settings_wait, controls.settings_drift, life.of_the_gateway,
    life.of_a_device_that_is_removed, passkeys.are_typed, seen.is_raised, life.of_home_assistant,
    seen.asks_again_after_a_start, life.statistics, life.of_discovery, life.log,
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gateway", required=True)
    parser.add_argument(
        "--only", choices=["entities", "backfill", "midnight", "dashboard"], action="append",
        help="skip the other trials; may be repeated")
    parser.add_argument("--pictures", metavar="FOLDER", help="keep the pictures of the dashboard there")
    parser.add_argument("versions", nargs="+")
    arguments = parser.parse_args()
    board.Board.pictures = arguments.pictures
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    findings = 0
    for version in arguments.versions:
        findings += run(version, arguments.gateway, arguments.only)
    print(f"{findings} finding{'' if findings == 1 else 's'}")
    return 1 if findings else 0


def stop(number: int, _: Any) -> None:
    sys.exit(128 + number)


def run(version: str, program: str, only: Optional[list[str]]) -> int:
    findings = 0
    # `.ci/run` names them, since it lets them run side by side.
    for name, make, checks in (
        ("entities", Trial, CHECKS), ("backfill", backfill.Backfill, backfill.CHECKS),
        ("midnight", midnight.Before, midnight.OVER), ("midnight", midnight.After, midnight.CHECKS),
        ("dashboard", board.Board, board.CHECKS),
    ):
        if not only or name in only:
            findings += run_one(make, checks, version, program)
    return findings


def run_one(make: Any, checks: list[Callable[[Any], str]], version: str, program: str) -> int:
    folder = tempfile.mkdtemp(prefix="vitals2mqtt-")
    trial = make(folder, version, program)
    findings = 0
    try:
        findings = try_all(trial, checks)
        if findings:
            for name in ("gateway", "home-assistant"):
                print(f"-- the end of the log of {name}\n{trial.processes.tail(name)}", flush=True)
    finally:
        # A second Ctrl-C does not interrupt it.
        handlers = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        trial.processes.end_all()
        shutil.rmtree(folder, ignore_errors=True)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return findings


def try_all(trial: Any, checks: list[Callable[[Any], str]]) -> int:
    began = time.monotonic()
    try:
        trial.begin()
    except (Finding, Refused, OSError) as error:
        print(f"Home Assistant {trial.version} could not be started: {error}", flush=True)
        return 1
    version = trial.home.connection.get("/api/config")["version"]
    print(f"== Home Assistant {version}, ready after {time.monotonic() - began:.0f} s", flush=True)
    findings = 0
    for check in checks:
        started = time.monotonic()
        try:
            trial.processes.check()
            result = f"ok    {check.__doc__} ({check(trial)})"
        except Exception as error:  # a failed check must not prevent the others
            findings += 1
            known = isinstance(error, (Finding, Refused))
            result = f"WRONG {check.__doc__}:\n{error if known else traceback.format_exc()}"
        print(f"{time.monotonic() - started:6.1f} s  {result}", flush=True)
    return findings


if __name__ == "__main__":
    sys.exit(main())
