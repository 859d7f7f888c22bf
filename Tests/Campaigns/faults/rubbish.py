"""What a stranger sends in place of MQTT, and between its packets."""

import random

ROOT = "vitals2mqtt/storm"
# Identifiers that no message of the gateway has in so short a connection: an acknowledgement of one that waits would be a lie about a
# sample, which no client can tell from the truth.
UNUSED = range(0x7000, 0xFFFF)
# The longest length that a packet can announce, 256 MB, and one of five bytes, which MQTT does not have.
LONGEST, TOO_LONG = b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff\x01"


def variable(number: int) -> bytes:
    """A Variable Byte Integer (MQTT 5, section 1.5.5)."""
    digits = []
    while True:
        number, digit = divmod(number, 128)
        digits.append(digit | (0x80 if number else 0))
        if not number:
            return bytes(digits)


def packet(first: int, body: bytes) -> bytes:
    return bytes([first]) + variable(len(body)) + body


def accepted(level: int) -> bytes:
    """A proper CONNACK."""
    return packet(0x20, b"\0\0\0" if level == 5 else b"\0\0")


class Rubbish:
    """The rubbish of one conversation."""

    def __init__(self, seed: str, level: int) -> None:
        self.random = random.Random(seed)
        # Mostly of the version that is spoken.
        self.is_v5 = (level == 5) != (self.random.random() < 0.3)

    def bytes(self, most: int) -> bytes:
        return self.random.randbytes(self.random.randint(0, most))

    def without_acknowledgements(self, most: int) -> bytes:
        return bytes(byte for byte in self.bytes(most) if byte >> 4 != 4)

    def identifier(self) -> bytes:
        return self.random.choice(UNUSED).to_bytes(2, "big")

    def properties(self) -> bytes:
        if not self.is_v5:
            return b""
        unknown = bytes([self.random.choice([0x00, 0x04, 0x2b, 0x7f])]) + self.bytes(4)  # there is no such property
        content = self.random.choice([
            b"", unknown, unknown, unknown, unknown, unknown, b"\x27\0\0", b"\x21\0\0", b"\x27\0\0\0\0", b"\x21\0\1\x21\0\2",  # short, zero, twice
            b"\x1f\0\x05\xff\xfe\xfd\xfc\xfb", b"\x26\0\1a\xff\xff", b"\x0b\xff\xff\xff\xff", self.bytes(30)])
        length = len(content) if self.random.random() < 0.7 else self.random.choice([0, 1, len(content) + 1, 16_383, 268_435_455])
        return variable(length) + content

    def connack(self) -> bytes:
        code = self.random.choice([0, 1, 2, 5, 6, 0x7f, 0x80, 0x84, 0x86, 0x9f, 0xff])
        return packet(0x20 | self.random.choice([0, 0, 1, 15]), bytes([self.random.choice([0, 1, 255]), code]) + self.properties())

    def acknowledgement(self) -> bytes:
        """PUBACK, PUBREC, PUBREL, PUBCOMP, SUBACK or UNSUBACK of what was not sent."""
        first = self.random.choice([0x40, 0x50, 0x62, 0x70, 0x90, 0xb0])
        codes = bytes([self.random.choice([0, 1, 0x10, 0x7f, 0x80, 0x87, 0xff])])
        rest = self.properties() + codes * self.random.randint(0, 40) if first >= 0x90 else codes + self.properties()
        return packet(first, self.identifier() + (rest if self.is_v5 or first >= 0x90 else b""))

    def publish(self) -> bytes:
        topic = self.random.choice([
            b"", b"a/+", b"#", b"\0", b"\xff\xfe", b"$SYS/x", b"x" * self.random.choice([1, 65_535]),
            f"{ROOT}/gateway/command/{self.random.choice(['scan', 'x', 'reload/x'])}".encode(),
            f"{ROOT}/{self.random.choice(['band', 'none'])}/config/set".encode()])
        length = len(topic) if self.random.random() < 0.8 else self.random.choice([0, len(topic) + 1, 65_535])
        flags = self.random.randrange(16)
        identifier = self.identifier() if flags & 6 else b""
        payload = self.random.choice([b"", b"{", b"[" * 5000, b'{"id":1}', self.bytes(100), self.bytes(300_000)])
        return packet(0x30 | flags, min(length, 65_535).to_bytes(2, "big") + topic + identifier + self.properties() + payload)

    def other(self) -> bytes:
        """DISCONNECT, AUTH, a ping, or a packet that only a client sends."""
        first = self.random.choice([0xe0, 0xe0, 0xf0, 0xd0, 0xc0, 0x00, 0x10, 0x82, 0xa2])
        return packet(first, self.random.choice([b"", bytes([0x8e]) + self.properties(), self.bytes(40)]))

    def announced(self) -> bytes:
        first = self.random.choice([0x20, 0x30, 0x32, 0x90, 0xe0])
        size = self.random.choice([0, 1, 100, 65_536, 4_000_000])
        return bytes([first]) + self.random.choice([LONGEST, LONGEST, TOO_LONG]) + bytes(size)

    def no_mqtt(self) -> bytes:
        return self.random.choice([
            b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-stranger\r\n", b"\x15\x03\x03\x00\x02\x02\x28",
            self.without_acknowledgements(2000)])

    def message(self, is_first: bool) -> bytes:
        """What comes in place of CONNACK, or after it."""
        kinds = [self.connack, self.publish, self.other, self.announced, self.no_mqtt, self.acknowledgement]
        if is_first:
            return b"".join(kind() for kind in self.random.choices(kinds, [8, 1, 1, 2, 4, 1], k=self.random.randint(1, 2)))
        return b"".join(kind() for kind in self.random.choices(kinds, [1, 4, 3, 1, 2, 5], k=self.random.randint(1, 6)))
