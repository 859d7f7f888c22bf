"""Gateways of the real program with devices over loopback, commands to them, and consumers that write into a PostgreSQL of their own."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import uuid

import paho.mqtt.client as mqtt
import psycopg

from peers import NAMESPACE, Peers
from rig import Gateway
from waiting import Finding, free_port, require, until

BASE = "vitals2mqtt"
CONSUMER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../deploy/examples/consumer.py")
AGAIN = 5.0  # seconds after which a command without an answer is sent again under its id


class Fleet:
    """So many gateways, each with devices of its own."""

    def __init__(self, program: str, folder: str, cluster, gateways: int, devices: int, rate: float) -> None:
        self.peers, self.gateways = Peers(), {}
        for number in range(gateways):
            name = f"g{number}"
            place = os.path.join(folder, name)
            os.makedirs(place)
            gateway = Gateway(program, place, 0)
            # Each begins with another node.
            turn = number % len(cluster.urls)
            gateway.mqtt = {"url": cluster.urls[turn:] + cluster.urls[:turn], "client_id": f"gateway-{name}"}
            names = [f"{name}-d{device}" for device in range(devices)]
            for device in names:
                self.peers.load(device, rate)
            gateway.write([self.peers.device(device) for device in names], gateway={"id": name, "timezone": "Etc/UTC"}, home_assistant={})
            self.gateways[name] = gateway

    def start(self) -> None:
        for gateway in self.gateways.values():
            gateway.start(environment={"MALLOC_ARENA_MAX": "1"})
        for name, load in self.peers.loads.items():
            until(lambda load=load: load.acknowledged, 120, f"{name} has no sample")

    def made(self) -> int:
        return sum(len(load.acknowledged) for load in self.peers.loads.values())

    def end_loads(self) -> None:
        for load in self.peers.loads.values():
            load.is_over = True
        until(lambda: not any(load.waiting for load in self.peers.loads.values()), 120, "samples without an answer")

    def stop(self) -> None:
        for gateway in self.gateways.values():
            gateway.check()
            gateway.process.send_signal(signal.SIGTERM)
        for gateway in self.gateways.values():
            require(gateway.process.wait(20) == 0, "a gateway did not end well")

    def kill(self) -> None:
        for gateway in self.gateways.values():
            gateway.kill()

    def rows(self) -> dict[tuple[str, str], tuple[int, float]]:
        """What counts in the stores: gateway and id, with rev and value."""
        found = {}
        for name, gateway in self.gateways.items():
            with contextlib.closing(sqlite3.connect(f"file:{gateway.store}?mode=ro", uri=True)) as store:
                for device, metric, start, duration, user, value, rev in store.execute(
                        "SELECT device.name, metric, start, duration, user_initiated, value, revision FROM sample"
                        " JOIN series ON series = series.id JOIN device ON device = device.id WHERE withdrawn = 0"):
                    found[name, identity(device, metric, start, start + duration, user)] = (rev, value)
        return found

    def identities(self) -> set[tuple[str, str]]:
        """Gateway and id of each sample whose answer its device has: it is on a disk."""
        return {(device.split("-")[0], identity(device, "heart_rate", start, start, 0))
                for device, load in self.peers.loads.items() for start in load.acknowledged}


def identity(device: str, metric: str, start: int, end: int, user: int) -> str:
    """The id as the contract computes it."""
    return str(uuid.uuid5(NAMESPACE, f"{device}|{metric}|{start}|{end}|{user}"))


class Watcher:
    """A client that sends commands until they are answered, and notes each sample under each of its ids. It moves on with the cluster."""

    def __init__(self, cluster) -> None:
        self.cluster, self.turn, self.is_over = cluster, 0, False
        self.ids: dict[tuple[str, str, str], set[str]] = {}
        self.copies = 0
        self.versions: dict[str, set[int]] = {}
        self.answers: dict[str, list[str]] = {}
        self.waits: list[float] = []
        self.heard, self.last = time.monotonic(), {}  # when any message came, and one of a gateway
        self.sent = 0
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "watcher", clean_session=True, reconnect_on_failure=False)
        self.client.on_connect = lambda *_: self.client.subscribe([(f"{BASE}/+/+/response", 1), (f"{BASE}/+/+/measurement/#", 1)])
        self.client.on_message = self.receive
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while not self.is_over:
            self.turn += 1
            with contextlib.suppress(OSError):
                self.client.connect("127.0.0.1", self.cluster.ports[self.turn % self.cluster.count], keepalive=5)
                self.client.loop_forever(retry_first_connection=False)
            time.sleep(0.2)

    def receive(self, _client, _data, message) -> None:
        body = json.loads(message.payload)
        self.heard = self.last[message.topic.split("/")[1]] = time.monotonic()
        if message.topic.endswith("/response"):
            if body["status"] != "accepted":
                self.answers.setdefault(str(body["id"]), []).append(body["status"])
            return
        for sample in body["samples"]:
            self.ids.setdefault((body["gateway"], body["device"], sample["start"]), set()).add(sample["id"])
            versions = self.versions.setdefault(sample["id"], set())
            self.copies += sample["rev"] in versions
            versions.add(sample["rev"])

    def ask(self, gateway: str, device: str, command: str, seconds: float, **members) -> str:
        """Sends a command until it is answered: one that comes while its gateway is away is lost, says the contract."""
        # `withdraw` has no id of its own: that of the sample is also the answer's.
        name, began, last = members.setdefault("id", f"c-{self.sent}"), time.monotonic(), -AGAIN
        self.sent += 1
        while name not in self.answers:
            now = time.monotonic()
            if now - began > seconds:
                raise Finding(f"{command} of {device} has no answer in {seconds:.0f} s; any message came {now - self.heard:.0f} s ago, "
                              f"one of its gateway {now - self.last.get(gateway, began - 999):.0f} s ago")
            if now - last > AGAIN:
                self.client.publish(f"{BASE}/{gateway}/{device}/command/{command}", json.dumps(members), 1)
                last = now
            time.sleep(0.05)
        self.waits.append(time.monotonic() - began)
        return self.answers[name][0]

    def second_ids(self) -> int:
        return sum(len(ids) > 1 for ids in list(self.ids.values()))

    def end(self) -> None:
        self.is_over = True
        self.client.disconnect()


class Postgres:
    """A server of its own in the test's folder."""

    def __init__(self, folder: str) -> None:
        self.port, self.place = free_port(), os.path.join(folder, "postgres")
        os.chmod(folder, 0o755)
        os.makedirs(self.place)
        versions = sorted(os.listdir("/usr/lib/postgresql"), key=float)
        self.programs = f"/usr/lib/postgresql/{versions[-1]}/bin"
        # It refuses to run as root.
        subprocess.run(["chown", "postgres", self.place], check=True)
        self.as_user = ["runuser", "-u", "postgres", "--"]
        subprocess.run([*self.as_user, f"{self.programs}/initdb", "-D", f"{self.place}/data", "-A", "trust"], check=True, stdout=subprocess.DEVNULL,
                       cwd=self.place)
        self.address = f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"
        self.process = subprocess.Popen(
            [*self.as_user, f"{self.programs}/postgres", "-D", f"{self.place}/data", "-p", str(self.port), "-k", self.place, "-h", "127.0.0.1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.place)
        until(self.is_open, 60, "PostgreSQL does not start")

    def is_open(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError):
            self.query("SELECT 1")
            return True
        return False

    def query(self, text: str, *values) -> list[tuple]:
        with psycopg.connect(self.address) as connection:
            return connection.execute(text, values).fetchall()

    def rows(self) -> dict[tuple[str, str], tuple[int, float]]:
        return {(gateway, str(name)): (rev, value) for gateway, name, rev, value in
                self.query("SELECT gateway, id, rev, value FROM sample WHERE NOT withdrawn")}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


class Consumers:
    """Programs of the example, each of which is killed at random and started again under its id."""

    def __init__(self, folder: str, count: int, arguments: list[str], database: Postgres) -> None:
        self.path = os.path.join(folder, "consumers.log")
        self.log = open(self.path, "ab")
        self.commands = [[sys.executable, "-B", CONSUMER, "--id", f"c{number}", "--database", database.address, "--after", "5", *arguments]
                         for number in range(count)]
        self.running: list[subprocess.Popen | None] = [None] * count
        self.kills = self.starts = 0
        self.is_over = False
        self.tend()

    def tend(self) -> None:
        """Starts those that have ended, as a service manager does."""
        for number, process in enumerate(self.running):
            if process is None or process.poll() is not None:
                self.running[number] = subprocess.Popen(self.commands[number], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
                self.starts += 1

    def requested(self) -> int:
        """How often missing numbers were requested."""
        with open(self.path, encoding="utf-8") as file:
            return file.read().count("Requests ")

    def kill_one(self, random_source: random.Random) -> None:
        process = random_source.choice(self.running)
        if process.poll() is None:
            process.kill()
            process.wait()
            self.kills += 1

    def end(self) -> None:
        for process in self.running:
            if process is not None:
                process.kill()
                process.wait()
        self.log.close()
