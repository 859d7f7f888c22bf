"""Shortens MQTT messages of the gateway to lines that fit a terminal. Knows the contract of the topics, and nothing else."""

import json
from typing import Any, NamedTuple, Optional

STEPS = ("accepted", "pending", "confirmed", "alert")  # the steps of a changed threshold
CAUSED = "heart_rate_resting_high"  # the alert of the last step


class Line(NamedTuple):
    what: str
    text: str
    key: str = ""  # lines of one key are shown once in `every` seconds, so that the output stays readable
    every: float = 0
    step: str = ""  # the one of `STEPS` that the line shows


class Reader:
    """Remembers each device's configuration, so that a change, and the limit behind an alert, can be reported, and who wears it."""

    def __init__(self) -> None:
        self.configurations: dict[str, dict] = {}
        self.unworn: set[str] = set()  # devices that nobody wears now

    def read(self, topic: str, payload: str) -> list[Line]:
        parts = topic.split("/")
        if parts[0] == "homeassistant":
            return [Line("discovery", topic, topic, 3600)]
        name, kind = "/".join(parts[2:]), parts[3] if len(parts) > 3 else ""
        try:
            body = json.loads(payload)
        except ValueError:
            body = payload or "(emptied)"
        if not isinstance(body, dict):
            return [Line("state", f"{name} = {body}", topic + str(body), 5)]
        reader = getattr(self, f"read_{kind}", None)
        return reader(name, parts[2], body) if reader else []

    def read_measurement(self, name: str, _: str, body: dict) -> list[Line]:
        samples = body["samples"]
        newest = samples[-1]
        if len(samples) == 1 and not body["historical"]:
            how = body["source"]
        else:
            how = f"{body['source']}, {minute(newest['start'])}"
        more = f", {len(samples)} in one message" if len(samples) > 1 else ""
        text = f"{name}: {quantity(newest, body['unit'])} ({how}{more})"
        return [Line("measured", text, name, 5)]

    def read_latest(self, name: str, device: str, body: dict) -> list[Line]:
        if body.get("value") is None and not body.get("fields"):
            return [Line("latest", f"{name}: nothing fresh", name, 5)]
        return [Line("latest", f"{name}: {quantity(body, body.get('unit'))}", f"{device}/latest", 15)]

    def read_daily(self, name: str, device: str, body: dict) -> list[Line]:
        if name.count("/") < 3:
            return []  # the running day, which changes with each sample
        return [Line("daily", f"{name}: {body['count']} samples", f"{device}/daily", 5)]

    def read_config(self, name: str, device: str, body: dict) -> list[Line]:
        if name.endswith("/set"):
            return []  # the request, which is shown when it is sent
        known, self.configurations[device] = self.configurations.get(device), body
        version = f"{name}: version {body['version']}"
        if body["pending"]:
            changes = ", ".join(f"{path} = {value(body, path)}" for path in body["pending"])
            return [Line("config", f"{version} accepted: {changes}", step="accepted"),
                    Line("config", f"{version} pending, until the device confirms it", step="pending")]
        if body["error"]:
            return [Line("config", f"{version}: {body['error']}")]
        if known is None:
            return [Line("config", f"{version}, as the device has it")]
        if known["pending"]:
            return [Line("config", f"{version} confirmed by the device", step="confirmed")]
        return [Line("config", f"{version}, unchanged")]

    def read_event(self, name: str, device: str, body: dict) -> list[Line]:
        if name.endswith("/gap"):
            return [Line("gap", f"{name}: {body['count']} samples of {body['metric']} are lost ({body['reason']})")]
        limit = body["limit"] if body["limit"] is not None else self.limit(device, body)
        above = "above" if body["rule"].endswith("_high") else "below"
        unit = body["unit"] or ""
        origin = "the device itself" if body["origin"] == "device" else "the gateway"
        if body["edge"] == "cleared":
            text = f"{name}: {body['rule']} is over at {body['value']} {unit} (limit {limit}), says {origin}"
        else:
            text = f"{name}: {body['rule']}, {body['value']} {unit} is {above} {limit}, raised by {origin}"
        if name.endswith("/history"):
            return [Line("late alert", f"{text} (of {minute(body['measured_at'])})", name, 10)]
        return [Line("ALERT", text, step="alert" if body["event_type"] == CAUSED else "")]

    def limit(self, device: str, alert: dict) -> Any:
        """The accepted limit of an alert's rule: an alert of a device's own comes without it."""
        middle, _, end = alert["rule"].removeprefix(alert["metric"] + "_").rpartition("_")
        bound = "upper" if end == "high" else "lower"
        path = {"heart_rate": f"{middle}_alert.{bound}", "blood_pressure": f"alert.{middle}_{bound}"}
        section = "heart_rate" if "heart_rate" in alert["metric"] else alert["metric"]
        limit = value(self.configurations.get(device, {}), f"{section}.{path.get(section, f'alert.{bound}')}")
        return "the limit of the device" if limit is None else limit

    def read_response(self, name: str, _: str, body: dict) -> list[Line]:
        sample = (body["data"] or {}).get("sample")
        texts = [f"{name}: {body['command']} {body['status']}", quantity(sample, sample.get("unit")) if sample else "",
                body["message"] or "", *(f"{violation['path']} {violation['message']}" for violation in body["violations"])]
        return [Line("answer", ", ".join(part for part in texts if part))]

    def read_measure(self, name: str, _: str, body: dict) -> list[Line]:
        if body["state"] == "idle":
            return []
        texts = [name + ":", body["metric"] or "", body["state"], body["error"] or ""]
        return [Line("measure", " ".join(part for part in texts if part), name + body["state"], 5)]

    def read_sync(self, name: str, _: str, body: dict) -> list[Line]:
        if body["state"] == "idle":
            text = f"{name}: done, {body['samples_new']} new samples"
        else:
            text = f"{name}: {body['state']} {body['metric'] or ''} ({body['samples_new']} new)"
        return [Line("sync", text, name + body["state"], 4)]

    def read_wear(self, name: str, device: str, body: dict) -> list[Line]:
        if body["worn"] is False:
            self.unworn.add(device)
        else:
            self.unworn.discard(device)
        texts = {True: ["worn"], False: ["not worn"], None: []}[body["worn"]] + (["charging"] if body["charging"] else [])
        return [Line("wear", f"{name}: {', '.join(texts)}", name, 5)] if texts else []

    def read_link(self, name: str, _: str, body: dict) -> list[Line]:
        return [Line("link", f"{name}: {body['state']}")]


def value(body: Optional[dict], path: str) -> Any:
    for key in path.split("."):
        body = body.get(key) if isinstance(body, dict) else None
    return body


def quantity(sample: dict, unit: Optional[str]) -> str:
    fields = sample.get("fields") or {}
    if "systolic" in fields:
        number = f"{fields['systolic']}/{fields['diastolic']}"
    else:
        number = str(sample.get("value"))
    return f"{number} {unit}" if unit else number


def minute(timestamp: str) -> str:
    return timestamp[:16].replace("T", " ")
