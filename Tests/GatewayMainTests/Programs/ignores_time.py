"""Confirms that its clock was set, and leaves it wrong."""

import time

from device import Device


class Faulty(Device):
    def initialize(self, params):
        now = int(time.time() * 1000) + 5_000_000
        return {**super().initialize(params), "clock": {"now": now, "utc_offset_min": 0}}

    def time_set(self, params):
        return {}


Faulty().serve()
