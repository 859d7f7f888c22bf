"""Answers the newest record first."""

from device import Device


class Faulty(Device):
    def history_read(self, params):
        page = super().history_read(params)
        page["samples"].reverse()
        return page


Faulty().serve()
