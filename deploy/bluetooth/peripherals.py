#!/usr/bin/env python3
"""The emulated wearables, and a port of loopback on which a scenario moves them.

A line is a command, and the answer is `ok`: `leave NAME` and `come NAME`, `unplug` and `plug` of the adapter, `record` for one more
record on the cuff, `pace SECONDS` between live values. The figures are those of `figures.py`.
"""

import asyncio
import struct
from typing import Any

from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.profiles.battery_service import BatteryService
from bumble.profiles.device_information_service import DeviceInformationService

import figures
from radio import Adapter, Air, Peripheral, date_time, number
from rings import NightRing, Ring

Properties = Characteristic.Properties
Permissions = Characteristic.Permissions
NOBODY = Permissions(0)


class Pace:
    """Seconds between the live values of the strap, and of the oximeter."""

    seconds = (0.25, 0.5)


class Strap(Peripheral):
    """Tells the heart rate, as one byte and as two."""

    def __init__(self, air: Air) -> None:
        super().__init__(air, "Strap", "F0:00:00:00:00:01", "180D")
        self.rate = Characteristic("2A37", Properties.NOTIFY, NOBODY, b"\x00\x00")
        self.device.add_services([
            Service("180D", [self.rate, Characteristic("2A38", Properties.READ, Permissions.READABLE, b"\x01")]),
            BatteryService(lambda connection: figures.STRAP_BATTERY),
            DeviceInformationService(manufacturer_name="Acme", model_number="Strap", serial_number=figures.STRAP_SERIAL)])

    async def live(self) -> None:
        while True:
            for rate in figures.STRAP_RATES:
                await asyncio.sleep(Pace.seconds[0])
                wide = rate > 0xFF
                await self.device.notify_subscribers(
                    self.rate, struct.pack("<BH", 1, rate) if wide else struct.pack("<BB", 0, rate))


class Cuff(Peripheral):
    """Wants to be paired, and sends each stored record once: a confirmed one is deleted, as on real cuffs."""

    def __init__(self, air: Air) -> None:
        super().__init__(air, "Cuff", "F0:00:00:00:00:02", "1810")
        self.device.pairing_config_factory = lambda connection: PairingConfig(
            sc=True, mitm=False, bonding=True, delegate=PairingDelegate(PairingDelegate.NO_OUTPUT_NO_INPUT))
        self.stored = list(figures.CUFF_RECORDS)
        self.later = list(figures.CUFF_LATER)
        self.sending = asyncio.Lock()
        encrypted = Permissions.READABLE | Permissions.READ_REQUIRES_ENCRYPTION
        self.measurement = Characteristic("2A35", Properties.INDICATE, NOBODY, b"")
        self.device.add_services([Service("1810", [
            self.measurement, Characteristic("2A49", Properties.READ, encrypted, b"\x00\x00")])])
        self.measurement.on("subscription", lambda connection, notify, indicate: self.subscribed(connection, indicate))
        self.device.on("connection", lambda connection: connection.on(
            "pairing", lambda keys: print("Cuff paired", flush=True)))

    def subscribed(self, connection: Any, indicate: bool) -> None:
        if indicate:
            asyncio.ensure_future(self.send(connection))

    async def send(self, connection: Any) -> None:
        async with self.sending:
            while self.stored:
                hour, systolic, diastolic, pulse = self.stored[0]
                value = (
                    b"\x06" + number(systolic) + number(diastolic) + number(diastolic)
                    + date_time(*figures.CUFF_DAY, hour, 0, 0) + number(pulse))
                await self.device.indicate_subscriber(connection, self.measurement, value)
                del self.stored[0]
                print("Cuff sent a record; encrypted:", connection.is_encrypted, flush=True)

    def record(self) -> None:
        self.stored.append(self.later.pop(0))


class Oximeter(Peripheral):
    """Tells oxygen and pulse, and has spot checks that are asked for by record access."""

    def __init__(self, air: Air) -> None:
        super().__init__(air, "Oximeter", "F0:00:00:00:00:03", "1822")
        self.spot = Characteristic("2A5E", Properties.INDICATE, NOBODY, b"")
        self.continuous = Characteristic("2A5F", Properties.NOTIFY, NOBODY, b"")
        self.access = Characteristic(
            "2A52", Properties.WRITE | Properties.INDICATE, Permissions.WRITEABLE, CharacteristicValue(write=self.asked))
        features = Characteristic("2A60", Properties.READ, Permissions.READABLE, b"\x00\x00")
        self.device.add_services([Service("1822", [self.spot, self.continuous, features, self.access])])

    def asked(self, connection: Any, request: bytes) -> None:
        asyncio.ensure_future(self.answer(connection, bytes(request)))

    async def answer(self, connection: Any, request: bytes) -> None:
        if request == b"\x04\x01":  # the number of all records
            response = b"\x05\x00" + struct.pack("<H", len(figures.OXIMETER_RECORDS))
        elif request == b"\x01\x01":  # all records
            for minute, oxygen, pulse in figures.OXIMETER_RECORDS:
                value = b"\x01" + number(oxygen) + number(pulse) + date_time(*figures.CUFF_DAY, 22, minute, 0)
                await self.device.indicate_subscriber(connection, self.spot, value)
            response = b"\x06\x00\x01\x01"
        elif request[:1] == b"\x03":  # stop
            response = b"\x06\x00\x03\x01"
        else:
            response = b"\x06\x00" + request[:1] + b"\x02"  # this operation is not supported
        await self.device.indicate_subscriber(connection, self.access, response)

    async def live(self) -> None:
        while True:
            await asyncio.sleep(Pace.seconds[1])
            oxygen, pulse = figures.OXIMETER_LIVE
            await self.device.notify_subscribers(self.continuous, b"\x00" + number(oxygen) + number(pulse))


async def main() -> None:
    air = Air()
    adapter = Adapter(air)
    await adapter.plug_in()
    strap, cuff, oximeter, ring, night_ring = Strap(air), Cuff(air), Oximeter(air), Ring(air), NightRing(air)
    near = {peripheral.name: peripheral for peripheral in (strap, cuff, oximeter, ring, night_ring)}
    for peripheral in near.values():
        await peripheral.start()

    async def obey(reader: Any, writer: Any) -> None:
        async for line in reader:
            word, *names = line.decode().split()
            if word == "leave":
                await near[names[0]].leave()
            elif word == "come":
                await near[names[0]].come()
            elif word == "unplug":
                await adapter.unplug()
                for peripheral in near.values():
                    peripheral.lose_link()
            elif word == "plug":
                await adapter.plug_in()
            elif word == "pace":
                Pace.seconds = (float(names[0]), float(names[0]))
            elif word == "record":
                cuff.record()
            print("command", line.decode().strip(), flush=True)
            writer.write(b"ok\n")
            await writer.drain()
        writer.close()

    await asyncio.start_server(obey, "127.0.0.1", figures.PORT)
    print("ready", flush=True)
    await asyncio.gather(strap.live(), oximeter.live(), ring.live(), night_ring.live())


asyncio.run(main())
