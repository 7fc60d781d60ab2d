"""Paths under search, their limits and scores: the values that the beam search and its evaluators share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from memgraph_server.retrieval.evidence import Path, Step
from memgraph_server.retrieval.question import Anchor


@dataclass(frozen=True, slots=True)
class Limits:
    """Defaults of the paper: k, D_max, m, δ_QR, δ_LC and θ_stable (0.0 where the question asks for uncertain things).

    `fetch`: how many neighbours are asked for per entity, before the filters.
    """

    width: int = 5
    depth: int = 3
    candidates: int = 5
    relevance: float = 0.5
    coherence: float = 0.5
    minimum_confidence: float = 0.8
    fetch: int = 20


@dataclass(frozen=True, slots=True)
class Scores:
    """S_QR, S_LC and S_AS of one path, each in [0, 1]. `stop`: the evaluator's own word on stop or expand, if any."""

    relevance: float
    coherence: float
    sufficiency: float
    stop: bool | None = None


@dataclass(frozen=True, slots=True)
class Trail:
    """A path under search: a root and steps, each beginning where the one before ended."""

    anchor: Anchor
    steps: tuple[Step, ...] = ()

    @property
    def tail(self) -> str:
        return self.steps[-1].there if self.steps else self.anchor.entity

    @property
    def visited(self) -> frozenset[str]:
        return frozenset((self.anchor.entity, *(step.there for step in self.steps)))

    @property
    def key(self) -> tuple[str, ...]:
        return (self.anchor.entity, *(step_key(step) for step in self.steps))

    def extended(self, step: Step) -> Trail:
        return replace(self, steps=(*self.steps, step))


def step_key(step: Step) -> str:
    return f"{step.fact.id}/{step.fact.version}/{int(step.forward)}/{step.rule}"


def rank(step: Step) -> tuple[float, str]:
    return (-step.similarity, step_key(step))


def in_order(steps: Iterable[Step]) -> list[Step]:
    """Nearest first; ties by identity, so that the order of arrival does not matter; each once."""
    return sorted({step_key(step): step for step in steps}.values(), key=rank)


def there_name(step: Step) -> str:
    return step.tail_name if step.forward else step.head_name


def path_of(trail: Trail, scores: Scores) -> Path:
    anchor = trail.anchor
    return Path(
        root=anchor.entity,
        root_name=anchor.name,
        intent=anchor.intent,
        steps=trail.steps,
        relevance=scores.relevance,
        coherence=scores.coherence,
        sufficiency=scores.sufficiency,
    )
