"""Talks with a Home Assistant over HTTP and its WebSocket, with the standard library alone."""

import base64
import json
import os
import socket
import struct
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Optional


class Refused(Exception):
    """Home Assistant did not do what it was asked."""


class Connection:
    def __init__(self, port: int) -> None:
        self.port = port
        self.token: Optional[str] = None

    # HTTP

    def get(self, path: str) -> Any:
        return self.request("GET", path)

    def post(self, path: str, body: Any) -> Any:
        return self.request("POST", path, json.dumps(body).encode(), "application/json")

    def post_form(self, path: str, fields: dict) -> Any:
        body = urllib.parse.urlencode(fields).encode()
        return self.request("POST", path, body, "application/x-www-form-urlencoded")

    def request(self, method: str, path: str, body: Optional[bytes] = None, kind: Optional[str] = None) -> Any:
        headers = {"Content-Type": kind} if kind else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise Refused(f"{method} {path}: {error.code} {error.read(500).decode(errors='replace')}") from None

    def states(self) -> dict[str, dict]:
        return {state["entity_id"]: state for state in self.get("/api/states")}

    def call(self, service: str, entity: Optional[str], **data: Any) -> None:
        """Calls a service such as `number.set_value`, of an entity unless that is `None`."""
        if entity:
            data["entity_id"] = entity
        self.post(f"/api/services/{service.replace('.', '/')}", data)

    # WebSocket

    def ask(self, kind: str, **members: Any) -> Any:
        """The result of one command."""
        with WebSocket(self.port) as stream:
            stream.receive()  # auth_required
            stream.send({"type": "auth", "access_token": self.token})
            answer = stream.receive()
            if answer["type"] != "auth_ok":
                raise Refused(f"{kind}: {answer}")
            stream.send({"id": 1, "type": kind, **members})
            while True:
                answer = stream.receive()
                if answer.get("id") == 1 and answer["type"] == "result":
                    break
        if not answer["success"]:
            raise Refused(f"{kind}: {answer['error']}")
        return answer["result"]


class WebSocket:
    """As much of RFC 6455 as a client of Home Assistant, or of a browser, needs: text, in frames of any length."""

    TEXT, CLOSE, PING = 1, 8, 9

    def __init__(self, port: int, path: str = "/api/websocket") -> None:
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
            raise Refused(f"no WebSocket: {status!r}")

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
                raise Refused("Home Assistant closed the WebSocket")
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
        length = bytes([128 | size]) if size < 126 else struct.pack(">BH", 128 | 126, size)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(content))
        self.socket.sendall(bytes([128 | code]) + length + mask + masked)

    def read(self, size: int) -> bytes:
        content = self.file.read(size)
        if len(content) < size:
            raise Refused("Home Assistant closed the connection")
        return content
