"""Runs the demo: starts the gateway and an independent subscriber, changes a threshold, and prints what arrives.

The subscriber is mosquitto_sub, which knows nothing of the gateway; this program only shortens what it receives to lines
that fit a terminal. Standard library only.
"""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.request

import lines

DEVICE = "vitals2mqtt/demo/band"
LOW = 45  # bpm: a resting heart rate is nearly always above it
ENOUGH = 30  # seconds in which every step must appear; shorter runs need not show all


class Stop(Exception):
    """A person ended the demo."""


def main() -> int:
    demo = Demo(parse_arguments())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, demo.stop)
    try:
        demo.run()
    except Stop:
        pass
    finally:
        demo.end()
    return demo.summary()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--page", type=int, required=True)
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--for", dest="seconds", type=float)
    return parser.parse_args()


class Demo:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.page = f"http://127.0.0.1:{arguments.page}/"
        self.broker = ["-h", "127.0.0.1", "-p", str(arguments.port)]
        self.began = time.monotonic()
        self.until = self.began + (arguments.seconds or float("inf"))
        self.children: list[subprocess.Popen] = []
        self.gateway = None
        self.ended = None  # the gateway's exit status, if it ended early
        self.reader = lines.Reader()
        self.counts: dict[str, int] = {}
        self.shown: dict[str, float] = {}
        self.steps: set[str] = set()
        self.news = threading.Condition()
        self.open = True

    # What happens

    def run(self) -> None:
        self.wait_for_broker()
        self.say("broker", f"to read it yourself: mosquitto_sub -p {self.arguments.port} -t 'vitals2mqtt/#' -v")
        subscriber = self.start(
            ["mosquitto_sub", *self.broker, "-V", "5", "-t", "vitals2mqtt/#", "-t", "homeassistant/#", "-F", "%t %p"],
            stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.receive, args=(subscriber.stdout,), daemon=True).start()
        with open(os.path.join(self.arguments.work, "gateway.log"), "w") as log:
            self.gateway = self.start(
                [self.arguments.gateway, "demo", "--broker", f"mqtt://127.0.0.1:{self.arguments.port}",
                 "--listen", f"127.0.0.1:{self.arguments.page}", "--directory", self.arguments.work],
                stdout=log, stderr=log)
        self.wait(self.has_page)
        self.say("PAGE", f"{self.page} has thirty days of three people")
        self.play()

    def play(self) -> None:
        self.wait(lambda: "band" in self.reader.configurations)
        self.wait(seconds=min(6, (self.arguments.seconds or 60) / 3))
        self.publish("config/set", {"heart_rate": {"resting_alert": {"enabled": True, "lower": 30, "upper": LOW}}})
        self.wait(lambda: len(self.steps) == len(lines.STEPS))
        self.wait(seconds=8)
        self.publish("command/measure", {"metric": "heart_rate", "duration_s": 10})
        self.wait(seconds=12)
        self.say("PAGE", f"{self.page} shows the alert until somebody has seen it, or the limit is higher")
        self.wait()

    def publish(self, topic: str, body: dict) -> None:
        command = ["-t", f"{DEVICE}/{topic}", "-m", json.dumps(body)]
        self.say("YOU", "mosquitto_pub " + shlex.join(command))
        subprocess.run(["mosquitto_pub", *self.broker, "-V", "5", "-q", "1", *command], check=False)

    def wait(self, condition=lambda: False, seconds: float = float("inf")) -> None:
        """Returns when the condition holds or the seconds are over; raises when it is time to end."""
        until = time.monotonic() + seconds
        with self.news:
            while not condition() and time.monotonic() < until:
                self.ended = self.gateway.poll()
                if self.ended is not None or time.monotonic() >= self.until:
                    raise Stop
                self.news.wait(0.1)

    def has_page(self) -> bool:
        try:
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with direct.open(self.page, timeout=5) as answer:
                return b"band" in answer.read()
        except OSError:
            return False

    def wait_for_broker(self) -> None:
        for _ in range(100):
            if subprocess.run(["mosquitto_pub", *self.broker, "-t", "demo", "-n"], capture_output=True).returncode == 0:
                return
            time.sleep(0.05)
        sys.exit("mosquitto did not start")

    # The end

    def stop(self, *_) -> None:
        self.arguments.seconds = None  # the run was cut short
        raise Stop

    def end(self) -> None:
        """Ends what was started. A second Ctrl-C does not disturb it."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self.open = False
        for child in reversed(self.children):
            child.terminate()
            try:
                child.wait(6)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def summary(self) -> int:
        if self.ended is not None:
            self.say("demo", f"the gateway ended with status {self.ended}: something is wrong")
            return 1
        counts = sorted(self.counts.items(), key=lambda item: -item[1])
        self.say("demo", f"{sum(self.counts.values())} messages: " + ", ".join(f"{name} {n}" for name, n in counts))
        missing = [step for step in lines.STEPS if step not in self.steps]
        if missing == ["alert"] and "band" in self.reader.unworn:
            self.say("demo", "the band is not worn while it is charged, once each evening: it measured nothing that could "
                             "raise the alert; try again in an hour")
            return 0
        if missing and (self.arguments.seconds or 0) >= ENOUGH:
            self.say("demo", f"the changed threshold was not seen as {', '.join(missing)}: something is wrong")
            return 1
        return 0

    def start(self, command: list[str], **options) -> subprocess.Popen:
        child = subprocess.Popen(command, **options)
        self.children.append(child)
        return child

    # What is shown

    def receive(self, messages) -> None:
        for message in messages:
            topic, _, payload = message.rstrip("\n").partition(" ")
            with self.news:
                if not self.open:
                    continue  # read on, else the subscriber could block on its output and not end
                self.count(topic)
                for line in self.reader.read(topic, payload):
                    self.show(line)
                self.news.notify_all()

    def count(self, topic: str) -> None:
        parts = topic.split("/")
        name = "discovery" if parts[0] == "homeassistant" else "/".join(parts[3:5] if parts[3] == "event" else parts[3:4])
        self.counts[name] = self.counts.get(name, 0) + 1

    def show(self, line: lines.Line) -> None:
        now = time.monotonic()
        if line.key and now - self.shown.get(line.key, -1e9) < line.every:
            return
        self.shown[line.key] = now
        if line.step:
            self.steps.add(line.step)
        self.say(line.what, line.text)

    def say(self, what: str, text: str) -> None:
        try:
            print(f"{time.monotonic() - self.began:6.1f}s  {what:<10} {text}", flush=True)
        except BrokenPipeError:  # the reader has closed the pipe, as `head` does
            self.until = 0
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
