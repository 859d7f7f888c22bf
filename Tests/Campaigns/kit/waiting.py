"""What every campaign waits and fails with."""

import asyncio
import socket
import threading
import time

TIMEOUT = 60.0  # seconds for anything that takes less than a few


class Finding(Exception):
    """Something is not as it should be."""


def require(condition: bool, what: str) -> None:
    if not condition:
        raise Finding(what)


def until(condition, seconds: float, what: str, step: float = 0.05):
    """Waits until the condition gives something, and returns that."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise Finding(f"{what} within {seconds:.0f} s")
        time.sleep(step)
    return value


def free_port(address: str = "127.0.0.1") -> int:
    """A port that nothing has at this address. Of 0.0.0.0 also clients at any address of loopback keep ports from a listener."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


def listen(serve) -> tuple[asyncio.AbstractEventLoop, int]:
    """Serves connections on a free port of loopback, on a thread of its own."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024, limit=1 << 20))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop, server.sockets[0].getsockname()[1]
