#!/usr/bin/python3
"""What a template writes for a value is what Python writes in the same format; and what we refuse, and
Python takes, is what owed/template.h leaves out.

usage: format_agrees.py FORMAT_ECHO
"""
import decimal
import itertools
import random
import subprocess
import sys

FILLS = ["", "*<", "0>", "é^", "<", ">", "^", "=", "x="]
SIGNS = ["", "+", "-", " "]
WIDTHS = ["", "0", "1", "7", "08", "030"]
GROUPS = ["", ",", "_"]
TEXTS = ["", "a", "Zoë", "ein längeres Wort", "日本語", "{}"]
WHOLES = [0, 7, -7, 999, 1000, -1000, 1234567, 2**63 - 1, -(2**63)]
DOUBLES = [0.0, -0.0, 0.5, 1.5, 2.675, 59.9, -59.9, 1234567.891, 1e22, 1e-7, 123456789012345680.0, 5e-324, 1.7e308]
DECIMALS = ["0", "12.50", "-12.50", "0.005", "0.015", "0.0151", "999.995", "-0.004", "1234567.125", "9.99", "99999999999999999999.995"]


def cases():
    dice = random.Random(7)
    head = ["".join(parts) for parts in itertools.product(FILLS, SIGNS, WIDTHS, GROUPS)]
    for kind, values, types, precisions in (
            ("text", TEXTS, ["", "s"], ["", ".0", ".3", ".100"]),
            ("int64", WHOLES, ["", "d", "x", "X", "o", "b", "f", "e", "g", "%"], ["", ".0", ".2"]),
            ("double", DOUBLES, ["", "f", "F", "e", "E", "g", "G", "%"], ["", ".0", ".2", ".17"]),
            ("decimal", DECIMALS, ["", "f"], ["", ".0", ".2", ".5"])):
        for value in values:
            for _ in range(400):
                yield kind, dice.choice(head) + dice.choice(precisions) + dice.choice(types), value


def python(kind, form, value):
    value = decimal.Decimal(value) if kind == "decimal" else value
    try:
        return format(value, form)
    except ValueError:
        return None


def main():
    asked = list(cases())
    lines = "".join(f"{kind}\t{form}\t{value!r}\n" if kind == "double" else f"{kind}\t{form}\t{value}\n"
                    for kind, form, value in asked)
    answers = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True).stdout.split("\n")
    same = refused = 0
    for (kind, form, value), ours in zip(asked, answers):
        if kind == "decimal" and "_" in form:  # which Python's decimals do not know yet
            continue
        theirs = python(kind, form, value)
        if ours.startswith("! "):
            refused += 1
            continue
        if ours != theirs:
            sys.exit(f"{kind} {value!r} in {form!r}: ours {ours!r}, Python's {theirs!r}")
        same += 1
    if same < len(asked) // 4:
        sys.exit(f"only {same} of {len(asked)} were written")
    print(f"{same} the same, {refused} refused")


main()
