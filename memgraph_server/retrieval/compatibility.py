"""Which facts may serve which intent (REAL, §III-B2, Exploration Intent Compatibility).

The paper keeps only edges whose label is compatible. Labels are given when a turn is read, before any question is
known, so a hard filter loses evidence: compatible facts come first, and others are let in only where none is
compatible. A plain FACT question takes everything. The table is this project's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from memgraph_server.memory.facts import Intent

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
