"""The machinery of the grammar: rules by their first word, read once from left to right, longest wins.

A rule names the words it can begin with and a pattern that is matched at such a word only. Patterns have bounded
repeats and no nesting of them, so the whole is linear in the text whatever it holds. A handler turns a match into a
`Reading`, in local microseconds, or None where the words are no date after all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from memgraph_server.memory.dates.calendar import MINUTE, Now, Period, days
from memgraph_server.memory.dates.lexicon import G, folded
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.dates.tense import Direction, Tenses
from memgraph_server.memory.interval import Precision

#: Stands for any number in digits among the first words of a rule.
DIGITS = "#"
_AHEAD = frozenset({"by", "until", "till", "through", "for", "starting"})
_TOKEN = re.compile(r"[^\W\d_]{1,40}|\d{1,40}")
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,20})[\s(-]{1,3}$")
_WORD_AFTER = re.compile(r"\s{1,3}([^\W\d_]{1,20})")


@dataclass(frozen=True, slots=True)
class Reading:
    """A time in local microseconds. `in_year`: the same words in a given year, where they name none.

    `role`: what it may combine with: "weekday", "day", "clock" (a time of the day alone) or "".
    """

    period: Period | None
    precision: Precision
    kind: DateKind = DateKind.POINT
    approximate: bool = False
    in_year: Callable[[int], Period] | None = None
    role: str = ""
    end_precision: Precision | None = None
    end_named: int | None = None
    open: bool = False  # the end is not said
    startless: bool = False  # the start is not said
    weekday: int | None = None  # 0 for Monday, where only that is named


@dataclass(frozen=True, slots=True)
class Scan:
    """One text as it is being read."""

    text: str
    folded: str
    turn: Now  # in local time
    offset: int  # of the turn's local time, in minutes
    direction: Direction | None
    tenses: Tenses = field(repr=False)

    @classmethod
    def of(cls, text: str, now: Now, offset: int, direction: Direction | None) -> Scan:
        plain = folded(text)
        return cls(text, plain, now, offset, direction, Tenses(plain))

    def shift(self, zone: str | None) -> int:
        """From a clock in the written zone ("z", "-04:00") to the turn's own; none: it is the turn's own."""
        if zone is None:
            return 0
        digits = zone[1:].replace(":", "")
        minutes = 0 if zone == "z" else int(digits[:2]) * 60 + int(digits[2:])
        return (self.offset - (-minutes if zone[0] == "-" else minutes)) * MINUTE

    def points(self, match: re.Match[str]) -> Direction | None:
        """The caller's direction; after "since" the past; else the nearest verb's; after "by" or "for" ahead."""
        start, stop = match.span("x") if "x" in match.re.groupindex else match.span()
        before = self.word_before(start)
        if self.direction or before == "since":
            return self.direction or "past"
        return self.tenses.at(start, stop) or ("future" if before in _AHEAD else None)

    def word_before(self, place: int) -> str:
        found = _WORD_BEFORE.search(self.folded, max(0, place - 24), place)
        return found[1] if found else ""

    def word_after(self, place: int) -> str:
        found = _WORD_AFTER.match(self.folded, place)
        return found[1] if found else ""

    def capital(self, place: int) -> bool:
        return self.text[place : place + 1].isupper()


Handler: TypeAlias = Callable[[re.Match[str], Scan], Reading | None]


@dataclass(frozen=True, slots=True)
class Rule:
    pattern: re.Pattern[str]
    handler: Handler


@dataclass(frozen=True, slots=True)
class Found:
    """A reading at its place."""

    start: int
    stop: int
    reading: Reading


def phrase(pattern: str) -> re.Pattern[str]:
    """A pattern in which a space stands for a gap between words, of one to three white characters."""
    return re.compile(pattern.replace(" ", G))


class Grammar:
    """Rules by first word. The group `x` of a pattern, where there is one, is the mention; the rest is context."""

    def __init__(self) -> None:
        self._rules: dict[str, list[Rule]] = {}

    def rule(self, starts: Iterable[str], pattern: str) -> Callable[[Handler], Handler]:
        """Register the decorated handler."""
        compiled = phrase(pattern)

        def register(handler: Handler) -> Handler:
            for word in starts:
                self._rules.setdefault(word, []).append(Rule(compiled, handler))
            return handler

        return register

    @classmethod
    def of(cls, *parts: Grammar) -> Grammar:
        """All rules of the parts; of equally long readings that of the first part wins."""
        whole = cls()
        for part in parts:
            for word, rules in part._rules.items():
                whole._rules.setdefault(word, []).extend(rules)
        return whole

    def find(self, scan: Scan) -> list[Found]:
        """All readings of all rules; they may overlap."""
        found: list[Found] = []
        for token in _TOKEN.finditer(scan.folded):
            word = token[0]
            for rule in self._rules.get(DIGITS if word.isdigit() else word, ()):
                match = rule.pattern.match(scan.folded, token.start())
                if match is not None:
                    found.extend(read(match, rule.handler, scan))
        return found


def read(match: re.Match[str], handler: Handler, scan: Scan) -> list[Found]:
    """The reading of one match, if it is one: dates that no calendar holds (30 February, the year 10000) are none."""
    try:
        reading = handler(match, scan)
    except (ValueError, OverflowError):
        return []
    if reading is None:
        return []
    start, stop = match.span("x") if "x" in match.re.groupindex else match.span()
    return [Found(start, stop, reading)]


def longest(found: list[Found]) -> list[Found]:
    """Of overlapping readings the longest, then the first found; sorted by place."""
    kept: list[Found] = []
    taken = bytearray(max((one.stop for one in found), default=0))
    for one in sorted(found, key=lambda each: each.start - each.stop):
        if not any(taken[one.start : one.stop]):
            taken[one.start : one.stop] = b"\1" * (one.stop - one.start)
            kept.append(one)
    return sorted(kept, key=lambda each: each.start)


def point(period: Period, precision: Precision, *, approximate: bool = False, role: str = "") -> Reading:
    return Reading(period, precision, approximate=approximate, role=role)


def day_point(day: int, *, approximate: bool = False) -> Reading:
    return point(days(day), Precision.DAY, approximate=approximate, role="day")


def unplaced(kind: DateKind) -> Reading:
    """A time with no place on the calendar."""
    return Reading(None, Precision.INSTANT, kind, approximate=True)
