"""From single dates to what is said with them: "Friday night at 8pm", "the end of March", "from March to May".

Four passes over the readings of a text, each looking only at the words between two neighbours or just before one:
joining (weekday + date, day + part of the day or clock), parts and shifts ("early", "the week before"), ranges, and
the operators "since", "until", "by", "through", "before", "after". "Before" and "after" count only where they stand
right at a date.
"""

from __future__ import annotations

import re
from dataclasses import replace

from memgraph_server.memory.dates.calendar import DAY, MINUTE, Now, Period, day_of, days, midnight, monday, weekday_of
from memgraph_server.memory.dates.floating import choose
from memgraph_server.memory.dates.grammar import Found, Reading, Scan, phrase
from memgraph_server.memory.dates.lexicon import NUMBER, ORDINALS, WEEKDAY, WEEKDAYS, number
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.dates.units import part_of, third_of
from memgraph_server.memory.interval import Precision

_REACH = 44  # characters before a date that may belong to it


def composed(found: list[Found], scan: Scan) -> list[Found]:
    """The readings of a text put together, sorted by place."""
    found = _joined(found, scan)
    found = [_modified(one, before, scan) for one, before in zip(found, _stops(found), strict=True)]
    found = _ranged(found, scan)
    return [_operated(one, before, scan) for one, before in zip(found, _stops(found), strict=True)]


def _stops(found: list[Found]) -> list[int]:
    return [0, *(one.stop for one in found)][: len(found)]


_NEXT_TO = re.compile(r"[\s,:*_()]{1,6}(?:(?:on|at|around|of)\s{1,3})?(?:the\s{1,3})?")
_SIDE = phrase(r" (?:before|after|prior to|following|preceding) (?:the )?$")
_PART_AFTER = phrase(r" (?:early |late |in the )?(?P<part>morning|afternoon|arvo|evening|night|noon)\b")


def _joined(found: list[Found], scan: Scan) -> list[Found]:
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
    between = scan.folded[left.stop : min(right.start, left.stop + _REACH)]
    if a.period is None or b.period is None:
        return None
    if a.role == "weekday" and _SIDE.fullmatch(between):
        return _weekday_beside(left, right, scan)
    if _NEXT_TO.fullmatch(between) is None:
        return None
    joined = _one_time(a, b)
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
    if a.role in ("weekday", "day") and b.role == "clock":
        return _on_day(a.period, b)
    return _on_day(b.period, a) if a.role == "clock" and b.role in ("weekday", "day") else None


def _weekday_beside(left: Found, right: Found, scan: Scan) -> Found | None:
    """ "the Friday before 15 July": the weekday is counted from the date."""
    head = scan.folded[max(0, left.start - 8) : right.start]
    match = _SHIFT_BEFORE.search(head)
    reading = _shift(match, right.reading) if match else None
    if match is None or reading is None:
        return None
    return Found(right.start - len(head) + match.start(), right.stop, reading)


def _on_day(day: Period, clock: Reading) -> Reading:
    period = clock.period or (0, 0)
    start = midnight(day_of(day[0])) + period[0] % DAY
    return replace(clock, period=(start, start + MINUTE), role="")


_PART_BEFORE = phrase(
    r"\b(?:(?P<part>early|late|mid|middle|beginning|start|end|earlier|later)(?:\s{0,3}-\s{0,3}| )?"
    r"(?:(?:in|of|on) )?(?:the )?(?:month of )?|the week of (?:the )?|"
    rf"(?:the )?(?P<nth>first|second|third|fourth|last) (?P<unit>week|weekend|day|few days|{WEEKDAY}) (?:of|in) )$"
)
_SHIFT_BEFORE = phrase(
    rf"\b(?:(?P<n>(?:the|{NUMBER})) )?(?P<unit>days?|weeks?|weekends?|months?|years?|night|{WEEKDAY}) "
    r"(?P<side>before|after|prior to|following|preceding) (?:the )?$"
)
_AROUND_BEFORE = phrase(
    r"\b(?:around|about|circa|roughly|approximately|approx\.?|sometime (?:in|on|around)|somewhere around|maybe)"
    r"(?: (?:on|in))? (?:the )?$"
)


def _modified(one: Found, before: int, scan: Scan) -> Found:
    """ "the end of March", "the week of 3 May", "the first weekend of June", "two days before 15 July"."""
    if one.reading.period is None or one.reading.kind is not DateKind.POINT:
        return one
    head = scan.folded[max(before, one.start - _REACH) : one.start]
    for pattern, change in ((_PART_BEFORE, _part), (_SHIFT_BEFORE, _shift), (_AROUND_BEFORE, _approximate)):
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


def _approximate(_match: re.Match[str], reading: Reading) -> Reading:
    return replace(reading, approximate=True)


def _part(match: re.Match[str], reading: Reading) -> Reading | None:
    start, end = reading.period or (0, 0)
    long = day_of(end) - day_of(start)
    if match["nth"]:
        return _nth(match["nth"], match["unit"], start, end, reading) if 27 < long < 367 else None
    if match["part"] is None:
        return replace(reading, period=days(monday(day_of(start)), 7), precision=Precision.DAY) if long == 1 else None
    if long < 5:
        return None
    part = match["part"].removesuffix("er") if match["part"] == "earlier" else match["part"]
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


def _shift(match: re.Match[str], reading: Reading) -> Reading | None:
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


_CONNECTOR = phrase(r"\s{0,3}(?P<to>-|to|through|thru|until|till|up to|and|or)\s{0,3}(?:the |in )?$")
_FROM = phrase(r"\b(?P<from>from|between) (?:the )?$")
_TO_NOW = phrase(r"\s{0,3}(?:to|until|till|through|up to|-)\s{0,3}(?:the )?(?:now|present|today|date|this day)\b")


def _ranged(found: list[Found], scan: Scan) -> list[Found]:
    """ "from March to May 2021", "between Monday and Friday", "May 3 - June 2", "from 2015 until now"."""
    done: list[Found] = []
    for one in found:
        before = done[-1] if done else None
        both = _range(before, one, scan, done[-2].stop if len(done) > 1 else 0) if before else None
        if both is not None:
            done[-1] = both
            continue
        done.append(one)
    return [_to_now(one, scan) for one in done]


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


_OPERATOR = phrase(
    r"\b(?P<op>ever since|since|seit|depuis|desde|"
    r"until|'?til|till|up (?:to|until)|through|thru|by|before|prior to|after|"
    r"no later than|as of|starting|beginning|from)"
    r"(?: (?:around|about|roughly|the start of|at least|in|on|the))? (?:the )?$"
)
_ONWARD = phrase(r"\s{1,3}(?:on|onwards?)\b")
_SINCE = ("ever since", "since", "seit", "depuis", "desde", "as of", "starting", "beginning")
_UNTIL = ("until", "'til", "til", "till", "up to", "up until", "before", "prior to")


def _operated(one: Found, before: int, scan: Scan) -> Found:
    reading = one.reading
    if reading.period is None or reading.kind is not DateKind.POINT:
        return one
    head = scan.folded[max(before, one.start - 30) : one.start]
    match = _OPERATOR.search(head)
    if match is None:
        return one
    op, start = " ".join(match["op"].split()), one.start - len(head) + match.start()
    return _apply(op, Found(start, one.stop, reading), one, scan)


def _apply(op: str, wide: Found, one: Found, scan: Scan) -> Found:
    reading, (first, last) = wide.reading, wide.reading.period or (0, 0)
    onward = _ONWARD.match(scan.folded, one.stop)
    if op in _SINCE or (op == "from" and onward):
        stop = onward.end() if onward and op == "from" else one.stop
        return Found(wide.start, stop, replace(reading, kind=DateKind.SINCE, open=True))
    if op == "after":
        return replace(
            wide, reading=replace(reading, period=(last, last + 1), kind=DateKind.SINCE, open=True, approximate=True)
        )
    if op == "from":
        return one
    exact = op in _UNTIL
    until = replace(reading, period=(first - 1, first if exact else last), kind=DateKind.UNTIL, startless=True,
                    end_named=first, end_precision=reading.precision)  # fmt: skip
    if not exact:  # "by", "through": what is named is still part of it
        until = replace(until, end_named=last if op in ("through", "thru") else first)
    return replace(wide, reading=until)
