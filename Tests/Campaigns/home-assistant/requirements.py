"""Prints what pip has to install besides Home Assistant's core for the integrations of the arguments: what they, all that they
depend on and what they like to find ask for in their manifests. Home Assistant would fetch these packages itself, one after the
other, while it starts.

Runs with the Python that Home Assistant is installed in.
"""

import json
import pathlib
import sys

import homeassistant
from homeassistant import bootstrap

FOLDER = pathlib.Path(homeassistant.__file__).parent / "components"


def manifest(integration: str) -> dict:
    path = FOLDER / integration / "manifest.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def main() -> None:
    waiting = [*sys.argv[1:], *bootstrap.DEFAULT_INTEGRATIONS, *bootstrap.CORE_INTEGRATIONS]
    seen: set[str] = set()
    requirements: set[str] = set()
    while waiting:
        integration = waiting.pop()
        if integration in seen:
            continue
        seen.add(integration)
        described = manifest(integration)
        requirements.update(described.get("requirements", []))
        waiting += described.get("dependencies", [])
        if integration in sys.argv:  # MQTT's form wants the supervisor's package, which it only likes to find
            waiting += described.get("after_dependencies", [])
    print("\n".join(sorted(requirements)))


main()
