"""Puts a real gateway under a storm on real threads, and says what was not served. See Tests/Campaigns/storm/run."""

import argparse
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from datetime import datetime, timedelta, timezone

import paho.mqtt.client as mqtt

from gateway import Finding, Gateway
from middle import Middle
from peers import Peers

DEVICES = 300
SERVED = 60.0  # seconds until every device is connected and every command answered, after the storm
SPARE = 8  # tolerated difference of descriptors and threads between two idle moments of the gateway


class Consumer:
    """An independent client of the broker: it sends commands and keeps their answers."""

    def __init__(self, port: int) -> None:
        self.accepted: set[str] = set()
        self.answers: dict[str, list[dict]] = {}  # the final ones
        self.news = threading.Condition()
        self.client = mqtt.Client(protocol=mqtt.MQTTv311)
        self.client.max_queued_messages_set(0)
        self.client.on_message = self.receive
        self.client.on_connect = lambda *_: self.client.subscribe("vitals2mqtt/storm/+/response", 1)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()

    def receive(self, _client, _data, message) -> None:
        answer = json.loads(message.payload)
        with self.news:
            if answer["status"] == "accepted":
                self.accepted.add(answer["id"])
            else:
                self.answers.setdefault(answer["id"], []).append(answer)
            self.news.notify_all()

    def send(self, device: str, command: str, name: str, **members) -> None:
        self.client.publish(f"vitals2mqtt/storm/{device}/command/{command}", json.dumps({"id": name, **members}), 1)

    def await_accepted(self, seconds: float) -> None:
        """Every command that was accepted gets its final answer. Others were lost with a connection to the broker."""
        self.await_answers(set(self.accepted), seconds, "accepted commands")

    def evaluate(self) -> int:
        """An answer may come again when the broker was cut at it, but never another one. Returns how many came again."""
        with self.news:
            for name, answers in self.answers.items():
                if any(answer != answers[0] for answer in answers):
                    raise Finding(f"{name} has several final answers: {answers}")
            return sum(len(answers) > 1 for answers in self.answers.values())

    def statuses(self) -> Counter:
        """How often each final status came, with its code."""
        with self.news:
            finals = [answers[0] for answers in self.answers.values()]
        return Counter(" ".join(filter(None, (final["status"], final["code"]))) for final in finals)

    def await_answers(self, names: set[str], seconds: float, what: str) -> None:
        end = time.monotonic() + seconds
        with self.news:
            while missing := names - self.answers.keys():
                if not self.news.wait(max(0, end - time.monotonic())) or time.monotonic() > end:
                    raise Finding(f"{len(missing)} {what} without an answer after {seconds:.0f} s: {sorted(missing)[:5]}")


class Storm:
    def __init__(self, arguments: argparse.Namespace, folder: str) -> None:
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.broker_port = free_port()
        self.mosquitto = subprocess.Popen(
            ["mosquitto", "-p", str(self.broker_port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until_open(self.broker_port)
        self.middle = Middle(self.broker_port)
        self.peers = Peers(arguments.seed)
        self.gateway = Gateway(arguments.gateway, folder, self.middle.port)
        self.consumer = Consumer(self.broker_port)
        self.changes = [0] * DEVICES
        self.commands = 0
        self.figures: dict[str, float] = {}

    def devices(self, count: int = DEVICES) -> list[dict]:
        transport = {"type": "tcp", "host": "127.0.0.1", "port": self.peers.port}
        return [
            {"id": f"d{number}", "name": f"Device {number}, {self.changes[number]}", "driver": "link",
             "options": {"number": number}, "transport": transport}
            for number in range(count)]

    # The parts of the storm, each on its own thread.

    def cut_broker(self, end: float) -> None:
        rng = random.Random(self.arguments.seed + 1)
        while time.monotonic() < end:
            time.sleep(rng.uniform(0.2, 5))
            if rng.random() < 0.3:
                self.middle.hang()
                time.sleep(rng.uniform(0.1, 2))
                self.middle.flow()
            else:
                self.middle.cut()

    def change_configuration(self, end: float) -> None:
        rng = random.Random(self.arguments.seed + 2)
        while time.monotonic() < end:
            time.sleep(rng.uniform(0.5, 4))
            for number in rng.sample(range(DEVICES), rng.randrange(1, 120)):
                self.changes[number] += 1
            self.gateway.configure(self.devices(rng.choice([DEVICES, DEVICES, DEVICES - 40, DEVICES // 2])))
            self.gateway.reload()

    def command(self, end: float) -> None:
        rng = random.Random(self.arguments.seed + 3)
        while time.monotonic() < end:
            time.sleep(rng.uniform(0, 0.2))
            for _ in range(rng.choice([1, 1, 10, 60])):
                self.commands += 1
                command = rng.choice(["reconnect", "reconnect", "fetch", "sync", "measure"])
                members = {}
                if command == "measure":
                    members = {"metric": "heart_rate", "action": rng.choice(["start", "start", "stop"]), "duration_s": 10}
                elif command == "sync" and rng.random() < 0.2:
                    members = {"from": moment(-6 * 60 * 60)}  # reads many pages again
                self.consumer.send(f"d{rng.randrange(DEVICES)}", command, f"s{self.commands}", **members)
            if rng.random() < 0.02:
                self.peers.vanish_all()

    def rage(self, seconds: float) -> None:
        """One run of the gateway through everything at once, and then in peace."""
        end = time.monotonic() + seconds
        parts = [
            threading.Thread(target=part, args=(end,), daemon=True)
            for part in (self.cut_broker, self.change_configuration, self.command)]
        self.peers.rage()
        for part in parts:
            part.start()
        while time.monotonic() < end:
            time.sleep(0.5)
            self.gateway.check()
        for part in parts:
            part.join()

    def calm_down(self) -> None:
        """Every device has to be connected and to answer now."""
        self.peers.calm()
        self.middle.flow()
        self.gateway.configure(self.devices())
        self.gateway.reload()
        before = dict(self.peers.connected)
        names = {f"calm{self.commands}-{number}" for number in range(DEVICES)}
        deadline = time.monotonic() + SERVED
        time.sleep(2)
        for number in range(DEVICES):
            self.consumer.send(f"d{number}", "reconnect", f"again{self.commands}-{number}")
        while missing := [n for n in range(DEVICES) if self.peers.connected.get(n, 0) <= before.get(n, 0)]:
            self.gateway.check()
            if time.monotonic() > deadline:
                raise Finding(f"{len(missing)} devices were not connected within {SERVED:.0f} s: {missing[:5]}")
            time.sleep(0.2)
        later = moment(SERVED)
        for number in range(DEVICES):
            self.consumer.send(f"d{number}", "fetch", f"calm{self.commands}-{number}", expires_at=later)
        self.consumer.await_answers(names, SERVED, "commands to devices that are connected")
        failed = [answers[0] for name in names if (answers := self.consumer.answers[name])[0]["status"] != "done"]
        if failed:
            raise Finding(f"{len(failed)} commands to devices that are connected failed: {failed[:3]}")
        self.consumer.await_accepted(SERVED)
        self.consumer.evaluate()
        self.commands += 1

    def let_go(self) -> tuple[int, int]:
        """Without devices nothing of them is left. Returns what the gateway still holds."""
        self.gateway.configure([])
        self.gateway.reload()
        deadline = time.monotonic() + SERVED
        while self.peers.open:
            if time.monotonic() > deadline:
                raise Finding(f"{len(self.peers.open)} links stayed open after their devices were removed")
            time.sleep(0.2)
        time.sleep(2)
        return self.gateway.held()

    def run(self) -> None:
        self.gateway.configure([])
        self.gateway.start()
        self.gateway.wait_for("The broker is connected.", 30)
        time.sleep(1)
        at_rest = self.gateway.held()
        rounds = max(1, round(self.arguments.seconds / 40))
        for number in range(rounds):
            self.gateway.configure(self.devices())
            self.gateway.reload()
            self.rage(self.arguments.seconds / rounds)
            self.calm_down()
            held = self.let_go()
            print(f"round {number + 1} of {rounds}: {sum(self.peers.connected.values())} connections, "
                  f"{len(self.consumer.answers)} answers, {held[0]} descriptors and {held[1]} threads at rest", flush=True)
            if held[0] > at_rest[0] + SPARE or held[1] > at_rest[1] + SPARE:
                raise Finding(f"descriptors and threads grew from {at_rest} to {held}")
            # The stop happens in the middle of a storm.
            self.gateway.configure(self.devices())
            self.gateway.reload()
            self.rage(3)
            print(f"  ended in {self.gateway.stop():.2f} s", flush=True)
            self.gateway.configure([])
            self.gateway.start()
            self.gateway.wait_for("The broker is connected.", 30)
        # The last commands were accepted before the stop.
        self.consumer.await_accepted(SERVED)
        self.gateway.stop()
        repeated = self.consumer.evaluate()
        print(f"{self.commands} commands, {len(self.consumer.accepted)} accepted and answered, "
              f"{repeated} answers that came again (the broker was cut at them)")
        print(", ".join(f"{count} {status}" for status, count in self.consumer.statuses().most_common()))

    def stop_often(self) -> None:
        """Ends the gateway right after a device was connected, again and again."""
        self.peers.calm()
        longest = 0.0
        for number in range(self.arguments.stops):
            self.gateway.configure(self.devices(12))
            self.gateway.start()
            self.gateway.wait_for("The device is connected.", 30)
            time.sleep(self.random.uniform(0, 0.1))
            try:
                longest = max(longest, self.gateway.stop())
            except Finding as finding:
                raise Finding(f"stop {number + 1} of {self.arguments.stops}: {finding}") from None
        print(f"{self.arguments.stops} stops within 100 ms of a connection; the longest took {longest:.2f} s", flush=True)

    def end(self) -> None:
        self.gateway.kill()
        self.consumer.client.loop_stop()
        self.mosquitto.terminate()
        self.mosquitto.wait()


def moment(seconds: float) -> str:
    """The time in so many seconds."""
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until_open(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise Finding("mosquitto does not listen")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--seconds", type=float, default=120, help="how long the storm lasts")
    parser.add_argument("--stops", type=int, default=60, help="how often the gateway is ended right after a connection")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="vitals2mqtt-storm-") as folder:
        storm = Storm(arguments, folder)
        try:
            if arguments.stops:
                storm.stop_often()
            if arguments.seconds:
                storm.run()
        except Finding as finding:
            print(f"FAILED: {finding}", flush=True)
            print("".join(storm.gateway.lines[-40:]))
            print(storm.gateway.stacks())
            return 1
        finally:
            storm.end()
    print("Everything was served.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
