"""The real gateway with simulated wearables, and one that comes over the network and can be lost."""

import json
import os
import signal
import time
from typing import Any, Optional

from household import ID, Household
from waiting import free_port

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
STRAP = os.path.join(ROOT, "Tests", "Campaigns", "home-assistant", "strap.py")
DAYS = 3  # of history
STRAP_SIGNAL = -61  # dBm
METER = "meter-1"  # a device that has to be paired with a passkey, of a few checks

# The simulated wearables follow the local time: at two in the afternoon the night is over, the day has steps, and no band is being
# charged. So the gateway's time zone is one where it is two o'clock now.
OCLOCK = 14

# At that hour their weekday workouts are still to come. The strap had one at nine in the morning: the minutes in each zone of the heart
# rate, and a rate that is in that zone both with the strap's highest rate, 190 bpm, and with the one that a check sets, 181 bpm.
WORKOUT_OCLOCK = 9
WORKOUT = ((10, 100), (8, 120), (6, 140), (4, 158), (2, 180))
QUIET = 75  # bpm, below all zones, around the workout
# What the strap counted while it lasted, and knows since. The workout says other metres and kilocalories of itself, which are in none of
# these counts.
COUNTED = {
    "distance": 4750, "active_energy": 290, "total_energy": 330, "basal_energy": 40, "floors": 3, "exercise_minutes": 30,
    "stand_hours": 1, "hydration": 350, "dietary_energy": 180, "protein": 2.5, "carbohydrates": 41.5, "fat": 1.5}
KNOWN = {
    "vo2_max": 47.5, "body_fat": 21.5, "lean_mass": 58.5, "height": 178.5, "body_mass_index": 23.5, "heart_rate_recovery": 31,
    "walking_heart_rate": 92, "noise_exposure": 71.5}


def zone(oclock: int = OCLOCK, now: Optional[float] = None) -> str:
    """The zone where it is that hour of the day now."""
    ahead = oclock - time.gmtime(now).tm_hour
    ahead += 24 if ahead < -12 else 0  # there are zones from +14 to -12
    ahead -= 24 if ahead > 14 else 0
    return f"Etc/GMT{-ahead:+d}" if ahead else "Etc/GMT"  # its sign is the other way round


def simulated(models: dict[str, tuple[str, str]], days: int) -> list[dict]:
    """Simulated wearables, by their ids: names and models."""
    return [
        {"id": name, "name": title, "driver": "simulator", "options": {"model": model, "seed": 7, "history_days": days}}
        for name, (title, model) in models.items()]


class Gateway:
    def __init__(self, house: Household) -> None:
        self.house, self.processes = house, house.processes
        self.strap_port = free_port()
        self.kept = os.path.join(house.folder, "strap.json")  # the strap's settings, once one was written to it
        self.devices = ["band-1", "ring-1", "cuff-1", "clip-1", "scale-1", "patch-1", "strap-1"]
        self.mode = "device"
        self.compatibility = "2024.12"

    @property
    def base(self) -> str:
        return f"vitals2mqtt/{ID}"

    def configure(self) -> None:
        strap = {
            "id": "strap-1", "name": "Strap", "driver": "link", "offline_after": "1m",
            "fresh_for": {"heart_rate": "forever"}, "transport": {"type": "tcp", "host": "127.0.0.1", "port": self.strap_port}}
        models = {
            "band-1": ("Anna's band", "band"), "ring-1": ("Ring", "ring"), "cuff-1": ("Cuff", "cuff"),
            "clip-1": ("Clip", "oximeter"), "scale-1": ("Scale", "scale"), "patch-1": ("Patch", "glucose")}
        devices = {device["id"]: device for device in simulated(models, DAYS)}
        # Its alert is raised several times within minutes, and says whose value it was.
        devices["clip-1"] |= {"fresh_for": {"heart_rate": "36h"}, "alerts": {"cooldown": "0s"}, "person": "greta"}
        devices["strap-1"] = strap
        # Bluetooth on a bus that is not there: it is announced, and never connected.
        devices[METER] = {
            "id": METER, "name": "Meter", "driver": "gatt-health",
            "transport": {"type": "bluez", "address": "A4:C1:38:00:11:22", "pairing": "ask"}}
        plugins = {"plugins": {"bluez": {"bus": f"unix:path={self.house.folder}/bus"}}} if METER in self.devices else {}
        self.house.configure(
            [devices[name] for name in self.devices], sync={"first": f"{DAYS}d"},
            home_assistant={"discovery": self.mode, "compatibility": self.compatibility}, **plugins)

    def start(self) -> None:
        self.configure()
        self.house.run_gateway()

    def kill(self) -> None:
        self.processes.end("gateway", signal.SIGKILL)

    def stop(self) -> None:
        self.processes.end("gateway", signal.SIGTERM, 15)

    def reload(self) -> None:
        self.configure()
        process = next(process for name, process in self.processes.running if name == "gateway")
        process.send_signal(signal.SIGHUP)

    def start_strap(self) -> None:
        rates, records = (os.path.join(self.house.folder, name) for name in ("rates.csv", "records.json"))
        if not os.path.exists(rates):
            self.write_morning(rates, records)
        self.processes.start(
            "strap", ["python3", "-B", STRAP, records, rates, "--tcp", f"127.0.0.1:{self.strap_port}", "--state", self.kept,
                      "--signal", str(STRAP_SIGNAL)])

    @staticmethod
    def write_morning(rates: str, records: str) -> None:
        """Writes the strap's history: a workout with its heart rates, the resting heart rate before it, what else it counted and knows,
        and the last minutes.

        It can count steps, and has none: those of the workout are no steps of the day.
        """
        now = int(time.time())
        start = now // 3600 * 3600 - (OCLOCK - WORKOUT_OCLOCK) * 3600
        bpm = [rate for minutes, rate in WORKOUT for _ in range(minutes)]
        end = start + 60 * len(bpm)
        rows = [(start - 60 * minute, QUIET) for minute in range(5, 0, -1)]
        rows += [(start + 60 * minute, rate) for minute, rate in enumerate(bpm)]
        rows.append((end, QUIET))
        rows += [(now - 60 * minute, 60 + minute) for minute in range(20, 0, -1)]
        with open(rates, "w", encoding="utf-8") as file:
            file.write("epoch_s,bpm\n" + "".join(f"{moment},{rate}\n" for moment, rate in rows))
        workout = {
            "metric": "sport", "start": start * 1000, "end": end * 1000, "activity": "running", "distance_m": 4800,
            "energy_kcal": 310, "steps": 4700, "heart_rate_min": min(bpm), "heart_rate_avg": round(sum(bpm) / len(bpm)),
            "heart_rate_max": max(bpm)}
        rested = (start - 7200) * 1000
        rest = {"metric": "resting_heart_rate", "start": rested, "end": rested, "kind": "resting", "value": 58}
        history = {"sport": [workout], "resting_heart_rate": [rest], "steps": []}
        for metric, value in COUNTED.items():
            history[metric] = [{"metric": metric, "start": start * 1000, "end": end * 1000, "value": value}]
        history["distance"][0]["activity"] = "walking_running"
        for metric, value in KNOWN.items():
            history[metric] = [{"metric": metric, "start": end * 1000, "end": end * 1000, "value": value}]
        with open(records, "w", encoding="utf-8") as file:
            json.dump(history, file)

    def stop_strap(self) -> None:
        self.processes.end("strap", signal.SIGKILL)

    def change_strap(self, group: str, name: str, value: Any) -> None:
        """Changes a setting on the strap itself, while it is stopped."""
        with open(self.kept, encoding="utf-8") as file:
            settings = json.load(file)
        settings[group][name] = value
        with open(self.kept, "w", encoding="utf-8") as file:
            json.dump(settings, file)
