"""One connection that speaks Vitals Link: lines of JSON in both directions, for any number of calls at once."""

import asyncio
import json
import sys

from phone_translation import FAILURE, CallError

LONGEST_LINE = 262_144
UNKNOWN_METHOD = -32601
SILENCE = 60.0  # seconds: the gateway asks after 30
ANSWER = 15.0  # seconds that the gateway has for an answer


class Refused(Exception):
    """The gateway's listener does not take the call."""


class Link:
    """`calls` maps the gateway's methods to coroutines of their parameters. Everything runs on the one main thread.

    A coroutine returns the result, or the result and what is to be done right after the answer.
    """

    def __init__(self, reader, writer, calls, note):
        self.reader, self.writer, self.calls, self.note = reader, writer, calls, note
        self.is_open = True
        self.was_wanted = False  # the end: after a graceful disconnect of either side
        self.answers = {}  # by the id of our request: what to do with the answer
        self.tasks = set()
        self.last_ping = 0

    async def serve(self):
        """Reads lines until the link ends. Raises Refused, ConnectionError."""
        try:
            while self.is_open:
                line = await self.line()
                if not line:
                    return
                self.take(line)
        except (asyncio.LimitOverrunError, ValueError) as error:
            raise ConnectionError("a line is too long") from error
        finally:
            self.close()
            for task in list(self.tasks):
                task.cancel()

    async def line(self):
        """The next line; empty at the end. After a long silence it asks the gateway for a sign of life."""
        for limit in (SILENCE, ANSWER):
            try:
                return await asyncio.wait_for(self.reader.readline(), limit)
            except asyncio.TimeoutError:
                # Any request does: the gateway answers each of them.
                self.last_ping += 1
                self.request("ping-%d" % self.last_ping, "log", {"level": "trace", "message": "Is anybody there?"}, lambda error: None)
        raise ConnectionError("the gateway is silent")

    def take(self, line):
        try:
            message = json.loads(line)
            assert isinstance(message, dict)
        except (ValueError, AssertionError):
            log("W", "ignored a line that is no message")
            return
        if isinstance(message.get("method"), str):
            task = asyncio.get_running_loop().create_task(self.answer(message))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        elif message.get("id") in self.answers:
            self.answers.pop(message["id"])(message.get("error"))
        elif isinstance(message.get("error"), dict) and "id" not in message:
            raise Refused("%s: %s" % (message["error"].get("code"), message["error"].get("message")))

    async def answer(self, message):
        method, params = message["method"], message.get("params") or {}
        answer, afterwards = {"jsonrpc": "2.0", "id": message.get("id")}, None
        self.note(method, params)
        try:
            if method not in self.calls:
                raise CallError(UNKNOWN_METHOD, "there is no method " + method)
            result = await self.calls[method](params)
            answer["result"], afterwards = result if isinstance(result, tuple) else (result, None)
        except CallError as error:
            answer["error"] = {"code": error.code, "message": str(error)}
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            answer["error"] = {"code": FAILURE, "message": "%s of the app: %s" % (type(error).__name__, error)}
        if "id" in message:
            self.send(answer)
        if afterwards:
            afterwards()

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, number, method, params, done):
        """Sends a request. `done` gets its error, or nothing; it is not called if the link ends before."""
        self.answers[number] = done
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def send(self, message):
        # A whole line at once. What the socket does not take waits in memory: a history page at most, and the outbox.
        if self.is_open and not self.writer.is_closing():
            self.writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def hang_up(self):
        """Ends the link because it is to end."""
        self.was_wanted = True
        self.close()

    def close(self):
        """Ends the link after what was written."""
        if self.is_open:
            self.is_open = False
            self.writer.close()


def log(level, message):
    """Standard error is the app's log; as a child process of the gateway it goes to the gateway's."""
    print("%s! %s" % (level, message), file=sys.stderr, flush=True)
