"""scripts.py - texts in ten scripts, for the proofs that something arrives unchanged."""
import unicodedata

from prove import check

SCRIPTS = {"LATIN": (0xC0, 0x24F), "GREEK": (0x391, 0x3CE), "CYRILLIC": (0x410, 0x45F), "HEBREW": (0x5D0, 0x5EA),
           "ARABIC": (0x621, 0x64A), "DEVANAGARI": (0x905, 0x939), "THAI": (0xE01, 0xE30), "CJK": (0x4E00, 0x9FA5),
           "HIRAGANA": (0x3041, 0x3094), "HANGUL": (0xAC00, 0xD7A3)}
EMOJI = ["📦", "👩‍👩‍👧", "🇩🇪", "👍🏽"]


def letters(script):
    first, last = SCRIPTS[script]
    found = [chr(code) for code in range(first, last + 1)
             if unicodedata.category(chr(code))[0] == "L" and unicodedata.name(chr(code), "").startswith(script)]
    check(len(found) >= 20, f"{script} has {len(found)} letters here")
    return found


def words(dice, alphabet, count):
    return " ".join("".join(dice.choices(alphabet, k=dice.randint(1, 12))) for _ in range(count))
