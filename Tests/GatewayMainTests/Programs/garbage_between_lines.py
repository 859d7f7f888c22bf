"""Prints what it does to standard output."""

from device import Device, write


class Faulty(Device):
    def answer(self, call):
        write("DEBUG " + call["method"])
        return super().answer(call)


Faulty().serve()
