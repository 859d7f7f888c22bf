"""Answers the graceful disconnect, and keeps the link open until its standard input ends."""

from device import Device


class Faulty(Device):
    def shutdown(self, params):
        return {}


Faulty().serve()
