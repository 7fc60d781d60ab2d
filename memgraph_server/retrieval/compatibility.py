"""Which facts may serve which intent, and which time (REAL, §III-B2, Exploration Intent Compatibility).

The paper keeps only edges whose label is compatible. Labels are given when a turn is read, before any question is
known, so a hard filter loses evidence: compatible facts come first, and others are let in only where none is
compatible. A plain FACT question takes everything. The table is this project's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from memgraph_server.memory.facts import Fact, Intent
from memgraph_server.memory.interval import Interval

T = TypeVar("T")

#: Intent of the question → labels of facts that can serve it. A change (EVOLUTION) has a time and an opposite; what
#: caused something is often told as a change.
COMPATIBLE: Mapping[Intent, frozenset[Intent]] = {
    Intent.FACT: frozenset(Intent),
    Intent.CAUSAL: frozenset({Intent.CAUSAL, Intent.EVOLUTION}),
    Intent.TEMPORAL: frozenset({Intent.TEMPORAL, Intent.EVOLUTION, Intent.FACT}),
    Intent.CONTRAST: frozenset({Intent.CONTRAST, Intent.EVOLUTION, Intent.FACT}),
    Intent.EVOLUTION: frozenset({Intent.EVOLUTION, Intent.TEMPORAL, Intent.CONTRAST}),
}


def prefer_compatible(intent: Intent, items: Sequence[T], key: Callable[[T], Intent]) -> list[T]:
    """The compatible ones in their order; all of them where none is compatible."""
    fitting = [item for item in items if key(item) in COMPATIBLE[intent]]
    return fitting or list(items)


def may_answer(fact: Fact, scope: Interval | None) -> bool:
    """Whether a fact that somebody stated bears on the time asked about (None: on any).

    It holds then; or the present of that time is asked for ("what does Ann read?") and it happened, nobody said when,
    and was told by then: an undated event is over at once, and still tells what somebody is like.
    """
    if scope is None or fact.interval.overlaps(scope):
        return True
    undated = fact.valid_to == fact.valid_from + 1
    present = scope.end == scope.start + 1
    return undated and present and fact.valid_from < scope.start
