"""Small graphs written as lines, and a driver that answers a beam search from one: plain, and honest about time."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memgraph_server.memory.facts import Fact, Intent, Stratum
from memgraph_server.memory.interval import Instant
from memgraph_server.retrieval.beam import (
    BeamSearch,
    NeedAliases,
    NeedFacts,
    NeedJudgement,
    NeedNeighbours,
    Request,
    Scores,
    Trail,
)
from memgraph_server.retrieval.evidence import Step

DAY = 86_400_000_000


def fact(
    head: str,
    relation: str,
    tail: str,
    *,
    start: Instant = 0,
    end: Instant | None = None,
    confidence: float = 0.95,
    intent: Intent = Intent.FACT,
) -> Fact:
    """A fact whose id says what it states; entities are their own ids."""
    return Fact(
        id=f"{head}-{relation}-{tail}-{start}",
        version=abs(hash((head, relation, tail, start))),
        head=head,
        relation=relation,
        tail=tail,
        stratum=Stratum.STABLE if confidence >= 0.8 else Stratum.SPECULATIVE,
        valid_from=start,
        valid_to=end,
        confidence=confidence,
        intent=intent,
        recorded_from=start,
    )


def step(stated: Fact, *, forward: bool = True, similarity: float = 0.5, turns: tuple[str, ...] = ()) -> Step:
    return Step(
        stated, stated.head.title(), stated.tail.title(), forward,
        confidence=stated.confidence, similarity=similarity, turns=turns,
    )  # fmt: skip


Judge = Callable[[Trail], Scores]


def judged_by(table: Mapping[str, tuple[float, float, float]], otherwise: tuple[float, float, float]) -> Judge:
    """Scores by the name of the entity that a path reaches."""
    return lambda trail: Scores(*table.get(trail.tail, otherwise))


@dataclass
class Graph:
    """Facts with their similarity to the question, aliases by entity, and a judge."""

    facts: Sequence[tuple[Fact, float]]
    judge: Judge
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)

    def answer(self, request: Request) -> Sequence[Any]:
        self.asked.append(request)
        if isinstance(request, NeedNeighbours):
            return self._around(request.entity, request.valid_at)
        if isinstance(request, NeedFacts):
            return self._looked_up(request)
        if isinstance(request, NeedAliases):
            return self.aliases.get(request.entity, ())
        assert isinstance(request, NeedJudgement)
        return [self.judge(trail) for trail in request.trails]

    def _around(self, entity: str, at: Instant | None) -> list[Step]:
        return [
            step(stated, forward=stated.head == entity, similarity=similarity, turns=(f"turn of {stated.id}",))
            for stated, similarity in self.facts
            if entity in (stated.head, stated.tail) and (at is None or stated.interval.contains(at))
        ]

    def _looked_up(self, request: NeedFacts) -> list[Step]:
        lookup = request.lookup
        return [
            found
            for found in self._around(lookup.entity, lookup.valid_at)
            if found.fact.relation in lookup.relations and found.forward is not lookup.reverse
        ]


def drive(search: BeamSearch, graph: Graph) -> BeamSearch:
    while requests := search.requests():
        for request in requests:
            search.tell(request, graph.answer(request))
    return search


def drive_in_pieces(search: BeamSearch, graph: Graph, seed: int) -> BeamSearch:
    """Requests answered in any order; neighbours and facts in any order, in pieces, interleaved with other replies."""
    dice = random.Random(seed)
    while requests := search.requests():
        request = dice.choice(requests)
        reply = list(graph.answer(request))
        if not isinstance(request, NeedJudgement):
            dice.shuffle(reply)
            while reply and dice.random() < 0.7:
                search.tell(request, [reply.pop()], complete=False)
        search.tell(request, reply)
    return search
