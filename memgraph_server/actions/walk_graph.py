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
from memgraph_server.stores.about import Around, Between
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
            self._answer(search, requests)
        paths = search.paths()
        return Walked(paths, search.worths(), search.trace, self.seen, self.judgements)

    def _answer(self, search: BeamSearch, requests: Sequence[Request]) -> None:
        """All that is asked of the store about facts, of all beams, in one call."""
        asked = [(request, about) for request in requests if (about := self._about(request)) is not None]
        together = [about for _, about in asked]
        found = self.store.facts_about(self.namespace, together, vector=self.vector) if asked else []
        for (request, about), neighbours in zip(asked, found, strict=True):
            search.tell(request, self._remember(about, neighbours))
        aliases = [request for request in requests if isinstance(request, NeedAliases)]
        for request, named in zip(aliases, self._aliases([request.entity for request in aliases]), strict=True):
            search.tell(request, named)
        for request in requests:
            if isinstance(request, NeedJudgement):
                search.tell(request, self._judge(request))

    def _about(self, request: Request) -> Around | Between | None:
        if isinstance(request, NeedNeighbours):  # compatible facts come first, but none is left out for its intent
            as_of = AsOf(request.valid_at, self.known_at)
            return Around(request.entity, as_of, request.minimum_confidence, request.limit)
        if isinstance(request, NeedFacts):
            asked = request.lookup
            as_of = AsOf(asked.valid_at, self.known_at)
            return Between(asked.entity, tuple(asked.relations), as_of, LOOKED_UP, asked.reverse)
        return None

    def _remember(self, about: Around | Between, found: Sequence[Neighbour]) -> list[Step]:
        steps = [step_of(neighbour) for neighbour in found]
        entity = about.entity_id if isinstance(about, Around) else about.head
        self.seen.setdefault(entity, []).extend(steps)
        for step in steps:
            self.names[step.fact.head], self.names[step.fact.tail] = step.head_name, step.tail_name
        return steps

    def _aliases(self, entities: Sequence[str]) -> list[list[str]]:
        """Of each: others that bear a part of its name, or a name that this one is a part of."""
        parts = {entity: _parts(self.names.get(entity, "")) for entity in entities}
        asked = list(dict.fromkeys(part for each in parts.values() for part in each))
        named = self.store.find_names(self.namespace, asked) if asked else {}
        return [
            [named[part].id for part in parts[entity] if part in named and named[part].id != entity]
            for entity in entities
        ]

    def _judge(self, request: NeedJudgement) -> list[Scores]:
        self.judgements += 1
        trails: tuple[Trail, ...] = request.trails
        return self.evaluator.judge(self.reading, trails, self.features)


def _parts(name: str) -> list[str]:
    parts = [part for part in name.split() if part[:1].isupper()]
    return list(dict.fromkeys(parts)) if len(parts) > 1 else []


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
