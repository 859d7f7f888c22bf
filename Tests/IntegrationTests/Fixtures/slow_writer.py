"""Overwrites an export in place, slowly, and cuts it at 200 random points: slow_writer.py TARGET NEW SEED.

Every twenty-fifth cut stays for as long as the gateway waits before it reads a file, or up to three seconds longer, so that some are
read as they are, and some are overwritten while they are read. At the end the whole new export is there.
"""

import os
import random
import sys
import time

target, new, seed = sys.argv[1], open(sys.argv[2], "rb").read(), int(sys.argv[3])
dice = random.Random(seed)
for number in range(200):
    cut = dice.randrange(len(new))
    with open(target, "r+b") as file:
        place = 0
        while place < cut:
            end = min(cut, place + dice.randrange(1, len(new) // 3))
            file.seek(place)
            file.write(new[place:end])
            file.flush()
            place = end
            time.sleep(0.002)
        # Where nothing is cut, the rest of the file before follows the beginning of the new one.
        if number % 2 == 0:
            file.truncate(cut)
    time.sleep(5 + 3 * dice.random() if number % 25 == 24 else dice.random() / 50)
with open(target, "r+b") as file:
    file.write(new)
    file.truncate(len(new))
    os.fsync(file.fileno())
print("whole", flush=True)
