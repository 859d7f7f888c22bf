"""Names a following page for ever."""

from device import Device


class Faulty(Device):
    def history_read(self, params):
        return {**super().history_read({**params, "page": None}), "next": 1}


Faulty().serve()
