"""The devices of a storm: one listener for all of them, which speaks Vitals Link and breaks off whenever it likes."""

import asyncio
import json
import random
import threading
import time

RATE = 0.25  # seconds between two lines of samples
BURST = 40  # samples of an occasional burst
RECORD = 600_000  # milliseconds between two records of the history
HISTORY = 6 * 60 * 60 * 1000  # how far back it goes, in milliseconds
PAGE = 10  # records of a page


class Peers:
    """Serves every device of the gateway on one port, on a thread of its own."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lifetime = 8.0  # mean seconds until a device vanishes; `None` for never
        self.connected: dict[int, int] = {}  # how often each device was connected
        self.open: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self.run, args=(ready,), daemon=True).start()
        ready.wait()

    def run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=1024))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    def calm(self) -> None:
        self.lifetime = None

    def rage(self) -> None:
        self.lifetime = 8.0

    def vanish_all(self) -> None:
        """Every device is gone at the same moment."""
        self.loop.call_soon_threadsafe(lambda: [writer.transport.abort() for writer in list(self.open)])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(writer)
        streaming = None
        measuring = Measurement(writer)
        try:
            while line := await reader.readline():
                call = json.loads(line)
                if "method" not in call:
                    continue
                if call["method"] == "initialize":
                    number = call["params"]["options"]["number"]
                    self.connected[number] = self.connected.get(number, 0) + 1
                    streaming = asyncio.create_task(self.stream(writer))
                params = call.get("params") or {}
                if call["method"] == "history/read":
                    await asyncio.sleep(self.random.uniform(0, 0.1))
                if call["method"] == "measurement/start" and self.random.random() < 0.7 and not measuring.is_running:
                    result = measuring.start(params["duration_s"])
                elif call["method"] == "measurement/stop":
                    result = measuring.stop(params["measurement"])
                else:
                    result = answer(call["method"], params)
                writer.write(json.dumps({"jsonrpc": "2.0", "id": call["id"], **result}).encode() + b"\n")
                await writer.drain()
                if call["method"] == "shutdown":
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open.discard(writer)
            if streaming:
                streaming.cancel()
            measuring.cancel()
            writer.close()

    async def stream(self, writer: asyncio.StreamWriter) -> None:
        lifetime = self.lifetime
        end = time.monotonic() + self.random.expovariate(1 / lifetime) if lifetime else float("inf")
        try:
            while time.monotonic() < end or self.lifetime is None:
                count = BURST if self.random.random() < 0.02 else 1
                now = int(time.time() * 1000)
                writer.write(b"".join(sample(now - index) for index in reversed(range(count))))
                await writer.drain()
                await asyncio.sleep(self.random.uniform(0, 2 * RATE))
        except ConnectionError:
            return
        if self.random.random() < 0.3:
            writer.write(sample(int(time.time() * 1000))[:17])  # half a line
        writer.transport.abort() if self.random.random() < 0.5 else writer.close()


class Measurement:
    """The measurement of one connection, at most one at a time."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.count = 0
        self.task: asyncio.Task | None = None

    @property
    def is_running(self) -> bool:
        return self.task is not None and not self.task.done()

    def start(self, seconds: float) -> dict:
        self.count += 1
        self.task = asyncio.create_task(self.run(f"m{self.count}", seconds))
        return {"result": {"measurement": f"m{self.count}"}}

    def stop(self, name: str) -> dict:
        if self.is_running and name == f"m{self.count}":
            self.task.cancel()
        return {"result": {}}

    def cancel(self) -> None:
        if self.task:
            self.task.cancel()

    async def run(self, name: str, seconds: float) -> None:
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                await asyncio.sleep(1)
                self.send("measurement/sample", measurement=name, sample=record(int(time.time() * 1000)))
            self.send("measurement/ended", measurement=name, completed=True, error=None)
        except asyncio.CancelledError:
            self.send("measurement/ended", measurement=name, completed=False, error=None)

    def send(self, method: str, **params) -> None:
        if not self.writer.is_closing():
            self.writer.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")


def answer(method: str, params: dict) -> dict:
    if method == "initialize":
        abilities = {"measure": True, "monitor": True, "history": True, "rest_alert": True}
        return {"result": {
            "protocol": 1,
            "device": {"manufacturer": "storm", "model": "peer", "serial": None, "firmware": None, "hardware": None},
            "capabilities": {"heart_rate": abilities, "max_history_days": 1}}}
    if method == "history/read":
        return {"result": page(params)}
    if method == "monitor/read":
        limits = {"enabled": False, "lower": 40, "upper": 120}
        return {"result": {"configuration": {
            "schedule": {"enabled": True, "start": 0, "end": 1440, "interval_min": 10}, "resting_alert": limits}}}
    if method == "measurement/start":
        return {"error": {"code": 2, "message": "This peer does not measure now."}}
    return {"result": {}}


def page(params: dict) -> dict:
    """A page of the history, which begins at the time that the page before named as the next one."""
    now = int(time.time() * 1000)
    first = max(params.get("page") or params["from"], now - HISTORY)
    start = -(-first // RECORD) * RECORD
    starts = list(range(start, min(params["to"], now), RECORD))
    more = starts[PAGE:PAGE + 1]
    return {"samples": [record(start) for start in starts[:PAGE]], "next": more[0] if more else None}


def record(start: int) -> dict:
    return {"metric": "heart_rate", "start": start, "end": start, "value": 50 + start % 70}


def sample(start: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": "sample", "params": {"sample": record(start)}}).encode() + b"\n"
