"""A small fake of a wearable's SDK for phones: its calls and callbacks as its guides have them, and a simulated band behind them.

Every callback comes later and on the one main thread, as in the SDK. An app has the real SDK in the place of this file.
"""

import asyncio
import copy
import time

from phone_models import BODailyModel, BPDailyModel, HRDailyModel, SDKError

LOWEST_BATTERY = 10  # per cent, for a measurement


class HealthInterface:
    """TSHeartRateInterface, TSBloodPressureInterface or TSBloodOxygenInterface."""

    def __init__(self, sdk, metric):
        self.sdk, self.band, self.metric = sdk, sdk.band, metric

    def start_measure(self, param, start_handler, data_handler, end_handler):
        self.sdk.note("startMeasure", self.metric)
        error = self.sdk.lost()
        if not error and (self.sdk.measurement or self.band.busy):
            error = SDKError("busy", "the band is measuring")
        if not error and not self.band.worn:
            error = SDKError("not_worn", "the band is not worn")
        if not error and self.band.battery < LOWEST_BATTERY:
            error = SDKError("low_battery", "the band must be charged")
        if error:
            self.sdk.later(start_handler, False, error)
            return
        measuring = self.measure(param.duration, start_handler, data_handler, end_handler)
        self.sdk.stopping = asyncio.Event()
        self.sdk.measurement = asyncio.get_running_loop().create_task(measuring)

    async def measure(self, duration, start_handler, data_handler, end_handler):
        await asyncio.sleep(self.sdk.delay)
        start_handler(True, None)
        error, stopping = None, self.sdk.stopping
        readings = max(1, min(3, int(duration / self.sdk.reading_interval)))
        while readings and not stopping.is_set() and not error:
            readings -= 1
            try:
                await asyncio.wait_for(stopping.wait(), self.sdk.reading_interval)
                continue
            except asyncio.TimeoutError:
                pass
            error = self.sdk.lost() or (None if self.band.worn else SDKError("not_worn", "the band was taken off"))
            if not error and self.band.reading_errors:
                self.band.reading_errors -= 1
                data_handler(None, SDKError("failed", "the reading was too weak"))
            elif not error:
                data_handler(self.band.measure(self.metric, manual=True), None)
        self.sdk.measurement = None
        end_handler(not stopping.is_set() and not error, error)

    def stop_measure(self, completion):
        self.sdk.note("stopMeasure", self.metric)
        if self.sdk.measurement:
            self.sdk.stopping.set()
        self.sdk.later(completion, self.sdk.lost())

    def sync_raw_data(self, start_time, end_time, completion):
        self.sdk.note("syncRawData", self.metric)
        self.sync(self.metric, start_time, end_time, completion)

    def sync(self, metric, start_time, end_time, completion):
        error = self.sdk.lost()
        if not error and metric in self.band.sync_errors:
            error = SDKError("failed", "the records could not be read")
        self.sdk.later(completion, None if error else self.band.range(metric, start_time, end_time), error)

    def sync_daily_data(self, start_time, end_time, completion):
        self.sdk.note("syncDailyData", self.metric)
        error = self.sdk.lost()
        if not error and end_time > time.time():
            error = SDKError("invalid", "endTime is in the future")
        models, start = [], local_midnight(start_time)
        while not error and start <= end_time:
            end = local_midnight(start + 36 * 3600)  # a day has 23 to 25 hours
            items = self.band.range(self.metric, start, end - 0.001)
            if items:
                models.append(self.day(start, items))
            start = end
        self.sdk.later(completion, None if error else models, error)

    def day(self, start, items):
        manual = [item for item in items if item.is_user_initiated]
        automatic = [item for item in items if not item.is_user_initiated]

        def extremes(name):
            return max(items, key=lambda item: getattr(item, name)), min(items, key=lambda item: getattr(item, name))

        if self.metric == "heart_rate":
            resting = self.band.range("resting_heart_rate", start, start + 86_399)
            return HRDailyModel(start, manual, automatic, *extremes("hr_value"), resting)
        if self.metric == "blood_pressure":
            return BPDailyModel(start, manual, automatic, *extremes("systolic"), *extremes("diastolic"))
        return BODailyModel(start, manual, automatic, *extremes("oxy_value"))


# What the band can do. A real band may answer each of them otherwise.
for ability in ("activity_measure_by_user", "automatic_monitoring", "monitor_schedule_time", "monitor_schedule_interval"):
    setattr(HealthInterface, "is_support_" + ability, lambda self: True)


class HeartRateInterface(HealthInterface):
    def is_support_enhanced_monitoring(self):
        return False

    def sync_raw_resting_heart_rate_data(self, start_time, end_time, completion):
        self.sdk.note("syncRawRestingHeartRateData", "resting_heart_rate")
        self.sync("resting_heart_rate", start_time, end_time, completion)

    def sync_today_resting_heart_rate_data(self, completion):
        self.sdk.note("syncTodayRestingHeartRateData", "resting_heart_rate")
        today = local_midnight(time.time())
        self.sync("resting_heart_rate", today, time.time(), lambda items, error: completion(items[-1] if items else None, error))


for ability in ("heart_rate_alert", "rest_hr_alert", "exercise_hr_alert", "resting_heart_rate"):
    setattr(HeartRateInterface, "is_support_" + ability, lambda self: True)


class AutoMonitorInterface:
    """TSAutoMonitorInterface: of stress and temperature it is the only part of the guides."""

    def __init__(self, sdk):
        self.sdk = sdk
        for name in sdk.band.configs:
            setattr(self, "fetch_%s_auto_monitor_configs" % name, lambda completion, of=name: self.fetch(of, completion))
            setattr(self, "push_%s_auto_monitor_config" % name, lambda config, completion, of=name: self.push(of, config, completion))

    def fetch(self, metric, completion):
        self.sdk.note("fetchAutoMonitorConfigs", metric)
        error = self.sdk.lost()
        self.sdk.later(completion, None if error else copy.deepcopy(self.sdk.band.configs[metric]), error)

    def push(self, metric, configuration, completion):
        self.sdk.note("pushAutoMonitorConfigs", metric)
        error = self.sdk.lost() or (SDKError("failed", "the band did not take it") if self.sdk.band.refuses_push else None)
        if not error:
            self.sdk.band.configs[metric] = copy.deepcopy(configuration)
        self.sdk.later(completion, error)


class SDK:
    """The shared instance. `note` is called with the name and the metric of every call, for the journal of a test."""

    def __init__(self, band, delay=0.02, reading_interval=1.0, note=lambda name, metric: None):
        self.band, self.delay, self.reading_interval, self.note = band, delay, reading_interval, note
        self.heart_rate = HeartRateInterface(self, "heart_rate")
        self.blood_pressure = HealthInterface(self, "blood_pressure")
        self.blood_oxygen = HealthInterface(self, "blood_oxygen")
        self.auto_monitor = AutoMonitorInterface(self)
        self.measurement = self.stopping = None  # the task of the running one, and the event that stops it
        # The guides have no callbacks for these. An app takes them from other parts of its SDK, as far as it has them.
        self.connection_handler = self.wear_handler = self.battery_handler = self.value_handler = self.alert_handler = lambda *_: None

    def later(self, callback, *arguments):
        asyncio.get_running_loop().call_later(self.delay, callback, *arguments)

    def is_connected(self):
        """eTSBleStateConnected"""
        return self.band.connected

    def lost(self):
        return None if self.band.connected else SDKError("disconnected", "the band is not connected")

    async def watch(self):
        """Reports what the band does by itself."""
        while True:
            changed = self.band.changes()
            if "connected" in changed:
                self.connection_handler(self.band.connected)
            if "worn" in changed:
                self.wear_handler(self.band.worn)
            if "battery" in changed or "charging" in changed:
                self.battery_handler(self.band.battery, self.band.charging)
            for measured in changed.get("live", []):
                self.value_handler(measured["metric"], self.band.live_item(measured))
                if measured.get("alert"):  # the edge: raised or cleared
                    self.alert_handler(measured["metric"], measured["alert"], measured["value"], time.time())
            await asyncio.sleep(0.1)


def local_midnight(moment):
    """The first moment of a moment's day in the phone's zone, in seconds since 1970."""
    parts = time.localtime(moment)
    return time.mktime((parts.tm_year, parts.tm_mon, parts.tm_mday, 0, 0, 0, 0, 0, -1))
