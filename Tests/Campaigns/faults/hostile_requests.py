"""Raw HTTP requests that no phone sends, each with what it does. `None` stands for any answer, or none; else it must not be taken."""

import gzip
import json
import socket
import time

TOKEN = "a secret of the strangers"
PATH = b"/v1/devices/phone"
# Seconds for an answer.
PATIENCE = 5


def document(start: int) -> bytes:
    """A good document with one heart rate."""
    date = time.strftime("%Y-%m-%d %H:%M:%S +0000", time.gmtime(start // 1000))
    entry = {"name": "heart_rate", "units": "count/min", "data": [{"date": date, "Avg": 61}]}
    return json.dumps({"data": {"metrics": [entry]}}).encode()


def head(*fields: bytes, method: bytes = b"POST", path: bytes = PATH, version: bytes = b"HTTP/1.1") -> bytes:
    lines = [method + b" " + path + b" " + version, b"Host: gateway", b"Authorization: Bearer " + TOKEN.encode(),
             b"Content-Type: application/json", *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def post(body: bytes, *fields: bytes) -> bytes:
    return head(b"Content-Length: %d" % len(body), *fields) + body


def chunked(body: bytes, size: bytes | None = None) -> bytes:
    return (size or b"%x" % len(body)) + b"\r\n" + body + b"\r\n0\r\n\r\n"


def requests(start: int) -> list[tuple[str, bytes, bool | None]]:
    """The requests, with a good document for what is wrong only around it."""
    good = document(start)
    size = b"Content-Length: %d" % len(good)
    chunks = b"Transfer-Encoding: chunked"
    return [
        ("two lengths", head(size, b"Content-Length: 5") + good, False),
        ("one length twice", head(size, size) + good, None),
        ("two lengths in one field", head(size + b", 5") + good, False),
        ("a length and chunks", head(size, chunks) + chunked(good), None),
        ("chunks and a length", head(chunks, b"Content-Length: 3") + chunked(good), None),
        ("a length of 31 digits", head(b"Content-Length: " + b"9" * 31) + good, False),
        ("a length of 8 EiB", head(b"Content-Length: 9223372036854775807") + good, False),
        ("a length below zero", head(b"Content-Length: -5") + good, False),
        ("a length with a sign", head(b"Content-Length: +5") + good, False),
        ("a length in hexadecimal digits", head(b"Content-Length: 0x10") + good, False),
        ("an empty length", head(b"Content-Length:") + good, False),
        ("a chunk of 16 EiB", head(chunks) + chunked(good, b"ffffffffffffffff"), False),
        ("a chunk of 17 digits", head(chunks) + chunked(good, b"1" + b"0" * 16), False),
        ("a chunk below zero", head(chunks) + chunked(good, b"-5"), False),
        ("a chunk with a megabyte of extension", head(chunks) + chunked(good, b"%x;" % len(good) + b"a" * (1 << 20)), None),
        ("chunks and another encoding", head(b"Transfer-Encoding: chunked, identity") + chunked(good), None),
        ("an unknown encoding", head(b"Transfer-Encoding: xchunked") + chunked(good), None),
        ("a nesting of 100,000", post(b"[" * 100_000 + b"]" * 100_000), False),
        ("a nesting of objects", post(b'{"a":' * 50_000 + b"1" + b"}" * 50_000), False),
        ("wrong UTF-8", post(good.replace(b"heart", b"h\xc3\x28rt")), False),
        ("UTF-8 of a surrogate", post(good.replace(b"heart", b"\xed\xa0\x80")), False),
        ("UTF-16", post(good.decode().encode("utf-16")), False),
        ("a NUL byte within", post(good.replace(b"heart", b"he\x00rt")), False),
        ("a number of a million digits", post(good.replace(b"61", b"6" * 1_000_000)), None),
        ("not-a-number", post(good.replace(b"61", b"NaN")), False),
        ("20 MiB of spaces", post(b" " * (20 << 20)), False),
        ("one byte too much", post(b" " * ((20 << 20) + 1)), False),
        ("compressed", post(gzip.compress(good), b"Content-Encoding: gzip"), False),
        ("compressed, 1,000 times", post(gzip.compress(bytes(20 << 20)), b"Content-Encoding: gzip"), False),
        ("compressed without a field", post(gzip.compress(good)), False),
        ("a hundred in one go", post(good) * 100, None),
        ("a good one, and rubbish behind it", post(good) + b"\x00\xff" * 1000, None),
        ("two tokens", post(good, b"Authorization: Bearer wrong"), None),
        ("a field over two lines", post(good, b"X-Long: a\r\n b"), None),
        ("a field with a NUL byte", post(good, b"X-Zero: a\x00b"), False),
        ("a field of a megabyte", post(good, b"X-Long: " + b"a" * (1 << 20)), False),
        ("10,000 fields", post(good, *(b"X-%d: a" % number for number in range(10_000))), False),
        ("a path of a megabyte", head(size, path=PATH + b"/" * (1 << 20)) + good, False),
        ("a path out of the tree", head(size, path=b"/v1/devices/../../etc/passwd") + good, False),
        ("HTTP/0.9", b"GET /\r\n\r\n", False),
        ("the beginning of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(100), False),
        ("a greeting of TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500), False),
        ("an end within the body", head(b"Content-Length: 1000") + good, False),
    ]


def send(port: int, content: bytes) -> bytes:
    """Sends all of it, or as much as is taken, and returns the beginning of the answer."""
    answer = b""
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
            connection.settimeout(PATIENCE)
            try:
                connection.sendall(content)
            except OSError:
                pass  # it may refuse before the end
            while len(answer) < 64 and (piece := connection.recv(4096)):
                answer += piece
    except OSError:
        pass
    return answer


def status(answer: bytes) -> int | None:
    """The status of an answer, if it is one."""
    words = answer.split(b" ", 2)
    return int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/1.") and words[1].isdigit() else None
