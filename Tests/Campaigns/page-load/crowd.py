"""Browsers and programs that follow the gateway, and others that hardly read, in a process of their own: crowd.py PORT STREAMS SLOW DEVICE.

It says `ready` when all streams have begun, and how many bytes came when its standard input ends. It takes what the gateway leaves of the
processor, as browsers of other machines do.
"""

import asyncio
import contextlib
import os
import re
import socket
import sys

# Connections of an address that have not begun a stream yet; the gateway takes 16.
AT_ONCE = 8
# Bytes that a slow reader reads in a second, and that its system keeps for it.
SLOW, KEPT = 200, 4096
# Requests for 300 KiB each that it sends at once: a system keeps some MiB of answers, and the gateway has to keep the next one.
MANY = 20
# Seconds after which it leaves by itself: the gateway sends it away after ten.
PATIENCE = 15


async def connect(port: int, source: str, kept: int = 0) -> socket.socket:
    connection = socket.socket()
    connection.setblocking(False)
    if kept:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, kept)
    connection.bind((source, 0))
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    return connection


def request(port: int, target: str, cookie: str = "") -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{cookie}\r\n".encode()


class Crowd:
    def __init__(self, port: int, device: str) -> None:
        self.port, self.device, self.received, self.begun, self.refused, self.answers = port, device, 0, 0, 0, 0

    async def stream(self, number: int, gate: asyncio.Semaphore) -> None:
        """Follows a page, or the API, and begins again where the stream ends."""
        loop, source = asyncio.get_running_loop(), f"127.1.0.{number % 200 + 1}"
        pages = ["", f"devices/{self.device}", "gateway"]
        target = "/api/v1/events" if number % 2 else f"/events?page={pages[number // 2 % len(pages)]}"
        while True:
            with contextlib.suppress(OSError), await connect(self.port, source) as connection:
                async with gate:
                    await loop.sock_sendall(connection, request(self.port, target, self.cookie))
                    first = await loop.sock_recv(connection, 1 << 16)
                if b" 200 " not in first[:20]:
                    self.refused += 1
                    await asyncio.sleep(1)
                    continue
                self.begun += 1
                while piece := await loop.sock_recv(connection, 1 << 16):
                    self.received += len(piece)
                self.begun -= 1

    async def slow(self, number: int) -> None:
        """Asks for much, and reads it so slowly that it is sent away; then again."""
        loop, source = asyncio.get_running_loop(), f"127.2.0.{number % 10 + 1}"
        target = f"/api/v1/devices/{self.device}/samples?metric=heart_rate&limit=1000"
        while True:
            with contextlib.suppress(OSError), await connect(self.port, source, KEPT) as connection:
                await loop.sock_sendall(connection, request(self.port, target) * MANY)
                self.answers += 1
                for _ in range(PATIENCE):
                    if not await loop.sock_recv(connection, SLOW):
                        break
                    await asyncio.sleep(1)
            await asyncio.sleep(0.5)

    async def session(self) -> None:
        """One session for all: each without a cookie would be another guest."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request(self.port, "/"))
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        writer.close()
        found = re.search(r"(?i)set-cookie: ([^;\r]*)", head)
        self.cookie = f"Cookie: {found[1]}\r\n" if found else ""

    async def run(self, streams: int, slow: int) -> None:
        await self.session()
        gate = asyncio.Semaphore(AT_ONCE)
        tasks = [asyncio.create_task(self.stream(number, gate)) for number in range(streams)]
        while self.begun < streams:
            await asyncio.sleep(0.1)
        tasks += [asyncio.create_task(self.slow(number)) for number in range(slow)]
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        print(f"{self.begun} {self.received} {self.refused} {self.answers}", flush=True)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


if __name__ == "__main__":
    os.nice(10)
    asyncio.run(Crowd(int(sys.argv[1]), sys.argv[4]).run(int(sys.argv[2]), int(sys.argv[3])))
