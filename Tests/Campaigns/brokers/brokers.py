"""Tries real brokers and clusters with real gateways, and prints tables. See Tests/Campaigns/brokers/run."""

import argparse
import concurrent.futures
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback

import clusters
import probes
from fleet import Consumers, Fleet, Postgres, Watcher, identity
from rules import rules
from waiting import Finding, require, until

KILL_EVERY = 20.0  # seconds between two kills of a node
CONSUMER_EVERY = 7.0  # seconds between two kills of a consumer
ASK_EVERY = 2.0  # seconds between two commands
CATCH_UP = 300.0  # seconds in which all comes after the last kill
ANSWERS = 120.0  # seconds in which a command must be answered, whatever dies meanwhile
PUBLISHED = 5_000  # messages of a rate
ROUNDS = 3  # of a rate; the best counts, since others use the machine


def storm(cluster, options, folder: str) -> dict[str, str]:
    """Kills a node every 20 s under gateways that publish, with consumers that are killed, too."""
    bare = max(probes.rate(cluster.ports[0], PUBLISHED) for _ in range(ROUNDS))
    database = Postgres(folder)
    fleet = Fleet(options.gateway, folder, cluster, options.gateways, options.devices, options.rate)
    watcher = consumers = None
    try:
        watcher = Watcher(cluster)
        began = time.monotonic()
        # What comes before the first consumer, it must request.
        fleet.start()
        consumers = Consumers(folder, 1 if cluster.name == "RabbitMQ" else 3, source(cluster), database)
        kills, took, before = kill(cluster, options, fleet, watcher, consumers)
        fleet.end_loads()
        seconds, made = time.monotonic() - began, fleet.made()
        withdrawn = withdraw(fleet, watcher)
        lasts = catch_up(fleet, database, consumers, made - len(withdrawn))
        fleet.stop()
        compare(fleet, database, withdrawn)
        require(watcher.second_ids() == 0, f"{watcher.second_ids()} samples have a second id")
        losses = database.query("SELECT coalesce(sum(to_seq - from_seq + 1), 0) FROM loss")[0][0]
        store = new_store(fleet, database, consumers, withdrawn)
        return {
            "gateways, devices": f"{options.gateways}, {options.gateways * options.devices}",
            "samples": f"{made} in {seconds:.0f} s, {made / seconds:.0f} a second; lost 0, second ids 0",
            "nodes killed": f"{kills}; the last was back after {took:.0f} s",
            "came again under the same id and rev": str(watcher.copies),
            "commands": f"{len(watcher.waits)} answered, the slowest after {max(watcher.waits):.1f} s",
            "consumers killed": f"{consumers.kills}, started {consumers.starts} times; rows as in the stores {lasts:.0f} s after the last sample",
            "withdrawn": str(len(withdrawn)), "a new store": store,
            "requests for missing numbers": f"{before} before the first kill, {consumers.requested() - before} after; given up {losses} numbers",
            "bare publisher": f"{bare:.0f} messages a second"}
    except Finding as finding:
        for name, gateway in fleet.gateways.items():
            if f" {name}-" in str(finding):
                print("".join(gateway.lines[-30:]), flush=True)
        raise
    finally:
        if consumers:
            consumers.end()
        if watcher:
            watcher.end()
        fleet.kill()
        database.stop()


def source(cluster) -> list[str]:
    """How the consumers get the messages."""
    if cluster.has_subject:
        return ["--nats", cluster.client_urls, "--group", "health", "--replicas", str(cluster.count)]
    url = ["--mqtt", ",".join(cluster.urls)]
    return url if cluster.name == "RabbitMQ" else [*url, "--group", "health"]


def kill(cluster, options, fleet, watcher, consumers) -> tuple[int, float, int]:
    """Kills nodes, one at a time, and consumers, and asks, for the time of the run. Returns how many nodes, how long the
    last took, and how many requests there were before."""
    chance, kills, took, before = random.Random(options.seed), 0, 0.0, 0
    end, node_at, consumer_at = time.monotonic() + options.seconds, time.monotonic() + KILL_EVERY / 2, time.monotonic() + CONSUMER_EVERY
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        asking = beside.submit(ask, list(fleet.peers.loads), watcher, end)
        while time.monotonic() < end:
            consumers.tend()
            if time.monotonic() >= consumer_at:
                consumers.kill_one(chance)
                consumer_at += CONSUMER_EVERY
            if time.monotonic() >= node_at:
                before = before if kills else consumers.requested()
                node, began = kills % cluster.count, time.monotonic()
                cluster.kill(node)
                cluster.revive(node)
                # Two of three must stay.
                cluster.wait(node)
                kills, took = kills + 1, time.monotonic() - began
                node_at = max(node_at + KILL_EVERY, time.monotonic() + KILL_EVERY / 4)
                print(f"{cluster.name}: killed node {node}, back after {took:.0f} s; {fleet.made()} samples", flush=True)
            for gateway in fleet.gateways.values():
                gateway.check()
            time.sleep(0.5)
        asking.result()
    return kills, took, before


def ask(devices: list[str], watcher, end: float) -> None:
    """Sends commands to one device after the other, each once the one before is answered."""
    number = 0
    while time.monotonic() < end:
        device = devices[number * 7 % len(devices)]
        status = watcher.ask(device.split("-")[0], device, "history", ANSWERS, metric="heart_rate", limit=1)
        require(status == "done", f"history is {status}")
        number += 1
        time.sleep(ASK_EVERY)


def withdraw(fleet, watcher) -> set[tuple[str, str]]:
    """Takes the first sample of some devices back."""
    taken = set()
    for device in list(fleet.peers.loads)[::7]:
        gateway, start = device.split("-")[0], fleet.peers.loads[device].acknowledged[0]
        name = identity(device, "heart_rate", start, start, 0)
        status = watcher.ask(gateway, device, "withdraw", ANSWERS, id=name)
        require(status == "done", f"withdraw is {status}")
        taken.add((gateway, name))
    return taken


def catch_up(fleet, database, consumers, count: int) -> float:
    """Waits until the rows are there. Returns how long it took."""
    began = time.monotonic()

    def has_come() -> bool:
        consumers.tend()
        return database.query("SELECT count(*) FROM sample WHERE NOT withdrawn")[0][0] >= count
    try:
        until(has_come, CATCH_UP, "not all rows", step=1)
    except Finding:
        have, want = database.rows(), fleet.identities()
        missing = want - set(have)
        raise Finding(f"{len(missing)} of {len(want)} samples are lost to the consumers; {database.query('SELECT * FROM gateway')[:3]}") from None
    return time.monotonic() - began


def compare(fleet, database, withdrawn: set) -> None:
    """The rows are exactly those of the stores, and those are what the devices have an answer for."""
    stores = fleet.rows()
    different = set(stores) ^ (fleet.identities() - withdrawn)
    require(not different, f"{len(different)} samples of stores and devices differ")
    until(lambda: database.rows() == stores, 60, "the rows are not those of the stores", step=2)


def new_store(fleet, database, consumers, withdrawn: set) -> str:
    """Starts a gateway with an empty store: its numbers begin again, and the consumers follow."""
    name, gateway = next(iter(fleet.gateways.items()))
    before = database.query("SELECT store, complete_to FROM gateway WHERE name = %s", name)[0]
    for ending in ("", "-wal", "-shm"):
        if os.path.exists(gateway.store + ending):
            os.remove(gateway.store + ending)
    for device, load in fleet.peers.loads.items():
        load.is_over = not device.startswith(f"{name}-")
        load.waiting.clear()
    fleet.gateways = {name: gateway}
    gateway.start()
    time.sleep(5)
    fleet.end_loads()

    def has_followed() -> bool:
        consumers.tend()
        rows = database.rows()
        store, complete = database.query("SELECT store, complete_to FROM gateway WHERE name = %s", name)[0]
        return store != before[0] and complete > 0 and fleet.identities() - withdrawn <= set(rows)
    until(has_followed, CATCH_UP, "the consumers do not follow a new store", step=1)
    gateway.stop()
    return f"numbers begin again, behind {before[1]} of the one before"


def table(title: str, columns: dict[str, dict[str, str]]) -> None:
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    print(f"\n{title}\n\n| | {' | '.join(columns)} |\n| --- |{' --- |' * len(columns)}")
    for name in names:
        print(f"| {name} | {' | '.join(column.get(name, '') for column in columns.values())} |")


def main() -> int:
    parser = argparse.ArgumentParser(prog="Tests/Campaigns/brokers/run", description=__doc__)
    parser.add_argument("--gateway", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="rules,table,storm", help="rules (of a consumer), table, storm")
    parser.add_argument("--brokers", default=",".join(clusters.ALL), help="some of " + ", ".join(clusters.ALL))
    parser.add_argument("--quick", action="store_true", help="a minute of kills for each broker instead of ten")
    parser.add_argument("--debian", default="12,13", help="whose packages; 12 is what this machine has")
    parser.add_argument("--root", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--gateways", type=int, default=20)
    parser.add_argument("--devices", type=int, default=10, help="of a gateway")
    parser.add_argument("--rate", type=float, default=1, help="samples a second of a device")
    parser.add_argument("--seconds", type=float, help="of the kills; 600 by default")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what it started ends, too
    options.seconds = options.seconds or (60 if options.quick else 600)
    options.gateway = os.path.abspath(options.gateway)
    found, storms, failed = {}, {}, []
    if "rules" in options.only.split(","):
        with tempfile.TemporaryDirectory(prefix="vitals2mqtt-brokers-") as folder:
            try:
                print(f"{rules(folder)} rules of a consumer hold", flush=True)
            except Finding as finding:
                failed.append(f"rules: {finding}")
    for debian in options.debian.split(","):
        root = os.path.abspath(options.root) if debian == "13" else ""
        for name in options.brokers.split(","):
            if root and name == "mosquitto":
                continue
            title = name if name == "mosquitto" else f"{name} of Debian {debian}"
            for part, results in (("table", found), ("storm", storms)):
                if part not in options.only.split(","):
                    continue
                folder = tempfile.mkdtemp(prefix="vitals2mqtt-brokers-")
                cluster = clusters.ALL[name](folder, root)
                try:
                    cluster.start()
                    if part == "table":
                        results[title] = probes.probe(cluster)
                        results[title]["rate"] = f"{max(probes.rate(cluster.ports[0], PUBLISHED) for _ in range(ROUNDS)):.0f}"
                    else:
                        results[title] = storm(cluster, options, folder)
                    print(f"{title}, {part}: {results[title]}", flush=True)
                except Exception as error:  # the others run all the same
                    failed.append(f"{title}, {part}: {error}")
                    print(f"FAILED {failed[-1]}", flush=True)
                    if not isinstance(error, Finding):
                        traceback.print_exc()
                finally:
                    cluster.stop()
                    shutil.rmtree(folder, ignore_errors=True)
                    if root:
                        shutil.rmtree(root + folder, ignore_errors=True)
    if "mosquitto" in found:
        usual = float(found["mosquitto"]["rate"])
        for column in found.values():
            column["rate"] = f"{float(column['rate']) / usual:.2f}"
    for title, results in (("What each broker does", found), ("A node is killed every 20 s", storms)):
        if results:
            table(title, results)
    for line in failed:
        print(f"FAILED {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
