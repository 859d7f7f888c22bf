"""Leaves the reading of its monitoring without an answer."""

from device import Device


class Faulty(Device):
    def answer(self, call):
        return None if call["method"] == "monitor/read" else super().answer(call)


Faulty().serve()
