"""What a step of a search asks about many entities at once (`GraphStore.facts_about`), and what many turns are about
(`GraphStore.ends_of_turns`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memgraph_server.stores.port import AsOf, Floats, GraphStore, Neighbour


@dataclass(frozen=True, slots=True)
class Around:
    """What `neighbours` is asked of one entity, for facts of any intent."""

    entity_id: str
    as_of: AsOf
    minimum_confidence: float
    limit: int

    def alike(self) -> tuple[object, ...]:
        """The same for what differs by the entity only."""
        return ("around", self.as_of, self.minimum_confidence, self.limit)

    def alone(self, store: GraphStore, namespace: str, vector: Floats | None) -> list[Neighbour]:
        """The answer by the verb for one."""
        return store.neighbours(
            namespace,
            self.entity_id,
            vector=vector,
            as_of=self.as_of,
            minimum_confidence=self.minimum_confidence,
            intents=None,
            limit=self.limit,
        )


@dataclass(frozen=True, slots=True)
class Between:
    """What `facts_between` is asked of one entity."""

    head: str
    relations: tuple[str, ...]
    as_of: AsOf
    limit: int
    reverse: bool = False

    def alike(self) -> tuple[object, ...]:
        """The same for what differs by the entity, its relations and the valid time only."""
        return ("between", self.as_of.known_at, self.limit, self.reverse)

    def alone(self, store: GraphStore, namespace: str, vector: Floats | None) -> list[Neighbour]:  # noqa: ARG002
        """The answer by the verb for one; no vector has a say in it."""
        return store.facts_between(
            namespace, self.head, self.relations, as_of=self.as_of, limit=self.limit, reverse=self.reverse
        )


def read_ends(rows: Iterable[tuple[str, int, int | None] | list[Any]]) -> dict[str, frozenset[int]]:
    """By turn, what its (turn, head, tail) name; an ending of all tails has none."""
    ends: defaultdict[str, set[int]] = defaultdict(set)
    for turn_id, head, tail in rows:
        ends[turn_id].update((head,) if tail is None else (head, tail))
    return {turn_id: frozenset(found) for turn_id, found in ends.items()}
