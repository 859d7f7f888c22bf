"""Names a next page after every page."""

from device import Device


class Faulty(Device):
    def history_read(self, params):
        return {**super().history_read({**params, "page": None}), "next": 1}


Faulty().serve()
