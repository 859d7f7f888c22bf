"""What the emulated wearables measure. The peripherals send these figures, and the check expects them; nothing is decoded here."""

import datetime
import os

# The first program decides, so that all have the same day, also around midnight.
os.environ.setdefault("RING_DAY", str(datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=1)))

PORT = 7777  # of loopback in the guest

STRAP_RATES = (72, 65, 300)  # beats per minute; the last one needs two bytes
STRAP_BATTERY = 87  # percent
STRAP_SERIAL = "0042"

CUFF_DAY = (2026, 11, 20)
CUFF_RECORDS = ((8, 120, 80, 72), (9, 121, 80, 73), (10, 122, 80, 74))  # hour, systolic, diastolic, pulse
CUFF_LATER = ((11, 131, 85, 75), (12, 132, 86, 76), (13, 133, 87, 77))  # stored while the link is lost
CLOCK_DIFFERS = 2  # seconds between the time that the cuff gets and the guest's, at most: it takes a while to arrive

OXIMETER_RECORDS = tuple((minute, 97, 60 + minute) for minute in range(20))  # minute of 22 o'clock, percent, beats per minute
OXIMETER_LIVE = (98, 66)

SCALE_DAY = (2026, 11, 21)
SCALE_RECORDS = ((7, 70.5), (8, 71.0))  # hour, kg; each time that the scale comes back it has one more
SCALE_LATER = ((9, 71.5), (10, 72.0), (11, 72.5))
SCALE_PASSKEYS = (40713, 271828, 577215)  # what it shows at one pairing after the other

# The day that both rings remember: the one before the scenario began, in UTC.
RING_DAY = datetime.date.fromisoformat(os.environ["RING_DAY"])
RING_BATTERY = 64
RING_RATES = tuple(60 + slot % 30 for slot in range(288))  # beats per minute, each five minutes
RING_STRESS = tuple(30 + slot % 20 for slot in range(48))  # each half hour
RING_STEPS = ((8, 100, 70), (9, 200, 140), (10, 300, 210))  # hour, steps, metres
RING_OXYGEN = tuple(90 + hour % 5 for hour in range(24))  # the lowest of each hour, per cent
RING_SLEEP = (1343, 542)  # from the minute of the evening before to the minute of the day
RING_STAGES = ((2, 200), (3, 100), (4, 100), (5, 39), (2, 200))  # light 2, deep 3, REM 4, awake 5; minutes
RING_INTERVAL = 10  # minutes, that a command asks for

NIGHT_START = 2  # o'clock
NIGHT_INTERVAL = 4  # seconds
NIGHT_RECORDS = tuple((90 + index % 10, 50 + index % 60) for index in range(150))  # per cent, beats per minute
NIGHT_LIVE = (97, 63)
NIGHT_LIMIT = 86  # per cent, that a command asks for
