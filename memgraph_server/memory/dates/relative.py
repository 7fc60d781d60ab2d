"""Calendar units counted from now by name: last week, next month, this weekend, the year before last, later this year.

Rules. "Last", "this" and "next" name the calendar unit before, around and after now; "the past year" runs from a year
ago until now. "Last weekend" is the latest one that is over; "next weekend" that of the next calendar week; "the
weekend" and "this weekend" follow the verb. "Earlier this month" ends with yesterday, "later" begins now.
"""

from __future__ import annotations

import re

from memgraph_server.memory.dates.calendar import Now, Period, days, midnight, monday, months
from memgraph_server.memory.dates.durations import rolling
from memgraph_server.memory.dates.floating import WHICH_STARTS, WHICH_WORDS, which
from memgraph_server.memory.dates.grammar import Grammar, Reading, Scan, point
from memgraph_server.memory.dates.units import MONTHS_LONG, PARTS, away, part_of, precision_of, third_of, weekend_away
from memgraph_server.memory.interval import Precision

GRAMMAR = Grammar()
rule = GRAMMAR.rule


@rule(["the"], r"the (?P<unit>week|weekend|month|year|night) (?P<side>before last|after next)\b")
def _two_units(match: re.Match[str], scan: Scan) -> Reading:
    unit, count = match["unit"], -2 if match["side"].startswith("before") else 2
    return point(away(scan.turn, unit, count), precision_of(unit))


@rule(
    ["earlier", "later", "early", "late"],
    r"(?P<side>earlier|later|early|late) (?P<which>this|last|next|on in the|in the|today)(?: "
    r"(?P<unit>week|month|year|quarter|decade|century|weekend|morning|evening|afternoon))?\b",
)
def _part_of_current(match: re.Match[str], scan: Scan) -> Reading | None:
    words, unit, now = match["which"], match["unit"], scan.turn
    if words == "today":
        period = days(now.day)
    elif unit is None or (words.endswith("the") and unit in PARTS):
        return None
    elif unit in PARTS:
        return point(part_of(now.day, unit), Precision.DAY) if words == "this" else None
    else:
        period = away(now, unit, {"last": -1, "next": 1}.get(words, 0))
    if match["side"] in ("early", "late") or words in ("last", "next"):
        return third_of(period, match["side"].removesuffix("er").removesuffix("r"), precision_of(unit or "day"))
    return point(_half(period, match["side"], now, words), precision_of(unit or "day"), approximate=True)


def _half(period: Period, side: str, now: Now, words: str) -> Period:
    """The part of the current unit before today (before now, where that is its first day), or from now on."""
    if side == "later":
        return max(now.local, period[0]), period[1]
    today = midnight(now.day)
    split = today if today > period[0] and words != "today" else now.local
    return period[0], max(split, period[0] + 1)


@rule(
    WHICH_STARTS,
    rf"{WHICH_WORDS} (?P<unit>week|weekend|month|year|quarter|decade|century)\b(?!-| (?:of|before|after)\b)(?:'s)?",
)
def _which_unit(match: re.Match[str], scan: Scan) -> Reading | None:
    unit, way, now, words = match["unit"], which(match), scan.turn, " ".join(match["which"].split())
    if unit == "weekend":
        return point(days(_which_weekend(match, scan, way), 2), Precision.DAY)
    if words.endswith("past") or (words == "the last" and unit != "week"):
        return rolling(now, unit, -1, scan.word_before(match.start()) == "for")
    if words.endswith("following"):
        return None
    period = away(now, unit, {"last": -1, "next": 1, "this": 0}[way])
    return point(period, precision_of(unit), role=unit if unit in ("week", "year") else "")


def _which_weekend(match: re.Match[str], scan: Scan, way: str) -> int:
    now = scan.turn
    if way == "this":
        over = now.day < now.week + 5 and scan.points(match) == "past"
        return weekend_away(now, -1 if over else 0)
    if way == "next" and match["which"].split()[-1] in ("coming", "upcoming"):
        return weekend_away(now, 0)
    return weekend_away(now, 1 if way == "next" else -1)


@rule(
    ["over", "on", "at", "during", "for"],
    r"(?:over|on|at|during|for) (?P<x>(?:the|my|our) weekend)\b(?! (?:of|before|after)\b)",
)
def _the_weekend(match: re.Match[str], scan: Scan) -> Reading:
    on = scan.turn.day >= scan.turn.week + 5
    ahead = scan.points(match) == "future" or on
    return point(days(weekend_away(scan.turn, 0 if ahead else -1), 2), Precision.DAY)


@rule(["this"], r"this time (?P<which>last|next) (?P<unit>week|month|year)\b")
def _this_time(match: re.Match[str], scan: Scan) -> Reading:
    sign, unit = (-1 if match["which"] == "last" else 1), match["unit"]
    period = (
        days(monday(scan.turn.day) + 7 * sign, 7)
        if unit == "week"
        else months(scan.turn.month + sign * MONTHS_LONG[unit])
    )
    return point(period, Precision.DAY if unit == "week" else Precision.MONTH, approximate=True)


@rule(
    ["the"],
    r"the (?P<part>end|beginning|start|middle) of the (?P<unit>week|month|year|quarter|decade|century|day)\b",
)
def _part_of_the_unit(match: re.Match[str], scan: Scan) -> Reading:
    unit = match["unit"]
    if unit == "day":
        return point(part_of(scan.turn.day, "evening"), Precision.DAY, approximate=True)
    return third_of(away(scan.turn, unit, 0), match["part"], precision_of(unit))
