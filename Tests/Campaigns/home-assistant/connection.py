"""Talks with a Home Assistant over HTTP and its WebSocket, with the standard library alone."""

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Optional

from devtools import WebSocket


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
        with WebSocket(self.port, "/api/websocket") as stream:
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
