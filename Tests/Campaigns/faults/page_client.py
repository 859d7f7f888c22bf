"""A browser without a screen: it speaks HTTP by raw bytes, keeps cookies, and sends the forms of the gateway's pages as a person would."""

import contextlib
import html.parser
import re
import socket
import struct
import time
import urllib.parse
from typing import NamedTuple

from rig import Finding, require

# Seconds for an answer.
PATIENCE = 30
# Elements of the gateway's own pages; a stranger's would be another one, or have what `OURS` has not.
RUNS = {"iframe", "object", "embed", "style", "img", "video", "audio", "math", "foreignobject", "animate", "set", "use", "image"}


class Answer(NamedTuple):
    status: int | None  # none without an answer
    fields: list[tuple[str, str]]
    body: bytes

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key == name.lower()]

    def get(self, name: str) -> str:
        return (self.all(name) or [""])[0]

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")


def parsed(content: bytes) -> tuple[Answer, bytes]:
    """The first answer in these bytes, and what is behind it."""
    head, found, rest = content.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    words = lines[0].split(b" ", 2)
    if not found or not words[0].startswith(b"HTTP/1.") or len(words) < 2 or not words[1].isdigit():
        return Answer(None, [], content), b""
    fields = [(key.decode("latin-1").lower(), value.strip().decode("latin-1")) for key, _, value in (line.partition(b":") for line in lines[1:])]
    lengths = [int(value) for key, value in fields if key == "content-length"]
    size = lengths[0] if lengths else len(rest)
    return Answer(int(words[1]), fields, rest[:size]), rest[size:]


def connect(port: int, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE, source_address=(source, 0))


def exchange(port: int, content: bytes, source: str = "127.0.0.1", patience: float = PATIENCE) -> bytes:
    """Sends all of it, or as much as is taken, and returns what comes until the end of the connection, or within this time."""
    answer, end = b"", time.monotonic() + patience
    with contextlib.suppress(OSError), connect(port, source) as connection:
        connection.settimeout(patience)
        with contextlib.suppress(OSError):  # it may refuse before the end
            connection.sendall(content)
        while time.monotonic() < end and (piece := connection.recv(1 << 16)):
            answer += piece
            connection.settimeout(max(0.01, end - time.monotonic()))
    return answer


def cut(port: int, content: bytes, how: str, source: str) -> None:
    """Sends a part of a request, and leaves: with an `end` or a `reset`, or after a `half` end with what is answered."""
    with contextlib.suppress(OSError), connect(port, source) as connection:
        connection.sendall(content)
        if how == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if how == "half":
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(1)
            connection.recv(1 << 16)


class Browser:
    """One, with its cookies, at an address of its own."""

    def __init__(self, port: int, source: str = "127.0.0.1") -> None:
        self.port, self.source = port, source
        self.cookies: dict[str, str] = {}
        self.token = ""  # of the last page
        self.headers: dict[str, str] = {}

    def head(self, method: str, target: str, headers: dict[str, str]) -> bytes:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        fields = {"Host": f"127.0.0.1:{self.port}", "Connection": "close", **({"Cookie": cookies} if cookies else {}), **self.headers, **headers}
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items() if value is not None)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def request(self, method: str, target: str, body: bytes | None = None, **headers: str | None) -> bytes:
        """The bytes of a request; `_` in the name of a header is `-`, and none leaves it out."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            named = {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body)), **named}
        return self.head(method, target, named) + (body or b"")

    def ask(self, method: str, target: str, body: bytes | None = None, **headers: str | None) -> Answer:
        answer, _ = parsed(exchange(self.port, self.request(method, target, body, **headers), self.source))
        for line in answer.all("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
            if not value:
                del self.cookies[name]
        if found := re.search(r'<meta name="csrf" content="([0-9a-f]*)">', answer.text):
            self.token = found[1]
        return answer

    def get(self, target: str, **headers: str | None) -> Answer:
        return self.ask("GET", target, None, **headers)

    def form(self, **fields: str) -> bytes:
        return urllib.parse.urlencode({"csrf": self.token, **fields}).encode()

    def post(self, target: str, fields: dict[str, str] | None = None, **headers: str | None) -> Answer:
        return self.ask("POST", target, self.form(**(fields or {})), **headers)


class Markup(html.parser.HTMLParser):
    """What a browser would make of a page: its texts, and what runs in it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.runs: list[str] = []
        self.links: list[str] = []
        self.tag = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tag = tag
        if tag in RUNS:
            self.runs.append(f"<{tag} {attributes}>")
        for name, value in attributes:
            if name.startswith("on") or name == "style" or name == "srcdoc":
                self.runs.append(f"<{tag} {name}={value}>")
            if name in ("href", "src", "action", "formaction"):
                self.links.append(value or "")
                if ":" in (value or "").split("?")[0] or (value or "").startswith("//"):
                    self.runs.append(f"<{tag} {name}={value}>")
        self.texts += [value for name, value in attributes if value and name in ("value", "aria-label", "title", "data-live", "content")]

    def handle_data(self, data: str) -> None:
        if self.tag in ("script", "style") and data.strip():
            self.runs.append(f"<{self.tag}>{data[:50]}")
        self.texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self.tag = ""


def calm(answer: Answer, where: str) -> Markup:
    """A page in which nothing of a stranger runs, with the headers that would keep it from running."""
    page = Markup(answer.text)
    require(not page.runs, f"{where} has {page.runs[:3]}")
    policy = answer.get("content-security-policy")
    for words in ("default-src 'none'", "script-src 'self'", "base-uri 'self'", "form-action 'self'", "frame-ancestors"):
        require(words in policy, f"{where} has not {words} in its policy: {policy}")
    require("unsafe" not in policy and answer.get("x-content-type-options") == "nosniff", f"{where} has {policy}, {answer.fields}")
    return page


def events(port: int, target: str, browser: Browser, seconds: float, **headers: str) -> str:
    """What a stream sends within this time."""
    received, end = b"", time.monotonic() + seconds
    with connect(port, browser.source) as connection:
        connection.sendall(browser.request("GET", target, **headers))
        while (left := end - time.monotonic()) > 0:
            connection.settimeout(left)
            try:
                piece = connection.recv(1 << 16)
            except TimeoutError:
                break
            if not piece:
                break
            received += piece
    if not received:
        raise Finding(f"{target} sends nothing")
    return received.decode(errors="replace")
