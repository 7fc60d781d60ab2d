"""Drive the beam search: what the pure core asks for is fetched from the store, or judged by the evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memgraph_server.language.port import Floats
from memgraph_server.memory.interval import Instant
from memgraph_server.retrieval.beam import (
    BeamSearch,
    Limits,
    NeedAliases,
    NeedFacts,
    NeedJudgement,
    NeedNeighbours,
    Request,
    Scores,
    Trail,
)
from memgraph_server.retrieval.evaluator import Evaluator, Features
from memgraph_server.retrieval.evidence import Path, Step
from memgraph_server.retrieval.question import Anchor, Reading
from memgraph_server.retrieval.repair import Repairs
from memgraph_server.stores.port import AsOf, GraphStore, Neighbour


@dataclass(frozen=True, slots=True)
class Walked:
    """Surviving paths with what they are worth, the trace, facts seen by entity, and judgements made."""

    paths: Sequence[Path] = ()
    worths: Sequence[float] = ()
    trace: Sequence[Mapping[str, Any]] = ()
    seen: Mapping[str, Sequence[Step]] = field(default_factory=dict)
    judgements: int = 0


@dataclass(slots=True)
class GraphWalk:
    """One question to the facts of one namespace."""

    store: GraphStore
    namespace: str
    reading: Reading
    vector: Floats | None
    evaluator: Evaluator
    features: Features
    known_at: Instant | None = None
    seen: dict[str, list[Step]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    judgements: int = 0

    def walk(self, anchors: Sequence[Anchor], limits: Limits, repairs: Repairs) -> Walked:
        """From the anchors until every beam stops. Raises StoreUnavailable, ModelUnavailable."""
        self.names.update((anchor.entity, anchor.name) for anchor in anchors)
        search = BeamSearch(
            anchors,
            limits,
            reference_time=self.reading.reference_time,
            scope=self.reading.scope,
            repairs=repairs,
        )
        while requests := search.requests():
            for request in requests:
                search.tell(request, self._answer(request))
        paths = search.paths()
        return Walked(paths, search.worths(), search.trace, self.seen, self.judgements)

    def _answer(self, request: Request) -> Sequence[Any]:
        if isinstance(request, NeedNeighbours):
            return self._neighbours(request)
        if isinstance(request, NeedFacts):
            return self._facts(request)
        if isinstance(request, NeedAliases):
            return self._aliases(request.entity)
        return self._judge(request)

    def _neighbours(self, request: NeedNeighbours) -> list[Step]:
        found = self.store.neighbours(
            self.namespace,
            request.entity,
            vector=self.vector,
            as_of=AsOf(request.valid_at, self.known_at),
            minimum_confidence=request.minimum_confidence,
            intents=None,  # compatible facts come first, but none is left out for its label
            limit=request.limit,
        )
        return self._remember(request.entity, found)

    def _facts(self, request: NeedFacts) -> list[Step]:
        lookup = request.lookup
        found = self.store.facts_between(
            self.namespace,
            lookup.entity,
            lookup.relations,
            as_of=AsOf(lookup.valid_at, self.known_at),
            limit=LOOKED_UP,
            reverse=lookup.reverse,
        )
        return self._remember(lookup.entity, found)

    def _remember(self, entity: str, found: Sequence[Neighbour]) -> list[Step]:
        steps = [step_of(neighbour) for neighbour in found]
        self.seen.setdefault(entity, []).extend(steps)
        for step in steps:
            self.names[step.fact.head], self.names[step.fact.tail] = step.head_name, step.tail_name
        return steps

    def _aliases(self, entity: str) -> list[str]:
        """Others that bear a part of the name, or a name that this one is a part of."""
        parts = [part for part in self.names.get(entity, "").split() if part[:1].isupper()]
        if len(parts) < 2:
            return []
        return [found.id for found in self.store.find_names(self.namespace, parts).values() if found.id != entity]

    def _judge(self, request: NeedJudgement) -> list[Scores]:
        self.judgements += 1
        trails: tuple[Trail, ...] = request.trails
        return self.evaluator.judge(self.reading, trails, self.features)


#: Facts read for one repair lookup.
LOOKED_UP = 10


def step_of(neighbour: Neighbour) -> Step:
    """A stored fact, seen from where it was asked for."""
    return Step(
        fact=neighbour.fact,
        head_name=neighbour.head_name,
        tail_name=neighbour.tail_name,
        forward=neighbour.here == neighbour.fact.head,
        confidence=neighbour.fact.confidence,
        similarity=neighbour.similarity,
        turns=neighbour.turns,
    )
