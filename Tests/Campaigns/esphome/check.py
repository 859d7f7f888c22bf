"""Puts the real gateway between proxies of ESPHome and a broker, one row after the other. See Tests/Campaigns/esphome/run."""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable

from consumer import Consumer
from rig import TIMEOUT, Bench, Finding, free_port, require, secret, until

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "bluetooth"))

import expected  # noqa: E402
import figures  # noqa: E402

KEY, OTHER = "QRTIErOb/fcE9Ukd/5qA3RGYMn0Y+p06U58SCtOXvPc=", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
BOTH = ("2025.11", "2026.7")
SERVED = 120  # seconds until all is there, also when devices wait for each other
NOTICED = 90  # seconds until the gateway says what is wrong
QUIET = 20  # seconds in which it must not do what it must not
DEVICES = {
    "strap": ("01", "gatt-health", {}), "cuff": ("02", "gatt-health", {"pairing": "just_works"}), "oximeter": ("03", "gatt-health", {}),
    "ring": ("04", "colmi-ring", {}), "night": ("05", "o2ring", {})}
ARRIVED: dict[str, Callable[[Any], bool]] = {
    "strap": lambda samples: {sample["value"] for sample in samples.of("strap", "heart_rate")} == set(figures.STRAP_RATES),
    "cuff": lambda samples: expected.cuff_values(samples) == expected.expected_cuff(0),
    "oximeter": lambda samples: expected.oximeter_is_received(samples) and any(
        sample["value"] == figures.OXIMETER_LIVE[0] for sample in samples.of("oximeter", "blood_oxygen")),
    "ring": expected.ring_is_received, "night": expected.night_is_received}
ROWS: list[tuple[str, str, dict, Callable]] = []


def row(*generations: str, **home: Any) -> Callable:
    """Adds a row for each generation. The function returns the result in words."""
    def add(function: Callable) -> Callable:
        ROWS.extend((function.__name__, generation, home, function) for generation in generations)
        return function
    return add


class Samples(Consumer):
    """Everything that was measured."""

    def __init__(self, port: int) -> None:
        self.samples: dict[tuple[str, str], list[dict]] = {}
        super().__init__(port)

    def note(self, levels: list[str], body: Any) -> None:
        if levels[3] == "measurement":
            self.samples.setdefault((levels[2], levels[4]), []).extend(body["samples"])
        else:
            self.newest["/".join(levels[2:])] = body
            if levels[3:] == ["event", "gap"]:
                self.gaps.append(body)

    def of(self, device: str, metric: str) -> list[dict]:
        return list(self.samples.get((device, metric), []))

    def reported(self, device: str, metric: str) -> dict[str, Any]:
        return {sample["start"]: sample["value"] for sample in self.of(device, metric)}


class Home:
    """Proxies, broker and gateway of a row."""

    def __init__(self, program: str, folder: str, generation: str, slots: int = 6, proxies: int = 1, key: str | None = KEY) -> None:
        self.bench, self.key, self.others = Bench(program, folder), key, []
        self.gateway = self.bench.gateway
        self.control, self.ports = free_port(), [free_port() for _ in range(proxies)]
        self.log = open(os.path.join(folder, "proxies.log"), "ab")
        self.start("room.py", str(self.control), *(
            ",".join([str(port), generation, str(slots), *([key] if key else [])]) for port in self.ports))
        until(self.is_open, TIMEOUT, "the proxies do not listen")
        self.samples = self.bench.consumer = Samples(self.bench.mosquitto.port)
        self.bench.broker()

    def start(self, script: str, *words: str) -> subprocess.Popen:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        process = subprocess.Popen(
            [os.environ["PROXIES"], "-B", os.path.join(HERE, script), *words], stdout=self.log, stderr=self.log, env=environment)
        self.others.append(process)
        return process

    def is_open(self) -> bool:
        try:
            return self.room("state 0") is not None
        except OSError:
            return False

    def room(self, command: str) -> Any:
        with socket.create_connection(("127.0.0.1", self.control), TIMEOUT) as port:
            port.sendall(command.encode() + b"\n")
            return json.loads(port.makefile().readline())

    def state(self, index: int = 0) -> dict:
        return self.room(f"state {index}")

    def write(self, *devices: str, key: str | None = "", exclusive: bool = True, **options: Any) -> None:
        key = self.key if key == "" else key
        secrets = {"key": secret(self.bench, "proxy.key", key)} if key else {}
        self.gateway.write(
            [{"id": name, "name": name, "driver": driver, "transport": {"type": "esphome", "address": f"F0:00:00:00:00:{number}", **transport}}
             for name, (number, driver, transport) in DEVICES.items() if name in devices],
            plugins={"esphome": {"proxies": [
                {"host": "127.0.0.1", "port": port, **secrets, **({"exclusive": True} if exclusive else {})} for port in self.ports], **options}})

    def begin(self, *devices: str, **options: Any) -> None:
        self.write(*devices, **options)
        self.gateway.start()

    def until(self, holds: Callable[[], Any], seconds: float, what: str) -> None:
        """Waits while the gateway runs."""
        until(lambda: self.gateway.check() or holds(), seconds, what, step=0.2)

    def arrived(self, *devices: str, seconds: float = SERVED) -> None:
        """Waits until all that these devices have is there. Then nothing may be there twice."""
        for name in devices:
            self.until(lambda: ARRIVED[name](self.samples), seconds, f"not all of {name} is there: {self.error(name)}")
        self.once()

    def once(self) -> None:
        self.gateway.check()
        for (device, metric), samples in list(self.samples.samples.items()):
            for what in ("id", "start"):
                values = [sample[what] for sample in samples]
                require(len(values) == len(set(values)), f"{device} {metric}: {len(values) - len(set(values))} with the same {what}")
        require(not self.samples.gaps, f"something was lost: {self.samples.gaps[:2]}")

    def live(self, seconds: float = SERVED) -> float:
        """Waits for two new rates of the strap. Returns the seconds that took."""
        before, began = len(self.samples.of("strap", "heart_rate")), time.monotonic()
        self.until(lambda: len(self.samples.of("strap", "heart_rate")) > before + 1, seconds, f"no new rates: {self.error('strap')}")
        return time.monotonic() - began

    def error(self, device: str) -> str:
        return self.samples.newest.get(f"{device}/link", {}).get("last_error") or ""

    def says(self, *words: str, device: str = "strap", seconds: float = NOTICED) -> str:
        """Waits for a state of the device's link that has all of these words."""
        self.until(lambda: all(word in self.error(device).lower() for word in words), seconds,
                   f"the link's state does not say {' '.join(words)}: {self.error(device)!r}")
        return self.error(device)

    def doctor(self, *words: str) -> None:
        done = subprocess.run(
            [self.gateway.program, "doctor", "--config", self.gateway.path], capture_output=True, text=True, timeout=TIMEOUT, check=False)
        lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
        require(any(all(word in line.lower() for word in words) for line in lines), f"doctor does not say {' '.join(words)}: {lines}")

    def home_assistant(self) -> subprocess.Popen:
        return self.start("scenarios.py", "--as-home-assistant", str(self.ports[0]), *([self.key] if self.key else []))

    def restart(self) -> None:
        self.gateway.stop()
        self.gateway.start()

    def end(self) -> None:
        self.bench.end()
        for process in self.others:
            process.kill()
            process.wait()
        self.log.close()


@row(*BOTH)
def all_at_once(home: Home) -> str:
    """Strap, cuff, oximeter and both rings; each rate that the proxy handed on is one sample, in order."""
    home.begin(*DEVICES)
    home.arrived(*DEVICES)
    home.room("leave Strap")
    until(lambda: home.samples.newest["strap/link"]["state"] != "connected", TIMEOUT, "the strap's loss is not reported")
    values = [bytes.fromhex(line.split()[1]) for line in home.state()["delivered"] if line.startswith("F0:00:00:00:00:01")]
    rates = [int.from_bytes(value[1:], "little") for value in values if len(value) > 1]

    def seen() -> list[int]:
        return [sample["value"] for sample in sorted(home.samples.of("strap", "heart_rate"), key=lambda sample: sample["start"])]
    until(lambda: len(seen()) >= len(rates), TIMEOUT, f"{len(rates)} rates were sent")
    require(seen() == rates, f"{len(rates)} rates were sent, and {len(seen())} are there")
    home.room("come Strap")
    home.live()
    return f"{len(rates)} rates, {sum(map(len, home.samples.samples.values()))} samples"


@row(*BOTH, slots=3)
def slots(home: Home) -> str:
    """Four devices with three slots."""
    home.begin("strap", "cuff", "oximeter", "ring", turn="10s")
    home.arrived("strap", "cuff", "oximeter", "ring")
    home.live()
    return f"at most {home.state()['fullest']} links, {home.state()['refused']} refused"


@row(*BOTH)
def reboot(home: Home) -> str:
    home.room("cut 0 30")  # in the middle of what was stored
    home.begin("strap", "oximeter", "ring", "night")
    until(lambda: home.state()["cuts"] == 1, TIMEOUT, "nothing was cut")
    home.room("reboot 0 3")
    home.arrived("strap", "oximeter", "ring", "night")
    home.room("reboot 0 3")
    seconds = home.live()
    home.once()
    return f"back after {seconds:.0f} s"


@row(*BOTH)
def cuts(home: Home) -> str:
    """The connection ends in the middle of a page again and again, with half a frame."""
    home.room("cut 0 5")
    home.begin("oximeter", "ring", "night")
    for cut, values in enumerate((12, 25, 40), 1):
        until(lambda: home.state()["cuts"] == cut, TIMEOUT, f"there is no cut {cut}")
        home.room(f"cut 0 {values}")
    until(lambda: home.state()["cuts"] == 4, TIMEOUT, "there is no cut 4")
    home.arrived("oximeter", "ring", "night")
    return "4 cuts"


def silent(home: Home, seconds: int, stale: int) -> str:
    home.begin("strap", "ring")
    home.arrived("strap", "ring")
    home.room(f"silence 0 {seconds} {stale}")
    time.sleep(seconds)
    took = home.live()
    home.once()
    return f"back {took:.0f} s after the silence"


@row(*BOTH)
def wifi_for_a_minute(home: Home) -> str:
    return silent(home, 60, 0)


@row(*BOTH)
def wifi_for_longer(home: Home) -> str:
    """The gateway gives the connection up, and the proxy notices that only 30 s after the Wi-Fi is back."""
    return silent(home, 110, 30)


@row("2026.7")
def comes_and_goes(home: Home) -> str:
    """Strap and cuff leave and come, with a new record of the cuff each time."""
    home.begin("strap", "cuff")
    home.arrived("strap", "cuff")
    for later in (1, 2):
        for name in ("Strap", "Cuff"):
            home.room(f"leave {name}")
        until(lambda: home.samples.newest["cuff/link"]["state"] != "connected", TIMEOUT, "the cuff's loss is not reported")
        home.room("record")
        for name in ("Strap", "Cuff"):
            home.room(f"come {name}")
        until(lambda: expected.cuff_values(home.samples) == expected.expected_cuff(later), SERVED, f"no record {later} of the cuff")
        home.live()
    home.once()
    return "2 times"


@row("2026.7", proxies=2)
def two_proxies(home: Home) -> str:
    """Both hear the strap. When the one that serves it ends, the other one does."""
    home.begin("strap")
    home.arrived("strap")
    serving = [index for index in (0, 1) if home.state(index)["links"]]
    require(len(serving) == 1, f"{len(serving)} proxies serve the strap")
    with socket.create_connection(("127.0.0.1", home.control)) as port:
        port.sendall(f"reboot {serving[0]} 60\n".encode())  # its answer comes with the end
        time.sleep(1)
        seconds = home.live(15)
    require(bool(home.state(1 - serving[0])["links"]), "the other proxy does not serve the strap")
    home.once()
    return f"replaced after {seconds:.0f} s"


@row("2026.7")
def wrong_key(home: Home) -> str:
    home.begin("strap", key=OTHER)
    said = home.says("key")
    home.doctor("key")
    home.write("strap")
    home.restart()
    home.arrived("strap")
    return said


@row("2026.7")
def key_is_missing(home: Home) -> str:
    home.begin("strap", key=None)
    return home.says("key")


@row("2026.7", key=None)
def no_encryption(home: Home) -> str:
    """A key for a proxy that has none, and then none."""
    home.begin("strap", key=KEY)
    said = home.says("encrypt")
    home.write("strap")
    home.restart()
    home.arrived("strap")
    return said


@row("2022.11", key=None)
def too_old(home: Home) -> str:
    home.begin("strap")
    return home.says("esphome")


@row(*BOTH)
def not_exclusive(home: Home) -> str:
    """Nothing subscribes, and it is said why."""
    home.begin("strap", exclusive=False)
    said = home.says("exclusive")
    home.doctor("exclusive")
    require(home.state()["subscriptions"] == 0, "the gateway has subscribed")
    return said


@row("2025.11")
def ignored(home: Home) -> str:
    """Home Assistant has the place: the gateway says so, and is served once that is free."""
    other = home.home_assistant()
    until(lambda: home.state()["subscribers"], TIMEOUT, "Home Assistant does not subscribe")
    home.begin("strap")
    said = home.says("another")
    require(home.state()["subscribers"] == ["Home Assistant"], "the place has changed")
    other.kill()
    home.arrived("strap")
    return said


@row("2025.11")
def stays(home: Home) -> str:
    """Home Assistant comes second, and is ignored."""
    home.begin("strap")
    home.arrived("strap")
    home.home_assistant()
    until(lambda: len(home.state()["clients"]) == 2, TIMEOUT, "Home Assistant does not connect")
    home.live()
    require(home.state()["subscribers"] != ["Home Assistant"], "the place has changed")
    home.once()
    return "the gateway is served"


@row("2026.7")
def taken(home: Home) -> str:
    """Home Assistant takes the place: the gateway says so, does not take it back, and does after a restart."""
    home.begin("strap", "oximeter")
    home.arrived("strap", "oximeter")
    home.home_assistant()
    until(lambda: home.state()["subscribers"] == ["Home Assistant"], TIMEOUT, "Home Assistant does not subscribe")
    subscriptions = home.state()["subscriptions"]
    said = home.says("another")
    time.sleep(QUIET)
    require(home.state()["subscriptions"] == subscriptions, "the gateway has taken the place back")
    home.restart()
    home.live()
    require(home.state()["subscribers"] != ["Home Assistant"], "the gateway has not taken the place")
    home.once()
    return said


def run(program: str, name: str, generation: str, options: dict, function: Callable) -> tuple[bool, str]:
    with tempfile.TemporaryDirectory(prefix="vitals2mqtt-esphome-") as folder:
        home = Home(program, folder, generation, **options)
        try:
            return True, function(home)
        except (Finding, OSError, KeyError) as error:
            with open(home.log.name, encoding="utf-8") as log:
                print("".join(log.readlines()[-40:] + home.gateway.lines[-40:]), flush=True)
            return False, f"{error}" if isinstance(error, Finding) else repr(error)
        finally:
            home.end()


def official() -> tuple[bool, str]:
    """The official clients use the proxies."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([os.environ["PROXIES"], "-B", os.path.join(HERE, "scenarios.py")], env=environment, capture_output=True, text=True,
                          timeout=300, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("ok ", "WRONG"))]
    return done.returncode == 0, "; ".join(lines) if done.returncode else f"{len(lines)} scenarios"


def main() -> int:
    names = ["official_clients", *dict.fromkeys(name for name, *_ in ROWS)]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateway", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--only", metavar="ROWS", default=",".join(names), help="these rows, separated by commas")
    parser.add_argument("--list", action="store_true", help="prints the names of the rows")
    options = parser.parse_args()
    wanted = options.only.split(",")
    if options.list or (unknown := set(wanted) - set(names)):
        print("\n".join(names) if options.list else f"There is no row {unknown.pop()}; --list names them.")
        return 0 if options.list else 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results = []
    for name, generation, home, function in [("official_clients", "all", None, None), *ROWS]:
        if name in wanted:
            began = time.monotonic()
            holds, said = official() if home is None else run(os.path.abspath(options.gateway), name, generation, home, function)
            results.append(f"{'ok   ' if holds else 'WRONG'}  {name:16} {generation:8} {time.monotonic() - began:5.0f} s  {said}")
            print(results[-1], flush=True)
    wrong = [line for line in results if line.startswith("WRONG")]
    print("\n" + "\n".join(results) + f"\n\n{len(results)} rows, {len(wrong)} WRONG")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
