"""Calls its metric by another name in its records."""

from device import Device


class Faulty(Device):
    def history_read(self, params):
        page = super().history_read(params)
        for sample in page["samples"]:
            sample["metric"] = "heartrate"
        return page


Faulty().serve()
