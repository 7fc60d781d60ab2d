"""Two dates with "to", "-", "through", "until" or "between … and" between them, and "from 2015 until now".

Rules. The end that is named is part of the range, save after "until" for months and years. An end without a year takes
that of the other, or is the next one after it. Without "from" or "between", "and" makes no range.
"""

from __future__ import annotations

from dataclasses import replace

from memgraph_server.memory.dates.calendar import (
    DAY,
    MINUTE,
    Now,
    Period,
    day_of,
    midnight,
)
from memgraph_server.memory.dates.floating import choose
from memgraph_server.memory.dates.grammar import Found, Reading, Scan, phrase
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.interval import Precision

_CONNECTOR = phrase(r"\s{0,3}(?P<to>-|to|through|thru|until|till|up to|and|or)\s{0,3}(?:the |in )?$")
_FROM = phrase(r"\b(?P<from>from|between) (?:the )?$")
_TO_NOW = phrase(r"\s{0,3}(?:to|until|till|through|up to|-)\s{0,3}(?:the )?(?:now|present|today|date|this day)\b")


def ranged(found: list[Found], scan: Scan) -> list[Found]:
    """ "from March to May 2021", "between Monday and Friday", "May 3 - June 2", "from 2015 until now"."""
    done: list[Found] = []
    for one in found:
        before = done[-1] if done else None
        both = _range(before, one, scan, done[-2].stop if len(done) > 1 else 0) if before else None
        if both is not None:
            done[-1] = both
            continue
        done.append(one)
    return apart([_to_now(one, scan) for one in done])


def apart(found: list[Found]) -> list[Found]:
    """Without those that the one before them has taken in: "today until today"."""
    kept: list[Found] = []
    for one in found:
        if not kept or kept[-1].stop <= one.start:
            kept.append(one)
    return kept


def _range(left: Found, right: Found, scan: Scan, before: int) -> Found | None:
    a, b = left.reading, right.reading
    match = _CONNECTOR.fullmatch(scan.folded[left.stop : right.start])
    if match is None or a.period is None or b.period is None or not a.kind is b.kind is DateKind.POINT:
        return None
    head = scan.folded[max(before, left.start - 16) : left.start]
    led = _FROM.search(head)
    to = " ".join(match["to"].split())
    if (to == "or" or (to == "and" and not (led and led["from"] == "between"))) or (
        led is None and to in ("and", "up to")
    ):
        return None
    ends = _in_order(a, b)
    if ends is None:
        return None
    exact = b.precision is Precision.INSTANT or (to in ("until", "till", "up to") and b.precision is not Precision.DAY)
    end = ends[1][0] if exact else ends[1][1]
    start = left.start - len(head) + led.start() if led else left.start
    reading = Reading((ends[0][0], end), a.precision, DateKind.RANGE, a.approximate or b.approximate,
                      end_precision=b.precision, end_named=ends[1][0])  # fmt: skip
    return Found(start, right.stop, reading)


def _in_order(a: Reading, b: Reading) -> tuple[Period, Period] | None:
    """Both ends, where one without a year takes that of the other, or the next occurrence after it."""
    first, last = a.period or (0, 0), b.period or (0, 0)
    if b.role == "clock":
        start = midnight(day_of(first[0])) + last[0] % DAY
        return (first, (start, start + MINUTE)) if a.precision is Precision.INSTANT and first[0] < start else None
    try:
        if a.in_year and not b.in_year:
            first = _around(a, last[0], before=True)
        elif b.in_year:
            last = _around(b, first[0], before=False)
        elif a.role == b.role == "weekday" and last[0] <= first[0]:
            last = (last[0] + 7 * DAY, last[1] + 7 * DAY)
    except (ValueError, OverflowError):
        return None
    return (first, last) if first[0] < last[0] else None


def _around(reading: Reading, anchor: int, *, before: bool) -> Period:
    in_year = reading.in_year
    if in_year is None:
        raise ValueError("has its own year")
    return choose(in_year, Now(anchor), "past" if before else "future")


def _to_now(one: Found, scan: Scan) -> Found:
    """ "from 2015 until now" holds until the turn and is not said to end: SINCE."""
    match = _TO_NOW.match(scan.folded, one.stop)
    if match is None or one.reading.period is None or one.reading.kind is not DateKind.POINT:
        return one
    head = scan.folded[max(0, one.start - 16) : one.start]
    led = _FROM.search(head)
    start = one.start - len(head) + led.start() if led else one.start
    return Found(start, match.end(), replace(one.reading, kind=DateKind.SINCE, open=True))
