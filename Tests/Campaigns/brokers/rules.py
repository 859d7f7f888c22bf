"""What the contract's pages say to a consumer, tried on that of deploy/examples with messages of every order."""

import importlib.util
import json
import uuid

from fleet import BASE, CONSUMER, Postgres
from waiting import require

FIRST, SECOND, THIRD, FOURTH = (str(uuid.UUID(int=number)) for number in (1, 2, 3, 4))


def measurement(seq: int, *samples: dict, parts: tuple[int, int] = (1, 1), device: str = "band") -> tuple[str, bytes]:
    body = {"schema": "vitals2mqtt.measurement/1", "gateway": "home", "device": device, "person": "anna", "metric": "heart_rate", "unit": "bpm",
            "seq": seq, "part": parts[0], "parts": parts[1], "samples": samples}
    return f"{BASE}/home/{device}/measurement/heart_rate", json.dumps(body).encode()


def sample(name: str, rev: int, value: float, **members) -> dict:
    moment = "2026-11-20T22:10:00.000Z"
    return {"id": name, "rev": rev, "start": moment, "end": moment, "value": value, "fields": None, "kind": "normal", "received_at": moment, **members}


def gap(seq: int, reason: str, first: int, last: int) -> tuple[str, bytes]:
    body = {"schema": "vitals2mqtt.gap/1", "seq": seq, "reason": reason, "at": "2026-11-21T07:31:04.120Z",
            "sequences": [{"from_seq": first, "to_seq": last}]}
    return f"{BASE}/home/band/event/gap", json.dumps(body).encode()


def info(store: str) -> tuple[str, bytes]:
    return f"{BASE}/home/gateway/info", json.dumps({"schema": "vitals2mqtt.gateway_info/1", "store": store}).encode()


def rules(folder: str) -> int:
    """Tries each rule; returns how many there are."""
    postgres = Postgres(folder)
    try:
        module = importlib.util.spec_from_file_location("example", CONSUMER)
        example = importlib.util.module_from_spec(module)
        module.loader.exec_module(example)
        database = example.Database(postgres.address, BASE, after=0)

        def values() -> dict[str, float]:
            return {str(name): value for name, value in postgres.query("SELECT id, value FROM sample WHERE NOT withdrawn")}

        def complete() -> int:
            return postgres.query("SELECT complete_to FROM gateway")[0][0]

        def asked() -> list[tuple[int, int]]:
            return [(body["from_seq"], body["to_seq"]) for _, body in database.requests()]
        count = 0
        for what, messages, check in (
            ("a sample comes twice", [info("one"), measurement(1, sample(FIRST, 2, 61))] * 2, lambda: values() == {FIRST: 61} and complete() == 1),
            ("a lower rev comes late", [measurement(2, sample(FIRST, 1, 60))], lambda: values() == {FIRST: 61}),
            ("a higher rev replaces it", [measurement(3, sample(FIRST, 3, 63))], lambda: values() == {FIRST: 63}),
            ("it is withdrawn", [measurement(4, sample(FIRST, 5, 63, withdrawn=True))], lambda: values() == {}),
            ("nothing of it stays", [], lambda: postgres.query("SELECT value, person, started_at FROM sample") == [(None, None, None)]),
            ("an older rev does not bring it back", [measurement(5, sample(FIRST, 4, 64))], lambda: values() == {} and complete() == 5),
            ("a fact is here with all of its parts", [measurement(6, sample(SECOND, 1, 70), parts=(2, 2))], lambda: complete() == 5),
            ("parts of another cut do not count", [measurement(6, sample(SECOND, 1, 70), parts=(1, 3))], lambda: complete() == 5),
            ("the other part", [measurement(6, sample(THIRD, 1, 71), parts=(1, 2))], lambda: complete() == 6 and values() == {SECOND: 70, THIRD: 71}),
            ("what cannot be read is missing", [(f"{BASE}/home/band/measurement/heart_rate", b'{"seq": 7}'), measurement(8, sample("no id", 1, 1)),
                                                (f"{BASE}/home/band/availability", b"online")], lambda: complete() == 6),
            ("a hole is requested", [measurement(9)], lambda: complete() == 6 and asked() == [(7, 8)]),
            ("a gap names numbers that never come", [gap(10, "evicted", 7, 8)],
             lambda: complete() == 10 and postgres.query("SELECT store, from_seq, to_seq FROM loss") == [("one", 7, 8)]),
            ("an erasure deletes the samples of its device", [measurement(11, sample(FOURTH, 1, 50), device="ring"), gap(12, "erased", 13, 13)],
             lambda: complete() == 13 and values() == {FOURTH: 50}),
            ("the same store begins nothing anew", [info("one")], lambda: complete() == 13),
            ("what may follow is requested once", [], lambda: asked() == [(14, 10_013)] and asked() == []),
            ("another store begins anew", [info("two")], lambda: complete() == 0),
            ("its numbers count from 1", [measurement(1, sample(SECOND, 1, 70))], lambda: complete() == 1 and values() == {FOURTH: 50, SECOND: 70}),
        ):
            database.store(messages)
            database.checked = 0
            require(check(), f"not so: {what}; {values()}, {complete()}")
            count += 1
        return count
    finally:
        postgres.stop()
