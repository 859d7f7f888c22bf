"""What the emulated wearables measure. The peripherals send these figures, and the check expects them; nothing is decoded here."""

PORT = 7777  # of loopback in the guest

STRAP_RATES = (72, 65, 300)  # beats per minute; the last one needs two bytes
STRAP_BATTERY = 87  # percent

CUFF_DAY = (2026, 11, 20)
CUFF_RECORDS = ((8, 120, 80, 72), (9, 121, 80, 73), (10, 122, 80, 74))  # hour, systolic, diastolic, pulse
CUFF_LATER = ((11, 131, 85, 75), (12, 132, 86, 76), (13, 133, 87, 77))  # stored while the link is lost

OXIMETER_RECORDS = tuple((minute, 97, 60 + minute) for minute in range(20))  # minute of 22 o'clock, percent, beats per minute
OXIMETER_LIVE = (98, 66)
