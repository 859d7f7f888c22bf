"""Answers the stop of a measurement, and still measures."""

from device import Device


class Faulty(Device):
    def measurement_stop(self, params):
        return {}


Faulty().serve()
