"""Has gateways talk with brokers that speak rubbish, and then with a real one. See Tests/Campaigns/strangers/run."""

import argparse
import contextlib
import os
import signal
import socket
import struct
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))
from broker_rows import replay  # noqa: E402
from devices import Peers  # noqa: E402
from rig import ROOT, Bench, Finding, require  # noqa: E402
from rubbish import Rubbish, accepted  # noqa: E402

GATEWAYS = 4  # at the same time, since each waits up to 1.5 s between two connections
EACH = 75  # conversations of a gateway: after five minutes it would wait longer
NEXT = 30.0  # seconds until the gateway connects again at the latest: an attempt that got no answer takes ten
MEMORY = 256  # MiB that the process may have had at most; half of what the shipped unit allows
BACK = 5.0  # seconds until the links of all devices are published at the real broker
RATE = 10  # samples of a device in a second


class Stranger:
    """A broker that speaks rubbish, on one port. One conversation after the other."""

    def __init__(self, port: int, seed: str) -> None:
        self.seed = seed
        self.kinds: Counter = Counter()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=16)
        self.listener.settimeout(NEXT)
        self.last = ""

    def converse(self, number: int) -> None:
        """Serves the next connection. Its rubbish follows from the seed and the number."""
        try:
            client, _ = self.listener.accept()
        except TimeoutError:
            raise Finding(f"the gateway does not connect again within {NEXT:.0f} s") from None
        with client, contextlib.suppress(OSError):
            client.settimeout(1)
            level = self.level(client)
            rubbish = Rubbish(f"{self.seed}/{number}", level)
            choice = rubbish.random
            is_first = choice.random() < 0.5
            self.kinds[f"MQTT {'5' if level == 5 else '3.1.1'}, {'instead of' if is_first else 'after'} CONNACK"] += 1
            data = rubbish.message(is_first)
            if choice.random() < 0.3:
                data = data[:choice.randint(0, len(data))]
            self.last = f"conversation {number} of seed {self.seed}, level {level}: {data[:60].hex(' ')}"
            if not is_first:
                client.sendall(accepted(level))
                self.listen(client, choice.uniform(0, 0.3))
            cut = choice.randint(0, len(data))
            for piece in (data[:cut], data[cut:]):
                client.sendall(piece)
                self.listen(client, choice.uniform(0, 0.1))
            self.listen(client, choice.choice([0, 0.05, 0.5]))
            if choice.random() < 0.3:  # a reset instead of an end
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    @staticmethod
    def level(client: socket.socket) -> int:
        """Reads the start of CONNECT, and returns the level of the protocol after its name; 4 if there is none."""
        data = b""
        while b"MQTT" not in data or len(data) <= data.index(b"MQTT") + 4:
            more = client.recv(4096)
            if not more:
                return 4
            data += more
        return data[data.index(b"MQTT") + 4]

    @staticmethod
    def listen(client: socket.socket, seconds: float) -> None:
        """Reads what comes for a while, and answers nothing."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            client.settimeout(left)
            with contextlib.suppress(TimeoutError):
                if not client.recv(1 << 16):
                    return
        client.settimeout(1)

    def end(self) -> None:
        self.listener.close()


def trial(program: str, peers: Peers, index: int, seed: str, count: int) -> tuple[Counter, int, str]:
    """One gateway: so many conversations, then the real broker. Returns the conversations by kind, the samples, and figures."""
    names = [f"band{index}", f"ring{index}"]
    with tempfile.TemporaryDirectory(prefix="vitals2mqtt-strangers-") as folder:
        bench = Bench(program, folder, peers, True, 0)
        stranger = Stranger(bench.mosquitto.port, f"{seed}/{index}")
        try:
            bench.gateway.mqtt = {"protocol": "auto"}
            loads = [peers.load(name, rate=RATE) for name in names]
            bench.gateway.write([peers.device(name) for name in names])
            bench.gateway.start()
            for number in range(count):
                try:
                    stranger.converse(number)
                finally:
                    check(bench, stranger.last)
            stranger.end()
            bench.broker()
            began = time.monotonic()
            for name in names:
                # A state at which the broker cut the connection again and again is skipped for minutes, which is logged.
                if not any("is not sent any more" in line and f"{ROOT}/{name}/link" in line for line in bench.gateway.lines):
                    bench.served(name, max(0.1, began + BACK - time.monotonic()))
            took = time.monotonic() - began
            bench.end_loads(*names)
            samples = deliver(bench, {name: list(load.acknowledged) for name, load in zip(names, loads)})
            bench.gateway.check()
            bench.gateway.stop()
            return stranger.kinds, samples, f"{bench.gateway.peak:.0f} MiB, links back in {took:.1f} s"
        except Finding:
            print("".join(bench.gateway.lines[-40:]) + bench.gateway.stacks(), flush=True)
            raise
        finally:
            stranger.end()
            bench.end()


def check(bench: Bench, last: str) -> None:
    """The process lives, and has not grown. It may have ended only a moment after the conversation before."""
    with contextlib.suppress(OSError, StopIteration):  # nothing to read of a process that ends just now
        memory = bench.gateway.memory_mib()
        require(memory < MEMORY, f"the gateway had {memory:.0f} MiB at or before {last}")
    status = bench.gateway.process.poll()
    require(status is None, f"the gateway ended with status {status} at or before {last}")


def deliver(bench: Bench, starts: dict[str, list[int]]) -> int:
    """Waits for all of these samples. What was quarantined, since the stranger cut the connection at it, is requested by its gap."""
    def all_samples() -> int:
        return sum(bench.consumer.expect_all(name, of_device) for name, of_device in starts.items())
    try:
        return all_samples()
    except Finding:
        numbers = sorted(set(bench.consumer.refused()))
        if not numbers:
            raise
    replay(bench, "quarantined", numbers[0][0], max(last for _, last in numbers))
    return all_samples()


def main() -> int:
    parser = argparse.ArgumentParser(prog="Tests/Campaigns/strangers/run", description=__doc__)
    parser.add_argument("--gateway", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--conversations", type=int, default=300, metavar="N", help="of all gateways together; default 300")
    parser.add_argument("--seed", default="1", help="another seed speaks other rubbish; default 1")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    peers, began = Peers(), time.monotonic()
    counts = [min(EACH, arguments.conversations - first) for first in range(0, arguments.conversations, EACH)]
    kinds, samples, failed = Counter(), 0, False
    with ThreadPoolExecutor(GATEWAYS) as pool:
        trials = [pool.submit(trial, arguments.gateway, peers, index, arguments.seed, count) for index, count in enumerate(counts)]
        for index, future in enumerate(trials):
            try:
                of_trial, number, text = future.result()
            except Finding as finding:
                failed = True
                print(f"gateway {index}: FAILED: {finding}", flush=True)
                continue
            kinds += of_trial
            samples += number
            print(f"gateway {index}: {text}; {number} samples, lost 0", flush=True)
    for kind, number in sorted(kinds.items()):
        print(f"{number:5} {kind}")
    print(f"{kinds.total()} conversations and {samples} samples in {time.monotonic() - began:.0f} s.")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
