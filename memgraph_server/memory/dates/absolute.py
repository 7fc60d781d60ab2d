"""Dates on the calendar: 2023-05-08, May 8th, 8 May 2023, 8/5/2023, May 2023, in 2019, the 90s, 2015-2018.

Rules for what is ambiguous. Slashes and dashes: month first unless impossible, and approximate where both readings are
dates; dots: day first. Two-digit years only in full dates: up to ten years ahead, else the past. "9/11", "24/7", "1/2"
are read as dates only after "on", "by", "since", "until", and 9/11 and 24/7 never. A four-digit number is a year
only in a date, in brackets, or after a word that years follow, and not before something that is counted.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from memgraph_server.memory.dates.calendar import DAY, MINUTE, SECOND, Period, days, first_of_month, months, years
from memgraph_server.memory.dates.floating import (
    WHICH_STARTS,
    WHICH_WORDS,
    choose,
    weekday,
    which,
    yearless,
)
from memgraph_server.memory.dates.grammar import DIGITS, Grammar, Reading, Scan, day_point, point, unplaced
from memgraph_server.memory.dates.lexicon import (
    AMBIGUOUS_MONTHS,
    MONTH,
    MONTHS,
    SHORT_WEEKDAYS,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    G,
)
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.interval import Precision

GRAMMAR = Grammar()
rule = GRAMMAR.rule

_DD = r"(?P<day>0?[1-9]|[12]\d|3[01])(?!\d)"
_SUFFIX = r"(?P<suffix>st|nd|rd|th)?\b"
_ALONE = r"(?<![\d.,/:$€£¥-])"  # not the tail of a longer number
_END = r"(?![\d/]|[.,:-]\d)"  # nor the head of one
_FUNCTION_WORDS = frozenset(
    "and or but at in on of for with from to until till through by when after before as i we he she they it you my our "
    "his her their the a an is was will has had that which so because since if this next last there here while where "
    "who what would could should can did do does are were be been not no then this now back also just only still "
    "already because like off up out during onward onwards ad ce bc bce around about went came got made took saw gave "
    "let than both we're i'm it's that's i've we've".split()
)
_YEAR_WORDS = ("in", "since", "during", "circa", "year", "until", "till", "before", "after", "by", "early", "late",
               "mid", "from", "of", "around", "about", "through", "spring", "summer", "autumn", "fall", "winter",
               "christmas", "halloween", "thanksgiving", "easter", "q", "and", "to", "through", "class", "than")  # fmt: skip


def _month(words: str) -> int:
    return MONTHS[words.rstrip(".")]


@rule([DIGITS], _ALONE + r"(\d{4})-(\d\d)-(\d\d)(?:[t ]{1,2}(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
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
    year = int(last) if len(last) == 4 else _full_year(int(last), scan.now.year)
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


@rule(["on", "by", "since", "until", "till", "from"], r"\w+\s{1,3}(?P<x>(\d{1,2})/(\d{1,2}))(?![\d/%]|[.,]\d)")
def _month_slash_day(match: re.Match[str], scan: Scan) -> Reading | None:
    month, day = int(match[2]), int(match[3])
    following = scan.word_after(match.end())
    if (month, day) in ((9, 11), (24, 7)) or (following and following not in _FUNCTION_WORDS):
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


_OF_YEAR = rf"(?:(?:,\s{{0,2}}|{G}of{G}|{G})(?P<year>{YEAR})|{G}'(?P<short>\d\d)\b)?"
_NO_CLOCK = r"(?!\s?(?:am|pm|a\.m|p\.m|:|%|\$|°))"


@rule(MONTHS, rf"(?P<month>{MONTH})(?:{G}the)?{G}{_DD}{_SUFFIX}{_NO_CLOCK}(?!-\d|\.\d)(?:{_OF_YEAR})")
def _month_day(match: re.Match[str], scan: Scan) -> Reading | None:
    return _day_and_month(match, scan)


@rule([DIGITS], rf"{_ALONE}{_DD}{_SUFFIX}{G}(?:(?:day{G})?of{G})?(?P<month>{MONTH}){_OF_YEAR}")
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
    return _full_year(int(match["short"]), scan.now.year) if match["short"] else None


def _verb(match: re.Match[str], scan: Scan) -> bool:
    """ "may 5 people come?", "the top 10 may win", "march 3 miles": no date, where only the number says so."""
    word = match["month"].rstrip(".")
    if word not in ("may", "march", "mar", "sun") or match["suffix"] or match["year"] or match["short"]:
        return False
    following = scan.word_after(match.end())
    if following and following not in _FUNCTION_WORDS and not scan.capital(match.end() + 1):
        return True
    dated = scan.word_before(match.start()) in ("on", "since", "until", "till", "by", "from", "before", "after", "to")
    return not (scan.capital(match.start("month")) or dated)


_TO = r"\s{0,2}(?:-|to|through|thru|until|till|and)\s{0,2}"


@rule(["from", "between", *MONTHS],
      rf"(?:(?:from|between){G})?(?P<month>{MONTH}){G}{_DD}{_SUFFIX}{_TO}(?:the{G})?(?P<last>\d{{1,2}})(?P<suffix2>st|nd|rd|th)?\b{_NO_CLOCK}{_OF_YEAR}")  # fmt: skip
def _month_days(match: re.Match[str], scan: Scan) -> Reading | None:
    return _days_of_month(match, scan)


@rule(["from", "between", "the", DIGITS],
      rf"(?:(?:from|between){G})?(?:the{G})?{_ALONE}{_DD}{_SUFFIX}{_TO}(?:the{G})?(?P<last>\d{{1,2}})(?:st|nd|rd|th)?{G}(?:of{G})?(?P<month>{MONTH}){_OF_YEAR}")  # fmt: skip
def _days_month(match: re.Match[str], scan: Scan) -> Reading | None:
    return _days_of_month(match, scan)


def _days_of_month(match: re.Match[str], scan: Scan) -> Reading | None:
    month, first, last, year = _month(match["month"]), int(match["day"]), int(match["last"]), _year(match, scan)
    if _verb(match, scan) or last <= first:
        return None

    def in_year(of: int) -> Period:
        return _one_day(of, month, first)[0], _one_day(of, month, last)[1]

    period = in_year(year) if year is not None else choose(in_year, scan.now, scan.points(match))
    return Reading(period, Precision.DAY, DateKind.RANGE, end_named=period[1] - DAY, end_precision=Precision.DAY,
                   in_year=None if year is not None else in_year)  # fmt: skip


@rule(MONTHS, rf"(?P<month>{MONTH})(?:,?{G}|{G}of{G}|,)(?:(?P<year>{YEAR})|'(?P<short>\d\d)\b)")
def _month_year(match: re.Match[str], scan: Scan) -> Reading | None:
    year = _year(match, scan)
    if year is None or (year < 1000 and not match["short"]):
        return None
    return point(months(12 * year + _month(match["month"]) - 1), Precision.MONTH)


_BEFORE_MONTH = frozenset(
    "in since during until till through thru early late mid before after by of from to and between for around "
    "every each or".split()
)


@rule(MONTHS, rf"(?P<month>{MONTH})(?!\s?['\d])")
def _month_alone(match: re.Match[str], scan: Scan) -> Reading | None:
    word, before = match["month"].rstrip("."), scan.word_before(match.start())
    if not _named(word, before, match, scan):
        return None
    month = MONTHS[word]
    return yearless(lambda year: months(12 * year + month - 1), match, scan, Precision.MONTH)


def _named(word: str, before: str, match: re.Match[str], scan: Scan) -> bool:
    capital = scan.capital(match.start())
    if before in ("from", "to", "of", "and", "between", "for", "or", "by") and word in AMBIGUOUS_MONTHS:
        return capital and (before in ("by", "between") or _with_another_month(match, scan, before))
    if before in _BEFORE_MONTH:
        return capital or word not in AMBIGUOUS_MONTHS
    if word in AMBIGUOUS_MONTHS or len(word) <= 4:
        return False
    return capital and scan.word_after(match.end()) in ("was", "is", "will", "has", "through", "to")


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
    [w for w in WHICH_STARTS if w not in ("the",)],
    rf"{WHICH_WORDS}{G}(?P<month>{MONTH})(?:{G}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b)?",
)
def _which_month(match: re.Match[str], scan: Scan) -> Reading | None:
    if match["month"] in ("may", "march", "mar") and not scan.capital(match.start("month")):
        return None
    month, day = _month(match["month"]), match["day"]
    if day:
        return yearless(lambda year: _one_day(year, month, int(day)), match, scan, Precision.DAY, way=which(match))
    return yearless(lambda year: months(12 * year + month - 1), match, scan, Precision.MONTH, way=which(match))


@rule(["on", "by", "until", "till", "since", "from", "before", "after", "around"],
      rf"\w+{G}(?P<x>the{G}{_DD}(?P<suffix>st|nd|rd|th)\b)(?:{G}(?P<of>of{G}(?P<which>this|last|next|the|each|every){G}month)\b)?")  # fmt: skip
def _day_of_month(match: re.Match[str], scan: Scan) -> Reading | None:
    following = scan.word_after(match.end())
    if following and following not in _FUNCTION_WORDS - {"of"}:
        return None
    if match["which"] in ("each", "every"):
        return unplaced(DateKind.RECURRING)
    day, now, way = int(match["day"]), scan.now, scan.points(match)
    back = {"last": -1, "next": 1}.get(match["which"] or "", 0)
    if not match["of"]:
        ahead = day - (now.day - first_of_month(now.month) + 1)
        back = -1 if ahead > 0 and way != "future" else 1 if ahead < 0 and way == "future" else 0
    first = first_of_month(now.month + back)
    if first + day - 1 >= first_of_month(now.month + back + 1):
        return None
    return day_point(first + day - 1)


@rule(_YEAR_WORDS, rf"\w+(?:{G}the{G}year|,)?{G}(?P<x>(?P<year>{YEAR}))(?![\w-]|[/:]\d)")
def _year_after_a_word(match: re.Match[str], scan: Scan) -> Reading | None:
    year, word = int(match["year"]), match[0].split()[0].rstrip(",")
    sure = word in ("in", "since", "during", "circa", "year", "early", "late", "mid")
    following = scan.word_after(match.end())
    if (
        following
        and following not in _FUNCTION_WORDS
        and (not sure or following.endswith("s") or not 1800 < year < 2100)
    ):
        return None
    if not sure and not 1800 <= year <= 2100:
        return None
    return point(years(year), Precision.YEAR)


@rule(
    [DIGITS],
    r"(?:(?<=\()(?=\d{4}\))|(?<=[.!?]\s)(?=\d{4}\s(?:was|is|will|has)\b)|^(?=\d{4}\s(?:was|is|will|has)\b))(?:19|20)\d\d",
)
def _year_in_brackets(match: re.Match[str], _scan: Scan) -> Reading:
    return point(years(int(match[0])), Precision.YEAR)


@rule(["from", "between", DIGITS],
      rf"(?:(?:from|between){G})?(?<![\d.,/:$€£¥-])(?P<first>1[89]\d\d|20\d\d)(?P<to>{_TO})(?P<last>(?:1[89]|20)?\d\d)(?![\w%/:-]|[.,]\d)")  # fmt: skip
def _years(match: re.Match[str], scan: Scan) -> Reading | None:
    first, last, to = int(match["first"]), int(match["last"]), match["to"].strip()
    last += first // 100 * 100 if last < 100 else 0
    following = scan.word_after(match.end())
    led = match[0][0] in "fb"
    counted = following and following not in _FUNCTION_WORDS
    if not first < last or (not led and to != "-") or counted:
        return None
    named = years(last)[0]
    end = named if to in ("until", "till") else years(last)[1]
    return Reading(
        (years(first)[0], end), Precision.YEAR, DateKind.RANGE, end_named=named, end_precision=Precision.YEAR
    )


_DECADES = {"twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70,
            "eighties": 80, "nineties": 90}  # fmt: skip


@rule(
    ["the", "early", "late", "mid", DIGITS],
    rf"(?:(?:the|early|late|mid)\s{{0,3}}-?)?(?P<x>'?(?P<year>(?:1\d|20)?\d0)'?s|(?P<word>{'|'.join(_DECADES)}))\b",
)
def _decade(match: re.Match[str], scan: Scan) -> Reading | None:
    digits = match["year"] or str(_DECADES[match["word"]])
    led = match[0][0] in "telm"
    if len(digits) == 4 and not led and scan.word_before(match.start()) not in ("in", "since", "the", "early", "late"):
        return None
    if len(digits) == 2 and (not led or digits == "00" or scan.word_before(match.start()) in ("my", "his", "her")):
        return None
    if len(digits) == 4:
        return point(years(int(digits), 10), Precision.YEAR)
    year = int(digits) + (2000 if int(digits) <= scan.now.year % 100 and int(digits) < 30 else 1900)
    return point(years(year, 10), Precision.YEAR)


@rule(WEEKDAYS, rf"(?P<name>{WEEKDAY})(?!')")
def _weekday(match: re.Match[str], scan: Scan) -> Reading | None:
    name, before = match["name"].rstrip("."), scan.word_before(match.start())
    capital = scan.capital(match.start())
    if name in SHORT_WEEKDAYS and not (capital and before in ("on", "by", "until", "since", "till", "and", "from")):
        return None
    if not (
        capital
        or before
        in (
            "on",
            "by",
            "until",
            "since",
            "till",
            "from",
            "to",
            "before",
            "after",
            "through",
            "and",
            "or",
            "is",
            "was",
            "for",
            "of",
        )
    ):
        return None
    if scan.folded.startswith("friday night lights", match.start()) or before in (
        "good",
        "black",
        "cyber",
        "ash",
        "palm",
    ):
        return None
    return Reading(days(weekday(WEEKDAYS[name], scan.now, scan.points(match))), Precision.DAY, role="weekday")


@rule(WHICH_STARTS, rf"{WHICH_WORDS}{G}(?P<name>{WEEKDAY})")
def _which_weekday(match: re.Match[str], scan: Scan) -> Reading | None:
    name, way, now = match["name"].rstrip("."), which(match), scan.now
    day = weekday(WEEKDAYS[name], now, way)
    if way == "next" and match["which"].endswith(("coming", "following")):
        day = weekday(WEEKDAYS[name], now, "future")
        day += 7 if day == now.day else 0
    if way == "this" and scan.points(match) == "future" and day < now.day:
        day += 7
    if way == "this" and scan.points(match) == "past" and day > now.day:
        day -= 7
    return Reading(days(day), Precision.DAY, approximate=way == "next", role="weekday")
