"""What the beam search asks for; whoever drives it answers (`BeamSearch.tell`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from memgraph_server.memory.interval import Instant
from memgraph_server.retrieval.repair import Lookup
from memgraph_server.retrieval.trails import Trail


@dataclass(frozen=True, slots=True)
class NeedNeighbours:
    """Facts with `entity` at either end, nearest to the question first. `valid_at` None: of any time."""

    entity: str
    valid_at: Instant | None
    minimum_confidence: float
    limit: int


@dataclass(frozen=True, slots=True)
class NeedFacts:
    """Facts for one repair lookup."""

    lookup: Lookup


@dataclass(frozen=True, slots=True)
class NeedAliases:
    """Ids of other entities that the name, or a part of it, may stand for."""

    entity: str


@dataclass(frozen=True, slots=True)
class NeedJudgement:
    """Scores of these paths, in this order: one call for all beams of a step."""

    trails: tuple[Trail, ...]


Request: TypeAlias = NeedNeighbours | NeedFacts | NeedAliases | NeedJudgement
