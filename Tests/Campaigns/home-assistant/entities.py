"""Checks of the entities: that they are there, what they are, what they show, and when they are unavailable."""

from entity import Entity
from expected import GATEWAY, switch_of
from gateway import COUNTED, KNOWN, WORKOUT
from processes import Finding, until
from trial import NOTHING, Trial, same


def exist(trial: Trial) -> str:
    """each entity that the devices' capabilities allow is there, and no other"""
    for device in trial.gateway.devices:
        trial.wait("a synchronisation", device, "sync", lambda sync: sync["last_success_at"], seconds=120)
    # A simulated wearable reports its battery at once.
    for device in trial.gateway.devices[:-1]:
        trial.wait("its battery", device, "latest/battery", lambda latest: True)

    def compared() -> int:
        wanted = {trial.name(entity) for entity in trial.expected()}
        found = set(trial.registry())
        if found != wanted:
            raise Finding(f"missing: {sorted(wanted - found)}, too many: {sorted(found - wanted)}")
        return len(found)

    return f"{until('all entities and no others', compared)} entities"


def are_hidden(trial: Trial) -> str:
    """those that few want to see are disabled, until somebody enables them"""
    registry = trial.registry()
    entities = trial.expected()
    wrong = [
        f"{entity.device} {entity.key}: disabled by {registry[trial.name(entity)]['disabled_by']}" for entity in entities
        if (registry[trial.name(entity)]["disabled_by"] is None) != entity.enabled]
    if wrong:
        raise Finding("; ".join(wrong))
    enable(trial)
    return f"{sum(not entity.enabled for entity in entities)} entities"


def enable(trial: Trial) -> None:
    """Enables all that is disabled, so that everything else can be checked."""
    since = trial.broker.count
    disabled = [entry["entity_id"] for entry in trial.registry().values() if entry["disabled_by"]]
    for name in disabled:
        trial.home.connection.ask("config/entity_registry/update", entity_id=name, disabled_by=None)
    if disabled:
        # Home Assistant loads the integration again half a minute after the last one was enabled, and everything is unavailable
        # for a moment. It says its birth when it is connected again.
        trial.broker.wait("its birth", "homeassistant/status", lambda status: status == "online", since, 90)
    names = {entry["entity_id"] for entry in trial.registry().values()}

    def compared() -> bool:
        missing = names - {
            name for name, state in trial.home.connection.states().items() if not state["attributes"].get("restored")}
        if missing:
            raise Finding(f"without a state: {sorted(missing)}")
        return True

    until("everything that was enabled is there", compared)


def are_grouped(trial: Trial) -> str:
    """each device is one in Home Assistant, reached through the gateway"""
    return f"{until('all devices', lambda: grouped(trial), 20)} devices"


def grouped(trial: Trial) -> int:
    devices = trial.home.connection.ask("config/device_registry/list")
    known = {name: device for device in devices for domain, name in device["identifiers"] if domain == "mqtt"}
    registry = trial.registry()
    for name in [GATEWAY, *trial.gateway.devices]:
        identifier = f"vitals2mqtt_{trial.gateway.base.split('/')[1]}_{name}"
        if identifier not in known:
            raise Finding(f"there is no device {identifier}")
        device = known[identifier]
        if name != GATEWAY:
            info = trial.last(name, "info")
            for theirs, ours in (("name", "name"), ("manufacturer", "manufacturer"), ("model", "model"), ("sw_version", "firmware")):
                if device[theirs] != info[ours]:
                    raise Finding(f"{name}: {theirs} is {device[theirs]}, not {info[ours]}")
            gateway = known[identifier.removesuffix(name) + GATEWAY]
            if device["via_device_id"] != gateway["id"]:
                raise Finding(f"{name} is not reached through the gateway")
    by_id = {device["id"]: name for name, device in known.items()}
    for entry in registry.values():
        if not entry["unique_id"].startswith(by_id[entry["device_id"]] + "_"):
            raise Finding(f"{entry['unique_id']} belongs to {by_id[entry['device_id']]}")
    return len(known)


def are_described(trial: Trial) -> str:
    """each has its unit, classes, category, range and event types"""
    return f"{until('all are as described', lambda: described(trial), 20)} entities"


def described(trial: Trial) -> int:
    registry, states = trial.registry(), trial.home.connection.states()
    issues: list[str] = []

    def compare(entity: Entity, what: str, found: object, wanted: object) -> None:
        if found != wanted:
            issues.append(f"{entity.device} {entity.key}: {what} is {found!r}, not {wanted!r}")

    entities = trial.expected()
    for entity in entities:
        entry = registry[trial.name(entity)]
        attributes = states[entry["entity_id"]]["attributes"]
        if trial.takes_entity_ids:
            compare(entity, "entity_id", entry["entity_id"], trial.name(entity).replace("-", "_"))
        compare(entity, "the unit", attributes.get("unit_of_measurement"), entity.unit)
        compare(entity, "device_class", attributes.get("device_class"), entity.device_class)
        compare(entity, "state_class", attributes.get("state_class"), entity.state_class)
        compare(entity, "the category", entry["entity_category"], entity.category)
        precision = entry["options"].get("sensor", {}).get("suggested_display_precision")
        compare(entity, "the precision", precision, entity.precision)
        if entity.range:
            compare(entity, "the range", tuple(attributes[name] for name in ("min", "max", "step")), entity.range)
            compare(entity, "mode", attributes["mode"], "box")
        if entity.event_types:
            compare(entity, "event_types", tuple(attributes["event_types"]), entity.event_types)
        if not entry["original_name"]:
            issues.append(f"{entity.device} {entity.key} has no name")
    if issues:
        raise Finding("; ".join(issues))
    return len(entities)


def show_values(trial: Trial) -> str:
    """each shows what its topic says, and every value that should be there is"""
    entities = trial.expected()
    registry = trial.registry()

    def compared() -> int:
        states = trial.home.connection.states()
        issues = [
            f"{entity.device} {entity.key}: {issue}"
            for entity in entities
            if (issue := issue_of(trial, entity, states[registry[trial.name(entity)]["entity_id"]]["state"]))]
        issues += lacking({
            (entity.device, entity.key): states[registry[trial.name(entity)]["entity_id"]]["state"]
            for entity in entities if entity.platform == "sensor"})
        if issues:
            raise Finding("; ".join(issues))
        return sum(bool(entity.topic) for entity in entities)

    return f"{until('every value is shown', compared)} values"


def lacking(shown: dict[tuple[str, str], str]) -> list[str]:
    """What must be there although a device may lack it, and is not: the strap trained this morning, for so many minutes in each zone, has
    a resting heart rate, counted no steps, which is 0 and not unknown, and counted and knows other things, to which its workout adds nothing."""
    issues = [
        f"no {key} shows a value" for key in ("last_workout", "resting_heart_rate_today")
        if all(state in NOTHING for (_, known), state in shown.items() if known == key)]
    wanted = {f"{kind}_{number}": minutes for kind in ("workout_zone", "heart_rate_zone") for number, (minutes, _) in enumerate(WORKOUT, 1)}
    wanted |= dict.fromkeys(("steps", "distance", "energy"), 0)
    wanted |= {**{f"{metric}_today": number for metric, number in COUNTED.items()}, **KNOWN}
    for key, number in wanted.items():
        state = shown.get(("strap-1", key), "missing")
        if not same(state, number):
            issues.append(f"strap-1 {key}: it shows {state}, and should show {number}")
    return issues


def issue_of(trial: Trial, entity: Entity, shown: str) -> str:
    if shown == "unavailable":
        return "it is unavailable"
    if entity.platform in ("button", "event"):
        return ""  # they show when they were last used, which is tried elsewhere
    if entity.key == "outbox":
        return "" if shown.isdigit() else f"it shows {shown}"
    # A value that changes each second may be shown a moment later.
    payloads = [message.payload for message in trial.broker.all(trial.topic(entity.device, entity.topic or ""))][-40:]
    texts = [entity.text(payload) for payload in payloads]
    last = texts[-1] if texts else None
    if entity.may_lack and last is None:
        return "" if shown == "unknown" or shown in [str(text) for text in texts] else f"it shows {shown}, and there is nothing"
    if entity.key.startswith("alert_") and last is None and not is_watched(trial, entity):
        return "" if shown == "unknown" else f"it shows {shown}, and the rule never had a limit"
    if last is None:
        return f"its topic has nothing: {payloads[-1:]}"
    if shown in NOTHING:
        return f"it shows {shown}, not {last}"
    return "" if any(same(shown, text) for text in texts if text is not None) else f"it shows {shown}, not {last}"


# What Home Assistant itself says of a sensor, beside its state.
OWN = {"friendly_name", "icon", "unit_of_measurement", "device_class", "state_class", "options"}


def show_attributes(trial: Trial) -> str:
    """each sensor has the attributes that its topic says, and no others"""
    sensors = [entity for entity in trial.expected() if entity.platform in ("sensor", "binary_sensor")]
    registry = trial.registry()

    def compared() -> str:
        states = trial.home.connection.states()
        issues: list[str] = []
        count = stages = 0
        for entity in sensors:
            wanted = entity.beside(trial.last(entity.device, entity.topic) if entity.topic else None)
            found = states[registry[trial.name(entity)]["entity_id"]]["attributes"]
            issues += [
                f"{entity.device} {entity.key}: {name} is {found.get(name, 'missing')!r}, not {wanted.get(name, 'there')!r}"
                for name in sorted(wanted.keys() | found.keys() - OWN)
                if name not in wanted or name not in found or found[name] != wanted[name]]
            count += len(wanted)
            stages += len(wanted.get("stages", []))
        if issues:
            raise Finding("; ".join(issues))
        if not stages:
            raise Finding("no last sleep has a stage")
        return f"{count} attributes, with {stages} stages of sleep"

    return until("every attribute is shown", compared)


def is_watched(trial: Trial, entity: Entity) -> bool:
    payload = trial.last(entity.device, "config")
    for name in switch_of(entity.key.removeprefix("alert_")):
        payload = payload[name]
    return bool(payload)


def availability(trial: Trial, entities: list[Entity], is_available: bool, seconds: float = 30) -> None:
    """Waits until all of these are available, or none."""
    registry = trial.registry()

    def compared() -> bool:
        states = trial.home.connection.states()
        wrong = [
            f"{entity.device} {entity.key}" for entity in entities
            if (states[registry[trial.name(entity)]["entity_id"]]["state"] != "unavailable") != is_available]
        if wrong:
            raise Finding(f"{'un' if is_available else ''}available: {', '.join(wrong)}")
        return True

    until(f"{len(entities)} entities are {'' if is_available else 'un'}available", compared, seconds)
