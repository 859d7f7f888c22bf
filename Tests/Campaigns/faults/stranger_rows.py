"""A row in which gateways talk with brokers that speak rubbish, and then with a real one."""

import contextlib
import os
import socket
import struct
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from broker_rows import replay
from rig import ROOT, Bench, Finding, require, row
from rubbish import Rubbish, accepted

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


def trial(whole: Bench, index: int, count: int) -> tuple[Counter, int]:
    """One gateway: so many conversations, then the real broker. Returns the conversations by kind, and the samples."""
    names = [f"band{index}", f"ring{index}"]
    folder = os.path.join(whole.folder, str(index))
    os.mkdir(folder)
    bench = Bench(whole.gateway.program, folder, whole.peers)
    stranger = Stranger(bench.mosquitto.port, f"{whole.numbers.seed}/{index}")
    try:
        bench.gateway.mqtt = {"protocol": "auto"}
        loads = [bench.peers.load(name, rate=RATE) for name in names]
        bench.write(*names)
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
        print(f"gateway {index}: {bench.gateway.peak:.0f} MiB, links back in {took:.1f} s; {samples} samples, lost 0", flush=True)
        return stranger.kinds, samples
    except Finding as finding:
        print("".join(bench.gateway.lines[-40:]) + bench.gateway.stacks(), flush=True)
        raise Finding(f"gateway {index}: {finding}") from None
    finally:
        stranger.end()
        bench.end()


def check(bench: Bench, last: str) -> None:
    """The process lives, and has not grown. It may have ended only a moment after the conversation before."""
    with contextlib.suppress(OSError, KeyError):  # nothing to read of a process that ends just now
        memory = bench.gateway.figures()["peak"]
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


@row("brokers that speak rubbish", "`conversations` with four gateways at `protocol: auto`, then a real mosquitto on the same port",
     "no process ends or grows; links are back in 5 s; lost 0", is_apart=True, conversations=300, seed=1)
def strangers(bench: Bench) -> str:
    counts = [min(EACH, bench.numbers.conversations - first) for first in range(0, bench.numbers.conversations, EACH)]
    with ThreadPoolExecutor(GATEWAYS) as pool:
        trials = [pool.submit(trial, bench, index, count) for index, count in enumerate(counts)]
    if findings := [str(error) for future in trials if (error := future.exception())]:
        raise Finding("; ".join(findings))
    kinds = sum((future.result()[0] for future in trials), Counter())
    for kind, number in sorted(kinds.items()):
        print(f"{number:5} {kind}")
    return f"{kinds.total()} conversations and {sum(future.result()[1] for future in trials)} samples, lost 0"
