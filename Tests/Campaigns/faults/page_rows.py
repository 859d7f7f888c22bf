"""Rows that attack the pages and the API: forms of other sites, sessions, guesses, scripts in what others write, paths, and what no browser
sends. After each the gateway goes on working, and has no more descriptors or memory than before."""

import contextlib
import csv
import io
import json
import os
import re
import subprocess
import time

from page_client import Answer, Browser, Markup, calm, connect, cut, events, exchange, parsed
from page_requests import METHODS, PATHS, TARGETS, raw
from peers import Peers
from rig import TIMEOUT, Bench, free_port, require, row, until

# MiB that the memory may be above that before the attacks: buffers of as many connections as there are at once.
MEMORY = 60
PASSWORD = "a long password of the household"
GUESSES, STREAMS = 25, 60
# A value of a form, which must be in no log.
LIMIT = 173

# Each is text wherever it stands.
SCRIPT = "<script>alert(1)</script>"
NAMES = {
    "name": f"\"'><img src=x onerror=alert(1)>{SCRIPT}", "person": "</title></style><svg/onload=alert(1)>{{csrf}}{{{frame.token}}}",
    "jinja": "{{ states.sun.sun.state }}{% if 1 %}{# x #}{% endif %}", "sheet": "=cmd|' /C calc'!A0", "second": "\u202e&lt;b&gt;<b onclick=1>",
}


def band(identity: str, **members) -> dict:
    return {"id": identity, "driver": "simulator", "sync": {"first": "all"},
            "options": {"model": "band", "seed": 1, "history_days": 3, "live_interval": "1s"}, **members}


class Household:
    """A gateway with the page open, and its figures before the attacks."""

    def __init__(self, bench: Bench, devices: list[dict], address: str = "127.0.0.1", more: dict | None = None, **web) -> None:
        self.bench, self.port = bench, free_port(address)
        bench.broker()
        bench.gateway.write(devices, web={"listen": f"{address}:{self.port}", **web}, **(more or {}))
        bench.gateway.start()
        for device in devices:
            bench.served(device["id"])
        until(lambda: self.is_open(), TIMEOUT, "the page is not open")
        self.before: dict[str, float] = {}

    def is_open(self) -> bool:
        with contextlib.suppress(OSError):
            connect(self.port).close()
            return True
        return False

    def browser(self, number: int = 0) -> Browser:
        """One at an address of its own."""
        return Browser(self.port, f"127.0.1.{number + 1}")

    def settle(self) -> dict[str, float]:
        """The figures, once connections that are over are closed."""
        time.sleep(2)
        return self.bench.gateway.figures()

    def warm(self, *targets: str, browser: Browser | None = None) -> None:
        """Asks for these pages, so that what is made once is made, and remembers the figures."""
        browser = browser or self.browser()
        for _ in range(3):
            for target in targets:
                browser.get(target)
        self.before = self.settle()

    def check(self) -> str:
        """It goes on working, and nothing has grown."""
        self.bench.gateway.check()
        until(lambda: self.bench.gateway.figures()["descriptors"] <= self.before["descriptors"], 30,
              f"it has {self.bench.gateway.figures()['descriptors']} descriptors instead of {self.before['descriptors']}", step=0.5)
        rise = self.bench.gateway.figures()["memory"] - self.before["memory"]
        require(rise < MEMORY, f"its memory rose by {rise:.0f} MiB")
        samples = self.bench.consumer.newest.get("band-1/latest/heart_rate")
        count = len(self.bench.consumer.known())
        until(lambda: len(self.bench.consumer.known()) > count, 30, f"no samples come any more after {samples}")
        return f"{rise:+.0f} MiB"

    def silent(self, *words: str) -> None:
        """The log has none of these words, or numbers beside dates and ports."""
        for word in words:
            pattern = rf"(?<![\w.:]){word}(?!\w)" if word.isdigit() else re.escape(word)
            found = next((line for line in self.bench.gateway.lines if re.search(pattern, line)), None)
            require(found is None, f"the log has {word!r}: {found}")


def version(bench: Bench) -> int:
    return bench.consumer.newest["band-1/config"]["version"]


def expect(answer: Answer, *statuses: int, what: str) -> None:
    require(answer.status in statuses, f"{what} is answered with {answer.status} instead of {statuses}: {answer.body[:200]!r}")


def hashed(bench: Bench) -> str:
    """The file with the hash of the password."""
    path = os.path.join(bench.folder, "web-password")
    subprocess.run([bench.gateway.program, "web-password", "--write", path], input=f"{PASSWORD}\n", text=True, check=True, capture_output=True)
    return path


@row("forms of other sites, sessions, guesses", "without and with wrong tokens, sessions that others chose, 25 guesses, targets elsewhere",
     "nothing is changed, no session is taken over, guesses wait, redirects stay here", is_apart=True)
def page_forms(bench: Bench) -> str:
    home = Household(bench, [band("band-1", name="Band of Anna", person="Anna")], password={"file": hashed(bench)})
    browser = home.browser()
    home.warm("/", "/sign-in", "/assets/style.css", browser=browser)
    # Nothing is seen before.
    for target in ("/", "/devices/band-1", "/gateway", "/add", "/devices/band-1/settings", "/devices/nobody"):
        answer = home.browser().get(target)
        expect(answer, 303, what=f"{target} without a sign-in")
        require("Anna" not in answer.text and answer.get("location").startswith("/sign-in"), f"{target} leads to {answer.get('location')}")
    expect(home.browser().get("/events?page="), 403, what="events without a sign-in")
    expect(home.browser().get("/api/v1/devices"), 401, what="the API without a token")

    # A session that somebody else has chosen or knows.
    chosen = home.browser(1)
    chosen.cookies["vitals2mqtt"] = "a" * 64
    chosen.get("/sign-in")
    require(chosen.cookies["vitals2mqtt"] != "a" * 64, "a session of a stranger is taken")
    before, token = dict(chosen.cookies), chosen.token
    # The same as before: no sign-in without the own token, or with that of another one.
    stranger = home.browser(2)
    stranger.get("/sign-in")
    expect(chosen.ask("POST", "/sign-in", f"csrf={stranger.token}&password=x".encode()), 403, what="a sign-in with another's token")
    chosen.token = token
    answer = chosen.post("/sign-in", {"password": PASSWORD, "next": "gateway"})
    expect(answer, 303, what="the right password")
    require(answer.get("location") == "/gateway" and chosen.cookies != before, "the session is the same as before the sign-in")
    line = answer.get("set-cookie")
    require("HttpOnly" in line and "SameSite=Strict" in line and "Path=/" in line, f"the cookie is {line}")
    expect(chosen.get("/"), 200, what="the page of who has signed in")
    require(chosen.token != token, "the token of the forms is the same as before")
    old = home.browser(3)
    old.cookies = before
    expect(old.get("/"), 303, what="the session from before the sign-in")
    twice = Browser(home.port)
    twice.headers["Cookie"] = f"vitals2mqtt={chosen.cookies['vitals2mqtt']}; vitals2mqtt={'b' * 64}"
    expect(twice.get("/"), 303, what="two cookies")

    # Forms of others, each with all else right.
    held, own = version(bench), dict(chosen.cookies)
    chosen.get("/devices/band-1/settings")
    form = chosen.form(**{"heart_rate.resting_alert.upper": "99"})
    bare = form.partition(b"&")[2]
    origin = f"http://127.0.0.1:{home.port}"
    attempts = {
        "no token": (bare, {}), "an empty token": (b"csrf=&" + bare, {}), "a wrong token": (b"csrf=" + b"0" * 64 + b"&" + bare, {}),
        "another's token": (f"csrf={stranger.token}&".encode() + bare, {}), "a long token": (b"csrf=" + b"0" * 60_000 + b"&" + bare, {}),
        "a foreign origin": (form, {"Origin": "http://evil.example"}), "no origin": (form, {"Origin": "null"}),
        "another port": (form, {"Origin": "http://127.0.0.1:1"}), "a name that begins so": (form, {"Origin": f"{origin}.evil.example"}),
        "another site": (form, {"Sec_Fetch_Site": "cross-site", "Origin": origin}), "a neighbour": (form, {"Sec_Fetch_Site": "same-site"}),
        "an address that was typed": (form, {"Sec_Fetch_Site": "none"}), "plain text": (form, {"Content_Type": "text/plain"}),
        "parts": (form, {"Content_Type": "multipart/form-data; boundary=a"}), "JSON": (b"{}", {"Content_Type": "application/json"}),
        "no type": (form, {"Content_Type": None}), "wrong escapes": (form + b"&a=%zz", {}), "401 fields": (form + b"&a=1" * 401, {}),
        "wrong UTF-8": (form + b"&a=%c3%28", {}), "a zero": (form + b"&a=%00", {}),
    }
    for what, (body, headers) in attempts.items():
        expect(chosen.ask("POST", "/devices/band-1/settings", body, **headers), 400, 403, what=f"a form with {what}")
    for method in ("GET", "HEAD"):
        chosen.ask(method, "/devices/band-1/synchronise?" + form.decode())
    expect(chosen.get("/sign-out?" + form.decode()), 404, what="a sign-out by a link")
    expect(chosen.get("/devices/band-1/settings"), 200, what="the form")
    require(chosen.cookies == own, "the session is another one")
    require(version(bench) == held, "settings were changed")

    # Where forms lead to.
    for target in TARGETS:
        answer = chosen.post("/devices/band-1/acknowledge", {"id": "none", "return": target})
        expect(answer, 303, what=f"an acknowledgement with return={target!r}")
        require(answer.get("location") == "/", f"return={target!r} leads to {answer.fields}")
        other = home.browser(4)
        other.get("/sign-in?next=" + "".join(f"%{byte:02x}" for byte in target.encode()))
        answer = other.post("/sign-in", {"password": PASSWORD, "next": target})
        expect(answer, 303, what=f"a sign-in with next={target!r}")
        require(answer.get("location") == "/" and len(answer.all("set-cookie")) == 1, f"next={target!r} leads to {answer.fields}")

    # What is right is taken, and is in no log.
    chosen.get("/devices/band-1/settings")
    answer = chosen.post("/devices/band-1/settings", settings_of(chosen, LIMIT))
    expect(answer, 303, what="the form")
    until(lambda: version(bench) > held, TIMEOUT, "the settings were not changed")
    require(chosen.post("/sign-out").get("location") == "/", "a sign-out leads elsewhere")
    chosen.cookies = own
    expect(chosen.get("/"), 303, what="the session from before the sign-out")

    # Guesses, from one address.
    guesser, seen = home.browser(5), []
    guesser.get("/sign-in")
    began = time.monotonic()
    for number in range(GUESSES):
        seen.append(guesser.post("/sign-in", {"password": f"guess {number}"}).status)
    took = time.monotonic() - began
    checked = seen.count(403)
    require(set(seen) == {403, 429} and checked <= 2 + took, f"of {GUESSES} guesses in {took:.0f} s {checked} were checked: {seen}")
    expect(guesser.post("/sign-in", {"password": PASSWORD}), 429, what="the right password of who guesses")
    other = home.browser(6)
    other.source = "127.9.9.9"
    other.get("/sign-in")
    expect(other.post("/sign-in", {"password": PASSWORD}), 303, what="the right password from elsewhere")
    tokens = [home.browser(7).get("/api/v1/devices", Authorization=f"Bearer token-{number}") for number in range(GUESSES)]
    require({answer.status for answer in tokens} == {401}, f"wrong tokens are answered with {[answer.status for answer in tokens]}")
    require(tokens[-1].get("retry-after") != "", "wrong tokens do not wait")
    home.silent(PASSWORD, "guess 1", "token-1", chosen.token, *own.values(), str(LIMIT))
    return f"{len(attempts)} forms refused, {len(TARGETS)} targets stay here, {checked} of {GUESSES} guesses checked; {home.check()}"


def settings_of(browser: Browser, limit: int) -> dict[str, str]:
    """The fields of the settings' page as they are, with another limit."""
    fields: dict[str, str] = {}

    class Fields(Markup):
        def handle_starttag(self, tag, attributes) -> None:
            super().handle_starttag(tag, attributes)
            named = dict(attributes)
            if tag == "input" and named.get("name") not in (None, "csrf") and (named.get("type") != "checkbox" or "checked" in named):
                fields[named["name"]] = named.get("value") or ""
    Fields(browser.get("/devices/band-1/settings").text)
    key = next((name for name in fields if name.endswith(".upper") or name.endswith(".high")), None)
    require(key is not None, f"there is no upper limit among {sorted(fields)}")
    return {**fields, key: str(limit)}


class Writer(Peers):
    """A device whose every word is an attack."""

    WORDS = {"manufacturer": SCRIPT, "model": NAMES["jinja"], "serial": "a\r\nSet-Cookie: b=c", "firmware": "1\n\nevent: reload\ndata: x",
             "hardware": "<img src=x onerror=alert(1)>\u2028\u0085event: part"}

    async def answer(self, name, method, params, writer) -> dict:
        answer = await super().answer(name, method, params, writer)
        if method == "initialize":
            answer["result"]["device"] = self.WORDS
        return answer


@row("scripts in names, persons and firmware",
     "HTML, templates of the page and of Home Assistant, formulas, ends of lines; on every page, in the API, events and discovery",
     "text stays text, and is complete", is_apart=True)
def page_words(bench: Bench) -> str:
    writer = Writer()
    writer.load("link-1", rate=2)
    devices = [band("band-1", name=NAMES["name"], person=NAMES["person"]), writer.device("link-1", person=NAMES["jinja"]) | {"name": NAMES["jinja"]},
               {"id": "cuff", "driver": "simulator", "name": NAMES["second"], "people": {"1": NAMES["sheet"], "2": SCRIPT}, "sync": {"first": "all"},
                "options": {"model": "cuff", "seed": 2, "history_days": 3, "live_interval": "off"}}]
    discovered: dict[str, str] = {}
    home = Household(bench, devices, more={"home_assistant": {}})
    bench.consumer.client.message_callback_add(
        "homeassistant/#", lambda _client, _data, message: discovered.update({message.topic: message.payload.decode()}))
    bench.consumer.client.subscribe("homeassistant/#", 1)
    for name in ("band-1", "cuff"):
        until(lambda name=name: bench.consumer.newest.get(f"{name}/sync", {}).get("last_success_at"), TIMEOUT, f"{name} is not read")
    browser = home.browser()
    home.warm("/", "/devices/band-1", "/gateway", browser=browser)
    pages, texts = 0, ""
    sections = ("", "/values", "/nights", "/workouts", "/days", "/alerts", "/settings", "/losses", "/values?range=week", "/values?metric=heart_rate")
    targets = ["/", "/gateway", "/add", "/add/near", "/add/exports", "/add/phone", "/add/simulator", "/nothing"]
    for target in targets + [f"/devices/{device['id']}{section}" for device in devices for section in sections]:
        answer = browser.get(target)
        expect(answer, 200, 404, what=target)
        texts += "".join(calm(answer, target).texts)
        pages += 1
    for name, text in NAMES.items():
        require(text in texts, f"{name} is on no page as it was written: {text}")
    # What a form brings back.
    for fields in ({"driver": "simulator", "model": SCRIPT, "name": NAMES["name"], "person": NAMES["person"], "id": SCRIPT},
                   {"driver": SCRIPT}, {"driver": "simulator", "option": f"{SCRIPT}={SCRIPT}"},
                   {"driver": "health-auto-export", "name": NAMES["jinja"]}):
        browser.get("/add/simulator")
        answer = browser.post("/add/check", fields)
        expect(answer, 200, 400, 422, what=f"a device of {fields}")
        calm(answer, "the checked entry")
    browser.get("/devices/band-1/settings")
    for fields in ({"heart_rate.resting_alert.upper": SCRIPT}, {"if_version": SCRIPT}, {SCRIPT: "1"}):
        calm(browser.post("/devices/band-1/settings", fields), f"settings with {fields}")
    for fields in ({"metric": SCRIPT, "action": "start"}, {"metric": NAMES["jinja"]}):
        browser.post("/devices/band-1/measure", fields)
        calm(browser.get("/devices/band-1"), "the notice")

    # The API: as JSON and as a table the same words.
    found = {device["device"]: device for device in json.loads(browser.get("/api/v1/devices").text)["devices"]}
    require(found["band-1"]["name"] == NAMES["name"] and found["band-1"]["person"] == NAMES["person"], f"the API has {found['band-1']}")
    for target in ("devices", "devices/link-1", "devices/band-1/samples?metric=heart_rate&limit=3&format=csv", "devices/<script>",
                   "devices?person=<script>"):
        answer = browser.get(f"/api/v1/{target}")
        kind = answer.get("content-type")
        require("html" not in kind and answer.get("x-content-type-options") == "nosniff", f"{target} is {kind}")
    table = list(csv.DictReader(io.StringIO(browser.get("/api/v1/devices/cuff/samples?metric=blood_pressure&format=csv").text), strict=True))
    require({line["person"] for line in table} >= {SCRIPT}, f"the table has {table[:1]}")
    require(all(len(line) == len(table[0]) and None not in line for line in table), "a line of the table has other fields")

    # Events: nothing of a word is an event or an id of its own.
    streams = {target: events(home.port, target, browser, 3) for target in ("/api/v1/events", "/events?page=&since=2020-01-01T00:00:00Z",
                                                                            "/events?page=devices/link-1&since=2020-01-01T00:00:00Z")}
    for target, text in streams.items():
        body = text.partition("\r\n\r\n")[2]
        names = {line.partition(": ")[2] for line in body.splitlines() if line.startswith("event: ")}
        require(names <= {"reset", "ready", "state", "alert", "part"}, f"{target} has the events {names}")
        require("\r" not in body.replace("\r\n", ""), f"{target} has ends of lines of a stranger")
        if target.startswith("/events"):
            html = "".join(line[6:] + "\n" for line in body.split("\n") if line.startswith("data: "))
            require(not Markup(html).runs, f"{target} has {Markup(html).runs[:3]}")

    # Home Assistant: words stand beside templates, and in none.
    until(lambda: len(discovered) > 2, TIMEOUT, "nothing is discovered")
    templates = 0

    def visit(value, key: str, topic: str) -> None:
        nonlocal templates
        if isinstance(value, dict):
            for name, inner in value.items():
                visit(inner, name, topic)
        elif isinstance(value, list):
            for inner in value:
                visit(inner, key, topic)
        elif isinstance(value, str) and key.endswith(("template", "_tpl")):
            templates += 1
            require(not any(word in value for word in (*NAMES.values(), *Writer.WORDS.values(), "sun.sun", "alert(1)", "onerror")),
                    f"{topic} has in {key}: {value}")
    for topic, payload in discovered.items():
        visit(json.loads(payload), "", topic)
    require(templates > 10, f"there are {templates} templates in {sorted(discovered)[:5]}")
    until(lambda: any(NAMES["jinja"] in payload for payload in map(str, map(json.loads, discovered.values()))), 5, "the name is not discovered")
    home.silent("\n\nevent", SCRIPT)
    return f"{pages} pages, {len(streams)} streams, {templates} templates in {len(discovered)} messages; {home.check()}"


def whole(home: Household, content: bytes, source: str) -> Answer:
    return parsed(exchange(home.port, content, source))[0]


def slow(home: Household, content: bytes, seconds: float, source: str) -> float:
    """Sends a byte each half second, and returns after how many seconds the connection is closed."""
    began = time.monotonic()
    with connect(home.port, source) as connection:
        connection.settimeout(0.5)
        for byte in content:
            with contextlib.suppress(OSError):
                connection.sendall(bytes([byte]))
            try:
                if not connection.recv(1 << 16):
                    break
            except TimeoutError:
                pass
            except OSError:
                break
            if time.monotonic() > began + seconds:
                break
    return time.monotonic() - began


@row("requests of the page that no browser sends", "paths, methods, hosts, sizes, slow ones, many in one, and three cut at every byte",
     "each is refused or answered as it should be; nothing is done in part", is_apart=True)
def page_requests(bench: Bench) -> str:
    home = Household(bench, [band("band-1", name="Band of Anna", person="Anna")])
    browser = home.browser()
    held = version(bench)
    settings = settings_of(browser, LIMIT)
    home.warm("/", "/gateway", "/devices/band-1", "/add", "/api/v1/devices", browser=browser)
    wrong: list[str] = []

    def note(what: str, answer: Answer, *right: int | None) -> None:
        if answer.status not in right:
            wrong.append(f"{what}: {answer.status} instead of {right}, {answer.body[:80]!r}")
        if b"root:" in answer.body or answer.all("access-control-allow-origin"):
            wrong.append(f"{what}: {answer.fields} {answer.body[:80]!r}")
        require(bench.gateway.process.poll() is None, f"the gateway ended at {what}")

    for number, target in enumerate(PATHS):
        note(repr(target[:60]), whole(home, raw(target), f"127.0.2.{number % 200 + 1}"), 400, 404, 414, 431, None,
             *([200] if target in (b"/?" * 4_000,) or target.startswith(b"/?") else []))
    for number, (what, content, right) in enumerate(METHODS):
        streams = b"events" in content.split(b"\r\n")[0] and 200 in right
        answer = parsed(exchange(home.port, content, f"127.0.3.{number % 200 + 1}", 2 if streams else 30))[0]
        note(what, answer, *right)
        if answer.status == 200 and b"evil" in content and b"/evil" in answer.body:
            wrong.append(f"{what} is taken: {answer.text[:200]}")
    # Many in one go: each has its answer, in their order.
    content = b"".join(raw(target) for target in [b"/gateway", b"/nothing", b"/health/live"] * 30)
    content = content.replace(b"Connection: close\r\n", b"") + raw(b"/nothing")
    rest, statuses = exchange(home.port, content, "127.0.4.1"), []
    while rest:
        answer, rest = parsed(rest)
        statuses.append(answer.status)
    if statuses != [200, 404, 200] * 30 + [404]:
        wrong.append(f"91 requests in one go: {statuses[:10]}, {len(statuses)} answers")

    # Slow ones are closed, whatever they send.
    form = browser.form(**settings)
    slow_ones = {"a head": raw(b"/gateway", b"X-Long: " + b"a" * 200), "a form": browser.request("POST", "/devices/band-1/settings", form),
                 "nothing": b""}
    for what, content in slow_ones.items():
        if what == "a form":
            before, _, body = content.partition(b"\r\n\r\n")
            began = time.monotonic()
            with connect(home.port, "127.0.5.1") as connection:
                connection.sendall(before + b"\r\n\r\n" + body[:10])
                connection.settimeout(30)
                answer = connection.recv(1 << 16)
            took = time.monotonic() - began
            note("a slow form", parsed(answer)[0], 408, None)
        elif content:
            took = slow(home, content, 30, "127.0.5.2")
        else:
            began = time.monotonic()
            with connect(home.port, "127.0.5.3") as connection:
                connection.settimeout(30)
                connection.recv(1)
            took = time.monotonic() - began
        if not 5 < took < 15:
            wrong.append(f"{what} that is slow is closed after {took:.0f} s")

    # Cut at every byte.
    command = json.dumps({"heart_rate": {"resting_alert": {"upper": LIMIT}}}).encode()
    requests = {"a page": browser.request("GET", "/devices/band-1"), "a form": browser.request("POST", "/devices/band-1/settings", form),
                "a command": browser.request("POST", "/api/v1/devices/band-1/commands/config", command, Content_Type="application/json")}
    cuts = 0
    for what, content in requests.items():
        for place in range(len(content)):
            cut(home.port, content[:place], ("end", "reset", "half")[place % 3], f"127.0.{6 + place % 20}.{1 + place % 200}")
            cuts += 1
        require(bench.gateway.process.poll() is None, f"the gateway ended at {what} that was cut")
    # Streams that are left at once.
    streams = [browser.request("GET", "/events?page="), browser.request("GET", "/api/v1/events")]
    for number in range(STREAMS):
        cut(home.port, streams[number % 2], ("end", "reset", "half")[number % 3], f"127.0.5.{10 + number % 100}")
    time.sleep(1)
    if version(bench) != held:
        wrong.append("a request that was cut was done")
    for line in wrong:
        print(line, flush=True)
    grown = home.check()
    require(not wrong, f"{len(wrong)} are not right: {wrong[:1]}")
    browser.post("/devices/band-1/settings", settings)
    until(lambda: version(bench) > held, TIMEOUT, "a whole form changes nothing")
    home.silent(str(LIMIT), browser.token, *browser.cookies.values())
    return f"{len(PATHS)} paths, {len(METHODS)} requests, 91 in one go, {len(slow_ones)} slow ones, {cuts} cuts, {STREAMS} streams left; {grown}"


@row("headers of Home Assistant's ingress from elsewhere", "with `ingress: true`, from addresses that are not the Supervisor's",
     "nobody is a user of Home Assistant, and no path is put before", is_apart=True)
def page_ingress(bench: Bench) -> str:
    home = Household(bench, [band("band-1", name="Band of Anna", person="Anna")], address="0.0.0.0", insecure=True, ingress=True,
                     users={"u1": "*"})
    tried = [{"X-Remote-User-Id": "u1"}, {"X-Remote-User-Id": "u1", "X-Ingress-Path": "/evil"},
             {"X-Remote-User-Id": "u1", "X-Ingress-Path": "/evil", "X-Forwarded-For": "172.30.32.2"},
             {"X-Remote-User-Id": "u1", "Forwarded": "for=172.30.32.2"}, {"X-Remote-User-Id": "u1", "X-Real-IP": "172.30.32.2"},
             {"X-Remote-User-Id": "u1", "Host": "172.30.32.2"}, {"X-Remote-User-Id": "u1", "Cookie": "vitals2mqtt=" + "a" * 64}]
    browser = home.browser()
    home.warm("/", browser=browser)
    count = 0
    for number, headers in enumerate(tried):
        for target in ("/", "/devices/band-1", "/gateway", "/add", "/events?page=", "/api/v1/devices", "/api/v1/events"):
            stranger = home.browser(number + 10)
            stranger.headers = headers
            answer = stranger.get(target)
            expect(answer, 401, 403, 421, what=f"{target} with {headers}")
            require("Anna" not in answer.text and "/evil" not in answer.text + str(answer.fields), f"{target} with {headers}: {answer.text[:200]}")
            count += 1
        for target in ("/devices/band-1/synchronise", "/sign-in", "/api/v1/devices/band-1/commands/sync"):
            expect(stranger.post(target, {"password": "x"}), 401, 403, 421, what=f"a form for {target} with {headers}")
            count += 1
    return f"{count} requests refused; {home.check()}"
