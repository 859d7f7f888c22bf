"""MQTT as an independent client sees it."""

import datetime
import json
import os
import subprocess
import threading
import time
from typing import Any

from programs import LOGS, start


class Subscriber:
    """All that the gateway publishes."""

    def __init__(self) -> None:
        self.samples: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.links: dict[str, list[tuple[float, str]]] = {}
        self.pairings: dict[str, list[dict[str, Any]]] = {}
        self.answers: dict[str, str] = {}
        self.gaps: list[Any] = []
        command = ["mosquitto_sub", "-h", "127.0.0.1", "-V", "5", "-q", "1", "-t", "vitals2mqtt/#", "-F", "%j"]
        process = start("subscriber", command, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.receive, args=(process.stdout,), daemon=True).start()

    def receive(self, lines: Any) -> None:
        with open(os.path.join(LOGS, "messages"), "w", encoding="utf-8") as log:
            for line in lines:
                log.write(line)
                log.flush()
                message = json.loads(line)
                levels = message["topic"].split("/")
                if "measurement" in levels:
                    place = levels.index("measurement")
                    known = self.samples.setdefault((levels[place - 1], levels[place + 1]), [])
                    known.extend(json.loads(message["payload"])["samples"])
                elif levels[-1] == "link":
                    reported = (time.monotonic(), json.loads(message["payload"])["state"])
                    self.links.setdefault(levels[-2], []).append(reported)
                elif levels[-1] == "pairing":
                    self.pairings.setdefault(levels[-2], []).append(json.loads(message["payload"]))
                elif levels[-1] == "response":
                    answer = json.loads(message["payload"])
                    self.answers[answer["id"]] = answer["code"] or answer["status"]
                elif levels[-2:] == ["event", "gap"]:
                    self.gaps.append(message["payload"])

    def of(self, device: str, metric: str) -> list[dict[str, Any]]:
        return list(self.samples.get((device, metric), []))

    def reported(self, device: str, metric: str) -> dict[str, Any]:
        """The values by their start."""
        return {sample["start"]: sample["value"] for sample in self.of(device, metric)}

    def measured(self, device: str, metric: str, since: float) -> list[dict[str, Any]]:
        """What was measured since a moment of the monotonic clock. Older values may come after it."""
        moment = datetime.datetime.fromtimestamp(time.time() - (time.monotonic() - since), datetime.timezone.utc)
        return [sample for sample in self.of(device, metric) if sample["start"] >= moment.strftime("%Y-%m-%dT%H:%M:%S.%f")]

    def was_lost(self, device: str, since: float) -> bool:
        """Whether it was reported since then that the device is not connected."""
        return any(reported >= since and state != "connected" for reported, state in list(self.links.get(device, [])))

    def is_back(self, device: str, since: float) -> bool:
        """Whether the device was lost since then, and is connected again: that it was connected before does not count."""
        return self.was_lost(device, since) and self.links[device][-1][1] == "connected"

    def pairing(self, device: str) -> list[str]:
        """The states of its pairing, oldest first."""
        return [pairing["state"] for pairing in self.pairings.get(device, [])]


def publish(topic: str, payload: dict[str, Any]) -> None:
    subprocess.run(
        ["mosquitto_pub", "-h", "127.0.0.1", "-q", "1", "-t", f"vitals2mqtt/guest/{topic}", "-m", json.dumps(payload)], check=True)
