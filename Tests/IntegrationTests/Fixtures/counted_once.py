"""Which steps of documents of Health Auto Export count, by the page of the contract alone: counted_once.py FILE…

Prints their numbers, ascending, one a line.
"""

import json
import re
import sys

# What a source is, by its name, in the order in which they count.
KINDS = ["watch", "(?<![a-z])(band|ring)(?![a-z])", "phone|(?<![a-z])pixel(?![a-z])"]


def place(source):
    """The place of a source in the order; what the app has merged comes before its first source alone."""
    names = source.split("|")
    kinds = [next((n for n, kind in enumerate(KINDS) if re.search(kind, name, re.I)), len(KINDS)) for name in names]
    return min(kinds), len(names) == 1, source


def meet(a, b):
    """Whether two records have a time in common, or begin together."""
    return a["start"] == b["start"] or a["start"] < b["end"] and b["start"] < a["end"]


records = {}
for path in sys.argv[1:]:
    with open(path) as file:
        for metric in json.load(file)["data"]["metrics"]:
            for entry in metric["data"]:
                # All are of one zone and one format, so that texts compare as times do.
                records[entry["source"], entry["start"], entry["end"]] = entry

counted = [
    a["qty"] for a in records.values()
    if not any(place(b["source"]) < place(a["source"]) and meet(a, b) for b in records.values())
]
print("\n".join(str(steps) for steps in sorted(counted)))
