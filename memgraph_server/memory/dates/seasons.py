"""Seasons, quarters and holidays.

Rules: seasons are meteorological and northern (spring March-May, … winter December-February, named by the year of its
December), so always approximate. Holidays are those whose day a rule gives: fixed days, the n-th weekday of a month,
and Western Easter; the ones that are also adjectives (Christmas, Easter, New Year) need a word such as "at" or "last".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memgraph_server.memory.dates.calendar import Period, days, easter, first_of_month, months, nth_weekday
from memgraph_server.memory.dates.floating import WHICH_WORDS, choose, which, yearless
from memgraph_server.memory.dates.grammar import Grammar, Reading, Scan, day_point, point
from memgraph_server.memory.dates.lexicon import YEAR, G
from memgraph_server.memory.interval import Precision

GRAMMAR = Grammar()
rule = GRAMMAR.rule

_SEASONS = {"spring": 2, "summer": 5, "autumn": 8, "fall": 8, "winter": 11}
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)(?:time)?\b"
_OF = rf"(?:(?:,| of)? (?P<year>{YEAR}))"


def _season(name: str) -> Callable[[int], Period]:
    return lambda year: months(12 * year + _SEASONS[name], 3)


@rule(
    ["last", "this", "next", "past", "previous", "coming", "upcoming", "the"],
    rf"{WHICH_WORDS} {_SEASON}(?! (?:break|camp)\b)",
)
def _which_season(match: re.Match[str], scan: Scan) -> Reading:
    way, in_year = which(match), _season(match["season"])
    if way == "this" and scan.points(match) == "past":
        way = "past"
    return Reading(choose(in_year, scan.turn, way), Precision.MONTH, approximate=True)


@rule(_SEASONS, rf"{_SEASON}{_OF}")
def _season_of_year(match: re.Match[str], _scan: Scan) -> Reading:
    return point(_season(match["season"])(int(match["year"])), Precision.MONTH, approximate=True)


@rule(
    ["in", "during", "since", "until", "over", "by", "for", "through"],
    rf"(?:in|during|since|until|over|by|through|for) (?:the |my |our )?(?P<x>{_SEASON})(?! "
    r"(?:break|camp|job|love|apart|into|to|from|back|off)\b)",
)
def _season_alone(match: re.Match[str], scan: Scan) -> Reading:
    return yearless(_season(match["season"]), match, scan, Precision.MONTH, approximate=True)


@rule(["q"], rf"q(?P<n>[1-4])(?: | of |-|/|')(?P<year>{YEAR})")
def _quarter(match: re.Match[str], _scan: Scan) -> Reading:
    return point(months(12 * int(match["year"]) + 3 * int(match["n"]) - 3, 3), Precision.MONTH)


@rule(["the", "first", "second", "third", "fourth", "last"],
      rf"(?:the )?(?P<n>first|second|third|fourth|last) (?P<unit>quarter|half) of (?P<year>{YEAR})")  # fmt: skip
def _named_quarter(match: re.Match[str], _scan: Scan) -> Reading:
    size = 3 if match["unit"] == "quarter" else 6
    n = {"first": 0, "second": 1, "third": 2, "fourth": 3}.get(match["n"], 12 // size - 1)
    if n * size >= 12:
        raise ValueError("a year has two halves")
    return point(months(12 * int(match["year"]) + n * size, size), Precision.MONTH)


@rule(["in", "by", "since", "until", "for"], r"[a-z]+ (?P<x>q(?P<n>[1-4]))(?![\w-]| of\b| \d)")
def _quarter_alone(match: re.Match[str], scan: Scan) -> Reading:
    first = 3 * int(match["n"]) - 3
    return yearless(lambda year: months(12 * year + first, 3), match, scan, Precision.MONTH)


def _fixed(month: int, day: int) -> Callable[[int], int]:
    return lambda year: first_of_month(12 * year + month - 1) + day - 1


def _nth(month: int, weekday: int, n: int, later: int = 0) -> Callable[[int], int]:
    return lambda year: nth_weekday(year, month, weekday, n) + later


def _easter(later: int) -> Callable[[int], int]:
    return lambda year: easter(year) + later


_HOLIDAYS = {
    "christmas eve": _fixed(12, 24), "christmas day": _fixed(12, 25), "xmas": _fixed(12, 25),
    "boxing day": _fixed(12, 26),
    "christmas": _fixed(12, 25), "new year's eve": _fixed(12, 31), "new years eve": _fixed(12, 31),
    "new year's day": _fixed(1, 1), "new years day": _fixed(1, 1), "new year's": _fixed(1, 1), "new year": _fixed(1, 1),
    "valentine's day": _fixed(2, 14), "valentines day": _fixed(2, 14), "valentine's": _fixed(2, 14),
    "st. patrick's day": _fixed(3, 17), "st patrick's day": _fixed(3, 17), "april fools' day": _fixed(4, 1),
    "april fools day": _fixed(4, 1), "april fool's day": _fixed(4, 1), "april fools": _fixed(4, 1),
    "earth day": _fixed(4, 22),
    "cinco de mayo": _fixed(5, 5), "juneteenth": _fixed(6, 19), "independence day": _fixed(7, 4),
    "fourth of july": _fixed(7, 4), "halloween": _fixed(10, 31), "veterans day": _fixed(11, 11),
    "women's day": _fixed(3, 8), "labour day": _fixed(5, 1), "may day": _fixed(5, 1),
    "thanksgiving": _nth(11, 3, 4), "black friday": _nth(11, 3, 4, 1), "cyber monday": _nth(11, 3, 4, 4),
    "mother's day": _nth(5, 6, 2), "mothers day": _nth(5, 6, 2),
    "father's day": _nth(6, 6, 3), "fathers day": _nth(6, 6, 3),
    "labor day": _nth(9, 0, 1), "memorial day": _nth(5, 0, -1), "martin luther king day": _nth(1, 0, 3),
    "mlk day": _nth(1, 0, 3), "presidents' day": _nth(2, 0, 3), "presidents day": _nth(2, 0, 3),
    "columbus day": _nth(10, 0, 2), "good friday": _easter(-2), "easter monday": _easter(1),
    "easter sunday": _easter(0),
    "easter": _easter(0), "ash wednesday": _easter(-46), "palm sunday": _easter(-7), "mardi gras": _easter(-47),
    "pentecost": _easter(49),
}  # fmt: skip
_GENERIC = frozenset({"christmas", "xmas", "easter", "new year", "new year's", "valentine's", "thanksgiving"})
_LEADS = frozenset(
    "at on for by until till since before after around over during past through of every this last next "
    "and to from".split()
)
_NAMES = "(?:" + "|".join(re.escape(name).replace(r"\ ", G) for name in sorted(_HOLIDAYS, key=len, reverse=True)) + ")"


@rule({name.split()[0].split("'")[0].rstrip(".") for name in _HOLIDAYS} | {"last", "this", "next", "past"},
      rf"(?:{WHICH_WORDS} )?(?P<name>{_NAMES})(?: day\b)?(?!\w){_OF}?")  # fmt: skip
def _holiday(match: re.Match[str], scan: Scan) -> Reading | None:
    name = " ".join(match["name"].split())
    led = match["which"] or match["year"] or scan.word_before(match.start()) in _LEADS
    if name in _GENERIC and not led:
        return None
    if name in _GENERIC and scan.word_after(match.end()) in _THINGS:
        return None
    day = _HOLIDAYS[name]
    if match["year"]:
        return day_point(day(int(match["year"])))
    return yearless(lambda year: days(day(year)), match, scan, Precision.DAY, way=which(match))


_THINGS = frozenset(
    "tree trees party parties card cards gift gifts present presents lights market markets dinner song songs movie "
    "movies sweater egg eggs bunny week resolution resolutions spirit decorations cookies shopping "
    "carol carols break".split()
)
