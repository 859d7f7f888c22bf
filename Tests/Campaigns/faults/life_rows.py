"""Rows about the lifecycle of the process: reloads, stops, and kills."""

import os
import random
import time

from rig import Bench, require, row, until


@row("a named pipe as configuration file", "reload, then stop", "the reload is refused, devices stay; the stop takes 6 s at most")
def pipe_as_configuration(bench: Bench) -> str:
    (load,) = bench.begin("band")
    load.flow(50, 20)
    os.remove(bench.gateway.path)
    os.mkfifo(bench.gateway.path)
    bench.gateway.reload()
    load.flow(100, 20, "the samples stopped after the reload")
    error = until(lambda: bench.consumer.newest.get("gateway/state", {}).get("last_error"), 30, "no error in gateway/state")
    stopped = bench.gateway.stop()
    count = bench.received("band", seconds=10)
    return f"\"{error[:40]}…\"; stop in {stopped:.2f} s; {count} samples, lost 0"


@row("a storm of reloads", "200 changed configurations of 50 devices in 10 s", "the last one holds, every device is served")
def reload_storm(bench: Bench) -> str:
    names = [f"d{number}" for number in range(50)]
    for name in names:
        bench.peers.load(name, rate=2)
    bench.broker()
    rng = random.Random(1)
    bench.write(*names)
    bench.gateway.start()
    bench.served("d0")
    for _ in range(200):
        chosen = rng.sample(names, rng.randrange(1, 50))
        bench.gateway.write([bench.peers.device(name, name=f"{name}, {rng.randrange(9)}") for name in chosen])
        bench.gateway.reload()
        time.sleep(0.05)
        bench.gateway.check()
    bench.write(*names)
    bench.gateway.reload()
    began = time.monotonic()
    done: set[str] = set()
    tries = 0
    while len(done) < len(names):
        require(time.monotonic() - began < 60, f"{len(names) - len(done)} devices are not served after the storm")
        tries += 1
        for name in names:
            bench.consumer.send(name, "fetch", f"{name}-{tries}")
        time.sleep(1)
        finals = {name: bench.consumer.answers.get(f"{name}-{tries}", []) for name in names}
        done |= {name for name, answers in finals.items() if [answer["status"] for answer in answers] == ["done"]}
    served = time.monotonic() - began
    stopped = bench.gateway.stop()
    count = bench.received(*names, seconds=20)
    return f"all 50 served {served:.0f} s after the last reload; {count} samples, lost 0; stop in {stopped:.2f} s"


@row("stop under load", "10 stops with --quick, else 50, at random moments", "status 0 within 6 s; nothing is lost")
def stop_under_load(bench: Bench) -> str:
    stops = 10 if bench.is_quick else 50
    names = ["band", "ring", "cuff"]
    loads = [bench.peers.load(name) for name in names]
    bench.broker()
    bench.write(*names)
    rng = random.Random(1)
    longest = 0.0
    for _ in range(stops):
        bench.gateway.start()
        # A late acknowledgement of the run before is none of this one, which a signal could still end before it listens for any.
        bench.gateway.wait_for("The device is connected.", 30)
        loads[0].flow(1, 30, step=0.01)
        time.sleep(rng.uniform(0, 0.5))
        longest = max(longest, bench.gateway.stop())
    bench.gateway.start()
    # All may be there already, and a signal would end what does not listen yet.
    bench.gateway.wait_for("The device is connected.", 30)
    count = bench.received(*names)
    bench.gateway.stop()
    return f"{stops} stops, the longest took {longest:.2f} s; {count} samples, lost 0, second ids 0"


def kill_rounds(bench: Bench, kills: int, has_broker: bool) -> str:
    load = bench.peers.load("band")
    bench.broker()
    if not has_broker:
        bench.mosquitto.stop()
    bench.write("band")
    seed = int.from_bytes(os.urandom(4), "big")
    rng = random.Random(seed)
    began = time.monotonic()
    for _ in range(kills):
        bench.gateway.start()
        # Some between two commits, some within one.
        load.flow(rng.randrange(1, 120), 30, f"no samples (seed {seed})", step=0.001)
        time.sleep(rng.uniform(0, 0.02))
        bench.gateway.kill()
    took = time.monotonic() - began
    if not has_broker:
        bench.broker()
    bench.gateway.start()
    load.flow(1, 30)
    began = time.monotonic()
    stored = list(load.acknowledged)
    bench.consumer.expect_all("band", stored, 120)
    delivered = time.monotonic() - began
    count = bench.settle("band")
    return (f"{kills} kills in {took:.0f} s (seed {seed}), {len(stored)} samples acknowledged, all delivered {delivered:.1f} s "
            f"after the last start: {count}, lost 0, second ids 0")


for name, fault, done in (
        ("kills_with_broker", "kill -9, the broker present", "10 kills with --quick, else 50, or half of --kills"),
        ("kills_without_broker", "kill -9, the broker offline", "as many, then the broker returns")):
    row(fault, done, "nothing acknowledged is lost; no sample has a second id", name=name)(
        lambda bench, has_broker=name == "kills_with_broker": kill_rounds(bench, bench.kills, has_broker))
