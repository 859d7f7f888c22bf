"""Checks of the blueprint of `deploy/home-assistant`: people are asked one after the other, until somebody has seen the alert.

Their phones are scripts that publish what they are told (`trial.PEOPLE`). A tap of the button is the event that the app sends.
"""

import time
from typing import Any

from controls import shows
from processes import Finding, until
from trial import BLUEPRINT, PEOPLE, Trial

DEVICE, RULE, PERSON = "clip-1", "heart_rate_resting_high", "greta"
AUTOMATION = "alert_until_seen"
# In minutes: seconds instead of what the form takes. The third message goes to both.
REPEAT, NEXT = 0.1, 0.15
QUIET = 10  # seconds without a message; else there is one after six
CLEAR = "clear_notification"


def asks_one_after_the_other(trial: Trial) -> str:
    """the blueprint tells a person of an alert, with its value and a button, repeats it, and asks the next one"""
    install(trial)
    since = trial.broker.count
    level = raised(trial)
    first = told(trial, "anna", since)
    entity = trial.entity(DEVICE, f"alert_{RULE}")
    title = f"{PERSON}: heart rate {level['value']} bpm"
    if first.payload["title"] != title:
        raise Finding(f"the title is {first.payload['title']}, not {title}")
    name = trial.state(entity)["attributes"]["friendly_name"]
    if not first.payload["message"].startswith(f"{name}, since ") or "beyond 30" not in first.payload["message"]:
        raise Finding(f"the message is {first.payload['message']}")
    wanted = [{"action": f"vitals2mqtt/{entity}/{level['last_id']}/anna", "title": "I have seen it"}]
    if first.payload["data"]["actions"] != wanted:
        raise Finding(f"the buttons are {first.payload['data']['actions']}, not {wanted}")
    second = told(trial, "ben", since)
    before = [message for message in asked(trial, "anna", since) if message.number < second.number]
    if len(before) < 2:
        raise Finding(f"ben was asked after {len(before)} messages to anna")
    return f"{title}; the next person after {len(before)} messages"


def stops_with_the_button(trial: Trial) -> str:
    """the button says who has seen it, and then the messages go and no more come"""
    since = trial.broker.count
    tap(trial, told(trial, "ben", since))
    level = trial.wait("it is acknowledged", DEVICE, f"alert/{RULE}", lambda level: level["acknowledged_by"], since)
    if level["acknowledged_by"] != "ben" or level["state"] != "active":
        raise Finding(f"the level is {level}")
    trial.wait_state(
        trial.entity(DEVICE, f"alert_{RULE}"),
        shows("on", acknowledged_by="ben", acknowledged_at=level["acknowledged_at"], last_id=level["last_id"]))
    quiet(trial, since)
    # Whoever is second hears who was first.
    answer = acknowledge(trial, level["last_id"], "anna")
    if answer["status"] != "done" or answer["data"]["acknowledged_by"] != "ben":
        raise Finding(f"a second person was answered {answer}")
    return "ben has seen it"


def stops_with_the_alert(trial: Trial) -> str:
    """the next edge is unseen, and with the end of an alert that nobody has seen all is quiet"""
    before = over(trial)
    answer = acknowledge(trial, before, "carla")
    if (answer["status"], answer["code"]) != ("rejected", "conflict"):
        raise Finding(f"a cleared alert was acknowledged: {answer}")
    since = trial.broker.count
    level = raised(trial)
    if level["acknowledged_by"] is not None or level["last_id"] == before:
        raise Finding(f"the next edge is {level}")
    told(trial, "anna", since)
    since = trial.broker.count
    over(trial)
    quiet(trial, since)
    return "quiet when cleared"


def is_raised(trial: Trial) -> str:
    """an alert is active, and nobody has seen it"""
    since = trial.broker.count
    raised(trial)
    told(trial, "anna", since)
    return "before a start of Home Assistant"


def asks_again_after_a_start(trial: Trial) -> str:
    """an alert that was active before Home Assistant started is told of again, until somebody has seen it"""
    births = [message.number for message in trial.broker.all("homeassistant/status") if message.payload == "online"]
    message = told(trial, "anna", births[-1])
    since = trial.broker.count
    tap(trial, message)
    trial.wait(
        "it is acknowledged", DEVICE, f"alert/{RULE}", lambda level: level["acknowledged_by"] == "anna", since)
    quiet(trial, since)
    over(trial)
    trial.home.connection.request("DELETE", f"/api/config/automation/config/{AUTOMATION}")
    set_limit(trial, 200)
    turn(trial, True)
    return "anna has seen it"


# What the checks do


def install(trial: Trial) -> None:
    """Makes an automation of the blueprint, as its form does."""
    people = [{"name": person, "notify": f"script.{person}s_phone"} for person in PEOPLE]
    trial.home.connection.post(f"/api/config/automation/config/{AUTOMATION}", {
        "alias": "Alert until seen",
        "use_blueprint": {
            "path": BLUEPRINT,
            "input": {
                "alerts": [trial.entity(DEVICE, f"alert_{RULE}")], "people": people, "repeat_minutes": REPEAT,
                "next_minutes": NEXT},
        },
    })
    until("the automation is on", lambda: any(
        state["state"] == "on" and state["attributes"].get("id") == AUTOMATION
        for state in trial.home.connection.states().values()))


def raised(trial: Trial) -> dict:
    """Raises the alert: no heart beats as slowly as the limit. Returns its level."""
    since = trial.broker.count
    set_limit(trial, 30)
    turn(trial, True)
    for attempt in range(3):
        # A measurement that still runs refuses the press, and has values, too.
        trial.home.connection.call("button.press", trial.entity(DEVICE, "measure_heart_rate"))
        try:
            return trial.wait(
                "the alert", DEVICE, f"alert/{RULE}", lambda level: level["state"] == "active", since, seconds=20)
        except Finding:
            if attempt == 2:
                raise
    raise Finding("it was not tried")


def over(trial: Trial) -> str:
    """Ends the alert. Returns the id of its raised edge."""
    before = trial.last(DEVICE, f"alert/{RULE}")["last_id"]
    since = trial.broker.count
    turn(trial, False)
    level = trial.wait("it is over", DEVICE, f"alert/{RULE}", lambda level: level["state"] == "ok", since)
    if level["acknowledged_by"] is not None:
        raise Finding(f"a cleared alert is acknowledged: {level}")
    return before


def set_limit(trial: Trial, bpm: int) -> None:
    trial.home.connection.call("number.set_value", trial.entity(DEVICE, "heart_rate_resting_alert_upper"), value=bpm)
    trial.wait("the limit", DEVICE, "config", lambda config: config["heart_rate"]["resting_alert"]["upper"] == bpm)


def turn(trial: Trial, is_on: bool) -> None:
    """Switches the alert on or off."""
    service = f"switch.turn_{'on' if is_on else 'off'}"
    trial.home.connection.call(service, trial.entity(DEVICE, "heart_rate_resting_alert_enabled"))


def asked(trial: Trial, person: str, since: int) -> list:
    """The messages to a person that ask whether the alert was seen."""
    return [
        message for message in trial.broker.all(f"phones/{person}")
        if message.number > since and message.payload["message"] != CLEAR]


def told(trial: Trial, person: str, since: int) -> Any:
    return trial.broker.wait(
        f"{person} is asked", f"phones/{person}", lambda told: told["message"] != CLEAR, since, seconds=60)


def tap(trial: Trial, message: Any) -> None:
    """Taps the button of a message."""
    action = message.payload["data"]["actions"][0]["action"]
    trial.home.connection.post("/api/events/mobile_app_notification_action", {"action": action})


def quiet(trial: Trial, since: int) -> None:
    """All messages are taken away, and no more come."""
    tag = f"vitals2mqtt-{trial.entity(DEVICE, f'alert_{RULE}')}"
    for person in PEOPLE:
        taken = trial.broker.wait(f"{person}'s message goes", f"phones/{person}", lambda told: told["message"] == CLEAR, since)
        if taken.payload["data"]["tag"] != tag:
            raise Finding(f"{taken.payload} is taken away, not {tag}")
    since = trial.broker.count
    time.sleep(QUIET)
    late = [message.payload for person in PEOPLE for message in asked(trial, person, since)]
    if late:
        raise Finding(f"it goes on: {late}")


def acknowledge(trial: Trial, edge: str, person: str) -> dict:
    """The answer to somebody who is not Home Assistant."""
    since = trial.broker.count
    trial.broker.publish(trial.topic(DEVICE, "command/acknowledge"), {"id": edge, "by": person})
    return trial.wait("an answer", DEVICE, "response", lambda answer: answer["id"] == edge, since)
