"""Words right before a date that take a part of it or count from it: "early", "the week of", "two days before".

"The first week of June" is its first seven days; "the week before 9 June" the seven days before it; "around" and
"sometime in" make it approximate.
"""

from __future__ import annotations

import re
from dataclasses import replace

from memgraph_server.memory.dates.calendar import (
    day_of,
    days,
    monday,
    weekday_of,
)
from memgraph_server.memory.dates.grammar import Found, Reading, Scan, phrase
from memgraph_server.memory.dates.lexicon import NUMBER, ORDINALS, WEEKDAY, WEEKDAYS, number
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.dates.units import part_of, third_of
from memgraph_server.memory.interval import Precision

#: Characters before a date that may belong to it.
REACH = 44

PART_BEFORE = phrase(
    r"\b(?:(?:(?P<part>early|late|mid|earlier|later)(?:\s{0,3}-\s{0,3}| )?(?:(?:in|on) )?|"
    r"(?P<edge>middle|beginning|start|end)(?: of|\s{0,3}-\s{0,3}) ?)(?:the )?(?:month of )?|"
    r"the week of (?:the )?|"
    r"(?:the )?(?P<hours>morning|afternoon|evening|night) of (?:the )?|"
    rf"(?:the )?(?P<nth>first|second|third|fourth|last) (?P<unit>week|weekend|day|few days|{WEEKDAY}) (?:of|in) )$"
)
SHIFT_BEFORE = phrase(
    rf"\b(?:(?P<n>(?:the|{NUMBER})) )?(?P<unit>days?|weeks?|weekends?|months?|years?|night|{WEEKDAY}) "
    r"(?P<side>before|after|prior to|following|preceding) (?:the )?$"
)
_AROUND_BEFORE = phrase(
    r"\b(?:around|about|circa|roughly|approximately|approx\.?|sometime (?:in|on|around)|somewhere around|maybe)"
    r"(?: (?:on|in))? (?:the )?$"
)


def modified(one: Found, before: int, scan: Scan) -> Found:
    """ "the end of March", "the week of 3 May", "the first weekend of June", "two days before 15 July"."""
    if one.reading.period is None or one.reading.kind is not DateKind.POINT:
        return one
    head = scan.folded[max(before, one.start - REACH) : one.start]
    for pattern, change in ((PART_BEFORE, part_of_date), (SHIFT_BEFORE, shift), (_AROUND_BEFORE, _approximate)):
        match = pattern.search(head)
        if match is None:
            continue
        try:
            reading = change(match, one.reading)
        except (ValueError, OverflowError):
            return one
        if reading is not None:
            start = one.start if pattern is _AROUND_BEFORE else one.start - len(head) + match.start()
            return Found(start, one.stop, reading)
    return one


def _approximate(match: re.Match[str], reading: Reading) -> Reading | None:
    if reading.role == "weekday" and match[0].startswith("about"):
        return None  # "how about Tuesday"
    return replace(reading, approximate=True)


def part_of_date(match: re.Match[str], reading: Reading) -> Reading | None:
    start, end = reading.period or (0, 0)
    long = day_of(end) - day_of(start)
    if match["hours"]:
        return replace(reading, period=part_of(day_of(start), match["hours"]), in_year=None) if long == 1 else None
    if match["nth"]:
        return _nth(match["nth"], match["unit"], start, end, reading) if 27 < long < 367 else None
    part = match["part"] or match["edge"]
    if part is None:
        return replace(reading, period=days(monday(day_of(start)), 7), precision=Precision.DAY) if long == 1 else None
    if long < 5:
        return None
    part = "early" if part == "earlier" else part
    return replace(third_of((start, end), part, reading.precision), in_year=None)


def _nth(nth: str, unit: str, start: int, end: int, reading: Reading) -> Reading | None:
    first, last, n = day_of(start), day_of(end), ORDINALS[nth]
    name = unit.split(maxsplit=1)[0].rstrip(".")
    if name in WEEKDAYS or name == "weekend":
        wanted = 5 if name == "weekend" else WEEKDAYS[name]
        there = first + (wanted - weekday_of(first)) % 7 + 7 * (n - 1)
        there = last - 1 - (weekday_of(last - 1) - wanted) % 7 if n < 0 else there
        return replace(reading, period=days(there, 2 if name == "weekend" else 1), precision=Precision.DAY)
    size = {"week": 7, "day": 1, "few": 3}[name]
    there = last - size if n < 0 else first + size * (n - 1)
    return replace(reading, period=days(there, size), precision=Precision.DAY, approximate=size != 1)


def shift(match: re.Match[str], reading: Reading) -> Reading | None:
    start, end = reading.period or (0, 0)
    sign = 1 if match["side"] in ("after", "following") else -1
    count = 1 if match["n"] in (None, "the") else number(match["n"])[0]
    unit = match["unit"].rstrip(".")
    if match["n"] is None and unit not in WEEKDAYS:
        return None
    edge = day_of(end) - 1 if sign > 0 else day_of(start)
    if unit in WEEKDAYS:
        gap = (WEEKDAYS[unit] - weekday_of(edge)) * sign % 7 or 7
        return replace(reading, period=days(edge + sign * gap), precision=Precision.DAY, in_year=None, role="day")
    unit = unit.removesuffix("s")
    if unit in ("month", "year"):
        return None
    if unit == "weekend":
        gap = (5 - weekday_of(edge)) * sign % 7 or 7
        return replace(
            reading, period=days(edge + sign * (gap + 7 * (count - 1)), 2), precision=Precision.DAY, in_year=None
        )
    if unit == "week":
        first = edge + 1 + 7 * (count - 1) if sign > 0 else edge - 7 * count
        return replace(reading, period=days(first, 7), precision=Precision.DAY, in_year=None)
    return replace(reading, period=days(edge + sign * count), precision=Precision.DAY, in_year=None, role="day")
