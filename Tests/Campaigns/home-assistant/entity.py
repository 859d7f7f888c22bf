"""An entity as Home Assistant must have it, and what it must show for a payload."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Optional

from household import ID

QUALIFIED = {"heart_rate_variability", "blood_glucose"}  # have words beside their value
STAGES = 150  # of a sleep with more of them, none is shown


@dataclass(frozen=True)
class Entity:
    device: str
    key: str
    platform: str
    topic: Optional[str] = None  # below the device's topics, with the path of the value within its payload
    path: tuple = ()
    may_lack: bool = False  # a day, or a device, may have no such value
    enabled: bool = True  # without anybody asking for it
    precision: Optional[int] = None
    unit: Optional[str] = None
    device_class: Optional[str] = None
    state_class: Optional[str] = None
    category: Optional[str] = None
    needs_device: bool = False  # values do; settings, alerts, diagnostics and buttons need the gateway alone
    range: Optional[tuple] = None
    event_types: tuple = ()
    attributes: tuple = ()  # members of the payload that stand beside the state

    def value(self, payload: Any) -> Any:
        if self.key == "sync_progress" and payload:
            return 100 * payload["metrics_done"] / payload["metrics_total"] if payload["metrics_total"] else None
        if self.key == "settings_pending" and payload:
            return bool(payload["pending"] or payload["drift"])
        if self.key in ("distance", "energy") and payload and not payload["total"]:
            return payload.get(*self.path) or 0
        for name in self.path:
            if isinstance(name, int):
                payload = payload[name] if payload else None
            else:
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
            return "on" if value in ("active", "online", True) else "off"
        return "00:00:00" if value == "24:00" else f"{value}:00"  # time

    def beside(self, payload: Any) -> dict:
        """The attributes that Home Assistant must show for a payload."""
        if not payload:
            return {}
        if self.key in ("last_sleep", "last_workout"):
            fields = dict(payload["fields"] or {})
            if len(fields.get("stages", [])) > STAGES:
                fields["stages"] = []
            return {**fields, "ended_at": payload["measured_at"]}
        if self.key in QUALIFIED:
            return payload["fields"] or {}
        if self.state_class == "total":
            return {"last_reset": datetime.fromisoformat(payload["day_start"]).isoformat()}
        shown = {name: payload[name] for name in self.attributes}
        if self.key.startswith("alert_"):
            shown["acknowledge_topic"] = f"vitals2mqtt/{ID}/{self.device}/command/acknowledge"
        return shown
