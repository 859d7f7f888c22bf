"""Which steps of documents of Health Auto Export count, by the page of the contract alone: counted_once.py FILE…

Prints their numbers, ascending, one a line.
"""

import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Campaigns", "documents"))
from reference import export_place, meet  # noqa: E402

records = {}
for path in sys.argv[1:]:
    with open(path) as file:
        for metric in json.load(file)["data"]["metrics"]:
            for entry in metric["data"]:
                # All are of one zone and one format, so that texts compare as times do.
                records[entry["source"], entry["start"], entry["end"]] = entry

counted = [
    a["qty"] for a in records.values()
    if not any(export_place(b["source"]) < export_place(a["source"]) and meet(a["start"], a["end"], b["start"], b["end"])
               for b in records.values())
]
print("\n".join(str(steps) for steps in sorted(counted)))
