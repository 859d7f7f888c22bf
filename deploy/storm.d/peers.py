"""The devices of a storm: one listener for all of them, which speaks Vitals Link and breaks off whenever it likes."""

import asyncio
import json
import random
import threading
import time

RATE = 0.25  # seconds between two lines of samples
BURST = 40  # samples of an occasional burst


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
        try:
            while line := await reader.readline():
                call = json.loads(line)
                if "method" not in call:
                    continue
                if call["method"] == "initialize":
                    number = call["params"]["options"]["number"]
                    self.connected[number] = self.connected.get(number, 0) + 1
                    streaming = asyncio.create_task(self.stream(writer))
                result = answer(call["method"], call.get("params") or {})
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


def answer(method: str, params: dict) -> dict:
    if method == "initialize":
        abilities = {"measure": True, "monitor": True, "history": True, "rest_alert": True}
        return {"result": {
            "protocol": 1,
            "device": {"manufacturer": "storm", "model": "peer", "serial": None, "firmware": None, "hardware": None},
            "capabilities": {"heart_rate": abilities, "max_history_days": 7}}}
    if method == "history/read":
        return {"result": {"samples": [], "next": None}}
    if method == "monitor/read":
        limits = {"enabled": False, "lower": 40, "upper": 120}
        return {"result": {"configuration": {
            "schedule": {"enabled": True, "start": 0, "end": 1440, "interval_min": 10}, "resting_alert": limits}}}
    if method == "measurement/start":
        return {"error": {"code": 2, "message": "The peers of a storm measure nothing."}}
    return {"result": {}}


def sample(start: int) -> bytes:
    record = {"metric": "heart_rate", "start": start, "end": start, "value": 50 + start % 70}
    return json.dumps({"jsonrpc": "2.0", "method": "sample", "params": {"sample": record}}).encode() + b"\n"
