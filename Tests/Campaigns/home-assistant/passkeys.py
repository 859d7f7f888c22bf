"""Checks of the passkey that a person types in Home Assistant, for a device that was never connected.

Its Bluetooth is not there. What `D/pairing` says while the device asks is published here in the gateway's place. The gateway itself
takes what Home Assistant sends.
"""

import json
from typing import Any

from controls import shows
from gateway import METER
from processes import Finding, until
from trial import Trial

PASSKEY = "040713"  # as a number it would lose its first digit


def are_typed(trial: Trial) -> str:
    """a passkey is typed while the device asks for it, and reaches the gateway as the command says"""
    trial.gateway.devices.append(METER)
    trial.gateway.reload()
    try:
        return typed(trial)
    finally:
        trial.gateway.devices.remove(METER)
        trial.gateway.reload()
        until("its entities are gone", lambda: not own(trial))


def typed(trial: Trial) -> str:
    until("its entities", lambda: own(trial) == {"sensor.pairing", "text.passkey"})
    field, phase = trial.entity(METER, "passkey"), trial.entity(METER, "pairing")
    trial.wait_state(phase, "idle")
    trial.wait_state(field, "unavailable")
    since = trial.broker.count
    idle = trial.last(METER, "pairing")
    publish(trial, {**idle, "state": "passkey", "until": "2030-01-01T00:00:00.000Z"})
    trial.wait_state(phase, shows("passkey", until="2030-01-01T00:00:00.000Z"))
    trial.wait_state(field, shows("unknown", mode="password", pattern="^[0-9]{6}$"))
    trial.home.connection.call("text.set_value", field, value=PASSKEY)
    # The gateway has no question of its own: it understands the command, and says so.
    answer = trial.wait("an answer", METER, "response", lambda answer: answer["command"] == "passkey", since)
    if answer["code"] != "conflict":
        raise Finding(f"the gateway says {answer}")
    sent = [message for message in trial.broker.all(trial.topic(METER, "command/passkey")) if message.number > since]
    if [(message.payload, message.is_retained) for message in sent] != [({"passkey": PASSKEY}, False)]:
        raise Finding(f"it was sent as {sent}")
    publish(trial, idle)
    trial.wait_state(field, "unavailable")
    return json.dumps(sent[0].payload)


def own(trial: Trial) -> set[str]:
    """The entities of the device: platform and key."""
    return {
        name.replace(f"vitals2mqtt_trial_{METER}_", "") for name in trial.registry() if f".vitals2mqtt_trial_{METER}_" in name}


def publish(trial: Trial, pairing: Any) -> None:
    trial.broker.publish(trial.topic(METER, "pairing"), pairing, "--retain")
