"""Lets schemathesis try the API of a real gateway, and reads it while data comes in. See Tests/Campaigns/api/run."""

import argparse
import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from consumer import Consumer
from rig import TIMEOUT, Finding, Gateway, Mosquitto, require, until
from waiting import free_port

HERE = os.path.dirname(os.path.abspath(__file__))
# Seconds for all that schemathesis does, of which each command may wait for its answer.
LONGEST = 3_000


def devices() -> list[dict]:
    def device(name: str, model: str, seed: int, **whose) -> dict:
        return {"id": name, "driver": "simulator",
                "options": {"model": model, "seed": seed, "history_days": 14, "live_interval": "1s"},
                "sync": {"first": "all"}, **whose}
    return [device("band-1", "band", 1, person="anna"), device("cuff", "cuff", 2, people={"1": "anna", "2": "ben"})]


class Trial:
    def __init__(self, program: str, folder: str) -> None:
        self.folder, self.port = folder, free_port()
        self.mosquitto = Mosquitto(folder)
        self.gateway = Gateway(program, folder, self.mosquitto.port)
        self.tokens = {name: secrets.token_hex(32) for name in ("all", "ben")}

    def start(self) -> None:
        for name, token in self.tokens.items():
            descriptor = os.open(os.path.join(self.folder, name), os.O_WRONLY | os.O_CREAT, 0o600)
            with open(descriptor, "w", encoding="ascii") as file:
                file.write(token)
        self.mosquitto.start()
        self.gateway.write(devices(), web={
            "listen": f"127.0.0.1:{self.port}",
            "tokens": [{"name": "all", "token": {"file": "all"}, "scopes": ["read", "command"]},
                       {"name": "ben", "token": {"file": "ben"}, "people": ["ben"]}]})
        self.gateway.start()
        self.consumer = Consumer(self.mosquitto.port)
        require(self.consumer.connected.wait(TIMEOUT), "the consumer is not connected")
        for device in ("band-1", "cuff"):
            until(lambda: self.consumer.newest.get(f"{device}/sync", {}).get("last_success_at"), TIMEOUT, f"{device} is not read")

    def ask(self, path: str, token: str = "all", body=None, **headers):
        """The status and the JSON of an answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/v1/{path}", data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.tokens.get(token, token)}", "Content-Type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def schemathesis(self, examples: int) -> None:
        command = [os.environ["SCHEMATHESIS"], "--config-file", os.path.join(HERE, "schemathesis.toml"), "run",
                   "--url", f"http://127.0.0.1:{self.port}", "--max-examples", str(examples), "--seed", "1", "--no-color",
                   "--continue-on-failure", f"http://127.0.0.1:{self.port}/api/v1/openapi.json"]
        environment = {**os.environ, "API_TOKEN": self.tokens["all"], "PYTHONPATH": ""}
        result = subprocess.run(command, env=environment, cwd=self.folder, timeout=LONGEST, check=False)
        require(result.returncode == 0, f"schemathesis ended with status {result.returncode}")

    def pages(self) -> int:
        """Reads all heart rates in small pages while others come in: each once, in order, and all of a second reading."""
        def all_of(limit: int) -> list[tuple[str, str]]:
            found, cursor = [], ""
            while cursor is not None:
                place = f"&cursor={cursor}" if cursor else ""
                status, page = self.ask(f"devices/band-1/samples?metric=heart_rate&limit={limit}{place}")
                require(status == 200, f"a page is {status}: {page}")
                found += [(sample["start"], sample["id"]) for sample in page["samples"]]
                cursor = page["next"]
            return found
        before = all_of(1_000)
        small = all_of(37)
        ordered = sorted(small, key=lambda sample: sample[0])
        require(len(set(small)) == len(small) and small == ordered, "a sample is there twice, or out of order")
        missing = set(before) - set(small)
        require(not missing and len(before) > 1_000, f"{len(missing)} of {len(before)} samples are on no page")
        return len(small)

    def events(self) -> int:
        """Two clients follow: one of everything, and one of what is ben's. Both get the newest values, and nobody else's."""
        def follow(token: str, seconds: float, last: str = "") -> list[tuple[str, str, dict]]:
            request = urllib.request.Request(
                f"http://127.0.0.1:{self.port}/api/v1/events",
                headers={"Authorization": f"Bearer {self.tokens[token]}", **({"Last-Event-ID": last} if last else {})})
            found, end, event, name = [], time.monotonic() + seconds, "", ""
            with contextlib.suppress(TimeoutError), urllib.request.urlopen(request, timeout=5) as stream:
                for line in stream:
                    text = line.decode().rstrip("\n")
                    if text.startswith("event: "):
                        event = text[7:]
                    elif text.startswith("id: "):
                        name = text[4:]
                    elif text.startswith("data: "):
                        found.append((event, name, json.loads(text[6:])))
                    if time.monotonic() > end:
                        break
            return found
        results: dict[str, list] = {}
        threads = [threading.Thread(target=lambda token=token: results.update({token: follow(token, 10)})) for token in ("all", "ben")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        require([kind for kind, _, _ in results["all"]][0] == "reset", "the stream does not begin with reset")
        topics = [data["topic"] for kind, _, data in results["all"] if kind == "state"]
        require(topics.count("latest/heart_rate") > 3, f"there are few heart rates: {topics}")
        strange = [data for kind, _, data in results["ben"] if kind == "state" and (
            data["device"] != "cuff" or isinstance(data["payload"], dict) and data["payload"].get("person") not in (None, "ben"))]
        require(not strange, f"ben gets what is not his: {strange[:2]}")
        again = follow("all", 3, [name for _, name, _ in results["all"] if name][-1])
        require("reset" not in [kind for kind, _, _ in again], "who comes back begins again")
        return len(topics)

    def run(self, examples: int) -> None:
        self.start()
        print(f"pages: {self.pages()} samples, each once", flush=True)
        print(f"events: {self.events()} states", flush=True)
        require(self.ask("devices", "ben")[1]["devices"][0]["device"] == "cuff", "ben sees other devices")
        require(self.ask("devices/band-1/commands/time", "ben", {})[0] == 403, "ben commands")
        require(self.ask("devices", secrets.token_hex(32))[0] == 401, "a wrong token is taken")
        status, answer = self.ask("devices/band-1/commands/sync?wait=60", body={})
        require(status == 200 and answer["status"] == "done", f"the synchronisation is {status}: {answer}")
        self.schemathesis(examples)
        self.gateway.check()
        self.gateway.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--examples", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="api-") as folder:
        trial = Trial(options.gateway, folder)
        try:
            trial.run(options.examples)
        except Finding as finding:
            print(finding, file=sys.stderr)
            return 1
        finally:
            with contextlib.suppress(AttributeError):
                trial.consumer.end()
            trial.gateway.kill()
            trial.mosquitto.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
