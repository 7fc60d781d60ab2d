"""Times that have no place on the calendar: they are found, so that nobody takes them for "now", and left unplaced.

Recurring: "every Tuesday", "daily", "twice a week", "on Fridays". Unknown: "in my twenties", "as a child", "when I was
ten", "growing up", "someday", "soon", "years ago", "back then". Ages are not turned into years: nobody said the birth.
"""

from __future__ import annotations

import re

from memgraph_server.memory.dates.grammar import DIGITS, Grammar, Reading, Scan, unplaced
from memgraph_server.memory.dates.lexicon import MONTH, NUMBER, NUMBER_STARTS, UNIT, WEEKDAYS, G
from memgraph_server.memory.dates.mention import DateKind

GRAMMAR = Grammar()
rule = GRAMMAR.rule

_WHO = r"(?:my|his|her|their|our|your)"
_SEASON = r"(?:spring|summer|autumn|fall|winter|christmas|easter|thanksgiving|halloween)"
_DAYPART = r"(?:morning|afternoon|evening|night)"
_WEEKDAY_NAME = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"


@rule(["every", "each"],
      rf"(?:every|each){G}(?:single{G}|other{G}|{NUMBER}{G}|(?:second|third){G})?(?:{UNIT}|{_WEEKDAY_NAME}s?|{_DAYPART}|{_SEASON}|{MONTH})(?:{G}{_DAYPART})?")  # fmt: skip
def _every(_match: re.Match[str], _scan: Scan) -> Reading:
    return unplaced(DateKind.RECURRING)


@rule([f"{name}s" for name in WEEKDAYS if name.endswith("day")] + [n for n in WEEKDAYS if n.endswith("day")] + ["weekends", "weekdays", "mornings", "evenings", "nights", "afternoons"],
      rf"(?:{_WEEKDAY_NAME}s|{_WEEKDAY_NAME}{G}{_DAYPART}s|weekends|weekdays)\b(?!{G}(?:ago|before|after|later|from))")  # fmt: skip
def _plural(_match: re.Match[str], _scan: Scan) -> Reading:
    return unplaced(DateKind.RECURRING)


@rule(["daily", "weekly", "monthly", "yearly", "annually", "nightly"], r"\w+")
def _adverb(_match: re.Match[str], _scan: Scan) -> Reading:
    return unplaced(DateKind.RECURRING)


@rule(["once", "twice", *NUMBER_STARTS, DIGITS],
      rf"(?:once|twice|{NUMBER}{G}times|{NUMBER}{G}(?:days|hours|minutes|nights)){G}(?:a|per|each|every){G}(?:day|week|month|year|night)\b")  # fmt: skip
def _times(_match: re.Match[str], _scan: Scan) -> Reading:
    return unplaced(DateKind.RECURRING)


_LIFE = (
    rf"(?:in{G}{_WHO}{G}(?:early{G}|late{G}|mid{G}|mid-)?(?:teens|twenties|thirties|forties|fifties|sixties|seventies|eighties|"
    rf"nineties|'?\d0'?s|youth|childhood)|as{G}an?{G}(?:young{G}|little{G}|small{G})?(?:child|kid|boy|girl|teen|teenager|toddler|"
    rf"baby|student|undergrad|youngster)|growing{G}up|back{G}then|when{G}(?:i|we|he|she|they){G}(?:was|were){G}"
    rf"(?:just{G}|only{G}|about{G}|around{G}|still{G}|a{G}|an{G}|in{G}|at{G}|very{G}|really{G}|so{G}){{0,3}}(?:young(?:er)?|little|small|"
    rf"kids?|child|children|boy|girl|teen(?:ager)?s?|toddler|baby|{NUMBER}(?:{G}years{G}old)?|college|school|high{G}school|"
    rf"university|uni|middle{G}school)|when{G}(?:i|he|she|we|they){G}(?:turn|turned){G}{NUMBER}|at{G}(?:the{G})?age{G}(?:of{G})?{NUMBER}|since{G}(?:childhood|birth))"
)


@rule(["in", "as", "growing", "back", "when", "at", "since"], rf"{_LIFE}\b(?!{G}(?:ago|years{G}ago))")
def _time_of_life(_match: re.Match[str], _scan: Scan) -> Reading:
    return unplaced(DateKind.UNKNOWN)


_SOME_TIME = (
    rf"(?:someday|some{G}day|one{G}day(?!{G}(?:a|per|ago|after|before|left|at|off|only|trip|pass|later)\b)|soon|sometime(?:{G}soon)?|eventually|"
    rf"at{G}some{G}point|in{G}the{G}(?:near{G}|distant{G})?(?:future|past)|(?:a{G})?long{G}(?:time{G})?ago|"
    rf"(?:many{G}|some{G})?(?:years|months|weeks|days|ages|decades|centuries){G}ago|(?:a|some){G}(?:while|time){G}(?:ago|back)|"
    rf"once{G}upon{G}a{G}time|for{G}(?:years|ages|months|weeks|decades|(?:a{G}(?:long{G})?|quite{G}a{G}|some{G})(?:while|time)))"
)


@rule(["someday", "some", "one", "soon", "sometime", "eventually", "at", "in", "a", "long", "many", "years", "months",
       "weeks", "days", "ages", "decades", "centuries", "once", "for"], rf"{_SOME_TIME}\b")  # fmt: skip
def _some_time(match: re.Match[str], _scan: Scan) -> Reading | None:
    if match[0] == "soon" and match.string[max(0, match.start() - 3) : match.start()] == "as ":
        return None
    return unplaced(DateKind.UNKNOWN)
