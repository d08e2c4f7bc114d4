#!/usr/bin/python3
"""The scanner and Python's json accept the same texts and read the same out of them.

usage: json_agrees.py JSON_ECHO [SEED]

Random documents, and the same with bytes changed, dropped, doubled or swapped.
"""
import decimal
import json
import random
import subprocess
import sys

TEXTS = 12000
REFUSED = object()
PIECES = [b'"', b"\\", b"\\u00", b"\\ud83d", b"\\ude00", b"\x00", b"\x1f", b"\x80", b"\xc3\xa4", b"\xed\xa0\x80",
          b"{", b"}", b"[", b"]", b",", b":", b" ", b"0", b"-", b"1e5", b".", b"e", b"NaN", b"null", b"true"]


class Number(str):
    """A number as it was written, equal to whatever stands for the same one."""

    def __eq__(self, other):
        return isinstance(other, Number) and (str(self) == str(other) or self.value() == other.value())

    def value(self):
        # Zero has any exponent, also one that Decimal refuses.
        return decimal.Decimal(self if self.lower().partition("e")[0].strip("-0.") else "0")

    __hash__ = None


def refuse(word):
    raise ValueError(word)


def pairs(items):
    return ("object", items)


def read(text):
    return json.loads(text.decode("utf-8"), parse_int=Number, parse_float=Number,
                      parse_constant=refuse, object_pairs_hook=pairs)


def expected(text):
    """What the scanner should make of a text."""
    too_deep = max(text.count(b"["), text.count(b"{")) > 512 and text[:1] in (b"[", b"{")
    if too_deep or text.startswith(b"\xef\xbb\xbf"):
        return REFUSED
    try:
        return read(text)
    except ValueError:
        return REFUSED


def has_lone_surrogate(value):
    if isinstance(value, str):
        return any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, tuple):
        return any(has_lone_surrogate(k) or has_lone_surrogate(v) for k, v in value[1])
    return isinstance(value, list) and any(map(has_lone_surrogate, value))


def random_string(dice):
    letters = "ab\"\\/\b\n\u0000\u001f\u00e4\u20ac\U0001f600\ud800\udc00 "
    text = "".join(dice.choice(letters) for _ in range(dice.randrange(12)))
    written = json.dumps(text)
    if dice.random() < 0.5 and not any("\ud800" <= c <= "\udfff" for c in text):
        written = json.dumps(text, ensure_ascii=False)
    return written


def random_number(dice):
    return dice.choice([
        str(dice.randrange(-10, 10)),
        str(dice.randrange(-2**65, 2**65)),
        repr(dice.uniform(-1e6, 1e6)),
        "%de%d" % (dice.randrange(-1000, 1000), dice.randrange(-25, 25)),
        "%d.%0*de-%d" % (dice.randrange(9), dice.randrange(1, 30), dice.randrange(10), dice.randrange(9)),
        "1e400", "-0", "0.0",
    ])


def blanks(dice):
    return dice.choice(["", "", "", " ", "\n", "\t\r "])


def random_value(dice, depth):
    kind = dice.randrange(8 if depth > 0 else 5)
    if kind < 2:
        return random_number(dice)
    if kind < 4:
        return random_string(dice)
    if kind == 4:
        return dice.choice(["true", "false", "null", "[]", "{ }"])
    count = range(dice.randrange(5))
    space = blanks(dice)
    if kind == 5:
        return "[" + ("," + space).join(space + random_value(dice, depth - 1) for _ in count) + "]"
    return "{" + ",".join(
        space + random_string(dice) + space + ":" + space + random_value(dice, depth - 1) + space
        for _ in count) + "}"


def damaged(dice, text):
    at = dice.randrange(len(text) + 1)
    to = min(len(text), at + dice.randrange(4))
    return dice.choice([
        text[:at] + dice.choice(PIECES) + text[at:],
        text[:at] + dice.choice(PIECES) + text[to:],
        text[:at] + text[to:],
        text[:at],
        text[:to] + text[at:],
        text[:at] + bytes([dice.randrange(256)]) + text[at + 1:],
    ])


def random_texts(dice):
    for depth in (1, 511, 512, 513, 600):
        yield b"[" * depth + b"]" * depth
        yield b'{"a":' * depth + b"1" + b"}" * depth
    for number in range(TEXTS):
        text = random_value(dice, 4).encode("utf-8")
        yield text
        yield damaged(dice, text)
        if number % 4 == 0:
            yield damaged(dice, damaged(dice, text))


def disagreement(text, answer):
    """What is wrong with an answer, or None."""
    value = expected(text)
    if value is REFUSED:
        return None if answer == b"refused" else "should be refused"
    if answer == b"refused":
        return "should be accepted"
    if has_lone_surrogate(value):
        return None if answer == b"no text" else "holds half a surrogate pair"
    if answer == b"no text":
        return "holds no half of a surrogate pair"
    return None if read(answer) == value else "was read as something else"


def main():
    sys.setrecursionlimit(20000)
    decimal.getcontext().prec = 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    texts = list(random_texts(random.Random(seed)))
    framed = b"".join(b"%d\n%s" % (len(text), text) for text in texts)
    answers = subprocess.run([sys.argv[1]], input=framed, stdout=subprocess.PIPE, check=True).stdout.split(b"\n")
    wrong = [(text, why) for text, answer in zip(texts, answers) if (why := disagreement(text, answer))]
    for text, why in wrong[:10]:
        print(f"{text!r} {why}")
    accepted = sum(answer != b"refused" for answer in answers[:-1])
    print(f"{len(texts)} texts, {accepted} accepted, seed {seed}")
    good = not wrong and len(answers) == len(texts) + 1 and len(texts) / 4 < accepted < len(texts)
    print(f"[  {'PASSED' if good else 'FAILED'}  ] 1 test(s).")
    sys.exit(0 if good else 1)


main()
