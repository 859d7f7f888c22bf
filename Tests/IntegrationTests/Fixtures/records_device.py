"""A device for tests whose history is a file that the test writes, also while it runs: a sample of Vitals Link a line."""

import argparse
import json
import sys
import time


class Device:
    def __init__(self, records, capabilities, configuration):
        self.records = records
        self.capabilities = capabilities
        self.configuration = configuration

    def answer(self, method, params):
        if method == "initialize":
            return {"protocol": 1, "device": {"manufacturer": "vitals2mqtt", "model": "records"},
                    "capabilities": self.capabilities,
                    "clock": {"now": int(time.time() * 1000), "utc_offset_min": 0}}
        if method == "history/read":
            with open(self.records, encoding="utf-8") as file:
                samples = [json.loads(line) for line in file if line.strip()]
            found = [sample for sample in samples if sample["metric"] == params["metric"]
                     and params["from"] <= sample["start"] < params["to"]]
            return {"samples": sorted(found, key=lambda sample: sample["start"]), "next": None}
        if method == "monitor/read":
            return {"configuration": self.configuration}
        if method == "monitor/write":
            self.configuration.update(params["configuration"])
        return {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", required=True)
    parser.add_argument("--capabilities", type=json.loads, required=True)
    parser.add_argument("--configuration", type=json.loads, default={})
    arguments = parser.parse_args()
    device = Device(arguments.records, arguments.capabilities, arguments.configuration)
    for line in sys.stdin:
        call = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": call.get("id"), "result": device.answer(call["method"], call.get("params", {}))}
        print(json.dumps(answer), flush=True)
        if call["method"] == "shutdown":
            return


if __name__ == "__main__":
    main()
