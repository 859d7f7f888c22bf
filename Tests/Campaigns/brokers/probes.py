"""What a broker does with what the gateway and its consumers need, tried from outside."""

import time

import paho.mqtt.client as mqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

ANSWER = 10.0  # seconds for any answer
QUIET = 1.5  # seconds after which nothing more is expected
TOPICS = {"dot": "p/x.y", "space": "p/x y", "ü": "p/xü", "empty level": "p//y", "*": "p/x/*/y", ">": "p/x/>/y", "$": "p/x/$y"}
SIZES = (64, 256, 1000, 2000, 9000)  # KiB


class Client:
    """A client that notes what happens to it."""

    def __init__(self, port: int, name: str, version: int = mqtt.MQTTv311, clean: bool = True, user: tuple | None = None, expiry: int = 0) -> None:
        settings = {} if version == mqtt.MQTTv5 else {"clean_session": clean}
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, name, protocol=version, reconnect_on_failure=False, **settings)
        self.client.max_inflight_messages_set(128)
        self.code = self.granted = None
        self.was_cut = False
        self.messages: list[mqtt.MQTTMessage] = []
        self.reasons: dict[int, str] = {}
        self.client.on_connect = lambda _c, _d, _f, code, _p: setattr(self, "code", str(code))
        self.client.on_disconnect = lambda *_: setattr(self, "was_cut", True)
        self.client.on_message = lambda _c, _d, message: self.messages.append(message)
        self.client.on_subscribe = lambda _c, _d, _m, codes, _p: setattr(self, "granted", not any(code.is_failure for code in codes))
        self.client.on_publish = lambda _c, _d, number, code, _p: self.reasons.update({number: str(code)})
        if user:
            self.client.username_pw_set(*user)
        properties = None
        if version == mqtt.MQTTv5:
            properties = Properties(PacketTypes.CONNECT)
            properties.SessionExpiryInterval = expiry
        self.client.connect("127.0.0.1", port, properties=properties, **({"clean_start": clean} if properties else {}))
        self.client.loop_start()
        wait(lambda: self.code or self.was_cut)
        self.is_in = self.code == "Success"

    def subscribe(self, *topics: str) -> bool:
        self.granted = None
        self.client.subscribe([(topic, 1) for topic in topics])
        wait(lambda: self.granted is not None or self.was_cut)
        return bool(self.granted)

    def publish(self, topic: str, payload: bytes = b"x", retain: bool = False) -> str:
        """The broker's answer: `Success`, another reason, `cut`, or `silent`."""
        number = self.client.publish(topic, payload, 1, retain).mid
        wait(lambda: number in self.reasons or self.was_cut)
        return self.reasons.get(number) or ("cut" if self.was_cut else "silent")

    def received(self, count: int, seconds: float = ANSWER) -> list[mqtt.MQTTMessage]:
        wait(lambda: len(self.messages) >= count, seconds)
        return self.messages

    def end(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def wait(condition, seconds: float = ANSWER) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)


def probe(cluster) -> dict[str, str]:
    """Each property of the table, in words."""
    first, last = cluster.ports[0], cluster.ports[-1]
    return {"MQTT 5": version5(first), **retained(cluster), "$share": share(first, last), **topics(first), "largest": sizes(first),
            "session on another node": session(first, last), "session expiry": expiry(first), "denied topic": denied(cluster)}


def version5(port: int) -> str:
    client = Client(port, "five", mqtt.MQTTv5)
    client.end()
    return "yes" if client.is_in else f"no: {client.code or 'cut'}"


def retained(cluster) -> dict[str, str]:
    writer, found = Client(cluster.ports[0], "writer"), {}
    topic = "homeassistant/device/probe/config"
    writer.publish(topic, b"{}", retain=True)
    for title, port in (("same node", cluster.ports[0]), ("another node", cluster.ports[-1])):
        for what, pattern in (("exact", topic), ("wildcard", "homeassistant/#")):
            reader = Client(port, f"reader-{title}-{what}")
            reader.subscribe(pattern)
            found[f"retained, {title}, {what}"] = "yes" if any(message.retain for message in reader.received(1, 3)) else "no"
            reader.end()
    writer.publish(topic, b"", retain=True)
    reader = Client(cluster.ports[0], "reader-emptied")
    reader.subscribe(topic)
    found["emptied topic"] = "stays" if reader.received(1, QUIET) else "gone"
    reader.end()
    writer.end()
    return found


def share(first: int, last: int) -> str:
    members = [Client(port, f"member-{number}") for number, port in enumerate((first, last))]
    granted = [member.subscribe("$share/group/shared/#") for member in members]
    writer = Client(first, "sharer")
    for number in range(20):
        writer.publish("shared/x", b"%d" % number)
    time.sleep(QUIET)
    counts = [len(member.messages) for member in members]
    for client in (*members, writer):
        client.end()
    if sum(counts) == 20 and all(counts):
        return "yes"
    return f"no: {'granted' if all(granted) else 'refused'}, and {sum(counts)} of 20 come"


def topics(port: int) -> dict[str, str]:
    works, fails = [], []
    for number, (name, topic) in enumerate(TOPICS.items()):
        reader, writer = Client(port, f"topic-reader-{number}"), Client(port, f"topic-writer-{number}")
        granted = reader.subscribe(topic)
        answer = writer.publish(topic)
        came = reader.received(1, 3) if granted else []
        if came and came[0].topic == topic:
            works.append(name)
        else:
            fails.append(f"{name} ({f'comes as {came[0].topic}' if came else answer})")
        for client in (reader, writer):
            client.end()
    return {"topics with": ", ".join(works) or "none of them", "topics without": ", ".join(fails) or "none"}


def sizes(port: int) -> str:
    largest, reason = 0, ""
    for size in SIZES:
        reader, writer = Client(port, f"size-reader-{size}"), Client(port, f"size-writer-{size}")
        reader.subscribe("size")
        reason = writer.publish("size", b"x" * size * 1024)
        comes = reason == "Success" and bool(reader.received(1))
        for client in (reader, writer):
            client.end()
        if not comes:
            return f"{largest} KiB; {size}: {reason}"
        largest = size
    return f"over {largest} KiB"


def session(first: int, last: int) -> str:
    """What came to a persistent session while its client was away, at another node."""
    client = Client(first, "session", clean=False)
    client.subscribe("session/#")
    client.end()
    writer = Client(first, "session-writer")
    answers = [writer.publish("session/x", b"%d" % number) for number in range(5)]
    writer.end()
    client = Client(last, "session", clean=False)
    count = len(client.received(5))
    client.end()
    return f"{count} of {answers.count('Success')} messages"


def expiry(port: int) -> str:
    client = Client(port, "expiry", mqtt.MQTTv5, expiry=2)
    if not client.is_in:
        return "no MQTT 5; the broker's own"
    client.subscribe("expiry/#")
    client.end()
    time.sleep(5)
    client = Client(port, "expiry", mqtt.MQTTv5, clean=False, expiry=0)
    writer = Client(port, "expiry-writer")
    writer.publish("expiry/x")
    stays = bool(client.received(1, QUIET))
    client.end()
    writer.end()
    return "ignored" if stays else "as asked"


def denied(cluster) -> str:
    found = []
    for title, version in (("3.1.1", mqtt.MQTTv311), ("5", mqtt.MQTTv5)):
        client = Client(cluster.ports[0], "some", version, user=cluster.some)
        if not client.is_in:
            continue
        reader = Client(cluster.ports[0], "denied-reader")
        reader.subscribe("denied/#")
        answer = client.publish("denied/x")
        comes = bool(reader.received(1, QUIET))
        found.append(f"{title}: {answer}{', and it comes' if comes else ''}")
        client.end()
        reader.end()
    return "; ".join(found)


def rate(port: int, count: int) -> float:
    """Messages a second of one bare publisher with quality of service 1, of the size of a sample's, and 128 in flight."""
    client = Client(port, "rate")
    began = time.monotonic()
    for _ in range(count):
        client.client.publish("rate/x", b"x" * 600, 1)
    wait(lambda: len(client.reasons) >= count or client.was_cut, 120)
    done = len(client.reasons) / (time.monotonic() - began)
    client.end()
    return done
