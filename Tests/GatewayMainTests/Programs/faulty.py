"""A device that does one thing wrong: faulty.py NAME."""

import sys
import threading
import time

import device
from device import METRIC, Device


def in_pages(change):
    """Changes each page of the history."""
    def history_read(self, params):
        page = Device.history_read(self, params)
        change(page)
        return page
    return {"history_read": history_read}


def in_samples(change):
    return in_pages(lambda page: [change(sample) for sample in page["samples"]])


def in_answers(method, change):
    """Changes how one call is answered: the function gets the device and the call."""
    return {"answer": lambda self, call: change(self, call) if call["method"] == method else Device.answer(self, call)}


def in_initialize(change):
    return {"initialize": lambda self, params: change(Device.initialize(self, params))}


def prints(self, call):
    device.write("DEBUG " + call["method"])
    return Device.answer(self, call)


def takes(self, params):
    self.supported(params)
    self.configuration = {**self.configuration, **params["configuration"]}
    return {}


def names_live(answer):
    answer["capabilities"][METRIC]["live"] = True
    return answer


def does_not_end(self):
    device.os = type("os", (), {"_exit": staticmethod(lambda status: threading.Event().wait())})
    Device.serve(self)


def as_text(sample):
    sample["start"] = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(sample["start"] / 1000))


FAULTS = {
    "wrong_json": in_answers("monitor/read", lambda self, call: Device.answer(self, call).replace('"', "'")),
    "wrong_id": in_answers("history/read", lambda self, call: Device.answer(self, {**call, "id": call["id"] + 1000})),
    "never_answers": in_answers("monitor/read", lambda self, call: None),
    "invalid_metric": in_samples(lambda sample: sample.update(metric="heartrate")),
    "descending_history": in_pages(lambda page: page["samples"].reverse()),
    "endless_history": {"history_read": lambda self, params: {**Device.history_read(self, {**params, "page": None}), "next": 1}},
    "local_times": in_samples(as_text),
    "unknown_capability": in_initialize(names_live),
    "garbage_between_lines": {"answer": prints},
    "ignores_stop": {"measurement_stop": lambda self, params: {}},
    "takes_nonsense": {"monitor_write": takes},
    # Confirms that its clock was set, and leaves it wrong.
    "ignores_time": {
        "time_set": lambda self, params: {},
        **in_initialize(lambda answer: {**answer, "clock": {"now": int(time.time() * 1000) + 5_000_000, "utc_offset_min": 0}})},
    # Answers the graceful disconnect, and keeps the link open until its standard input ends.
    "lingers": {"shutdown": lambda self, params: {}},
    # Does not end when its standard input ends.
    "stays": {"serve": does_not_end},
}

type("Faulty", (Device,), FAULTS[sys.argv[1]])().serve()
