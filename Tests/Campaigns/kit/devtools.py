"""A Chromium without a window, driven over its DevTools protocol, with the standard library alone."""

import base64
import json
import os
import shutil
import socket
import struct
import urllib.request
from typing import Any, Callable, Optional

from waiting import Finding, until

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Without its sandbox, since root cannot use it; it opens nothing but what is on this machine.
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--lang=en", "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-port=0")


class WebSocket:
    """As much of RFC 6455 as a client of a browser, or of Home Assistant, needs: text, in frames of any length."""

    TEXT, CLOSE, PING = 1, 8, 9

    def __init__(self, port: int, path: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.file = self.socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        status = self.file.readline()
        while self.file.readline() not in (b"\r\n", b""):
            pass
        if b" 101 " not in status:
            raise Finding(f"no WebSocket: {status!r}")

    def __enter__(self) -> "WebSocket":
        return self

    def __exit__(self, *_: Any) -> None:
        self.file.close()
        self.socket.close()

    def send(self, message: dict) -> None:
        self.write(self.TEXT, json.dumps(message).encode())

    def receive(self) -> dict:
        text = b""
        while True:
            head = self.read(2)
            length = head[1] & 127
            if length == 126:
                (length,) = struct.unpack(">H", self.read(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.read(8))
            content, code = self.read(length), head[0] & 15
            if code == self.CLOSE:
                raise Finding("the other end closed the WebSocket")
            if code == self.PING:
                self.write(10, content)
            elif code <= self.TEXT:  # the beginning of a message, or more of it
                text += content
                if head[0] & 128:
                    return json.loads(text)

    def write(self, code: int, content: bytes) -> None:
        # What a client sends is masked.
        mask = os.urandom(4)
        size = len(content)
        length = (bytes([128 | size]) if size < 126 else struct.pack(">BH", 128 | 126, size) if size < 1 << 16
                  else struct.pack(">BQ", 128 | 127, size))
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(content))
        self.socket.sendall(bytes([128 | code]) + length + mask + masked)

    def read(self, size: int) -> bytes:
        content = self.file.read(size)
        if len(content) < size:
            raise Finding("the other end closed the connection")
        return content


class Chromium:
    """One page of a browser."""

    def __init__(self, folder: str, start: Callable[[list[str]], Any]) -> None:
        """Has `start` start the program, whose profile is in the folder."""
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if not program:
            raise Finding(f"there is no {PROGRAMS[0]}; Debian has it as a package of this name")
        start([program, *OPTIONS, f"--user-data-dir={folder}", "about:blank"])
        port = int(until(lambda: self.port(folder), 60, "the browser does not listen"))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
            page = next(page for page in json.load(answer) if page["type"] == "page")
        self.stream = WebSocket(port, "/devtools/page/" + page["id"])
        self.last = 0

    @staticmethod
    def port(folder: str) -> Optional[str]:
        try:
            with open(os.path.join(folder, "DevToolsActivePort"), encoding="utf-8") as file:
                return file.readline().strip()
        except FileNotFoundError:
            return None

    def ask(self, method: str, **parameters: Any) -> dict:
        """The result of a command. What the browser tells before it goes to `told`."""
        self.last += 1
        self.stream.send({"id": self.last, "method": method, "params": parameters})
        while True:
            answer = self.stream.receive()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise Finding(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.told(answer["method"], answer["params"])

    def told(self, event: str, parameters: dict) -> None:
        """What the browser tells by itself, of what was enabled."""

    def run(self, script: str) -> Any:
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Finding(f"the page's script failed: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def resize(self, width: int, height: int) -> None:
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def capture(self, path: str, **parameters: Any) -> None:
        """Writes a picture of what is in the window, as png or webp by the path."""
        data = self.ask("Page.captureScreenshot", format=path.rsplit(".", 1)[1], **parameters)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
