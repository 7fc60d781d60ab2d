"""Dates counted from the turn's own day: yesterday, last night, two weekends ago, in three weeks, next month.

Rules. A count of days names a day, of weeks the calendar week, of months the calendar month, of years the calendar
year that lies so far away ("a month ago" on 31 March is February). "The last/past three weeks" runs from so long ago
until now; after "for" it is still open (SINCE). "For two years now" is open from this day two years ago, with the
precision of its unit. Parts of the day: morning 5-12, afternoon 12-18, evening and night 18-24 (the night: 18-6).
"""

from __future__ import annotations

import re

from memgraph_server.memory.dates.calendar import (
    DAY,
    HOUR,
    MINUTE,
    Now,
    Period,
    day_of,
    days,
    first_of_month,
    midnight,
    monday,
    month_of,
    months,
    shifted,
    weekend_after,
    years,
)
from memgraph_server.memory.dates.floating import WHICH_STARTS, WHICH_WORDS, which
from memgraph_server.memory.dates.grammar import DIGITS, Grammar, Reading, Scan, day_point, point, unplaced
from memgraph_server.memory.dates.lexicon import NUMBER, NUMBER_STARTS, UNIT, UNITS, G, number
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.interval import Precision

GRAMMAR = Grammar()
rule = GRAMMAR.rule

PARTS = {
    "morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30), "noon": (12, 13),
    "lunchtime": (12, 14), "midday": (12, 13), "midnight": (24, 25), "am": (0, 12), "dawn": (5, 8), "dusk": (18, 21),
}  # fmt: skip
_UNIT_PRECISION = {"month": Precision.MONTH, "quarter": Precision.MONTH}
_UNIT_PRECISION |= dict.fromkeys(("year", "decade", "century"), Precision.YEAR)
_UNIT_PRECISION |= dict.fromkeys(("minute", "hour"), Precision.INSTANT)
_MONTHS_LONG = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}


def precision_of(unit: str) -> Precision:
    return _UNIT_PRECISION.get(unit, Precision.DAY)


def part_of(day: int, part: str) -> Period:
    first, last = PARTS[part]
    return midnight(day) + first * HOUR, midnight(day) + last * HOUR


def away(now: Now, unit: str, count: int) -> Period:
    """The calendar unit that lies `count` units from now (negative: ago)."""
    if unit in ("minute", "hour"):
        size = MINUTE if unit == "minute" else HOUR
        return now.local + count * size, now.local + count * size + size
    if unit in ("day", "night"):
        return days(now.day + count)
    if unit in ("week", "fortnight"):
        return days(now.week + 7 * count * (2 if unit == "fortnight" else 1), 7)
    if unit == "weekend":
        return days(weekend_away(now, count), 2)
    return _long_away(now, unit, count)


def _long_away(now: Now, unit: str, count: int) -> Period:
    size = _MONTHS_LONG[unit]
    if unit in ("month", "quarter"):
        return months((now.month // size + count) * size, size)
    if unit == "year":
        return years(now.year + count)
    return years(now.year + count * size // 12) if count else years(now.year // (size // 12) * (size // 12), size // 12)


def weekend_away(now: Now, count: int) -> int:
    """The Saturday of the weekend so many away: -1 is the last one that is over, 0 the one that is on or comes."""
    return weekend_after(now.day) + 7 * count


def moved(now: Now, unit: str, count: int) -> int:
    """This same moment so many units away; the start of that day for whole days and longer."""
    if unit in ("minute", "hour"):
        return away(now, unit, count)[0]
    if unit in _MONTHS_LONG:
        return midnight(shifted(now.day, count * _MONTHS_LONG[unit]))
    return midnight(now.day + count * {"week": 7, "weekend": 7, "fortnight": 14}.get(unit, 1))


_DAY_WORDS = {
    "today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1, "tmrw": 1, "tomorow": 1, "yday": -1, "tonite": 0,
}  # fmt: skip


@rule(
    _DAY_WORDS,
    rf"(?P<word>\w+)(?:'s)?(?:{G}(?:early{G}|late{G})?(?P<part>morning|afternoon|evening|night|noon|lunchtime)\b)?",
)
def _day_word(match: re.Match[str], scan: Scan) -> Reading:
    word = match["word"]
    day = scan.now.day + _DAY_WORDS[word]
    part = "night" if word.startswith("tonigh") or word == "tonite" else match["part"]
    return point(part_of(day, part), Precision.DAY) if part else day_point(day)


@rule(
    ["the"],
    rf"the{G}day{G}(?P<side>before{G}yesterday|after{G}tomorrow)(?:{G}(?P<part>morning|afternoon|evening|night)\b)?",
)
def _two_days(match: re.Match[str], scan: Scan) -> Reading:
    day = scan.now.day + (-2 if match["side"].startswith("before") else 2)
    return point(part_of(day, match["part"]), Precision.DAY) if match["part"] else day_point(day)


@rule(["the"], rf"the{G}(?P<unit>week|weekend|month|year|night){G}(?P<side>before{G}last|after{G}next)\b")
def _two_units(match: re.Match[str], scan: Scan) -> Reading:
    unit, count = match["unit"], -2 if match["side"].startswith("before") else 2
    return point(away(scan.now, unit, count), precision_of(unit))


@rule(["last", "this", "early", "late", "earlier"],
      rf"(?P<which>last{G}night|this{G}(?:early{G}|late{G}|past{G})?(?P<part>morning|afternoon|evening|night))\b")  # fmt: skip
def _part_of_today(match: re.Match[str], scan: Scan) -> Reading:
    last = match["part"] is None
    return point(part_of(scan.now.day - last, "night" if last else match["part"]), Precision.DAY)


@rule(["earlier", "later", "early", "late"],
      rf"(?P<side>earlier|later|early|late){G}(?P<which>this|last|next|on{G}in{G}the|in{G}the|today)(?:{G}(?P<unit>week|month|year|quarter|decade|century|weekend|morning|evening|afternoon))?\b")  # fmt: skip
def _part_of_current(match: re.Match[str], scan: Scan) -> Reading | None:
    words, unit, now = match["which"], match["unit"], scan.now
    if words == "today":
        period = days(now.day)
    elif unit is None or (words.endswith("the") and unit in PARTS):
        return None
    elif unit in PARTS:
        return point(part_of(now.day, unit), Precision.DAY) if words == "this" else None
    else:
        period = away(now, unit, {"last": -1, "next": 1}.get(words, 0))
    if match["side"] in ("early", "late") or words in ("last", "next"):
        return point(
            third(period, match["side"].removesuffix("er").removesuffix("r")),
            precision_of(unit or "day"),
            approximate=True,
        )
    split = now.local if words == "today" else midnight(now.day)
    half = (
        (period[0], max(split, period[0] + 1)) if match["side"] == "earlier" else (max(now.local, period[0]), period[1])
    )
    return point(half, precision_of(unit or "day"), approximate=True)


def third(period: Period, part: str) -> Period:
    """The "early", "mid" or "late" part: whole years of decades, whole months of years, else whole days."""
    first, last = day_of(period[0]), day_of(period[1])
    long = last - first
    marks = [first + long * n // 3 for n in range(4)]
    if long > 800:
        marks = [first_of_month(month_of(first) + round(long * n / 3 / 365.25) * 12) for n in range(4)]
    elif long > 80:
        marks = [first_of_month(month_of(first) + round(long * n / 3 / 30.5)) for n in range(4)]
    at = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1}.get(part, 2)
    marks[3] = last
    return midnight(marks[at]), midnight(marks[at + 1])


@rule(WHICH_STARTS, rf"{WHICH_WORDS}{G}(?P<unit>week|weekend|month|year|quarter|decade|century)\b(?!-)(?:'s)?")
def _which_unit(match: re.Match[str], scan: Scan) -> Reading | None:
    unit, way, now, words = match["unit"], which(match), scan.now, " ".join(match["which"].split())
    if unit == "weekend":
        return point(days(_which_weekend(match, scan, way), 2), Precision.DAY)
    if words.endswith("past") or (words == "the last" and unit != "week"):
        return _rolling(now, unit, -1, scan.word_before(match.start()) == "for")
    if words.endswith("following"):
        return None
    return point(away(now, unit, {"last": -1, "next": 1, "this": 0}[way]), precision_of(unit))


def _which_weekend(match: re.Match[str], scan: Scan, way: str) -> int:
    now = scan.now
    if way == "this":
        over = now.day < now.week + 5 and scan.points(match) == "past"
        return weekend_away(now, -1 if over else 0)
    if way == "next" and match["which"].split()[-1] in ("coming", "upcoming"):
        return weekend_away(now, 0)
    return weekend_away(now, 1 if way == "next" else -1)


@rule(
    ["the", "weekend", "over", "on", "at", "during"],
    rf"(?:over|on|at|during|for){G}(?P<x>(?:the|my|our){G}weekend)\b(?!{G}(?:of|before|after)\b)",
)
def _the_weekend(match: re.Match[str], scan: Scan) -> Reading:
    on = scan.now.day >= scan.now.week + 5
    ahead = scan.points(match) == "future" or on
    return point(days(weekend_away(scan.now, 0 if ahead else -1), 2), Precision.DAY)


_AROUND = (
    r"(?P<around>(?:around|about|roughly|approximately|almost|nearly|over|more\s{1,3}than|maybe|like|some)\s{1,3})?"
)


@rule(["around", "about", "roughly", "approximately", "almost", "nearly", "over", "more", "maybe", "like", "some", *NUMBER_STARTS, DIGITS],
      rf"{_AROUND}(?P<n>{NUMBER}){G}(?:more{G}|full{G}|short{G}|whole{G}|long{G})?(?P<unit>{UNIT})(?P<half>{G}and{G}a{G}half)?{G}(?P<side>ago|back|earlier|prior|later|from{G}now|from{G}today|hence)\b(?!{G}(?:to|in|into)\b)")  # fmt: skip
def _ago(match: re.Match[str], scan: Scan) -> Reading | None:
    count, vague = number(match["n"])
    unit, side = UNITS[match["unit"]], match["side"]
    if not count or (side in ("earlier", "prior", "later") and unit in ("minute", "hour")):
        return None
    sign = 1 if side.split()[0] in ("later", "from", "hence") else -1
    approximate = vague or bool(match["around"]) or side in ("earlier", "prior", "later")
    if match["half"] and unit in _MONTHS_LONG:
        back = months(scan.now.month + sign * (count * _MONTHS_LONG[unit] + _MONTHS_LONG[unit] // 2))
        return point(back, Precision.MONTH, approximate=True)
    if unit == "weekend" and sign > 0:
        count -= scan.now.day < scan.now.week + 5
    return point(away(scan.now, unit, sign * count), precision_of(unit), approximate=approximate)


@rule(
    ["half", "a", "one"],
    rf"(?:half{G}an?|a{G}half|a{G}year{G}and{G}a{G}half|one{G}and{G}a{G}half)\s{{0,3}}-?(?P<unit>hour|hours|year|years|decade)?{G}(?P<side>ago|from{G}now)\b",
)
def _half_ago(match: re.Match[str], scan: Scan) -> Reading | None:
    sign, whole = (-1 if match["side"] == "ago" else 1), match[0].startswith(("one", "a year"))
    if match["unit"] in ("hour", "hours"):
        return point(away(scan.now, "minute", sign * (90 if whole else 30)), Precision.INSTANT)
    if match["unit"] is None and not whole:
        return None
    half = 60 if match["unit"] == "decade" else 18 if whole else 6
    return point(months(scan.now.month + sign * half), Precision.MONTH, approximate=True)


@rule(
    ["in"],
    rf"in{G}(?P<around>(?:about|around|roughly|approximately|like){G})?(?P<n>{NUMBER}|half{G}an?){G}(?:more{G})?(?P<unit>{UNIT})(?:'{G}time)?(?!{G}(?:of|old)\b)",
)
def _in(match: re.Match[str], scan: Scan) -> Reading | None:
    if scan.points(match) == "past" and scan.direction != "future":
        return None  # "I read it in two days": how long it took
    if match["n"].startswith("half"):
        return None
    count, vague = number(match["n"])
    unit = UNITS[match["unit"]]
    if not count:
        return None
    return point(away(scan.now, unit, count), precision_of(unit), approximate=vague or bool(match["around"]))


_SPAN = rf"(?:the{G}|these{G}|this{G})?(?P<side>last|past|previous|next|coming|following)"


@rule(["in", "over", "during", "within", "for", "the", "these", "last", "past", "previous", "next", "coming", "throughout"],
      rf"(?P<lead>(?:in|over|during|within|for|throughout){G})?{_SPAN}{G}(?P<n>{NUMBER}|half){G}(?P<half>and{G}a{G}half{G})?(?:an?{G}|or{G}(?:so|two|three){G})?(?P<unit>{UNIT})")  # fmt: skip
def _span(match: re.Match[str], scan: Scan) -> Reading | None:
    half = match["n"] == "half"
    count, vague = (1, False) if half else number(match["n"])
    unit, ahead = UNITS[match["unit"]], match["side"] in ("next", "coming", "following")
    if not count or match["side"] == "following" or (unit == "weekend" and count == 1):
        return None
    open_ended = (match["lead"] or "").strip() == "for" and not ahead
    if half:
        unit, count = {"year": ("month", 6), "decade": ("year", 5)}.get(unit, (unit, 1))
    return _rolling(scan.now, unit, count if ahead else -count, open_ended, approximate=vague)


def _rolling(now: Now, unit: str, count: int, open_ended: bool, *, approximate: bool = False) -> Reading | None:
    there, precision = moved(now, unit, count), precision_of(unit)
    if open_ended:
        period, kind = (there, there + DAY), DateKind.SINCE
        return Reading(period, precision, kind, approximate=approximate, open=True)
    period = (there, now.local) if count < 0 else (now.local, there + (DAY if there % DAY == 0 else 0))
    return Reading(period, precision if count < 0 else Precision.INSTANT, DateKind.RANGE, approximate,
                   end_precision=Precision.INSTANT if count < 0 else precision)  # fmt: skip


@rule(["within"], rf"within{G}(?:the{G}(?:next{G})?)?(?P<n>{NUMBER}){G}(?P<unit>{UNIT})")
def _within(match: re.Match[str], scan: Scan) -> Reading | None:
    count, vague = number(match["n"])
    unit = UNITS[match["unit"]]
    return _rolling(scan.now, unit, count, False, approximate=vague) if count else None


@rule(["for"], rf"for{G}(?P<around>(?:about|around|over|almost|nearly|roughly|like|at{G}least|more{G}than|only|just){G})?(?P<n>{NUMBER}){G}(?:full{G}|whole{G}|long{G}|good{G}|solid{G}|straight{G}|more{G})?(?P<unit>{UNIT})(?P<half>{G}and{G}a{G}half)?(?P<now>{G}(?:now|already|running|straight))?\b(?!{G}(?:ago|from|back)\b)")  # fmt: skip
def _for(match: re.Match[str], scan: Scan) -> Reading | None:
    return _duration(match, scan, already=bool(match["now"]))


@rule([*NUMBER_STARTS, DIGITS, "about", "around", "over", "almost", "nearly"],
      rf"{_AROUND}(?P<n>{NUMBER}){G}(?P<unit>{UNIT})(?P<half>{G}and{G}a{G}half)?{G}now\b")  # fmt: skip
def _now(match: re.Match[str], scan: Scan) -> Reading | None:
    return _duration(match, scan, already=True)


_PERFECT = re.compile(
    r"(?:\b(?:have|has|haven't|hasn't|having)|'ve|'s\s(?:been|had|worked|lived|played|known)|'s)\b(?!.*[.!?;\n])"
)


def _duration(match: re.Match[str], scan: Scan, *, already: bool) -> Reading | None:
    count, vague = number(match["n"])
    unit = UNITS[match["unit"]]
    if not count:
        return None
    head = scan.folded[max(0, match.start() - 90) : match.start()]
    if not already and _PERFECT.search(head) is None:
        return unplaced(DateKind.DURATION)
    if match["half"] and unit in _MONTHS_LONG:
        count = count * _MONTHS_LONG[unit] + _MONTHS_LONG[unit] // 2
        unit = "month"
    return _rolling(scan.now, unit, -count, True, approximate=vague or bool(match["around"]))


@rule(
    ["at", "by", "around", DIGITS],
    r"(?:(?:at|by|around)\s{1,3})?(?<![\d.,/:$€£¥-])(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>a\.?m\b\.?|p\.?m\b\.?)(?!\w)",
)
def _clock(match: re.Match[str], scan: Scan) -> Reading | None:
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if not 1 <= hour <= 12:
        return None
    return _at_clock(scan, hour % 12 + (12 if match["half"][0] == "p" else 0), minute)


@rule(["at"], r"at\s{1,3}(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?!\d|\s?[ap]\.?m)")
def _clock_24(match: re.Match[str], scan: Scan) -> Reading | None:
    return _at_clock(scan, int(match["hour"]), int(match["minute"]))


def _at_clock(scan: Scan, hour: int, minute: int) -> Reading:
    start = midnight(scan.now.day) + hour * HOUR + minute * MINUTE
    return Reading((start, start + MINUTE), Precision.INSTANT, role="clock")


_NOW_WORDS = (
    rf"(?:right{G}now|at{G}the{G}moment|currently|nowadays|these{G}days|as{G}of{G}(?:now|today)|at{G}present|presently)"
)


@rule(["right", "at", "currently", "nowadays", "these", "as", "presently"], rf"{_NOW_WORDS}\b")
def _right_now(_match: re.Match[str], scan: Scan) -> Reading:
    return point((scan.now.local, scan.now.local + 1), Precision.INSTANT, approximate=True)


@rule(["just", "a"], rf"(?:just{G}now|a{G}(?:moment|minute|second|sec){G}ago)\b")
def _just_now(_match: re.Match[str], scan: Scan) -> Reading:
    return point((scan.now.local - HOUR, scan.now.local), Precision.INSTANT, approximate=True)


@rule(["recently", "lately"], r"(?:recently|lately)\b")
def _recently(_match: re.Match[str], scan: Scan) -> Reading:
    return point((midnight(scan.now.day - 30), scan.now.local), Precision.MONTH, approximate=True)


@rule(["the"], rf"the{G}other{G}(?P<unit>day|night|week|evening|morning)\b")
def _the_other_day(_match: re.Match[str], scan: Scan) -> Reading:
    return point((midnight(scan.now.day - 14), midnight(scan.now.day)), Precision.DAY, approximate=True)


@rule(["this"], rf"this{G}time{G}(?P<which>last|next){G}(?P<unit>week|month|year)\b")
def _this_time(match: re.Match[str], scan: Scan) -> Reading:
    sign, unit = (-1 if match["which"] == "last" else 1), match["unit"]
    period = (
        days(monday(scan.now.day) + 7 * sign, 7)
        if unit == "week"
        else months(scan.now.month + sign * _MONTHS_LONG[unit])
    )
    return point(period, Precision.DAY if unit == "week" else Precision.MONTH, approximate=True)


@rule(
    ["the"],
    rf"the{G}(?P<part>end|beginning|start|middle){G}of{G}the{G}(?P<unit>week|month|year|quarter|decade|century|day)\b",
)
def _part_of_the_unit(match: re.Match[str], scan: Scan) -> Reading:
    unit = match["unit"]
    if unit == "day":
        return point(part_of(scan.now.day, "evening"), Precision.DAY, approximate=True)
    return point(
        third(away(scan.now, unit, 0), match["part"]),
        precision_of("day" if unit in ("week", "month") else unit),
        approximate=True,
    )
