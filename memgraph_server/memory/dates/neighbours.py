"""Dates side by side that say one time: "Friday, 3 May", "Friday night at 8pm", "June of last year".

Also "the Friday before 15 July"; and lists of weekdays: three in a row, or one beside "every Tuesday" or "Sundays",
are a schedule.
"""

from __future__ import annotations

import re
from dataclasses import replace

from memgraph_server.memory.dates.calendar import (
    DAY,
    MINUTE,
    Period,
    day_of,
    days,
    midnight,
    weekday_of,
    year_of,
)
from memgraph_server.memory.dates.grammar import Found, Reading, Scan, phrase, unplaced
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.dates.shifts import PART_BEFORE, REACH, SHIFT_BEFORE, part_of_date, shift
from memgraph_server.memory.dates.units import part_of
from memgraph_server.memory.interval import Precision

_NEXT_TO = re.compile(r"[\s,:*_()]{1,6}(?:(?:on|at|in|around|of)\s{1,3})?(?:the\s{1,3})?")
_SIDE = phrase(r" (?:before|after|prior to|following|preceding) (?:the )?$")
_WITHIN = phrase(r" (?:of|in) (?:the )?")
_PART_AFTER = phrase(r" (?:early |late |in the )?(?P<part>morning|afternoon|arvo|evening|night|noon)\b")


def joined(found: list[Found], scan: Scan) -> list[Found]:
    """Neighbours that say one time together become one."""
    done: list[Found] = []
    for one in found:
        here = _with_part(one, scan)
        before = done[-1] if done else None
        both = _both(before, here, scan) if before else None
        if both is not None:
            done[-1] = both
        else:
            done.append(here)
    return done


def _with_part(one: Found, scan: Scan) -> Found:
    match = _PART_AFTER.match(scan.folded, one.stop) if one.reading.role in ("weekday", "day") else None
    if match is None or one.reading.period is None:
        return one
    period = part_of(day_of(one.reading.period[0]), match["part"])
    return Found(one.start, match.end(), replace(one.reading, period=period, in_year=None))


def _both(left: Found, right: Found, scan: Scan) -> Found | None:
    a, b = left.reading, right.reading
    between = scan.folded[left.stop : min(right.start, left.stop + REACH)]
    if a.period is None or b.period is None:
        return None
    if a.role == "weekday" and _SIDE.fullmatch(between):
        return _weekday_beside(left, right, scan)
    if a.role == "weekday" and b.precision is Precision.MONTH and _WITHIN.fullmatch(between):
        return _weekday_within(left, right, scan)
    if _NEXT_TO.fullmatch(between) is None:
        return None
    joined = _one_time(a, b) or _of_year(a, b)
    closed = "(" in between and scan.folded.startswith(")", right.stop)
    return Found(left.start, right.stop + closed, joined) if joined else None


def _one_time(a: Reading, b: Reading) -> Reading | None:
    """ "Friday, 3 May" is the date that says more; a clock falls on the day beside it."""
    if a.period is None or b.period is None:
        return None
    if a.role == "weekday" and b.role == "day":
        return b
    if a.role == "day" and b.role == "weekday":
        return a if weekday_of(day_of(a.period[0])) == b.weekday else None
    if {a.role, b.role} == {"weekday", "week"}:
        return _in_week(a, b) if a.role == "weekday" else _in_week(b, a)
    if a.role in ("weekday", "day") and b.role == "clock":
        return _on_day(a.period, b)
    return _on_day(b.period, a) if a.role == "clock" and b.role in ("weekday", "day") else None


def _in_week(named: Reading, week: Reading) -> Reading | None:
    """ "Monday next week", "last week on Friday"."""
    if named.weekday is None or week.period is None:
        return None
    return replace(named, period=days(day_of(week.period[0]) + named.weekday))


def _of_year(a: Reading, b: Reading) -> Reading | None:
    """ "January next year", "last year in June", "around December 20 of 2021"."""
    date, year = (a, b) if b.role == "year" else (b, a)
    if year.role != "year" or year.period is None or date.in_year is None:
        return None
    try:
        period = date.in_year(year_of(year.period[0]))
    except (ValueError, OverflowError):
        return None
    return replace(date, period=period, in_year=None)


def _weekday_within(left: Found, right: Found, scan: Scan) -> Found | None:
    """ "the first Monday of June"."""
    head = scan.folded[max(0, left.start - 16) : right.start]
    match = PART_BEFORE.search(head)
    reading = part_of_date(match, right.reading) if match and match["nth"] else None
    if match is None or reading is None:
        return None
    return Found(right.start - len(head) + match.start(), right.stop, reading)


def _weekday_beside(left: Found, right: Found, scan: Scan) -> Found | None:
    """ "the Friday before 15 July": the weekday is counted from the date."""
    head = scan.folded[max(0, left.start - 8) : right.start]
    match = SHIFT_BEFORE.search(head)
    reading = shift(match, right.reading) if match else None
    if match is None or reading is None:
        return None
    return Found(right.start - len(head) + match.start(), right.stop, reading)


def _on_day(day: Period, clock: Reading) -> Reading:
    period = clock.period or (0, 0)
    start = midnight(day_of(day[0])) + period[0] % DAY
    return replace(clock, period=(start, start + MINUTE), role="")


_LIST = re.compile(r"[\s*_]{0,4}(?:,|/|&|\+|and|,\s{0,2}and)[\s*_]{0,4}")


def listed(found: list[Found], scan: Scan) -> list[Found]:
    """Three weekdays in a row, or one beside "every Tuesday" or "Sundays", are a schedule: RECURRING."""
    groups: list[list[Found]] = []
    for one in found:
        last = groups[-1][-1] if groups else None
        near = (
            last is not None
            and last.start + 40 > one.start - 12
            and _LIST.fullmatch(scan.folded[last.stop : one.start])
        )
        if near and _weekly(one) and _weekly(groups[-1][-1]):
            groups[-1].append(one)
        else:
            groups.append([one])
    return [one for group in groups for one in (_schedule(group) if _recurs(group) else group)]


def _weekly(one: Found) -> bool:
    return one.reading.role == "weekday" or one.reading.kind is DateKind.RECURRING


def _recurs(group: list[Found]) -> bool:
    return len(group) > 1 and (len(group) > 2 or any(one.reading.kind is DateKind.RECURRING for one in group))


def _schedule(group: list[Found]) -> list[Found]:
    return [replace(one, reading=unplaced(DateKind.RECURRING)) for one in group]
