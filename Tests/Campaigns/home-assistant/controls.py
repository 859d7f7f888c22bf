"""Checks of what people do in Home Assistant: settings reach the device, at once or when it is back, or fall back; buttons
act; measurements are seen, and stop; an alert arrives."""

import itertools
import time
from datetime import datetime, timezone
from typing import Any, Callable

from expected import GATEWAY
from processes import Finding, until
from trial import Trial


def value(payload: dict, path: str) -> Any:
    for name in path.split("."):
        payload = payload[name]
    return payload


def set_and_read_back(trial: Trial, device: str, path: str, service: str, data: dict, wanted: Any, shown: Any) -> None:
    """Sets a control, and checks the value in the accepted configuration, at the device, and in Home Assistant again."""
    entity = trial.entity(device, path.replace(".", "_"))
    before = trial.last(device, "config")["version"]
    trial.home.connection.call(service, entity, **data)
    trial.wait(
        f"{path} is {wanted} and confirmed", device, "config",
        lambda config: config["version"] > before and value(config, path) == wanted and not config["pending"])
    answer = trial.command(device, "fetch")
    if answer["status"] != "done" or value(answer["data"], path) != wanted:
        raise Finding(f"the device does not have {wanted} for {path}: {answer}")
    trial.wait_state(entity, shown)


def numbers_reach_the_device(trial: Trial) -> str:
    """a number that is set there reaches the device"""
    set_and_read_back(trial, "band-1", "heart_rate.resting_alert.upper", "number.set_value", {"value": 131}, 131, 131)
    set_and_read_back(trial, "band-1", "temperature.alert.upper", "number.set_value", {"value": 38.3}, 38.3, 38.3)
    set_and_read_back(trial, "ring-1", "heart_rate.schedule.interval_min", "number.set_value", {"value": 20}, 20, 20)
    set_and_read_back(trial, "strap-1", "heart_rate.exercise_max_bpm", "number.set_value", {"value": 181}, 181, 181)
    return "4 numbers"


def switches_reach_the_device(trial: Trial) -> str:
    """a switch that is set there reaches the device"""
    for path in ("stress.schedule.enabled", "heart_rate.exercise_alert.enabled"):
        set_and_read_back(trial, "band-1", path, "switch.turn_off", {}, False, "off")
        set_and_read_back(trial, "band-1", path, "switch.turn_on", {}, True, "on")
    return "2 switches"


def times_reach_the_device(trial: Trial) -> str:
    """the start and the end of a schedule that are set there reach the device"""
    path = "heart_rate.schedule.start"
    if trial.has_time:
        set_and_read_back(trial, "band-1", path, "time.set_value", {"time": "07:30:00"}, "07:30", "07:30:00")
        end = "heart_rate.schedule.end"
        set_and_read_back(trial, "band-1", end, "time.set_value", {"time": "21:45:00"}, "21:45", "21:45:00")
        set_and_read_back(trial, "band-1", end, "time.set_value", {"time": "00:00:00"}, "24:00", "00:00:00")
        return "as times, and midnight as 24:00"
    set_and_read_back(trial, "band-1", path, "text.set_value", {"value": "07:30"}, "07:30", "07:30")
    set_and_read_back(trial, "band-1", path, "text.set_value", {"value": "08:15:00"}, "08:15", "08:15")
    end = "heart_rate.schedule.end"
    set_and_read_back(trial, "band-1", end, "text.set_value", {"value": "21:45"}, "21:45", "21:45")
    set_and_read_back(trial, "band-1", end, "text.set_value", {"value": "24:00"}, "24:00", "24:00")
    return "as texts, with and without seconds, and 24:00"


def refused_values_fall_back(trial: Trial) -> str:
    """a value that the gateway refuses falls back"""
    path = "heart_rate.resting_alert.lower"
    entity = trial.entity("band-1", path.replace(".", "_"))
    before = trial.last("band-1", "config")
    since = trial.broker.count
    # Within its range, but above the upper limit.
    trial.home.connection.call("number.set_value", entity, value=200)
    answer = trial.broker.wait(
        "the patch is refused", trial.topic("band-1", "response"), lambda answer: answer["status"] == "rejected", since).payload
    if [violation["path"] for violation in answer["violations"]] != ["heart_rate.resting_alert.upper"]:
        raise Finding(f"it was refused for another reason: {answer}")
    # Home Assistant shows the earlier value, which was published after the refusal.
    again = trial.wait("the configuration again", "band-1", "config", lambda _: True, since)
    if again != before:
        raise Finding(f"the configuration was {before}, and is {again}")
    trial.wait_state(entity, value(before, path))
    return f"{path} stays {value(before, path)}"


def buttons_act(trial: Trial) -> str:
    """sync now and reconnect do what they say"""
    press = "button.press"
    last = trial.last("ring-1", "sync")["last_success_at"]
    trial.home.connection.call(press, trial.entity("ring-1", "sync_now"))
    now = trial.wait("another synchronisation", "ring-1", "sync", lambda sync: (sync["last_success_at"] or "") > last)
    if now["job"] != "sync":
        raise Finding(f"it was not the command that synchronised: {now}")
    trial.wait_state(trial.entity("ring-1", "last_sync"), now["last_success_at"])

    # A simulated device returns so soon that the interruption may be invisible.
    before = trial.last("ring-1", "link")["since"]
    trial.home.connection.call(press, trial.entity("ring-1", "reconnect"))
    trial.wait("the link is another one", "ring-1", "link", lambda link: link["state"] == "connected" and link["since"] > before)

    before = {device: trial.last(device, "sync")["last_success_at"] for device in trial.gateway.devices if device != "strap-1"}
    trial.home.connection.call(press, trial.entity(GATEWAY, "sync_all"))
    for device, last in before.items():
        trial.wait("a synchronisation of all", device, "sync", lambda sync, last=last: (sync["last_success_at"] or "") > last)
    return f"sync all: {len(before)} devices"


class Watched:
    """A measurement that is begun by its button, and checked from there on."""

    def __init__(self, trial: Trial, device: str, metric: str) -> None:
        self.trial, self.device, self.metric = trial, device, metric
        self.entity = trial.entity(device, "measurement")
        self.since = trial.broker.count
        self.began = datetime.now(timezone.utc)
        trial.home.connection.call("button.press", trial.entity(device, f"measure_{metric}"))

    def reported(self, state: str, seconds: float = 60) -> dict:
        """What its topic says, once it is in a state."""
        return self.trial.wait(
            f"the measurement is {state}", self.device, "measure", lambda measure: measure["state"] == state, self.since, seconds)

    def ended(self, state: str) -> str:
        """It ended like that, and Home Assistant showed every state of its topic, in this order."""
        def compared() -> list[str]:
            messages = self.trial.broker.all(self.trial.topic(self.device, "measure"))
            reported = changes([message.payload for message in messages if message.number > self.since and message.payload])
            shown = changes([
                {"state": known["state"], **known["attributes"]} for known in self.trial.history(self.entity, self.began)])
            if shown[-len(reported):] != reported:
                raise Finding(f"it showed {shown}, and its topic said {reported}")
            return [name for name, _ in itertools.groupby(state for state, *_ in reported)]

        names = until(f"{self.entity} showed what its topic said", compared, 20)
        wanted = ["starting", "measuring", state]
        if names != wanted:
            raise Finding(f"the measurement was {names}, not {wanted}")
        now = self.trial.wait_state(self.entity, state)["attributes"]
        if now["metric"] != self.metric:
            raise Finding(f"it shows a measurement of {now['metric']}, not of {self.metric}")
        return ", ".join(names)


def changes(payloads: list[dict]) -> list[tuple]:
    """What is shown of measurements, without repetitions."""
    shown = [tuple(payload.get(name) for name in ("state", "metric", "started_at", "value", "error")) for payload in payloads]
    return [known for number, known in enumerate(shown) if number == 0 or known != shown[number - 1]]


def measurements_are_shown(trial: Trial) -> str:
    """measure now does what it says, and the measurement is seen from its start to its end"""
    measurement = Watched(trial, "cuff-1", "blood_pressure")
    trial.wait_state(measurement.entity, "measuring")
    result = measurement.reported("ended", 120)
    for part in ("systolic", "diastolic"):
        trial.wait_state(trial.entity("cuff-1", f"blood_pressure_{part}"), result["fields"][part])
    return f"{measurement.ended('ended')}, with a blood pressure as the result"


def measurements_are_stopped(trial: Trial) -> str:
    """stop measuring ends a measurement"""
    measurement = Watched(trial, "clip-1", "heart_rate")
    # It takes a minute, and has a value each second.
    trial.wait_state(
        measurement.entity, lambda state: state["state"] == "measuring" and state["attributes"]["value"] is not None)
    pressed = time.monotonic()
    trial.home.connection.call("button.press", trial.entity("clip-1", "stop_measuring"))
    measurement.reported("ended", 20)
    seconds = time.monotonic() - pressed
    return f"{measurement.ended('ended')}, {seconds:.1f} s after it was pressed"


def measurements_fail(trial: Trial) -> str:
    """a measurement whose device is lost has failed, and says why"""
    measurement = Watched(trial, "strap-1", "heart_rate")
    measurement.reported("measuring")
    trial.gateway.stop_strap()
    try:
        error = measurement.reported("failed")["error"]
        if not error:
            raise Finding("it does not say why")
        trial.wait_state(measurement.entity, lambda state: state["attributes"]["error"] == error)
        states = measurement.ended("failed")
    finally:
        come_back(trial)
    return f"{states}: {error}"


def come_back(trial: Trial) -> None:
    """The strap is there again."""
    since = trial.broker.count
    trial.gateway.start_strap()
    trial.home.connection.call("button.press", trial.entity("strap-1", "reconnect"))
    trial.wait("the strap is back", "strap-1", "link", lambda link: link["state"] == "connected", since)


def lose_strap(trial: Trial) -> None:
    """The strap is lost."""
    since = trial.broker.count
    trial.gateway.stop_strap()
    trial.wait("the link is lost", "strap-1", "link", lambda link: link["state"] != "connected", since)


def settings_wait(trial: Trial) -> str:
    """a setting that is made while its device is offline is pending, until the device is back and has it"""
    path = "heart_rate.resting_alert.upper"
    entity, pending = trial.entity("strap-1", path.replace(".", "_")), trial.entity("strap-1", "settings_pending")
    before = value(trial.last("strap-1", "config"), path)
    trial.wait_state(pending, "off")
    lose_strap(trial)
    try:
        trial.home.connection.call("number.set_value", entity, value=before + 7)
        trial.wait_state(pending, shows("on", pending=[path], drift=[], reported={path: before}, error=None))
        trial.wait_state(entity, before + 7)
    finally:
        come_back(trial)
    trial.wait_state(pending, shows("off", pending=[], drift=[], reported={}, error=None))
    answer = trial.command("strap-1", "fetch")
    if answer["status"] != "done" or value(answer["data"], path) != before + 7:
        raise Finding(f"the device does not have {before + 7} for {path}: {answer}")
    trial.wait_state(entity, before + 7)
    return f"{path}, from {before} to {before + 7}"


def settings_drift(trial: Trial) -> str:
    """a setting that is changed on the device itself is shown as drifted, until it is adopted"""
    path = "heart_rate.schedule.interval_min"
    entity, pending = trial.entity("strap-1", path.replace(".", "_")), trial.entity("strap-1", "settings_pending")
    before = value(trial.last("strap-1", "config"), path)
    trial.wait_state(pending, "off")
    lose_strap(trial)
    try:
        trial.gateway.change_strap("schedule", "interval_min", before + 15)
    finally:
        come_back(trial)
    trial.wait_state(pending, shows("on", pending=[], drift=[path], reported={path: before + 15}, error=None))
    trial.wait_state(entity, before)
    answer = trial.command("strap-1", "config/set", adopt=True)
    if answer["status"] != "done":
        raise Finding(f"it was not adopted: {answer}")
    trial.wait_state(pending, shows("off", pending=[], drift=[], reported={}, error=None))
    trial.wait_state(entity, before + 15)
    return f"{path}, from {before} to {before + 15}"


def shows(wanted: str, **attributes: Any) -> Callable[[dict], bool]:
    """A condition for `wait_state`: this state, with these attributes."""
    return lambda state: state["state"] == wanted and all(
        state["attributes"].get(name, "missing") == known for name, known in attributes.items())


def alerts_arrive(trial: Trial) -> str:
    """an alert fires the event and turns its level on, and its end does"""
    event = trial.entity("clip-1", "alert")
    level = trial.entity("clip-1", "alert_heart_rate_resting_high")
    before = trial.state(event)["state"]
    for path, service, data in (
        ("heart_rate.resting_alert.lower", "number.set_value", {"value": 21}),
        ("heart_rate.resting_alert.upper", "number.set_value", {"value": 30}),
        ("heart_rate.resting_alert.enabled", "switch.turn_on", {}),
    ):
        trial.home.connection.call(service, trial.entity("clip-1", path.replace(".", "_")), **data)
        trial.wait(
            f"{path} is accepted", "clip-1", "config",
            lambda config, path=path, data=data: value(config, path) == data.get("value", True))
    trial.wait_state(level, lambda state: state["state"] in ("off", "on"))
    # No heart beats so slowly. A clip measures on command.
    trial.home.connection.call("button.press", trial.entity("clip-1", "measure_heart_rate"))
    raised = trial.wait("the alert", "clip-1", "event/alert", lambda alert: alert["edge"] == "raised")
    fired = trial.wait_state(
        event, lambda state: state["state"] != before and state["attributes"]["event_type"] == "heart_rate_resting_high")
    for name in ("id", "rule", "edge", "value", "limit", "origin"):
        if fired["attributes"].get(name) != raised[name]:
            raise Finding(f"the event's {name} is {fired['attributes'].get(name)}, not {raised[name]}")
    trial.wait_state(level, "on")
    limit = trial.entity("clip-1", "heart_rate_resting_alert_upper")
    trial.home.connection.call("number.set_value", limit, value=200)
    trial.wait_state(event, lambda state: state["attributes"]["event_type"] == "alert_cleared")
    trial.wait_state(level, "off")
    return "raised and cleared"
