"""A row about two gateways that the broker takes for one."""

import os
import time

from rig import TIMEOUT, Bench, Gateway, require, row, until

# mosquitto 2.0.11 gives no reason when it closes a connection for another one; later ones do.
SAID = "same client id"


@row("two gateways with one client id", "a copied configuration with another device; each connection ends the other's; then the copy is stopped",
     "both say what to check, and do not try without a wait; all samples of both arrive")
def takeover(bench: Bench) -> str:
    seconds = 15 if bench.is_quick else 60
    ring = bench.peers.load("ring", rate=50)
    (band,) = bench.begin("band")
    folder = os.path.join(bench.folder, "copy")
    os.mkdir(folder)
    copy = Gateway(bench.gateway.program, folder, bench.gateway.broker)
    bench.cleanups.append(copy.kill)
    copy.write([bench.peers.device("ring")])
    copy.start()
    for gateway in (bench.gateway, copy):
        gateway.wait_for(SAID, TIMEOUT)
    time.sleep(seconds)
    taken = sum(SAID in line for gateway in (bench.gateway, copy) for line in gateway.lines)
    # Each waits up to a second and a half.
    require(taken <= 3 * seconds, f"{taken} connections were taken over in {seconds} s")
    for gateway in (bench.gateway, copy):
        gateway.check()
    bench.end_loads("ring")
    until(lambda: not bench.consumer.lost("ring", list(ring.acknowledged)), 2 * TIMEOUT, "the samples of the copy do not arrive", step=0.2)
    copy.stop()
    began = time.monotonic()
    before = list(band.acknowledged)
    until(lambda: not bench.consumer.lost("band", before), TIMEOUT,
          "the samples of the first do not arrive once it is alone", step=0.2)
    alone = time.monotonic() - began
    count = bench.settle("band") + bench.received("ring")
    return f"{taken} connections taken over in {seconds} s; alone again after {alone:.1f} s; {count} samples, lost 0"
