"""Answers with JavaScript instead of JSON."""

from device import Device


class Faulty(Device):
    def answer(self, call):
        text = super().answer(call)
        return text.replace('"', "'") if call["method"] == "monitor/read" else text


Faulty().serve()
