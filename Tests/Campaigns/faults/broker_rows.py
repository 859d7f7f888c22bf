"""Rows about a broker that does not take everything, or hears too much at once."""

import json
import os
import signal
import time

import paho.mqtt.client as mqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from peers import records
from rig import ROOT, TIMEOUT, Bench, Finding, require, row, until


def replay_all(bench: Bench) -> int:
    """Requests what gaps name, with all that lies between. Returns how many facts were quarantined, once none is any more.

    `gateway/state` comes every ten seconds at most: it must have counted these facts before it can say that none is left.
    """
    def waiting() -> int | None:
        return bench.consumer.newest.get("gateway/state", {}).get("quarantined")

    def facts() -> int:
        return sum(last - first + 1 for first, last in set(bench.consumer.refused()))
    until(lambda: 0 < (waiting() or 0) <= facts(), TIMEOUT, "gateway/state does not have the facts that gaps name")
    while waiting() != 0:
        # More than once if another gap comes meanwhile.
        known, numbers = facts(), sorted(set(bench.consumer.refused()))
        replay(bench, f"r{known}", numbers[0][0], numbers[-1][1])
        until(lambda: waiting() == 0 or facts() > known, TIMEOUT, "facts are still quarantined")
    return facts()


def quarantined(bench: Bench, device: str) -> int:
    """How many samples of a device its gaps name as refused."""
    return sum(gap["count"] for gap in bench.consumer.gaps if gap["device"] == device and gap["reason"] == "refused")


def replay(bench: Bench, name: str, first: int, last: int) -> None:
    """Requests these facts, again if there is no answer: a command that the broker gets while the gateway is cut off is lost."""
    for attempt in range(5):
        until(lambda: bench.consumer.statuses[-1:] == ["online"], TIMEOUT, "the gateway is not connected")
        try:
            status = bench.consumer.ask("gateway", "replay", f"{name}-{attempt}", 20, from_seq=first, to_seq=last)
        except Finding:
            continue
        return require(status == "done", f"replay is {status}")
    raise Finding("no answer of replay in 100 s")


def poison_next(middle, load) -> int:
    """Lets the relay cut the connection at a sample that is not made yet, and returns its start."""
    while True:
        start = load.first + load.made + 100
        middle.poison = sample_start(start)
        # A thread that stood still for two seconds chose one that has passed by already.
        if load.first + load.made < start:
            return start


def sample_start(start: int) -> bytes:
    """What only the message with this sample has."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(start // 1000))
    return f'"start":"{stamp}.{start % 1000:03}Z"'.encode()


def with_length(topic: str) -> bytes:
    """A topic as a message's header has it: announcements name the topic, too."""
    return len(topic).to_bytes(2, "big") + topic.encode()


def lasts(bench: Bench, middle, cuts: int) -> None:
    """The connection was not cut again, and no fact suffered."""
    require(middle.cuts == cuts, f"the connection was cut {middle.cuts - cuts} times more")
    require(not bench.consumer.refused(), "facts were quarantined")


@row("a broker with max_packet_size 2000", "a history of 5,000 records", "each message fits; nothing is lost, nothing quarantined")
def small_packets(bench: Bench) -> str:
    history = bench.peers.history("band", records(5_000, 5_000))
    bench.broker("max_packet_size 2000")
    bench.write("band")
    bench.gateway.start()
    count = bench.consumer.expect_all("band", [item["start"] for item in history])
    require(not bench.consumer.refused(), "facts were quarantined")
    require(bench.consumer.largest < 2_000, f"a payload has {bench.consumer.largest} bytes")
    bench.gateway.stop()
    return f"{count} samples, lost 0; the longest payload has {bench.consumer.largest} bytes"


def cut_at_payload(bench: Bench, protocol: str) -> str:
    middle = bench.through_middle()
    bench.gateway.mqtt["protocol"] = protocol
    load, ring = bench.begin("band", "ring")
    load.flow(20)
    began = time.monotonic()
    poisoned = poison_next(middle, load)
    until(lambda: bench.consumer.refused(), 2 * TIMEOUT, "no gap with the reason refused")
    found = time.monotonic() - began
    after = len(load.acknowledged) + 50
    ring.flow(50)
    load.flow(after - len(load.acknowledged))
    others = [start for start in load.acknowledged[:after] if start != poisoned]
    until(lambda: len(bench.consumer.lost("band", others)) < quarantined(bench, "band"), TIMEOUT, "the other samples do not arrive")
    require(quarantined(bench, "band") < 10, "what came in the same batch is quarantined, too")
    middle.poison = None
    count = replay_all(bench)
    total = bench.settle("band", "ring")
    return f"{middle.cuts} cuts in {found:.0f} s, {count} facts quarantined and delivered by replay; {total} samples, lost 0"


for version in ("5", "3.1.1"):
    row(f"a broker cuts the connection at one payload, MQTT {version}", "a relay aborts at its bytes",
        "all others arrive; it is quarantined, reported, and delivered by replay", name=f"cut_at_payload_{version.replace('.', '')}")(
        lambda bench, version=version: cut_at_payload(bench, version))


@row("a broker cuts the connection at answers to a topic that a commander chose", "a relay aborts at the topic's bytes",
     "the answers are given up; samples and other commands go on")
def cut_at_answer(bench: Bench) -> str:
    middle = bench.through_middle()
    (load,) = bench.begin("band")
    chosen = "elsewhere/poison"
    middle.poison = chosen.encode()
    answers: list[bytes] = []
    commander = mqtt.Client(protocol=mqtt.MQTTv5)
    commander.on_message = lambda _client, _data, message: answers.append(message.payload)
    commander.on_connect = lambda client, *_: client.subscribe("elsewhere/+", 1)
    commander.connect("127.0.0.1", bench.mosquitto.port)
    commander.loop_start()

    def ask(name: str, topic: str) -> None:
        properties = Properties(PacketTypes.PUBLISH)
        properties.ResponseTopic = topic
        commander.publish(f"{ROOT}/band/command/fetch", json.dumps({"id": name}), 1, properties=properties)

    began = time.monotonic()
    ask("poisonous", chosen)
    # It says so when it is connected again: a command that the broker gets before is lost.
    until(lambda: bench.gateway.said("it is given up"), 2 * TIMEOUT, "the answer is not given up")
    took, cuts = time.monotonic() - began, middle.cuts
    # The same commander asks again and again, as a script without an answer does.
    for number in range(20):
        ask(f"again-{number}", chosen)
    ask("me", "elsewhere/me")
    until(lambda: answers, TIMEOUT, "another topic gets no answer")
    require(bench.consumer.ask("band", "fetch", "plain") == "done", "a command without a topic is not done")
    load.flow(100)
    lasts(bench, middle, cuts)
    commander.loop_stop()
    commander.disconnect()
    return f"{cuts} cuts in {took:.0f} s, none for the next 20 answers; {bench.settle('band')} samples, lost 0"


@row("a broker cuts the connection at a retained state", "a relay aborts at a device's info, while four devices stream",
     "the state is skipped; all others and all samples arrive")
def cut_at_state(bench: Bench) -> str:
    middle = bench.through_middle()
    middle.poison = with_length(f"{ROOT}/cuff/info")
    names = ["band", "cuff", "ring", "strap"]
    loads = [bench.peers.load(name, rate=50) for name in names]
    bench.broker()
    # The log has each cut only at this level.
    bench.write(*names, home_assistant={}, log={"level": "debug"})
    took = calm(bench)
    cuts = middle.cuts
    for load in loads:
        load.flow(100)
    lasts(bench, middle, cuts)
    others = ["cuff/config", *(f"{name}/info" for name in names if name != "cuff")]
    until(lambda: all(topic in bench.consumer.newest for topic in others), TIMEOUT, f"not all of {others} arrive")
    return f"{cuts} cuts in {took:.0f} s; {bench.settle(*names)} samples, lost 0"


@row("a broker cuts the connection at a subscription", "a relay aborts at the topic of one phone, MQTT 3.1.1",
     "the topic is skipped; samples and commands go on")
def cut_at_subscription(bench: Bench) -> str:
    topic = "phones/anna"
    middle = bench.through_middle()
    middle.poison = with_length(topic)
    bench.gateway.mqtt["protocol"] = "3.1.1"
    load = bench.peers.load("band", rate=50)
    bench.broker()
    bench.write("band", more=({"id": "anna", "driver": "health-auto-export", "transport": {"type": "mqtt", "topic": topic}},))
    bench.gateway.start()
    until(lambda: bench.gateway.said(topic), TIMEOUT, "the topic is not skipped")
    cuts = middle.cuts
    until(lambda: len(load.acknowledged) > 200, TIMEOUT, "no samples")
    bench.consumer.expect_all("band", load.acknowledged[:100])
    require(bench.consumer.ask("band", "fetch", "one") == "done", "a command is not done")
    time.sleep(5)
    lasts(bench, middle, cuts)
    return f"{cuts} cuts; {bench.settle('band')} samples, lost 0"


def calm(bench: Bench) -> float:
    """Starts the gateway, and waits until a message was given up and the connection has lasted for ten seconds. Returns when it began,
    in seconds."""
    began = time.monotonic()
    seen = [0, began]
    bench.gateway.start()

    def is_calm() -> bool:
        now = time.monotonic()
        if any("The broker is not connected." in line for line in bench.gateway.lines[seen[0]:]):
            seen[:] = [len(bench.gateway.lines), now]
        return bench.gateway.said("is not sent any more") and now - seen[1] > 10
    until(is_calm, 2 * TIMEOUT, "the connection is cut again and again", step=0.2)
    return seen[1] - began


@row("a broker of MQTT 3.1.1 with max_packet_size 5000", "20 devices with all states and announcements, as shipped",
     "what is longer is skipped; the connection lasts")
def long_announcements(bench: Bench) -> str:
    names = [f"s{number}" for number in range(20)]
    bench.broker("max_packet_size 5000")
    bench.gateway.mqtt["protocol"] = "3.1.1"
    # The log has each cut only at this level.
    bench.gateway.write([{"id": name, "driver": "simulator"} for name in names], home_assistant={}, log={"level": "debug"})
    took = calm(bench)
    cuts = sum("The broker is not connected." in line for line in bench.gateway.lines)
    newest = bench.consumer.newest
    until(lambda: all(f"{name}/info" in newest for name in names), TIMEOUT, "the info of a device is missing")
    until(lambda: newest.get("gateway/state", {}).get("broker") == "connected", TIMEOUT, "the state says no connection")
    bench.gateway.stop()
    return f"{cuts} cuts in {took:.0f} s"


@row("an access list that refuses a topic", "corrected later, mosquitto reads it again",
     "other topics go on; its facts are quarantined, reported, and delivered by replay")
def access_list(bench: Bench) -> str:
    rules = os.path.join(bench.folder, "acl")

    def write_rules(*lines: str) -> None:
        with open(rules, "w", encoding="ascii") as file:
            file.write("\n".join(("topic readwrite #", *lines)) + "\n")
        os.chmod(rules, 0o644)
    write_rules(f"topic deny {ROOT}/band/measurement/heart_rate")
    load, ring = bench.begin("band", "ring", broker=(f"acl_file {rules}",))
    for other in (load, ring):
        until(lambda other=other: len(other.acknowledged) > 300, TIMEOUT, "no samples")
    until(lambda: bench.consumer.refused(), TIMEOUT, "no gap with the reason refused")
    bench.consumer.expect_all("ring", ring.acknowledged[:200])
    write_rules()
    bench.mosquitto.process.send_signal(signal.SIGHUP)
    before = len(load.acknowledged)
    load.flow(150)
    until(lambda: not bench.consumer.lost("band", load.acknowledged[before + 100:before + 110]), TIMEOUT, "nothing is taken after the correction")
    count = replay_all(bench)
    return f"{count} facts quarantined and delivered by replay; {bench.settle('band', 'ring')} samples, lost 0"


@row("10,000 commands at once", "to one device, while it streams", "one final answer each; samples go on")
def command_burst(bench: Bench) -> str:
    commands = 10_000
    (load,) = bench.begin("band")
    began, before = time.monotonic(), len(load.acknowledged)
    for number in range(commands):
        bench.consumer.send("band", "fetch", f"b{number}")
    until(lambda: len(bench.consumer.answers) >= commands, 120, "not every command has an answer", step=0.2)
    took = time.monotonic() - began
    # Fifty a second come without commands; five show that commands do not stop them.
    beside = len(load.acknowledged) - before
    require(beside >= 5 * took, f"{beside} samples were taken in {took:.1f} s of commands")
    require(bench.consumer.ask("band", "fetch", "after") == "done", "a later command is not done")
    count = bench.settle("band")
    answers = {name: finals for name, finals in bench.consumer.answers.items() if name != "after"}
    require(len(answers) == commands, f"{len(answers)} of {commands} commands have an answer")
    several = [name for name, finals in answers.items() if len(finals) != 1]
    require(not several, f"{len(several)} commands have two final answers: {several[:5]}")
    other = {(finals[0]["status"], finals[0].get("code")) for finals in answers.values()} - {("done", None), ("rejected", "busy")}
    require(not other, f"commands are neither done nor busy: {other}")
    rejected = sum(finals[0]["status"] == "rejected" for finals in answers.values())
    return (f"{commands} answers in {took:.1f} s, {commands - rejected} done and {rejected} busy; {count} samples, lost 0; "
            f"{bench.gateway.peak:.0f} MiB")
