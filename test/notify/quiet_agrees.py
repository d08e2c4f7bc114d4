#!/usr/bin/python3
"""A channel is silent when the recipient's clocks say so, and until they say otherwise: asked of Python's
zoneinfo minute by minute, around changes of the clocks most of all.

usage: quiet_agrees.py QUIET_ECHO
"""
import datetime
import random
import subprocess
import sys
import zoneinfo

CASES = 1500
# The last turns by 30 minutes only; Apia skipped a day in 2011; Troll turns by two hours.
ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "America/Sao_Paulo", "Antarctica/Troll",
         "Pacific/Chatham", "UTC", "Australia/Lord_Howe"]
YEARS = [2011, 2018, 2026, 2027, 2060]
MINUTE = datetime.timedelta(minutes=1)
UTC = datetime.timezone.utc


def minutes(text):
    return int(text[:2]) * 60 + int(text[3:])


def covers(window, local):
    start, end, days = minutes(window[0]), minutes(window[1]), window[2] or 127
    at = local.hour * 60 + local.minute
    today = local.isoweekday() % 7
    if start < end:
        return days >> today & 1 and start <= at < end
    return (days >> today & 1 and at >= start) or (days >> (today - 1) % 7 & 1 and at < end)


def quiet(windows, zone, at):
    return any(covers(window, at.astimezone(zone)) for window in windows)


def until(windows, zone, second):
    at = datetime.datetime.fromtimestamp(second, UTC)
    if not quiet(windows, zone, at):
        return 0
    at = at.replace(second=0)
    while quiet(windows, zone, at):
        at += MINUTE
    return int(at.timestamp())


def change(zone, dice):
    """A second near a change of the clocks, where there is one in that year."""
    at = datetime.datetime(dice.choice(YEARS), dice.randrange(1, 13), 1, tzinfo=UTC)
    for _ in range(400):
        day = at + datetime.timedelta(days=1)
        if at.astimezone(zone).utcoffset() != day.astimezone(zone).utcoffset():
            break
        at = day
    return int(at.timestamp()) + dice.randrange(-86400, 2 * 86400)


def window(dice):
    start, end = dice.sample([f"{hour:02}:{minute:02}" for hour in range(24) for minute in (0, 30, 59)], 2)
    return start, end, dice.choice([0, 0, 62, 65, 1, 127, dice.randrange(1, 128)])


def main():
    dice = random.Random(5)
    zoneinfo.reset_tzpath(["/usr/share/zoneinfo"])
    asked = [(dice.choice(ZONES), [window(dice) for _ in range(dice.choice([1, 1, 1, 2, 3]))]) for _ in range(CASES)]
    asked = [(name, change(zoneinfo.ZoneInfo(name), dice), windows) for name, windows in asked]
    lines = "".join(f"{name} {second} {' '.join(' '.join(map(str, one)) for one in windows)}\n"
                    for name, second, windows in asked)
    answers = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    silent = 0
    for (name, second, windows), ours in zip(asked, answers, strict=True):
        if "no minute of the week" in ours:
            continue
        theirs = until(windows, zoneinfo.ZoneInfo(name), second)
        if ours != str(theirs):
            sys.exit(f"{name} at {second}, {windows}: ours {ours}, Python's {theirs}")
        silent += theirs != 0
    if silent < CASES // 4:
        sys.exit(f"only {silent} were silent")
    print(f"{len(asked)} moments, {silent} of them silent")


main()
