"""A Chromium without a window, driven over its DevTools protocol, that has Home Assistant's pages open."""

import json
import os
import time
from typing import Callable, Optional

from devtools import Chromium
from processes import Finding, Processes, until

# What a page shows: how many elements there are of each tag, also within components; what complains; and what is not there yet.
PAGE = r"""
(() => {
    const tags = {}, errors = [];
    let busy = 0, plots = 0;
    const visit = root => {
        for (const element of root.querySelectorAll('*')) {
            const tag = element.localName;
            tags[tag] = (tags[tag] || 0) + 1;
            if (/^hui-.*(error|warning)/.test(tag) || tag === 'ha-alert')
                errors.push(tag + ': ' + (element.shadowRoot || element).textContent.replace(/\s+/g, ' ').trim().slice(0, 200));
            if (/^(ha-spinner|ha-circular-progress|ha-fade-in|hass-loading-screen)$/.test(tag)) busy++;
            if (tag === 'ha-chart-base' && element.shadowRoot.querySelector('canvas, .chart svg, .chart-container svg')) plots++;
            if (element.shadowRoot) visit(element.shadowRoot);
            for (const node of element.childNodes)
                if (node.nodeType === 3 && /Entity not found|Configuration error|Unknown type encountered/.test(node.data))
                    errors.push(tag + ': ' + node.data.trim());
        }
    };
    visit(document);
    return JSON.stringify({tags, errors: [...new Set(errors)], busy, plots, path: location.pathname});
})()
"""

# Clicks on what is inside the heading with a text.
CLICK = r"""
(text => {
    let found = null;
    const visit = root => {
        for (const element of root.querySelectorAll('*')) {
            if (element.localName === 'hui-heading-card' && element.shadowRoot.textContent.includes(text))
                found = found || element.shadowRoot.querySelector('.content');
            if (element.shadowRoot) visit(element.shadowRoot);
        }
    };
    visit(document);
    if (found) found.click();
    return !!found;
})(%s)
"""

HEIGHT = r"""
(() => {
    let height = 0;
    const visit = root => {
        for (const element of root.querySelectorAll('*')) {
            if (/^hui-(grid-section|section)$/.test(element.localName)) height = Math.max(height, element.getBoundingClientRect().bottom);
            if (element.shadowRoot) visit(element.shadowRoot);
        }
    };
    visit(document);
    return Math.ceil(height + window.scrollY);
})()
"""


class Browser(Chromium):
    def __init__(self, processes: Processes, home: int, token: str) -> None:
        self.home = f"http://127.0.0.1:{home}"
        environment = {**os.environ, "HOME": processes.folder, "TZ": "UTC"}
        super().__init__(
            os.path.join(processes.folder, "browser"), lambda command: processes.start("browser", command, env=environment))
        self.log_in(token)

    def log_in(self, token: str) -> None:
        """Has Home Assistant's page find a token where it keeps that of a user who is logged in."""
        tokens = {
            "hassUrl": self.home, "clientId": f"{self.home}/", "access_token": token, "token_type": "Bearer",
            "refresh_token": "none", "expires_in": 1800, "expires": int(time.time() + 1800) * 1000}
        script = (f"localStorage.hassTokens = {json.dumps(json.dumps(tokens))};"
                  "localStorage.dockedSidebar = '\"always_hidden\"'; localStorage.selectedLanguage = '\"en\"';")
        self.ask("Page.enable")
        self.ask("Page.addScriptToEvaluateOnNewDocument", source=f"if (location.port) {{ {script} }}")
        self.resize(1280, 1600)

    def open(self, path: str) -> None:
        self.ask("Page.navigate", url=self.home + path)

    def page(self) -> dict:
        return json.loads(self.run(PAGE))

    def click(self, heading: str) -> None:
        if not self.run(CLICK % json.dumps(heading)):
            raise Finding(f"there is no heading {heading}")

    def wait(self, what: str, condition: Callable[[dict], bool], seconds: float = 60) -> dict:
        """What the page shows, once it is as wanted and stays so for a second."""
        seen: list[tuple[float, dict]] = []

        def found() -> Optional[dict]:
            page = self.page()
            now = time.monotonic()
            if not condition(page):
                seen.clear()
                raise Finding(f"{page['path']} has {page['errors']} and {page['tags']}"[:1500])
            if seen and seen[0][1]["tags"] != page["tags"]:
                seen.clear()
            seen.append((now, page))
            return page if now - seen[0][0] > 1 else None

        return until(what, found, seconds)

    def picture(self, path: str, width: int) -> None:
        """Writes a picture of the whole page."""
        self.resize(width, 1600)
        time.sleep(1)  # the cards find their places again
        self.resize(width, min(max(int(self.run(HEIGHT)) + 24, 400), 4000))
        time.sleep(2)  # the plots are drawn with an animation
        self.capture(path)
