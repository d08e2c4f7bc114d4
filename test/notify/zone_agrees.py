#!/usr/bin/python3
"""Every zone of this system shows the time that Python's zoneinfo says, from 1900 to 2200, around each
change of the clocks too.

usage: zone_agrees.py ZONE_ECHO
"""
import datetime
import random
import subprocess
import sys
import zoneinfo

MOMENTS = 60
FIRST, LAST = -2208988800, 7258118400  # 1900 and 2200
UTC = datetime.timezone.utc


def offset(zone, second):
    at = datetime.datetime.fromtimestamp(0, UTC) + datetime.timedelta(seconds=second)
    return int(at.astimezone(zone).utcoffset().total_seconds())


def around_changes(zone, dice):
    """Moments next to some changes, found by halving."""
    found = []
    for _ in range(6):
        low = dice.randrange(FIRST, LAST)
        high = low + 200 * 86400
        if offset(zone, low) == offset(zone, high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if offset(zone, middle) == offset(zone, low):
                low = middle
            else:
                high = middle
        found += [low, high]
    return found


def main():
    dice = random.Random(11)
    zoneinfo.reset_tzpath(["/usr/share/zoneinfo"])
    asked = []
    for name in sorted(zoneinfo.available_timezones()):
        zone = zoneinfo.ZoneInfo(name)
        moments = [dice.randrange(FIRST, LAST) for _ in range(MOMENTS)] + around_changes(zone, dice)
        asked.append((name, zone, moments))
    if len(asked) < 300:
        sys.exit(f"only {len(asked)} zones are installed")
    lines = "".join(f"{name} {' '.join(map(str, moments))}\n" for name, _, moments in asked)
    answers = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    for (name, zone, moments), line in zip(asked, answers, strict=True):
        theirs = [offset(zone, at) for at in moments]
        ours = line.split()
        if ours != [str(number) for number in theirs]:
            at = next((i for i, number in enumerate(theirs) if i >= len(ours) or ours[i] != str(number)), 0)
            sys.exit(f"{name} at {moments[at]}: Python's {theirs[at]}, ours {line[:200]!r}")
    print(f"{len(asked)} zones, {sum(len(moments) for _, _, moments in asked)} moments")


main()
