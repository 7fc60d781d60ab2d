"""Learning from observed succession whether a relation holds one value at a time.

Only what was said is counted: claims with both ends stated. Two values of one head that overlap speak against a single
value. Two that do not overlap speak for it only as far as they would have overlapped by chance: prizes won in 1990 and
in 2003 fill two years of fourteen and say nothing, marriages of ten years with a year between say much. So for each
value and the one before it, the chance is the share of their common span that the two fill.

A coarse date leaves room: a value that starts "in 2007" may start on its last day. What counts is the part of each
interval that is certain, which for a value no longer than its precision is nothing.

- *single* where at least `LEAST` overlaps were to be expected and no more than the share `FEW` of them was seen;
- *multi* where at least `LEAST` were seen, and more than that share;
- otherwise there is no verdict. A relation with one value a head (born in) gives none: nothing ever followed.

A verdict is recorded, reversible, and derives facts anew; it never removes an assertion (`GraphStore.set_cardinality`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memgraph_server.memory.facts import Assertion, Polarity
from memgraph_server.memory.interval import Basis, Instant, Precision

#: Overlaps to be expected (or seen) before anything is concluded.
LEAST = 5.0
#: Seen overlaps may be up to this share of those expected: mistakes in the sources.
FEW = 0.05

_DAY = 86_400_000_000
#: How much later than its first instant a date may be, in microseconds.
_ROOM = {Precision.INSTANT: 0, Precision.DAY: _DAY, Precision.MONTH: 31 * _DAY, Precision.YEAR: 366 * _DAY}


@dataclass(frozen=True, slots=True)
class Succession:
    """What was seen of one relation: heads with several stated values, pairs of one value and the one before it, how
    many of these overlap for certain, and how many would by chance."""

    heads: int
    pairs: int
    overlapping: int
    expected: float

    @property
    def single(self) -> bool | None:
        """The verdict; None where too little was seen, or it does not agree."""
        few = self.overlapping <= FEW * self.expected
        if self.expected >= LEAST and few:
            return True
        return False if self.overlapping >= LEAST and not few else None


@dataclass(frozen=True, slots=True)
class _Value:
    tail: str
    start: Instant
    certain: Instant  # from here on it holds, however the start was meant; never after `end`
    end: Instant


def succession(claims: Iterable[Assertion]) -> Succession:
    """Counts over the claims of one relation, of any number of heads, in any order."""
    by_head: defaultdict[str, list[_Value]] = defaultdict(list)
    for claim in claims:
        value = _stated(claim)
        if value is not None:
            by_head[claim.head].append(value)
    pairs = [_pairs(values) for values in by_head.values()]
    several = [found for found in pairs if found]
    flat = [pair for found in several for pair in found]
    overlapping = sum(_overlap(one, other) for one, other in flat)
    return Succession(len(several), len(flat), overlapping, sum(_chance(one, other) for one, other in flat))


def _stated(claim: Assertion) -> _Value | None:
    stated = claim.from_basis is Basis.STATED and claim.to_basis is Basis.STATED
    if claim.polarity is not Polarity.CLAIM or claim.tail is None or claim.valid_to is None or not stated:
        return None
    certain = min(claim.valid_to, claim.valid_from + _ROOM[claim.from_precision])
    return _Value(claim.tail, claim.valid_from, certain, claim.valid_to)


def _pairs(values: Iterable[_Value]) -> Sequence[tuple[_Value, _Value]]:
    """Each value with the one before it, where they differ; what is said twice counts once."""
    ordered = sorted(set(values), key=lambda value: (value.start, value.end, value.certain, value.tail))
    return [(one, other) for one, other in pairwise(ordered) if one.tail != other.tail]


def _overlap(one: _Value, other: _Value) -> bool:
    return max(one.certain, other.certain) < min(one.end, other.end)


def _chance(one: _Value, other: _Value) -> float:
    span = max(one.end, other.end) - min(one.start, other.start)
    return min(1.0, (one.end - one.certain + other.end - other.certain) / span)
