"""The requests of a revision answered from plain lists: their executable definition, simple rather than fast.

A store's own answers are tested against these, and the revision itself is tested with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Any, TypeVar

from memgraph_server.memory.belief import claims, overlap, settled_at
from memgraph_server.memory.confidence import Supported, source, support_rank, supported
from memgraph_server.memory.facts import Assertion, Fact, Polarity, Stratum
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.requests import (
    Arriving,
    Asking,
    CurrentFacts,
    NextAssertive,
    NextOfTail,
    NextUnended,
    Slice,
    Sliced,
    Speculation,
    Speculations,
    Standing,
    Support,
)
from memgraph_server.memory.sweep import Order, stakes

T = TypeVar("T")


@dataclass(frozen=True)
class KeyInMemory:
    """One key: its assertions that are not withdrawn (the antonym's as endings), and its current facts."""

    assertions: Sequence[Assertion]
    facts: Sequence[Fact]

    def drive(self, asking: Asking[T]) -> T:
        """Answer until the result is there."""
        try:
            batch = next(asking)
            while True:
                batch = asking.send(tuple(self.answer(request) for request in batch))
        except StopIteration as done:
            result: T = done.value
            return result

    @singledispatchmethod
    def answer(self, request: Any) -> Any:
        raise TypeError(f"no answer to {request!r}")

    @answer.register
    def _(self, request: Slice) -> Sliced:
        whole = [each for each in self.assertions if request.tail is None or each.tail in (None, request.tail)]
        if request.limit is not None and len(whole) > request.limit:
            return Sliced(None, ())
        facts = (fact for fact in self.facts if request.tail in (None, fact.tail))
        return Sliced(tuple(whole), tuple(facts))

    @answer.register
    def _(self, request: CurrentFacts) -> tuple[Fact, ...]:
        return tuple(
            fact
            for fact in self.facts
            if fact.stratum is request.stratum
            and request.tail in (None, fact.tail)
            and fact.interval.touches_or_overlaps(request.interval)
            and (fact.confidence, fact.intent) != request.unless
        )

    @answer.register
    def _(self, request: NextOfTail) -> Instant | None:
        rivals = [
            *(claim for claim in self._claims(request.stratum, request.tail) if claim.valid_to is None),
            *self._endings(request.stratum, request.tail),
        ]
        if request.tail is None:
            rivals = [each for each in self._endings(request.stratum, None) if each.tail is None]
        return _next(rivals, request.after, request.without)

    @answer.register
    def _(self, request: NextUnended) -> Instant | None:
        found = [
            stake
            for claim in self._claims(Stratum.STABLE, None)
            for stake in stakes(claim)
            if stake > request.after
            and claim.id != request.without
            and claim.valid_to is None
            and (request.before is None or stake[0] < request.before)
            and all(stakes(ending)[0] < stake for ending in self._endings(Stratum.STABLE, claim.tail))
        ]
        return min(found)[0] if found else None

    @answer.register
    def _(self, request: NextAssertive) -> Instant | None:
        return _next(self._claims(Stratum.STABLE, None), request.after, request.without)

    @answer.register
    def _(self, request: Arriving) -> tuple[Assertion, ...]:
        either = [*self._claims(request.stratum, request.tail), *self._endings(request.stratum, request.tail)]
        return tuple(each for each in either if any(request.interval.contains(stake[0]) for stake in stakes(each)))

    @answer.register
    def _(self, request: Standing) -> tuple[Assertion, ...]:
        ranked = sorted(self._standing(request), key=lambda pair: pair[0], reverse=True)
        inside = (
            claim
            for stake, claim in ranked
            if (request.above is None or stake > request.above)
            and (request.below is None or stake < request.below)
            and claim.tail not in request.without_tails
        )
        return tuple(inside)[: request.limit]

    @answer.register
    def _(self, request: Speculation) -> Speculations:
        hedged, assertive = claims(self.assertions)
        firm = sorted(stake for claim in assertive for stake in stakes(claim))
        found = tuple(
            (claim, settled)
            for claim, settled in ((claim, settled_at(claim, firm)) for claim in hedged)
            if request.tail in (None, claim.tail)
            and overlap(claim, request.interval.start, request.interval.end)
            and (settled is None or settled > request.interval.start)
        )
        tails = {None, *(claim.tail for claim, _ in found)}
        endings = (each for each in self._endings(Stratum.SPECULATIVE, None) if each.tail in tails)
        return Speculations(found, tuple(endings))

    @answer.register
    def _(self, request: Support) -> Supported:
        start, end = request.interval.start, request.interval.end
        backing = [claim for claim in self._claims(request.stratum, request.tail) if overlap(claim, start, end)]
        ranked = sorted(backing, key=support_rank)
        return supported(((each.confidence, source(each), each.intent) for each in ranked), request.stratum)

    def _claims(self, stratum: Stratum, tail: str | None) -> list[Assertion]:
        of_stratum = claims(self.assertions)[stratum is Stratum.STABLE]
        return [claim for claim in of_stratum if tail is None or claim.tail == tail]

    def _endings(self, stratum: Stratum, tail: str | None) -> list[Assertion]:
        """Those that count in the stratum: of the tail and without one, or all."""
        return [
            each
            for each in self.assertions
            if each.polarity is Polarity.ENDING
            and (each.assertive or stratum is Stratum.SPECULATIVE)
            and (tail is None or each.tail in (None, tail))
        ]

    def _standing(self, request: Standing) -> Iterable[tuple[Order, Assertion]]:
        for claim in self._claims(request.stratum, request.tail):
            before = [stake for stake in stakes(claim) if stake[0] < request.at]
            if not before or (claim.valid_to is not None and claim.valid_to <= request.at):
                continue
            ended = (stakes(each)[0] for each in self._endings(request.stratum, claim.tail))
            if all(end < before[-1] or end[0] >= request.at for end in ended):
                yield before[-1], claim


def _next(rivals: Iterable[Assertion], after: Order, without: str) -> Instant | None:
    found = [stake for each in rivals if each.id != without for stake in stakes(each) if stake > after]
    return min(found)[0] if found else None
