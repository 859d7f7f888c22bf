"""Checks of what people do in Home Assistant: settings reach the device, or fall back; buttons act; an alert arrives."""

from typing import Any

from expected import GATEWAY
from processes import Finding
from trial import Trial


def value(payload: dict, path: str) -> Any:
    for name in path.split("."):
        payload = payload[name]
    return payload


def set_and_read_back(trial: Trial, device: str, path: str, service: str, data: dict, wanted: Any, shown: Any) -> None:
    """Sets a control, and looks for the value in the accepted configuration, at the device, and in Home Assistant again."""
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
    # What Home Assistant shows was published after the refusal, and is what held before.
    again = trial.wait("the configuration again", "band-1", "config", lambda _: True, since)
    if again != before:
        raise Finding(f"the configuration was {before}, and is {again}")
    trial.wait_state(entity, value(before, path))
    return f"{path} stays {value(before, path)}"


def buttons_act(trial: Trial) -> str:
    """sync now, measure now and reconnect do what they say"""
    press = "button.press"
    last = trial.last("ring-1", "sync")["last_success_at"]
    trial.home.connection.call(press, trial.entity("ring-1", "sync_now"))
    now = trial.wait("another synchronisation", "ring-1", "sync", lambda sync: (sync["last_success_at"] or "") > last)
    if now["job"] != "sync":
        raise Finding(f"it was not the command that synchronised: {now}")
    trial.wait_state(trial.entity("ring-1", "last_sync"), now["last_success_at"])

    # A simulated device is back so soon that nothing need be heard of the time between.
    before = trial.last("ring-1", "link")["since"]
    trial.home.connection.call(press, trial.entity("ring-1", "reconnect"))
    trial.wait("the link is another one", "ring-1", "link", lambda link: link["state"] == "connected" and link["since"] > before)

    before = {device: trial.last(device, "sync")["last_success_at"] for device in trial.gateway.devices if device != "strap-1"}
    trial.home.connection.call(press, trial.entity(GATEWAY, "sync_all"))
    for device, last in before.items():
        trial.wait("a synchronisation of all", device, "sync", lambda sync, last=last: (sync["last_success_at"] or "") > last)

    since = trial.broker.count
    trial.home.connection.call(press, trial.entity("cuff-1", "measure_blood_pressure"))
    trial.wait("a measurement", "cuff-1", "measure", lambda measure: measure["state"] == "measuring", since)
    ended = trial.wait("its end", "cuff-1", "measure", lambda measure: measure["state"] == "ended", since, 120)
    for part in ("systolic", "diastolic"):
        trial.wait_state(trial.entity("cuff-1", f"blood_pressure_{part}"), ended["fields"][part])
    return "with a blood pressure as the result"


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
    # Nobody's heart beats so slowly. A clip measures when it is told to.
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
