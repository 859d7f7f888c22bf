"""The devices of a campaign: one listener for all of them. They speak Vitals Link."""

import asyncio
import bisect
import json
import time
import uuid
from collections.abc import Sequence

from waiting import TIMEOUT, listen, until

WINDOW = 32  # samples of a load device that wait for their answers
PAST = 25 * 60 * 1000  # milliseconds that the first sample of a load device is old, so that a million stay fresh
# The name space of sample ids; the contract says how an id is computed.
NAMESPACE = uuid.UUID("bb0af8a1-e772-4d44-b4ac-d9696c7ac5e7")
LINE = 2000  # the most records of a page, as the protocol says


class Load:
    """A device that sends its samples as requests. An answer means that the sample is on the gateway's disk."""

    def __init__(self, rate: float | None) -> None:
        self.rate = rate
        self.is_over = False  # makes no further samples
        self.first = int(time.time() * 1000) - PAST
        self.made = 0
        self.waiting: dict[int, bool] = {}
        self.acknowledged: list[int] = []  # the starts, in milliseconds

    def flow(self, count: int, seconds: float = TIMEOUT, what: str = "the samples stopped", step: float = 0.05) -> None:
        """Waits until so many more samples are acknowledged."""
        goal = len(self.acknowledged) + count
        until(lambda: len(self.acknowledged) >= goal, seconds, what, step)


class Peers:
    """Serves every device of the gateway on one port, on a thread of its own."""

    CAPABILITIES = {"heart_rate": {"measure": False, "history": False}, "max_history_days": 30}

    def __init__(self) -> None:
        self.loads: dict[str, Load] = {}
        self.histories: dict[str, Sequence[dict]] = {}
        self.silent: set[str] = set()  # those that do not answer; others begin to at their next connection
        self.connected: dict[str, int] = {}  # how often each device was connected
        self.open: set[asyncio.StreamWriter] = set()
        self.loop, self.port = listen(self.serve)

    def device(self, peer: str, **members) -> dict:
        """An entry of the gateway's configuration."""
        return {"id": peer, "name": peer, "driver": "link", "options": {"peer": peer},
                "transport": {"type": "tcp", "host": "127.0.0.1", "port": self.port}, **members}

    def load(self, name: str, rate: float | None = None) -> Load:
        self.loads[name] = Load(rate)
        return self.loads[name]

    def history(self, name: str, records: Sequence[dict]) -> Sequence[dict]:
        self.histories[name] = records
        return records

    def forget(self) -> None:
        """Ends all devices of a row."""
        for known in (self.loads, self.histories, self.silent, self.connected):
            known.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name, sending = None, None
        self.open.add(writer)
        try:
            while line := await reader.readline():
                message = json.loads(line)
                method = message.get("method")
                if method is None:
                    self.answered(name, message)
                    continue
                if method == "initialize":
                    name = self.peer(message["params"])
                    if name in self.silent:
                        while await reader.read(1 << 16):
                            pass
                        break
                    self.connected[name] = self.connected.get(name, 0) + 1
                    sending = asyncio.create_task(self.send(name, writer))
                answer = await self.answer(name, method, message.get("params") or {}, writer)
                write(writer, {"id": message["id"], **answer})
                await writer.drain()
                if method == "shutdown":
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open.discard(writer)
            if sending:
                sending.cancel()
            writer.close()

    async def answer(self, name: str, method: str, params: dict, _writer: asyncio.StreamWriter) -> dict:
        if method == "initialize":
            heart_rate = {**self.CAPABILITIES["heart_rate"], "history": name in self.histories}
            return {"result": {
                "protocol": 1,
                "device": {"manufacturer": "campaign", "model": "peer", "serial": None, "firmware": None, "hardware": None},
                "capabilities": {**self.CAPABILITIES, "heart_rate": heart_rate},
                "clock": {"now": int(time.time() * 1000), "utc_offset_min": 0}}}
        if method == "history/read":
            return {"result": self.page(self.histories.get(name, []), params)}
        return {"result": {}}

    def page(self, records: Sequence[dict], params: dict) -> dict:
        if params["metric"] != "heart_rate" or not records:
            return {"samples": [], "next": None}
        place = params.get("page")
        if place is None:
            place = bisect.bisect_left(records, params["from"], key=lambda record: record["start"])
        end = min(place + min(params["limit"], LINE), len(records))
        samples = [record for record in records[place:end] if params["from"] <= record["start"] < params["to"]]
        more = end < len(records) and records[end]["start"] < params["to"]
        return {"samples": samples, "next": end if more else None}

    async def send(self, name: str, writer: asyncio.StreamWriter) -> None:
        """Sends what a connected device sends by itself."""
        load = self.loads.get(name)
        if load is None:
            return
        try:
            for number in list(load.waiting):
                self.request(load, number, writer)
            while True:
                while len(load.waiting) < WINDOW and not load.is_over:
                    load.waiting[load.made] = True
                    self.request(load, load.made, writer)
                    load.made += 1
                    if load.rate:
                        break
                await writer.drain()
                await asyncio.sleep(1 / load.rate if load.rate else 0.002)
        except ConnectionError:
            pass

    @staticmethod
    def request(load: Load, number: int, writer: asyncio.StreamWriter) -> None:
        start = load.first + number
        write(writer, {"id": f"s{number}", "method": "sample", "params": {"sample": record(start, 60 + number % 20)}})

    def peer(self, params: dict) -> str:
        """Which one the gateway initializes."""
        return params["options"]["peer"]

    def answered(self, name: str, message: dict) -> None:
        load = self.loads.get(name)
        number = int(str(message.get("id", "s-1"))[1:])
        if load and "result" in message and load.waiting.pop(number, None):
            self.acknowledged(load, load.first + number)

    def acknowledged(self, load: Load, start: int) -> None:
        load.acknowledged.append(start)


def sample_id(device: str, start: int) -> str:
    return str(uuid.uuid5(NAMESPACE, f"{device}|heart_rate|{start}|{start}|0"))


def record(start: int, value: float) -> dict:
    return {"metric": "heart_rate", "start": start, "end": start, "kind": "normal", "user_initiated": False, "value": value}


def records(count: int, seconds_ago: int) -> list[dict]:
    """So many records of a history, one a second."""
    first = (int(time.time()) - seconds_ago) * 1000
    return [record(first + number * 1000, 60 + number % 9) for number in range(count)]


def write(writer: asyncio.StreamWriter, *messages: dict) -> None:
    lines = (json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")) + "\n" for message in messages)
    writer.write("".join(lines).encode())
