"""What callers are sent. Times are RFC 3339 in UTC with Z; heads and tails are names, their ids beside them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from memgraph_server.actions.inputs import date_text
from memgraph_server.actions.store_turns import Accepted
from memgraph_server.memory.facts import Assertion, Entity
from memgraph_server.memory.interval import Instant, isoformat
from memgraph_server.memory.turns import Turn
from memgraph_server.stores.port import AssertionView, Cost, FactView, Job, TurnStatus


def time_text(at: Instant | None) -> str | None:
    return isoformat(at) if at is not None else None


class CostOut(BaseModel):
    """What a language model took to read turns: calls that it answered, and their tokens; 0 where none reads. Replies
    that were remembered from before, and tries that failed, are not in it."""

    model_calls: int
    model_prompt_tokens: int
    model_completion_tokens: int

    @classmethod
    def of(cls, cost: Cost) -> CostOut:
        return cls(
            model_calls=cost.calls,
            model_prompt_tokens=cost.prompt_tokens,
            model_completion_tokens=cost.completion_tokens,
        )


class JobOut(BaseModel):
    """`state`: pending until every turn is done or dead; then done, or failed where one is dead (`reasons` by turn).
    `usage`: of its turns together."""

    id: str
    state: str
    total: int
    done: int
    dead: int
    pending: int
    created_at: str
    reasons: dict[str, str]
    usage: CostOut

    @classmethod
    def of(cls, job: Job) -> JobOut:
        state = "pending" if job.pending else "failed" if job.dead else "done"
        return cls(
            id=job.id, state=state, total=job.total, done=job.done, dead=job.dead, pending=job.pending,
            created_at=isoformat(job.created_at), reasons=dict(job.reasons), usage=CostOut.of(job.cost),
        )  # fmt: skip


class StoredOut(BaseModel):
    """`turns`: ids in the order sent; `new` were stored by this call, `known` were there already."""

    job: JobOut
    turns: list[str]
    new: list[str]
    known: list[str]

    @classmethod
    def of(cls, accepted: Accepted, job: Job) -> StoredOut:
        """`job`: as it is by now, after waiting."""
        new, known = list(accepted.new), list(accepted.known)
        return cls(job=JobOut.of(job), turns=list(accepted.ids), new=new, known=known)


class AttachmentOut(BaseModel):
    caption: str


class TurnOut(BaseModel):
    id: str
    session_id: str
    position: int
    role: str
    speaker: str
    text: str
    at: str
    utc_offset_minutes: int
    attachments: list[AttachmentOut]

    @classmethod
    def of(cls, turn: Turn) -> TurnOut:
        return cls(
            id=turn.id, session_id=turn.session_id, position=turn.position, role=turn.role.value, speaker=turn.speaker,
            text=turn.text, at=isoformat(turn.at), utc_offset_minutes=turn.utc_offset_minutes,
            attachments=[AttachmentOut(caption=caption) for caption in turn.captions],
        )  # fmt: skip


class TurnDetailOut(TurnOut):
    """With how far its reading is: pending, done or dead (and why), and what that cost."""

    state: str
    attempts: int
    reason: str | None
    recorded_at: str
    usage: CostOut

    @classmethod
    def with_status(cls, turn: Turn, status: TurnStatus) -> TurnDetailOut:
        return cls(
            **TurnOut.of(turn).model_dump(),
            state=status.state.value,
            attempts=status.attempts,
            reason=status.reason,
            recorded_at=isoformat(status.recorded_at),
            usage=CostOut.of(status.cost),
        )


class FetchedOut(BaseModel):
    """The turns that exist, in the order asked, and the ids that do not."""

    turns: list[TurnOut]
    missing: list[str]


class EntityOut(BaseModel):
    id: str
    name: str
    type: str
    aliases: list[str]
    merged_into: str | None

    @classmethod
    def of(cls, entity: Entity) -> EntityOut:
        return cls(
            id=entity.id, name=entity.name, type=entity.type, aliases=list(entity.aliases),
            merged_into=entity.merged_into,
        )  # fmt: skip


class EntitiesOut(BaseModel):
    entities: list[EntityOut]
    next_cursor: str | None


class FactOut(BaseModel):
    """A believed edge; `supports` are assertion ids, `turns` turn ids, oldest first."""

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
    supports: list[str]
    turns: list[str]
    head_id: str
    tail_id: str

    @classmethod
    def of(cls, view: FactView) -> FactOut:
        fact = view.fact
        return cls(
            id=fact.id, head=view.head_name, relation=fact.relation, tail=view.tail_name,
            valid_from=isoformat(fact.valid_from), valid_to=time_text(fact.valid_to),
            recorded_from=isoformat(fact.recorded_from), recorded_to=time_text(fact.recorded_to),
            confidence=fact.confidence, stratum=fact.stratum.value, intent=fact.intent.value,
            supports=list(view.supports), turns=list(view.turns), head_id=fact.head, tail_id=fact.tail,
        )  # fmt: skip


class FactsOut(BaseModel):
    facts: list[FactOut]
    next_cursor: str | None


class AssertionOut(BaseModel):
    """A claim as it was made: dates are as coarse as they were said; `withdrawn_at` where it was retracted."""

    id: str
    head: str
    relation: str
    tail: str | None
    valid_from: str
    valid_to: str | None
    confidence: float
    intent: str
    polarity: str
    ongoing: bool
    evidence_at: str
    turn_id: str | None
    recorded_at: str
    from_precision: str
    to_precision: str
    from_basis: str
    to_basis: str
    source: str
    span: list[int] | None
    withdrawn_at: str | None
    withdrawn_because: str | None
    head_id: str
    tail_id: str | None

    @classmethod
    def of(cls, view: AssertionView) -> AssertionOut:
        one = view.assertion
        return cls(
            id=one.id, head=view.head_name, relation=one.relation, tail=view.tail_name,
            **_dates(one), confidence=one.confidence, intent=one.intent.value, polarity=one.polarity.value,
            ongoing=one.ongoing, turn_id=one.turn_id, recorded_at=isoformat(one.recorded_at), source=one.source,
            span=list(one.span) if one.span else None, withdrawn_at=time_text(view.withdrawn_at),
            withdrawn_because=view.withdrawn_because, head_id=one.head, tail_id=one.tail,
        )  # fmt: skip


def _dates(one: Assertion) -> dict[str, Any]:
    return {
        "valid_from": date_text(one.valid_from, one.from_precision),
        "valid_to": date_text(one.valid_to, one.to_precision) if one.valid_to is not None else None,
        "evidence_at": isoformat(one.evidence_at),
        "from_precision": one.from_precision.value,
        "to_precision": one.to_precision.value,
        "from_basis": one.from_basis.value,
        "to_basis": one.to_basis.value,
    }


class AssertedOut(BaseModel):
    """Assertion ids, in the order sent."""

    ids: list[str]


class RetractedOut(BaseModel):
    """The assertions that were withdrawn."""

    ids: list[str]


class FactHistoryOut(BaseModel):
    """The current version (null where it is no longer believed), every version, and all that is behind them."""

    fact: FactOut | None
    versions: list[FactOut]
    assertions: list[AssertionOut]
    turns: list[TurnOut]


class ReceiptOut(BaseModel):
    """What an erasure removed, by kind."""

    namespace: str
    erased_at: str
    removed: dict[str, int]


class ImportedOut(BaseModel):
    """`new` is false where the very same content was there already. `counts`: records of the namespace, by kind."""

    namespace: str
    new: bool
    counts: dict[str, int]


class ReadinessOut(BaseModel):
    """`ready` only where the store and the broker answer, a worker lives, the models are loaded and API keys, where
    there are some, can be read; with `?for=requests`, whatever worker and broker do."""

    ready: bool
    store: str
    broker: str
    workers: str
    model: str
    pending: int | None
    oldest_pending_seconds: float | None
    dead: int | None
    language_model: str
    workers_answering: int | None
    keys: str


class HealthOut(BaseModel):
    status: str
    version: str


class ProblemOut(BaseModel):
    """RFC 9457. `fault`: caller, store, model or server; `field`: the input that has to change."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    fault: str
    retry: bool
    field: str | None = None
