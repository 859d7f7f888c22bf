#!/usr/bin/env python3
"""The emulated wearables, and a port of loopback on which a scenario moves them.

A line is a command, and the answer is `ok`: `leave NAME` and `come NAME`, `unplug` and `plug` of the adapter, `record` for one more
record on the cuff, `weigh` for one more on the scale, `pace SECONDS` between live values. The figures are those of `figures.py`.
"""

import asyncio
import struct
import time
from typing import Any

from bumble.core import UUID
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
    """Sends the heart rate, as one byte and as two."""

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


class Storing(Peripheral):
    """Sends each stored record once, over an encrypted link: a confirmed one is deleted, as on real cuffs and scales."""

    def __init__(
        self, air: Air, name: str, address: str, service: str, source: str, feature: Characteristic, delegate: PairingDelegate,
        stored: tuple[Any, ...], later: tuple[Any, ...]
    ) -> None:
        super().__init__(air, name, address, service)
        # Only a side that shows a number can be sure of its peer.
        mitm = delegate.io_capability != PairingDelegate.NO_OUTPUT_NO_INPUT
        self.device.pairing_config_factory = lambda connection: PairingConfig(
            sc=True, mitm=mitm, bonding=True, delegate=delegate)
        self.stored = list(stored)
        self.later = list(later)
        self.sending = asyncio.Lock()
        self.measurement = Characteristic(source, Properties.INDICATE, NOBODY, b"")
        self.device.add_services([Service(service, [self.measurement, feature])])
        self.measurement.on("subscription", lambda connection, notify, indicate: self.subscribed(connection, indicate))
        self.device.on("connection", self.watch)

    def watch(self, connection: Any) -> None:
        connection.on("pairing", lambda keys: print(self.name, "paired", flush=True))
        connection.on("pairing_failure", lambda reason: print(self.name, "is not paired:", reason, flush=True))

    def subscribed(self, connection: Any, indicate: bool) -> None:
        if indicate:
            asyncio.ensure_future(self.send(connection))

    def value(self, record: Any) -> bytes:
        raise NotImplementedError

    async def send(self, connection: Any) -> None:
        async with self.sending:
            while self.stored and connection.is_encrypted:
                await self.device.indicate_subscriber(connection, self.measurement, self.value(self.stored[0]))
                del self.stored[0]
                print(self.name, "sent a record", flush=True)

    def record(self) -> None:
        self.stored.append(self.later.pop(0))


class Cuff(Storing):
    """Wants to be paired, without a passkey, and asks for the time as soon as somebody subscribes, and not again."""

    def __init__(self, air: Air) -> None:
        feature = Characteristic("2A49", Properties.READ, Permissions.READABLE | Permissions.READ_REQUIRES_ENCRYPTION, b"\x00\x00")
        super().__init__(
            air, "Cuff", "F0:00:00:00:00:02", "1810", "2A35", feature, PairingDelegate(PairingDelegate.NO_OUTPUT_NO_INPUT),
            figures.CUFF_RECORDS, figures.CUFF_LATER)

    def subscribed(self, connection: Any, indicate: bool) -> None:
        super().subscribed(connection, indicate)
        if indicate:
            asyncio.ensure_future(self.ask_time(connection))

    async def ask_time(self, connection: Any) -> None:
        """Reads the time of the other end, and prints its bytes and when they came."""
        client = connection.gatt_client
        try:
            services = await client.discover_service(UUID("1805"))
            found = [await client.discover_characteristics([UUID("2A2B")], service) for service in services]
            values = [await client.read_value(characteristic) for characteristics in found for characteristic in characteristics]
        except Exception as error:  # Whatever it is, the check misses the line below.
            print("Cuff reads no time:", error, flush=True)
            return
        moment = time.time()
        print("Cuff reads the time", *(bytes(value).hex() for value in values), "at", f"{moment:.3f}", flush=True)

    def value(self, record: tuple[int, int, int, int]) -> bytes:
        hour, systolic, diastolic, pulse = record
        return (
            b"\x06" + number(systolic) + number(diastolic) + number(diastolic)
            + date_time(*figures.CUFF_DAY, hour, 0, 0) + number(pulse))


class Display(PairingDelegate):
    """Shows another passkey at each pairing."""

    def __init__(self) -> None:
        super().__init__(PairingDelegate.DISPLAY_OUTPUT_ONLY)
        self.passkeys = list(figures.SCALE_PASSKEYS)

    async def generate_passkey(self) -> int:
        return self.passkeys.pop(0)

    async def display_number(self, number: int, digits: int) -> None:
        print(f"Scale shows {number:0{digits}}", flush=True)


class Scale(Storing):
    """Wants to be paired with the passkey that it shows."""

    def __init__(self, air: Air) -> None:
        allowed = Permissions.READABLE | Permissions.READ_REQUIRES_AUTHENTICATION
        feature = Characteristic("2A9E", Properties.READ, allowed, b"\x01\x00\x00\x00")
        super().__init__(
            air, "Scale", "F0:00:00:00:00:06", "181D", "2A9D", feature, Display(), figures.SCALE_RECORDS, figures.SCALE_LATER)

    def value(self, record: tuple[int, float]) -> bytes:
        hour, weight = record
        return struct.pack("<BH", 2, round(weight * 200)) + date_time(*figures.SCALE_DAY, hour, 0, 0)  # steps of 5 g


class Oximeter(Peripheral):
    """Sends oxygen and pulse, and has spot checks that are asked for by record access."""

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
    strap, cuff, oximeter, ring, night_ring, scale = Strap(air), Cuff(air), Oximeter(air), Ring(air), NightRing(air), Scale(air)
    near = {peripheral.name: peripheral for peripheral in (strap, cuff, oximeter, ring, night_ring, scale)}
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
            elif word == "weigh":
                scale.record()
            print("command", line.decode().strip(), flush=True)
            writer.write(b"ok\n")
            await writer.drain()
        writer.close()

    await asyncio.start_server(obey, "127.0.0.1", figures.PORT)
    print("ready", flush=True)
    await asyncio.gather(strap.live(), oximeter.live(), ring.live(), night_ring.live())


if __name__ == "__main__":
    asyncio.run(main())
