"""A proxy between the gateway and its broker: it passes everything on, cuts connections, and hangs."""

import asyncio

from waiting import listen


class Middle:
    """A relay on loopback, on a thread of its own."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.open: set[asyncio.StreamWriter] = set()
        self.flows = asyncio.Event()
        self.flows.set()
        self.poison: bytes | None = None  # it cuts the connection at these bytes on their way to the broker
        self.cuts = 0
        self.loop, self.port = listen(self.relay)

    def cut(self) -> None:
        self.loop.call_soon_threadsafe(self.abort)

    def hang(self) -> None:
        self.loop.call_soon_threadsafe(self.flows.clear)

    def flow(self) -> None:
        self.loop.call_soon_threadsafe(self.flows.set)

    def abort(self) -> None:
        for writer in list(self.open):
            writer.transport.abort()

    async def relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            other_reader, other = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return writer.transport.abort()
        self.open |= {writer, other}
        await asyncio.gather(self.copy(reader, other, True), self.copy(other_reader, writer))
        self.open -= {writer, other}

    async def copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_outward: bool = False) -> None:
        seen = b""
        try:
            while data := await reader.read(65536):
                if is_outward and self.poison:
                    seen = seen[-len(self.poison):] + data
                    if self.poison in seen:
                        self.cuts += 1
                        return self.abort()
                await self.flows.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()
