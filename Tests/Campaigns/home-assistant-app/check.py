#!/usr/bin/env python3
"""Tries the app of Home Assistant in its root, with a fake of the Supervisor, a mosquitto and a real Core.

  check.py --app FOLDER --root ROOT VERSION     FOLDER as `make` made it, ROOT as container.py did, Core as `hass install` did

In a network of its own, with the addresses of Home Assistant's. `run` prepares all of it.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone
from http.client import HTTPConnection
from typing import Any, Callable, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("kit", "home-assistant"):
    sys.path.append(os.path.join(HERE, "..", folder))
import yaml
from broker import Broker
from clock import Clock
from connection import Refused
from container import Container, Image
from instance import Instance
from processes import Finding, Processes, until
from supervisor import COOKIE, Supervisor, back_up, restore, watched
from waiting import require

SUPERVISOR, APP, MOSQUITTO = "172.30.32.2", "172.30.33.5", "172.30.33.2"
PHONE = "192.168.7.20"  # somebody in the network at home
PORT = 8480
USER, PASSWORD = "addons", "aB3-'\"\\ é and more"
OWNER = {"id": "5f2c0a", "username": "anna", "name": "Anna"}
ZONE = "Europe/Berlin"
TOKEN = "d" * 40  # of a phone
BAND = "vitals2mqtt/home/band-1"
MISSING = "Home Assistant has no MQTT broker"


class Trial:
    def __init__(self, folder: str, app: str, root: str, version: str) -> None:
        self.folder, self.version = folder, version
        with open(os.path.join(app, "config.yaml"), encoding="utf-8") as file:
            self.config = yaml.safe_load(file)
        self.processes = Processes(folder, Clock())
        self.home = Instance(self.processes, version, ZONE)
        hosts = {"supervisor": SUPERVISOR, "core-mosquitto": MOSQUITTO, "second-name": MOSQUITTO}
        self.container = Container(Image(app), root, folder, hosts, ZONE)
        self.options: dict[str, Any] = {}
        self.backup = os.path.join(folder, "running.tar.gz")

    def begin(self) -> None:
        words = os.path.join(self.folder, "passwords")
        subprocess.run(["mosquitto_passwd", "-b", "-c", words, USER, PASSWORD], check=True, capture_output=True)
        own = f"listener 1883 {MOSQUITTO}\nallow_anonymous false\npassword_file {words}\n"
        self.broker = Broker(self.processes, f"user root\nper_listener_settings true\n{own}")
        self.home.start()
        self.home.set_up(self.broker.port)
        core = (self.home.connection.port, self.home.connection.token or "")
        self.supervisor = Supervisor(self.config, (APP, self.config["ingress_port"]), [OWNER], core, SUPERVISOR)
        self.supervisor.listen(SUPERVISOR, 80, ("127.0.0.1", 8123))

    def start(self) -> None:
        self.container.start(self.supervisor.new_token(), self.options)

    def stop(self) -> None:
        status = self.container.stop()
        if status:
            raise Finding(f"the app ended with {status}: {self.container.said()[-2000:]}")

    def end(self) -> None:
        self.container.stop()
        self.processes.end_all()

    def register_broker(self, host: str = "core-mosquitto") -> None:
        self.supervisor.mqtt = {"host": host, "port": 1883, "username": USER, "password": PASSWORD}

    def wait_for_gateway(self, since: int) -> None:
        self.broker.wait("the gateway is online", "vitals2mqtt/home/gateway/status", lambda status: status == "online", since)

    @property
    def configuration(self) -> str:
        return os.path.join(self.container.config, "vitals2mqtt.yaml")

    def text(self) -> str:
        with open(self.configuration, encoding="utf-8") as file:
            return file.read()

    def ask(self, path: str, headers: dict[str, str], source: str = PHONE, body: Optional[bytes] = None) -> tuple[int, dict, str]:
        """Asks the app's port from another address: status, headers and body."""
        asked = HTTPConnection(APP, PORT, timeout=30, source_address=(source, 0))
        with contextlib.closing(asked):
            asked.request("POST" if body else "GET", path, body, headers)
            answer = asked.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode(errors="replace")

    def browse(self, path: str, cookie: str) -> tuple[int, dict, str]:
        """Asks Home Assistant, as a browser."""
        asked = urllib.request.Request(self.supervisor.sites[1] + path, headers={"Cookie": f"{COOKIE}={cookie}"} if cookie else {})
        try:
            with urllib.request.urlopen(asked, timeout=30) as answer:
                return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, {name.lower(): value for name, value in error.headers.items()}, error.read().decode(errors="replace")

    def samples(self) -> int:
        said = self.container.say("vitals2mqtt", "store", "info", "--store", "/data/vitals.sqlite")
        return sum(map(int, re.findall(r"(\d+) samples?\b", said)))


def has_rate(message: dict) -> bool:
    return any(sample["value"] for sample in message["samples"])


def waits_for_a_broker(trial: Trial) -> str:
    """without a broker the app says so and waits; with one it starts without any configuration"""
    began = trial.broker.count
    trial.start()
    until("it says that there is no broker", lambda: MISSING in trial.container.said(), 20)
    require(not os.path.exists(trial.configuration), "it wrote a configuration without a broker")
    trial.register_broker()
    trial.wait_for_gateway(began)
    require(trial.container.said().count(MISSING) == 1, "it says the same more than once")
    return "online"


def keeps_secrets(trial: Trial) -> str:
    """password and token are in no file that a backup has, not in the log, and not with the programs of devices"""
    folder = f"{trial.container.root}/run/vitals2mqtt"
    for name, wanted in (("mqtt-password", PASSWORD), ("home-assistant-token", trial.supervisor.token)):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            require(file.read() == wanted, f"{name} has something else")
        require(os.stat(path).st_mode & 0o777 == 0o600, f"others may read {name}")
    require(PASSWORD not in trial.text() and trial.supervisor.token not in trial.container.said(), "a secret is written elsewhere")
    gateway = gateway_of(trial)
    with open(f"/proc/{gateway}/environ", encoding="utf-8") as file:
        require(trial.supervisor.token not in file.read(), "the gateway has the token in its environment")
    with open(f"/proc/{gateway}/status", encoding="utf-8") as file:
        require("CapEff:\t0000000000000000" in file.read(), "the gateway has rights of root")
    return "two files"


def gateway_of(trial: Trial) -> int:
    process = trial.container.process
    return int(subprocess.run(["pgrep", "-P", str(process.pid if process else 0)], capture_output=True, text=True, check=True).stdout)


def takes_devices(trial: Trial) -> str:
    """a device that is added at run time sends its values"""
    trial.container.say(
        "vitals2mqtt", "add", "--driver", "simulator", "--id", "band-1", "--option", "model=band", "--option", "history_days=3", "--write")
    trial.broker.wait("a heart rate", f"{BAND}/measurement/heart_rate", has_rate)
    return f"{trial.samples()} samples"


def shows_pages(trial: Trial) -> str:
    """the page comes through ingress, with its path before every link, and Home Assistant may frame it"""
    entry = trial.supervisor.entry
    session = trial.supervisor.new_session(OWNER["id"])
    status, headers, page = trial.browse(entry, session)
    require(status == 200 and headers["content-type"].startswith("text/html"), f"the page is {status} {headers}: {page[:300]}")
    require(f'<base href="{entry}"' in page and "band-1" in page, f"the page has another base, or no device: {page[:300]}")
    policy = headers.get("content-security-policy", "")
    # Home Assistant's frame has the origin of ingress, so `SAMEORIGIN` lets it in, too.
    is_framed = "frame-ancestors 'self'" in policy and headers.get("x-frame-options") in (None, "SAMEORIGIN")
    require(is_framed, f"it cannot be framed: {headers}")
    strange = [link for link in re.findall(r'(?:href|src|action)="(/[^"]*)"', page) if not link.startswith(entry)]
    require(not strange, f"links lead out of ingress: {strange}")
    files = re.findall(r'(?:href|src)="(assets/[^"]+)"', page)
    for link in files:
        status, headers, _ = trial.browse(entry + link, session)
        require(status == 200, f"{link} is {status}")
    require(trial.browse(entry, "")[0] == 401, "the fake lets somebody in without a session")
    return f"{len(files)} files"


def refuses_others(trial: Trial) -> str:
    """headers of ingress from another address give no page"""
    entry = trial.supervisor.entry
    forged = {
        "X-Ingress-Path": entry.rstrip("/"), "X-Remote-User-Id": OWNER["id"], "X-Hass-Source": "core.ingress", "X-Forwarded-For": SUPERVISOR}
    for source in (PHONE, "172.30.32.1", MOSQUITTO):
        status, _, page = trial.ask("/", forged, source)
        require(entry not in page and "band-1" not in page, f"{source} gets {status}: {page[:300]}")
    return "from three addresses"


def takes_posts(trial: Trial) -> str:
    """a phone posts at the port, and not without its token"""
    path = os.path.join(trial.container.config, "script.token")
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(TOKEN)
    trial.container.say(
        "vitals2mqtt", "add", "--driver", "documents", "--id", "script-1", "--option", "metrics=[weight]", "--transport", "type=http",
        "--transport", "token.file=/config/script.token", "--write")
    document = json.dumps({"samples": [{"metric": "weight", "value": 71.2, "unit": "kg", "time": int(time.time())}]}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    path = "/v1/devices/script-1"

    def posted() -> bool:
        status, _, answer = trial.ask(path, headers, body=document)
        if status != 200:
            raise Finding(f"the post is answered {status}: {answer}")
        return True

    until("the post is taken", posted, 20)
    trial.broker.wait("the weight", "vitals2mqtt/home/script-1/measurement/weight", lambda message: message["samples"][0]["value"] == 71.2)
    headers["Authorization"] = f"Bearer {TOKEN[:-1]}x"
    require(trial.ask(path, headers, body=document)[0] in (401, 403), "it is taken with another token")
    return "a weight"


def is_watched(trial: Trial) -> str:
    """the watchdog's question is answered"""
    address = watched(trial.config, APP)
    with urllib.request.urlopen(address, timeout=10) as answer:
        require(answer.status < 300, f"the answer is {answer.status}")
    return address


def fills_statistics(trial: Trial) -> str:
    """late samples go into Core's statistics, through the proxy and with the app's token"""
    unique = "vitals2mqtt_home_band-1_heart_rate"

    def old() -> int:
        entries = trial.home.connection.ask("config/entity_registry/list")
        entity = next((entry["entity_id"] for entry in entries if entry["unique_id"] == unique), None)
        if entity is None:
            raise Finding(f"there is no {unique}")
        start = (datetime.now(timezone.utc) - timedelta(days=4)).isoformat()
        end = (datetime.now(timezone.utc) - timedelta(days=1)).isoformat()
        rows = trial.home.connection.ask(
            "recorder/statistics_during_period", start_time=start, end_time=end, statistic_ids=[entity], period="hour", types=["mean"])
        return len(rows.get(entity, []))

    count = until("hours of yesterday and before are there", old, 180)
    require("websocket to Core" in trial.supervisor.log, "it did not come through the proxy")
    return f"{count} hours"


def contents(file: str) -> dict[str, bytes]:
    with tarfile.open(file) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}  # type: ignore[union-attr]


def opened(trial: Trial, files: dict[str, bytes]) -> int:
    """How many series the copy of a backup has."""
    names = [name for name in files if "sqlite" in name]
    require("data/backup.sqlite" in files and not any(name.startswith("data/vitals.sqlite") for name in names), f"it has {names}")
    for name in names:
        with open(os.path.join(trial.folder, os.path.basename(name)), "wb") as file:
            file.write(files[name])
    with contextlib.closing(sqlite3.connect(os.path.join(trial.folder, "backup.sqlite"))) as store:
        require(store.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the copy is damaged")
        return store.execute("SELECT count(*) FROM series").fetchone()[0]


def is_backed_up(trial: Trial) -> str:
    """a backup while the app runs has a copy that opens, the devices, and no secret"""
    back_up(trial.container, trial.config, trial.backup)
    files = contents(trial.backup)
    series = opened(trial, files)
    require(series, "the copy is empty")
    wanted = {"config/vitals2mqtt.yaml", "config/devices.d/band-1.yaml", "data/options.json"}
    require(wanted <= files.keys(), f"it has {sorted(files)}")
    wrong = [name for name, content in files.items() for secret in (PASSWORD, trial.supervisor.token) if secret.encode() in content]
    require(not wrong, f"secrets are in {wrong}")
    require(trial.container.is_running and not os.path.exists(os.path.join(trial.container.data, "backup.sqlite")), "it left its copy")
    back_up(trial.container, trial.config, trial.backup)  # and again
    return f"{series} series"


def rests(trial: Trial) -> str:
    """it ends with status 0, and a backup of the stopped app has the store, too"""
    trial.stop()
    file = os.path.join(trial.folder, "stopped.tar.gz")
    back_up(trial.container, trial.config, file)
    return f"{opened(trial, contents(file))} series"


def is_restored(trial: Trial) -> str:
    """a restored backup goes on with its samples and devices"""
    began = trial.broker.count
    restore(trial.container, trial.backup)
    require(not os.path.exists(os.path.join(trial.container.data, "vitals.sqlite")), "the backup has the changing store")
    trial.start()
    trial.wait_for_gateway(began)
    trial.broker.wait("a heart rate", f"{BAND}/measurement/heart_rate", has_rate, began)
    count = trial.samples()
    require(count > 100, f"it has {count} samples")
    return f"{count} samples"


def follows_the_broker(trial: Trial) -> str:
    """the configuration follows the broker until somebody changes it, and stays as it is from then on"""
    trial.stop()
    trial.register_broker("second-name")
    began = trial.broker.count
    trial.start()
    trial.wait_for_gateway(began)
    require("mqtt://second-name:1883" in trial.text(), f"the broker is another one: {trial.text()}")
    trial.stop()
    with open(trial.configuration, "a", encoding="utf-8") as file:
        file.write("# Mine.\n")
    own = trial.text()
    trial.register_broker()
    trial.options = {"log_level": "debug"}
    began = trial.broker.count
    trial.start()
    trial.wait_for_gateway(began)
    require(trial.text() == own, "it changed the configuration of a person")
    until("it logs what the option says", lambda: re.search(r"\bdebug\b", trial.container.said(), re.IGNORECASE), 20)
    trial.stop()
    return "and the level of the log the option"


CHECKS: list[Callable[[Trial], str]] = [
    waits_for_a_broker, keeps_secrets, takes_devices, shows_pages, refuses_others, takes_posts, is_watched, fills_statistics, is_backed_up,
    rests, is_restored, follows_the_broker,
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--app", required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("version")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        socket.create_server((SUPERVISOR, 80)).close()
    except OSError:
        sys.exit(f"{SUPERVISOR} is no address of this machine: start this by `run`.")
    folder = tempfile.mkdtemp(prefix="vitals2mqtt-")
    trial = Trial(folder, options.app, options.root, options.version)
    findings = 0
    try:
        trial.begin()
        for check in CHECKS:
            began = time.monotonic()
            try:
                trial.processes.check()
                result = f"ok    {check.__doc__} ({check(trial)})"
            except Exception as error:  # a failed check must not prevent the others
                findings += 1
                known = isinstance(error, (Finding, Refused, RuntimeError))
                result = f"WRONG {check.__doc__}:\n{error if known else traceback.format_exc()}"
            print(f"{time.monotonic() - began:6.1f} s  {result}", flush=True)
        if findings:
            print(f"-- the end of the app's log\n{trial.container.said()[-4000:]}\n-- the Supervisor's")
            print(*trial.supervisor.log[-20:], sep="\n")
    finally:
        trial.end()
        for place in ("data", "config", "share"):
            subprocess.run(["umount", f"{options.root}/{place}"], check=False)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{findings} finding{'' if findings == 1 else 's'}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
