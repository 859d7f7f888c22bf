"""Puts the real gateway under one fault after the other, from outside, and prints a table. See Tests/Campaigns/faults/run."""

import argparse
import os
import signal
import sys
import tempfile
import textwrap
import time
import traceback

import log_rows  # noqa: F401  the rows of the table, in this order
import bluetooth_rows  # noqa: F401
import broker_rows  # noqa: F401
import device_rows  # noqa: F401
import disk_rows  # noqa: F401
import life_rows  # noqa: F401
import phone_rows  # noqa: F401
import takeover_rows  # noqa: F401
import watchdog_rows  # noqa: F401
from devices import Peers
from rig import ROWS, Bench, Finding

COLUMNS = {"fault": 30, "what is done": 30, "what must hold": 34, "before": 40, "result": 50, "s": 5}
KILL_ROWS = ("kills_with_broker", "kills_without_broker")


def run(row, program: str, arguments: argparse.Namespace, peers: Peers) -> tuple[bool, str, float]:
    """Runs a row with this program. Returns whether it holds, the result in words, and how many seconds it took."""
    function = row[4]
    kills = arguments.kills // 2 if arguments.kills else 10 if arguments.quick else 50
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="vitals2mqtt-faults-") as folder:
        bench = Bench(program, folder, peers, arguments.quick, kills)
        try:
            outcome = (True, function(bench))
        except Finding as finding:
            outcome = (False, f"FAILED: {finding}")
            print("".join(bench.gateway.lines[-30:]) + bench.gateway.stacks(), flush=True)
        except Exception as error:  # an error of the row: the others run all the same
            outcome = (False, f"FAILED: {error!r}")
            traceback.print_exc()
        finally:
            bench.end()
            peers.forget()
    return *outcome, time.monotonic() - began


def table(results, has_before: bool) -> None:
    columns = {heading: width for heading, width in COLUMNS.items() if has_before or heading != "before"}

    def line(cells) -> None:
        parts = [textwrap.wrap(cell, width) or [""] for cell, width in zip(cells, columns.values())]
        for index in range(max(map(len, parts))):
            texts = (part[index] if index < len(part) else "" for part in parts)
            print("  ".join(text.ljust(width) for text, width in zip(texts, columns.values())).rstrip())
    line(columns)
    line(["-" * width for width in columns.values()])
    for (_, fault, done, holds, _), before, (_, result, seconds) in results:
        line((fault, done, holds, *([before[1]] if has_before else []), result, f"{seconds:.1f}"))
        print()


def main() -> int:
    names = [row[0] for row in ROWS]
    parser = argparse.ArgumentParser(prog="Tests/Campaigns/faults/run", description=__doc__)
    parser.add_argument("--gateway", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="smaller numbers: some 5 minutes")
    parser.add_argument("--only", metavar="ROW,…", help=f"only these rows: {', '.join(names)}")
    parser.add_argument("--before", metavar="PROGRAM", help="an earlier build of the gateway: each row runs with it, too, and the table says what it did")
    parser.add_argument("--kills", type=int, metavar="N", help="only kill -9, so many times, half of them with the broker offline")
    arguments = parser.parse_args()
    if arguments.kills is not None and not 2 <= arguments.kills <= 100_000:
        parser.error("--kills needs a number from 2 to 100000")
    chosen = arguments.only.split(",") if arguments.only else names if arguments.kills is None else KILL_ROWS
    if unknown := set(chosen) - set(names):
        parser.error(f"there is no row {', '.join(sorted(unknown))}; the rows are {', '.join(names)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    peers = Peers()
    results = []
    for row in ROWS:
        if row[0] not in chosen:
            continue
        before = None
        if arguments.before:
            before = run(row, os.path.abspath(arguments.before), arguments, peers)
            print(f"{row[0]}, before: {before[1]} ({before[2]:.1f} s)", flush=True)
        results.append((row, before, run(row, arguments.gateway, arguments, peers)))
        _, result, seconds = results[-1][2]
        print(f"{row[0]}: {result} ({seconds:.1f} s)", flush=True)
    print()
    table(results, has_before=arguments.before is not None)
    failed = [row[0] for row, _, (holds, _, _) in results if not holds]
    total = sum(seconds for _, _, (_, _, seconds) in results)
    print(f"{len(results) - len(failed)} of {len(results)} rows hold, in {total:.0f} s.")
    if failed:
        print(f"Again: Tests/Campaigns/faults/run --only {','.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
