"""Compares what the schema of scripts' documents allows with what the tests say that the parser takes."""

import json
import pathlib
import re
import sys

from jsonschema import Draft202012Validator

ROOT = pathlib.Path(__file__).resolve().parents[3]
PHONES = ROOT / "Plugins" / "Phones"


def main() -> None:
    schema = json.loads((PHONES / "documents.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    rows = json.loads((PHONES / "Tests/Fixtures/script-cases.json").read_text(encoding="utf-8"))
    documents = [(row["about"], json.loads(row["text"]) if "text" in row else row["document"], row["valid"]) for row in rows]
    documents.append(("the example", json.loads((PHONES / "Tests/Fixtures/script.json").read_text(encoding="utf-8")), True))
    page = (ROOT / "docs/YourOwnScript.md").read_text(encoding="utf-8")
    documents += [("the page", json.loads(block), True) for block in re.findall(r"```json\n(.*?)```", page, re.S)]
    wrong = [about for about, document, is_valid in documents if validator.is_valid(document) != is_valid]
    for about in wrong:
        print(f"The schema says otherwise of: {about}")
    print(f"{len(documents)} documents, {len(wrong)} of them wrong.")
    sys.exit(bool(wrong))


main()
