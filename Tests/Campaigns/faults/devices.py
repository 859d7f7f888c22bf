"""The devices of Tests/Campaigns/faults/run: one listener for all of them, or one on standard input and output. They speak Vitals Link."""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Sequence

WINDOW = 32  # samples of a load device that wait for their answers
PAST = 25 * 60 * 1000  # milliseconds that the first sample of a load device is old, so that a million stay fresh
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


class Peers:
    """Serves every device of the gateway on one port, on a thread of its own."""

    def __init__(self) -> None:
        self.loads: dict[str, Load] = {}
        self.histories: dict[str, Sequence[dict]] = {}
        self.silent: set[str] = set()
        self.connected: dict[str, int] = {}
        self.port = 0
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self.run, args=(ready,), daemon=True).start()
        ready.wait()

    def run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=1024, limit=1 << 20))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

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

    def speak(self) -> None:
        """Lets the silent devices answer from their next connection on."""
        self.silent.clear()

    def forget(self) -> None:
        """Ends all devices of a row."""
        self.loads.clear()
        self.histories.clear()
        self.silent.clear()
        self.connected.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name, sending = None, None
        try:
            while line := await reader.readline():
                message = json.loads(line)
                method = message.get("method")
                if method is None:
                    self.answered(name, message, writer)
                    continue
                if method == "initialize":
                    name = message["params"]["options"]["peer"]
                    if name in self.silent:
                        while await reader.read(1 << 16):
                            pass
                        break
                    self.connected[name] = self.connected.get(name, 0) + 1
                    if name in self.loads:
                        sending = asyncio.create_task(self.send_load(self.loads[name], writer))
                result = self.answer(name, method, message.get("params") or {})
                write(writer, {"id": message["id"], "result": result})
                await writer.drain()
                if method == "shutdown":
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            if sending:
                sending.cancel()
            writer.close()

    def answer(self, name: str, method: str, params: dict) -> dict:
        if method == "initialize":
            return greeting(name in self.histories)
        if method == "history/read":
            return self.page(self.histories.get(name, []), params)
        return {}

    def page(self, records: Sequence[dict], params: dict) -> dict:
        if params["metric"] != "heart_rate" or not records:
            return {"samples": [], "next": None}
        place = params.get("page")
        if place is None:
            place = first_at(records, params["from"])
        end = min(place + min(params["limit"], LINE), len(records))
        samples = [record for record in records[place:end] if params["from"] <= record["start"] < params["to"]]
        more = end < len(records) and records[end]["start"] < params["to"]
        return {"samples": samples, "next": end if more else None}

    async def send_load(self, load: Load, writer: asyncio.StreamWriter) -> None:
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

    def answered(self, name: str, message: dict, _writer) -> None:
        load = self.loads.get(name)
        number = int(str(message.get("id", "s-1"))[1:])
        if load and "result" in message and load.waiting.pop(number, None):
            load.acknowledged.append(load.first + number)


def first_at(records: Sequence[dict], start: int) -> int:
    low, high = 0, len(records)
    while low < high:
        middle = (low + high) // 2
        if records[middle]["start"] < start:
            low = middle + 1
        else:
            high = middle
    return low


def record(start: int, value: float) -> dict:
    return {"metric": "heart_rate", "start": start, "end": start, "kind": "normal", "user_initiated": False, "value": value}


def greeting(has_history: bool) -> dict:
    abilities = {"measure": False, "history": has_history}
    return {
        "protocol": 1,
        "device": {"manufacturer": "faults", "model": "peer", "serial": None, "firmware": None, "hardware": None},
        "capabilities": {"heart_rate": abilities, "max_history_days": 30},
        "clock": {"now": int(time.time() * 1000), "utc_offset_min": 0}}


def write(writer: asyncio.StreamWriter, message: dict) -> None:
    writer.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n")


def program() -> None:
    """A device on standard input and output, which only answers."""
    for line in sys.stdin:
        call = json.loads(line)
        if "method" not in call:
            continue
        result = greeting(False) if call["method"] == "initialize" else {}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
        if call["method"] == "shutdown":
            return


if __name__ == "__main__":
    program()
