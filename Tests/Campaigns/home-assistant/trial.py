"""What the checks compare: Home Assistant's entities on one side, the gateway's topics on the other."""

import os
import shutil
import time
from typing import Any, Callable, Optional

import expected
from broker import Broker
from entity import Entity
from gateway import ROOT, STRAP_SIGNAL, Gateway, zone
from household import ID, Household
from processes import Finding, until

NOTHING = ("unknown", "unavailable")


BLUEPRINT = "vitals2mqtt/alert_until_seen.yaml"
PEOPLE = ("anna", "ben")


def phone(person: str) -> str:
    """The phone of a person is a script in place of its app: it publishes at the broker what it is told."""
    return f"""\
  {person}s_phone:
    mode: parallel
    max: 50
    sequence:
      - action: mqtt.publish
        data:
          topic: phones/{person}
          payload: "{{{{ {{'title': title | default(''), 'message': message, 'data': data}} | to_json }}}}"
"""


class Trial(Household):
    def __init__(self, folder: str, version: str, program: str) -> None:
        phones = "".join(phone(person) for person in PEOPLE)
        super().__init__(folder, version, program, zone(), f"automation: !include automations.yaml\nscript:\n{phones}")
        self.home.write(os.path.join(self.home.folder, "automations.yaml"), "[]\n")
        copy = os.path.join(self.home.folder, "blueprints", "automation", BLUEPRINT)
        os.makedirs(os.path.dirname(copy))
        shutil.copy(os.path.join(ROOT, "deploy", "home-assistant", os.path.basename(BLUEPRINT)), copy)

    def begin(self) -> None:
        self.broker = Broker(self.processes)
        self.gateway = Gateway(self)
        self.home.start()
        self.gateway.start_strap()
        release = tuple(int(part) for part in self.version.split(".")[:2])
        self.has_time = release >= (2026, 5)
        self.takes_entity_ids = release >= (2025, 10)  # as suggested; older ones build them from the names
        self.gateway.compatibility = "2026.5" if self.has_time else "2024.12"
        self.gateway.start()
        self.home.set_up(self.broker.port)
        self.broker.wait("its birth", "homeassistant/status", lambda status: status == "online")

    # The gateway's side

    def topic(self, device: str, rest: str) -> str:
        return f"{self.gateway.base}/{device}/{rest}"

    def wait(
        self, what: str, device: str, rest: str, condition: Callable[[Any], Any], since: int = 0, seconds: float = 60
    ) -> Any:
        """The payload of a device's topic, once it is as wanted."""
        return self.broker.wait(what, self.topic(device, rest), condition, since, seconds).payload

    def last(self, device: str, rest: str) -> Any:
        return self.broker.last(self.topic(device, rest))

    def command(self, device: str, name: str, **arguments: Any) -> dict:
        """The final answer to a command that somebody sends who is not Home Assistant."""
        arguments["id"] = f"trial-{time.monotonic_ns()}"
        self.broker.publish(self.topic(device, name if "/" in name else f"command/{name}"), arguments)
        return self.wait(
            f"an answer to {name}", device, "response",
            lambda answer: answer["id"] == arguments["id"] and answer["status"] != "accepted")

    def expected(self) -> list[Entity]:
        entities = expected.of_gateway()
        for device in self.gateway.devices:
            info = self.wait("what it can do", device, "info", lambda info: info["capabilities"])
            # The limits determine which alerts exist.
            config = self.wait("how it is monitored", device, "config", lambda config: config["version"] > 0)
            wear = self.last(device, "wear") or {}
            # The strap reports the strength of its signal at each connection, and the band whether it is worn.
            link = self.wait("its link", device, "link", lambda link: device != "strap-1" or link.get("rssi") == STRAP_SIGNAL)
            if device == "band-1":
                wear = self.wait("how it is worn", device, "wear", lambda wear: None not in (wear.get("worn"), wear.get("charging")))
            reported = {
                "battery": self.last(device, "latest/battery") is not None, "worn": wear.get("worn") is not None,
                "charging": wear.get("charging") is not None, "rssi": link.get("rssi") is not None}
            entities += expected.of_device(device, info, config, reported, self.has_time)
        return entities

    # Home Assistant's side

    @staticmethod
    def name(entity: Entity) -> str:
        return f"{entity.platform}.vitals2mqtt_{ID}_{entity.device}_{entity.key}"

    def registry(self) -> dict[str, dict]:
        """Home Assistant's entities of MQTT, by their platform and unique_id, joined by a dot."""
        entries = self.home.connection.ask("config/entity_registry/list")
        return {
            f"{entry['entity_id'].split('.')[0]}.{entry['unique_id']}": entry
            for entry in entries if entry["platform"] == "mqtt"}

    def state(self, entity_id: str) -> dict:
        return self.home.connection.get(f"/api/states/{entity_id}")

    def wait_state(self, entity_id: str, wanted: Any, seconds: float = 30) -> dict:
        """Waits until an entity's state is `wanted`, or is as the function `wanted` says."""
        def found() -> Optional[dict]:
            state = self.state(entity_id)
            if wanted(state) if callable(wanted) else same(state["state"], wanted):
                return state
            raise Finding(f"it is {state['state']}" + (f" with {state['attributes']}" if callable(wanted) else ""))

        return until(f"{entity_id} is {'as it should be' if callable(wanted) else wanted}", found, seconds)


def same(shown: str, wanted: Any) -> bool:
    """Whether Home Assistant shows a value: numbers may be written otherwise, as may times."""
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        try:
            return abs(float(shown) - wanted) < 1e-6
        except ValueError:
            return False
    if isinstance(wanted, str) and wanted.endswith("Z"):
        return shown.replace("+00:00", "")[:19] == wanted[:19]
    return shown == wanted
