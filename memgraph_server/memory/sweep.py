"""Who is believed when, among claims and endings of one stratum: one sweep through time (design: the memory model).

One rule, asked at each instant: **the latest anchor at or before that instant decides.**

- A claim of a tail covers its interval; it has an anchor at its start and, where it is open and said to hold while
  speaking, one at its evidence time. An ending covers everything from its one anchor on; without tail, for all tails.
- Anchors are compared as stakes `(instant, evidence_at, confidence, assertion id)`: later evidence wins a tie, then
  confidence, then the id. No two are equal, so no answer depends on the order of arrival.
- A tail is alive where the greatest stake among its claims and endings that cover the instant is a claim's.
  Multi-valued: every alive tail is believed. Single-valued: the alive tail with the greatest claim.

Because an ending never ends and time only moves forward, a stake that is out is out for good: the sweep keeps a
stack of stakes in ascending order and drops dead ones from its top. O(n log n) for n stakes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, TypeAlias

from memgraph_server.memory.facts import Assertion, Polarity
from memgraph_server.memory.interval import Instant

#: A stake: (anchor instant, evidence_at, confidence, assertion id), compared as a tuple; ids by code point.
Order: TypeAlias = tuple[Instant, Instant, float, str]


class Run(NamedTuple):
    """A longest run of instants `[start, end)` at which `tail` is believed (in one stratum)."""

    tail: str
    start: Instant
    end: Instant | None


class Bid(NamedTuple):
    """One stake of a claim, in force from its instant up to `end` (None: for good)."""

    stake: Order
    tail: str
    end: Instant | None


class End(NamedTuple):
    """The stake of an ending of `tail` (None: of every tail), in force for good."""

    stake: Order
    tail: str | None


def stakes(assertion: Assertion) -> tuple[Order, ...]:
    """The assertion's one or two stakes, ascending."""
    first = (assertion.valid_from, assertion.evidence_at, assertion.confidence, assertion.id)
    vouched = assertion.ongoing and assertion.valid_to is None and assertion.polarity is Polarity.CLAIM
    if vouched and assertion.evidence_at > assertion.valid_from:
        return first, (assertion.evidence_at, *first[1:])
    return (first,)


@dataclass(slots=True)
class _Lane:
    """What competes for one place: all tails of a single-valued relation, one tail of a multi-valued one."""

    stack: list[Bid] = field(default_factory=list)
    tail: str | None = None
    since: Instant = 0


def runs(bids: Iterable[Bid], ends: Iterable[End], *, single: bool) -> list[Run]:
    """The rule itself, for the claims of one stratum and the endings that count in it. In order of their ends."""
    lanes: defaultdict[str | None, _Lane] = defaultdict(_Lane)
    ended: dict[str | None, Order] = {}
    done: list[Run] = []
    for at, events in groupby(sorted(_events(bids, ends), key=_in_time), key=_instant):
        touched: set[str | None] = set()
        for event in events:
            touched.update(_arrive(event, lanes, ended, single))
        for name in touched:
            if name in lanes:
                _look(lanes[name], at, ended, done)
    done.extend(Run(lane.tail, lane.since, None) for lane in lanes.values() if lane.tail is not None)
    return done


#: An instant at which something may change, the stake that arrives then (none where a bid's time is up), and whose.
_Event: TypeAlias = tuple[Instant, Order | tuple[()], Bid | End]


def _events(bids: Iterable[Bid], ends: Iterable[End]) -> Iterator[_Event]:
    for bid in bids:
        if bid.end is None:
            yield bid.stake[0], bid.stake, bid
        elif bid.stake[0] < bid.end:  # else settled before it began
            yield bid.stake[0], bid.stake, bid
            yield bid.end, (), bid
    for end in ends:
        yield end.stake[0], end.stake, end


def _in_time(event: _Event) -> tuple[Instant, Order | tuple[()]]:
    return event[:2]


def _instant(event: _Event) -> Instant:
    return event[0]


def _arrive(
    event: _Event, lanes: defaultdict[str | None, _Lane], ended: dict[str | None, Order], single: bool
) -> Iterable[str | None]:
    """Take one event in, and name the lanes to look at. Stakes arrive ascending, so each is the greatest so far."""
    _, stake, what = event
    lane = None if single else what.tail
    if isinstance(what, Bid):
        if stake:
            lanes[lane].stack.append(what)
    else:
        ended[what.tail] = what.stake
        if what.tail is None and not single:
            return [name for name, each in lanes.items() if each.tail is not None]
    return (lane,)


def _look(lane: _Lane, at: Instant, ended: dict[str | None, Order], done: list[Run]) -> None:
    """Drop what is out for good, see who is believed from `at` on, and close the run that is over."""
    stack = lane.stack
    while stack and _is_out(stack[-1], at, ended):
        stack.pop()
    tail = stack[-1].tail if stack else None
    if tail != lane.tail:
        if lane.tail is not None:
            done.append(Run(lane.tail, lane.since, at))
        lane.tail, lane.since = tail, at


def _is_out(bid: Bid, at: Instant, ended: dict[str | None, Order]) -> bool:
    return (
        (bid.end is not None and bid.end <= at)
        or bid.stake < ended.get(bid.tail, ())
        or bid.stake < ended.get(None, ())
    )
