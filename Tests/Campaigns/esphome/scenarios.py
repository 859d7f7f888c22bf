#!/usr/bin/env python3
"""Holds the played proxies against the official clients aioesphomeapi and bleak-esphome, and records what both ends send.

  scenarios.py                      runs all scenarios
  scenarios.py --record FOLDER      writes transcripts, too
  scenarios.py --as-home-assistant PORT [KEY]   stays as a second subscriber, and prints each wearable that it finds

A transcript has a frame a line, in hex: `>` from the client, `<` from the proxy. Advertisements after the first two messages are left out.
"""

import asyncio
import contextlib
import os
import socket
import sys
from typing import Any, Callable

import central  # noqa: F401  finds the wearables
import figures
import habluetooth
from aioesphomeapi import APIClient, BluetoothProxyFeature
from aioesphomeapi.core import (
    APIConnectionError, BluetoothGATTAPIError, EncryptionPlaintextAPIError, InvalidEncryptionKeyAPIError,
    RequiresEncryptionAPIError)
from bleak_esphome import connect_scanner
from bleak_esphome.backend.client import ESPHomeClient
from room import Room

STRAP, CUFF, RING = 0xF00000000001, 0xF00000000002, 0xF00000000004
KEY, OTHER = "QRTIErOb/fcE9Ukd/5qA3RGYMn0Y+p06U58SCtOXvPc=", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
RATE, BATTERY, RECORD, RING_REPLIES, RING_REQUESTS = (
    "00002a37-0000-1000-8000-00805f9b34fb", "00002a19-0000-1000-8000-00805f9b34fb", "00002a35-0000-1000-8000-00805f9b34fb",
    "6e400003-b5a3-f393-e0a9-e50e24dcca9e", "6e400002-b5a3-f393-e0a9-e50e24dcca9e")
ADVERTISEMENTS = (67, 93)  # types of messages
TRANSCRIPTS = ("strap", "cuff", "errors", "old", "newest_takes", "bleak")
SECONDS = 20

SCENARIOS: list[tuple[str, str, int, str | None, Callable]] = []


def scenario(generation: str, slots: int = 3, key: str | None = None) -> Callable:
    def add(function: Callable) -> Callable:
        SCENARIOS.append((function.__name__, generation, slots, key, function))
        return function
    return add


async def until(holds: Callable[[], Any], what: str) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            while not holds():
                await asyncio.sleep(0.02)
            return
    raise AssertionError(what)


async def raises(kind: type[BaseException], work: Any) -> BaseException:
    try:
        await work
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


class Official:
    """aioesphomeapi, connected."""

    def __init__(self, port: int, key: str | None = None) -> None:
        self.api = APIClient("127.0.0.1", port, None, client_info="official", noise_psk=key)
        self.seen: dict[int, bytes] = {}
        self.batches = 0
        self.states: list[Any] = []
        self.links: list[tuple[bool, int, int]] = []
        self.slots: list[tuple[int, int, list[int]]] = []

    async def __aenter__(self) -> "Official":
        await self.api.connect(login=True)
        self.information = await self.api.device_info()
        self.flags = self.information.bluetooth_proxy_feature_flags_compat(self.api.api_version)
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.api.disconnect()

    def subscribe(self) -> "Official":
        self.api.subscribe_bluetooth_connections_free(lambda *slots: self.slots.append(slots))
        self.api.subscribe_bluetooth_scanner_state(self.states.append)
        if self.flags & BluetoothProxyFeature.RAW_ADVERTISEMENTS:
            self.api.subscribe_bluetooth_le_raw_advertisements(self.found)
        else:
            self.api.subscribe_bluetooth_le_advertisements(lambda one: self.seen.__setitem__(one.address, one))
        return self

    def found(self, batch: Any) -> None:
        self.batches += 1
        self.seen.update({one.address: bytes(one.data) for one in batch.advertisements})

    async def connect(self, address: int, has_cache: bool = False) -> None:
        await self.api.bluetooth_device_connect(
            address, lambda *state: self.links.append(state), feature_flags=self.flags, has_cache=has_cache, address_type=1, timeout=SECONDS)

    async def characteristics(self, address: int) -> dict[str, Any]:
        services = await self.api.bluetooth_gatt_get_services(address)
        return {each.uuid: each for service in services.services for each in service.characteristics}

    async def notify(self, address: int, characteristic: Any) -> list[bytes]:
        values: list[bytes] = []
        await self.api.bluetooth_gatt_start_notify(address, characteristic.handle, lambda _, value: values.append(bytes(value)))
        bits = b"\1\0" if characteristic.properties & 0x10 else b"\2\0"
        await self.api.bluetooth_gatt_write_descriptor(address, characteristic.descriptors[0].handle, bits)
        return values


@scenario("2026.7")
async def strap(room: Room, port: int) -> None:
    """Advertisements, a connection without a cache, services, reads, values, and the end."""
    async with Official(port) as client:
        client.subscribe()
        await until(lambda: len(client.seen) == 5, "not all wearables advertise")
        await client.connect(STRAP)
        await until(lambda: client.slots[-1] == (2, 3, [STRAP]), "the slot is not reported")
        found = await client.characteristics(STRAP)
        assert await client.api.bluetooth_gatt_read(STRAP, found[BATTERY].handle) == bytes([figures.STRAP_BATTERY])
        values = await client.notify(STRAP, found[RATE])
        await until(lambda: len(values) >= 6, "no rates")
        assert set(values) == {b"\0\x48", b"\0\x41", b"\1\x2c\1"}, values
        client.api.bluetooth_gatt_stop_notify(STRAP, found[RATE].handle)
        await client.api.bluetooth_device_disconnect(STRAP)
        await until(lambda: client.slots[-1] == (3, 3, []), "the slot is not free")
        assert client.links[0] == (True, 517, 0), client.links


@scenario("2025.11")
async def cuff(room: Room, port: int) -> None:
    """What needs encryption, a bond, stored records, and a second connection that needs only the bond."""
    async with Official(port) as client:
        await client.subscribe().connect(CUFF)
        found = await client.characteristics(CUFF)
        assert (await client.api.bluetooth_device_pair(CUFF)).paired
        records = await client.notify(CUFF, found[RECORD])
        await until(lambda: len(records) == len(figures.CUFF_RECORDS), "no records")
        assert [record[0] for record in records] == [6] * 3 and records[0][1:3] == (120).to_bytes(2, "little")
        await client.api.bluetooth_device_disconnect(CUFF)
        await client.connect(CUFF, has_cache=True)
        assert client.links[-1] == (True, 23, 0), client.links
        assert (await client.api.bluetooth_device_pair(CUFF)).paired
        assert (await client.api.bluetooth_device_clear_cache(CUFF)).success
        assert (await client.api.bluetooth_device_unpair(CUFF)).success


@scenario("2026.7", slots=1)
async def errors(room: Room, port: int) -> None:
    """Errors of GATT, what is not connected, full slots, and a wearable that leaves."""
    async with Official(port) as client:
        await client.subscribe().connect(CUFF)
        feature = (await client.characteristics(CUFF))["00002a49-0000-1000-8000-00805f9b34fb"]
        for handle, code in ((feature.handle, 15), (0x7777, 1)):
            error = await raises(BluetoothGATTAPIError, client.api.bluetooth_gatt_read(CUFF, handle))
            assert error.error.error == code, error
        error = await raises(BluetoothGATTAPIError, client.api.bluetooth_gatt_read(STRAP, 1))
        assert error.error.error == -1, error
        await client.connect(STRAP)
        assert client.links[-1] == (False, 0, 0), client.links
        await room.leave("Cuff")
        await until(lambda: (False, 0, 8) in client.links, "the loss is not reported")
        await until(lambda: client.slots[-1] == (1, 1, []), "the slot is not free")


@scenario("2022.11")
async def old(room: Room, port: int) -> None:
    """A proxy without raw advertisements, remote caching and pairing: the official client only listens to it."""
    async with Official(port) as client:
        assert client.flags == BluetoothProxyFeature.PASSIVE_SCAN | BluetoothProxyFeature.ACTIVE_CONNECTIONS
        client.subscribe()
        await until(lambda: len(client.seen) == 5, "not all wearables advertise")
        assert client.seen[STRAP].name == "Strap" and client.seen[STRAP].service_uuids == ["0000180d-0000-1000-8000-00805f9b34fb"]
        assert client.seen[RING].service_uuids == ["6e40fff0-b5a3-f393-e0a9-e50e24dcca9e"]
        await raises(ValueError, client.connect(STRAP))


@scenario("2026.7", key=KEY)
async def keys(room: Room, port: int) -> None:
    async with Official(port, KEY) as client:
        await client.subscribe().connect(STRAP)
        assert RATE in await client.characteristics(STRAP)
    await raises(InvalidEncryptionKeyAPIError, Official(port, OTHER).__aenter__())
    await raises(RequiresEncryptionAPIError, Official(port).__aenter__())


@scenario("2025.11")
async def no_key(room: Room, port: int) -> None:
    await raises(EncryptionPlaintextAPIError, Official(port, KEY).__aenter__())


@scenario("2025.11")
async def first_stays(room: Room, port: int) -> None:
    async with Official(port) as first, Official(port) as second:
        first.subscribe()
        await until(lambda: first.batches > 2 and first.states, "the first has no advertisements")
        second.subscribe()
        seen = first.batches
        await until(lambda: first.batches > seen + 5, "the first has no more advertisements")
        assert not second.batches and not second.states


@scenario("2026.7")
async def newest_takes(room: Room, port: int) -> None:
    """The one before is not told, and what its links say goes to the newest."""
    async with Official(port) as first, Official(port) as second:
        await first.subscribe().connect(STRAP)
        values = await first.notify(STRAP, (await first.characteristics(STRAP))[RATE])
        await until(lambda: len(values) > 3, "no rates")
        second.subscribe()
        await until(lambda: second.states and second.batches > 2, "the second has no advertisements")
        seen, states, received = first.batches, len(first.states), len(values)
        await until(lambda: second.batches > 8, "the second has no more advertisements")
        assert (first.batches, len(first.states), len(values)) == (seen, states, received) and first.links[-1][0]
        assert [slots[0] for slots in second.slots] == [2]


@scenario("2025.11")
async def faults(room: Room, port: int) -> None:
    """A frame that is cut, a Wi-Fi that is silent, and a reboot end the connection, and a new one is served."""
    for fault in (lambda: room.cut("0", "3"), lambda: room.reboot("0", "0.5"), None):
        async with Official(port) as client:
            await client.subscribe().connect(STRAP)
            values = await client.notify(STRAP, (await client.characteristics(STRAP))[RATE])
            await until(lambda: values, "no rates")
            if fault is not None:
                await fault()
                await until(lambda: client.api._connection is None or not client.api._connection.is_connected, "still connected")
            else:
                await room.silence("0", "1", "0")
                await raises(APIConnectionError, client.api.bluetooth_gatt_read(STRAP, 3, timeout=0.5))
                seen = client.batches
                await until(lambda: client.batches > seen, "no advertisements after the silence")
        await until(lambda: not room.proxies[0].links, "the link of an ended client stays")


async def home_assistant(port: int, key: str | None) -> tuple[APIClient, Any]:
    """What Home Assistant's integration does with a proxy."""
    habluetooth.set_manager(habluetooth.BluetoothManager())
    client = APIClient("127.0.0.1", port, None, client_info="Home Assistant", noise_psk=key)
    await client.connect(login=True)
    data = connect_scanner(client, await client.device_info(), True)
    data.scanner.async_setup()
    return client, data


@scenario("2026.7")
async def bleak(room: Room, port: int) -> None:
    """bleak-esphome reads the strap's battery and rates, and asks the ring."""
    api, data = await home_assistant(port, None)
    for address, name, replies, request in (
            ("F0:00:00:00:00:01", "Strap", RATE, None), ("F0:00:00:00:00:04", "R02_A1B2", RING_REPLIES, bytes([3, *[0] * 14, 3]))):
        await until(lambda: address in data.scanner.discovered_devices_and_advertisement_data, f"{name} is not found")
        device, _ = data.scanner.discovered_devices_and_advertisement_data[address]
        client = ESPHomeClient(device, client_data=data, disconnected_callback=None)
        await client.connect(pair=False)
        values: list[bytes] = []
        await client.start_notify(client.services.get_characteristic(replies), lambda value, kept=values: kept.append(bytes(value)))
        if request is not None:
            await client.write_gatt_char(client.services.get_characteristic(RING_REQUESTS), request, False)
        else:
            assert await client.read_gatt_char(client.services.get_characteristic(BATTERY)) == bytes([figures.STRAP_BATTERY])
        await until(lambda: values, f"{name} sends nothing")
        assert request is None or values[0][:2] == bytes([3, figures.RING_BATTERY]), values
        await client.disconnect()
    await api.disconnect()


async def run(name: str, generation: str, slots: int, key: str | None, function: Callable, folder: str | None) -> bool:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    room = Room([(port, generation, slots, key)])
    await room.start()
    try:
        await function(room, port)
    except (AssertionError, APIConnectionError) as error:
        print(f"WRONG  {name}: {error!r}", flush=True)
        return False
    print(f"ok     {name}, {generation}", flush=True)
    if folder and name in TRANSCRIPTS:
        frames = room.proxies[0].transcript
        noisy = [place for place, line in enumerate(frames) if kind(line) in ADVERTISEMENTS][2:]
        with open(os.path.join(folder, f"{name}.hex"), "w", encoding="ascii") as file:
            file.write(f"# ESPHome {generation}, {function.__name__.replace('_', ' ')}: > client, < proxy\n")
            file.writelines(f"{line}\n" for place, line in enumerate(frames) if place not in noisy)
    return True


def kind(line: str) -> int:
    """The type of the message in a line of a transcript."""
    frame, numbers = bytes.fromhex(line[2:]), []
    for byte in frame[1:]:
        numbers.append(byte)
        if sum(each < 0x80 for each in numbers) == 2:
            break
    start = next(index for index, each in enumerate(numbers) if each < 0x80) + 1
    return sum((each & 0x7F) << 7 * index for index, each in enumerate(numbers[start:]))


async def stay(port: int, key: str | None) -> None:
    _, data = await home_assistant(port, key)
    print("subscribed", flush=True)
    seen: set[str] = set()
    while True:
        await asyncio.sleep(0.1)
        for address in set(data.scanner.discovered_devices_and_advertisement_data) - seen:
            seen.add(address)
            print("found", address, flush=True)


def main() -> int:
    if sys.argv[1:2] == ["--as-home-assistant"]:
        asyncio.run(stay(int(sys.argv[2]), *(sys.argv[3:] or [None])))
    folder = sys.argv[2] if sys.argv[1:2] == ["--record"] else None
    # Each has an event loop, and so air, of its own.
    return int(not all([asyncio.run(run(*each, folder)) for each in SCENARIOS]))


if __name__ == "__main__":
    sys.exit(main())
