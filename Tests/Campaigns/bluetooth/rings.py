"""The emulated rings, which have protocols of their own. Their packets are made here, from what is publicly known of the protocols
(colmi_r02_client and Gadgetbridge for the one, o2r and wellue-o2ring-web-ui for the other), and not by the gateway's drivers."""

import asyncio
import calendar
import datetime
import json
import struct
import time
from typing import Any

from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.profiles.device_information_service import DeviceInformationService

import figures
from radio import Air, Peripheral

Properties = Characteristic.Properties
Permissions = Characteristic.Permissions
NOBODY = Permissions(0)


def modbus(body: bytes) -> int:
    """CRC-16/MODBUS."""
    crc = 0xFFFF
    for byte in body:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0xA001 if crc & 1 else crc >> 1
    return crc


def crc8(content: bytes) -> int:
    """CRC-8 of the polynomial 07, which begins with 0."""
    crc = 0
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07) & 0xFF if crc & 0x80 else crc << 1 & 0xFF
    return crc


def decimal(number: int) -> int:
    """Two decimal digits in one byte."""
    return number // 10 << 4 | number % 10


class Serial(Peripheral):
    """A wearable that takes requests on characteristics and answers on others, in values as long as the link takes them."""

    def __init__(self, air: Air, name: str, address: str, service: str) -> None:
        super().__init__(air, name, address, service)
        # One value after the other, as on a radio.
        self.waiting: asyncio.Queue[tuple[Characteristic, bytes]] = asyncio.Queue()

    def source(self, uuid: str) -> Characteristic:
        return Characteristic(uuid, Properties.NOTIFY, NOBODY, b"")

    def requests(self, uuid: str, take: Any) -> Characteristic:
        return Characteristic(
            uuid, Properties.WRITE | Properties.WRITE_WITHOUT_RESPONSE, Permissions.WRITEABLE,
            CharacteristicValue(write=lambda connection, value: take(bytes(value))))

    def notify(self, source: Characteristic, content: bytes) -> None:
        for connection in self.device.connections.values():
            longest = connection.att_mtu - 3
            for start in range(0, len(content), longest):
                self.waiting.put_nowait((source, content[start:start + longest]))

    async def live(self) -> None:
        while True:
            source, value = await self.waiting.get()
            await self.device.notify_subscribers(source, value)


class Ring(Serial):
    """A ring of Colmi. It counts days by its own clock, which the gateway sets, and remembers the day before."""

    V1, V1_REQUESTS, V1_REPLIES = (f"6E40{kind}-B5A3-F393-E0A9-E50E24DCCA9E" for kind in ("FFF0", "0002", "0003"))
    V2, V2_REQUESTS, V2_REPLIES = (f"DE5BF7{kind}-D711-4E47-AF26-65E3012A5DC7" for kind in ("28", "2A", "29"))

    def __init__(self, air: Air) -> None:
        super().__init__(air, "R02_A1B2", "F0:00:00:00:00:04", self.V1)
        self.ahead = 0.0  # seconds of its clock before the system's
        self.interval = 5
        self.switches = {0x2C: 1, 0x36: 1}
        self.replies, self.large_replies = self.source(self.V1_REPLIES), self.source(self.V2_REPLIES)
        self.device.add_services([
            Service(self.V1, [self.requests(self.V1_REQUESTS, self.asked), self.replies]),
            Service(self.V2, [self.requests(self.V2_REQUESTS, self.asked_much), self.large_replies]),
            DeviceInformationService(hardware_revision="R02_V3.0", firmware_revision="R02_3.00.06")])

    def today(self) -> datetime.date:
        return datetime.datetime.fromtimestamp(time.time() + self.ahead, datetime.timezone.utc).date()

    def days_ago(self) -> int:
        """How long ago the remembered day is."""
        return (self.today() - figures.RING_DAY).days

    def packet(self, *content: int) -> None:
        """Fourteen bytes after the command, and their sum."""
        packet = bytes(content).ljust(15, b"\0")
        self.notify(self.replies, packet + bytes([sum(packet) & 0xFF]))

    def asked(self, request: bytes) -> None:
        if len(request) != 16 or sum(request[:15]) & 0xFF != request[15]:
            print("Ring got a damaged request", request.hex(), flush=True)
            return
        command, first = request[0], request[1]
        if command == 0x01:
            year, month, day, hour, minute, second = ((byte >> 4) * 10 + (byte & 15) for byte in request[1:7])
            moment = calendar.timegm((2000 + year, month, day, hour, minute, second))
            self.ahead = moment - time.time()
            self.packet(0x01, 0, 1, 0, 0x22, 0, 0, 0, 0, 1, 0, 0, 0x30, 0, 0x10)
        elif command == 0x03:
            self.packet(0x03, figures.RING_BATTERY, 0)
        elif command == 0x15:
            self.heart_rates(struct.unpack_from("<I", request, 1)[0])
        elif command == 0x16:
            if first == 2:
                self.interval = request[3]
                print("Ring measures each", self.interval, "minutes", flush=True)
                self.packet(0x16, 2, request[2], self.interval)
            else:
                self.packet(0x16, 1, 1, self.interval)
        elif command in self.switches:
            if first == 2:
                self.switches[command] = request[2]
            self.packet(command, first, self.switches[command])
        elif command == 0x37:
            self.stress(first)
        elif command == 0x43:
            self.steps(first)
        else:
            self.packet(command | 0x80, 0xEE)

    def heart_rates(self, midnight: int) -> None:
        if datetime.datetime.fromtimestamp(midnight, datetime.timezone.utc).date() != figures.RING_DAY:
            self.packet(0x15, 0xFF)
            return
        values = bytes(figures.RING_RATES)
        self.packet(0x15, 0, 24, 5)
        self.packet(0x15, 1, *struct.pack("<I", midnight), *values[:9])
        for part in range(2, 24):
            self.packet(0x15, part, *values[9 + 13 * (part - 2):][:13])

    def stress(self, ago: int) -> None:
        if ago != self.days_ago():
            self.packet(0x37, 0xFF)
            return
        values = bytes(figures.RING_STRESS)
        self.packet(0x37, 0, 5, 30)
        self.packet(0x37, 1, ago, *values[:12])
        for part in range(2, 5):
            self.packet(0x37, part, *values[12 + 13 * (part - 2):][:13])

    def steps(self, ago: int) -> None:
        if ago != self.days_ago():
            self.packet(0x43, 0xFF)
            return
        date = figures.RING_DAY
        count = len(figures.RING_STEPS)
        self.packet(0x43, 0xF0, count, 1)
        for index, (hour, steps, metres) in enumerate(figures.RING_STEPS):
            self.packet(
                0x43, decimal(date.year % 100), decimal(date.month), decimal(date.day), 4 * hour, index, count,
                *struct.pack("<HHH", 12, steps, metres))

    def asked_much(self, request: bytes) -> None:
        if len(request) < 6 or request[0] != 0xBC:
            return
        if request[1] == 0x27:
            start, end = figures.RING_SLEEP
            night = struct.pack("<HH", start, end) + bytes(byte for stage in figures.RING_STAGES for byte in stage)
            body = bytes([1, self.days_ago(), len(night)]) + night
        elif request[1] == 0x2A:
            hours = bytes(value for lowest in figures.RING_OXYGEN for value in (lowest, 99))
            body = bytes([self.days_ago()]) + hours + bytes(49)
        else:
            body = b""
        self.notify(self.large_replies, bytes([0xBC, request[1]]) + struct.pack("<HH", len(body), modbus(body)) + body)


class NightRing(Serial):
    """An oximeter of Viatom that is worn at night: one recording, the present values, and the limit at which it vibrates."""

    BLOCK = 480  # bytes of a file in one reply

    def __init__(self, air: Air) -> None:
        super().__init__(air, "O2Ring", "F0:00:00:00:00:05", "14839AC4-7D7E-415C-9A42-167340CF2339")
        self.replies = self.source("0734594A-A8E7-4B1A-A6B1-CD5243059A57")
        self.device.add_services([Service("14839AC4-7D7E-415C-9A42-167340CF2339", [
            self.requests("8B00ACE7-EB0B-49B0-BBE9-9AEE0A26E1A3", self.received), self.replies])])
        self.request = b""
        self.settings = {"OxiSwitch": "1", "CurOxiThr": "88", "HRSwitch": "0", "HRLowThr": "50", "HRHighThr": "120"}
        self.name_of_file = f"{figures.RING_DAY:%Y%m%d}{figures.NIGHT_START:02}0000"

    def file(self) -> bytes:
        """Forty bytes, and five for each record: oxygen, pulse in two bytes, motion, vibration."""
        records = b"".join(struct.pack("<BHBB", oxygen, pulse, 3, 0) for oxygen, pulse in figures.NIGHT_RECORDS)
        day = figures.RING_DAY
        head = struct.pack(
            "<BBHBBBBBIH", 3, 0, day.year, day.month, day.day, figures.NIGHT_START, 0, 0, 40 + len(records),
            figures.NIGHT_INTERVAL * len(figures.NIGHT_RECORDS))
        return head.ljust(40, b"\0") + records

    def received(self, piece: bytes) -> None:
        if len(piece) > 2 and piece[0] == 0xAA and piece[1] ^ piece[2] == 0xFF:
            self.request = b""
        self.request += piece
        if len(self.request) < 8 or len(self.request) < 8 + struct.unpack_from("<H", self.request, 5)[0]:
            return
        request, self.request = self.request, b""
        if crc8(request[:-1]) != request[-1]:
            print("O2Ring got a damaged request", request.hex(), flush=True)
            return
        self.answer(request[1], struct.unpack_from("<H", request, 3)[0], request[7:-1])

    def answer(self, command: int, block: int, content: bytes) -> None:
        status, reply = 0, b""
        if command == 0x14:
            reply = json.dumps({
                "Model": "1641", "SN": "2301000001", "HardwareVer": "AA", "SoftwareVer": "1.4.0", "CurBAT": "85%",
                "CurBatState": "0", "FileList": f"{self.name_of_file},",
                "CurTIME": time.strftime("%Y-%m-%d,%H:%M:%S", time.gmtime()), **self.settings}).encode()
        elif command == 0x16:
            for name, value in json.loads(content).items():
                if name != "SetTIME":
                    print("O2Ring is set", name, value, flush=True)
                    self.settings["CurOxiThr" if name == "SetOxiThr" else name.removeprefix("Set")] = value
        elif command == 0x17:
            oxygen, pulse = figures.NIGHT_LIVE
            reply = struct.pack("<BHBBBBBBBBB", oxygen, pulse, 0, 0, 0, 0, 85, 0, 0x92, 0x0A, 1) + b"\0"
        elif command == 0x03:
            status = 0 if content.rstrip(b"\0").decode() == self.name_of_file else 1
            reply = struct.pack("<I", len(self.file())) if status == 0 else b""
        elif command == 0x04:
            reply = self.file()[self.BLOCK * block:][:self.BLOCK]
        elif command not in (0x05, 0x15):
            status = 1
        head = struct.pack("<BBBHH", 0x55, status, 0xFF - status, block, len(reply)) + reply
        self.notify(self.replies, head + bytes([crc8(head)]))
