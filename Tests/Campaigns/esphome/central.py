"""The radio of a proxy: a central of Bumble in the same air as the emulated wearables of the Bluetooth guest."""

import asyncio
import os
import sys
from typing import Any, Callable

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bluetooth"))

from bumble.att import ATT_Handle_Value_Confirmation
from bumble.core import BaseBumbleError, ProtocolError
from bumble.device import Connection, Device
from bumble.hci import Address, OwnAddressType
from bumble.host import Host
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from radio import Air, KernelController

CONNECTING = 20.0  # seconds that Bluedroid looks for a device
MTU = 517  # that a proxy asks for
USUAL_MTU = 23
# What Bluedroid says (esp_gatt_status_t, esp_ble_auth_fail_rsn_t).
GATT_ERROR, NOT_CONNECTED, PAIRING = 133, -1, 77
LOCAL_HOST, LOST = 0x16, 0x08
FAILURES = (BaseBumbleError, TimeoutError, asyncio.CancelledError)


def text(address: int) -> str:
    return ":".join(f"{byte:02X}" for byte in address.to_bytes(6, "big"))


def number(address: Address) -> int:
    return int.from_bytes(bytes(address)[::-1], "big")


def code(error: BaseException) -> int:
    """The error of GATT as Bluedroid numbers it."""
    return error.error_code if isinstance(error, ProtocolError) and error.error_namespace == "att" else GATT_ERROR


class Central:
    """Finds devices, connects them one after the other, and remembers bonds."""

    def __init__(self, air: Air, mac: str, found: Callable[[int, int, bytes], None]) -> None:
        controller = KernelController("proxy", link=air, public_address=Address(mac, Address.PUBLIC_DEVICE_ADDRESS))
        host = Host()
        host.controller = controller
        self.found = found
        self.connecting = asyncio.Lock()
        self.awaited: dict[int, asyncio.Future] = {}
        self.device = Device(name="proxy", address=Address(mac, Address.PUBLIC_DEVICE_ADDRESS), host=host)
        # A proxy has neither keys nor a display.
        self.device.pairing_config_factory = lambda connection: PairingConfig(
            sc=True, mitm=False, bonding=True, delegate=PairingDelegate(PairingDelegate.NO_OUTPUT_NO_INPUT))
        self.device.on("advertisement", self.advertised)

    async def start(self) -> None:
        await self.device.power_on()
        self.device.keystore = MemoryKeyStore()
        await self.device.start_scanning(filter_duplicates=False, active=False)

    def advertised(self, advertisement: Any) -> None:
        address = number(advertisement.address)
        self.found(address, advertisement.address.address_type, advertisement.data_bytes)
        if (heard := self.awaited.pop(address, None)) is not None and not heard.done():
            heard.set_result(None)

    async def connect(self, address: int, kind: int) -> Connection:
        """Connects a device that it has heard: Bumble's peripherals are not ready before. It must not be cancelled, which Bumble cannot do."""
        peer = Address(text(address), kind)
        async with self.connecting:
            self.awaited[address] = asyncio.get_running_loop().create_future()
            await asyncio.wait_for(self.awaited[address], CONNECTING)
            return await self.device.connect(peer, own_address_type=OwnAddressType.PUBLIC, timeout=CONNECTING)

    async def pair(self, connection: Connection) -> int:
        """Encrypts the link, with a new bond if there is none. Returns 0 or Bluedroid's error."""
        try:
            if await self.device.keystore.get(str(connection.peer_address)) is not None:
                await connection.encrypt()
            else:
                await connection.pair()
        except ProtocolError as error:
            return PAIRING + error.error_code
        except FAILURES:
            return PAIRING + 8
        return 0

    async def unpair(self, address: int, kind: int) -> None:
        await self.device.keystore.delete(str(Address(text(address), kind)))


def hear(connection: Connection, heard: Callable[[int, bytes], None]) -> None:
    """Has all values that the device sends, and confirms indications as Bluedroid does."""
    client = connection.gatt_client

    def notified(value: Any) -> None:
        heard(value.attribute_handle, bytes(value.attribute_value))

    def indicated(value: Any) -> None:
        notified(value)
        client.send_confirmation(ATT_Handle_Value_Confirmation())

    client.on_att_handle_value_notification = notified
    client.on_att_handle_value_indication = indicated


async def services(connection: Connection) -> list[Any]:
    """Services with their characteristics and descriptors."""
    client = connection.gatt_client
    for service in await client.discover_services():
        for characteristic in await client.discover_characteristics([], service):
            await client.discover_descriptors(characteristic)
    return client.services
