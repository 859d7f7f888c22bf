"""The SDK's models as members of Vitals Link, and back."""

import time

from phone_models import MonitorAlert, MonitorBPAlert, MonitorSchedule

# Errors of Vitals Link, beside those of JSON-RPC 2.0.
UNSUPPORTED, BUSY, INVALID, NOT_WORN, LOW_BATTERY, FAILURE = 1, 2, 3, 4, 5, 6

# The guides name no codes of their errors. An app lists those of its SDK here; a missing one is a failure of the device.
CODES = {"unsupported": UNSUPPORTED, "busy": BUSY, "invalid": INVALID, "not_worn": NOT_WORN, "low_battery": LOW_BATTERY}


class CallError(Exception):
    """Answers the gateway's call with an error."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def failure(error):
    """NSError, or no error, as an error of Vitals Link."""
    return error and {"code": CODES.get(error.code, FAILURE), "message": str(error)}


def milliseconds(seconds):
    return round(seconds * 1000)


def sample(metric, item):
    """A value item as a sample. Its times and `isUserInitiated` are its identity: they must be those of the record, too."""
    if item is None:
        return None
    result = {
        "metric": metric, "start": milliseconds(item.start_time), "end": milliseconds(item.end_time), "kind": item.value_type,
        "user_initiated": item.is_user_initiated,
    }
    if metric == "blood_pressure":
        result.update(systolic=item.systolic, diastolic=item.diastolic)
    elif metric == "blood_oxygen":
        result["value"] = item.oxy_value
    else:
        result["value"] = item.hr_value
    return result


def day(metric, model):
    """A daily model as a day of `summary/read`."""
    items = model.all_measured_items()
    result = {
        "date": time.strftime("%Y-%m-%d", time.localtime(model.day_start_time)), "count": len(items),
        "manual_count": len(model.manual_items),
    }
    if metric == "blood_pressure":
        result["average"] = {name: mean(getattr(item, name) for item in items) for name in ("systolic", "diastolic")} if items else None
        for name in ("max_systolic", "min_systolic", "max_diastolic", "min_diastolic"):
            result[name.replace("max_", "maximum_").replace("min_", "minimum_")] = sample(metric, getattr(model, name + "_item"))
        return result
    value, name = ("oxy_value", "oxygen") if metric == "blood_oxygen" else ("hr_value", "hr")
    result["average"] = mean(getattr(item, value) for item in items)
    result["maximum"] = sample(metric, getattr(model, "max_%s_item" % name))
    result["minimum"] = sample(metric, getattr(model, "min_%s_item" % name))
    if metric == "heart_rate":
        result["resting"] = [sample(metric, item) for item in model.resting_items]
    return result


def resting_day(item):
    """Today's resting heart rate as a day of `summary/read`."""
    result = sample("resting_heart_rate", item)
    return {
        "date": time.strftime("%Y-%m-%d", time.localtime(item.start_time)), "count": 1, "manual_count": 0, "average": item.hr_value,
        "maximum": result, "minimum": result, "resting": [result],
    }


def mean(values):
    values = list(values)
    return round(sum(values) / len(values), 1) if values else None


SCHEDULE = {"enabled": "enabled", "start": "start_time", "end": "end_time", "interval_min": "interval"}
ALERT = {"enabled": "enabled", "lower": "lower_limit", "upper": "upper_limit"}
BP_ALERT = {"enabled": "enabled"}
for limit in ("systolic_lower", "systolic_upper", "diastolic_lower", "diastolic_upper"):
    BP_ALERT[limit] = limit + "_limit"

# The parts of a configuration by their names in Vitals Link: the property, its model, and its members.
PARTS = {
    "heart_rate": {
        "schedule": ("schedule", MonitorSchedule, SCHEDULE), "resting_alert": ("rest_hr_alert", MonitorAlert, ALERT),
        "exercise_alert": ("exercise_hr_alert", MonitorAlert, ALERT),
    },
    "blood_pressure": {"schedule": ("schedule", MonitorSchedule, SCHEDULE), "alert": ("alert", MonitorBPAlert, BP_ALERT)},
}
OTHER_PARTS = {"schedule": ("schedule", MonitorSchedule, SCHEDULE), "alert": ("alert", MonitorAlert, ALERT)}


def configuration(metric, configs):
    """What the SDK fetched, for `monitor/read`. A part that the band does not have is left out."""
    result = {}
    for name, (attribute, _, members) in PARTS.get(metric, OTHER_PARTS).items():
        part = getattr(configs, attribute)
        if part is not None:
            result[name] = {member: getattr(part, key) for member, key in members.items()}
    if metric == "heart_rate":
        result["exercise_max_bpm"] = configs.exercise_hr_limit_max
    return result


def change(metric, configs, wanted):
    """Puts the parts of `monitor/write` into what the SDK fetched, by the rules of the guides. Raises CallError."""
    if not isinstance(wanted, dict):
        raise CallError(INVALID, "configuration must be an object")
    for name, value in wanted.items():
        if name == "exercise_max_bpm" and metric == "heart_rate":
            configs.exercise_hr_limit_max = whole(name, value, 100, 220)
            continue
        if name not in PARTS.get(metric, OTHER_PARTS):
            raise CallError(INVALID, "%s has no %s" % (metric, name))
        attribute, model, members = PARTS.get(metric, OTHER_PARTS)[name]
        if not isinstance(value, dict) or not set(members) <= set(value) or type(value["enabled"]) is not bool:
            raise CallError(INVALID, "%s is not complete" % name)
        highest = 1440 if name == "schedule" else 255 if metric == "blood_pressure" else 65_535
        numbers = {key: whole(member, value[member], 0, highest) for member, key in members.items() if member != "enabled"}
        pairs = [("start_time", "end_time")] if name == "schedule" else [
            (key, key.replace("lower", "upper")) for key in numbers if "lower" in key]
        for lower, upper in pairs:
            if numbers[lower] >= numbers[upper]:
                raise CallError(INVALID, "%s: %s must be below %s" % (name, lower, upper))
        if name == "schedule" and (numbers["interval"] < 5 or numbers["interval"] % 5):
            raise CallError(INVALID, "schedule.interval_min must be a multiple of 5")
        setattr(configs, attribute, model(enabled=value["enabled"], **numbers))


def whole(name, value, lowest, highest):
    """The guides' limits and times are whole numbers: half a degree is refused, not rounded."""
    if type(value) not in (int, float) or value != int(value) or not lowest <= value <= highest:
        raise CallError(INVALID, "%s must be a whole number from %d to %d" % (name, lowest, highest))
    return int(value)
