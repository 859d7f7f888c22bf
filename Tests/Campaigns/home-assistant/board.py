"""Tries the dashboard that `vitals2mqtt dashboard` prints: Home Assistant reads it, and a browser shows it."""

import json
import os
import signal
import subprocess
from typing import Any, Callable, Iterator, Optional

from browser import Browser
from gateway import simulated, zone
from household import ID, Household
from processes import Finding, until

BOARD = "vitals-board"
DAYS = 40
DEVICES = {"band-1": ("Anna's band", "band"), "cuff-1": ("Cuff", "cuff"), "scale-1": ("Scale", "scale")}

# What the importer takes last of each.
MEASURED = [("band-1", "sleep"), ("band-1", "steps"), ("cuff-1", "blood_pressure_systolic"), ("scale-1", "weight")]

# Name, view, width, and whether the band is alone.
PICTURES = [
    ("settings", "band-1-settings", 1280, True), ("vitals", "vitals", 1280, True), ("year", "band-1-year", 1280, True),
    ("all", "vitals", 1280, False), ("phone", "vitals", 420, False)]

# Home Assistant reads the file itself, as it is printed.
PAGES = f"""\
frontend:
logbook:
lovelace:
  dashboards:
    {BOARD}:
      mode: yaml
      filename: board.yaml
      title: Vitals
      show_in_sidebar: true
"""

# The steps of the first visit but the first: they would ask the network.
ONBOARDING = {
    "version": 4, "minor_version": 1, "key": "onboarding", "data": {"done": ["core_config", "analytics", "integration"]}}


class Board(Household):
    """A Home Assistant with its pages, a gateway with wearables that remember some weeks, and a browser."""

    pictures: Optional[str] = None  # the folder for them

    def __init__(self, folder: str, version: str, program: str) -> None:
        super().__init__(folder, version, program, zone(), PAGES)
        self.views: list[dict] = []

    def begin(self) -> None:
        storage = os.path.join(self.home.folder, ".storage")
        os.makedirs(storage)
        self.home.write(os.path.join(storage, "onboarding"), json.dumps(ONBOARDING))
        self.home.write(os.path.join(self.home.folder, "board.yaml"), "views: []\n")
        super().begin()
        self.start_gateway(False)
        self.browser = Browser(self.processes, self.home.connection.port, self.home.connection.token or "")

    def start_gateway(self, imports: bool) -> None:
        self.configure(
            simulated(DEVICES, DAYS), home_assistant=self.home.for_gateway() if imports else {}, sync={"first": f"{DAYS}d"})
        self.run_gateway()

    def printed(self, *options: str) -> str:
        """The dashboard that the program prints."""
        result = subprocess.run(
            [self.program, "dashboard", "--config", self.configuration, *options], capture_output=True, text=True, timeout=60, check=False)
        if result.returncode != 0 or result.stderr:
            raise Finding(f"vitals2mqtt dashboard: {result.returncode}: {result.stderr}")
        return result.stdout

    def install(self, text: str) -> None:
        self.home.write(os.path.join(self.home.folder, "board.yaml"), text)
        self.views = self.home.connection.ask("lovelace/config", url_path=BOARD, force=True)["views"]

    def open(self, path: str) -> None:
        self.browser.open(f"/{BOARD}/{path}")

    def wait(self, path: str) -> dict:
        """Waits until a view shows all its cards, and none of them complains."""
        wanted: dict[str, int] = {}
        for card in cards(next(view for view in self.views if view["path"] == path)):
            wanted[f"hui-{card}-card"] = wanted.get(f"hui-{card}-card", 0) + 1

        def complete(page: dict) -> bool:
            return (page["path"] == f"/{BOARD}/{path}" and not page["errors"] and not page["busy"]
                    and all(page["tags"].get(tag) == count for tag, count in wanted.items()))

        return self.browser.wait(f"{path} shows {wanted}", complete)


def cards(view: dict) -> Iterator[str]:
    for section in view["sections"]:
        for card in section["cards"]:
            yield card["type"]


def imported(board: Board) -> str:
    """the devices have their history, and Home Assistant has their statistics"""
    for device, key in MEASURED:
        until(f"{device} has {key}", lambda: board.home.connection.get(f"/api/states/{board.entity(device, key)}"), 90)
    # Statistics are imported of entities that have had a state; others are checked again in five minutes.
    board.processes.end("gateway", signal.SIGTERM, 15)
    board.start_gateway(True)

    def done() -> bool:
        entities = {board.entity(device, key): device for device, key in MEASURED}
        rows = board.home.connection.ask(
            "recorder/statistics_during_period", start_time="2000-01-01T00:00:00+00:00", period="day",
            types=["mean", "sum"], statistic_ids=list(entities))
        days = {device: len(rows.get(entity, [])) for entity, device in entities.items()}
        if min(days.values()) < DAYS // 2:
            state = board.broker.last(f"vitals2mqtt/{ID}/gateway/state") or {}
            raise Finding(f"there are {days} days of statistics; the gateway says {state.get('statistics')}")
        return True

    until("the statistics are imported", done, 240)
    return f"{DAYS} days"


def shown(board: Board) -> str:
    """the printed dashboard is shown: every view with every card, and no card complains"""
    board.install(board.printed())
    for view in board.views:
        board.open(view["path"])
        board.wait(view["path"])
    return f"{len(board.views)} views, {sum(len(list(cards(view))) for view in board.views)} cards"


def drawn(board: Board) -> str:
    """every plot of a metric with a history is drawn"""
    board.open("vitals")
    page = board.wait("vitals")
    plots = page["tags"]["hui-statistics-graph-card"]

    def done() -> bool:
        page = board.browser.page()
        if page["plots"] != plots:
            raise Finding(f"{page['plots']} of {plots} are drawn, {page['tags']}")
        return True

    until("the plots are drawn", done, 30)
    return f"{plots} plots"


def linked(board: Board) -> str:
    """the heading of a device opens its settings, and that of its plots the weeks of the year"""
    for heading, path in ((DEVICES["band-1"][0], "band-1-settings"), ("Scale: last 30 days", "scale-1-year")):
        board.open("vitals")
        board.wait("vitals")
        board.browser.click(heading)
        board.wait(path)
    return "2 links"


def renamed(board: Board) -> str:
    """an entity that was renamed is found by its new id, and without asking Home Assistant its card complains"""
    old = board.entity("band-1", "stress")
    board.home.connection.ask("config/entity_registry/update", entity_id=old, new_entity_id="sensor.nerves_of_anna")
    board.install(board.printed("--proposed-ids", "--device", "band-1"))
    board.open("vitals")
    board.browser.wait("a card complains", lambda page: bool(page["errors"]))
    text = board.printed("--device", "band-1")
    if "sensor.nerves_of_anna" not in text:
        raise Finding("the new id is not printed")
    board.install(text)
    for view in board.views:
        board.open(view["path"])
        board.wait(view["path"])
    return f"{len(board.views)} views"


def alert(board: Board) -> None:
    # Nobody's heart beats so slowly. The band is asked for a value, since it has sent its last one.
    for key, value in (("lower", 21), ("upper", 30)):
        board.home.connection.call("number.set_value", board.entity("band-1", f"heart_rate_resting_alert_{key}"), value=value)
        board.broker.wait(
            "the limit is accepted", f"vitals2mqtt/{ID}/band-1/config",
            lambda config, key=key, value=value: config["heart_rate"]["resting_alert"][key] == value)
    board.home.connection.call("button.press", board.entity("band-1", "measure_heart_rate"))
    level = board.entity("band-1", "alert_heart_rate_resting_high")
    until("there is an alert", lambda: board.home.connection.get(f"/api/states/{level}")["state"] == "on", 60)


def pictured(board: Board) -> str:
    """pictures of the views are taken, with an alert"""
    folder = board.pictures or board.folder
    sizes = []
    for name, path, width, is_alone in PICTURES:
        if name == "vitals":
            alert(board)
        board.install(board.printed(*(["--device", "band-1"] if is_alone else [])))
        board.browser.resize(width, 1600)
        board.open(path)
        board.wait(path)
        file = os.path.join(folder, f"{name}.png")
        board.browser.picture(file, width)
        sizes.append(os.path.getsize(file))
    if min(sizes) < 10_000:
        raise Finding(f"a picture is empty: {sizes} bytes")
    return f"{sizes} bytes"


CHECKS: list[Callable[[Board], Any]] = [imported, shown, drawn, linked, pictured, renamed]
