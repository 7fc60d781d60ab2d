"""The second hop: turns that go on from those found first, over an entity that both state facts of.

"Which county borders the one where Johnnycake lies?" names Johnnycake. That it lies in McDowell County stands in the
turn that is found first; what borders McDowell County, in one that has hardly a word of the question. So a turn that
shares an entity with one of the best, and comes after it, counts by what it says of the question *beyond* that turn:

    hop(T) = max over the best F before T and entities e of both   rarity(e) × Σ over pieces max(0, match(T) − match(F))

What says the same again gains nothing by it, whatever it shares. Rarity is that among the candidates, in shares of what
an entity has that only two of them hold: who speaks is in most of a conversation's facts, and joins nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Sequence

import numpy as np

from memgraph_server.retrieval.signals import Array, rarity

Entity = Hashable  # whatever tells entities apart

#: Best turns that are gone on from.
FIRST = 3
#: Best candidates whose entities are looked at.
REACHED = 64


def second_hop(order: Sequence[int], ends: Sequence[Collection[Entity]], matches: Array) -> Array:
    """By candidate, 0 for those that go on from none.

    order: places of the candidates that are looked at, best first; ends: of every candidate, the entities that it
    states facts of; matches: shape (candidates, pieces), what each says of the question's pieces, weighted
    (signals.late_interaction).
    """
    holders = _holders(order, ends)
    found = np.zeros(len(ends))
    for first in order[:FIRST]:
        joined = _joined(first, ends[first], holders, len(order))
        places = list(joined)
        beyond = np.maximum(0.0, matches[places] - matches[first]).sum(axis=1)
        found[places] = np.maximum(found[places], beyond * np.array(list(joined.values())))
    return found


def _holders(order: Sequence[int], ends: Sequence[Collection[Entity]]) -> dict[Entity, list[int]]:
    """Of each entity, the candidates that state facts of it, best first."""
    holders: defaultdict[Entity, list[int]] = defaultdict(list)
    for place in order:
        for entity in ends[place]:
            holders[entity].append(place)
    return holders


def _joined(first: int, own: Collection[Entity], holders: dict[Entity, list[int]], candidates: int) -> dict[int, float]:
    """Places after `first` that share an entity with it, and the rarity of the rarest."""
    most = rarity(2, candidates)
    joined: dict[int, float] = {}
    for entity in own:
        both = holders[entity]
        share = rarity(len(both), candidates) / most
        for place in both[both.index(first) + 1 :]:
            joined[place] = max(share, joined.get(place, 0.0))
    return joined
