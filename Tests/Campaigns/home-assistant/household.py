"""What every trial has: a broker, a Home Assistant, and a gateway."""

import json
import os
import urllib.parse
from datetime import datetime, timedelta
from typing import Any, Optional

from broker import Broker
from clock import Clock
from instance import Instance
from processes import Finding, Processes

ID = "trial"


class Household:
    def __init__(
        self, folder: str, version: str, program: str, zone: str, pages: str = "", clock: Optional[Clock] = None
    ) -> None:
        """`pages` is more of Home Assistant's configuration."""
        self.folder, self.version, self.program, self.zone = folder, version, program, zone
        self.processes = Processes(folder, clock or Clock())
        self.home = Instance(self.processes, version, zone, pages)
        self.configuration = os.path.join(folder, "gateway.yaml")
        self.broker: Any = None

    def begin(self) -> None:
        self.broker = Broker(self.processes)
        self.home.start()
        self.home.set_up(self.broker.port)

    def configure(self, devices: list[dict], **sections: Any) -> None:
        """Writes the gateway's configuration; a section replaces the usual one."""
        with open(self.configuration, "w", encoding="utf-8") as file:
            json.dump({
                "gateway": {"id": ID, "timezone": self.zone},
                "mqtt": {"url": f"mqtt://127.0.0.1:{self.broker.port}"},
                "store": {"path": "trial.sqlite"},
                "devices": devices,
                **sections,
            }, file)  # JSON is YAML

    def run_gateway(self) -> None:
        self.processes.start("gateway", [self.program, "run", "--config", self.configuration])

    def ask(self, kind: str, **members: Any) -> Any:
        return self.home.connection.ask(kind, **members)

    def entity(self, device: str, key: str) -> str:
        """The entity_id."""
        unique = f"vitals2mqtt_{ID}_{device}_{key}"
        for entry in self.ask("config/entity_registry/list"):
            if entry["unique_id"] == unique:
                return entry["entity_id"]
        raise Finding(f"there is no {unique}")

    def history(self, entity_id: str, since: datetime) -> list[dict]:
        """All states that Home Assistant recorded of an entity, with the one that it had before."""
        # Without an end, Home Assistant takes the day after the beginning.
        first, last = (urllib.parse.quote(moment.isoformat()) for moment in (since, datetime.now(since.tzinfo) + timedelta(hours=1)))
        recorded = self.home.connection.get(
            f"/api/history/period/{first}?end_time={last}&filter_entity_id={entity_id}&significant_changes_only=0")
        return recorded[0] if recorded else []
