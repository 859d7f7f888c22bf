"""A device for tests that answers each call with what the test wrote into its file, also while it runs.

The file is an object: by `method metric`, or else by `method`, `result` or `error`, and as `tell` what the device says after
it. Of days and samples of a result only those in the range that is asked for are sent. Calls are written to a journal. With a
configuration the device has the right time, and keeps what is written to it.
"""

import argparse
import json
import sys
import time


def within(result, params):
    result = dict(result)
    if "days" in result:
        result["days"] = [day for day in result["days"] if params["from_day"] <= day["date"] <= params["to_day"]]
    if "samples" in result:
        result["samples"] = [one for one in result["samples"] if params["from"] <= one["start"] < params["to"]]
    return result


def send(message):
    print(json.dumps(dict(message, jsonrpc="2.0")), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", required=True)
    parser.add_argument("--journal", required=True)
    parser.add_argument("--capabilities", type=json.loads, required=True)
    parser.add_argument("--configuration", type=json.loads)
    arguments = parser.parse_args()
    configuration = arguments.configuration
    for line in sys.stdin:
        call = json.loads(line)
        if "method" not in call:
            continue
        method, params = call["method"], call.get("params", {})
        with open(arguments.journal, "a", encoding="utf-8") as journal:
            journal.write(json.dumps({"method": method, "params": params}) + "\n")
        with open(arguments.answers, encoding="utf-8") as file:
            answers = json.load(file)
        answer = answers.get("%s %s" % (method, params.get("metric")), answers.get(method, {}))
        if method == "initialize":
            answer = {"result": {"protocol": 1, "device": {"model": "Answers"}, "capabilities": arguments.capabilities}}
            if configuration is not None:
                answer["result"]["clock"] = {"now": int(time.time() * 1000), "utc_offset_min": 0}
        if method == "monitor/write" and configuration is not None:
            configuration.update(params["configuration"])
        if "error" in answer:
            send({"id": call["id"], "error": answer["error"]})
        else:
            # What a device without a record has to say depends on the call.
            nothing = {"history/read": {"samples": [], "next": None}, "summary/read": {"days": []},
                       "monitor/read": {"configuration": configuration or {}}}.get(method, {})
            send({"id": call["id"], "result": within(answer.get("result", nothing), params)})
        for message in answer.get("tell", []):
            send(message)
        if method == "shutdown":
            return


if __name__ == "__main__":
    main()
