"""Times of the day and words for now: "yesterday morning", "tonight", "at 5pm", "right now", "recently".

Rules. A time of the day alone is that of the turn's day. "Now" is the turn's instant; "just now" the hour before it;
"recently" and "lately" the thirty days before it; "the other day" the two weeks before today: all approximate.
"""

from __future__ import annotations

import re

from memgraph_server.memory.dates.calendar import HOUR, MINUTE, midnight
from memgraph_server.memory.dates.grammar import DIGITS, Grammar, Reading, Scan, day_point, point
from memgraph_server.memory.dates.units import part_of
from memgraph_server.memory.interval import Precision

GRAMMAR = Grammar()
rule = GRAMMAR.rule

_DAY_WORDS = {
    "today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1, "tmrw": 1, "tomorow": 1, "yday": -1, "tonite": 0,
}  # fmt: skip


@rule(
    _DAY_WORDS,
    r"(?P<word>[a-z]+)(?!\w)(?:'s)?"
    r"(?: (?:early |late )?(?P<part>morning|afternoon|arvo|evening|night|noon|lunchtime)\b)?",
)
def _day_word(match: re.Match[str], scan: Scan) -> Reading:
    word = match["word"]
    day = scan.turn.day + _DAY_WORDS[word]
    part = "night" if word.startswith("tonigh") or word == "tonite" else match["part"]
    return point(part_of(day, part), Precision.DAY) if part else day_point(day)


@rule(
    ["the"],
    r"the day (?P<side>before yesterday|after tomorrow)(?: (?P<part>morning|afternoon|evening|night)\b)?",
)
def _two_days(match: re.Match[str], scan: Scan) -> Reading:
    day = scan.turn.day + (-2 if match["side"].startswith("before") else 2)
    return point(part_of(day, match["part"]), Precision.DAY) if match["part"] else day_point(day)


@rule(
    ["last", "this", "early", "late", "earlier"],
    r"(?P<which>last night|this (?:early |late |past )?"
    r"(?P<part>morning|afternoon|arvo|evening|night))\b",
)
def _part_of_today(match: re.Match[str], scan: Scan) -> Reading:
    last = match["part"] is None
    return point(part_of(scan.turn.day - last, "night" if last else match["part"]), Precision.DAY)


@rule(
    ["at", "by", "around", DIGITS],
    r"(?:(?:at|by|around)\s{1,3})?(?<![a-z\d.,/:$€£¥-])(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s?"
    r"(?P<half>am\b|pm\b|a\.m\b\.?|p\.m\b\.?)(?!\w)",
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
    start = midnight(scan.turn.day) + hour * HOUR + minute * MINUTE
    return Reading((start, start + MINUTE), Precision.INSTANT, role="clock")


_NOW_WORDS = r"(?:right now|at the moment|currently|nowadays|these days|as of (?:now|today)|at present|presently)"


@rule(["right", "at", "currently", "nowadays", "these", "as", "presently"], rf"{_NOW_WORDS}\b")
def _right_now(_match: re.Match[str], scan: Scan) -> Reading:
    return point((scan.turn.local, scan.turn.local + 1), Precision.INSTANT, approximate=True)


@rule(["just", "a"], r"(?:just now|a (?:moment|minute|second|sec) ago)\b")
def _just_now(_match: re.Match[str], scan: Scan) -> Reading:
    return point((scan.turn.local - HOUR, scan.turn.local), Precision.INSTANT, approximate=True)


@rule(["recently", "lately"], r"(?:recently|lately)\b")
def _recently(_match: re.Match[str], scan: Scan) -> Reading:
    return point((midnight(scan.turn.day - 30), scan.turn.local), Precision.MONTH, approximate=True, role="recent")


@rule(["the"], r"the other (?P<unit>day|night|week|evening|morning)\b")
def _the_other_day(_match: re.Match[str], scan: Scan) -> Reading:
    return point((midnight(scan.turn.day - 14), midnight(scan.turn.day)), Precision.DAY, approximate=True)
