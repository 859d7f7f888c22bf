"""Which entities a device must have, from what it can do (`capabilities` of `D/info`), as the documentation says it: nothing
here reads a discovery message."""

from dataclasses import dataclass
from typing import Any, Iterator, Optional

GATEWAY = "gateway"
STATISTICS = {"measurement", "total_increasing"}
UNITS = {"heart_rate": "bpm", "blood_pressure": "mmHg", "blood_oxygen": "%", "stress": None, "temperature": "°C"}
RANGES = {  # of limits: lowest, highest, step
    "heart_rate": (20, 300, 1), "blood_pressure": (20, 300, 1), "blood_oxygen": (0, 100, 1), "stress": (0, 100, 1),
    "temperature": (25, 45, 0.1),
}


@dataclass(frozen=True)
class Entity:
    device: str
    key: str
    platform: str
    topic: Optional[str] = None  # below the device's topics, with the path of the value within its payload
    path: tuple = ()
    unit: Optional[str] = None
    device_class: Optional[str] = None
    state_class: Optional[str] = None
    category: Optional[str] = None
    needs_device: bool = False  # values do; settings, alerts, diagnostics and buttons need the gateway alone
    range: Optional[tuple] = None
    event_types: tuple = ()

    def value(self, payload: Any) -> Any:
        for name in self.path:
            payload = payload.get(name) if isinstance(payload, dict) else None
        return payload

    def text(self, payload: Any) -> Any:
        """What Home Assistant must show for a payload; a number may be written otherwise. `None` is nothing."""
        value = self.value(payload)
        if value is None or self.platform in ("sensor", "number", "text"):
            return value
        if self.platform == "switch":
            return "on" if value else "off"
        if self.platform == "binary_sensor":
            return "on" if value in ("active", "online") else "off"
        return "00:00:00" if value == "24:00" else f"{value}:00"  # time


def of_gateway() -> list[Entity]:
    return [
        Entity(GATEWAY, "status", "binary_sensor", "status", device_class="connectivity", category="diagnostic"),
        Entity(GATEWAY, "outbox", "sensor", unit="messages", state_class="measurement", category="diagnostic"),
        Entity(GATEWAY, "store_size", "sensor", "state", ("store_bytes",), "B", "data_size", "measurement", "diagnostic"),
        Entity(GATEWAY, "sync_all", "button"),
    ]


def of_device(device: str, info: dict, has_battery: bool, has_time: bool) -> list[Entity]:
    can = info["capabilities"]
    return [*values(device, can, has_battery), *diagnostics(device, can), *alerts(device, can),
            *settings(device, can, has_time), *buttons(device, can)]


def values(device: str, can: dict, has_battery: bool) -> Iterator[Entity]:
    def newest(key: str, metric: str, path: tuple, unit: Optional[str], **more: Any) -> Entity:
        return Entity(device, key, "sensor", f"latest/{metric}", path, unit, state_class="measurement", needs_device=True, **more)

    def today(key: str, metric: str, member: str, unit: str, device_class: Optional[str], state_class: str) -> Entity:
        return Entity(device, key, "sensor", f"daily/{metric}", (member,), unit, device_class, state_class, needs_device=True)

    for metric in ("heart_rate", "resting_heart_rate", "blood_oxygen", "stress", "temperature"):
        if metric in can:
            device_class = "temperature" if metric == "temperature" else None
            yield newest(metric, metric, ("value",), UNITS.get(metric, "bpm"), device_class=device_class)
    if "blood_pressure" in can:
        for part in ("systolic", "diastolic"):
            key = f"blood_pressure_{part}"
            yield newest(key, "blood_pressure", ("fields", part), "mmHg", device_class="pressure")
    if "steps" in can:
        yield today("steps", "steps", "total", "steps", None, "total_increasing")
        yield today("distance", "steps", "distance_m", "m", "distance", "total_increasing")
        yield today("energy", "steps", "energy_kcal", "kcal", "energy", "total_increasing")
    if "sleep" in can:
        yield today("sleep", "sleep", "total", "min", "duration", "measurement")
    if has_battery:
        yield newest("battery", "battery", ("value",), "%", device_class="battery", category="diagnostic")


def diagnostics(device: str, can: dict) -> Iterator[Entity]:
    if any(abilities["history"] for abilities in can.values()):
        yield Entity(
            device, "last_sync", "sensor", "sync", ("last_success_at",), device_class="timestamp", category="diagnostic")
    yield Entity(device, "firmware", "sensor", "info", ("firmware",), category="diagnostic")


def rules(can: dict) -> list[str]:
    names = []
    for metric in RANGES:
        if metric == "heart_rate":
            subjects = ["resting"] if metric in can or "resting_heart_rate" in can else []
            subjects += ["exercise"] if metric in can else []
            names += [f"{metric}_{subject}" for subject in subjects]
        elif metric == "blood_pressure" and metric in can:
            names += [f"{metric}_systolic", f"{metric}_diastolic"]
        elif metric in can:
            names.append(metric)
    return [f"{name}_{side}" for name in names for side in ("high", "low")]


def alerts(device: str, can: dict) -> Iterator[Entity]:
    names = rules(can)
    if names:
        yield Entity(device, "alert", "event", event_types=(*names, "alert_cleared"))
    for name in names:
        yield Entity(device, f"alert_{name}", "binary_sensor", f"alert/{name}", ("state",), device_class="problem")


def switch_of(rule: str) -> tuple:
    """Where in `D/config` stands whether a rule is watched."""
    metric = next(metric for metric in RANGES if rule.startswith(metric))
    if metric == "heart_rate":
        return (metric, f"{rule.removeprefix('heart_rate_').rpartition('_')[0]}_alert", "enabled")
    return (metric, "alert", "enabled")


def settings(device: str, can: dict, has_time: bool) -> Iterator[Entity]:
    def setting(platform: str, path: str, unit: Optional[str] = None, limits: Optional[tuple] = None) -> Entity:
        names = tuple(path.split("."))
        return Entity(
            device, "_".join(names), platform, "config", names, unit, category="config", range=limits)

    for metric, limits in RANGES.items():
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
                yield setting("number", f"{metric}.{group}.{name}", UNITS[metric], limits)
        if metric == "heart_rate" and able & {"monitor", "exercise_alert"}:
            yield setting("number", "heart_rate.exercise_max_bpm", "bpm", (100, 220, 1))


def groups(metric: str, can: dict) -> Iterator[tuple[str, list[str]]]:
    """The groups of a metric's limits."""
    if metric == "heart_rate":
        if metric in can or "resting_heart_rate" in can:
            yield "resting_alert", ["lower", "upper"]
        if metric in can:
            yield "exercise_alert", ["lower", "upper"]
    elif metric in can:
        sides = ["systolic_", "diastolic_"] if metric == "blood_pressure" else [""]
        yield "alert", [f"{side}{end}" for side in sides for end in ("lower", "upper")]


def buttons(device: str, can: dict) -> Iterator[Entity]:
    if any(abilities["history"] for abilities in can.values()):
        yield Entity(device, "sync_now", "button")
    for metric, abilities in can.items():
        if abilities["measure"]:
            yield Entity(device, f"measure_{metric}", "button")
    yield Entity(device, "reconnect", "button", category="config")
