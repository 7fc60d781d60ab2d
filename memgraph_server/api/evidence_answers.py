"""What a question is answered with; the command line prints the same."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from memgraph_server.api.answers import time_text
from memgraph_server.memory.interval import isoformat
from memgraph_server.retrieval.evidence import Evidence, EvidenceFact, EvidenceTurn, Path, Step
from memgraph_server.retrieval.serialize import text as prompt_text


class NodeOut(BaseModel):
    id: str
    name: str


class EdgeOut(BaseModel):
    """A fact of the subgraph; `rule` names the counterfactual rule of an inferred one."""

    id: str
    head: str
    relation: str
    tail: str
    valid_from: str
    valid_to: str | None
    recorded_from: str
    recorded_to: str | None
    confidence: float
    stratum: str
    intent: str
    turns: list[str]
    rule: str
    head_id: str
    tail_id: str

    @classmethod
    def of(cls, one: EvidenceFact) -> EdgeOut:
        fact = one.fact
        return cls(
            id=fact.id, head=one.head_name, relation=fact.relation, tail=one.tail_name,
            valid_from=isoformat(fact.valid_from), valid_to=time_text(fact.valid_to),
            recorded_from=isoformat(fact.recorded_from), recorded_to=time_text(fact.recorded_to),
            confidence=one.confidence if one.rule else fact.confidence,
            stratum=fact.stratum.value, intent=fact.intent.value,
            turns=list(one.turns), rule=one.rule, head_id=fact.head, tail_id=fact.tail,
        )  # fmt: skip


class SubgraphOut(BaseModel):
    nodes: list[NodeOut]
    edges: list[EdgeOut]

    @classmethod
    def of(cls, facts: tuple[EvidenceFact, ...]) -> SubgraphOut:
        names: dict[str, str] = {}
        for one in facts:
            names |= {one.fact.head: one.head_name, one.fact.tail: one.tail_name}
        nodes = [NodeOut(id=entity_id, name=name) for entity_id, name in names.items()]
        return cls(nodes=nodes, edges=[EdgeOut.of(one) for one in facts])


class EvidenceTurnOut(BaseModel):
    """A turn of the answer; `text` with captions, as it was counted. `reached_by`: graph, search or cascade."""

    id: str
    session_id: str
    at: str
    speaker: str
    role: str
    text: str
    tokens: int
    score: float
    reached_by: str
    facts: list[str]

    @classmethod
    def of(cls, one: EvidenceTurn) -> EvidenceTurnOut:
        turn = one.turn
        return cls(
            id=turn.id, session_id=turn.session_id, at=isoformat(turn.at), speaker=turn.speaker, role=turn.role.value,
            text=turn.full_text(), tokens=one.tokens, score=one.score, reached_by=one.reached_by, facts=list(one.facts),
        )  # fmt: skip


class StepOut(BaseModel):
    fact: str
    head: str
    relation: str
    tail: str
    forward: bool
    rule: str
    confidence: float

    @classmethod
    def of(cls, step: Step) -> StepOut:
        return cls(
            fact=step.fact.id, head=step.head_name, relation=step.fact.relation, tail=step.tail_name,
            forward=step.forward, rule=step.rule, confidence=step.confidence,
        )  # fmt: skip


class PathOut(BaseModel):
    """A beam that survived, with its three scores."""

    root: str
    root_name: str
    intent: str
    steps: list[StepOut]
    relevance: float
    coherence: float
    sufficiency: float

    @classmethod
    def of(cls, path: Path) -> PathOut:
        return cls(
            root=path.root, root_name=path.root_name, intent=path.intent.value,
            steps=[StepOut.of(step) for step in path.steps],
            relevance=path.relevance, coherence=path.coherence, sufficiency=path.sufficiency,
        )  # fmt: skip


class EvidenceOut(BaseModel):
    """`answerability`: the calibrated probability that the memory holds the answer; `text`: all of it for a prompt."""

    subgraph: SubgraphOut
    text: str
    turns: list[EvidenceTurnOut]
    paths: list[PathOut]
    answerability: float
    reference_time: str
    usage: dict[str, float]
    trace: list[dict[str, Any]] | None = None

    @classmethod
    def of(cls, evidence: Evidence) -> EvidenceOut:
        return cls(
            subgraph=SubgraphOut.of(evidence.facts),
            text=prompt_text(evidence, evidence.question.token_budget),
            turns=[EvidenceTurnOut.of(turn) for turn in evidence.turns],
            paths=[PathOut.of(path) for path in evidence.paths],
            answerability=evidence.answerability,
            reference_time=isoformat(evidence.reference_time),
            usage=dict(evidence.usage),
            trace=[dict(one) for one in evidence.trace] if evidence.question.explain else None,
        )
