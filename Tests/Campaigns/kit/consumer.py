"""An independent client of the broker, which knows the contract and nothing of the gateway's code."""

import calendar
import functools
import json
import threading
import time

import paho.mqtt.client as mqtt

from peers import sample_id
from waiting import TIMEOUT, Finding, require, until

ROOT = "vitals2mqtt/storm"


class Consumer:
    """It keys on `id` and remembers what the rows ask for."""

    def __init__(self, port: int, topics: str = "#") -> None:
        self.lock = threading.Lock()
        self.ids: dict[tuple[str, int], set[str]] = {}  # the ids of each device and start
        self.accepted: set[str] = set()  # commands that have an answer which is not the final one
        self.answers: dict[str, list[dict]] = {}  # the final answers of each command
        self.facts: dict[int, set[tuple]] | None = None  # what came under each number, if a row wants to know
        self.gaps: list[dict] = []
        self.newest: dict[str, dict] = {}  # the newest payload of each topic
        self.statuses: list[str] = []  # what gateway/status said, in order
        self.largest = 0
        self.connected = threading.Event()
        self.client = mqtt.Client(protocol=mqtt.MQTTv311)
        self.client.max_queued_messages_set(0)
        self.client.max_inflight_messages_set(1000)
        self.client.reconnect_delay_set(0.1, 0.5)
        self.client.on_message = self.receive
        self.client.on_connect = lambda client, *_: client.subscribe(f"{ROOT}/{topics}", 1)
        self.client.on_subscribe = lambda *_: self.connected.set()
        self.client.connect_async("127.0.0.1", port)
        self.client.loop_start()

    def receive(self, _client, _data, message) -> None:
        levels = message.topic.split("/")
        if len(levels) < 4 or "command" in levels or not message.payload:
            return
        with self.lock:
            self.largest = max(self.largest, len(message.payload))
            if levels[2:] == ["gateway", "status"]:
                self.statuses.append(message.payload.decode())
            if levels[3] in ("measurement", "response", "event", "state", "link", "info", "config", "sync"):
                self.note(levels, json.loads(message.payload))

    def note(self, levels: list[str], body) -> None:
        self.newest["/".join(levels[2:])] = body
        if self.facts is not None and levels[3:] != ["event", "history"] and body.get("seq") is not None:
            content = (sample["id"] for sample in body.get("samples", ()))
            self.facts.setdefault(body["seq"], set()).add((levels[2], *levels[3:], *content))
        if levels[3] == "measurement":
            for sample in body["samples"]:
                self.ids.setdefault((levels[2], milliseconds(sample["start"])), set()).add(sample["id"])
        elif levels[3] == "response" and body["status"] == "accepted":
            self.accepted.add(body["id"])
        elif levels[3] == "response":
            self.answers.setdefault(body["id"], []).append(body)
        elif levels[3:] == ["event", "gap"]:
            self.gaps.append({"device": levels[2], **body})

    def send(self, device: str, command: str, name: str, **members) -> None:
        self.client.publish(f"{ROOT}/{device}/command/{command}", json.dumps({"id": name, **members}), 1)

    def ask(self, device: str, command: str, name: str, seconds: float = TIMEOUT, **members) -> str:
        """Sends a command and returns its final status."""
        self.send(device, command, name, **members)
        return until(lambda: self.answers.get(name), seconds, f"no final answer of {command} for {device}")[0]["status"]

    def known(self) -> dict[tuple[str, int], set[str]]:
        with self.lock:
            return dict(self.ids)

    def lost(self, device: str, starts) -> list[int]:
        with self.lock:
            return [start for start in starts if sample_id(device, start) not in self.ids.get((device, start), ())]

    def refused(self) -> list[tuple[int, int]]:
        """The numbers that gaps with the reason `refused` name."""
        with self.lock:
            return [(item["from_seq"], item["to_seq"]) for gap in self.gaps if gap["reason"] == "refused"
                    for item in gap["sequences"]]

    def expect_all(self, device: str, starts, seconds: float = TIMEOUT) -> int:
        """Waits for these samples. Returns how many there are, after a check that none has a second id."""
        starts = list(starts)
        try:
            until(lambda: not self.lost(device, starts), seconds, "not all samples", step=0.2)
        except Finding:
            lost = self.lost(device, starts)
            raise Finding(f"{len(lost)} of {len(starts)} samples of {device} are lost: {lost[:5]}") from None
        second = [key for key, ids in self.known().items() if len(ids) != 1]
        require(not second, f"{len(second)} samples have a second id: {second[:5]}")
        return len(starts)

    def end(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def milliseconds(text: str) -> int:
    """The milliseconds of a time of the contract, such as 2026-11-21T07:31:04.120Z."""
    seconds, fraction = text[:-1].split(".")
    return calendar_seconds(seconds) * 1000 + int(fraction)


@functools.lru_cache(10_000)
def calendar_seconds(text: str) -> int:
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
