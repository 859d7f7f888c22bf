"""A person in front of the page: looks, clicks and types in a real Chromium, and notices what is wrong with what it shows."""

import json
import os
import time
from typing import Any, Callable

from devtools import Chromium
from waiting import TIMEOUT, Finding, require, until

WIDTHS, SCHEMES = (360, 1280), ("light", "dark")
HEIGHT = 900
RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
SEVERE = ("serious", "critical")

# The place of the first visible element of a selector whose text, label or name begins with a text, after it is scrolled to.
FIND = """
((selector, text) => {
    const words = element => (element.ariaLabel || element.textContent || element.value || '').replace(/\\s+/g, ' ').trim();
    const found = [...document.querySelectorAll(selector)].find(element => element.checkVisibility() && words(element).startsWith(text));
    if (!found) return null;
    found.scrollIntoView({block: 'center', behavior: 'instant'});
    const box = found.getClientRects()[0];
    return [box.left + box.width / 2, box.top + box.height / 2];
})"""

# What has the focus: its words, and whether one sees that it has it.
FOCUS = """
(() => {
    const element = document.activeElement, style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    return {tag: element.localName, words: (element.ariaLabel || element.labels?.[0]?.textContent || element.textContent || '')
                .replace(/\\s+/g, ' ').trim().slice(0, 60),
            isSeen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 && box.width > 0 && box.height > 0};
})()"""

# Keys: the code of Windows, the text that it types, and its modifiers.
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "ArrowRight": (39, ""), "ArrowLeft": (37, ""), "End": (35, "")}


class Visitor(Chromium):
    def __init__(self, base: str, axe: str, pictures: str | None, folder: str, start: Callable) -> None:
        super().__init__(folder, start)
        self.base, self.pictures = base, pictures
        with open(axe, encoding="utf-8") as file:
            self.axe = file.read()
        self.loads = 0
        self.complaints: list[str] = []
        self.examined: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Audits"):
            self.ask(f"{domain}.enable")
        self.look(1280, "light")

    # What goes wrong by itself

    def told(self, event: str, parameters: dict) -> None:
        if event == "Page.loadEventFired":
            self.loads += 1
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(f"exception: {parameters['exceptionDetails']}")
        elif event == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(f"console: {parameters['args']}")
        elif event == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            entry = parameters["entry"]
            # A page of 403 to a wrong password, of 404 and of 422 to a wrong form is what it has to be.
            is_answer = any(f"status of {status}" in entry["text"] for status in (403, 404, 422)) and "/assets/" not in entry.get("url", "")
            if not is_answer:
                self.complaints.append(f"log: {entry['text']} {entry.get('url', '')}")
        elif event == "Audits.issueAdded" and "contentSecurityPolicyIssueDetails" in parameters["issue"]["details"]:
            self.complaints.append(f"CSP: {parameters['issue']['details']['contentSecurityPolicyIssueDetails']}")

    def calm(self) -> None:
        require(not self.complaints, f"the browser complains: {self.complaints[:3]}")

    # What a person does

    def loaded(self, act: Callable[[], Any], what: str) -> None:
        """Does something that leads to another page, and waits for it."""
        before = self.loads
        act()
        until(lambda: self.run("document.readyState") == "complete" and self.loads > before, TIMEOUT, f"{what}: no page came")

    def open(self, path: str) -> None:
        self.loaded(lambda: self.ask("Page.navigate", url=self.base + path), path)

    def click(self, selector: str, text: str = "") -> None:
        place = until(lambda: self.run(f"{FIND}({json.dumps(selector)}, {json.dumps(text)})"), TIMEOUT, f"no {selector} {text}")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def follow(self, selector: str, text: str = "") -> None:
        """Clicks on what leads to another page."""
        self.loaded(lambda: self.click(selector, text), f"{selector} {text}")

    def fill(self, field: str, text: str) -> None:
        """Types into a field, in the place of what is there."""
        self.click(field)
        self.run(f"document.querySelector({json.dumps(field)}).select()")
        self.ask("Input.insertText", text=text)

    def choose(self, field: str, value: str) -> None:
        self.run(f"document.querySelector({json.dumps(field)}).value = {json.dumps(value)}")

    def press(self, key: str) -> None:
        code, text = KEYS[key]
        options = {"key": key, "code": key if key != " " else "Space", "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **options)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **options)

    def walk_by_keys(self, to: str, longest: int = 80) -> list[str]:
        """Goes on by Tab until something with these words has the focus. Each stop must be seen."""
        seen: list[str] = []
        for _ in range(longest):
            self.press("Tab")
            focus = self.run(FOCUS)
            require(focus["isSeen"] or focus["tag"] == "body", f"one does not see that {focus} has the focus")
            seen.append(focus["words"])
            if focus["words"].startswith(to):
                return seen
        raise Finding(f"no Tab leads to {to}: {seen}")

    # What a person sees

    def text(self, selector: str = "body") -> str:
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(element => element.innerText).join('\\n')")

    def sees(self, text: str, selector: str = "body", seconds: float = TIMEOUT) -> None:
        until(lambda: text in self.text(selector), seconds, f"'{text}' is not there, but: {self.text(selector)[:1500]!r}")

    def reads(self, *texts: str) -> None:
        """These stand on the page now."""
        all_of_it = self.text()
        missing = [text for text in texts if text not in all_of_it]
        require(not missing, f"{missing} is missing: {all_of_it[:3000]!r}")

    def rests(self, seconds: float = 3) -> None:
        """Waits until the page has not loaded itself again for so long."""
        end = time.monotonic() + TIMEOUT
        loads, since = self.loads, time.monotonic()
        while time.monotonic() - since < seconds:
            require(time.monotonic() < end, "the page loads itself again and again")
            self.run("document.readyState")
            if self.loads != loads:
                loads, since = self.loads, time.monotonic()
            time.sleep(0.1)

    def look(self, width: int, scheme: str, height: int = HEIGHT) -> None:
        # Colours change at once, since nothing moves.
        self.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.resize(width, height)

    def examine(self, name: str) -> None:
        """Holds the present page against the rules, at both widths and in both schemes, and takes its pictures."""
        # What the protocol runs is not held back by the page's policy.
        if not self.run("!!window.axe"):
            self.run(self.axe + "\n;0")
        for width in WIDTHS:
            for scheme in SCHEMES:
                self.look(width, scheme)
                where = f"{name} at {width} pixels, {scheme}"
                found = json.loads(self.run(f"""
                    axe.run(document, {{runOnly: {json.dumps(RULES)}, resultTypes: ['violations']}}).then(result => JSON.stringify(
                        result.violations.filter(one => {json.dumps(SEVERE)}.includes(one.impact)).map(one =>
                            [one.id, one.nodes.length, one.nodes[0].html.slice(0, 200), one.nodes[0].failureSummary])))"""))
                require(not found, f"{where}: {found}")
                wide = self.run("document.documentElement.scrollWidth")
                require(wide <= width, f"{where}: it is {wide} pixels wide")
                if self.pictures:
                    self.picture(f"{name}-{width}-{scheme}.png", width, scheme)
        self.look(1280, "light")
        self.calm()
        self.examined.append(name)

    def picture(self, name: str, width: int, scheme: str, height: int | None = None, **options: Any) -> None:
        """Writes a picture of the whole page, or of its upper part."""
        self.look(width, scheme, height or min(self.run("document.documentElement.scrollHeight"), 6000))
        self.run("scrollTo(0, 0)")
        time.sleep(0.3)  # the drawings find their layout
        self.capture(os.path.join(self.pictures, name), **options)

    def shows(self, name: str, width: int, scheme: str, height: int) -> None:
        """Has a picture for the README."""
        if self.pictures:
            self.picture(f"{name}.webp", width, scheme, height, quality=70)
            self.look(1280, "light")
