"""Counted units: "three weeks ago", "in two weeks", "over the past month", "for two years now", "for two years".

Rules. "Ago" and "in" name the calendar unit so far away (`units.py`); "in two days" after a past verb is how long it
took, and no date. "The last three weeks" runs from so long ago until now; after "for" it is still open (SINCE). "For
two years" is open from this day two years ago, with the precision of its unit, where it has "now" or a perfect ("I've
lived here for two years"); else it is a length without a place (DURATION).
"""

from __future__ import annotations

import re

from memgraph_server.memory.dates.calendar import DAY, Now, months
from memgraph_server.memory.dates.grammar import DIGITS, Grammar, Reading, Scan, point, unplaced
from memgraph_server.memory.dates.lexicon import NUMBER, NUMBER_STARTS, UNIT, UNITS, number
from memgraph_server.memory.dates.mention import DateKind
from memgraph_server.memory.dates.units import MONTHS_LONG, away, moved, precision_of
from memgraph_server.memory.interval import Precision

GRAMMAR = Grammar()
rule = GRAMMAR.rule

_AROUND = (
    r"(?P<around>(?:around|about|roughly|approximately|almost|nearly|over|more\s{1,3}than|maybe|like|some)\s{1,3})?"
)
_ABOUT_WORDS = (
    "around",
    "about",
    "roughly",
    "approximately",
    "almost",
    "nearly",
    "over",
    "more",
    "maybe",
    "like",
    "some",
)


@rule(
    [*_ABOUT_WORDS, *NUMBER_STARTS, DIGITS],
    rf"{_AROUND}(?P<n>{NUMBER}) (?:more |full |short |whole |long )?(?P<unit>{UNIT})"
    r"(?P<half> and a half)? (?P<side>ago|back|earlier|prior|later|from now|from today|hence)\b(?! "
    r"(?:to|in|into)\b)",
)
def _ago(match: re.Match[str], scan: Scan) -> Reading | None:
    count, vague = number(match["n"])
    unit, side = UNITS[match["unit"]], match["side"]
    if not count or (side in ("earlier", "prior", "later") and unit in ("minute", "hour")):
        return None
    sign = 1 if side.split()[0] in ("later", "from", "hence") else -1
    approximate = vague or bool(match["around"]) or side in ("earlier", "prior", "later")
    if match["half"] and unit in MONTHS_LONG:
        back = months(scan.turn.month + sign * (count * MONTHS_LONG[unit] + MONTHS_LONG[unit] // 2))
        return point(back, Precision.MONTH, approximate=True)
    if unit == "weekend" and sign > 0:
        count -= scan.turn.day < scan.turn.week + 5
    return point(away(scan.turn, unit, sign * count), precision_of(unit), approximate=approximate)


@rule(
    ["half", "a", "one"],
    r"(?:half an?|a half|a year and a half|one and a half)\s{0,3}-?"
    r"(?P<unit>hour|hours|year|years|decade)? (?P<side>ago|from now)\b",
)
def _half_ago(match: re.Match[str], scan: Scan) -> Reading | None:
    sign, whole = (-1 if match["side"] == "ago" else 1), match[0].startswith(("one", "a year"))
    if match["unit"] in ("hour", "hours"):
        return point(away(scan.turn, "minute", sign * (90 if whole else 30)), Precision.INSTANT)
    if match["unit"] is None and not whole:
        return None
    half = 60 if match["unit"] == "decade" else 18 if whole else 6
    return point(months(scan.turn.month + sign * half), Precision.MONTH, approximate=True)


@rule(
    ["in"],
    rf"in (?P<around>(?:about|around|roughly|approximately|like) )?(?P<n>{NUMBER}|half an?) "
    rf"(?:more )?(?P<unit>{UNIT})(?:' time)?(?! (?:of|old)\b)",
)
def _in(match: re.Match[str], scan: Scan) -> Reading | None:
    if match["n"].startswith("half"):
        return None
    count, vague = number(match["n"])
    unit = UNITS[match["unit"]]
    if not count:
        return None
    if _NEVER.search(scan.folded[max(0, match.start() - 60) : match.start()]):
        return rolling(scan.turn, unit, -count, True, approximate=True)
    if scan.points(match) == "past" or (unit == "day" and count == 1):  # "four seasons in one day"
        return None
    return point(away(scan.turn, unit, count), precision_of(unit), approximate=vague or bool(match["around"]))


#: "I haven't seen her in two weeks": since then.
_NEVER = re.compile(r"\b(?:haven't|hasn't|have\snot|has\snot|never)\b[^.!?;\n]*$")
_SPAN = r"(?:the |these |this )?(?P<side>last|past|previous|next|coming|following)"


@rule(
    [
        "in",
        "over",
        "during",
        "within",
        "for",
        "the",
        "these",
        "last",
        "past",
        "previous",
        "next",
        "coming",
        "throughout",
    ],
    rf"(?P<lead>(?:in|over|during|within|for|throughout) )?{_SPAN} (?P<n>{NUMBER}|half) "
    rf"(?P<half>and a half )?(?:an? |or (?:so|two|three) )?(?P<unit>{UNIT})",
)
def _span(match: re.Match[str], scan: Scan) -> Reading | None:
    half = match["n"] == "half"
    count, vague = (1, False) if half else number(match["n"])
    unit, ahead = UNITS[match["unit"]], match["side"] in ("next", "coming", "following")
    if not count or match["side"] == "following" or (unit == "weekend" and count == 1):
        return None
    open_ended = (match["lead"] or "").strip() == "for" and not ahead
    if half:
        unit, count = {"year": ("month", 6), "decade": ("year", 5)}.get(unit, (unit, 1))
    return rolling(scan.turn, unit, count if ahead else -count, open_ended, approximate=vague)


def rolling(now: Now, unit: str, count: int, open_ended: bool, *, approximate: bool = False) -> Reading | None:
    """From so many units ago until now (ahead: from now until then); `open_ended`: and still going on."""
    there, precision = moved(now, unit, count), precision_of(unit)
    if open_ended:
        period, kind = (there, there + DAY), DateKind.SINCE
        return Reading(period, precision, kind, approximate=approximate, open=True)
    period = (there, now.local) if count < 0 else (now.local, there + (DAY if there % DAY == 0 else 0))
    return Reading(period, precision if count < 0 else Precision.INSTANT, DateKind.RANGE, approximate,
                   end_precision=Precision.INSTANT if count < 0 else precision)  # fmt: skip


@rule(["within"], rf"within (?:the (?:next )?)?(?P<n>{NUMBER}) (?P<unit>{UNIT})")
def _within(match: re.Match[str], scan: Scan) -> Reading | None:
    count, vague = number(match["n"])
    unit = UNITS[match["unit"]]
    return rolling(scan.turn, unit, count, False, approximate=vague) if count else None


@rule(
    ["for"],
    r"for (?P<around>(?:about|around|over|almost|nearly|roughly|like|at least|more than|only|just) )?"
    rf"(?P<n>{NUMBER}) (?:full |whole |long |good |solid |straight |more )?(?P<unit>{UNIT})"
    r"(?P<half> and a half)?(?P<now> (?:now|already|running|straight))?\b(?! (?:ago|from|back)\b)",
)
def _for(match: re.Match[str], scan: Scan) -> Reading | None:
    return _duration(match, scan, already=bool(match["now"]))


@rule([*_ABOUT_WORDS, *NUMBER_STARTS, DIGITS],
      rf"{_AROUND}(?P<n>{NUMBER}) (?P<unit>{UNIT})(?P<half> and a half)? now\b")  # fmt: skip
def _now(match: re.Match[str], scan: Scan) -> Reading | None:
    return _duration(match, scan, already=True)


#: A present perfect in the same sentence: "I've been here", "she has hardly worked".
_PERFECT = re.compile(
    r"(?:\b(?:have|has|haven't|hasn't)|'ve|'s)\s(?:(?:not|already|just|now|also|always|never|only|[a-z]{2,10}ly)\s){0,2}"
    r"(?:been|had|known|done|kept|held|seen|taught|gone|"
    r"run|led|grown|felt|meant|spoken|written|sung|read|made|built|spent|gotten|got|[a-z]{2,20}ed)\b(?![^.!?;\n]*[.!?;\n])"
)


def _duration(match: re.Match[str], scan: Scan, *, already: bool) -> Reading | None:
    count, vague = number(match["n"])
    unit = UNITS[match["unit"]]
    if not count:
        return None
    head = scan.folded[max(0, match.start() - 90) : match.start()]
    if not already and _PERFECT.search(head) is None:
        return unplaced(DateKind.DURATION)
    if match["half"] and unit in MONTHS_LONG:
        count = count * MONTHS_LONG[unit] + MONTHS_LONG[unit] // 2
        unit = "month"
    return rolling(scan.turn, unit, -count, True, approximate=vague or bool(match["around"]))
