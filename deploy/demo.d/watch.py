"""The demo's stage: starts the gateway and an independent subscriber, changes a threshold, and tells what arrives.

The subscriber is mosquitto_sub, which knows nothing of the gateway; this program only shortens what it receives to lines
that fit a terminal. Standard library only.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid

DEVICE = "vitals2mqtt/home/band"
NEW_LIMIT = 45  # bpm: a resting heart rate is nearly always above it, so the alert comes soon


def main() -> int:
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    stage = Stage(arguments)
    try:
        return stage.run()
    except KeyboardInterrupt:
        return 0
    finally:
        stage.end()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--for", dest="seconds", type=float)
    return parser.parse_args()


class Stage:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.children: list[subprocess.Popen] = []
        self.began = time.monotonic()
        self.counts: dict[str, int] = {}
        self.shown: dict[str, float] = {}
        self.seen: set[str] = set()
        self.news = threading.Condition()
        self.alert = None

    def run(self) -> int:
        broker = ["-h", "127.0.0.1", "-p", str(self.arguments.port)]
        self.wait_for_broker(broker)
        self.say("subscriber", "mosquitto_sub listens to vitals2mqtt/# and homeassistant/#")
        subscriber = self.start(
            ["mosquitto_sub", *broker, "-V", "5", "-t", "vitals2mqtt/#", "-t", "homeassistant/#", "-F", "%t %p"],
            stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.receive, args=(subscriber.stdout,), daemon=True).start()
        log = open(os.path.join(self.arguments.work, "gateway.log"), "w")
        gateway = self.start(
            [self.arguments.gateway, "demo", "--broker", f"mqtt://127.0.0.1:{self.arguments.port}",
             "--directory", self.arguments.work],
            stdout=log, stderr=log)
        return self.play(broker, gateway)

    def play(self, broker: list[str], gateway: subprocess.Popen) -> int:
        end = self.began + self.arguments.seconds if self.arguments.seconds else None
        if not self.wait_until(f"{DEVICE}/config", gateway, end):
            return self.finish(gateway)
        self.pause(6, gateway, end)
        patch = {"id": f"demo-{uuid.uuid4().hex[:6]}", "heart_rate": {
            "resting_alert": {"enabled": True, "lower": 30, "upper": NEW_LIMIT}}}
        self.say("you", f"config/set: an alert for a resting heart rate above {NEW_LIMIT} bpm")
        subprocess.run(["mosquitto_pub", *broker, "-V", "5", "-q", "1", "-t", f"{DEVICE}/config/set", "-m",
                        json.dumps(patch)], check=False)
        self.pause(None, gateway, end)
        return self.finish(gateway)

    def finish(self, gateway: subprocess.Popen) -> int:
        if gateway.poll() is not None:
            self.say("gateway", f"ended with status {gateway.returncode}")
            return 1
        total = sum(self.counts.values())
        self.say("demo", f"{total} messages: " + ", ".join(
            f"{name} {count}" for name, count in sorted(self.counts.items(), key=lambda item: -item[1])))
        if self.arguments.seconds and self.arguments.seconds >= 45 and self.alert is None:
            self.say("demo", "the alert did not arrive: something is wrong")
            return 1
        return 0

    # Children and waiting

    def start(self, command: list[str], **options) -> subprocess.Popen:
        child = subprocess.Popen(command, **options)
        self.children.append(child)
        return child

    def end(self) -> None:
        for child in reversed(self.children):
            child.terminate()
            try:
                child.wait(6)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def wait_for_broker(self, broker: list[str]) -> None:
        for _ in range(100):
            if subprocess.run(["mosquitto_pub", *broker, "-t", "demo", "-n"], capture_output=True).returncode == 0:
                return
            time.sleep(0.05)
        sys.exit("mosquitto did not start")

    def wait_until(self, topic: str, gateway: subprocess.Popen, end) -> bool:
        with self.news:
            while topic not in self.seen:
                if gateway.poll() is not None or (end and time.monotonic() > end):
                    return False
                self.news.wait(0.2)
        return True

    def pause(self, seconds, gateway: subprocess.Popen, end) -> None:
        until = time.monotonic() + seconds if seconds else None
        while gateway.poll() is None:
            now = time.monotonic()
            if (end and now > end) or (until and now > until):
                return
            time.sleep(0.1)

    # What is shown

    def receive(self, lines) -> None:
        for line in lines:
            topic, _, payload = line.rstrip("\n").partition(" ")
            with self.news:
                self.seen.add(topic)
                self.news.notify_all()
            self.show(topic, payload)

    def show(self, topic: str, payload: str) -> None:
        parts = topic.split("/")
        if parts[0] == "homeassistant":
            self.count("discovery")
            return self.often(topic, 3600, "discovery", topic)
        kind = parts[3] if len(parts) > 3 else topic
        self.count("event" if kind == "event" else kind)
        name = "/".join(parts[2:])
        try:
            body = json.loads(payload) if payload else None
        except ValueError:
            body = payload
        if not isinstance(body, dict):
            return self.often(topic, 3600, "state", f"{name} = {body}")
        if kind == "measurement":
            return self.often(topic, 5, "measured", f"{name}: {describe_samples(body)}")
        if kind == "latest":
            return self.often(topic, 15, "latest", f"{name}: {describe(body)} {body.get('unit') or ''}")
        if kind == "event":
            if parts[4] == "alert":
                self.alert = self.alert or body
                return self.say("ALERT", f"{name}: {body['event_type']} {body['value']} (limit {body['limit']})")
            return self.often(topic, 10, "event", f"{name}: {body.get('event_type') or body.get('reason')}")
        if kind == "config" and len(parts) == 4:
            pending = ", ".join(body["pending"]) or "nothing"
            return self.say("config", f"{name}: version {body['version']}, pending: {pending}")
        if kind == "response":
            return self.say("answer", f"{name}: {body['command']} {body['status']} {body['message'] or ''}")
        if kind == "sync" and len(parts) == 4:
            text = f"{name}: {body['state']} {body['metric'] or ''} {body['samples_new']} new"
            return self.often(f"{topic}{body['state']}", 4, "sync", text)
        if kind == "link":
            return self.say("link", f"{name}: {body['state']}")
        if kind == "daily" and len(parts) == 6:
            return self.often(f"{parts[2]}/daily", 5, "daily", f"{name}: {body['count']} samples")
        return None

    def count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def often(self, key: str, seconds: float, what: str, text: str) -> None:
        """Shows a line of its kind once in a while: there is more to see than can be read."""
        now = time.monotonic()
        if now - self.shown.get(key, -1e9) >= seconds:
            self.shown[key] = now
            self.say(what, text)

    def say(self, what: str, text: str) -> None:
        print(f"{time.monotonic() - self.began:6.1f}s  {what:<10} {text}"[:160], flush=True)


def describe(sample: dict) -> str:
    value, fields = sample.get("value"), sample.get("fields")
    if fields and "systolic" in fields:
        return f"{fields['systolic']}/{fields['diastolic']}"
    return "nothing fresh" if value is None else f"{value}"


def describe_samples(body: dict) -> str:
    samples = body["samples"]
    newest = samples[-1]
    more = f", {len(samples)} in one message" if len(samples) > 1 else ""
    late = "late, " if body["historical"] else ""
    return f"{describe(newest)} {body['unit'] or ''} ({late}{body['source']} {newest['start'][:19]}{more})"


if __name__ == "__main__":
    sys.exit(main())
