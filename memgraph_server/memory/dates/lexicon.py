"""The words of dates: months, weekdays, numbers and units, and the folding of a text before it is read.

Rule: folding keeps every character's place, so that spans of the folded text are spans of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
#: Also verbs or first names: alone they need a preposition and a capital.
AMBIGUOUS_MONTHS = frozenset({"may", "march", "mar", "april", "june", "august", "jan", "dec", "sep"})
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mon",
            "tuesday tues tue",
            "wednesday weds wed",
            "thursday thurs thur thu",
            "friday fri",
            "saturday sat",
            "sunday sun",
        )
    )
    for name in names.split()
}
SHORT_WEEKDAYS = frozenset(name for name in WEEKDAYS if not name.endswith("day"))
UNITS = {
    name: unit
    for unit, names in {
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs",
        "day": "day days",
        "night": "night nights",
        "week": "week weeks wk wks",
        "fortnight": "fortnight fortnights",
        "weekend": "weekend weekends",
        "month": "month months",
        "quarter": "quarter quarters",
        "year": "year years yr yrs",
        "decade": "decade decades",
        "century": "century centuries",
    }.items()
    for name in names.split()
}
_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBERS = {word: n for n, word in enumerate(_ONES, start=1)} | {word: n for n, word in enumerate(_TENS, start=2)}
NUMBERS = {word: n * 10 if word in _TENS else n for word, n in NUMBERS.items()} | {"hundred": 100, "a": 1, "an": 1}
#: "a couple" is two, "a few" three, "several" four: all approximate.
VAGUE_NUMBERS = {"couple": 2, "few": 3, "several": 4}
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "last": -1,
}  # fmt: skip

G = r"\s{1,3}"  # a gap between words


def _names(words: Iterable[str], abbreviated: re.Pattern[str]) -> str:
    """An alternation; abbreviations may end in a dot."""
    longest_first = sorted(words, key=len, reverse=True)
    short = "|".join(word for word in longest_first if abbreviated.fullmatch(word))
    full = "|".join(word for word in longest_first if not abbreviated.fullmatch(word))
    return rf"(?:(?:{full})\b|(?:{short})\b\.?)"


MONTH = _names(MONTHS, re.compile("(?!may)...|sept"))
WEEKDAY = _names(WEEKDAYS, re.compile(".{2,5}(?<!day)"))
UNIT = "(?:" + "|".join(sorted(UNITS, key=len, reverse=True)) + r")\b"
_TENS_WORD = "(?:" + "|".join(_TENS) + ")"
_ONES_WORD = "(?:" + "|".join(sorted(_ONES, key=len, reverse=True)) + ")"
NUMBER = (
    rf"(?:(?:a{G})?couple(?:{G}of)?|(?:a{G})?(?:very{G})?few|several|(?:a|one){G}hundred|\d{{1,3}}|"
    rf"{_TENS_WORD}(?:[-\s]{_ONES_WORD})?|{_ONES_WORD}|an?)\b"
)
NUMBER_STARTS = frozenset({"a", "an", "couple", "few", "several", *_ONES, *_TENS})
YEAR = r"(?:[12]\d{3})(?![\d%]|[,.]\d)"

#: What may follow a date; another word after a bare number is likelier what it counts.
FUNCTION_WORDS = frozenset(
    "and or but at in on of for with from to until till through by when after before as i we he she they it you my our "
    "his her their the a an is was will has had that which so because since if this next last there here while where "
    "who what would could should can did do does are were be been not no then this now back also just only still "
    "already because like off up out during onward onwards ad ce bc bce around about went came got made took saw gave "
    "let than both we're i'm it's that's i've we've".split()
)

_DIGITS = {0x660 + n: str(n) for n in range(10)} | {0x6F0 + n: str(n) for n in range(10)}
_DIGITS |= {0xFF10 + n: str(n) for n in range(10)} | {0x966 + n: str(n) for n in range(10)}
_CAPITALS = {chr(code): chr(code).lower() for code in range(0x250) if len(chr(code).lower()) == 1}
_SIGNS = {"’": "'", "‘": "'", "ʼ": "'", "–": "-", "—": "-", "‑": "-", "−": "-", "／": "/", "：": ":", "．": "."}
_FOLD = str.maketrans({**{chr(code): digit for code, digit in _DIGITS.items()}, **_CAPITALS, **_SIGNS})


def folded(text: str) -> str:
    """Lower case (Latin), ASCII digits, plain quotes and dashes, character by character."""
    return text.translate(_FOLD)


def number(words: str) -> tuple[int, bool]:
    """The value of NUMBER, and whether it is only approximate."""
    if words.isascii() and words.isdigit():
        return int(words), False
    parts = re.split(r"[\s-]+", words)
    for part in parts:
        if part in VAGUE_NUMBERS:
            return VAGUE_NUMBERS[part], True
    if parts[-1] == "hundred":
        return 100, False
    return sum(NUMBERS[part] for part in parts), False
