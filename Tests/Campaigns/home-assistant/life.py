"""Checks of how things come and go: devices, the gateway, Home Assistant, and the way of discovery."""

import controls
import entities
from expected import GATEWAY, STATISTICS
from processes import Finding, until
from trial import Trial


def leave(trial: Trial) -> str:
    """a device that is lost is still there for a while"""
    controls.lose_strap(trial)
    entities.availability(trial, [entity for entity in trial.expected() if entity.device == "strap-1"], True)
    return "a minute, in this trial"


def of_an_offline_device(trial: Trial) -> str:
    """a device that is not heard of is unavailable, its settings are not, and it comes back"""
    own = [entity for entity in trial.expected() if entity.device == "strap-1"]
    values, others = ([entity for entity in own if entity.needs_device is needs] for needs in (True, False))
    trial.wait("the strap is offline", "strap-1", "availability", lambda online: online == "offline", seconds=150)
    entities.availability(trial, values, False)
    entities.availability(trial, others, True)
    trial.gateway.start_strap()
    trial.home.connection.call("button.press", trial.entity("strap-1", "reconnect"))
    entities.availability(trial, own, True, 60)
    return f"{len(values)} of its {len(own)} entities"


def of_the_gateway(trial: Trial) -> str:
    """when the gateway is killed everything is unavailable at once, and comes back with it"""
    own = trial.expected()
    status = [entity for entity in own if entity.device == GATEWAY and entity.key == "status"]
    rest = [entity for entity in own if entity not in status]
    trial.gateway.kill()
    entities.availability(trial, rest, False)
    trial.wait_state(trial.entity(GATEWAY, "status"), "off")
    trial.gateway.start()
    entities.availability(trial, own, True)
    trial.wait_state(trial.entity(GATEWAY, "status"), "on")
    entities.show_values(trial)
    entities.show_attributes(trial)
    return f"{len(rest)} entities"


def of_a_device_that_is_removed(trial: Trial) -> str:
    """a device that is removed takes its entities with it, and one that is added brings them"""
    before = trial.registry()
    trial.gateway.devices.remove("ring-1")
    trial.gateway.reload()
    gone = {name for name in before if ".vitals2mqtt_trial_ring-1_" in name}
    until("the ring's entities are gone", lambda: set(trial.registry()) == set(before) - gone)
    names = {name for device in trial.home.connection.ask("config/device_registry/list") for _, name in device["identifiers"]}
    if "vitals2mqtt_trial_ring-1" in names:
        raise Finding("its device is still there")
    trial.gateway.devices.insert(1, "ring-1")
    trial.gateway.reload()
    entities.exist(trial)
    entities.enable(trial)
    entities.show_values(trial)
    entities.show_attributes(trial)
    return f"{len(gone)} entities"


def of_home_assistant(trial: Trial) -> str:
    """when Home Assistant starts again everything is announced again, and shown"""
    entities_before = set(trial.registry())
    trial.home.stop()
    since = trial.broker.count
    trial.home.start()
    trial.home.wait()
    birth = trial.broker.wait("its birth", "homeassistant/status", lambda status: status == "online", since, 180)
    for device in [GATEWAY, *trial.gateway.devices]:
        trial.broker.wait(
            "discovery again", f"homeassistant/device/vitals2mqtt_trial_{device}/config", lambda _: True, birth.number)
    trial.home.wait_until_running()
    if set(trial.registry()) != entities_before:
        raise Finding("there are other entities than before")
    entities.show_values(trial)
    entities.show_attributes(trial)
    return f"{len(entities_before)} entities"


def of_discovery(trial: Trial) -> str:
    """the same entities by one message each, after a change of `discovery` or `compatibility`, and back"""
    ways = [("component", trial.has_time), ("device", trial.has_time)]
    if trial.has_time:
        # No change from times to texts in one message: an older Home Assistant would refuse a message that removes times.
        ways = [("component", True), ("component", False), ("device", False), ("device", True)]
    for mode, has_time in ways:
        trial.gateway.stop()
        trial.has_time = has_time
        trial.gateway.mode, trial.gateway.compatibility = mode, "2026.5" if has_time else "2024.12"
        trial.gateway.start()
        trial.wait("it is back", GATEWAY, "status", lambda status: status == "online")
        try:
            for check in (
                entities.exist, entities.enable, entities.are_grouped, entities.are_described, entities.show_values,
                entities.show_attributes,
            ):
                check(trial)
            swept(trial, mode)
        except Finding as finding:
            raise Finding(f"with {mode}, compatibility {trial.gateway.compatibility}: {finding}") from None
    return ", ".join(f"{mode} with {'times' if has_time else 'texts'}" for mode, has_time in ways)


def swept(trial: Trial, mode: str) -> None:
    """Nothing of the other way of discovery is left."""
    def compared() -> bool:
        with trial.broker.news:
            standing = [topic for topic, known in trial.broker.topics.items() if known[-1].payload is not None]
        wrong = [
            topic for topic in standing
            if topic.startswith("homeassistant/") and topic.endswith("/config")
            and (topic.startswith("homeassistant/device/") != (mode == "device"))]
        if wrong:
            raise Finding(f"{len(wrong)} topics are left, such as {wrong[0]}")
        return True

    until(f"only discovery of mode {mode} is left", compared)


def statistics(trial: Trial) -> str:
    """the statistics of what is counted and measured are kept without a complaint"""
    registry = trial.registry()
    trial.home.connection.call("trial_statistics.compile", None)
    wanted = {
        registry[trial.name(entity)]["entity_id"]: entity.unit
        for entity in trial.expected() if entity.state_class in STATISTICS}

    def compared() -> bool:
        kept = {known["statistic_id"]: known["statistics_unit_of_measurement"]
                for known in trial.home.connection.ask("recorder/list_statistic_ids")}
        wrong = [f"{name}: {kept.get(name, 'none')}" for name, unit in wanted.items() if kept.get(name, "none") != unit]
        if wrong:
            raise Finding("; ".join(wrong))
        return True

    until("statistics of all", compared)
    issues = trial.home.connection.ask("recorder/validate_statistics")
    if issues:
        raise Finding(f"issues: {issues}")
    return f"{len(wanted)} sensors"


QUOTED = 10  # records of the log that a finding quotes

# Messages of Home Assistant about its own parts in a trial, not about the gateway.
USUAL = (
    "custom integration trial_statistics", "Skipping pip installation", "zlib_ng and isal are not available",
    "Error loading libturbojpeg", "FFmpeg",
    # Once per device after a change to one message per entity: its entities were released before, since each of them would
    # conflict with the old message.
    "No device components to cleanup for",
)


# It advises against an installation from PyPI, and against the configured address that keeps the trial on loopback.
USUAL_ISSUES = {("homeassistant", "deprecated_method"), ("http", "yaml_still_present_after_migration")}


def shortened(text: str) -> str:
    """The begin and the end, where a traceback says what happened."""
    return text if len(text) <= 2000 else f"{text[:600]} … {text[-1400:]}"


def log(trial: Trial) -> str:
    """nothing in Home Assistant's log or among its repairs complains"""
    records = [record for record in trial.home.records() if not any(usual in record.text for usual in USUAL)]
    if records:
        quoted = [f"{record.level} {record.source}: {shortened(record.text.rstrip())}" for record in records[:QUOTED]]
        raise Finding("\n".join([*quoted, f"{len(records)} records in all"]))
    repairs = trial.home.connection.ask("repairs/list_issues")["issues"]
    issues = [issue for issue in repairs if (issue["domain"], issue["issue_id"]) not in USUAL_ISSUES]
    if issues:
        raise Finding(f"repairs: {issues}")
    return "no warning, no error"
