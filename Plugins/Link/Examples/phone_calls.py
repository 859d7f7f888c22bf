"""The gateway's calls as calls of the SDK, and the SDK's callbacks as answers and notifications."""

import asyncio
import time

from phone_models import ActivityMeasureParam
from phone_sdk import local_midnight
from phone_translation import (BUSY, INVALID, UNSUPPORTED, CallError, change, configuration, day, failure, resting_day,
                               sample)

MEASURED = ("heart_rate", "blood_pressure", "blood_oxygen")  # metrics with a health interface of their own
MONITORED = MEASURED + ("stress", "temperature")
LARGEST_PAGE = 500


async def completion(call, *arguments):
    """Calls the SDK and waits for its completion: `(error)` or `(result, error)`. Its error answers the gateway's call."""
    done = asyncio.get_running_loop().create_future()

    def completion(*results):
        if not done.done():  # the link may have ended meanwhile
            done.set_result(results)

    call(*arguments, completion)
    *result, error = await done
    if error:
        raise CallError(**failure(error))
    return result[0] if result else None


class Measurement:
    """One measurement. What the SDK calls back before the gateway knows its id waits for the answer."""

    def __init__(self, name, metric, link):
        self.name, self.metric, self.link = name, metric, link
        self.waiting = []  # nothing more waits once this is None
        self.has_ended = False

    def data(self, item, error):
        if error:
            self.notify("measurement/error", error=failure(error))
        elif item:
            self.notify("measurement/sample", sample=sample(self.metric, item))

    def end(self, success, error):
        self.has_ended = True
        self.notify("measurement/ended", completed=bool(success), error=failure(error))

    def notify(self, method, **params):
        if self.waiting is not None:
            self.waiting.append((method, params))
        else:
            self.link.notify(method, dict(params, measurement=self.name))

    def answered(self):
        waiting, self.waiting = self.waiting, None
        for method, params in waiting:
            self.notify(method, **params)


class Calls:
    """One session. `opened` is called when the gateway has the answer to `initialize`: before, samples stay here."""

    def __init__(self, sdk, outbox, opened):
        self.sdk, self.outbox, self.opened = sdk, outbox, opened
        self.link = None
        self.measurement = None
        self.measurements = 0
        self.records = (None, [])  # the range that is being read, so that each page does not ask the band again
        self.table = {
            "initialize": self.initialize, "time/set": self.time_set, "history/read": self.history_read,
            "history/acknowledge": self.history_acknowledge, "summary/read": self.summary_read, "monitor/read": self.monitor_read,
            "monitor/write": self.monitor_write, "measurement/start": self.measurement_start,
            "measurement/stop": self.measurement_stop, "ping": self.ping, "shutdown": self.shutdown,
        }

    def interface(self, params, metrics=MEASURED):
        """The metric of a call, and the SDK's interface of it."""
        metric = params.get("metric")
        if metric not in metrics:
            raise CallError(UNSUPPORTED, "%s is not supported" % metric)
        return metric, getattr(self.sdk, "heart_rate" if metric == "resting_heart_rate" else metric, None)

    async def initialize(self, params):
        if params.get("protocol") != 1:
            raise CallError(UNSUPPORTED, "this app speaks protocol 1")
        capabilities = {}
        for metric in MEASURED:
            sdk = getattr(self.sdk, metric)
            monitors = sdk.is_support_automatic_monitoring()
            can = capabilities[metric] = {
                "measure": sdk.is_support_activity_measure_by_user(), "monitor": monitors,
                "schedule_time": sdk.is_support_monitor_schedule_time(),
                "schedule_interval": sdk.is_support_monitor_schedule_interval(), "history": True, "summary": True,
            }
            if metric == "heart_rate":
                can.update(
                    alert=sdk.is_support_heart_rate_alert(), rest_alert=sdk.is_support_rest_hr_alert(),
                    exercise_alert=sdk.is_support_exercise_hr_alert(), enhanced=sdk.is_support_enhanced_monitoring())
            elif monitors:
                can["alert"] = (await self.fetch(metric)).alert is not None
        if self.sdk.heart_rate.is_support_resting_heart_rate():
            capabilities["resting_heart_rate"] = {"history": True, "summary": True}
        for metric in ("stress", "temperature"):  # of these the guides have the monitoring only, and no question about it
            try:
                alert = (await self.fetch(metric)).alert is not None
            except CallError as error:
                if error.code != UNSUPPORTED:
                    raise
                continue
            capabilities[metric] = {"monitor": True, "schedule_time": True, "schedule_interval": True, "alert": alert}
        # The guides say neither who made the band nor its clock: no `clock`, and the names are the app's.
        device = {"manufacturer": None, "model": "Band of a phone", "serial": None, "firmware": None, "hardware": None}
        return {"protocol": 1, "device": device, "capabilities": capabilities}, self.opened

    async def time_set(self, params):
        raise CallError(UNSUPPORTED, "the phone sets the band's clock")

    async def history_read(self, params):
        metric, interface = self.interface(params, MEASURED + ("resting_heart_rate",))
        first, last = integer(params, "from"), integer(params, "to")
        limit = max(1, min(integer(params, "limit"), LARGEST_PAGE))
        # A page is named by the start of its first record, and by how many with that start came before: a restarted app can read on.
        start, skip = params.get("page") or (first, 0)
        if type(start) is not int or type(skip) is not int or skip < 0:
            raise CallError(INVALID, "there is no such page")
        if not params.get("page") or self.records[0] != (metric, first, last):
            read = interface.sync_raw_resting_heart_rate_data if metric == "resting_heart_rate" else interface.sync_raw_data
            items = await completion(read, first / 1000, last / 1000)
            samples = sorted((sample(metric, item) for item in items), key=lambda found: found["start"])
            self.records = ((metric, first, last), [found for found in samples if first <= found["start"] < last])
        samples = [found for found in self.records[1] if found["start"] >= start][skip:]
        page, rest = samples[:limit], samples[limit:]
        if not rest:
            return {"samples": page, "next": None}
        following = rest[0]["start"]
        same = sum(1 for found in page if found["start"] == following) + (skip if following == start else 0)
        return {"samples": page, "next": [following, same]}

    async def history_acknowledge(self, params):
        # The band forgets by itself, so there is nothing to free: the app only knows now what is safe.
        metric, _ = self.interface(params, MEASURED + ("resting_heart_rate",))
        self.outbox.mark(metric, integer(params, "through"))
        return {}

    async def summary_read(self, params):
        metric, interface = self.interface(params, MEASURED + ("resting_heart_rate",))
        first, last = midnight(params, "from_day"), midnight(params, "to_day")
        if metric == "resting_heart_rate":  # the guides have only today's
            if not first <= local_midnight(time.time()) <= last:
                return {"days": []}
            item = await completion(interface.sync_today_resting_heart_rate_data)
            return {"days": [resting_day(item)] if item else []}
        # The SDK takes no time in the future.
        models = await completion(interface.sync_daily_data, first, min(local_midnight(last + 36 * 3600) - 1, time.time()))
        return {"days": [day(metric, model) for model in models]}

    def fetch(self, metric):
        return completion(getattr(self.sdk.auto_monitor, "fetch_%s_auto_monitor_configs" % metric))

    async def monitor_read(self, params):
        metric, _ = self.interface(params, MONITORED)
        return {"configuration": configuration(metric, await self.fetch(metric))}

    async def monitor_write(self, params):
        # The SDK pushes a configuration as a whole: parts that the call leaves out must be fetched first.
        metric, _ = self.interface(params, MONITORED)
        configs = await self.fetch(metric)
        change(metric, configs, params.get("configuration"))
        await completion(getattr(self.sdk.auto_monitor, "push_%s_auto_monitor_config" % metric), configs)
        return {}

    async def measurement_start(self, params):
        metric, interface = self.interface(params)
        duration = integer(params, "duration_s")
        if self.measurement and not self.measurement.has_ended:
            raise CallError(BUSY, "a measurement is running")
        self.measurements += 1
        measurement = self.measurement = Measurement("m-%d" % self.measurements, metric, self.link)
        started = asyncio.get_running_loop().create_future()

        def start_handler(success, error):
            if not started.done():
                started.set_result((success, error))

        interface.start_measure(ActivityMeasureParam(duration), start_handler, measurement.data, measurement.end)
        success, error = await started
        if not success:
            self.measurement = None
            raise CallError(**(failure(error) or {"code": 6, "message": "the measurement did not start"}))
        return {"measurement": measurement.name}, measurement.answered

    async def measurement_stop(self, params):
        running = self.measurement
        if running and not running.has_ended and params.get("measurement") == running.name:
            await completion(getattr(self.sdk, running.metric).stop_measure)
        return {}

    async def ping(self, params):
        return {}

    async def shutdown(self, params):
        return {}, self.link.hang_up

    def ended(self):
        """The link is gone: a measurement without a reader would only empty the battery."""
        if self.measurement and not self.measurement.has_ended:
            getattr(self.sdk, self.measurement.metric).stop_measure(lambda error: None)


def integer(params, key):
    value = params.get(key)
    if type(value) is not int:
        raise CallError(INVALID, "%s must be a whole number" % key)
    return value


def midnight(params, key):
    """The first moment of a day `YYYY-MM-DD` in the phone's zone."""
    try:
        return time.mktime(time.strptime(params.get(key), "%Y-%m-%d")[:8] + (-1,))
    except (TypeError, ValueError, OverflowError) as error:
        raise CallError(INVALID, "%s must be a day" % key) from error
