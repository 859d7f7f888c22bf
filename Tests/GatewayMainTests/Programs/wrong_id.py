"""Numbers its answers by itself."""

from device import Device


class Faulty(Device):
    def answer(self, call):
        return super().answer({**call, "id": call["id"] + 1000} if call["method"] == "history/read" else call)


Faulty().serve()
