"""The way of a person through all pages. Each step is a function whose sentence says what the person does; later ones need earlier ones."""

import re
import time
from typing import Callable

from scene import PASSKEY, PASSWORD, Scene
from visitor import FOCUS, Visitor
from waiting import TIMEOUT, require, until

BAND, STRAP = "devices/anna-s-band", "devices/clara-strap"
UPPER = "heart_rate.resting_alert.upper"
LOW = 45  # bpm: nearly each heart rate at rest is above it


def signs_in(visitor: Visitor, _: Scene) -> None:
    """is asked for the password, mistypes it, and signs in"""
    visitor.open("gateway")
    visitor.reads("Sign in", "Password of this gateway")
    visitor.examine("sign-in")
    visitor.fill("#password", "correct horse")
    visitor.follow("button", "Sign in")
    visitor.reads("This is not the password.")
    visitor.examine("sign-in-wrong")
    time.sleep(1.5)  # no person types a password in the second that the gateway waits after a wrong one
    visitor.fill("#password", PASSWORD)
    visitor.loaded(lambda: visitor.press("Enter"), "signing in")
    place = visitor.run("location.pathname")
    require(place == "/gateway", f"it leads to {place} and not to where the person wanted to go")


def begins(visitor: Visitor, scene: Scene) -> None:
    """sees that there is nothing yet, adds a simulated band, and sees it being read"""
    visitor.follow(".pills a", "Overview")
    visitor.reads("No devices yet")
    visitor.examine("overview-empty")
    visitor.follow("main a", "Add a device")
    visitor.follow(".tabs a", "Simulator")
    visitor.examine("add-simulator")
    visitor.fill("#name", "Anna’s band")
    visitor.fill("#person", "Anna")
    visitor.follow("button", "Check")
    visitor.reads("The entry is valid. It is not written yet.", "model: band", "anna-s-band")
    visitor.examine("entry")
    visitor.follow("button", "Write it")
    visitor.reads("Anna’s band is added")
    # The page finds out by itself.
    visitor.sees("bpm", ".tile")
    scene.settle_in()
    for device in ("Ben’s ring", "Ben’s patch", "Clara’s strap"):
        visitor.sees(device, ".tile")
    visitor.rests()


def synchronises(visitor: Visitor, _: Scene) -> None:
    """synchronises, and sees how far it is until it is done"""
    visitor.open(STRAP)
    visitor.sees("Last one:", "[aria-label=Synchronisation]")
    visitor.follow("button", "Synchronise")
    visitor.reads("Clara’s strap is being synchronised.")
    require(visitor.run("!!document.querySelector('progress')"), "no progress is shown")
    visitor.reads("Reading heart rate.")
    visitor.sees("Last one:", "[aria-label=Synchronisation]")
    require(not visitor.run("!!document.querySelector('progress')"), "the progress stays")


def changes_a_limit(visitor: Visitor, _: Scene) -> None:
    """changes a limit, sees it pending, and then confirmed"""
    visitor.open(f"{STRAP}/settings")
    visitor.reads("The device has all settings.")
    visitor.fill(f"[name='{UPPER}']", "117")
    visitor.follow("button", "Save")
    visitor.reads("The settings wait for the device.", "1 setting waits for the device.", "The device has 120 bpm.")
    visitor.examine("settings-pending")
    visitor.sees("The device has all settings.", ".status")
    require("waiting" not in visitor.text(".is"), "the setting is confirmed and still waits")
    visitor.open(f"{STRAP}/settings")
    require(visitor.run(f"document.querySelector(\"[name='{UPPER}']\").value") == "117", "it is not what was typed")
    # What cannot be is said beside its field, and what was typed stays.
    visitor.fill(f"[name='{UPPER}']", "25")
    visitor.follow("button", "Save")
    visitor.sees("not taken", ".is")
    require(visitor.run(f"document.querySelector(\"[name='{UPPER}']\").value") == "25", "what was typed is gone")
    visitor.examine("settings-refused")


def measures(visitor: Visitor, _: Scene) -> None:
    """starts a measurement, reads its values, and stops it"""
    visitor.open(BAND)
    visitor.choose("select[name=metric]", "heart_rate")
    visitor.follow("button", "Start")
    panel = "[aria-label=Measurement]"
    visitor.sees("Measuring: heart rate", panel)
    visitor.sees("bpm", f"{panel} .value")
    visitor.follow("button", "Stop")
    visitor.sees("Ended: heart rate", panel)


def is_alarmed(visitor: Visitor, _: Scene) -> None:
    """sets a limit that the heart is above, is alarmed without a reload, and says that it was seen"""
    visitor.open(f"{BAND}/settings")
    if not visitor.run("document.querySelector(\"[name='heart_rate.resting_alert.enabled']\").checked"):
        visitor.click("[name='heart_rate.resting_alert.enabled']")
    visitor.fill(f"[name='{UPPER}']", str(LOW))
    visitor.follow("button", "Save")
    visitor.reads("The settings are taken.")
    visitor.open("")
    visitor.sees("Anna: Heart rate at rest is high", ".alerts")
    visitor.examine("overview-alert")
    visitor.shows("page-overview", 1100, "light", 860)
    visitor.shows("page-phone", 360, "light", 740)
    visitor.follow(".alert button", "I have seen it")
    visitor.reads("Noted: the alert was seen.", "Seen by somebody at the gateway's page")
    visitor.examine("overview")


def looks_at_values(visitor: Visitor, _: Scene) -> None:
    """looks at a day, a week, a month and a year, at one metric, and reads values by the arrow keys"""
    visitor.open(BAND)
    visitor.examine("values-day")
    for name in ("Week", "Month", "Year"):
        visitor.follow(".range a", name)
        visitor.reads("Heart rate", "Sleep")
        visitor.examine(f"values-{name.lower()}")
    visitor.follow(".range a", "Week")
    visitor.shows("page-week", 1100, "light", 900)
    visitor.follow("figcaption a", "Heart rate")
    visitor.walk_by_keys("Drawing")
    visitor.press("End")
    last = visitor.text("output.reading")
    visitor.press("ArrowLeft")
    require(re.search(r"\d bpm", last) and visitor.text("output.reading") not in ("", last), f"the arrow keys read {last!r}")
    visitor.click("summary", "As a table")
    visitor.examine("values-of-one")


def looks_at_nights(visitor: Visitor, _: Scene) -> None:
    """looks at the nights of a week, at one, and at the one before"""
    visitor.open(f"{BAND}/nights")
    visitor.reads("Deep", "REM")
    visitor.examine("nights")
    visitor.shows("page-night", 1100, "dark", 900)
    visitor.follow("main h3 a")
    first = visitor.text("h1")
    visitor.reads("Night to", "Heart rate", "The night before")
    visitor.click("summary", "Each stage")
    visitor.examine("night")
    visitor.follow(".range a", "‹ The night before")
    require(visitor.text("h1") not in ("", first), "it is the same night")


def looks_at_the_rest(visitor: Visitor, _: Scene) -> None:
    """looks at workouts, days, alerts and settings of the band"""
    visitor.open(BAND)
    words = {"workouts": "Mean heart rate", "days": "Resting heart rate", "alerts": "Raised", "settings": "Lower limit"}
    for section, word in words.items():
        visitor.follow(".tabs a", section.capitalize())
        visitor.reads(word)
        visitor.examine(section)
    visitor.click("summary", "About this device")
    visitor.reads("Firmware", "simulator")


def reads_what_was_lost(visitor: Visitor, _: Scene) -> None:
    """reads what of a device was refused or lost"""
    visitor.open("devices/ben-patch")
    visitor.follow(".tabs a", "Refused or lost")
    visitor.reads("Blood glucose:", "cannot be read.")
    visitor.examine("losses")


def asks_the_gateway(visitor: Visitor, _: Scene) -> None:
    """looks at the gateway, asks the doctor, and reads the log"""
    visitor.follow(".pills a", "Gateway")
    visitor.reads("All is well.", "A synchronisation ended.")
    visitor.follow("button", "Ask the doctor")
    visitor.sees("As of", "[data-live='gateway.doctor']")
    visitor.examine("gateway")
    visitor.follow("button", "Synchronise all devices")
    visitor.reads("All devices are being synchronised.")


def adds_a_phone(visitor: Visitor, _: Scene) -> None:
    """looks for exports, adds a phone, and gets its address, its token and both as a QR code"""
    visitor.follow(".pills a", "Add a device")
    visitor.follow(".tabs a", "Exports")
    visitor.reads("There is no file yet.")
    visitor.examine("add-exports")
    visitor.follow(".tabs a", "Phone")
    visitor.examine("add-phone")
    visitor.fill("#name", "Ben’s phone")
    visitor.follow("button", "Check")
    visitor.follow("button", "Write it")
    visitor.reads("/v1/devices/ben-s-phone", "Bearer ", "Whoever has the token")
    require(visitor.run("document.querySelectorAll('.qr svg path').length") == 1, "there is no QR code")
    visitor.examine("access")


def pairs(visitor: Visitor, _: Scene) -> None:
    """finds a strap that is near, adds it, mistypes its passkey, and pairs it"""
    visitor.open("add/near")
    visitor.follow("button", "Listen for ten seconds")
    visitor.examine("add-near-listening")
    visitor.sees("Strap", ".found")
    visitor.examine("add-near")
    visitor.follow(".found button", "Add")
    visitor.reads("The device shows a passkey when it is first connected.", "A4:C1:38:00:11:22", "pairing: ask")
    visitor.follow("button", "Write it")
    until(lambda: visitor.run("!!document.querySelector('.devices a[href$=\"devices/strap\"]')"), TIMEOUT,
          "the strap is not on the overview")
    visitor.open("devices/strap")
    visitor.sees("The device shows six digits.", "[aria-label=Pairing]")
    visitor.examine("pairing")
    visitor.fill("input[name=passkey]", "111111")
    visitor.follow("button", "Pair")
    visitor.sees("The pairing has failed.", "[aria-label=Pairing]")
    until(lambda: visitor.run("!!document.querySelector('input[name=passkey]')"), TIMEOUT, "it does not ask again")
    visitor.fill("input[name=passkey]", PASSKEY)
    visitor.follow("button", "Pair")
    visitor.sees("Paired.", "[aria-label=Pairing]")
    visitor.sees("connected", ".device")
    require(PASSKEY not in visitor.run("document.documentElement.outerHTML + location.href"), "the page tells the passkey")
    # Its heart rates come live.
    visitor.open("")
    visitor.sees("· Strap", ".tile")
    visitor.rests()


def goes_by_keys(visitor: Visitor, _: Scene) -> None:
    """does without a pointer: each stop of Tab is seen, and the main actions are reached"""
    visitor.open("")
    require(visitor.walk_by_keys("Skip to the content") == ["Skip to the content"], "the first stop is not the way to the content")
    visitor.press("Enter")
    require(visitor.run(FOCUS)["tag"] == "main", "it does not lead to the content")
    stops = visitor.walk_by_keys("Clara’s strap", 150)
    require(any(stop.startswith("Heart rate") for stop in stops), f"no value is among {stops}")
    visitor.loaded(lambda: visitor.press("Enter"), "the strap by Enter")
    visitor.walk_by_keys("Synchronise")
    visitor.loaded(lambda: visitor.press("Enter"), "synchronising by Enter")
    visitor.reads("Clara’s strap is being synchronised.")
    visitor.sees("Last one:", "[aria-label=Synchronisation]")
    visitor.walk_by_keys("Settings")
    visitor.loaded(lambda: visitor.press("Enter"), "the settings by Enter")
    visitor.walk_by_keys("Alert at rest")
    before = visitor.run("document.activeElement.checked")
    visitor.press(" ")
    require(visitor.run("document.activeElement.checked") != before, "the space bar does not switch")
    visitor.walk_by_keys("Save")
    visitor.loaded(lambda: visitor.press("Enter"), "saving by Enter")
    visitor.reads("The settings wait for the device.")
    visitor.sees("The device has all settings.", ".status")


def does_without_scripts(visitor: Visitor, _: Scene) -> None:
    """does without JavaScript: pages, settings, a measurement and a new device"""
    visitor.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        visitor.open("")
        visitor.reads("Anna", "reload for newer values")
        visitor.open(f"{BAND}/settings")
        visitor.fill("[name='blood_oxygen.alert.lower']", "91")
        visitor.follow("button", "Save")
        visitor.reads("The settings are taken.")
        visitor.follow("button", "Start")
        visitor.reads("The measurement begins.")
        visitor.follow("button", "Stop")
        visitor.reads("Stopped.")
        visitor.open("add/simulator")
        visitor.click("input[value=oximeter]")
        visitor.fill("#name", "Clip")
        visitor.follow("button", "Check")
        visitor.reads("The entry is valid.", "model: oximeter")
        visitor.follow("button", "Write it")
        visitor.reads("Clip is added")
    finally:
        visitor.ask("Emulation.setScriptExecutionDisabled", value=False)

    def is_there() -> bool:
        visitor.open("")
        return "Clip" in visitor.text(".devices")
    until(is_there, TIMEOUT, "the clip does not come", step=1)


def is_lost(visitor: Visitor, _: Scene) -> None:
    """comes to a page that is not there, and back"""
    visitor.open("devices/nobody")
    visitor.reads("There is no such page")
    visitor.examine("missing")
    visitor.follow("main a", "Overview")


def signs_out(visitor: Visitor, _: Scene) -> None:
    """signs out, and sees nothing any more"""
    visitor.open("")
    visitor.follow("button", "Sign out")
    visitor.open(BAND)
    visitor.reads("Password of this gateway")
    require("Anna" not in visitor.text(), "who has signed out sees a name")


STEPS: list[Callable[[Visitor, Scene], None]] = [
    signs_in, begins, synchronises, changes_a_limit, measures, is_alarmed, looks_at_values, looks_at_nights, looks_at_the_rest,
    reads_what_was_lost, asks_the_gateway, adds_a_phone, pairs, goes_by_keys, does_without_scripts, is_lost, signs_out,
]


def walk(visitor: Visitor, scene: Scene) -> None:
    for step in STEPS:
        began = time.monotonic()
        step(visitor, scene)
        visitor.calm()
        scene.gateway.check()
        print(f"{time.monotonic() - began:5.1f} s  A person {step.__doc__}.", flush=True)
    pages = ", ".join(visitor.examined)
    print(f"{len(visitor.examined)} pages by axe-core, at 360 and 1,280 pixels, light and dark: {pages}", flush=True)
