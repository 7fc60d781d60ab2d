"""Times that have no place on the calendar: they are found, so that nobody takes them for "now", and left unplaced.

Recurring: "every Tuesday", "daily", "twice a week", "on Fridays". Unknown: "in my twenties", "as a child", "when I was
ten", "growing up", "someday", "soon", "years ago", "back then". Ages are not turned into years: nobody said the birth.
"""

from __future__ import annotations

import re

from memgraph_server.memory.dates.grammar import DIGITS, Grammar, Reading, Scan, unplaced
from memgraph_server.memory.dates.lexicon import MONTH, NUMBER, NUMBER_STARTS, UNIT, WEEKDAYS
from memgraph_server.memory.dates.mention import DateKind

GRAMMAR = Grammar()
rule = GRAMMAR.rule

_WHO = r"(?:my|his|her|their|our|your)"
_SEASON = r"(?:spring|summer|autumn|fall|winter|christmas|easter|thanksgiving|halloween)"
_DAYPART = r"(?:morning|afternoon|arvo|evening|night)"
_WEEKDAY_NAME = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"


@rule(
    ["every", "each"],
    rf"(?:every|each) (?:single |other |{NUMBER} |(?:first|second|third|fourth|last) )?"
    rf"(?:{UNIT}|{_WEEKDAY_NAME}s?|{_DAYPART}|{_SEASON}|{MONTH})(?: {_DAYPART})?",
)
def _every(_match: re.Match[str], _scan: Scan) -> Reading:
    return unplaced(DateKind.RECURRING)


@rule(
    [f"{name}{s}" for name in WEEKDAYS for s in ("", "s")] + ["weekends", "weekdays"],
    rf"(?:{_WEEKDAY_NAME}s|{_WEEKDAY_NAME} {_DAYPART}s|weekends|weekdays)\b(?! "
    r"(?:ago|before|after|later|from))",
)
def _plural(_match: re.Match[str], _scan: Scan) -> Reading:
    return unplaced(DateKind.RECURRING)


@rule(["daily", "weekly", "monthly", "yearly", "annually", "nightly"], r"[a-z]+(?!\w)")
def _adverb(_match: re.Match[str], _scan: Scan) -> Reading:
    return unplaced(DateKind.RECURRING)


@rule(
    ["once", "twice", *NUMBER_STARTS, DIGITS],
    rf"(?:once|twice|{NUMBER} times|{NUMBER} (?:days|hours|minutes|nights)) (?:a|per|each|every) "
    r"(?:day|week|month|year|night)\b",
)
def _times(_match: re.Match[str], _scan: Scan) -> Reading:
    return unplaced(DateKind.RECURRING)


_LIFE = (
    rf"(?:in {_WHO} (?:early |late |mid |mid-)?(?:teens|twenties|thirties|forties|fifties|sixties|seventies|eighties|"
    rf"nineties|'?\d0'?s|youth|childhood)|as an? (?:young |little |small )?(?:child|kid|boy|girl|teen|teenager|toddler|"
    rf"baby|student|undergrad|youngster)|growing up|back then|(?:when|since|while|until|before) "
    rf"(?:i|we|he|she|they) (?:was|were) "
    rf"(?:just |only |about |around |still |a |an |in |at |very |really |so ){{0,3}}(?:young(?:er)?|little|small|"
    rf"kids?|child|children|boy|girl|teen(?:ager)?s?|toddler|baby|{NUMBER}(?: years old)?|college|school|high school|"
    rf"university|uni|middle school)|when (?:i|he|she|we|they) (?:turn|turned) {NUMBER}|at "
    rf"(?:the )?age (?:of )?{NUMBER}|since (?:childhood|birth))"
)


@rule(
    ["in", "as", "growing", "back", "when", "at", "since", "while", "until", "before"],
    rf"{_LIFE}\b(?! (?:ago|years ago))",
)
def _time_of_life(_match: re.Match[str], _scan: Scan) -> Reading:
    return unplaced(DateKind.UNKNOWN)


_SOME_TIME = (
    r"(?:someday|some day|one day(?! (?:a|per|ago|after|before|left|at|off|only|trip|pass|later)\b)|"
    r"soon|sometime(?: soon)?(?! (?:in|on|around|during|between|last|this|next)\b)|eventually|"
    r"at some point|in the (?:near |distant )?(?:future|past)|(?:a )?long (?:time )?ago|"
    r"(?:many |some )?(?:years|months|weeks|days|ages|decades|centuries) ago|(?:a|some) (?:while|time) (?:ago|back)|"
    r"once upon a time|(?:for|in) (?:years|ages|months|weeks|decades)|"
    r"for (?:(?:a (?:long )?|quite a |some )(?:while|time)))"
)


@rule(["someday", "some", "one", "soon", "sometime", "eventually", "at", "in", "a", "long", "many", "years", "months",
       "weeks", "days", "ages", "decades", "centuries", "once", "for"], rf"{_SOME_TIME}\b")  # fmt: skip
def _some_time(match: re.Match[str], scan: Scan) -> Reading | None:
    before = scan.word_before(match.start())
    if (match[0] == "soon" and before == "as") or (
        match[0] == "one day" and before in ("in", "for", "only", "just", "by", "of")
    ):
        return None
    return unplaced(DateKind.UNKNOWN)
