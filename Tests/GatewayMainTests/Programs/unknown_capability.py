"""Names an ability that Vitals Link does not have."""

from device import METRIC, Device


class Faulty(Device):
    def initialize(self, params):
        answer = super().initialize(params)
        answer["capabilities"][METRIC]["live"] = True
        return answer


Faulty().serve()
