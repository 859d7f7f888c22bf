"""Accepts a lower limit above the upper one."""

from device import Device


class Faulty(Device):
    def monitor_write(self, params):
        self.supported(params)
        self.configuration = {**self.configuration, **params["configuration"]}
        return {}


Faulty().serve()
