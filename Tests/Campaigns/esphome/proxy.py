"""A Bluetooth proxy of ESPHome on loopback.

What it does follows ESPHome's components `bluetooth_proxy` and `api`: 2022.11 (each subscriber gets all), 2025.11 (a second subscriber is
ignored) and 2026.7 (the newest subscriber takes the place, and the one before is not told, esphome/esphome#17423). The oldest one connects
nothing: no client here asks for the connections that it had.
"""

import asyncio
import contextlib
import struct
from typing import Any, NamedTuple

import central
from aioesphomeapi import api_pb2 as api
from aioesphomeapi.model import BluetoothProxyFeature as Feature
from bumble.core import UUID, AdvertisingData
from central import FAILURES, LOCAL_HOST, LOST, MTU, NOT_CONNECTED, USUAL_MTU, Air, Central, code, hear
from framing import Peer, Refused

FLUSH = 0.1  # seconds between batches of advertisements
BATCH = 16  # advertisements
SERVICES = 1360  # bytes of services in one message
RSSI = -60


class Generation(NamedTuple):
    minor: int  # of the API's version 1
    legacy: int  # legacy_bluetooth_proxy_version
    features: Feature
    subscribers: str  # who gets what the radio says: all of them, the first, or the newest

    @property
    def has_cache(self) -> bool:
        return bool(self.features & Feature.REMOTE_CACHING)


LATER = Feature(0x7F)  # all but connection parameters
GENERATIONS = {
    "2022.11": Generation(7, 2, Feature(0), "all"),
    "2025.11": Generation(13, 5, LATER, "first"),
    "2026.7": Generation(14, 5, LATER | Feature.CONNECTION_PARAMS_SETTING, "newest"),
}


class Link:
    """A slot that is taken."""

    def __init__(self, address: int, kind: int, has_cache: bool) -> None:
        self.address, self.kind, self.has_cache = address, kind, has_cache
        self.connection: Any = None
        self.services: list[Any] | None = []  # None: they were sent, and the proxy has freed them
        self.notified: set[int] = set()
        self.turn = asyncio.Lock()  # one operation after the other


class Client:
    """A connected client of the API."""

    def __init__(self, proxy: "Proxy", peer: Peer) -> None:
        self.proxy, self.peer = proxy, peer
        self.name, self.minor = "", 0
        self.outgoing: asyncio.Queue = asyncio.Queue()

    def send(self, message: Any) -> None:
        self.outgoing.put_nowait(message)

    async def write(self) -> None:
        """Sends one message after the other, as the Wi-Fi and a fault let it."""
        proxy = self.proxy
        while True:
            message = await self.outgoing.get()
            await proxy.air_is_clear.wait()
            if proxy.slow:
                await asyncio.sleep(proxy.slow)
            frame = self.peer.frame(message)
            if isinstance(message, api.BluetoothGATTNotifyDataResponse) and proxy.cut_after is not None:
                proxy.cut_after -= 1
                if proxy.cut_after < 0:
                    proxy.cut_after = None
                    self.peer.writer.write(frame[:len(frame) // 2])
                    await self.peer.writer.drain()
                    proxy.cuts += 1
                    self.peer.writer.transport.abort()
                    return
            self.peer.writer.write(frame)
            if isinstance(message, api.BluetoothGATTNotifyDataResponse):
                proxy.delivered.append(f"{central.text(message.address)} {message.data.hex()}")


class Proxy:
    def __init__(self, air: Air, index: int, port: int, generation: str, slots: int, key: str | None) -> None:
        self.port, self.version, self.slots, self.key = port, generation, slots, key
        self.generation = GENERATIONS[generation]
        self.name, self.mac = f"proxy-{index}", f"A0:B1:C2:D3:E4:{index:02X}"
        self.central = Central(air, self.mac, self.found)
        self.clients: list[Client] = []
        self.subscribers: list[Client] = []  # the newest last
        self.links: dict[int, Link] = {}
        self.batch: list[tuple[int, int, bytes]] = []
        self.transcript: list[str] = []
        self.tasks: set[asyncio.Task] = set()
        self.server: Any = None
        self.air_is_clear = asyncio.Event()
        self.air_is_clear.set()
        self.slow, self.cut_after, self.cuts = 0.0, None, 0
        self.stale = 0.0  # seconds for which the next client whose connection ends keeps its place
        self.subscriptions = self.refused = self.fullest = 0
        self.delivered: list[str] = []  # address and value of what was handed to a client whole

    # Life

    async def start(self) -> None:
        await self.central.start()
        await self.listen()
        self.background(self.tick())

    async def listen(self) -> None:
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)

    def background(self, work: Any) -> asyncio.Task:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Client(self, Peer(reader, writer, self.transcript.append))
        writing = None
        try:
            await self.air_is_clear.wait()
            await client.peer.begin(self.key, self.name, self.mac)
            writing = self.background(client.write())
            self.clients.append(client)
            while True:
                message = await client.peer.receive()
                await self.air_is_clear.wait()
                if isinstance(message, api.DisconnectRequest):
                    writer.write(client.peer.frame(api.DisconnectResponse()))
                    break
                self.handle(client, message)
        except Refused as refused:
            self.refused += 1
            print(self.name, "refuses a client:", refused, flush=True)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            if writing is not None:
                writing.cancel()
            stale, self.stale = self.stale, 0.0
            await asyncio.sleep(stale)
            if client in self.clients:
                self.clients.remove(client)
            self.unsubscribe(client)
            writer.close()

    async def tick(self) -> None:
        while True:
            await asyncio.sleep(FLUSH)
            self.flush()

    def unsubscribe(self, client: Client) -> None:
        if client in self.subscribers:
            self.subscribers.remove(client)
            if not self.subscribers:
                for link in list(self.links.values()):
                    self.background(self.close(link))

    async def reboot(self, seconds: float) -> None:
        """Bonds are in the flash, all else is lost."""
        self.server.close()
        for client in list(self.clients):
            client.peer.writer.transport.abort()
        self.clients, self.subscribers = [], []
        for link in list(self.links.values()):
            await self.close(link, LOST)
        await asyncio.sleep(seconds)
        await self.listen()

    # The radio

    def found(self, address: int, kind: int, data: bytes) -> None:
        if self.subscribers:
            self.batch.append((address, kind, data))
            if len(self.batch) >= BATCH:
                self.flush()

    def flush(self) -> None:
        batch, self.batch = self.batch, []
        if not batch:
            return
        if self.generation.features & Feature.RAW_ADVERTISEMENTS:
            self.tell(api.BluetoothLERawAdvertisementsResponse(advertisements=[
                api.BluetoothLERawAdvertisement(address=address, rssi=RSSI, address_type=kind, data=data)
                for address, kind, data in batch]))
            return
        for address, kind, data in batch:
            fields = AdvertisingData.from_bytes(data)
            uuids = [uuid for kind_of_list in (3, 7) for uuid in fields.get(kind_of_list) or []]
            names = [f"0x{uuid.to_hex_str()[:4].upper()}" if len(bytes(uuid)) == 2 else uuid.to_hex_str("-").upper() for uuid in uuids]
            name = fields.get(AdvertisingData.COMPLETE_LOCAL_NAME) or ""
            self.tell(api.BluetoothLEAdvertisementResponse(
                address=address, name=name.encode(), rssi=RSSI, service_uuids=names, address_type=kind))

    def tell(self, message: Any) -> None:
        """Whatever the radio says goes to the subscriber, whoever asked for it."""
        for client in self.subscribers:
            client.send(message)

    def tell_slots(self, client: Client | None = None) -> None:
        message = api.BluetoothConnectionsFreeResponse(free=self.slots - len(self.links), limit=self.slots)
        if self.generation.has_cache:
            message.allocated.extend(self.links)
        if client is not None:
            client.send(message)
        else:
            self.tell(message)

    def tell_link(self, address: int, connected: bool, mtu: int = 0, error: int = 0) -> None:
        self.tell(api.BluetoothDeviceConnectionResponse(address=address, connected=connected, mtu=mtu, error=error))

    async def open(self, link: Link) -> None:
        try:
            connection = await self.central.connect(link.address, link.kind)
            if self.links.get(link.address) is not link:
                return await connection.disconnect()  # the client has left meanwhile
            link.connection = connection
            connection.on("disconnection", lambda reason: self.lost(link, reason))
            hear(connection, lambda handle, value: self.heard(link, handle, value))
            if link.has_cache:
                self.tell_link(link.address, True, USUAL_MTU)
            mtu = await connection.gatt_client.request_mtu(MTU)
            if not link.has_cache:
                link.services = await central.services(connection)
                self.tell_link(link.address, True, mtu)
            self.tell_slots()
        except FAILURES as error:
            self.lost(link, code(error))

    async def close(self, link: Link, reason: int = LOCAL_HOST) -> None:
        if link.connection is not None:
            with contextlib.suppress(*FAILURES):
                await link.connection.disconnect(reason)
        self.lost(link, reason)

    def lost(self, link: Link, reason: int) -> None:
        if self.links.get(link.address) is link:
            del self.links[link.address]
            self.tell_link(link.address, False, error=reason)
            self.tell_slots()

    def heard(self, link: Link, handle: int, value: bytes) -> None:
        if handle in link.notified:
            self.tell(api.BluetoothGATTNotifyDataResponse(address=link.address, handle=handle, data=value))

    # Requests

    def handle(self, client: Client, message: Any) -> None:
        name = type(message).__name__
        if name.startswith("BluetoothGATT"):
            self.gatt(message)
        elif (handler := getattr(self, name, None)) is not None:
            handler(client, message)

    def HelloRequest(self, client: Client, message: Any) -> None:
        client.name, client.minor = message.client_info, message.api_version_minor
        client.send(api.HelloResponse(
            api_version_major=1, api_version_minor=self.generation.minor, server_info=f"{self.name} (esphome v{self.version}.0)",
            name=self.name))

    def AuthenticationRequest(self, client: Client, message: Any) -> None:
        client.send(api.AuthenticationResponse())

    def PingRequest(self, client: Client, message: Any) -> None:
        client.send(api.PingResponse())

    def DeviceInfoRequest(self, client: Client, message: Any) -> None:
        information = api.DeviceInfoResponse(
            name=self.name, mac_address=self.mac, esphome_version=f"{self.version}.0", model="esp32dev", manufacturer="Espressif",
            friendly_name=f"Proxy of {self.version}", legacy_bluetooth_proxy_version=self.generation.legacy,
            bluetooth_proxy_feature_flags=self.generation.features)
        if self.generation.has_cache:
            information.bluetooth_mac_address = self.mac
            information.api_encryption_supported = self.key is not None
        client.send(information)

    def SubscribeBluetoothConnectionsFreeRequest(self, client: Client, message: Any) -> None:
        self.tell_slots(client)

    def SubscribeBluetoothLEAdvertisementsRequest(self, client: Client, message: Any) -> None:
        who = self.generation.subscribers
        if who == "first" and self.subscribers and client not in self.subscribers:
            return
        if who == "newest":
            self.subscribers.clear()
        if client not in self.subscribers:
            self.subscribers.append(client)
        self.subscriptions += 1
        if self.generation.features & Feature.FEATURE_STATE_AND_MODE:
            self.tell(api.BluetoothScannerStateResponse(state=api.BLUETOOTH_SCANNER_STATE_RUNNING))

    def UnsubscribeBluetoothLEAdvertisementsRequest(self, client: Client, message: Any) -> None:
        self.unsubscribe(client)

    def BluetoothDeviceRequest(self, client: Client, message: Any) -> None:
        kind = api.BluetoothDeviceRequestType.Name(message.request_type).removeprefix("BLUETOOTH_DEVICE_REQUEST_TYPE_")
        link = self.links.get(message.address)
        if kind.startswith("CONNECT"):
            self.connect(message, kind, link)
        elif kind == "DISCONNECT" and link is not None:
            self.background(self.close(link))
        elif kind == "DISCONNECT":
            self.tell_link(message.address, False)
            self.tell_slots()
        elif kind == "PAIR" and self.generation.features & Feature.PAIRING:
            self.background(self.pair(message.address, link))
        elif kind == "UNPAIR" and self.generation.features & Feature.PAIRING:
            self.background(self.central.unpair(message.address, link.kind if link else 1))
            self.tell(api.BluetoothDeviceUnpairingResponse(address=message.address, success=True))
        elif kind == "CLEAR_CACHE" and self.generation.features & Feature.CACHE_CLEARING:
            self.tell(api.BluetoothDeviceClearCacheResponse(address=message.address, success=True))

    def connect(self, message: Any, kind: str, link: Link | None) -> None:
        if link is not None:
            if link.connection is not None:
                self.tell_link(message.address, True, link.connection.att_mtu)
                self.tell_slots()
            return  # one that is being opened is not opened again
        if len(self.links) >= self.slots or kind == "CONNECT" or not message.has_address_type:
            self.refused += 1
            self.tell_link(message.address, False)
            return
        link = self.links[message.address] = Link(message.address, message.address_type, kind == "CONNECT_V3_WITH_CACHE")
        self.fullest = max(self.fullest, len(self.links))
        self.background(self.open(link))
        self.tell_slots()

    async def pair(self, address: int, link: Link | None) -> None:
        connected = link is not None and link.connection is not None
        error = await self.central.pair(link.connection) if connected else NOT_CONNECTED
        self.tell(api.BluetoothDevicePairingResponse(address=address, paired=error == 0, error=error))

    # GATT

    def gatt(self, message: Any) -> None:
        link = self.links.get(message.address)
        if link is None or link.connection is None:
            handle = getattr(message, "handle", 0)
            self.tell(api.BluetoothGATTErrorResponse(address=message.address, handle=handle, error=NOT_CONNECTED))
            return
        self.background(self.operate(link, message))

    async def operate(self, link: Link, message: Any) -> None:
        what = type(message).__name__.removeprefix("BluetoothGATT").removesuffix("Request")
        async with link.turn:
            try:
                await getattr(self, what)(link, message, link.connection.gatt_client)
            except FAILURES as error:
                if link.address in self.links:
                    self.tell(api.BluetoothGATTErrorResponse(address=link.address, handle=message.handle, error=code(error)))

    async def Read(self, link: Link, message: Any, client: Any) -> None:
        value = await client.read_value(message.handle)
        self.tell(api.BluetoothGATTReadResponse(address=link.address, handle=message.handle, data=value))

    ReadDescriptor = Read

    async def Write(self, link: Link, message: Any, client: Any) -> None:
        """Bluedroid reports the end of a write without a response, too."""
        await client.write_value(message.handle, message.data, getattr(message, "response", True))
        self.tell(api.BluetoothGATTWriteResponse(address=link.address, handle=message.handle))

    WriteDescriptor = Write

    async def Notify(self, link: Link, message: Any, client: Any) -> None:
        """The client itself writes the descriptor."""
        (link.notified.add if message.enable else link.notified.discard)(message.handle)
        self.tell(api.BluetoothGATTNotifyResponse(address=link.address, handle=message.handle))

    async def GetServices(self, link: Link, message: Any, client: Any) -> None:
        if link.services is None:
            return  # they are gone: a real proxy is silent, too
        is_short = min([self.generation.minor, *(subscriber.minor for subscriber in self.subscribers)]) >= 12
        response = api.BluetoothGATTGetServicesResponse(address=link.address)
        for service in link.services:
            described = self.described(service, is_short)
            if response.services and response.ByteSize() + described.ByteSize() > SERVICES:
                self.tell(response)
                response = api.BluetoothGATTGetServicesResponse(address=link.address)
            response.services.append(described)
        if response.services:
            self.tell(response)
        self.tell(api.BluetoothGATTGetServicesDoneResponse(address=link.address))
        link.services = None

    def described(self, service: Any, is_short: bool) -> Any:
        def identity(uuid: UUID) -> dict:
            if is_short and len(bytes(uuid)) < 16:
                return {"short_uuid": int.from_bytes(bytes(uuid), "little")}
            return {"uuid": struct.unpack(">QQ", uuid.to_bytes(force_128=True)[::-1])}
        return api.BluetoothGATTService(handle=service.handle, **identity(service.uuid), characteristics=[
            api.BluetoothGATTCharacteristic(
                handle=each.handle, properties=int(each.properties), **identity(each.uuid), descriptors=[
                    api.BluetoothGATTDescriptor(handle=descriptor.handle, **identity(descriptor.type)) for descriptor in each.descriptors])
            for each in service.characteristics])
