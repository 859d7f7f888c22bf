"""Rows about the store: a full disk, a damaged file, and a backup."""

import glob
import os
import resource
import subprocess
import time

from peers import records
from rig import TIMEOUT, Bench, require, row, sample_id, until


def small_disk(bench: Bench) -> str | None:
    """A file system of 2 MiB for the store, if this machine allows it."""
    place = os.path.join(bench.folder, "small")
    os.mkdir(place)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, check=False)
    if mounted.returncode != 0:
        return None
    bench.cleanups.append(lambda: subprocess.run(["umount", "-l", place], capture_output=True, check=False))
    return place


@row("a full disk", "the store on 2 MiB, while a device sends as fast as it can; then there is room",
     "the gateway stays up, answers, and confirms nothing that it has not stored")
def full_disk(bench: Bench) -> str:
    place = small_disk(bench)
    limits = {} if place else {resource.RLIMIT_FSIZE: 1 << 20}
    if place:
        bench.gateway.store = os.path.join(place, "storm.sqlite")
    (load,) = bench.begin("band", rate=None, start={"limits": limits})
    bench.gateway.wait_for(" error ", 60)
    time.sleep(1)
    stored = len(load.acknowledged)
    time.sleep(2)
    bench.gateway.check()
    slowly = len(load.acknowledged) - stored
    require(bench.consumer.ask("nobody", "fetch", "full") in ("rejected", "failed"), "a wrong command is not refused")
    if place:
        # Room appears while it runs.
        subprocess.run(["mount", "-o", "remount,size=200m", place], check=True)
    else:
        bench.gateway.kill()
        bench.gateway.start()
    until(lambda: len(load.acknowledged) > stored + slowly + 500, 60, "no samples are stored once there is room")
    count = bench.settle("band")
    kind = "a tmpfs of 2 MiB" if place else "files of 1 MiB at most, then a restart"
    return f"{kind}: {stored} samples stored until it was full, {count} in the end, lost 0"


@row("a damaged store", "its first pages are overwritten while the gateway is down; kill -9 as soon as it is moved aside",
     "reported as a gap all the same, and the device's history is read again")
def damaged_store(bench: Bench) -> str:
    starts = [item["start"] for item in bench.peers.history("band", records(2_000, 3_000))]
    bench.broker()
    bench.write("band")
    bench.gateway.start()
    bench.consumer.expect_all("band", starts)
    bench.gateway.stop()
    with bench.consumer.lock:
        bench.consumer.ids.clear()
    note = bench.gateway.store + ".reset"
    for _ in range(10):
        with open(bench.gateway.store, "r+b") as file:
            file.write(b"Z" * 8192)
        bench.gateway.start()
        # The note is there from before the damaged file is moved until the gap is on disk.
        until(lambda: os.path.exists(note), 30, "the damaged file is not moved aside", step=0.0002)
        bench.gateway.kill()
        if os.path.exists(note):
            break
    require(os.path.exists(note), "no kill came before the loss was reported")
    time.sleep(0.5)  # what the broker has of an attempt that was too late
    with bench.consumer.lock:
        bench.consumer.gaps.clear()
    began = time.monotonic()
    bench.gateway.start()
    until(lambda: any(gap["reason"] == "store_reset" for gap in bench.consumer.gaps), 30, "no gap with the reason store_reset")
    count = bench.consumer.expect_all("band", starts)
    took = time.monotonic() - began
    bench.gateway.stop()
    require(bool(glob.glob(glob.escape(bench.gateway.store) + ".corrupt-*")), "the damaged file is not beside the new one")
    require(not os.path.exists(note), "the note of the reset is still there")
    return f"moved aside, reported after the kill, and {count} samples of the history again in {took:.1f} s, with the same ids"


@row("a store that may not be read", "its mode is 000, and the gateway's user may not override it",
     "it does not start, says why, and leaves the store as it is; with the mode again, nothing is lost")
def unreadable_store(bench: Bench) -> str:
    load = bench.peers.load("band", rate=50)
    bench.write("band")
    bench.gateway.start()
    load.flow(100, what="no samples")
    bench.gateway.stop()
    os.chmod(bench.gateway.store, 0)
    for _ in range(3):
        bench.gateway.refuses(70, "storm.sqlite cannot be read: Permission denied", overrides_modes=False)
    require(not glob.glob(glob.escape(bench.gateway.store) + ".corrupt-*"), "a sound store is moved aside")
    os.chmod(bench.gateway.store, 0o600)
    bench.broker()
    bench.gateway.start(overrides_modes=False)
    count = bench.settle("band")
    return f"refused three times; {count} samples, lost 0"


def offline(bench: Bench) -> None:
    """Stops the gateway, and waits until the consumer has its last message."""
    bench.gateway.stop()
    until(lambda: bench.consumer.statuses[-1:] == ["offline"], TIMEOUT, "the gateway did not disconnect gracefully")


def on_store(bench: Bench, command: str, copy: str) -> None:
    """Runs a command of the program that copies or replaces the store."""
    done = subprocess.run(
        [bench.gateway.program, command, "--config", bench.gateway.path, copy], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    require(done.returncode == 0, f"{command} ended with status {done.returncode}: {done.stderr.strip()}")


@row("a backup that is restored", "made under load; more samples, and more records of another device; stop, restore, start",
     "the gap is reported, the store has a new identity, no number comes twice; samples go on, records come again")
def restored_backup(bench: Bench) -> str:
    wanted = 500 if bench.is_quick else 5_000
    load = bench.peers.load("band", rate=200)
    kept = records(600, 3_000)
    ring = bench.peers.history("ring", kept[:300])
    bench.broker()
    before_restore = bench.consumer.facts = {}
    bench.write("band", "ring")
    bench.gateway.start()
    bench.consumer.expect_all("ring", [item["start"] for item in ring])
    load.flow(wanted, what="no samples")
    copied = list(load.acknowledged)
    copy = os.path.join(bench.folder, "copy.sqlite")
    on_store(bench, "backup", copy)
    load.flow(wanted, what="the samples stopped at the backup")
    ring += kept[300:]
    again = [item["start"] for item in kept[300:]]
    require(bench.consumer.ask("ring", "sync", "after-backup") == "done", "the records after the backup are not read")
    bench.consumer.expect_all("ring", again)
    offline(bench)
    with bench.consumer.lock:
        for start in again:
            del bench.consumer.ids["ring", start]
    replaced, store = len(load.acknowledged), bench.consumer.newest["gateway/info"]["store"]
    on_store(bench, "restore", copy)
    after_restore = bench.consumer.facts = {}
    bench.gateway.start()
    until(lambda: {gap["device"] for gap in bench.consumer.gaps if gap["reason"] == "store_reset"} == {"band", "ring"}, TIMEOUT,
          "no gap with the reason store_reset for each device")
    until(lambda: bench.consumer.newest["gateway/info"]["store"] != store, TIMEOUT, "the store has its old identity")
    load.flow(wanted, what="the samples stopped after the restore")
    bench.end_loads("band")
    # The store knows nothing of these records, and the device still keeps them. They have the ids that they had.
    bench.consumer.expect_all("ring", [item["start"] for item in kept])
    # What was stored between the backup and the restore, and what no device keeps, may be lost, as the gap says.
    count = bench.consumer.expect_all("band", copied + load.acknowledged[replaced:])
    offline(bench)
    for facts in (before_restore, after_restore):
        twice = [number for number, contents in facts.items() if len(contents) != 1]
        require(not twice, f"{len(twice)} numbers of one store have two facts: {twice[:5]}")
    # Up to the backup both are one store; behind it the new one counts on by itself.
    ids = {sample_id("band", start) for start in copied}
    last = max(number for number, contents in before_restore.items() if any(ids.intersection(content) for content in contents))
    other = [number for number, contents in after_restore.items() if number <= last and before_restore.get(number, contents) != contents]
    require(not other, f"{len(other)} numbers of the backup have other facts: {other[:5]}")
    return (f"{replaced - len(copied)} samples between backup and restore, reported as a gap; {count} others, lost 0; {len(again)} records again; "
            f"{len(before_restore)} and {len(after_restore)} numbers, none twice")
