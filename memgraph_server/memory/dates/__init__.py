"""Dates in a text, resolved against the turn that says them. Pure: no clock, no zone database, no model.

`find_dates` finds them, `claimed_interval` says what one means for the valid interval of a claim. Everything relative
is counted in the turn's own local calendar (`at` and its offset), and returned half-open in UTC microseconds. The
grammar is a set of rules by first word, in one file for each kind of date; `compose.py` puts neighbours together.
Months are English; other languages: ISO and numeric dates in any script's digits, and see `other_languages.py`.
"""

from __future__ import annotations

from typing import Literal

from memgraph_server.memory.dates import (
    absolute,
    clock,
    durations,
    other_languages,
    relative,
    seasons,
    vague,
    weekdays,
    years,
)
from memgraph_server.memory.dates.calendar import FIRST_INSTANT, LAST_INSTANT, MINUTE, Now
from memgraph_server.memory.dates.compose import composed
from memgraph_server.memory.dates.grammar import Found, Grammar, Scan, longest
from memgraph_server.memory.dates.mention import ClaimedInterval, DateKind, DateMention, claimed_interval
from memgraph_server.memory.dates.other_languages import find_unspaced
from memgraph_server.memory.interval import Instant

__all__ = ["ClaimedInterval", "DateKind", "DateMention", "claimed_interval", "find_dates"]

_GRAMMAR = Grammar.of(
    *(kind.GRAMMAR for kind in (absolute, weekdays, years, relative, durations, clock, seasons, vague, other_languages))
)


def find_dates(
    text: str, at: Instant, utc_offset_minutes: int = 0, *, direction: Literal["past", "future"] | None = None
) -> list[DateMention]:
    """The dates in `text`, said at `at`, sorted by place and without overlap.

    direction: which way a date without one points ("on Friday"); None: read it from the nearest verb.
    Dates outside the years 1 to 9999 are left out; ends beyond are clipped. Never raises.
    """
    scan = Scan.of(text, Now.of(at, utc_offset_minutes), utc_offset_minutes, direction)
    found = composed(longest(_GRAMMAR.find(scan) + find_unspaced(scan)), scan)
    mentions = (_mention(one, text, utc_offset_minutes * MINUTE) for one in found)
    return [mention for mention in mentions if mention is not None]


def _mention(found: Found, text: str, offset: int) -> DateMention | None:
    reading, span = found.reading, (found.start, found.stop)
    said = text[found.start : found.stop]
    if reading.period is None:
        return DateMention(None, None, reading.precision, reading.kind, span, said, reading.approximate)
    start = None if reading.startless else max(reading.period[0] - offset, FIRST_INSTANT)
    end = None if reading.open else min(reading.period[1] - offset, LAST_INSTANT)
    if (start is not None and (start > LAST_INSTANT or (end is not None and start >= end))) or (
        end is not None and end <= FIRST_INSTANT
    ):
        return None
    named = (
        reading.end_named
        if reading.end_named is None
        else min(max(reading.end_named - offset, FIRST_INSTANT), LAST_INSTANT)
    )
    end_precision = reading.end_precision or reading.precision
    return DateMention(
        start, end, reading.precision, reading.kind, span, said, reading.approximate, end_precision, named
    )
