#!/usr/bin/env python3
"""A fake of Home Assistant's Supervisor, as far as an app meets it: services, the proxy to Core, ingress, backups and the watchdog.

It behaves as the published source of home-assistant/supervisor at commit 090ef31ec024952c2469ed5a7c9f3ce8c1a5499e (after 2026.08.0):
api/services.py, api/proxy.py, api/ingress.py (without its WebSockets), ingress.py, api/middleware/security.py and apps/app.py. What the
browser meets before it is Core's, by components/hassio/ingress.py of 2026.11.0. Needs aiohttp, which both are made of.

As a program it only has ingress, for a browser:

  supervisor.py --app 127.0.0.1:8480 --page 127.0.0.1:8123 --from 172.30.32.2
"""

import argparse
import asyncio
import json
import os
import pathlib
import re
import secrets
import shutil
import socket
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse
from typing import Any, Callable, Optional

import aiohttp
from aiohttp import WSMsgType, web

SESSION = 15 * 60  # seconds that a session is valid, and that each request adds
COOKIE = "ingress_session"
WHOLE = 4_194_000  # bytes below which an answer is passed on as a whole
BODY = 16 << 20  # the largest body of a request
USER = {"id": "X-Remote-User-Id", "username": "X-Remote-User-Name", "name": "X-Remote-User-Display-Name"}
TOKENS = ("X-Supervisor-Token", "X-Hassio-Key")
# Of one connection, or made anew.
HOP = {"content-length", "content-encoding", "transfer-encoding", "sec-websocket-extensions", "sec-websocket-protocol",
       "sec-websocket-version", "sec-websocket-key"}
ANSWER = {"transfer-encoding", "content-length", "content-type", "content-encoding"}
# What reaches Core with a request of an app.
TO_CORE = ("X-Speech-Content", "Accept", "Last-Event-ID", "Mcp-Session-Id", "MCP-Protocol-Version")
# Paths and queries that look like an attack, also in what goes through ingress.
SUSPECT = [re.compile(pattern, re.IGNORECASE) for pattern in (
    r"proc/self/environ", r"<.*script.*>", r"\.\./?", r"\w=/([a-z0-9_.]//?)+", r"union.*select.*\(", r"union.*all.*select",
    r"concat.*\(")]
# What an app's token is good for without `hassio_api`.
OWN = re.compile(r"/(addons/self/(?!security|update)[^/]+|addons/self/options/config|info|services.*|discovery.*|auth)")


def decoded(text: str) -> str:
    while (next_text := urllib.parse.unquote(text)) != text:
        text = next_text
    return text


class Supervisor:
    """One app: what it may is in `config`, its config.yaml."""

    def __init__(self, config: dict, app: tuple[str, int], users: list[dict], core: Optional[tuple[int, str]] = None,
                 own: Optional[str] = None) -> None:
        """`core` is the port of a Core on loopback and a token of its, `own` the address from which the app is asked."""
        self.config, self.app, self.users, self.core, self.own = config, app, users, core, own
        self.mqtt: Optional[dict] = None  # what the app of a broker registered
        self.token = ""  # the app's, new at each start
        self.core_token = secrets.token_hex(56)  # Core's
        self.ingress_token = secrets.token_urlsafe()
        self.sessions: dict[str, tuple[float, Optional[dict]]] = {}
        self.sites: list[str] = []
        self.log: list[str] = []
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    # For the campaign, on its thread

    def listen(self, address: str, port: int, page: tuple[str, int]) -> None:
        """Serves the API for apps at an address, and for browsers what Core has of ingress at another."""
        self.sites = [f"http://{address}:{port}", f"http://{page[0]}:{page[1]}"]
        asyncio.run_coroutine_threadsafe(self._listen(address, port, page), self.loop).result(20)

    def new_token(self) -> str:
        self.token = secrets.token_hex(56)
        return self.token

    def new_session(self, user: Optional[str]) -> str:
        """A session of ingress, as Core asks for one when a user opens the app's page."""
        known = next((one for one in self.users if one["id"] == user), None)
        session = secrets.token_hex(64)
        self.sessions[session] = (time.time() + SESSION, known)
        return session

    @property
    def entry(self) -> str:
        """Where a browser finds the app."""
        return f"/api/hassio_ingress/{self.ingress_token}/"

    # The servers

    async def _listen(self, address: str, port: int, page: tuple[str, int]) -> None:
        # The app is asked from the Supervisor's address, as it sees it in the network of all apps.
        connector = aiohttp.TCPConnector(local_addr=(self.own, 0) if self.own else None)
        self.to_app = aiohttp.ClientSession(connector=connector, auto_decompress=True, cookie_jar=aiohttp.DummyCookieJar())
        self.to_core = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        api = web.Application(middlewares=[self.guard], client_max_size=BODY)
        api.add_routes([
            web.get("/services/{service}", self.service), web.post("/ingress/session", self.session),
            web.post("/ingress/validate_session", self.validate),
            web.route("*", "/ingress/{token}/{path:.*}", self.ingress), web.get("/core/websocket", self.websocket),
            web.get("/core/api/websocket", self.websocket), web.route("*", "/core/api/{path:.*}", self.core_api)])
        core = web.Application(client_max_size=BODY)
        core.add_routes([web.get("/", self.frame), web.route("*", "/api/hassio_ingress/{token}/{path:.*}", self.browser)])
        for application, (host, number) in ((api, (address, port)), (core, page)):
            runner = web.AppRunner(application, access_log=None)
            await runner.setup()
            await web.TCPSite(runner, host, number).start()

    @web.middleware
    async def guard(self, request: web.Request, handler: Callable) -> web.StreamResponse:
        for text in (request.path, request.query_string):
            if any(pattern.search(decoded(text)) for pattern in SUSPECT):
                self.log.append(f"filtered {request.raw_path}")
                raise web.HTTPBadRequest
        path = request.path
        if re.match(r"/core/api/hassio[/_]", path):
            raise web.HTTPForbidden
        if path.startswith("/core/") or re.match(r"/ingress/[-\w]+/", path):
            return await handler(request)  # they look at tokens and sessions themselves
        token = next((request.headers[name] for name in TOKENS if name in request.headers), None)
        token = token or request.headers.get("Authorization", "").split(" ")[-1]
        if not token:
            raise web.HTTPUnauthorized
        request["core"] = token == self.core_token
        if not request["core"] and not (self.token and token == self.token and OWN.fullmatch(path)):
            self.log.append(f"refused {path}")
            raise web.HTTPForbidden
        return await handler(request)

    # Services

    async def service(self, request: web.Request) -> web.Response:
        name = request.match_info["service"]
        if name not in ("mqtt", "mysql"):
            return failed("Service does not exist", 404)
        if name not in [entry.split(":")[0] for entry in self.config.get("services", [])]:
            return failed(f"No access to {name} service!", 403)
        if name != "mqtt" or not self.mqtt:
            return failed("Service not enabled", 400)
        return web.json_response({"result": "ok", "data": {"ssl": False, "protocol": "3.1.1", **self.mqtt, "addon": "core_mosquitto"}})

    # The proxy to Core

    def may_use_core(self, token: str) -> bool:
        return bool(self.token) and token == self.token and bool(self.config.get("homeassistant_api"))

    async def core_api(self, request: web.Request) -> web.Response:
        token = request.headers.get("Authorization", "").split(" ")[-1] or request.headers.get("X-Ha-Access", "")
        if not self.may_use_core(token):
            raise web.HTTPUnauthorized
        port, own = self.core or (0, "")
        headers = {name: value for name, value in request.headers.items() if name.lower() in [known.lower() for known in TO_CORE]}
        headers["Authorization"] = f"Bearer {own}"
        if "Content-Type" in request.headers:
            headers["Content-Type"] = request.headers["Content-Type"]
        try:
            async with self.to_core.request(
                    request.method, f"http://127.0.0.1:{port}/api/{request.match_info['path']}", headers=headers,
                    params=request.query, data=await request.read()) as answer:
                return web.Response(body=await answer.read(), status=answer.status, content_type=answer.content_type)
        except aiohttp.ClientError:
            raise web.HTTPBadGateway from None

    async def websocket(self, request: web.Request) -> web.StreamResponse:
        port, own = self.core or (0, "")
        try:
            async with self.to_core.get(f"http://127.0.0.1:{port}/api/config", headers={"Authorization": f"Bearer {own}"}) as answer:
                version = (await answer.json())["version"]
        except (aiohttp.ClientError, KeyError, ValueError):
            raise web.HTTPBadGateway from None
        server = web.WebSocketResponse(heartbeat=30)  # takes messages of at most 4 MiB
        await server.prepare(request)
        await server.send_json({"type": "auth_required", "ha_version": version})
        try:
            said = await server.receive_json(timeout=10)
        except (TypeError, ValueError, asyncio.TimeoutError):
            return server
        if not self.may_use_core(said.get("api_password") or said.get("access_token") or ""):
            await server.send_json({"type": "auth_invalid", "message": "Invalid access"})
            return server
        await server.send_json({"type": "auth_ok", "ha_version": version})
        self.log.append("websocket to Core")
        async with self.to_core.ws_connect(f"http://127.0.0.1:{port}/api/websocket", max_msg_size=64 << 20) as client:
            await client.receive_json()
            await client.send_json({"type": "auth", "access_token": own})
            await client.receive_json()
            await either(self.pump(client, server), self.pump(server, client, is_app=True))
        await server.close()
        return server

    async def pump(self, source: Any, target: Any, is_app: bool = False) -> None:
        async for message in source:
            if message.type == WSMsgType.BINARY:
                await target.send_bytes(message.data)
            elif message.type == WSMsgType.TEXT:
                denied = is_app and privileged(message.data)
                if denied:
                    await source.send_json({"id": denied.get("id"), "type": "result", "success": False,
                                            "error": {"code": "unauthorized", "message": "Unauthorized"}})
                else:
                    await target.send_str(message.data)
        await target.close()

    # Ingress

    async def session(self, request: web.Request) -> web.Response:
        if not request["core"]:
            raise web.HTTPUnauthorized
        asked = json.loads(await request.text() or "{}")
        return web.json_response({"result": "ok", "data": {"session": self.new_session(asked.get("user_id"))}})

    async def validate(self, request: web.Request) -> web.Response:
        if not request["core"] or not self.extend((await request.json())["session"]):
            raise web.HTTPUnauthorized
        return web.json_response({"result": "ok", "data": {}})

    def extend(self, session: str) -> bool:
        """Whether a session is valid; then it is valid longer."""
        until, user = self.sessions.get(session, (0, None))
        if until < time.time():
            return False
        self.sessions[session] = (until + SESSION, user)
        return True

    async def ingress(self, request: web.Request) -> web.StreamResponse:
        session = request.cookies.get(COOKIE, "")
        if not self.extend(session):
            raise web.HTTPUnauthorized
        if request.match_info["token"] != self.ingress_token:
            raise web.HTTPServiceUnavailable
        user = self.sessions[session][1] or {}
        dropped = HOP | {name.lower() for name in (*TOKENS, *USER.values())}
        headers = [(header, user[key]) for key, header in USER.items() if user.get(key) is not None]
        headers += [(name, value) for name, value in request.headers.items() if name.lower() not in dropped]
        headers = [(name, value) for name, value in headers if name.lower() != "x-forwarded-for"]
        headers.append(("X-Forwarded-For", f"{request.headers.get('X-Forwarded-For')}, {request.remote}"))
        host, port = self.app
        return await passed(self.to_app, request, f"http://{host}:{port}/{request.match_info['path']}", headers)

    # What Core has of it

    async def frame(self, request: web.Request) -> web.Response:
        """Home Assistant's page around the app's. `?user=ID` opens it as another user than the first."""
        answer = web.Response(
            text=f'<!doctype html><html lang="en"><title>Home Assistant</title><style>body {{margin: 0}} iframe {{border: 0; '
                 f'width: 100vw; height: 100vh}}</style><iframe title="App" src="{self.entry}"></iframe>', content_type="text/html")
        session = self.new_session(request.query.get("user", self.users[0]["id"]))
        answer.headers["Set-Cookie"] = f"{COOKIE}={session}; Path=/api/hassio_ingress/; SameSite=Strict"
        return answer

    async def browser(self, request: web.Request) -> web.StreamResponse:
        token, path = request.match_info["token"], request.match_info["path"]
        if ".." in decoded(path).split("/"):
            raise web.HTTPBadRequest
        made = {"x-hass-source": "core.ingress", "x-ingress-path": f"/api/hassio_ingress/{token}"}
        forwarded = request.headers.get("X-Forwarded-For")
        made["x-forwarded-for"] = f"{forwarded}, {request.remote}" if forwarded else str(request.remote)
        made["x-forwarded-host"] = request.headers.get("X-Forwarded-Host") or request.host
        made["x-forwarded-proto"] = request.headers.get("X-Forwarded-Proto") or request.scheme
        headers = [(name, value) for name, value in request.headers.items()
                   if name.lower() not in HOP | {"accept-encoding", *made}]
        return await passed(self.to_core, request, f"{self.sites[0]}/ingress/{token}/{path}", [*headers, *made.items()])


def failed(message: str, status: int) -> web.Response:
    return web.json_response({"result": "error", "message": message}, status=status)


def privileged(text: str) -> Optional[dict]:
    """The command, if it is one that only Home Assistant's own pages may give."""
    try:
        command = json.loads(text)
        return command if command["type"].startswith(("supervisor/", "hassio/")) else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


async def either(*work: Any) -> None:
    tasks = [asyncio.ensure_future(one) for one in work]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()


async def passed(to: aiohttp.ClientSession, request: web.Request, url: str, headers: list) -> web.StreamResponse:
    """Passes a request on, and its answer back. Both lose the `charset` of their type, as with the real ones."""
    try:
        async with to.request(
                request.method, url, headers=headers, params=request.query, allow_redirects=False, data=await request.read(),
                timeout=aiohttp.ClientTimeout(total=None), skip_auto_headers={"Content-Type"}) as answer:
            kind = answer.headers.get("Content-Type", "application/octet-stream").partition(";")[0].strip()
            kept = [(name, value) for name, value in answer.headers.items() if name.lower() not in ANSWER]
            if request.method == "HEAD" or answer.status in (204, 304):
                more = [("Content-Type", kind)] if "Content-Type" in answer.headers else []
                return web.Response(headers=[*kept, *more], status=answer.status)
            if int(answer.headers.get("Content-Length", WHOLE)) < WHOLE:
                return web.Response(headers=kept, status=answer.status, content_type=kind, body=await answer.read())
            stream = web.StreamResponse(status=answer.status, headers=kept)
            stream.content_type = kind
            stream.headers["X-Accel-Buffering"] = "no"
            await stream.prepare(request)
            async for data, _ in answer.content.iter_chunks():
                await stream.write(data)
            return stream
    except aiohttp.ClientError:
        raise web.HTTPBadGateway from None


# Backups. An app is a container with the folders `data` and `config`, which can execute a command, start and stop.

def back_up(app: Any, config: dict, file: str) -> None:
    """A backup of the kind that the app has by default, `hot`."""
    was_running = app.is_running
    if was_running and "backup_pre" in config:
        app.execute(config["backup_pre"])
    try:
        with tarfile.open(file, "w:gz") as archive:
            for name, folder in (("data", app.data), ("config", app.config)):
                for path in sorted(pathlib.Path(folder).rglob("*")):
                    # By the whole path, and from its end.
                    if not any(path.match(pattern) for pattern in config.get("backup_exclude", [])):
                        archive.add(path, f"{name}/{path.relative_to(folder)}", recursive=False)
    finally:
        if was_running and "backup_post" in config:
            app.execute(config["backup_post"])


def restore(app: Any, file: str) -> None:
    """Puts a backup in the place of what is there. It starts nothing."""
    if app.is_running:
        app.stop()
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(file) as archive:
            archive.extractall(folder)
        for name, place in (("data", app.data), ("config", app.config)):
            for entry in os.scandir(place):
                shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.remove(entry.path)
            if os.path.isdir(os.path.join(folder, name)):
                shutil.copytree(os.path.join(folder, name), place, symlinks=True, dirs_exist_ok=True)


def watched(config: dict, host: str) -> str:
    """What the watchdog asks: the port is the container's, since the app is not in the host's network."""
    found = re.fullmatch(r"(https?)://\[HOST\]:(?:\[PORT:)?(\d+)\]?(.*)", config["watchdog"])
    if not found:
        raise ValueError(f"the watchdog cannot ask {config['watchdog']}")
    return f"{found[1]}://{host}:{found[2]}{found[3]}"


def main() -> None:
    def place(text: str) -> tuple[str, int]:
        host, _, port = text.rpartition(":")
        return host, int(port)

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--app", type=place, required=True, metavar="HOST:PORT", help="the gateway's `web: listen`")
    parser.add_argument("--page", type=place, required=True, metavar="HOST:PORT", help="where the browser finds Home Assistant")
    parser.add_argument("--api", type=place, default=("127.0.0.1", 0), metavar="HOST:PORT", help="for what apps ask; any by default")
    parser.add_argument("--from", dest="own", metavar="ADDRESS", help="the Supervisor's address, 172.30.32.2")
    parser.add_argument("--user", action="append", default=[], metavar="ID:NAME", help="a user of Home Assistant; may be repeated")
    options = parser.parse_args()
    users = [{"id": one.partition(":")[0], "username": one.partition(":")[2].lower(), "name": one.partition(":")[2]}
             for one in options.user or ["owner:Owner"]]
    api = options.api
    if not api[1]:
        with socket.socket() as probe:
            probe.bind((api[0], 0))
            api = probe.getsockname()
    supervisor = Supervisor({}, options.app, users, own=options.own)
    supervisor.listen(*api, options.page)
    print(f"{supervisor.sites[1]}/ {supervisor.entry}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
