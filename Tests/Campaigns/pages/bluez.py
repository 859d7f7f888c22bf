#!/usr/bin/env python3
"""As much of BlueZ as the gateway asks of it, on a bus of its own, with one strap that shows a passkey: bluez.py BUS PASSKEY

It prints each call, and ends with its standard input.
"""

import sys

import dbus
import dbus.bus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

OBJECTS, PROPERTIES = "org.freedesktop.DBus.ObjectManager", "org.freedesktop.DBus.Properties"
ADAPTER, DEVICE, BATTERY = "org.bluez.Adapter1", "org.bluez.Device1", "org.bluez.Battery1"
AGENTS, AGENT, SERVERS = "org.bluez.AgentManager1", "org.bluez.Agent1", "org.bluez.GattManager1"
SERVICE, CHARACTERISTIC = "org.bluez.GattService1", "org.bluez.GattCharacteristic1"
ADDRESS, NAME = "A4:C1:38:00:11:22", "Strap"
ADAPTER_PATH = "/org/bluez/hci0"
DEVICE_PATH = f"{ADAPTER_PATH}/dev_{ADDRESS.replace(':', '_')}"
SHORT = "0000%04x-0000-1000-8000-00805f9b34fb"
HEART_RATE, INFORMATION = SHORT % 0x180D, SHORT % 0x180A
RATES = (64, 66, 69, 67, 65)  # bpm
PATIENCE = 60  # seconds of a person who has to type the passkey


class Refused(dbus.DBusException):
    _dbus_error_name = "org.bluez.Error.AuthenticationFailed"


class Thing(dbus.service.Object):
    """An object with properties."""

    def __init__(self, home: "Home", path: str, **interfaces: dict) -> None:
        super().__init__(home.bus, path)
        self.home, self.path = home, path
        self.interfaces = {name.replace("_", "."): values for name, values in interfaces.items()}

    def change(self, interface: str, **values) -> None:
        self.interfaces[interface].update(values)
        self.PropertiesChanged(interface, dbus.Dictionary(values, signature="sv"), dbus.Array([], signature="s"))

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    @dbus.service.method(PROPERTIES, in_signature="ssv")
    def Set(self, interface, name, value):
        self.change(interface, **{name: value})

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.interfaces[interface][name]

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return dbus.Dictionary(self.interfaces[interface], signature="sv")


class Adapter(Thing):
    def __init__(self, home: "Home") -> None:
        super().__init__(home, ADAPTER_PATH, org_bluez_Adapter1={
            "Address": "00:00:00:00:00:01", "Powered": True, "Discovering": False}, org_bluez_GattManager1={})

    @dbus.service.method(ADAPTER, in_signature="a{sv}")
    def SetDiscoveryFilter(self, _wanted):
        pass

    @dbus.service.method(ADAPTER)
    def StartDiscovery(self):
        self.change(ADAPTER, Discovering=True)
        self.home.advertise()

    @dbus.service.method(ADAPTER)
    def StopDiscovery(self):
        self.change(ADAPTER, Discovering=False)

    @dbus.service.method(ADAPTER, in_signature="o")
    def RemoveDevice(self, _path):
        pass

    @dbus.service.method(SERVERS, in_signature="oa{sv}")
    def RegisterApplication(self, _path, _options):
        pass

    @dbus.service.method(SERVERS, in_signature="o")
    def UnregisterApplication(self, _path):
        pass


class Strap(Thing):
    def __init__(self, home: "Home") -> None:
        super().__init__(home, DEVICE_PATH, org_bluez_Device1={
            "Address": ADDRESS, "AddressType": "public", "Name": NAME, "Alias": NAME, "Adapter": dbus.ObjectPath(ADAPTER_PATH),
            "Connected": False, "ServicesResolved": False, "Paired": False, "Bonded": False, "Trusted": False, "RSSI": dbus.Int16(-58),
            "UUIDs": dbus.Array([HEART_RATE, INFORMATION], signature="s")})

    @dbus.service.method(DEVICE)
    def Connect(self):
        print("Connect", flush=True)
        self.change(DEVICE, Connected=True)
        self.home.resolve()
        self.change(DEVICE, ServicesResolved=True)

    @dbus.service.method(DEVICE)
    def Disconnect(self):
        print("Disconnect", flush=True)
        self.change(DEVICE, Connected=False, ServicesResolved=False)

    @dbus.service.method(DEVICE)
    def CancelPairing(self):
        pass

    @dbus.service.method(DEVICE, async_callbacks=("done", "failed"))
    def Pair(self, done, failed):
        """Asks the gateway's agent, as BlueZ does, and wants what the strap shows."""
        print("Pair", flush=True)

        def answered(passkey: int) -> None:
            print(f"The passkey is {'right' if passkey == self.home.passkey else 'wrong'}", flush=True)
            if passkey != self.home.passkey:
                return failed(Refused("Authentication Failed"))
            self.change(DEVICE, Paired=True, Bonded=True)
            if not self.interfaces[DEVICE]["Connected"]:
                self.Connect()
            done()

        sender, path = self.home.agent
        agent = dbus.Interface(self.home.bus.get_object(sender, path, introspect=False), AGENT)
        agent.RequestPasskey(
            dbus.ObjectPath(DEVICE_PATH), reply_handler=answered, timeout=PATIENCE,
            error_handler=lambda error: failed(Refused(str(error))))


class Characteristic(Thing):
    def __init__(self, home: "Home", path: str, service: str, uuid: str, flag: str, value: bytes) -> None:
        self.value = value
        super().__init__(home, path, org_bluez_GattCharacteristic1={
            "UUID": uuid, "Service": dbus.ObjectPath(service), "Notifying": False, "MTU": dbus.UInt16(103),
            "Flags": dbus.Array([flag], signature="s")})

    def send(self) -> bool:
        """Notifies, while somebody listens."""
        self.value = bytes([0, RATES[(RATES.index(self.value[1]) + 1) % len(RATES)]])
        self.change(CHARACTERISTIC, Value=dbus.ByteArray(self.value))
        return bool(self.interfaces[CHARACTERISTIC]["Notifying"])

    @dbus.service.method(CHARACTERISTIC, in_signature="a{sv}", out_signature="ay")
    def ReadValue(self, _options):
        return dbus.ByteArray(self.value)

    @dbus.service.method(CHARACTERISTIC)
    def StartNotify(self):
        self.change(CHARACTERISTIC, Notifying=True)
        GLib.timeout_add(1000, self.send)

    @dbus.service.method(CHARACTERISTIC)
    def StopNotify(self):
        self.change(CHARACTERISTIC, Notifying=False)


class Agents(Thing):
    def __init__(self, home: "Home") -> None:
        super().__init__(home, "/org/bluez", org_bluez_AgentManager1={})

    @dbus.service.method(AGENTS, in_signature="os", sender_keyword="sender")
    def RegisterAgent(self, path, ability, sender):
        print(f"An agent with {ability}", flush=True)
        self.home.agent = (sender, path)

    @dbus.service.method(AGENTS, in_signature="o")
    def UnregisterAgent(self, _path):
        self.home.agent = None

    @dbus.service.method(AGENTS, in_signature="o")
    def RequestDefaultAgent(self, _path):
        pass


class Home(dbus.service.Object):
    """The object that manages all others."""

    def __init__(self, bus: dbus.bus.BusConnection, passkey: int) -> None:
        super().__init__(bus, "/")
        self.bus, self.passkey = bus, passkey
        self.agent = None
        self.things = [Agents(self), Adapter(self)]
        self.strap = None

    def add(self, thing: Thing) -> None:
        self.things.append(thing)
        self.InterfacesAdded(thing.path, self.described(thing))

    @staticmethod
    def described(thing: Thing) -> dbus.Dictionary:
        return dbus.Dictionary(
            {name: dbus.Dictionary(values, signature="sv") for name, values in thing.interfaces.items()}, signature="sa{sv}")

    def advertise(self) -> None:
        if self.strap is None:
            self.strap = Strap(self)
            self.add(self.strap)
        else:
            self.strap.change(DEVICE, RSSI=dbus.Int16(-59 if self.strap.interfaces[DEVICE]["RSSI"] == -58 else -58))

    def resolve(self) -> None:
        """Shows the services of the connected strap, which stay."""
        if any(thing.path.endswith("service0001") for thing in self.things):
            return
        for number, (uuid, characteristic, flag, value) in enumerate((
                (HEART_RATE, SHORT % 0x2A37, "notify", bytes([0, RATES[0]])), (INFORMATION, SHORT % 0x2A24, "read", b"Strap 1")), 1):
            place = f"{DEVICE_PATH}/service000{number}"
            self.add(Thing(self, place, org_bluez_GattService1={"UUID": uuid, "Primary": True}))
            self.add(Characteristic(self, f"{place}/char000{number}", place, characteristic, flag, value))

    @dbus.service.method(OBJECTS, out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        return dbus.Dictionary(
            {dbus.ObjectPath(thing.path): self.described(thing) for thing in self.things}, signature="oa{sa{sv}}")

    @dbus.service.signal(OBJECTS, signature="oa{sa{sv}}")
    def InterfacesAdded(self, path, interfaces):
        pass


def main() -> None:
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.bus.BusConnection(sys.argv[1])
    home = Home(bus, int(sys.argv[2]))
    bus.request_name("org.bluez")
    print("ready", flush=True)
    loop = GLib.MainLoop()
    GLib.io_add_watch(sys.stdin, GLib.IO_HUP, lambda *_: loop.quit())
    # It hears its strap as long as it scans.
    GLib.timeout_add(2000, lambda: home.things[1].interfaces[ADAPTER]["Discovering"] and home.advertise() or True)
    loop.run()


if __name__ == "__main__":
    main()
