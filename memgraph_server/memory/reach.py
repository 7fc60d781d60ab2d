"""How far one assertion, applied or withdrawn, can change who is believed in a large key: a superset, in small pieces.

`x` is the assertion; `revision.py` says what the windows are for, `windows.py` looks into them.

- x counts only while it decides for its tail. From a greater stake of an open claim of the tail, or of an ending of
  it, x never decides again (both are in force for good). So each stake of x reaches to its next such rival at most.
- Single-valued: from a greater stake of an open claim whose tail is never ended, x is not believed either.
- A claim applied, or an ending withdrawn, can only bring its tail where the tail is not believed; a claim withdrawn,
  or an ending applied, can only take it away where it is. So the current facts of the tail narrow the windows down.
- Speculation about a single-valued relation is different: it also stops at assertive claims of other tails, which is
  why an assertive claim reaches, for every tail, from each of its stakes to the next assertive one.
"""

from __future__ import annotations

from dataclasses import dataclass

from memgraph_server.memory.facts import Assertion, Fact, Polarity, Stratum
from memgraph_server.memory.interval import Instant, Interval, between, difference, earliest, intersection
from memgraph_server.memory.requests import (
    Arriving,
    Asking,
    CurrentFacts,
    Key,
    NextAssertive,
    NextOfTail,
    NextUnended,
    Speculation,
    Standing,
)
from memgraph_server.memory.sweep import Bid, Order, stakes

#: Standing claims asked for at a time.
_PAGE = 8


@dataclass(frozen=True, slots=True)
class Change:
    """`present`: the assertion is applied (else withdrawn). `single`: the key's cardinality."""

    assertion: Assertion
    present: bool
    single: bool

    @property
    def key(self) -> Key:
        return Key(self.assertion.head, self.assertion.relation)

    @property
    def claims(self) -> bool:
        return self.assertion.polarity is Polarity.CLAIM

    @property
    def brings(self) -> bool:
        """Whether the tail can only gain instants by it (else only lose some)."""
        return self.claims == self.present


@dataclass(frozen=True, slots=True)
class Window:
    """Instants where belief may change: of `tail`, or of every tail (None).

    `above`: stakes up to this one are out of the question throughout. `own`: the applied claim's bid, alive throughout.
    """

    interval: Interval
    tail: str | None
    above: Order | None = None
    own: Bid | None = None


def reach(change: Change, stratum: Stratum) -> Asking[list[Window]]:
    """Disjoint windows outside which the change leaves the stratum as it is."""
    if stratum is Stratum.SPECULATIVE and change.single:
        return (yield from _reach_of_speculation(change))
    return (yield from _reach_of_stakes(change, stratum))


# -- the stable stratum, and both of a multi-valued relation


def _reach_of_stakes(change: Change, stratum: Stratum) -> Asking[list[Window]]:
    x = change.assertion
    windows: list[Window] = []
    own = stakes(x)
    rivals = yield tuple(NextOfTail(change.key, stratum, x.tail, stake, x.id) for stake in own)
    for stake, until, rival in zip(own, _own_ends(x, own), rivals, strict=True):
        whole = between(stake[0], earliest(until, rival))
        if change.brings and not change.claims and x.tail is not None:
            whole = yield from _revivable(change, stratum, whole)
        pieces = yield from _narrowed(change, stratum, whole)
        if change.single and change.brings and pieces:
            pieces = yield from _undominated(change, stake, pieces)
        windows.extend(_window(change, stake, piece) for piece in pieces)
    return windows


def _own_ends(x: Assertion, own: tuple[Order, ...]) -> list[Instant | None]:
    """How far each stake counts: up to the next of the same assertion, the last to its end."""
    end = x.valid_to if x.polarity is Polarity.CLAIM else None
    return [*(stake[0] for stake in own[1:]), end]


def _revivable(change: Change, stratum: Stratum, whole: list[Interval]) -> Asking[list[Interval]]:
    """An ending withdrawn: no further than the claims that it ended."""
    if not whole:
        return []
    key, tail, at = change.key, change.assertion.tail, whole[0].start
    arriving, standing = yield (
        Arriving(key, stratum, tail, Interval(at, at + 1)),
        Standing(key, stratum, tail, at, None, None, frozenset(), _PAGE),
    )
    if len(standing) == _PAGE:
        return whole
    ended = [claim.valid_to for claim in (*arriving, *standing) if claim.polarity is Polarity.CLAIM]
    return _as_far_as(ended, whole[0])


def _as_far_as(ends: list[Instant | None], whole: Interval) -> list[Interval]:
    """Up to the last of the ends; nothing where there is none."""
    if not ends:
        return []
    last = None if None in ends else max(each for each in ends if each is not None)
    return between(whole.start, earliest(whole.end, last))


def _narrowed(change: Change, stratum: Stratum, whole: list[Interval]) -> Asking[list[Interval]]:
    """Where the tail is not believed yet, if the change brings it; where it is, if the change takes it away."""
    if not whole:
        return []
    (facts,) = yield (CurrentFacts(change.key, stratum, change.assertion.tail, whole[0]),)
    held = [fact.interval for fact in facts]
    return difference(whole[0], held) if change.brings else intersection(whole[0], held)


def _undominated(change: Change, stake: Order, pieces: list[Interval]) -> Asking[list[Interval]]:
    """Cut where somebody else is believed for good, and with a greater stake."""
    request = NextUnended(change.key, stake, pieces[-1].end, change.assertion.id)
    (dominated_from,) = yield (request,)
    return [cut for piece in pieces for cut in between(piece.start, earliest(piece.end, dominated_from))]


def _window(change: Change, stake: Order, piece: Interval) -> Window:
    x = change.assertion
    tail = None if change.single else x.tail
    dominates = change.present and (change.claims or tail == x.tail)
    own = Bid(stake, x.tail, x.valid_to) if change.present and change.claims and x.tail is not None else None
    return Window(piece, tail, stake if dominates else None, own)


# -- speculation about a single-valued relation


def _reach_of_speculation(change: Change) -> Asking[list[Window]]:
    x = change.assertion
    if not change.claims:
        whole = yield from _ended_speculation(change)
    elif not x.assertive:
        whole = yield from _until_settled(change)
    else:
        return (yield from _settling(change))
    if x.tail is None:
        return (yield from _of_every_tail(change, whole))
    pieces = yield from _narrowed(change, Stratum.SPECULATIVE, whole)
    return [Window(piece, x.tail) for piece in pieces]


def _ended_speculation(change: Change) -> Asking[list[Interval]]:
    """An ending: as far as the hedged claims that cover its instant and are not settled by then."""
    at = change.assertion.valid_from
    (answer,) = yield (Speculation(change.key, change.assertion.tail, Interval(at, at + 1)),)
    return _as_far_as([earliest(claim.valid_to, settled) for claim, settled in answer.claims], Interval(at))


def _until_settled(change: Change) -> Asking[list[Interval]]:
    """A hedged claim: until it ends, is settled, or is overtaken by what is settled no earlier."""
    x = change.assertion
    last = stakes(x)[-1]
    settled, rival = yield (
        NextAssertive(change.key, last, x.id),
        NextOfTail(change.key, Stratum.SPECULATIVE, x.tail, last, x.id),
    )
    return between(x.valid_from, earliest(x.valid_to, earliest(settled, rival)))


def _settling(change: Change) -> Asking[list[Window]]:
    """An assertive claim settles older speculation from each stake on; the next assertive stake would do so anyway."""
    own = stakes(change.assertion)
    others = yield tuple(NextAssertive(change.key, stake, change.assertion.id) for stake in own)
    windows: list[Window] = []
    for stake, until, other in zip(own, (*(stake[0] for stake in own[1:]), None), others, strict=True):
        windows += yield from _of_every_tail(change, between(stake[0], earliest(until, other)))
    return windows


def _of_every_tail(change: Change, whole: list[Interval]) -> Asking[list[Window]]:
    """All tails: where what is applied can only take away, no wider than the current facts."""
    if whole and change.present:
        (facts,) = yield (CurrentFacts(change.key, Stratum.SPECULATIVE, None, whole[0]),)
        whole = _hull(whole[0], facts)
    return [Window(interval, None) for interval in whole]


def _hull(interval: Interval, facts: tuple[Fact, ...]) -> list[Interval]:
    """From the first instant to the last that any of the facts has in the interval."""
    parts = [part for fact in facts for part in intersection(interval, [fact.interval])]
    start = min((part.start for part in parts), default=interval.start)
    return _as_far_as([part.end for part in parts], Interval(start, interval.end))
