"""A simulated band for the fake of the SDK: what it has recorded, how it is set, and what happens to it."""

import json
import time

from phone_models import (AutoMonitorConfigs, AutoMonitorHRConfigs, BOValueItem, BPValueItem, HRValueItem, MonitorAlert,
                          MonitorBPAlert, MonitorSchedule, RESTING)

DAY = 86_400


def record(metric, start, number, manual=False):
    """A value of a metric, made of a number from 0 to 99, so that a restarted program makes the same one."""
    if metric == "heart_rate":
        return HRValueItem(start, start, manual, hr_value=55 + number % 40)
    if metric == "resting_heart_rate":
        return HRValueItem(start, start, manual, RESTING, hr_value=52 + number % 8)
    if metric == "blood_pressure":
        return BPValueItem(start, start, manual, systolic=110 + number % 20, diastolic=70 + number % 12)
    return BOValueItem(start, start, manual, oxy_value=94 + number % 6)


class Band:
    """Its records are made for the last days up to the start; what is measured later is added."""

    INTERVALS = {"heart_rate": 600, "resting_heart_rate": DAY, "blood_pressure": 7_200, "blood_oxygen": 1_800}

    def __init__(self, days=3, state_file=None):
        self.state_file = state_file
        self.seen = None
        self.connected, self.worn, self.busy = True, True, False
        self.battery, self.charging = 80, False
        self.live = []  # values that the band has measured by itself and reports at once
        self.reading_errors = 0  # so many readings of the next measurement fail
        self.sync_errors = []  # metrics whose records cannot be read
        self.refuses_push = False
        self.last_moment = 0.0
        self.changes()  # the state at the start, of which nothing is reported
        self.seen = self.seen or ""
        now = time.time()
        self.items = {}
        for metric, interval in self.INTERVALS.items():
            first, last = int((now - days * DAY) / interval) + 1, int(now / interval)
            self.items[metric] = [
                record(metric, float(index * interval), index * 37 % 100, manual=metric != "resting_heart_rate" and index % 12 == 0)
                for index in range(first, last + 1)
            ]
        self.configs = {
            "heart_rate": AutoMonitorHRConfigs(
                MonitorSchedule(True, 480, 1440, 10), MonitorAlert(False, 40, 100), MonitorAlert(False, 60, 180), 190),
            "blood_pressure": AutoMonitorConfigs(MonitorSchedule(True, 360, 1320, 120), MonitorBPAlert(False, 90, 140, 60, 90)),
            "blood_oxygen": AutoMonitorConfigs(MonitorSchedule(True, 0, 1440, 30), MonitorAlert(False, 95, 100)),
            "stress": AutoMonitorConfigs(MonitorSchedule(False, 480, 1200, 20), MonitorAlert(False, 0, 70)),
            "temperature": AutoMonitorConfigs(MonitorSchedule(False, 0, 1440, 60), MonitorAlert(False, 35, 38)),
        }

    def range(self, metric, start, end):
        """The records that start within a range, ascending."""
        return sorted((item for item in self.items[metric] if start <= item.start_time <= end), key=lambda item: item.start_time)

    def moment(self):
        """Now, in whole milliseconds, and later than ever before: time and metric distinguish two records."""
        self.last_moment = max(round(time.time(), 3), round(self.last_moment + 0.001, 3))
        return self.last_moment

    def measure(self, metric, manual):
        """A value of now, which the band also records."""
        now = self.moment()
        item = record(metric, now, int(now) * 37 % 100, manual)
        self.items[metric].append(item)
        return item

    def changes(self):
        """Reads the state's file: `{"worn": false, "battery": 40, "live": [{"metric": …, "value": …}]}`. Returns what changed in it.

        A file that is being written is read again later.
        """
        try:
            text = self.state_file.read_text() if self.state_file else None
            if text is None or text == self.seen:
                return {}
            state = json.loads(text)
        except (OSError, ValueError):
            return {}
        self.seen = text
        changed = {}
        for name, value in state.items():
            if name == "live":
                changed["live"] = value[len(self.live):]
            elif getattr(self, name) != value:
                changed[name] = value
            setattr(self, name, value)
        return changed

    def live_item(self, measured):
        """The record of a value that the band measured by itself, `{"metric", "value"}`, of a pressure with `diastolic`."""
        metric = measured["metric"]
        item = record(metric, self.moment(), 0)
        if metric == "blood_pressure":
            item.systolic, item.diastolic = measured["value"], measured["diastolic"]
        elif metric == "blood_oxygen":
            item.oxy_value = measured["value"]
        else:
            item.hr_value = measured["value"]
        self.items[metric].append(item)
        return item
