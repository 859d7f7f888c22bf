"""Sends random documents through the whole program, and compares the result with a reference. See Tests/Campaigns/documents/run."""

import argparse
import http.client
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import rig
from documents import ZONE, Phone, write
from reference import READERS, Reference, milliseconds
from rig import Bench, Finding, free_port, require, secret, until

TOKEN = "a secret of the documents"
# Seconds for all exports of a round: each stands still for five, and is then read.
ROUND = 180
# Seconds for what was stored to arrive at a consumer.
ARRIVAL = 120
# Seconds for the last messages, and in which nothing more may arrive after a repetition.
SILENCE = 3


class Consumer(rig.Consumer):
    """Does what the contract says: it keeps the highest revision of each id, deletes what is withdrawn, and keeps the newest day."""

    def __init__(self, port: int) -> None:
        self.samples: dict[str, dict[str, tuple]] = {}
        self.daily: dict[tuple[str, str, str], tuple] = {}
        self.count = 0
        super().__init__(port)

    def receive(self, _client, _data, message) -> None:
        levels = message.topic.split("/")
        if len(levels) < 5 or levels[3] not in ("measurement", "daily") or not message.payload:
            return
        body = json.loads(message.payload)
        with self.lock:
            if levels[3] == "daily":
                value = body["count"] if levels[4] == "heart_rate" else body.get("total")
                key = levels[2], levels[4], body["date"]
                if body["rev"] >= self.daily.get(key, (0,))[0]:
                    self.daily[key] = body["rev"], value
                return
            self.count += 1
            known = self.samples.setdefault(levels[2], {})
            for sample in body["samples"]:
                if sample["rev"] >= known.get(sample["id"], (0,))[0]:
                    record = levels[4], milliseconds(sample["start"]), milliseconds(sample["end"]), sample["value"]
                    known[sample["id"]] = sample["rev"], sample.get("withdrawn", False), record

    def held(self, device: str) -> list[tuple]:
        with self.lock:
            return sorted(record for _, is_withdrawn, record in self.samples.get(device, {}).values() if not is_withdrawn)

    def days(self, device: str) -> dict[tuple[str, str], float]:
        with self.lock:
            return {(metric, day): value for (name, metric, day), (_, value) in self.daily.items() if name == device and value}


class Gateway(rig.Gateway):
    """Counts which exports are stored, by device."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.stored: Counter = Counter()

    def read(self, lines) -> None:
        def counted():
            for line in lines:
                if "The export is stored." in line:
                    self.stored[next(word[10:] for word in line.split() if word.startswith("device.id="))] += 1
                yield line
        super().read(counted())


class Documents:
    """All phones, their documents, and what these come to."""

    def __init__(self, bench: Bench, devices: int, seed: int) -> None:
        self.bench, self.port = bench, free_port()
        self.phones = [Phone(driver, number, seed, time.time() - 2 * 86_400) for driver in READERS for number in range(devices)]
        self.exporting = [phone for phone in self.phones if phone.driver in ("gadgetbridge", "health-connect-export")]
        self.posting = [phone for phone in self.phones if phone not in self.exporting]
        self.references = {phone.id: Reference(phone.driver) for phone in self.phones}
        self.rounds = 0
        entries = []
        for phone in self.exporting:
            os.mkdir(self.folder(phone))
            entries.append({"id": phone.id, "driver": phone.driver, "options": {"path": self.folder(phone)}})
        transport = {"type": "http", "token": secret(bench, "phone.token", TOKEN)}
        entries += [{"id": phone.id, "driver": phone.driver, "transport": transport} for phone in self.posting]
        bench.gateway.write(entries, gateway={"id": "storm", "timezone": str(ZONE)}, sync={"first": "all"},
                            web={"listen": f"127.0.0.1:{self.port}"})

    def folder(self, phone: Phone) -> str:
        return os.path.join(self.bench.folder, phone.id)

    def export(self, phone: Phone, statements: list[str]) -> None:
        path = os.path.join(self.folder(phone), "export.db")
        write(statements, path)
        self.references[phone.id].take(path)

    def post(self, phones: list[tuple[Phone, str]], refused: int = 0) -> None:
        """Posts one document after the other over one connection. Of each so many samples are to be refused, as they lie ahead."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for phone, text in phones:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
            connection.request("POST", f"/v1/devices/{phone.id}", text, headers)
            response = connection.getresponse()
            body = json.loads(response.read())
            is_right = response.status == 200 and sum(reason["count"] for reason in body["refused"]) == refused and not body["skipped"]
            require(is_right, f"{phone.id}: {response.status} {body}")
            if not refused:
                self.references[phone.id].take(text)
        connection.close()

    def post_all(self, texts: list[tuple[Phone, str]]) -> None:
        """Posts over four connections, those of a phone over one of them."""
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(self.post, [[one for one in texts if one[0].number % 4 == place] for place in range(4)]))

    def read(self) -> None:
        """Waits until each export of this round is stored."""
        self.rounds += 1
        until(lambda: all(self.bench.gateway.stored[phone.id] >= self.rounds for phone in self.exporting), ROUND,
              f"not all exports of round {self.rounds} were stored")

    def round(self) -> None:
        for phone in self.exporting:
            self.export(phone, phone.document())
        documents = [(phone, phone.document()) for phone in self.posting]
        if self.rounds == 0:
            self.bench.gateway.start()
            # By then the listener knows all of its devices.
            self.read()
            self.post_all(documents)
        else:
            self.post_all(documents)
            self.read()

    def repeat(self) -> None:
        """All of the posts again in another order, and the newest exports; and what lies ahead."""
        texts = [(phone, text) for phone in self.posting for text in phone.sent]
        random.Random(1).shuffle(texts)
        self.post_all(texts)
        self.post([(phone, phone.ahead(time.time())) for phone in self.posting], refused=2)
        for phone in self.exporting:
            write(phone.ahead(time.time()), os.path.join(self.folder(phone), "export.db"))
        self.read()

    def differences(self) -> list[str]:
        found = []
        for phone in self.phones:
            reference, consumer = self.references[phone.id], self.bench.consumer
            for what, wanted, held in (
                    ("samples", Counter(reference.held()), Counter(consumer.held(phone.id))),
                    ("days", Counter(reference.days(ZONE)), Counter(consumer.days(phone.id)))):
                if wanted != held:
                    missing, more = list((wanted - held).items())[:4], list((held - wanted).items())[:4]
                    found.append(f"{phone.id}, {what}: missing {missing}, too many {more}")
        return found


def run(bench: Bench, devices: int, rounds: int, seed: int) -> str:
    bench.consumer = Consumer(bench.mosquitto.port)
    bench.broker()
    documents = Documents(bench, devices, seed)
    for _ in range(rounds):
        documents.round()
        bench.gateway.check()
    end = time.monotonic() + ARRIVAL
    while (found := documents.differences()) and time.monotonic() < end:
        time.sleep(1)
    require(not found, f"{len(found)} differences with seed {seed}:\n" + "\n".join(found[:20]))
    time.sleep(SILENCE)
    before = bench.consumer.count
    documents.repeat()
    time.sleep(SILENCE)
    require(bench.consumer.count == before, f"{bench.consumer.count - before} messages came again with seed {seed}")
    require(not documents.differences(), "the repetition has changed something")
    samples = sum(len(bench.consumer.held(phone.id)) for phone in documents.phones)
    stopped = bench.gateway.stop()
    return f"{devices * rounds} documents of each driver, seed {seed}: {samples} samples held, {before} messages; stop in {stopped:.2f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateway", required=True, metavar="PROGRAM", help="the built vitals2mqtt")
    parser.add_argument("--documents", type=int, default=10_000, help="of each driver")
    parser.add_argument("--rounds", type=int, default=50, help="how many of them are of one device, one after the other")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="vitals2mqtt-documents-") as folder:
        bench = Bench(os.path.abspath(options.gateway), folder)
        bench.gateway = Gateway(os.path.abspath(options.gateway), folder, bench.mosquitto.port)
        try:
            print(run(bench, options.documents // options.rounds, options.rounds, options.seed))
        except Finding as finding:
            print(f"FAILED: {finding}\n" + "".join(bench.gateway.lines[-10:]))
            return 1
        finally:
            bench.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
