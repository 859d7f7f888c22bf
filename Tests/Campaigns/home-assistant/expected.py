"""Which entities a device must have, from what it can do (`capabilities` of `D/info`), as the documentation says it: nothing
here reads a discovery message."""

from typing import Any, Iterator, Optional

from entity import Entity

GATEWAY = "gateway"
STATISTICS = {"measurement", "total"}
UNITS = {
    "heart_rate": "bpm", "blood_pressure": "mmHg", "blood_oxygen": "%", "stress": None, "temperature": "°C",
    "heart_rate_variability": "ms", "respiratory_rate": "breaths/min", "skin_temperature": "°C", "weight": "kg",
    "blood_glucose": "mg/dL", "vo2_max": "mL/(kg·min)", "body_fat": "%", "lean_mass": "kg", "height": "cm",
    "body_mass_index": "kg/m²", "heart_rate_recovery": "bpm", "walking_heart_rate": "bpm", "noise_exposure": "dBA",
}
COUNTERS = {  # unit and class
    "distance": ("m", "distance"), "active_energy": ("kcal", "energy"), "total_energy": ("kcal", "energy"),
    "basal_energy": ("kcal", "energy"), "floors": ("floors", None), "exercise_minutes": ("min", "duration"),
    "stand_hours": ("h", "duration"), "hydration": ("mL", "volume"), "dietary_energy": ("kcal", "energy"),
    "protein": ("g", None), "carbohydrates": ("g", None), "fat": ("g", None),
}
CLASSES = {
    "blood_pressure": "pressure", "temperature": "temperature", "skin_temperature": "temperature", "weight": "weight",
    "blood_glucose": "blood_glucose_concentration", "lean_mass": "weight", "height": "distance",
    "noise_exposure": "sound_pressure",
}
TENTHS = {"temperature", "respiratory_rate", "skin_temperature", "weight", "vo2_max", "body_fat", "lean_mass", "height",
          "body_mass_index", "noise_exposure", "protein", "carbohydrates", "fat"}  # are shown; of all others, whole numbers
RANGES = {  # of limits: lowest, highest, step
    "heart_rate": (20, 300, 1), "blood_pressure": (20, 300, 1), "blood_oxygen": (0, 100, 1), "stress": (0, 100, 1),
    "temperature": (25, 45, 0.1), "respiratory_rate": (3, 100, 0.1), "blood_glucose": (10, 1000, 1),
}
RATES = (-20, 20, 0.1)  # of limits of a rate of change
SCHEDULED = (*RANGES, "heart_rate_variability", "skin_temperature")


def of_gateway() -> list[Entity]:
    return [
        Entity(GATEWAY, "status", "binary_sensor", "status", device_class="connectivity", category="diagnostic"),
        Entity(GATEWAY, "outbox", "sensor", unit="messages", state_class="measurement", category="diagnostic", precision=0),
        Entity(GATEWAY, "store_size", "sensor", "state", ("store_bytes",), unit="B", device_class="data_size",
               state_class="measurement", category="diagnostic", precision=0),
        Entity(GATEWAY, "sync_all", "button"),
    ]


def of_device(device: str, info: dict, config: dict, reported: dict, has_time: bool) -> list[Entity]:
    """`reported` is what the device and its link report: `battery`, `worn`, `charging` and `rssi`."""
    can = info["capabilities"]
    return [*values(device, can), *days(device, can), *alerts(device, can, config), *own(device, reported),
            *diagnostics(device, can), *settings(device, can, has_time), *buttons(device, can)]


def newest(device: str, key: str, metric: str, path: tuple, unit: Optional[str], **more: Any) -> Entity:
    more = {"state_class": "measurement", "precision": 1 if metric in TENTHS else 0, **more}
    return Entity(device, key, "sensor", f"latest/{metric}", path, unit=unit, needs_device=True, **more)


def values(device: str, can: dict) -> Iterator[Entity]:
    for metric in (*UNITS, "resting_heart_rate"):
        if metric in can and metric != "blood_pressure":
            unit = UNITS.get(metric, "bpm")
            yield newest(device, metric, metric, ("value",), unit, device_class=CLASSES.get(metric))
    if "blood_pressure" in can:
        for part in ("systolic", "diastolic"):
            key = f"blood_pressure_{part}"
            yield newest(device, key, "blood_pressure", ("fields", part), "mmHg", device_class="pressure")
    for metric, key in (("sleep", "last_sleep"), ("sport", "last_workout")):
        if metric in can:
            yield newest(device, key, metric, ("value",), "min", device_class="duration", state_class=None, may_lack=True)


def days(device: str, can: dict) -> Iterator[Entity]:
    def today(key: str, metric: str, member: str, unit: str, device_class: Optional[str], state_class: str) -> Entity:
        return of_today(key, metric, (member,), unit, device_class, state_class)

    def of_today(
        key: str, metric: str, path: tuple, unit: Optional[str], device_class: Optional[str] = None,
        state_class: str = "measurement", **more: Any
    ) -> Entity:
        precision = 1 if metric in TENTHS else 0
        return Entity(
            device, key, "sensor", f"daily/{metric}", path, unit=unit, device_class=device_class, state_class=state_class,
            needs_device=True, precision=precision, **more)

    for metric, unit in UNITS.items():
        if metric not in can:
            continue
        device_class = CLASSES.get(metric)
        for part in ("systolic", "diastolic") if metric == "blood_pressure" else (None,):
            key = f"{metric}_{part}" if part else metric
            for name, item in (("lowest", "minimum"), ("highest", "maximum")):
                path = (f"{item}_{part}", "fields", part) if part else (item, "value")
                yield of_today(f"{key}_{name}", metric, path, unit, device_class, may_lack=True, enabled=False)
            path = ("average", part) if part else ("average",)
            yield of_today(f"{key}_mean", metric, path, unit, device_class, may_lack=True, enabled=False)
    if "resting_heart_rate" in can:
        path = ("resting", -1, "value")
        yield of_today("resting_heart_rate_today", "resting_heart_rate", path, "bpm", may_lack=True)
    if has_maximum(can):
        for zone in range(5):
            yield of_today(
                f"heart_rate_zone_{zone + 1}", "heart_rate", ("zones_min", zone), "min", "duration", "measurement",
                may_lack=True)
            if "sport" in can:
                yield of_today(
                    f"workout_zone_{zone + 1}", "sport", ("workouts", -1, "zones_min", zone), "min", "duration",
                    "measurement", may_lack=True, enabled=False)
    if "steps" in can:
        yield today("steps", "steps", "total", "steps", None, "total")
        yield today("distance", "steps", "distance_m", "m", "distance", "total")
        yield today("energy", "steps", "energy_kcal", "kcal", "energy", "total")
    for metric, (unit, device_class) in COUNTERS.items():
        if metric in can:
            yield today(f"{metric}_today", metric, "total", unit, device_class, "total")
    if "sleep" in can:
        yield today("sleep", "sleep", "total", "min", "duration", "measurement")


def own(device: str, reported: dict) -> Iterator[Entity]:
    """What the device and its link report of themselves."""
    if reported["battery"]:
        yield newest(device, "battery", "battery", ("value",), "%", device_class="battery", category="diagnostic")
    for key, device_class in (("worn", None), ("charging", "battery_charging")):
        if reported[key]:
            yield Entity(
                device, key, "binary_sensor", "wear", (key,), device_class=device_class, category="diagnostic", needs_device=True,
                may_lack=True)
    if reported["rssi"]:
        yield Entity(
            device, "rssi", "sensor", "link", ("rssi",), unit="dBm", device_class="signal_strength", state_class="measurement",
            category="diagnostic", needs_device=True, may_lack=True, precision=0)


def diagnostics(device: str, can: dict) -> Iterator[Entity]:
    if any(abilities["history"] for abilities in can.values()):
        yield Entity(
            device, "last_sync", "sensor", "sync", ("last_success_at",), device_class="timestamp", category="diagnostic")
        yield Entity(
            device, "sync_progress", "sensor", "sync", ("metrics_done",), unit="%", state_class="measurement",
            category="diagnostic", may_lack=True, enabled=False, precision=0)
    if any(abilities["measure"] for abilities in can.values()):
        yield Entity(
            device, "measurement", "sensor", "measure", ("state",), device_class="enum", category="diagnostic",
            attributes=("metric", "started_at", "value", "error"))
    if any(settings(device, can, False)):
        yield Entity(
            device, "settings_pending", "binary_sensor", "config", ("pending",), device_class="problem", category="diagnostic",
            attributes=("pending", "drift", "reported", "error"))
    yield Entity(device, "firmware", "sensor", "info", ("firmware",), category="diagnostic")


WARNINGS = (
    "heart_rate_warning_high", "heart_rate_warning_low", "heart_rhythm_irregular", "ecg_atrial_fibrillation",
    "ecg_high_heart_rate", "ecg_low_heart_rate", "ecg_inconclusive")


# What stands beside the level of an alert, with the topic where it is acknowledged.
LEVEL = ("person", "metric", "value", "limit", "unit", "since", "last_id", "acknowledged_by", "acknowledged_at")


def rules(can: dict) -> list[str]:
    names = []
    for metric in RANGES:
        if metric == "heart_rate":
            subjects = ["resting"] if metric in can or "resting_heart_rate" in can else []
            subjects += ["exercise"] if tells_exercise(can) else []
            names += [f"{metric}_{subject}" for subject in subjects]
        elif metric == "blood_pressure" and metric in can:
            names += [f"{metric}_systolic", f"{metric}_diastolic"]
        elif metric in can:
            names += [metric, "blood_glucose_rate"] if metric == "blood_glucose" else [metric]
    return [f"{name}_{side}" for name in names for side in ("high", "low")]


def alerts(device: str, can: dict, config: dict) -> Iterator[Entity]:
    names = rules(can)
    warnings = WARNINGS if can.get("heart_rate", {}).get("warnings") else ()
    if names or warnings:
        yield Entity(device, "alert", "event", event_types=(*names, *warnings, "alert_cleared"))
    if warnings:
        yield Entity(device, "warning", "event", event_types=warnings)
    for name in names:
        metric, group, switch = switch_of(name)
        limit = config[metric][group][limit_of(name)]
        high = name.endswith("_high")
        if limit is not None and limit == (RATES if group == "rate_alert" else RANGES[metric])[1 if high else 0]:
            continue  # no value can be beyond it
        yield Entity(
            device, f"alert_{name}", "binary_sensor", f"alert/{name}", ("state",), device_class="problem",
            enabled=bool(config[metric][group][switch]), attributes=LEVEL)


def limit_of(rule: str) -> str:
    """The name of a rule's limit within its group."""
    name = "upper" if rule.endswith("_high") else "lower"
    part = next((part for part in ("systolic", "diastolic") if part in rule), None)
    return f"{part}_{name}" if part else name


def switch_of(rule: str) -> tuple:
    """The path in `D/config` that says whether a rule is watched."""
    metric = next(metric for metric in RANGES if rule.startswith(metric))
    if metric == "heart_rate":
        return (metric, f"{rule.removeprefix('heart_rate_').rpartition('_')[0]}_alert", "enabled")
    return (metric, "rate_alert" if rule.startswith("blood_glucose_rate") else "alert", "enabled")


def settings(device: str, can: dict, has_time: bool) -> Iterator[Entity]:
    def setting(platform: str, path: str, unit: Optional[str] = None, limits: Optional[tuple] = None) -> Entity:
        names = tuple(path.split("."))
        return Entity(
            device, "_".join(names), platform, "config", names, unit=unit, category="config", range=limits)

    for metric in SCHEDULED:
        limits = RANGES.get(metric)
        able = {name for name, has in can.get(metric, {}).items() if has}
        by_gateway = "measure" in able and "monitor" not in able  # the gateway measures by the schedule
        if able & {"measure", "monitor"}:
            yield setting("switch", f"{metric}.schedule.enabled")
        if by_gateway or {"monitor", "schedule_time"} <= able:
            for end in ("start", "end"):
                yield setting("time" if has_time else "text", f"{metric}.schedule.{end}")
        if by_gateway or {"monitor", "schedule_interval"} <= able:
            yield setting("number", f"{metric}.schedule.interval_min", "min", (5, 1440, 5))
        for group, names in groups(metric, can):
            yield setting("switch", f"{metric}.{group}.enabled")
            for name in names:
                is_rate = group == "rate_alert"
                unit = f"{UNITS[metric]}/min" if is_rate else UNITS[metric]
                yield setting("number", f"{metric}.{group}.{name}", unit, RATES if is_rate else limits)
        if metric == "heart_rate" and has_maximum(can):
            yield setting("number", "heart_rate.exercise_max_bpm", "bpm", (100, 220, 1))


def has_maximum(can: dict) -> bool:
    """Whether the device has an exercise maximum, and with it zones."""
    return "heart_rate" in can


def tells_exercise(can: dict) -> bool:
    """Whether a heart rate is known to belong to an exercise, so that there are limits for it."""
    abilities = can.get("heart_rate", {})
    history = abilities.get("history") and can.get("sport", {}).get("history")
    return bool(abilities.get("exercise_alert") or abilities.get("exercise") or history)


def groups(metric: str, can: dict) -> Iterator[tuple[str, list[str]]]:
    """The groups of a metric's limits."""
    if metric == "heart_rate":
        if metric in can or "resting_heart_rate" in can:
            yield "resting_alert", ["lower", "upper"]
        if tells_exercise(can):
            yield "exercise_alert", ["lower", "upper"]
    elif metric in can and metric in RANGES:
        sides = ["systolic_", "diastolic_"] if metric == "blood_pressure" else [""]
        yield "alert", [f"{side}{end}" for side in sides for end in ("lower", "upper")]
        if metric == "blood_glucose":
            yield "rate_alert", ["lower", "upper"]


def buttons(device: str, can: dict) -> Iterator[Entity]:
    if any(abilities["history"] for abilities in can.values()):
        yield Entity(device, "sync_now", "button")
    for metric, abilities in can.items():
        if abilities["measure"]:
            yield Entity(device, f"measure_{metric}", "button")
    if any(abilities["measure"] for abilities in can.values()):
        yield Entity(device, "stop_measuring", "button")
    yield Entity(device, "reconnect", "button", category="config")
