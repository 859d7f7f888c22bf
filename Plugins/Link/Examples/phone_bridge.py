#!/usr/bin/env python3
"""A phone as bridge: the part of an app that carries a band from its SDK to vitals2mqtt. An example of a device that calls the gateway.

    band ⇄ SDK ⇄ this app ⇄ gateway

It calls the listener of the gateway's plugin `tcp` and speaks Vitals Link (see ../Protocol.md):

    python3 phone_bridge.py --host gateway.local --port 7879 --device phone-1 --token-file token --ca ca.pem

A fake stands for the SDK (phone_sdk.py) and for the band (phone_band.py): replace both. The page "A phone as bridge" of the
documentation has a table of the SDK's calls. Only the standard library is used; Python 3.9 or newer.
"""

import argparse
import asyncio
import json
import random
import signal
import ssl
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True

from phone_band import Band
from phone_calls import Calls
from phone_link import LONGEST_LINE, Link, Refused, log
from phone_outbox import Outbox
from phone_sdk import SDK
from phone_translation import INVALID, milliseconds, sample

LONGEST_WAIT = 60.0  # seconds between two calls


class Bridge:
    """Connects the SDK's callbacks with the link, if there is one. Everything runs on the one main thread."""

    def __init__(self, sdk, outbox, note):
        self.sdk, self.outbox, self.note = sdk, outbox, note
        self.link = None  # the open link, from the answer to `initialize` on
        self.current = None  # the same before
        self.changed = asyncio.Event()  # the band has come or gone
        sdk.connection_handler = self.connection_changed
        sdk.value_handler = self.value
        sdk.battery_handler = self.battery
        sdk.wear_handler = lambda worn: self.notify("wear", {"worn": worn})
        sdk.alert_handler = self.alert

    # The SDK's callbacks

    def connection_changed(self, is_connected):
        """Without its band the app has nothing to say: it hangs up, and the gateway shows the device as offline."""
        self.changed.set()
        if self.current and not is_connected:
            log("I", "the band is offline")
            self.current.hang_up()

    def value(self, metric, item):
        """A live value: kept until the gateway has it on its disk, whether or not there is a link."""
        measured = sample(metric, item)
        self.send(self.outbox.add(measured), measured)

    def battery(self, percent, charging):
        self.notify("battery", {"percent": percent, "charging": charging})

    def alert(self, metric, edge, value, at):
        rule = {"heart_rate": "heart_rate_resting_high", "blood_pressure": "blood_pressure_systolic_high"}.get(metric, metric + "_low")
        self.notify("alert", {"rule": rule, "edge": edge, "value": value, "at": milliseconds(at)})

    # The link

    def notify(self, method, params):
        if self.link:
            self.link.notify(method, params)

    def send(self, number, measured):
        if not self.link:
            log("I", "sample %d is kept until there is a link" % number)
            return

        def done(error):
            if error and error.get("code") != INVALID:
                log("W", "sample %d is sent again with the next link: %s" % (number, error.get("message")))
                return
            if error:
                log("W", "sample %d is refused: %s" % (number, error.get("message")))
            self.outbox.remove(number)

        self.link.request("sample-%d" % number, "sample", {"sample": measured}, done)

    async def serve(self, reader, writer):
        """Runs one link to its end."""
        calls = Calls(self.sdk, self.outbox, self.opened)
        link = self.current = calls.link = Link(reader, writer, calls.table, self.note)
        try:
            await link.serve()
            return link.was_wanted
        finally:
            if self.link:
                log("I", "the link has ended")
            self.link = self.current = None
            calls.ended()

    def opened(self):
        """The gateway knows the device: it gets the present state, and what no earlier link has brought it."""
        self.link = self.current
        self.battery(self.sdk.band.battery, self.sdk.band.charging)
        self.notify("wear", {"worn": self.sdk.band.worn})
        for number, measured in self.outbox.all():
            self.send(number, measured)

    async def call_forever(self, arguments):
        """Calls the gateway while the band is connected, and again after each end, with waits that double and differ."""
        wait = arguments.first_wait
        while True:
            while not self.sdk.is_connected():
                self.changed.clear()
                await self.changed.wait()
            began, was_wanted = time.monotonic(), False
            try:
                was_wanted = await self.call(arguments)
            except Refused as error:
                log("W", "the gateway refuses the call: %s" % error)
            except (OSError, asyncio.TimeoutError) as error:  # also those of TLS
                log("W", "no link: %s" % (error or type(error).__name__))
            # A link that was good or ended well is no reason to wait longer.
            if was_wanted or time.monotonic() - began > wait:
                wait = arguments.first_wait
            pause = wait * random.uniform(0.8, 1.2)
            log("I", "calling again in %.1f s" % pause)
            await asyncio.sleep(pause)
            wait = min(wait * 2, LONGEST_WAIT)

    async def call(self, arguments):
        """One call: the introduction, then the link. Returns whether it ended with a graceful disconnect."""
        # Read each time, so that a new token needs no restart.
        token = arguments.token_file.read_text().strip()
        tls = ssl.create_default_context(cafile=arguments.ca) if arguments.ca else None
        connecting = asyncio.open_connection(arguments.host, arguments.port, ssl=tls, limit=LONGEST_LINE + 2)
        reader, writer = await asyncio.wait_for(connecting, 30)
        introduction = {"device": arguments.device, "token": token}
        writer.write(json.dumps(introduction).encode() + b"\n")
        return await self.serve(reader, writer)


class Standard(asyncio.StreamWriter):
    """Standard output, which is closed together with standard input, as a socket is."""

    def close(self):
        super().close()
        self.input.close()


async def standard_streams():
    """Standard input and output as a link's reader and writer."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE + 2)
    source, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    sink, protocol = await loop.connect_write_pipe(lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout)
    writer = Standard(sink, protocol, None, loop)
    writer.input = source
    return reader, writer


def journal(path):
    """A function that appends a line to a file for every call, for tests."""

    def note(method, params):
        if path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps({"method": method, "params": params}) + "\n")

    return note


async def run(arguments):
    note = journal(arguments.journal)
    sdk = SDK(Band(arguments.days, arguments.band), reading_interval=arguments.interval,
              note=lambda name, metric: note("SDK " + name, {"metric": metric}))
    outbox = Outbox(arguments.outbox)
    bridge = Bridge(sdk, outbox, note)
    main, loop = asyncio.current_task(), asyncio.get_running_loop()

    def end():
        """Cancels this task. Before Python 3.12 `wait_for` may swallow that when a line comes at the same moment."""
        main.cancel()
        if not main.done():
            loop.call_later(0.1, end)

    loop.add_signal_handler(signal.SIGTERM, end)
    watching = loop.create_task(sdk.watch())
    try:
        if arguments.stdio:
            await bridge.serve(*await standard_streams())
        else:
            await bridge.call_forever(arguments)
    except asyncio.CancelledError:
        log("I", "the app ends")  # to a gateway an ended app is a closed connection: there is no other graceful disconnect
    finally:
        watching.cancel()
        outbox.close()


def main():
    parser = argparse.ArgumentParser(description="Carries a band from its SDK to the gateway.")
    parser.add_argument("--stdio", action="store_true", help="speak over standard input and output, for vitals2mqtt plugin check")
    parser.add_argument("--host", default="127.0.0.1", help="the gateway")
    parser.add_argument("--port", type=int, default=7879, help="of its plugin tcp")
    parser.add_argument("--device", help="this device's id in the gateway's configuration")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="the device's secret")
    parser.add_argument("--ca", metavar="FILE", help="use TLS, and trust this certificate, or what it has signed")
    parser.add_argument("--outbox", default=":memory:", metavar="FILE", help="keeps what is not acknowledged from one start to the next")
    parser.add_argument("--first-wait", type=float, default=1.0, metavar="SECONDS", help="before the second call")
    fake = parser.add_argument_group("the fake of the SDK")
    fake.add_argument("--band", type=Path, metavar="FILE", help="the band's state, read again when it changes: see phone_band.py")
    fake.add_argument("--days", type=int, default=3, help="how much history the band has")
    fake.add_argument("--interval", type=float, default=1.0, help="seconds between the readings of a measurement")
    fake.add_argument("--journal", metavar="FILE", help="append a line for every call")
    arguments = parser.parse_args()
    if not arguments.stdio and not (arguments.device and arguments.token_file):
        parser.error("--device and --token-file are needed")
    asyncio.run(run(arguments))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
