"""Operators right before a date: "since", "from … on", "after" open it; "until", "by", "through", "before" end at it.

"Until" and "before" end at its first instant; of "by" and "through" it is still part. "Before" and "after" count only
where they stand right at a date: elsewhere they are no words of time.
"""

from __future__ import annotations

from dataclasses import replace

from memgraph_server.memory.dates.grammar import Found, Scan, phrase
from memgraph_server.memory.dates.mention import DateKind

_OPERATOR = phrase(
    r"\b(?P<op>ever since|since|seit|depuis|desde|"
    r"until|'?til|till|up (?:to|until)|through|thru|by|before|prior to|after|"
    r"no later than|as of|starting|beginning|effective|from)"
    r"(?: (?:around|about|roughly|the start of|at least|in|on|the))? (?:the )?$"
)
_ONWARD = phrase(r"\s{1,3}(?:on|onwards?)\b")
_SINCE = ("ever since", "since", "seit", "depuis", "desde", "as of", "starting", "beginning", "effective")
_UNTIL = ("until", "'til", "til", "till", "up to", "up until", "before", "prior to")
_THROUGH = frozenset(
    "get gets getting got go goes going went make makes making made live lived power pull sleep slept".split()
)
#: "What have you been up to today", "I just need to get through this week": no ends.
_IDIOMS = {
    "up to": frozenset("been be get gets getting got are is was were you".split()),
    "through": _THROUGH,
    "thru": _THROUGH,
}


def operated(one: Found, before: int, scan: Scan) -> Found:
    reading = one.reading
    if reading.period is None or reading.kind is not DateKind.POINT:
        return one
    head = scan.folded[max(before, one.start - 30) : one.start]
    match = _OPERATOR.search(head)
    if match is None:
        return one
    op, start = " ".join(match["op"].split()), one.start - len(head) + match.start()
    if reading.role == "recent" or (op in _IDIOMS and scan.word_before(start) in _IDIOMS[op]):
        return one
    return _apply(op, Found(start, one.stop, reading), one, scan)


def _apply(op: str, wide: Found, one: Found, scan: Scan) -> Found:
    reading, (first, last) = wide.reading, wide.reading.period or (0, 0)
    onward = _ONWARD.match(scan.folded, one.stop)
    begins = op == "from" and not scan.folded[: wide.start].rstrip(" ,;*_(").strip(".!?\n:")[-1:].isalnum()
    if op in _SINCE or begins or (op == "from" and onward):
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
