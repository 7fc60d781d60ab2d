"""Years, ranges of years and decades: "in 2019", "(2019)", "2015-2018", "the 90s", "the 2010s".

Rules. A four-digit number is a year only in brackets, at the head of a sentence before "was", in a range, or
after a word that years follow; and not before something that is counted ("in 2000 words", "2048 tokens"). A decade of
two digits needs "the" and is of the last century, unless it has begun in this one.
"""

from __future__ import annotations

import re

from memgraph_server.memory.dates.calendar import years
from memgraph_server.memory.dates.grammar import DIGITS, Grammar, Reading, Scan, point
from memgraph_server.memory.dates.lexicon import FUNCTION_WORDS, YEAR
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.interval import Precision

GRAMMAR = Grammar()
rule = GRAMMAR.rule

_YEAR_WORDS = ("in", "since", "during", "circa", "year", "until", "till", "before", "after", "by", "early", "late",
               "mid", "from", "of", "around", "about", "through", "and", "to", "than")  # fmt: skip
_TO = r"\s{0,2}(?:-|to|through|thru|until|till|and)\s{0,2}"
_DECADES = {"twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70,
            "eighties": 80, "nineties": 90}  # fmt: skip


@rule(_YEAR_WORDS, rf"[a-z]+(?: the year|,)?(?: |-)(?P<x>(?P<year>{YEAR}))(?![\w-]|[/:]\d)")
def _year_after_a_word(match: re.Match[str], scan: Scan) -> Reading | None:
    year, word = int(match["year"]), re.split(r"[\s,-]", match[0], maxsplit=1)[0]
    sure = word in ("in", "since", "during", "circa", "year", "early", "late", "mid")
    following = scan.word_after(match.end())
    if (
        following
        and following not in FUNCTION_WORDS
        and (not sure or following.endswith("s") or not 1800 < year < 2100)
    ):
        return None
    if not sure and not 1800 <= year <= 2100:
        return None
    return point(years(year), Precision.YEAR, role="year")


@rule(
    [DIGITS],
    r"(?:(?<![\w.]\()(?<=\()(?=\d{4}\))|(?<=[.!?]\s)(?=\d{4}\s(?:was|will|has)\b)|^(?=\d{4}\s"
    r"(?:was|will|has)\b))(?:19|20)\d\d",
)
def _year_in_brackets(match: re.Match[str], _scan: Scan) -> Reading:
    return point(years(int(match[0])), Precision.YEAR)


@rule(
    ["from", "between", DIGITS],
    rf"(?:(?:from|between) )?(?<![a-z\d.,/:$€£¥-])(?P<first>1[89]\d\d|20\d\d)(?P<to>{_TO})(?P<last>"
    r"(?:1[89]|20)?\d\d)(?![\w%/:-]|[.,]\d)",
)
def _years(match: re.Match[str], scan: Scan) -> Reading | None:
    first, last, to = int(match["first"]), int(match["last"]), match["to"].strip()
    last += first // 100 * 100 if last < 100 else 0
    following = scan.word_after(match.end())
    led = match[0][0] in "fb"
    counted = following and following not in FUNCTION_WORDS
    if not first < last or (not led and to == "and") or counted:
        return None
    named = years(last)[0]
    end = named if to in ("until", "till") else years(last)[1]
    return Reading(
        (years(first)[0], end), Precision.YEAR, DateKind.RANGE, end_named=named, end_precision=Precision.YEAR
    )


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
    year = int(digits) + (2000 if int(digits) <= scan.turn.year % 100 and int(digits) < 30 else 1900)
    return point(years(year, 10), Precision.YEAR)


@rule(["in", "since", "of", "until", "before", "after"], r"[a-z]+ (?P<x>'(?P<year>\d\d))(?![\w'])")
def _short_year(match: re.Match[str], scan: Scan) -> Reading:
    """ "in '98": up to ten years ahead, else the past."""
    year = scan.turn.year - scan.turn.year % 100 + int(match["year"])
    return point(years(year if year <= scan.turn.year + 10 else year - 100), Precision.YEAR)


@rule(["the", "early", "late", "mid"], r"(?:the |early |late |mid-)(?P<x>(?P<n>\d{1,2})(?:st|nd|rd|th) century)\b")
def _century(match: re.Match[str], _scan: Scan) -> Reading:
    return point(years(100 * int(match["n"]) - 99, 100), Precision.YEAR)
