"""Puts the real gateway under one fault after the other, from outside, and prints a table. See Tests/Campaigns/faults/run."""

import argparse
import importlib
import os
import signal
import sys
import tempfile
import textwrap
import time
import traceback
from types import SimpleNamespace

from peers import Peers
from rig import ROWS, Bench, Finding, Row

# The rows of the table, in this order.
for part in "log bluetooth broker device disk life phone takeover watchdog storm soak metrics stranger hostile page".split():
    importlib.import_module(f"{part}_rows")

COLUMNS = {"fault": 30, "what is done": 30, "what must hold": 34, "before": 40, "result": 50, "s": 5}
KILL_ROWS = ("kills_with_broker", "kills_without_broker")


def run(row: Row, program: str, arguments: argparse.Namespace, peers: Peers) -> tuple[bool, str, float]:
    """Runs a row with this program. Returns whether it holds, the result in words, and how many seconds it took."""
    kills = arguments.kills // 2 if arguments.kills else 10 if arguments.quick else 50
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="vitals2mqtt-faults-") as folder:
        bench = Bench(program, folder, peers, arguments.quick, kills)
        bench.numbers = SimpleNamespace(**{name: arguments.set.get(name, usual) for name, usual in row.numbers.items()})
        try:
            outcome = (True, row.function(bench))
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
    for row, before, (_, result, seconds) in results:
        line((row.fault, row.done, row.holds, *([before[1]] if has_before else []), result, f"{seconds:.1f}"))
        print()


def numbers(given: list[str], chosen: list[Row], fail) -> dict:
    """The values of `--set NAME=VALUE`, as numbers where the usual one is a number."""
    known = {name: type(usual) for row in chosen for name, usual in row.numbers.items()}
    values = {}
    for name, _, value in (pair.partition("=") for pair in given):
        if name not in known:
            fail(f"these rows have no {name}; they have {', '.join(known) or 'nothing to set'}")
        try:
            values[name] = known[name](value)
        except ValueError:
            fail(f"{name} must be a number, not '{value}'")
    return values


def main() -> int:
    usual, apart = ([row.name for row in ROWS if row.is_apart is is_apart] for is_apart in (False, True))
    settings = "; ".join(f"{row.name}: {', '.join(f'{name}={value}' for name, value in row.numbers.items())}" for row in ROWS if row.numbers)
    parser = argparse.ArgumentParser(prog="Tests/Campaigns/faults/run", description=__doc__)
    parser.add_argument("--gateway", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="smaller numbers: some 5 minutes")
    parser.add_argument("--only", metavar="ROW,…", help=f"only these rows: {', '.join(usual)}; or those that run only so: {', '.join(apart)}")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help=f"another number for rows that have it ({settings})")
    parser.add_argument("--before", metavar="PROGRAM", help="an earlier build of the gateway: each row runs with it, too, and the table says what it did")
    parser.add_argument("--kills", type=int, metavar="N", help="only kill -9, so many times, half of them with the broker offline")
    arguments = parser.parse_args()
    if arguments.kills is not None and not 2 <= arguments.kills <= 100_000:
        parser.error("--kills needs a number from 2 to 100000")
    names = arguments.only.split(",") if arguments.only else usual if arguments.kills is None else KILL_ROWS
    if unknown := set(names) - {*usual, *apart}:
        parser.error(f"there is no row {', '.join(sorted(unknown))}; the rows are {', '.join([*usual, *apart])}")
    chosen = [row for row in ROWS if row.name in names]
    arguments.set = numbers(arguments.set, chosen, parser.error)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    peers = Peers()
    results = []
    for row in chosen:
        before = None
        if arguments.before:
            before = run(row, os.path.abspath(arguments.before), arguments, peers)
            print(f"{row.name}, before: {before[1]} ({before[2]:.1f} s)", flush=True)
        results.append((row, before, run(row, os.path.abspath(arguments.gateway), arguments, peers)))
        _, result, seconds = results[-1][2]
        print(f"{row.name}: {result} ({seconds:.1f} s)", flush=True)
    print()
    table(results, has_before=arguments.before is not None)
    failed = [row.name for row, _, (holds, _, _) in results if not holds]
    total = sum(seconds for _, _, (_, _, seconds) in results)
    print(f"{len(results) - len(failed)} of {len(results)} rows hold, in {total:.0f} s.")
    if failed:
        print(f"Again: Tests/Campaigns/faults/run --only {','.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
