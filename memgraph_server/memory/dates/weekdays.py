"""Weekdays and days of the month: "on Friday", "last Tues", "this coming Sunday", "on the 5th".

Rules in `floating.py`. Short names need a capital and a preposition; "the 5th" needs a preposition and no noun.
"next Friday" is that of the next calendar week, and approximate, since people differ.
"""

from __future__ import annotations

import re

from memgraph_server.memory.dates.calendar import days, first_of_month, weekday_of
from memgraph_server.memory.dates.floating import WHICH_STARTS, WHICH_WORDS, weekday, which
from memgraph_server.memory.dates.grammar import Grammar, Reading, Scan, day_point, unplaced
from memgraph_server.memory.dates.lexicon import (
    FUNCTION_WORDS,
    NUMBER,
    NUMBER_STARTS,
    SHORT_WEEKDAYS,
    WEEKDAY,
    WEEKDAYS,
    number,
)
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.interval import Precision

GRAMMAR = Grammar()
rule = GRAMMAR.rule

_BEFORE_SHORT = frozenset({"on", "by", "until", "since", "till", "and", "from"})
_BEFORE = _BEFORE_SHORT | {"to", "before", "after", "through", "or", "is", "was", "for", "of"}
_IT_IS = re.compile(r"\b(?:it's|it\sis|today\sis|today's)\s{1,3}$")
_OTHER_DAYS = frozenset({"good", "black", "cyber", "ash", "palm"})


@rule(
    ["on", "by", "until", "till", "since", "from", "before", "after", "around"],
    r"[a-z]+ (?P<x>the (?P<day>0?[1-9]|[12]\d|3[01])(?P<suffix>st|nd|rd|th)\b)(?: (?P<of>of "
    r"(?P<which>this|last|next|the|each|every) month)\b)?",
)
def _day_of_month(match: re.Match[str], scan: Scan) -> Reading | None:
    following = scan.word_after(match.end())
    if following and following not in FUNCTION_WORDS - {"of"}:
        return None
    if match["which"] in ("each", "every"):
        return unplaced(DateKind.RECURRING)
    day, now, way = int(match["day"]), scan.turn, scan.points(match)
    back = {"last": -1, "next": 1}.get(match["which"] or "", 0)
    if not match["of"]:
        ahead = day - (now.day - first_of_month(now.month) + 1)
        back = -1 if ahead > 0 and way != "future" else 1 if ahead < 0 and way == "future" else 0
    first = first_of_month(now.month + back)
    if first + day - 1 >= first_of_month(now.month + back + 1):
        return None
    return day_point(first + day - 1)


@rule(WEEKDAYS, rf"(?P<name>{WEEKDAY})(?!')")
def _weekday(match: re.Match[str], scan: Scan) -> Reading | None:
    name, before = match["name"].rstrip("."), scan.word_before(match.start())
    capital = scan.capital(match.start())
    if name in SHORT_WEEKDAYS and not (capital and before in _BEFORE_SHORT):
        return None
    if not (capital or before in _BEFORE):
        return None
    if scan.folded.startswith("friday night lights", match.start()) or before in _OTHER_DAYS:
        return None
    if before in ("a", "any", "some"):
        return None
    wanted = WEEKDAYS[name]
    today = wanted == weekday_of(scan.turn.day) and _IT_IS.search(
        scan.folded, max(0, match.start() - 12), match.start()
    )
    day = scan.turn.day if today else weekday(wanted, scan.turn, scan.points(match))
    return Reading(days(day), Precision.DAY, role="weekday", weekday=wanted)


@rule(WHICH_STARTS, rf"{WHICH_WORDS} (?P<name>{WEEKDAY})")
def _which_weekday(match: re.Match[str], scan: Scan) -> Reading | None:
    name, way, now = match["name"].rstrip("."), which(match), scan.turn
    day = weekday(WEEKDAYS[name], now, way)
    if way == "next" and match["which"].endswith(("coming", "following")):
        day = weekday(WEEKDAYS[name], now, "future")
        return Reading(days(day + (7 if day == now.day else 0)), Precision.DAY, role="weekday")
    if way == "this" and scan.points(match) == "future" and day < now.day:
        day += 7
    if way == "this" and scan.points(match) == "past" and day > now.day:
        day -= 7
    return Reading(days(day), Precision.DAY, approximate=way == "next", role="weekday")


@rule(["the"], rf"the (?P<name>{WEEKDAY}) (?P<side>before last|after next)\b")
def _after_next(match: re.Match[str], scan: Scan) -> Reading:
    wanted = WEEKDAYS[match["name"].rstrip(".")]
    day = (
        weekday(wanted, scan.turn, "last") - 7
        if match["side"] == "before last"
        else weekday(wanted, scan.turn, "next") + 7
    )
    return Reading(days(day), Precision.DAY, approximate=match["side"] == "after next", role="weekday")


@rule(NUMBER_STARTS, rf"(?P<n>{NUMBER}) (?P<name>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s? ago\b")
def _weekdays_ago(match: re.Match[str], scan: Scan) -> Reading:
    count, vague = number(match["n"])
    day = weekday(WEEKDAYS[match["name"]], scan.turn, "last") - 7 * (count - 1)
    return Reading(days(day), Precision.DAY, approximate=vague, role="weekday")


@rule(WEEKDAYS, rf"(?P<name>{WEEKDAY}),? the (?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)\b(?! of\b)")
def _weekday_the_nth(match: re.Match[str], scan: Scan) -> Reading | None:
    """ "Friday the 14th": the nearest that is both."""
    wanted, number_of_day, now = WEEKDAYS[match["name"].rstrip(".")], int(match["day"]), scan.turn
    firsts = (first_of_month(now.month + away) for away in range(-12, 13))
    both = [first + number_of_day - 1 for first in firsts if weekday_of(first + number_of_day - 1) == wanted]
    return day_point(min(both, key=lambda day: abs(day - now.day))) if both else None
