"""The scale, which shows a passkey that somebody gives over MQTT."""

import figures
from expected import scale_is_received
from programs import BACK, START, command, gateway, peripherals_said, stop_gateway, until
from subscriber import Subscriber, publish


def give(subscriber: Subscriber, passkey: int, name: str) -> None:
    publish("scale/command/passkey", {"id": name, "passkey": f"{passkey:06}"})
    until(f"the {name} passkey is handed on", lambda: subscriber.answers.get(name) == "done", BACK)


def pair(subscriber: Subscriber) -> None:
    """A wrong passkey fails and says so, the next attempt asks for another one, and with that the scale's records arrive."""
    first, second = figures.SCALE_PASSKEYS[:2]
    until("nothing is asked before the scale is there", lambda: subscriber.pairing("scale") == ["idle"], BACK)
    give_early = {"id": "early", "passkey": f"{first:06}"}
    publish("scale/command/passkey", give_early)
    until("a passkey that nobody asks for is refused", lambda: subscriber.answers.get("early") == "conflict", BACK)
    command("come Scale")
    until("the scale's passkey is asked for", lambda: subscriber.pairing("scale")[1:] == ["passkey"], BACK)
    give(subscriber, first + 1, "wrong")
    until(
        "the failed pairing is reported", lambda: subscriber.pairing("scale")[1:4] == ["passkey", "checking", "failed"], BACK)
    message = subscriber.pairings["scale"][-1]["message"] or ""
    until(f"and why: {message}", lambda: "passkey" in message, 0)
    until("the next attempt asks again", lambda: subscriber.pairing("scale")[4:] == ["passkey"], START)
    until("the scale shows another passkey", lambda: f"Scale shows {second:06}" in peripherals_said(), BACK)
    give(subscriber, second, "right")
    until("the scale is paired", lambda: subscriber.pairing("scale")[5:] == ["checking", "paired"], BACK)
    until("the scale's records arrive", lambda: scale_is_received(subscriber, 0), BACK)


def restart(subscriber: Subscriber) -> float:
    """Another gateway uses the bond that BlueZ has kept. Returns when it was started."""
    command("leave Scale")
    stop_gateway()
    command("weigh")
    started = gateway()
    command("come Scale")
    until(
        "the scale's record arrives after the gateway was restarted", lambda: scale_is_received(subscriber, 1), START, started)
    nobody_is_asked(subscriber)
    return started


def nobody_is_asked(subscriber: Subscriber) -> None:
    asked = [line for line in peripherals_said() if line.startswith("Scale shows")]
    until(
        "nobody is asked for the passkey again",
        lambda: len(asked) == 2 and subscriber.pairing("scale").count("passkey") == 2, 0)
