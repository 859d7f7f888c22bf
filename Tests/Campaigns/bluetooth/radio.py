"""A radio without hardware: the kernel gets a virtual Bluetooth controller through /dev/vhci, and each peripheral has one of its own.

All are on one link of Bumble's, so whatever a peripheral sends goes through the real kernel and the real bluetoothd. Bumble 0.0.236
needs four workarounds, each explained where it is.
"""

import asyncio
import struct
from typing import Any

from bumble.controller import Controller
from bumble.core import UUID, AdvertisingData, PhysicalTransport
from bumble.device import Device
from bumble.hci import (
    Address, HCI_ErrorCode, HCI_LE_Connection_Complete_Event, HCI_StatusReturnParameters, LeFeatureMask, Role)
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport import open_transport

ADAPTER = "00:AA:01:00:00:01"
LOST = 0x08  # the reason "connection timeout" of a link that is out of reach
ADVERTISEMENT = 31  # bytes that an advertisement has at most


class Air(LocalLink):
    """Names a packet's sender by the connection's own address. Bumble takes the sender's random address, which is wrong for the
    kernel's controller: that one connects from its public address."""

    def send_acl_data(self, sender: Any, destination: Any, transport: Any, data: bytes) -> None:
        if transport != PhysicalTransport.LE:
            super().send_acl_data(sender, destination, transport, data)
            return
        connection = sender.le_connections.get(destination)
        source = connection.self_address if connection is not None else sender.random_address
        receiver = self.find_le_controller(destination)
        if receiver is not None:
            asyncio.get_running_loop().call_soon(lambda: receiver.on_link_acl_data(source, transport, data))


class KernelController(Controller):
    """Gives a connection up when the kernel does. Bumble keeps it waiting, and makes it later behind the kernel's back: the wearable
    is connected to nobody then, and advertises no more."""

    def on_hci_le_create_connection_cancel_command(self, command: Any) -> HCI_StatusReturnParameters:
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending is None:
            return HCI_StatusReturnParameters(HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        asyncio.get_running_loop().call_soon(self.send_hci_packet, HCI_LE_Connection_Complete_Event(
            status=HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=Role.CENTRAL,
            peer_address_type=pending.peer_address.address_type, peer_address=pending.peer_address, connection_interval=0,
            peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0))
        return HCI_StatusReturnParameters(HCI_ErrorCode.SUCCESS)


class Adapter:
    """What the kernel sees as hci0. It can be unplugged and plugged in again."""

    def __init__(self, air: Air) -> None:
        self.air = air
        self.transport: Any = None
        self.controller: Any = None

    async def plug_in(self) -> None:
        self.transport = await open_transport("vhci")
        self.controller = KernelController(
            "kernel", host_source=self.transport.source, host_sink=self.transport.sink, link=self.air,
            public_address=Address(ADAPTER, Address.PUBLIC_DEVICE_ADDRESS))
        # With these features Linux waits for an event that Bumble does not send, and gives each connection up after four seconds.
        self.controller.le_features &= ~(LeFeatureMask.LL_PRIVACY | LeFeatureMask.LE_EXTENDED_ADVERTISING)

    async def unplug(self) -> None:
        await self.transport.close()
        self.air.remove_controller(self.controller)
        self.controller = None


class Peripheral:
    """A wearable that advertises while it is not connected."""

    def __init__(self, air: Air, name: str, address: str, service: str) -> None:
        controller = Controller(name, link=air, public_address=Address(address, Address.PUBLIC_DEVICE_ADDRESS))
        host = Host()
        host.controller = controller
        self.controller = controller
        self.name = name
        self.is_near = True
        self.device = Device(name=name, address=Address(address, Address.RANDOM_DEVICE_ADDRESS), host=host)
        uuid = bytes(UUID(service))
        kind = AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS
        if len(uuid) == 16:
            kind = AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS
        # All is in the advertisement itself: Bumble's controller never delivers the answer to a scan.
        fields = [(AdvertisingData.FLAGS, b"\x06"), (kind, uuid), (AdvertisingData.COMPLETE_LOCAL_NAME, name.encode())]
        self.device.advertising_data = bytes(AdvertisingData(fields))
        assert len(self.device.advertising_data) <= ADVERTISEMENT, name
        self.device.on("connection", self.connected)

    def connected(self, connection: Any) -> None:
        print(self.name, "connected", flush=True)
        connection.on("disconnection", self.disconnected)

    def disconnected(self, reason: int) -> None:
        print(self.name, "disconnected", reason, flush=True)
        asyncio.ensure_future(self.advertise())

    async def start(self) -> None:
        await self.device.power_on()
        await self.advertise()

    async def advertise(self) -> None:
        if self.is_near and not self.device.is_advertising and not self.device.connections:
            await self.device.start_advertising(
                auto_restart=False, advertising_interval_min=100, advertising_interval_max=100)

    async def leave(self) -> None:
        """Out of reach: the link is lost and nothing is advertised."""
        self.is_near = False
        if self.device.is_advertising:
            await self.device.stop_advertising()
        for connection in list(self.device.connections.values()):
            await connection.disconnect(LOST)

    def lose_link(self) -> None:
        """The other end is gone: Bumble does not inform a peripheral that the kernel's controller was removed."""
        for connection in list(self.controller.le_connections.values()):
            self.controller.on_le_disconnected(connection, LOST)

    async def come(self) -> None:
        self.is_near = True
        await self.advertise()


def number(mantissa: int, exponent: int = 0) -> bytes:
    """A SFLOAT of the Bluetooth SIG: four bits of exponent, twelve of mantissa, both in two's complement."""
    return struct.pack("<H", (exponent & 0xF) << 12 | mantissa & 0xFFF)


def date_time(year: int, month: int, day: int, hour: int, minute: int, second: int) -> bytes:
    return struct.pack("<HBBBBB", year, month, day, hour, minute, second)
