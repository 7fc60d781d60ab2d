"""Dates that name no year ("May 8", "in June", "Christmas") or no week ("on Friday"): which one is meant.

Rules, counted from the turn's own day. "last": the latest that was over before now (a weekday: the latest before
today). "next": the first that begins after now (a weekday: that of the next calendar week). "this": the one that is
on, else the one of this calendar year (a weekday: of this calendar week). Without such a word the direction of the
nearest verb decides: "past" takes the latest that has begun, "future" the first that is not over (a weekday: the latest
before today, the first after it); with no verb either the nearest is taken (a weekday: the latest before today).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memgraph_server.memory.dates.calendar import Now, Period, days
from memgraph_server.memory.dates.grammar import Reading, Scan
from memgraph_server.memory.interval import Precision

InYear = Callable[[int], Period]

#: Words before a period, as "last", "this" or "next".
WHICH = {
    "last": "last", "past": "last", "previous": "last", "this past": "last", "the past": "last", "the last": "last",
    "this last": "last", "the previous": "last",
    "this": "this", "the current": "this", "current": "this", "this current": "this",
    "next": "next", "coming": "next", "upcoming": "next", "following": "next", "the next": "next",
    "this coming": "next", "the coming": "next", "this upcoming": "next", "the upcoming": "next",
    "the following": "next", "this next": "next",
}  # fmt: skip
WHICH_WORDS = (
    r"(?P<which>(?:the\s{1,3}|this\s{1,3})?(?:last|past|previous|next|coming|upcoming|following|current)|this)\b"
)
WHICH_STARTS = ("last", "past", "previous", "this", "next", "coming", "upcoming", "following", "the", "current")


def which(match: re.Match[str]) -> str:
    """The `which` group as "last", "this" or "next"; "" without one."""
    words = match["which"]
    return WHICH[" ".join(words.split())] if words else ""


def choose(in_year: InYear, now: Now, way: str | None) -> Period:
    """The occurrence that `way` ("last", "this", "next", "past", "future" or none) means. ValueError: there is none."""
    every = list(_occurrences(in_year, now.year, 1)) or list(_occurrences(in_year, now.year, 8))
    today = days(now.day)
    if way == "last":
        every = [each for each in every if each[1] <= today[0] + 1][-1:]
    elif way == "next":
        every = [each for each in every if each[0] > now.local][:1]
    elif way == "past":
        every = [each for each in every if each[0] <= now.local][-1:]
    elif way == "future":
        every = [each for each in every if each[1] > now.local][:1]
    elif way == "this":
        on = [each for each in every if each[0] <= now.local < each[1]]
        every = on or [in_year(now.year)]
    if not every:
        raise ValueError("no such date")
    return min(every, key=lambda each: abs(each[0] + each[1] - 2 * now.local))


def _occurrences(in_year: InYear, year: int, around: int) -> Iterator[Period]:
    for candidate in range(year - around, year + around + 1):
        try:
            yield in_year(candidate)
        except (ValueError, OverflowError):
            continue


def yearless(
    in_year: InYear, match: re.Match[str], scan: Scan, precision: Precision, *, way: str = "", approximate: bool = False
) -> Reading:
    """The reading of a date that names no year; it keeps `in_year` for a neighbour that names one."""
    period = choose(in_year, scan.turn, way or scan.points(match))
    role = "day" if precision is Precision.DAY else ""
    return Reading(period, precision, approximate=approximate, in_year=None if way else in_year, role=role)


def weekday(wanted: int, now: Now, way: str | None) -> int:
    """The day that "Friday" means, by the rules above."""
    if way == "next":
        return now.week + 7 + wanted
    if way == "this":
        return now.week + wanted
    if way == "future":
        return now.day + 1 + (wanted - now.day) % 7
    return now.day - 1 - (now.day - 2 - wanted) % 7
