"""An assertion as it counts, and the stakes that a store keeps of it for the revision of a belief (memory/sweep.py).

A stake is kept for each anchor of a claim or an ending, under its key, and under the antonym's key for a claim that
ends what is said there. Entities are numbers here: each store's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memgraph_server.memory.facts import STABLE_THRESHOLD, Polarity
from memgraph_server.memory.interval import Instant

#: Kinds of stakes: an ending, a claim without an end, a claim with one.
ENDING, OPEN, BOUNDED = 0, 1, 2
#: The tail of an ending of every tail.
ANY_TAIL = 0


@dataclass(frozen=True, slots=True)
class Placed:
    """An assertion as it counts: under the entities that stand now for those it named."""

    assertion: int
    id: str
    head: int
    relation: str
    tail: int | None
    valid_from: Instant
    valid_to: Instant | None
    evidence_at: Instant
    confidence: float
    polarity: str
    ongoing: bool

    @property
    def is_claim(self) -> bool:
        return self.polarity == Polarity.CLAIM


def stakes_of(placed: Placed, antonym: str | None) -> Iterator[tuple[object, ...]]:
    """Rows of `stake` after the namespace: its own, and under the antonym's key those of a claim as an ending."""
    end = placed.valid_to if placed.is_claim else None
    second = _second_anchor(placed)
    kind = ENDING if not placed.is_claim else OPEN if end is None else BOUNDED
    for anchor in (placed.valid_from, second):
        if anchor is not None:
            yield _stake(placed, placed.relation, kind, anchor=anchor, end=end, second=second)
    if antonym is not None and placed.is_claim:
        yield _stake(placed, antonym, ENDING, anchor=placed.valid_from)


def _stake(
    placed: Placed,
    relation: str,
    kind: int,
    *,
    anchor: Instant,
    end: Instant | None = None,
    second: Instant | None = None,
) -> tuple[object, ...]:
    tail = ANY_TAIL if placed.tail is None else placed.tail
    assertive = int(placed.confidence >= STABLE_THRESHOLD)
    order = (anchor, placed.evidence_at, placed.confidence, placed.id)
    return (placed.head, relation, tail, kind, assertive, *order, placed.assertion, placed.valid_from, end, second)


def _second_anchor(placed: Placed) -> Instant | None:
    """A claim said to hold while speaking is vouched for at its evidence time too (memory/belief.py, `stakes`)."""
    vouched = placed.is_claim and placed.valid_to is None and placed.ongoing
    return placed.evidence_at if vouched and placed.evidence_at > placed.valid_from else None
