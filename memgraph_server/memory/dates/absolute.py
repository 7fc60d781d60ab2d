"""Days and months on the calendar: 2023-05-08, May 8th, 8 May 2023, 8/5/2023, from May 3 to 5, May 2023, in June.

Rules for what is ambiguous. Slashes and dashes: month first unless impossible, and approximate where both readings are
dates; dots: day first. Two-digit years only in full dates: up to ten years ahead, else the past. "1/2" is a date only
after "on", "by", "since", "until"; "9/11" and "24/7" never. A month that is also a verb or a first name (May, March,
April, June, August) needs a capital and a word such as "in" or "since", unless a day or a year is with it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from memgraph_server.memory.dates.calendar import DAY, MINUTE, SECOND, Period, days, first_of_month, months
from memgraph_server.memory.dates.floating import (
    WHICH_STARTS,
    WHICH_WORDS,
    choose,
    which,
    yearless,
)
from memgraph_server.memory.dates.grammar import DIGITS, Grammar, Reading, Scan, day_point, point
from memgraph_server.memory.dates.lexicon import (
    AMBIGUOUS_MONTHS,
    FUNCTION_WORDS,
    MONTH,
    MONTHS,
    YEAR,
)
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.interval import Precision

GRAMMAR = Grammar()
rule = GRAMMAR.rule

_DD = r"(?P<day>0?[1-9]|[12]\d|3[01])(?!\d)"
_SUFFIX = r"(?P<suffix>st|nd|rd|th)?\b"
_ALONE = r"(?<![a-z\d.,/:$€£¥-])"  # not the tail of a longer number
_END = r"(?![a-z\d/]|[.,:-]\d)"  # nor the head of one


def _month(words: str) -> int:
    return MONTHS[words.rstrip(".")]


@rule([DIGITS], _ALONE + r"(\d{4})-(\d\d)-(\d\d)(?:[t\x20]{1,2}(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
      r"(?:\s?(z|[+-]\d\d:?\d\d))?)?(?![\d/-])")  # fmt: skip
def _iso(match: re.Match[str], scan: Scan) -> Reading:
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    start = days(first_of_month(12 * int(year) + int(month) - 1))[0] + (int(day) - 1) * DAY
    datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC)
    if hour is None:
        return point((start, start + DAY), Precision.DAY, role="day")
    micros = int((fraction or "").ljust(6, "0")[:6])
    start += (int(hour) * 60 + int(minute)) * MINUTE + int(second or 0) * SECOND + micros
    start += scan.shift(zone)
    return point((start, start + (SECOND if second else MINUTE)), Precision.INSTANT)


@rule([DIGITS], _ALONE + r"(\d{1,4})([/.-])(\d{1,2})\2(\d{2,4})" + _END)
def _numeric(match: re.Match[str], scan: Scan) -> Reading | None:
    first, sign, second, last = match.groups()
    if len(first) == 4:
        return _calendar_day(int(first), int(second), int(last)) if len(last) < 3 else None
    if len(first) > 2 or len(last) == 3 or (len(last) == 2 and sign != "/"):
        return None
    year = int(last) if len(last) == 4 else _full_year(int(last), scan.turn.year)
    one, two = int(first), int(second)
    if sign == ".":
        return _calendar_day(year, two, one)
    month, day = (one, two) if one <= 12 else (two, one)
    return _calendar_day(year, month, day, approximate=one <= 12 and two <= 12 and one != two)


def _calendar_day(year: int, month: int, day: int, *, approximate: bool = False) -> Reading | None:
    return day_point(_ordinal(year, month, day), approximate=approximate) if year >= 1000 else None


def _ordinal(year: int, month: int, day: int) -> int:
    return datetime(year, month, day, tzinfo=UTC).toordinal()


def _full_year(two_digits: int, this_year: int) -> int:
    year = this_year - this_year % 100 + two_digits
    return year if year <= this_year + 10 else year - 100


@rule(["on", "by", "since", "until", "till", "from"], r"[a-z]+\s{1,3}(?P<x>(\d{1,2})/(\d{1,2}))(?![\d/%]|[.,]\d)")
def _month_slash_day(match: re.Match[str], scan: Scan) -> Reading | None:
    month, day = int(match[2]), int(match[3])
    following = scan.word_after(match.end())
    if (month, day) in ((9, 11), (24, 7)) or (following and following not in FUNCTION_WORDS):
        return None
    if month > 12:
        month, day = day, month
    both = month <= 12 and day <= 12 and month != day
    return yearless(lambda year: _one_day(year, month, day), match, scan, Precision.DAY, approximate=both)


def _one_day(year: int, month: int, day: int) -> Period:
    return days(_ordinal(year, month, day))


@rule(
    [DIGITS],
    _ALONE
    + r"(?:(?P<month>0?[1-9]|1[0-2])/(?P<year>[12]\d{3})|(?P<isoyear>(?:19|20)\d\d)-(?P<isomonth>0[1-9]|1[0-2]))"
    + r"(?![\d/-])",
)
def _month_of_year(match: re.Match[str], _scan: Scan) -> Reading:
    year, month = match["year"] or match["isoyear"], match["month"] or match["isomonth"]
    return point(months(12 * int(year) + int(month) - 1), Precision.MONTH)


_OF_YEAR = rf"(?:(?:,\s{{0,2}}| of | )(?P<year>{YEAR})| '(?P<short>\d\d)\b)?"
_NO_CLOCK = r"(?!\s?(?:am|pm|a\.m|p\.m|:\d|%|\$|°))"


@rule(MONTHS, rf"(?P<month>{MONTH})(?: the)? {_DD}{_SUFFIX}{_NO_CLOCK}(?!-\d|\.\d)(?:{_OF_YEAR})")
def _month_day(match: re.Match[str], scan: Scan) -> Reading | None:
    return _day_and_month(match, scan)


@rule([DIGITS], rf"{_ALONE}{_DD}{_SUFFIX} (?:(?:day )?of )?(?P<month>{MONTH}){_OF_YEAR}")
def _day_month(match: re.Match[str], scan: Scan) -> Reading | None:
    return _day_and_month(match, scan)


def _day_and_month(match: re.Match[str], scan: Scan) -> Reading | None:
    if _verb(match, scan):
        return None
    month, day, year = _month(match["month"]), int(match["day"]), _year(match, scan)
    if year is not None:
        return _calendar_day(year, month, day)
    return yearless(lambda of: _one_day(of, month, day), match, scan, Precision.DAY)


def _year(match: re.Match[str], scan: Scan) -> int | None:
    if match["year"]:
        return int(match["year"])
    return _full_year(int(match["short"]), scan.turn.year) if match["short"] else None


def _verb(match: re.Match[str], scan: Scan) -> bool:
    """ "may 5 people come?", "the top 10 may win", "march 3 miles": no date, where only the number says so."""
    word = match["month"].rstrip(".")
    if word not in ("may", "march", "mar", "sun") or match["suffix"] or match["year"] or match["short"]:
        return False
    following = scan.word_after(match.end())
    if following and following not in FUNCTION_WORDS and not scan.capital(match.end() + 1):
        return True
    dated = scan.word_before(match.start()) in ("on", "since", "until", "till", "by", "from", "before", "after", "to")
    return not (scan.capital(match.start("month")) or dated)


_TO = r"\s{0,2}(?:-|to|through|thru|until|till|and)\s{0,2}"


@rule(
    ["from", "between", *MONTHS],
    rf"(?:(?:from|between) )?(?P<month>{MONTH}) {_DD}{_SUFFIX}{_TO}(?:the )?(?P<last>\d{{1,2}})"
    rf"(?P<suffix2>st|nd|rd|th)?\b{_NO_CLOCK}{_OF_YEAR}",
)
def _month_days(match: re.Match[str], scan: Scan) -> Reading | None:
    return _days_of_month(match, scan)


@rule(
    ["from", "between", "the", DIGITS],
    rf"(?:(?:from|between) )?(?:the )?{_ALONE}{_DD}{_SUFFIX}{_TO}(?:the )?(?P<last>\d{{1,2}})"
    rf"(?:st|nd|rd|th)? (?:of )?(?P<month>{MONTH}){_OF_YEAR}",
)
def _days_month(match: re.Match[str], scan: Scan) -> Reading | None:
    return _days_of_month(match, scan)


def _days_of_month(match: re.Match[str], scan: Scan) -> Reading | None:
    month, first, last, year = _month(match["month"]), int(match["day"]), int(match["last"]), _year(match, scan)
    if _verb(match, scan) or last <= first:
        return None

    def in_year(of: int) -> Period:
        return _one_day(of, month, first)[0], _one_day(of, month, last)[1]

    period = in_year(year) if year is not None else choose(in_year, scan.turn, scan.points(match))
    return Reading(period, Precision.DAY, DateKind.RANGE, end_named=period[1] - DAY, end_precision=Precision.DAY,
                   in_year=None if year is not None else in_year)  # fmt: skip


@rule(MONTHS, rf"(?P<month>{MONTH})(?:,? | of |,)(?:(?P<year>{YEAR})|'(?P<short>\d\d)\b)")
def _month_year(match: re.Match[str], scan: Scan) -> Reading | None:
    year = _year(match, scan)
    if year is None or (year < 1000 and not match["short"]):
        return None
    return point(months(12 * year + _month(match["month"]) - 1), Precision.MONTH)


_BEFORE_MONTH = frozenset(
    "in since during until till through thru early late mid before after by of from to and between for around "
    "every each or".split()
)


_SURELY = frozenset({"in", "since", "during", "until", "till"})


@rule(MONTHS, rf"(?P<month>{MONTH})(?!\s?['\d])")
def _month_alone(match: re.Match[str], scan: Scan) -> Reading | None:
    word, before = match["month"].rstrip("."), scan.word_before(match.start())
    if not _named(word, before, match, scan):
        return None
    month = MONTHS[word]
    return yearless(lambda year: months(12 * year + month - 1), match, scan, Precision.MONTH)


def _named(word: str, before: str, match: re.Match[str], scan: Scan) -> bool:
    capital, following = scan.capital(match.start()), scan.word_after(match.end())
    ends = not following or following in FUNCTION_WORDS
    if before in ("from", "to", "of", "and", "between", "for", "or", "by") and word in AMBIGUOUS_MONTHS:
        return capital and (before in ("by", "between") or _with_another_month(match, scan, before))
    if before in _BEFORE_MONTH:
        return capital or word not in AMBIGUOUS_MONTHS or (before in _SURELY and ends)
    if before in ("was", "is", "not", "it's", "actually") and capital:  # "no, it was March, not May"
        return not following or following in ("not", "and", "or")
    if word in AMBIGUOUS_MONTHS or len(word) <= 4:
        return False
    return capital and following in ("was", "is", "will", "has", "through", "to")


def _with_another_month(match: re.Match[str], scan: Scan, before: str) -> bool:
    """ "from March to May", "the end of May", "since March or April": a month beside it makes a month of it."""
    head = scan.folded[max(0, match.start() - 30) : match.start()]
    if before == "of":
        return (
            re.search(r"(?:end|beginning|start|middle|month|half|part|week|rest|all|days?) of\s{1,3}$", head)
            is not None
        )
    tail = scan.folded[match.end() : match.end() + 24]
    ahead = re.match(rf"\s{{0,3}}(?:to|and|or|-|until|till|through)\s{{0,3}}(?:{MONTH}|\d)", tail)
    return bool(ahead or re.search(rf"\b{MONTH}[\s\d,]{{0,8}}(?:to|and|or|-|until)\s{{1,3}}$", head)
                or (before == "from" and re.match(r"\s{1,3}(?:on|onwards?)\b", tail)))  # fmt: skip


@rule(
    [w for w in WHICH_STARTS if w != "the"],
    rf"{WHICH_WORDS} (?P<month>{MONTH})(?: (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b)?",
)
def _which_month(match: re.Match[str], scan: Scan) -> Reading | None:
    if match["month"] in ("may", "march", "mar") and which(match) == "this" and not scan.capital(match.start("month")):
        return None
    month, day = _month(match["month"]), match["day"]
    if day:
        return yearless(lambda year: _one_day(year, month, int(day)), match, scan, Precision.DAY, way=which(match))
    return yearless(lambda year: months(12 * year + month - 1), match, scan, Precision.MONTH, way=which(match))
