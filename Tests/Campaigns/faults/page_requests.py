"""What no browser asks the pages and the API for, each with the statuses that are right. `None` is the end without an answer."""

# Where forms must not lead to.
TARGETS = ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "..", "../x", "%2e%2e/", "gateway/../../x",
           "sign-out", "gateway\r\nSet-Cookie: a=b", "gateway\nLocation: //evil.example", "devices/band-1 ", "\x7f", "gateway#//evil.example",
           "@evil.example", "devices//band-1", "assets/style.css/x", "a" * 300]
HOST = b"127.0.0.1"
END = b"Connection: close\r\n\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"
JSON = b"Content-Type: application/json\r\n"
REFUSED = (400, 403, 404, 405, None)


def raw(target: bytes, *fields: bytes, method: bytes = b"GET", host: bytes | None = HOST, version: bytes = b"HTTP/1.1", body: bytes = b"") -> bytes:
    lines = [method + b" " + target + b" " + version, *([b"Host: " + host] if host is not None else []), *fields]
    return b"\r\n".join(lines) + b"\r\n" + END + body


# Paths that are none, whatever file lies where they lead.
PATHS = [path.encode() for path in """
    /../../etc/passwd /assets/../../../etc/passwd /assets/..%2f..%2f..%2fetc%2fpasswd /assets/%2e%2e/%2e%2e/etc/passwd
    /assets/%2e%2e%5c%2e%2e%5cetc%5cpasswd /assets/..\\..\\etc\\passwd //etc/passwd /assets//etc/passwd /assets/style.css%00.html
    /assets/style.css%00 /assets/. /assets/ /./gateway /gateway/. /gateway// //gateway /%67ateway /gateway;a=b /devices/..%2f..%2fgateway
    /devices/%2e%2e /devices/../gateway /devices/band-1/../../gateway /devices/band-1/values/../settings /devices/band-1/nights/2025-02-30
    /devices/band-1/nights/../../../etc /devices/BAND-1 /devices/band-1%20 /api/v1/../../gateway /api/v1//devices /api/v1/devices/..%2f..
    /api/v1/devices/%2e%2e/samples /api/v1/devices/band-1%00/samples /api/v1/openapi.json/.. /api/v1/openapi.json%00 /metrics/../gateway
    /health/live/../../gateway /v1/devices/../../gateway \\gateway /\\gateway /gateway\\..\\ /gateway%5c /%c0%ae%c0%ae/etc/passwd /% /%zz
""".split()] + [b"/\xff\xfe", b"/gateway\xc0\xaf", b"/devices/" + b"a" * 5_000, b"/?" * 4_000]

# Requests for the page of the gateway, each with the statuses that are right.
METHODS: list[tuple[str, bytes, tuple]] = [
    ("HEAD", raw(b"/gateway", method=b"HEAD"), (200,)),
    ("OPTIONS", raw(b"/gateway", method=b"OPTIONS"), (405,)),
    ("OPTIONS *", raw(b"*", method=b"OPTIONS"), (400, 404, 405, None)),
    ("OPTIONS of the API",
     raw(b"/api/v1/devices", b"Origin: http://evil.example", b"Access-Control-Request-Method: POST", method=b"OPTIONS"), (405,)),
    ("TRACE", raw(b"/gateway", b"X-Secret: a", method=b"TRACE"), (405, None)),
    ("TRACE of the API", raw(b"/api/v1/devices", method=b"TRACE"), (405, None)),
    ("CONNECT", raw(b"127.0.0.1:22", method=b"CONNECT"), REFUSED),
    ("PUT", raw(b"/gateway", method=b"PUT"), (405,)), ("DELETE", raw(b"/devices/band-1", method=b"DELETE"), (405,)),
    ("PATCH", raw(b"/devices/band-1", method=b"PATCH"), (405,)), ("no method", raw(b"/gateway", method=b""), (400, None)),
    ("a method of small letters", raw(b"/gateway", method=b"get"), (400, 405, None)),
    ("a whole address", raw(b"http://127.0.0.1/gateway"), (200, 400, 404)),
    ("a whole address elsewhere", raw(b"http://evil.example/gateway", host=b"evil.example"), (400, 404, 421)),
    ("a name of a stranger", raw(b"/gateway", host=b"evil.example"), (421,)),
    ("a name of a stranger for the API", raw(b"/api/v1/devices", host=b"evil.example"), (421,)),
    ("a name of a stranger for the metrics", raw(b"/metrics", host=b"127.0.0.1.evil.example"), (421,)),
    ("a name that begins as this one", raw(b"/gateway", host=b"localhost.evil.example"), (421,)),
    ("two hosts", raw(b"/gateway", b"Host: evil.example"), (400, 421, None)),
    ("two hosts, the stranger's first", raw(b"/gateway", b"Host: 127.0.0.1", host=b"evil.example"), (400, 421, None)),
    ("no host", raw(b"/gateway", host=None), (200, 400, None)), ("an empty host", raw(b"/gateway", host=b""), (200, 400, None)),
    ("a host with a user", raw(b"/gateway", host=b"127.0.0.1@evil.example"), (400, 421)),
    ("HTTP/1.0", raw(b"/gateway", version=b"HTTP/1.0"), (200, None)), ("HTTP/3.0", raw(b"/gateway", version=b"HTTP/3.0"), (400, 505, None)),
    ("another protocol", raw(b"/gateway", b"Upgrade: websocket", b"Connection: Upgrade"), (200, 400, None)),
    ("a query of 15 KiB", raw(b"/gateway?" + b"a" * 15_000), (200,)), ("a query of 20 KiB", raw(b"/gateway?" + b"a" * 20_000), (400, 414, 431, None)),
    ("a query of 500 fields", raw(b"/devices/band-1/values?" + b"&".join([b"range=week"] * 500)), (200,)),
    ("a query of the API of 5 KiB", raw(b"/api/v1/devices/band-1/samples?metric=" + b"a" * 5_000), (400,)),
    ("a field of 20 KiB", raw(b"/gateway", b"X-Long: " + b"a" * 20_000), (400, 431, None)),
    ("101 fields", raw(b"/gateway", *(b"X-%d: a" % number for number in range(101))), (400, 431, None)),
    ("a cookie of 10 KiB", raw(b"/gateway", b"Cookie: vitals2mqtt=" + b"a" * 10_000), (200,)),
    ("5,000 cookies", raw(b"/gateway", b"Cookie: " + b"a=;" * 5_000), (200,)),
    ("a field with an end of line", raw(b"/gateway", b"X-A: a\rX-B: b"), (200, 400, None)),
    ("a field with a zero", raw(b"/gateway", b"X-A: a\x00"), (400, None)), ("a field without a name", raw(b"/gateway", b": a"), (400, None)),
    ("a space before the colon", raw(b"/gateway", b"Content-Length : 5"), (400, None)),
    # Where nothing is expected, also with a stream behind it.
    ("a GET with a body", raw(b"/gateway", b"Content-Length: 5", body=b"hello"), (200, 413)),
    ("events of a page with a body", raw(b"/events?page=", b"Content-Length: 5", body=b"hello"), (200, 400, 413)),
    ("events of the API with a body", raw(b"/api/v1/events", b"Content-Length: 5", body=b"hello"), (200, 400, 413)),
    ("events with chunks", raw(b"/api/v1/events", b"Transfer-Encoding: chunked", body=b"5\r\nhello\r\n0\r\n\r\n"), (200, 400, 413)),
    ("HEAD of events", raw(b"/events?page=", method=b"HEAD"), (200,)), ("HEAD of the API's events", raw(b"/api/v1/events", method=b"HEAD"), (200,)),
    ("events of no page", raw(b"/events?page=//evil"), (400,)), ("events without a page", raw(b"/events"), (400,)),
    ("events since a strange time", raw(b"/events?page=nothing&since=" + b"9" * 300), (400,)),
    ("a form of 64 KiB and one byte", raw(b"/add/check", FORM[:-2], b"Content-Length: 65537", method=b"POST", body=b"a" * 65_537), (413,)),
    ("a form of 64 KiB", raw(b"/add/check", FORM[:-2], b"Content-Length: 65536", method=b"POST", body=b"a" * 65_536), (403,)),
    ("a form of 1 GiB", raw(b"/add/check", FORM[:-2], b"Content-Length: 1073741824", method=b"POST", body=b"a" * 100_000), (413,)),
    ("a form in endless chunks", raw(b"/add/check", FORM[:-2], b"Transfer-Encoding: chunked", method=b"POST",
                                     body=(b"8000\r\n" + b"a" * 0x8000 + b"\r\n") * 64 + b"0\r\n\r\n"), (413, None)),
    ("a form of ampersands", raw(b"/add/check", FORM[:-2], b"Content-Length: 65000", method=b"POST", body=b"&" * 65_000), (400, 403)),
    ("a form of percents", raw(b"/add/check", FORM[:-2], b"Content-Length: 65000", method=b"POST", body=b"%" * 65_000), (400, 403)),
    ("a command of 256 KiB and one byte", raw(b"/api/v1/devices/band-1/commands/time", JSON[:-2], b"Content-Length: 262145", method=b"POST",
                                              body=b" " * 262_145), (413,)),
    ("a command as a form", raw(b"/api/v1/devices/band-1/commands/time", FORM[:-2], b"Content-Length: 2", method=b"POST", body=b"{}"), (415,)),
    ("a command of another site", raw(b"/api/v1/devices/band-1/commands/time", JSON[:-2], b"Sec-Fetch-Site: cross-site", b"Content-Length: 2",
                                      method=b"POST", body=b"{}"), (403,)),
    ("a command as GET", raw(b"/api/v1/devices/band-1/commands/time"), (405,)),
    ("a command nested 100,000 times", raw(b"/api/v1/devices/band-1/commands/time", JSON[:-2], b"Content-Length: 200000", method=b"POST",
                                           body=b"[" * 100_000 + b"]" * 100_000), (400,)),
    ("two lengths", raw(b"/add/check", FORM[:-2], b"Content-Length: 5", b"Content-Length: 6", method=b"POST", body=b"csrf=1"), (400, None)),
    ("a length and chunks", raw(b"/add/check", FORM[:-2], b"Content-Length: 5", b"Transfer-Encoding: chunked", method=b"POST",
                                body=b"5\r\ncsrf=\r\n0\r\n\r\nGET /gateway HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), (400, 403, None)),
    ("ingress headers", raw(b"/", b"X-Ingress-Path: /evil", b"X-Remote-User-Id: u1"), (200,)),
    ("a proxy that nobody named", raw(b"/", b"X-Forwarded-For: 172.30.32.2", b"X-Forwarded-Proto: https", b"X-Forwarded-Host: evil.example"), (200,)),
]
