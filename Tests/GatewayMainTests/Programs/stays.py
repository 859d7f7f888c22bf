"""Does not end when its standard input ends."""

import threading

from device import Device

Device.serve.__globals__["os"] = type("os", (), {"_exit": staticmethod(lambda status: threading.Event().wait())})
Device().serve()
