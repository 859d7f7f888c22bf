"""Writes times as texts without a zone."""

import time

from device import Device


class Faulty(Device):
    def history_read(self, params):
        page = super().history_read(params)
        for sample in page["samples"]:
            sample["start"] = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(sample["start"] / 1000))
        return page


Faulty().serve()
