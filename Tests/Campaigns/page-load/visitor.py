"""A Chromium without a window, by its DevTools protocol, that says how long a click takes until nothing changes any more."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request

from waiting import Finding, until

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "home-assistant"))
from connection import WebSocket  # noqa: E402  pylint: disable=wrong-import-position

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Seconds without a change after which a page counts as ready, and for a page.
QUIET, LONGEST = 0.5, 60
# In each document: when the last frame with a change was shown, and, for the next document, when a person clicked.
WATCH = r"""
(() => {
    const now = () => performance.timeOrigin + performance.now();
    const channel = new MessageChannel();
    window.shown = now();
    channel.port1.onmessage = () => { window.shown = now(); };
    const note = () => requestAnimationFrame(() => channel.port2.postMessage(0));
    new MutationObserver(note).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
    addEventListener('load', note, true);
    addEventListener('click', () => sessionStorage.setItem('clicked', now()), true);
})();
"""
# Where to click for a link that begins so, once it is in view, and where it leads.
PLACE = r"""
(start => {
    const link = [...document.querySelectorAll('a')].find(link => link.getAttribute('href').startsWith(start));
    if (!link) return null;
    link.scrollIntoView({block: 'center'});
    const box = link.getClientRects()[0];
    return [box.x + box.width / 2, box.y + box.height / 2, link.pathname + link.search];
})(%s)
"""
# Where the page is, whether it is ready, milliseconds from the click to its last frame, and since then.
STATE = """[location.pathname + location.search, document.readyState, window.shown - Number(sessionStorage.getItem('clicked')),
 performance.timeOrigin + performance.now() - window.shown]"""


class Visitor:
    def __init__(self, folder: str) -> None:
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if not program:
            raise Finding(f"there is no {PROGRAMS[0]}; Debian has it as a package of this name")
        folder = os.path.join(folder, "browser")
        # Without its sandbox, since root cannot use it; it opens nothing but the gateway.
        self.process = subprocess.Popen([
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--lang=en", "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-port=0", f"--user-data-dir={folder}",
            "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": folder, "TZ": "UTC"})
        port = int(until(lambda: self.port(folder), 60, "the browser does not listen"))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
            page = next(page for page in json.load(answer) if page["type"] == "page")
        self.stream, self.last = WebSocket(port, "/devtools/page/" + page["id"]), 0
        self.ask("Page.enable")
        self.ask("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        self.ask("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)

    @staticmethod
    def port(folder: str) -> str | None:
        try:
            with open(os.path.join(folder, "DevToolsActivePort"), encoding="utf-8") as file:
                return file.readline().strip()
        except FileNotFoundError:
            return None

    def ask(self, method: str, **parameters) -> dict:
        self.last += 1
        self.stream.send({"id": self.last, "method": method, "params": parameters})
        while (answer := self.stream.receive()).get("id") != self.last:
            pass
        if "error" in answer:
            raise Finding(f"{method}: {answer['error']}")
        return answer["result"]

    def run(self, script: str):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        return answer["result"].get("value")

    def ready(self, address: str) -> float:
        """Waits for a page until nothing changes, and returns the milliseconds since the click."""
        def is_ready():
            state = self.run(STATE)
            return state and state[0] == address and state[1] == "complete" and state[3] > QUIET * 1000 and state
        return until(is_ready, LONGEST, f"{address} is not ready", step=0.05)[2]

    def open(self, origin: str, address: str) -> None:
        self.ask("Page.navigate", url=origin + address)
        self.ready(address)

    def click(self, link: str) -> float:
        """Clicks on a link that begins so, and returns after how many milliseconds its page was shown."""
        place = until(lambda: self.run(PLACE % json.dumps(link)), 5, f"there is no link {link}")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
        time.sleep(0.01)
        return self.ready(place[2])

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(20)
