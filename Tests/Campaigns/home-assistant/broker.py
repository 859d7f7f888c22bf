"""A mosquitto on loopback, and what passes through it, as an independent subscriber sees it."""

import json
import subprocess
import threading
import time
from typing import Any, Callable, NamedTuple, Optional

from processes import Finding, Processes, until
from waiting import free_port

KEPT = 200  # messages of a topic that are remembered


class Message(NamedTuple):
    number: int  # counts all messages
    topic: str
    payload: Any  # of JSON what it stands for, of other text the text, and `None` where it is empty
    is_retained: bool  # sent because of the subscription, and not because it was just published


class Broker:
    def __init__(self, processes: Processes, first: str = "") -> None:
        """`first` is the beginning of its configuration."""
        self.processes = processes
        self.port = free_port()
        self.address = ["-h", "127.0.0.1", "-p", str(self.port), "-V", "5", "-q", "1"]
        self.topics: dict[str, list[Message]] = {}
        self.count = 0
        self.news = threading.Condition()
        configuration = f"{processes.folder}/mosquitto.conf"
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(f"{first}listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\nmax_queued_messages 0\n")
        processes.start("mosquitto", ["mosquitto", "-c", configuration])
        until("mosquitto answers", lambda: self.publish("trial", None) == 0, 20)
        subscriber = processes.start(
            "subscriber", ["mosquitto_sub", *self.address, "-t", "#", "-F", "%j"], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.receive, args=(subscriber.stdout,), daemon=True).start()

    def receive(self, lines: Any) -> None:
        for line in lines:
            message = json.loads(line)
            payload = message["payload"] or None
            if isinstance(payload, str) and payload[0] in "{[":
                payload = json.loads(payload)
            with self.news:
                self.count += 1
                known = self.topics.setdefault(message["topic"], [])
                known.append(Message(self.count, message["topic"], payload, bool(message["retain"])))
                del known[:-KEPT]
                self.news.notify_all()

    def publish(self, topic: str, payload: Any, *options: str) -> int:
        text = ["-n"] if payload is None else ["-m", payload if isinstance(payload, str) else json.dumps(payload)]
        return subprocess.run(
            ["mosquitto_pub", *self.address, "-t", topic, *text, *options], capture_output=True, check=False).returncode

    def all(self, topic: str) -> list[Message]:
        with self.news:
            return list(self.topics.get(topic, []))

    def last(self, topic: str) -> Any:
        """The newest payload of a topic, `None` where there is none."""
        messages = self.all(topic)
        return messages[-1].payload if messages else None

    def wait(
        self, what: str, topic: str, condition: Callable[[Any], Any], since: int = 0, seconds: float = 60
    ) -> Message:
        """The first message of a topic with a payload like that, of those behind the message number `since`."""
        end = time.monotonic() + seconds
        with self.news:
            while True:
                for message in self.topics.get(topic, []):
                    if message.number > since and message.payload is not None and condition(message.payload):
                        return message
                left = end - time.monotonic()
                if left <= 0:
                    last: Optional[Message] = (self.topics.get(topic) or [None])[-1]
                    raise Finding(f"not within {seconds:.0f} s: {what}; {topic} is {last.payload if last else 'empty'}")
                self.news.wait(left)
