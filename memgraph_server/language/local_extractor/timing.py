"""When a fact holds, from the dates in its clause and the clause's tense (design: The memory model, Two clocks).

| said                                     | valid from        | valid to        | ongoing | basis    |
|------------------------------------------|-------------------|-----------------|---------|----------|
| a state, undated ("I live in Rome")      | the turn          | open            | yes     | observed |
| "since 2018", "for five years now"       | the date          | open            | yes     | stated   |
| a start, dated ("moved to Rome in June") | the date          | open            | yes     | stated   |
| an event, dated ("went there on Friday") | the date          | its end         | no      | stated   |
| a past state, dated ("lived there 2015") | the date          | its end         | no      | stated   |
| an event, undated ("I went there")       | the turn          | the next instant | no     | observed |
| a meeting to come ("on Monday I have …") | the date          | its end         | no      | stated   |
| a plan, a wish, dated or not             | the turn          | open            | yes     | observed |

Nothing is said of when an undated event happened, so it is true when it is said: at the turn's own instant, and not
from then on ("I lost my keys" is no state). A date that does not fit the tense (a past date of a present state) is left
alone: misdated is worse than undated. What stays true of somebody whose life has moved on ("used to", "was born") is a
state or a start, not an event.
"""

from __future__ import annotations

from enum import StrEnum

from memgraph_server.memory.dates.mention import ClaimedInterval, DateKind, DateMention, claimed_interval
from memgraph_server.memory.interval import Basis, Instant, Precision


class Manner(StrEnum):
    """How a claim stands in time. START: an event after which a state holds; PLAN: also wishes and advice."""

    STATE = "state"
    PAST_STATE = "past_state"
    EVENT = "event"
    START = "start"
    COMING = "coming"  # the start of a state that is still to come
    PLAN = "plan"


def observed(at: Instant) -> ClaimedInterval:
    """From the turn on, since nothing was said."""
    return ClaimedInterval(at, None, Precision.INSTANT, Precision.INSTANT, Basis.OBSERVED, Basis.OBSERVED)


def happened(at: Instant) -> ClaimedInterval:
    """At the turn's own instant, the only one that is vouched for; intervals are half-open."""
    return ClaimedInterval(at, at + 1, Precision.INSTANT, Precision.INSTANT, Basis.OBSERVED, Basis.OBSERVED)


def placed(manner: Manner, dates: list[DateMention], at: Instant) -> tuple[ClaimedInterval, bool]:
    """The interval of a claim said at `at`, and whether it is ongoing. `dates`: those of its clause, in order."""
    ongoing = manner in {Manner.STATE, Manner.START, Manner.PLAN}
    if manner is Manner.PLAN:
        return observed(at), True
    date = next((d for d in dates if d.placed and _fits(manner, d, at)), None)
    undated = happened(at) if manner is Manner.EVENT else observed(at)
    if date is None:
        return undated, ongoing
    since = date.kind is DateKind.SINCE
    interval = claimed_interval(date, at, ongoing=manner in {Manner.START, Manner.COMING} or since)
    if interval is None:
        return undated, ongoing
    return interval, (manner in {Manner.STATE, Manner.START}) and interval.valid_to is None


def _fits(manner: Manner, date: DateMention, at: Instant) -> bool:
    """Whether the date can be that of the claim."""
    start = date.start
    if manner is Manner.STATE:
        to_come = date.kind is DateKind.POINT and start is not None and start > at
        return to_come or (date.kind in {DateKind.SINCE, DateKind.UNTIL} and (start is None or start <= at))
    if manner is Manner.COMING:
        return start is not None and start > at
    if manner in {Manner.EVENT, Manner.PAST_STATE, Manner.START}:
        return (start is None and manner is Manner.PAST_STATE) or (start is not None and start <= at)
    return False
