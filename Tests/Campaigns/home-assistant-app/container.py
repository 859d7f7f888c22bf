#!/usr/bin/env python3
"""A container without an engine: a Dockerfile carried out in a root of Debian, and its command run there.

  container.py APP ROOT        carries APP/Dockerfile out in ROOT, a fresh root of the Debian that it begins with

It knows the instructions of our Dockerfile, and no others. Needs root, and a namespace of mounts of its own.
"""

import json
import os
import re
import shlex
import shutil
import signal
import string
import subprocess
import sys
from typing import Any, Optional

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
BASE = {"debian:trixie-slim": "13"}  # images, and the VERSION_ID of the root that stands for them
STOP = 20  # seconds, as config.yaml has them


class Image:
    """What a Dockerfile says."""

    def __init__(self, app: str) -> None:
        self.app = app
        self.labels: dict[str, str] = {}
        self.environment: dict[str, str] = {}
        self.command: list[str] = []
        self.steps: list[tuple[str, str]] = []
        with open(os.path.join(app, "Dockerfile"), encoding="utf-8") as file:
            text = "".join(line for line in file if not line.startswith("#"))
        for line in text.replace("\\\n", " ").splitlines():
            if not line.strip():
                continue
            name, rest = line.split(None, 1)
            if name == "CMD":
                self.command = json.loads(rest)
            elif name in ("LABEL", "ENV"):
                pairs = dict(word.split("=", 1) for word in shlex.split(rest))
                (self.labels if name == "LABEL" else self.environment).update(pairs)
            elif name in ("FROM", "ARG", "RUN", "COPY"):
                self.steps.append((name, rest.strip()))
            else:
                raise ValueError(f"Nothing is known of {name} in {app}/Dockerfile.")

    def build(self, root: str, arguments: dict[str, str]) -> None:
        """`arguments`: the values of `ARG`."""
        for name, rest in self.steps:
            if name == "FROM":
                with open(f"{root}/etc/os-release", encoding="utf-8") as file:
                    if f'VERSION_ID="{BASE[rest]}"' not in file.read():
                        raise ValueError(f"{root} is not {rest}.")
            elif name == "ARG":
                arguments[rest]  # of one that nobody gives nothing is known
            elif name == "RUN":
                self.run(root, rest, arguments)
            else:
                copy = re.fullmatch(r"--chmod=(\d+) (\S+) (/\S+)", rest)
                if not copy:
                    raise ValueError(f"Nothing is known of COPY {rest}.")
                shutil.copyfile(os.path.join(self.app, copy[2]), root + copy[3])
                os.chmod(root + copy[3], int(copy[1], 8))
        self.labels = {key: string.Template(value).substitute(arguments) for key, value in self.labels.items()}

    def run(self, root: str, command: str, arguments: dict[str, str]) -> None:
        mounted = []
        while found := re.match(r"--mount=type=bind,source=([^,]+),target=(\S+) +", command):
            place = root + found[2]
            os.makedirs(place, exist_ok=True)
            subprocess.run(["mount", "--bind", os.path.join(self.app, found[1]), place], check=True)
            mounted.append(place)
            command = command[found.end():]
        try:
            words = ["env", "-i", f"PATH={PATH}", "DEBIAN_FRONTEND=noninteractive", *pairs(arguments), "/bin/sh", "-c", command]
            subprocess.run(["chroot", root, *words], check=True, stdout=sys.stderr)
        finally:
            for place in mounted:
                subprocess.run(["umount", place], check=True)
                os.rmdir(place)


def pairs(values: dict[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in values.items()]


class Container:
    """The app in its root, with the folders that the Supervisor mounts."""

    def __init__(self, image: Image, root: str, folder: str, hosts: dict[str, str], zone: str) -> None:
        self.image, self.root, self.zone = image, root, zone
        self.data, self.config, self.share = (os.path.join(folder, name) for name in ("data", "config", "share"))
        self.log = os.path.join(folder, "app.log")
        self.process: Optional[subprocess.Popen] = None
        for place, source in (("data", self.data), ("config", self.config), ("share", self.share)):
            os.makedirs(source, exist_ok=True)
            os.makedirs(f"{root}/{place}", exist_ok=True)
            subprocess.run(["mount", "--bind", source, f"{root}/{place}"], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", f"{root}/share"], check=True)
        with open(f"{root}/etc/hosts", "w", encoding="utf-8") as file:
            file.write("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in hosts.items()))

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def command(self, words: list[str], token: str) -> list[str]:
        environment = {"PATH": PATH, "TZ": self.zone, "SUPERVISOR_TOKEN": token, "HASSIO_TOKEN": token, **self.image.environment}
        return ["chroot", self.root, "env", "-i", *pairs(environment), *words]

    def start(self, token: str, options: dict[str, Any]) -> None:
        """Starts it as a new container: what was beside the mounted folders is gone."""
        shutil.rmtree(f"{self.root}/run/vitals2mqtt", ignore_errors=True)
        with open(os.path.join(self.data, "options.json"), "w", encoding="utf-8") as file:
            json.dump(options, file)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command(self.image.command, token), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def stop(self) -> int:
        """Its status; it is killed if it is late."""
        process, self.process = self.process, None
        if process is None:
            return 0
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(STOP)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL
        finally:
            self.kill(process)

    @staticmethod
    def kill(process: subprocess.Popen) -> None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def execute(self, command: str) -> str:
        """What a command in the container says. A text is one word, so that it does not matter whether the engine divides it."""
        if " " in command:
            raise ValueError(f"{command} has several words.")
        return self.say(command)

    def say(self, *words: str) -> str:
        done = subprocess.run(self.command(list(words), ""), capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def said(self) -> str:
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()


if __name__ == "__main__":
    architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    Image(sys.argv[1]).build(sys.argv[2], {"TARGETARCH": architecture, "BUILD_VERSION": "0"})
