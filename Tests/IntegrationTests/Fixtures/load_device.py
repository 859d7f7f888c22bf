"""A heart-rate device under load, for tests: sends samples as requests, as fast as the gateway acknowledges them, or so many a second.

    load_device.py --tcp 127.0.0.1:0 --name NAME --journal FILE [--rate SAMPLES]

Every acknowledged sample is written to the journal as `id start`, and counted on standard error. What was not acknowledged
when the connection broke is sent again on the next one, in the same order, as a device with a memory would.
"""

import argparse
import os
import sys
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Campaigns", "kit"))
from peers import Load, Peers, sample_id  # noqa: E402


class Noted(Peers):
    """One device, which notes what is acknowledged."""

    def __init__(self, name: str, journal: str, rate: float | None) -> None:
        self.name = name
        self.journal = open(journal, "a", encoding="ascii")
        super().__init__()
        self.load(name, rate)

    def peer(self, _params: dict) -> str:
        return self.name

    def acknowledged(self, load: Load, start: int) -> None:
        super().acknowledged(load, start)
        self.journal.write(f"{sample_id(self.name, start)} {start}\n")
        self.journal.flush()
        print(f"acknowledged {len(load.acknowledged)}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tcp", required=True, choices=["127.0.0.1:0"], help="any free port, which standard error says")
    parser.add_argument("--name", required=True)
    parser.add_argument("--journal", required=True)
    parser.add_argument("--rate", type=float)
    arguments = parser.parse_args()
    print(f"listening {Noted(arguments.name, arguments.journal, arguments.rate).port}", file=sys.stderr, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
