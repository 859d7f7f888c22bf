"""The server's end of ESPHome's native API on one connection: plain or encrypted frames around the messages of aioesphomeapi.

A plain frame is 00, the length and the type of the message as varints, and its protobuf. An encrypted one is 01, the length in two bytes, and
what the Noise cipher made of type, length (two bytes each) and protobuf.
"""

import asyncio
from typing import Any, Callable

from aioesphomeapi._frame_helper.noise_encryption import ESPHOME_NOISE_BACKEND, NOISE_PROTOCOL_NAME, decode_noise_psk
from aioesphomeapi.core import MESSAGE_TYPE_TO_PROTO
from cryptography.exceptions import InvalidTag
from noise.connection import NoiseConnection

NUMBERS = {message: number for number, message in MESSAGE_TYPE_TO_PROTO.items()}
PROLOGUE = b"NoiseAPIInit"
NO_INDICATOR = b"Bad indicator byte"


class Refused(Exception):
    """The client does not speak as this server does, and was told so."""


def varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


class Peer:
    """A client's connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, record: Callable[[str], None]) -> None:
        self.reader, self.writer, self.record = reader, writer, record
        self.noise: NoiseConnection | None = None

    async def begin(self, key: str | None, name: str, mac: str) -> None:
        """Does the handshake, with a key. Raises Refused."""
        if key is None:
            return
        hello = await self.noise_frame()
        noise = NoiseConnection.from_name(NOISE_PROTOCOL_NAME, backend=ESPHOME_NOISE_BACKEND)
        noise.set_as_responder()
        noise.set_psks(decode_noise_psk(key))
        noise.set_prologue(PROLOGUE + len(hello).to_bytes(2, "big") + hello)
        noise.start_handshake()
        self.write_noise(b"\x01" + name.encode() + b"\0" + mac.replace(":", "").lower().encode() + b"\0")
        request = await self.noise_frame()
        try:
            noise.read_message(request[1:])
        except InvalidTag:
            self.write_noise(b"\x01Handshake MAC failure")
            raise Refused("wrong key") from None
        self.write_noise(b"\0" + bytes(noise.write_message()))
        self.noise = noise

    async def noise_frame(self) -> bytes:
        head = await self.reader.readexactly(3)
        if head[0] != 1:
            self.write_noise(b"\x01" + NO_INDICATOR)
            raise Refused("not encrypted")
        return await self.reader.readexactly(int.from_bytes(head[1:], "big"))

    def write_noise(self, content: bytes) -> None:
        self.writer.write(b"\x01" + len(content).to_bytes(2, "big") + content)

    async def varint(self) -> tuple[int, bytes]:
        """The number, and its bytes."""
        number, taken = 0, b""
        while True:
            taken += await self.reader.readexactly(1)
            number |= (taken[-1] & 0x7F) << 7 * (len(taken) - 1)
            if taken[-1] < 0x80:
                return number, taken

    async def receive(self) -> Any:
        """The next message that this library knows; others are skipped."""
        while True:
            if self.noise is not None:
                content = self.noise.decrypt(await self.noise_frame())
                number, payload = int.from_bytes(content[:2], "big"), content[4:]
            else:
                if (indicator := await self.reader.readexactly(1)) != b"\0":
                    self.writer.write(b"\0" + NO_INDICATOR)
                    raise Refused("encrypted")
                length, first = await self.varint()
                number, second = await self.varint()
                payload = await self.reader.readexactly(length)
                self.record("> " + (indicator + first + second + payload).hex())
            if (known := MESSAGE_TYPE_TO_PROTO.get(number)) is not None:
                return known.FromString(payload)

    def frame(self, message: Any) -> bytes:
        """The bytes of a message. Each is made once, in the order of sending, as the cipher counts them."""
        number, payload = NUMBERS[type(message)], message.SerializeToString()
        if self.noise is not None:
            content = self.noise.encrypt(number.to_bytes(2, "big") + len(payload).to_bytes(2, "big") + payload)
            return b"\x01" + len(content).to_bytes(2, "big") + content
        frame = b"\0" + varint(len(payload)) + varint(number) + payload
        self.record("< " + frame.hex())
        return frame
