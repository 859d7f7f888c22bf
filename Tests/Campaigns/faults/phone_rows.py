"""Rows about phones that push documents."""

import http.client
import json
import random
import threading
import time

from rig import Bench, free_port, require, row, secret, until

TOKEN = "a secret of the faults"


class PostingPhone:
    """Posts heart rates, one document of three after the other, and knows what was answered with 200."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.first = int(time.time()) - 4_000_000
        self.posted = 0
        self.acknowledged: list[int] = []  # milliseconds
        self.is_over = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while not self.is_over:
            try:
                self.post_many()
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)

    def post_many(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            while not self.is_over:
                starts = [self.first + 3 * self.posted + place for place in range(3)]
                entries = [{"date": time.strftime("%Y-%m-%d %H:%M:%S +0000", time.gmtime(start)), "Avg": 60 + start % 40}
                           for start in starts]
                document = {"data": {"metrics": [{"name": "heart_rate", "units": "count/min", "data": entries}]}}
                connection.request("POST", "/v1/devices/phone", json.dumps(document), {
                    "Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
                response = connection.getresponse()
                response.read()
                if response.status != 200:
                    return time.sleep(0.05)
                self.acknowledged += [1000 * start for start in starts]
                self.posted += 1
        finally:
            connection.close()

    def end(self) -> None:
        self.is_over = True
        self.thread.join(30)


@row("kill -9 while a phone posts", "10 kills with --quick, else 50, or half of --kills", "what was answered with 200 arrives, once")
def kills_while_posting(bench: Bench) -> str:
    port = free_port()
    device = {"id": "phone", "driver": "health-auto-export",
              "transport": {"type": "http", "token": secret(bench, "phone.token", TOKEN)}}
    bench.broker()
    bench.gateway.write([device], web={"listen": f"127.0.0.1:{port}"})
    phone = PostingPhone(port)
    bench.cleanups.append(phone.end)
    rng = random.Random(bench.kills)
    for _ in range(bench.kills):
        bench.gateway.start()
        goal = len(phone.acknowledged) + rng.randrange(1, 60)
        until(lambda: len(phone.acknowledged) >= goal, 60, "no document was taken", step=0.001)
        time.sleep(rng.uniform(0, 0.01))
        bench.gateway.kill()
    bench.gateway.start()
    before = len(phone.acknowledged)
    until(lambda: len(phone.acknowledged) > before, 60, "no document was taken after the last kill")
    phone.end()
    count = bench.consumer.expect_all("phone", list(phone.acknowledged), 120)
    require(count >= bench.kills, "hardly anything was posted")
    stopped = bench.gateway.stop()
    return f"{bench.kills} kills, {count} samples answered with 200, lost 0, second ids 0; stop in {stopped:.2f} s"
