"""Answers the stop of a measurement, and goes on measuring."""

from device import Device


class Faulty(Device):
    def measurement_stop(self, params):
        return {}


Faulty().serve()
