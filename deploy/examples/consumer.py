#!/usr/bin/env python3
"""Writes what gateways measure into PostgreSQL: each sample once, whatever comes twice or late, or is withdrawn. A pattern to copy.

  python3 -m venv venv && venv/bin/pip install 'paho-mqtt>=2' 'psycopg[binary]' nats-py
  venv/bin/python consumer.py --id one --group health --mqtt mqtt://127.0.0.1:1883        mosquitto: as many as you like, by id
  venv/bin/python consumer.py --id one --mqtt mqtt://one,mqtt://two,mqtt://three          RabbitMQ: one, it has no shared subscriptions
  venv/bin/python consumer.py --group health --nats nats://127.0.0.1:4222 --replicas 3    NATS: as many as you like

--database is a connection string of libpq; by default the PG… variables say it. A message is acknowledged after its commit, so a killed
consumer loses nothing: start it again with its id, since the broker holds what it has not acknowledged. Numbers that do not come are
requested by `replay`; what five requests do not bring stands in the table `loss`. Any error ends the program; let a service manager start
it again.
"""

import argparse
import asyncio
import json
import os
import queue
import random
import time
import urllib.parse

import paho.mqtt.client as mqtt
import psycopg

BATCH = 200  # messages of a transaction
REQUESTS = 5  # for missing numbers, each after a longer wait, before they count as lost
RANGE = 10_000  # numbers of a request
# A withdrawn sample stays as an empty row, so that an older message cannot bring it back. `number` has what came behind `complete_to`.
SCHEMA = """
CREATE TABLE IF NOT EXISTS sample(gateway text, id uuid, rev int NOT NULL, device text NOT NULL, metric text NOT NULL, person text,
    started_at timestamptz, ended_at timestamptz, value double precision, unit text, fields jsonb, kind text, received_at timestamptz,
    withdrawn boolean NOT NULL, PRIMARY KEY(gateway, id));
CREATE TABLE IF NOT EXISTS gateway(name text PRIMARY KEY, store text, complete_to bigint NOT NULL DEFAULT 0,
    requests int NOT NULL DEFAULT 0, requested_at timestamptz NOT NULL DEFAULT now(), was_away boolean NOT NULL DEFAULT true);
CREATE TABLE IF NOT EXISTS number(gateway text, seq bigint, parts int, part int, came_at timestamptz DEFAULT now(),
    PRIMARY KEY(gateway, seq, parts, part));
CREATE TABLE IF NOT EXISTS loss(gateway text, store text, from_seq bigint, to_seq bigint, noted_at timestamptz DEFAULT now());
"""
SAMPLE = """
INSERT INTO sample VALUES (%(gateway)s, %(id)s, %(rev)s, %(device)s, %(metric)s, %(person)s, %(start)s, %(end)s, %(value)s, %(unit)s,
    %(fields)s, %(kind)s, %(received_at)s, %(withdrawn)s)
ON CONFLICT (gateway, id) DO UPDATE SET rev = excluded.rev, person = excluded.person, started_at = excluded.started_at,
    ended_at = excluded.ended_at, value = excluded.value, unit = excluded.unit, fields = excluded.fields, kind = excluded.kind,
    received_at = excluded.received_at, withdrawn = excluded.withdrawn WHERE sample.rev < excluded.rev
"""
# A fact is here when all of its parts are.
COMPLETE = """
WITH RECURSIVE here AS (SELECT seq FROM number WHERE gateway = %(gateway)s GROUP BY seq, parts HAVING count(*) >= parts),
    next AS (SELECT complete_to AS seq FROM gateway WHERE name = %(gateway)s
             UNION SELECT here.seq FROM here JOIN next ON here.seq = next.seq + 1)
UPDATE gateway SET complete_to = n.seq, requests = 0, requested_at = now() FROM (SELECT max(seq) AS seq FROM next) n
WHERE name = %(gateway)s AND complete_to < n.seq
"""
# Holes, and what may follow the last number of a gateway that was away: a broker that restarted may have lost that.
MISSING = """
SELECT name, complete_to + 1, least(complete_to + %(range)s, min(seq) - 1), requests, min(seq) IS NULL
FROM gateway LEFT JOIN number ON gateway = name AND seq > complete_to
WHERE requested_at < now() - %(after)s * (1 + requests) * interval '1 second' GROUP BY name
HAVING min(came_at) < now() - %(after)s * interval '1 second' AND min(seq) > complete_to + 1 OR was_away AND min(seq) IS NULL ORDER BY name
"""


class Database:
    """What the contract's duties of a consumer need: samples by `id` and `rev`, and the numbers of each gateway's store."""

    def __init__(self, address: str, base: str, after: float) -> None:
        self.connection, self.base, self.after, self.checked = psycopg.connect(address, autocommit=True), base, after, 0.0
        with self.connection.transaction():
            self.connection.execute("SELECT pg_advisory_xact_lock(7)")  # two that start at once
            self.connection.execute(SCHEMA)

    def store(self, messages: list[tuple[str, bytes]]) -> None:
        """Stores messages in one transaction, or one by one if PostgreSQL does not take a value of one of them."""
        try:
            with self.connection.transaction(), self.connection.cursor() as cursor:
                self.write(cursor, messages)
        except psycopg.DataError as error:
            if len(messages) > 1:
                for message in messages:
                    self.store([message])
            else:
                print(f"Skipped a message of {messages[0][0]}: {type(error).__name__}", flush=True)

    def write(self, cursor: psycopg.Cursor, messages: list[tuple[str, bytes]]) -> None:
        """All rows come in one order, so that consumers cannot wait for each other in a ring."""
        samples, numbers, gaps, stores = [], [], [], {}
        for topic, payload in messages:
            try:
                (gateway, device, kind, *_), body = topic.removeprefix(self.base + "/").split("/"), json.loads(payload)
                if (device, kind) == ("gateway", "info"):
                    stores[gateway] = body["store"]
                if kind not in ("measurement", "daily", "event") or body["seq"] is None:
                    continue
                if kind == "measurement":
                    shared = {"gateway": gateway, "device": device, **{key: body[key] for key in ("metric", "person", "unit")}}
                    samples += [stored({**sample, **shared}) for sample in body["samples"]]
                elif body["schema"].startswith("vitals2mqtt.gap/"):
                    gaps.append((gateway, device, body))
                # Only now: the number of a message that cannot be read counts as missing.
                numbers.append((gateway, body["seq"], body.get("parts", 1), body.get("part", 1)))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # a word, an emptied topic, or no message of a gateway
        for gateway in sorted({row[0] for row in numbers} | set(stores)):
            # Locks the row: of two consumers that each bring one of two numbers, one must see both.
            cursor.execute("INSERT INTO gateway VALUES (%s) ON CONFLICT (name) DO UPDATE SET name = excluded.name", (gateway,))
        for gateway, store in sorted(stores.items()):
            # The numbers of another store begin again.
            cursor.execute("UPDATE gateway SET store = %s, complete_to = 0, requests = 0 WHERE name = %s AND store <> %s", (store, gateway, store))
            if cursor.rowcount:
                cursor.execute("DELETE FROM number WHERE gateway = %s", (gateway,))
            # It comes with each connection of the gateway, and with each of this consumer.
            cursor.execute("UPDATE gateway SET store = %s, was_away = true WHERE name = %s", (store, gateway))
        cursor.executemany(SAMPLE, sorted(samples, key=lambda row: (row["gateway"], row["id"], row["rev"])))
        cursor.executemany("INSERT INTO number SELECT %s, %s, %s, %s ON CONFLICT DO NOTHING", sorted(numbers))
        for gateway, device, body in gaps:
            for numbers_lost in body["sequences"]:
                self.lose(cursor, gateway, numbers_lost["from_seq"], numbers_lost["to_seq"])
            if body["reason"] == "erased":
                cursor.execute("DELETE FROM sample WHERE gateway = %s AND device = %s AND received_at <= %s", (gateway, device, body["at"]))
        for gateway in sorted({row[0] for row in numbers}):
            self.complete(cursor, gateway)

    @staticmethod
    def lose(cursor: psycopg.Cursor, gateway: str, first: int, last: int) -> None:
        """Notes numbers that never come."""
        cursor.execute("INSERT INTO loss SELECT name, store, %s, %s FROM gateway WHERE name = %s", (first, last, gateway))
        cursor.execute("INSERT INTO number SELECT %s, generate_series(%s::bigint, %s), 1, 1 ON CONFLICT DO NOTHING", (gateway, first, last))

    @staticmethod
    def complete(cursor: psycopg.Cursor, gateway: str) -> None:
        """Moves the number below which none is missing, and forgets those below it."""
        cursor.execute(COMPLETE, {"gateway": gateway})
        cursor.execute("DELETE FROM number USING gateway WHERE gateway = name AND name = %s AND seq <= complete_to", (gateway,))

    def requests(self) -> list[tuple[str, dict]]:
        """The requests for what is missing: topics, and payloads. One consumer at a time looks, each half of the time after which."""
        if time.monotonic() - self.checked < self.after / 2:
            return []
        self.checked, found = time.monotonic(), []
        with self.connection.transaction(), self.connection.cursor() as cursor:
            if not cursor.execute("SELECT pg_try_advisory_xact_lock(8)").fetchone()[0]:
                return []
            for gateway, first, last, asked, is_end in cursor.execute(MISSING, {"after": self.after, "range": RANGE}).fetchall():
                cursor.execute("UPDATE gateway SET requests = requests + %s, requested_at = now(), was_away = was_away AND NOT %s WHERE name = %s",
                               (int(not is_end), is_end, gateway))
                if asked >= REQUESTS and not is_end:
                    self.lose(cursor, gateway, first, last)
                    self.complete(cursor, gateway)
                    continue
                print(f"Requests {first} to {last} of {gateway}.", flush=True)
                name = f"replay-{first}-{last}-{time.time_ns()}"
                found.append((f"{self.base}/{gateway}/gateway/command/replay", {"id": name, "from_seq": first, "to_seq": last}))
        return found


def stored(sample: dict) -> dict:
    """A sample as a row: of a withdrawn one only its place."""
    row = {"withdrawn": False, **sample, "fields": json.dumps(sample["fields"])}
    if row["withdrawn"]:
        row |= dict.fromkeys(("person", "start", "end", "value", "fields", "kind"))
    return row


def ended(reason: mqtt.ReasonCode) -> None:
    """Ends the program; its next start takes another node."""
    print(f"The broker has ended the connection: {reason}", flush=True)
    os._exit(1)


def from_mqtt(options: argparse.Namespace, database: Database) -> None:
    """A session that outlives the consumer: the broker holds what comes meanwhile."""
    server, waiting = urllib.parse.urlsplit(random.choice(options.mqtt.split(","))), queue.Queue()
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, f"consumer-{options.id}", clean_session=False, manual_ack=True)
    client.username_pw_set(server.username, server.password)
    share = f"$share/{options.group}/" if options.group else ""
    # A shared subscription gets nothing retained.
    client.on_connect = lambda *_: client.subscribe([(f"{share}{options.base}/#", 1), (f"{options.base}/+/gateway/info", 1)])
    client.on_disconnect = lambda _client, _data, _flags, reason, _properties: ended(reason)
    client.on_message = lambda _client, _data, message: waiting.put(message)
    client.connect(server.hostname, server.port or 1883)
    client.loop_start()
    while True:
        messages = []
        try:
            messages.append(waiting.get(timeout=1))
            while len(messages) < BATCH:
                messages.append(waiting.get_nowait())
        except queue.Empty:
            pass
        database.store([(message.topic, message.payload) for message in messages])
        for message in messages:
            client.ack(message.mid, message.qos)
        for topic, body in database.requests():
            client.publish(topic, json.dumps(body), 1)


async def from_nats(options: argparse.Namespace, database: Database) -> None:
    """A durable pull consumer of a stream over the base topic's subject."""
    import nats  # only here: the others do not need it
    from nats.js.api import ConsumerConfig, StreamConfig

    client = await nats.connect(options.nats.split(","), max_reconnect_attempts=-1)
    stream, subject = client.jetstream(timeout=30), options.base.replace("/", ".") + ".>"
    name = options.base.replace("/", "-")
    await stream.add_stream(StreamConfig(name, subjects=[subject], num_replicas=options.replicas, max_age=7 * 86400))
    settings = ConsumerConfig(ack_wait=30, max_ack_pending=10 * BATCH)
    subscription = await stream.pull_subscribe(subject, options.group, name, config=settings)
    while True:
        try:
            messages = await subscription.fetch(BATCH, timeout=2)
        except (nats.errors.TimeoutError, nats.js.errors.ServiceUnavailableError):
            messages = []  # nothing came, or the stream has no leader now
        database.store([(message.subject.replace(".", "/"), message.data) for message in messages])
        for message in messages:
            await message.ack()
        for topic, body in database.requests():
            await client.publish(topic.replace("/", "."), json.dumps(body).encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mqtt", metavar="URL,…")
    parser.add_argument("--nats", metavar="URL,…")
    parser.add_argument("--id", default="one", help="the name of this consumer's session at the MQTT broker")
    parser.add_argument("--group", default="", help="the name of all consumers that share the messages")
    parser.add_argument("--replicas", type=int, default=1, help="of the stream in NATS")
    parser.add_argument("--base", default="vitals2mqtt", help="the base topic")
    parser.add_argument("--database", default="")
    parser.add_argument("--after", type=float, default=60, help="seconds after which a missing number is requested")
    options = parser.parse_args()
    if bool(options.mqtt) == bool(options.nats) or options.nats and not options.group:
        parser.error("say --mqtt URL, or --nats URL and --group NAME")
    database = Database(options.database, options.base, options.after)
    if options.mqtt:
        from_mqtt(options, database)
    else:
        asyncio.run(from_nats(options, database))


if __name__ == "__main__":
    main()
