#!/usr/bin/env python3
"""Proxies of ESPHome on loopback, with the wearables of the Bluetooth guest around them.

  room.py CONTROL PORT,GENERATION,SLOTS[,KEY]…      one proxy for each of these words, all in one air

On the port CONTROL a line is a command of `Room`, and the answer is a line of JSON.
"""

import asyncio
import json
import sys

from central import Air, text
from peripherals import Cuff, Oximeter, Pace, Strap
from proxy import Proxy
from rings import NightRing, Ring


class Room:
    """The wearables, the proxies, and the commands that move them."""

    def __init__(self, proxies: list[tuple]) -> None:
        air = Air()
        self.near = {wearable.name: wearable for wearable in (Strap(air), Cuff(air), Oximeter(air), Ring(air), NightRing(air))}
        self.proxies = [Proxy(air, index, *proxy) for index, proxy in enumerate(proxies)]

    async def start(self) -> None:
        for each in [*self.near.values(), *self.proxies]:
            await each.start()
        self.living = [asyncio.create_task(wearable.live()) for wearable in self.near.values() if hasattr(wearable, "live")]

    async def leave(self, name: str) -> None:
        await self.near[name].leave()

    async def come(self, name: str) -> None:
        await self.near[name].come()

    async def record(self) -> None:
        self.near["Cuff"].record()

    async def pace(self, seconds: str) -> None:
        """Between the live values of strap and oximeter."""
        Pace.seconds = (float(seconds), float(seconds))

    async def reboot(self, index: str, seconds: str) -> None:
        await self.proxies[int(index)].reboot(float(seconds))

    async def cut(self, index: str, values: str) -> None:
        """Cuts the connection in the middle of a frame after so many further values."""
        self.proxies[int(index)].cut_after = int(values)

    async def silence(self, index: str, seconds: str, stale: str) -> None:
        """The Wi-Fi is gone: nothing comes through, and the next end of a connection is noticed so many seconds late."""
        proxy = self.proxies[int(index)]
        proxy.stale = float(stale)
        proxy.air_is_clear.clear()
        asyncio.get_running_loop().call_later(float(seconds), proxy.air_is_clear.set)

    async def slow(self, index: str, seconds: str) -> None:
        """Before each message."""
        self.proxies[int(index)].slow = float(seconds)

    async def state(self, index: str) -> dict:
        proxy = self.proxies[int(index)]
        return {
            "clients": [client.name for client in proxy.clients], "subscribers": [client.name for client in proxy.subscribers],
            "subscriptions": proxy.subscriptions, "refused": proxy.refused, "links": [text(link) for link in proxy.links],
            "fullest": proxy.fullest, "cuts": proxy.cuts, "delivered": proxy.delivered}

    async def obey(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for line in reader:
            word, *arguments = line.decode().split()
            answer = await getattr(self, word)(*arguments)
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        writer.close()


async def main() -> None:
    words = [word.split(",") for word in sys.argv[2:]]
    room = Room([(int(port), generation, int(slots), *(key or [None])) for port, generation, slots, *key in words])
    await room.start()
    await asyncio.start_server(room.obey, "127.0.0.1", int(sys.argv[1]))
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
