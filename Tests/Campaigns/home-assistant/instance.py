"""A Home Assistant of our own: configured, started, onboarded, and its log read."""

import json
import os
import re
import secrets
import signal
import urllib.error
from typing import Any, Iterator, NamedTuple

from connection import Connection, Refused
from processes import Finding, Processes, until
from waiting import free_port

HERE = os.path.dirname(os.path.abspath(__file__))
START = 180  # seconds that Home Assistant has to start; the first start compiles its Python

# Only the integrations that process the announcements. The recorder commits each second, so that its messages appear in time.
CONFIGURATION = """\
homeassistant:
  name: Trial
  unit_system: metric
  country: CH
  currency: CHF
  time_zone: {zone}
http:
  server_host: 127.0.0.1
  server_port: {port}
api:
config:
history:
recorder:
  commit_interval: 1
trial_statistics:
logger:
  default: warning
"""


class Record(NamedTuple):
    level: str
    source: str  # the name of the logger
    text: str


class Instance:
    def __init__(self, processes: Processes, version: str, zone: str, more: str = "") -> None:
        """`more` is more of its configuration."""
        self.processes = processes
        self.version = version
        self.folder = os.path.join(processes.folder, "config")
        self.token = os.path.join(processes.folder, "token")  # the gateway's
        port = free_port()
        self.connection = Connection(port)
        integration = os.path.join(self.folder, "custom_components", "trial_statistics")
        os.makedirs(integration)
        for name in os.listdir(os.path.join(HERE, "trial_statistics")):
            with open(os.path.join(HERE, "trial_statistics", name), encoding="utf-8") as file:
                self.write(os.path.join(integration, name), file.read())
        self.write(
            os.path.join(self.folder, "configuration.yaml"), CONFIGURATION.format(zone=json.dumps(zone), port=port) + more)

    @staticmethod
    def write(path: str, text: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def start(self) -> None:
        self.processes.start("home-assistant", [os.path.join(HERE, "hass"), "run", self.version, self.folder])

    def wait(self) -> None:
        until("Home Assistant answers", self.answers, START)

    def wait_until_running(self) -> None:
        until("Home Assistant has started", lambda: self.connection.get("/api/config")["state"] == "RUNNING", START)
        try:
            # Since 2026 it goes back to its usual port after five minutes unless somebody confirms another one.
            self.connection.ask("http/config/promote")
        except Refused:
            pass  # an older one, or it is confirmed

    def answers(self) -> bool:
        self.processes.check()
        try:
            self.connection.get("/manifest.json")
        except Refused:
            return True
        except (OSError, urllib.error.URLError):
            return False
        return True

    def stop(self) -> None:
        self.processes.end("home-assistant", signal.SIGTERM)

    # The first start

    def set_up(self, port: int) -> None:
        """Waits for the first start, and makes an owner, the MQTT integration with a broker at this port, and the gateway's token."""
        self.wait()
        self.onboard()
        self.add_mqtt(port)
        self.wait_until_running()
        token = self.connection.ask("auth/long_lived_access_token", client_name="vitals2mqtt", lifespan=30)
        with open(os.open(self.token, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(token + "\n")

    def for_gateway(self) -> dict[str, Any]:
        """The gateway's section for the import of statistics."""
        return {"url": f"http://127.0.0.1:{self.connection.port}", "token": {"file": self.token}}

    def onboard(self) -> None:
        """Makes an owner, as the first visitor of the web page does."""
        client = f"http://127.0.0.1:{self.connection.port}/"
        password = secrets.token_urlsafe(16)
        made = self.connection.post(
            "/api/onboarding/users",
            {"client_id": client, "name": "Owner", "username": "owner", "password": password, "language": "en"})
        tokens = self.connection.post_form(
            "/auth/token", {"client_id": client, "grant_type": "authorization_code", "code": made["auth_code"]})
        self.connection.token = tokens["access_token"]

    def add_mqtt(self, port: int) -> None:
        """Adds the MQTT integration, as a person does who fills its form in."""
        page = self.connection.post("/api/config/config_entries/flow", {"handler": "mqtt"})
        answers = {"broker": "127.0.0.1", "port": port}
        for _ in range(3):
            if page["type"] != "form":
                break
            page = self.connection.post(
                f"/api/config/config_entries/flow/{page['flow_id']}", filled(page["data_schema"], answers))
        if page["type"] != "create_entry":
            raise Finding(f"the MQTT integration could not be added: {page}")

    def records(self) -> Iterator[Record]:
        """The records of the log at warning or above. A record may have several lines."""
        begin = re.compile(r"^(?:\x1b\[\d+m)*\d{4}-\d\d-\d\d \S+ (\w+) \([^)]*\) \[([^]]+)\] ")
        record: list[str] = []
        head = ("", "")
        with open(self.processes.log("home-assistant"), encoding="utf-8", errors="replace") as log:
            for line in log:
                found = begin.match(line)
                if found:
                    if record:
                        yield Record(*head, "".join(record))
                    head, record = (found[1], found[2]), [line[found.end():]]
                else:
                    record.append(line)
        if record:
            yield Record(*head, "".join(record))


def filled(schema: list[dict], answers: dict[str, Any]) -> dict[str, Any]:
    """A form with our answers, and with what it suggests where it wants something else. Newer releases group fields."""
    form: dict[str, Any] = {}
    for field in schema:
        name = field["name"]
        if field.get("type") == "expandable":
            form[name] = filled(field["schema"], answers)
        elif name in answers:
            form[name] = answers[name]
        elif field.get("required"):
            form[name] = field["default"] if "default" in field else suggestion(field)
    return form


def suggestion(field: dict) -> Any:
    """The value of an untouched field: its first choice, or no."""
    selector = field.get("selector", {})
    options = selector.get("select", {}).get("options", [False])
    return field.get("description", {}).get("suggested_value", options[0])
