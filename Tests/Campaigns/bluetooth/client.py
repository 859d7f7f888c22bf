#!/usr/bin/env python3
"""An independent client of the strap, by bleak: prints what it reads, as the check expects it of the gateway, too."""

import asyncio
import json

from bleak import BleakClient, BleakScanner

ADDRESS = "F0:00:00:00:00:01"
RATE = "00002a37-0000-1000-8000-00805f9b34fb"
SERIAL = "00002a25-0000-1000-8000-00805f9b34fb"
WANTED = 9  # values


async def main() -> None:
    strap = await BleakScanner.find_device_by_address(ADDRESS, timeout=30)
    assert strap is not None, "the strap does not advertise"
    values: list[bytes] = []
    enough = asyncio.Event()

    def received(_: object, value: bytearray) -> None:
        values.append(bytes(value))
        if len(values) >= WANTED:
            enough.set()

    async with BleakClient(strap) as client:
        serial = (await client.read_gatt_char(SERIAL)).decode()
        await client.start_notify(RATE, received)
        await asyncio.wait_for(enough.wait(), 30)
    # The first bit says whether the rate has two bytes.
    rates = {int.from_bytes(value[1:3] if value[0] & 1 else value[1:2], "little") for value in values}
    print(json.dumps({"serial": serial, "rates": sorted(rates)}))


asyncio.run(main())
