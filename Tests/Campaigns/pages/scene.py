"""What the walk takes place in: a gateway with its mosquitto, simulated people of thirty days, a strap and a fake BlueZ."""

import os
import subprocess
import sys
import time

from rig import Gateway, Mosquitto
from waiting import TIMEOUT, free_port, require, until

HERE = os.path.dirname(os.path.abspath(__file__))
PASSWORD = "correct horse battery"
PASSKEY = "040713"  # as a number it would lose its first digit
# In this zone it is two in the afternoon: the night is over, the day has steps, and no band is being charged.
ZONE = f"Etc/GMT{time.gmtime().tm_hour - 14:+d}"
STRAP_MINUTES = 2000  # of the strap's history: four pages


def simulated(name: str, title: str, model: str, seed: int, days: int = 30, **whose) -> dict:
    faults = whose.pop("faults", {})
    return {"id": name, "name": title, "driver": "simulator", **whose,
            "options": {"model": model, "seed": seed, "history_days": days, **({"faults": faults} if faults else {})}}


class Scene:
    def __init__(self, program: str, folder: str) -> None:
        self.program, self.folder = program, folder
        self.port, self.strap = free_port(), free_port()
        self.mosquitto = Mosquitto(folder)
        self.gateway = Gateway(program, folder, self.mosquitto.port)
        self.children: list[subprocess.Popen] = []

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def devices(self) -> list[dict]:
        both = {"people": {"1": "Anna", "2": "Ben"}}
        return [
            simulated("ben-ring", "Ben’s ring", "ring", 11, person="Ben"),
            simulated("cuff", "Cuff", "cuff", 7, **both), simulated("scale", "Scale", "scale", 7, **both),
            # Some of what it sends cannot be read.
            simulated("ben-patch", "Ben’s patch", "glucose", 11, 14, person="Ben", faults={"corrupt_records": 0.01}),
            {"id": "clara-strap", "name": "Clara’s strap", "driver": "link", "person": "Clara", "fresh_for": {"heart_rate": "forever"},
             "transport": {"type": "tcp", "host": "127.0.0.1", "port": self.strap}}]

    def start(self) -> None:
        for name in ("devices.d", "exports"):
            os.mkdir(os.path.join(self.folder, name))
        subprocess.run([self.program, "web-password", "--write", os.path.join(self.folder, "web-password")],
                       input=PASSWORD + "\n", text=True, check=True, capture_output=True)
        rates, now = os.path.join(self.folder, "rates.csv"), int(time.time()) // 60 * 60
        with open(rates, "w", encoding="ascii") as file:
            file.write("epoch_s,bpm\n" + "".join(f"{now - 60 * minute},{66 + minute % 7}\n" for minute in range(STRAP_MINUTES, 0, -1)))
        self.run([sys.executable, "-B", os.path.join(HERE, "strap.py"), rates, "--tcp", f"127.0.0.1:{self.strap}"])
        bus = f"unix:path={self.folder}/bus"
        daemon = self.run(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address", f"--address={bus}"])
        require(daemon.stdout.readline() != b"", "dbus-daemon does not start")
        bluez = self.run([sys.executable, "-B", os.path.join(HERE, "bluez.py"), bus, str(int(PASSKEY))])
        require(bluez.stdout.readline() == b"ready\n", "the fake BlueZ does not start")
        self.mosquitto.start()
        self.configure([])
        self.gateway.start()
        self.gateway.wait_for("The gateway listens.", TIMEOUT)

    def configure(self, devices: list[dict]) -> None:
        self.gateway.write(
            devices, gateway={"id": "home", "timezone": ZONE}, devices_from="devices.d", sync={"first": "all"},
            web={"listen": f"127.0.0.1:{self.port}", "password": {"file": "web-password"}},
            plugins={"bluez": {"bus": f"unix:path={self.folder}/bus"}})

    def settle_in(self) -> None:
        """The devices of the household come, all at once."""
        self.configure(self.devices())
        self.gateway.reload()
        for device in ("ben-ring", "ben-patch", "cuff", "scale"):
            until(lambda: any("A synchronisation ended" in line and device in line for line in list(self.gateway.lines)), TIMEOUT,
                  f"{device} is not read")

    def run(self, command: list[str]) -> subprocess.Popen:
        log = open(os.path.join(self.folder, "children.log"), "ab")
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                 env={**os.environ, "HOME": self.folder, "TZ": "UTC"})
        self.children.append(child)
        return child

    def end(self) -> None:
        self.gateway.kill()
        for child in reversed(self.children):
            child.kill()
            child.wait()
        self.mosquitto.stop()
