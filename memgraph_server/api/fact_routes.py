"""Claims in; facts, their history and their timelines out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from memgraph_server.actions import assert_facts, corrections, inputs, read_facts
from memgraph_server.actions.read_facts import Filters
from memgraph_server.api.answers import (
    AssertedOut,
    AssertionOut,
    FactHistoryOut,
    FactOut,
    FactsOut,
    RetractedOut,
    TurnOut,
)
from memgraph_server.api.dependencies import Cursor, Has, PageSize, Readable, Works, Writable
from memgraph_server.api.payloads import AssertionsIn, ReasonIn
from memgraph_server.errors import InvalidInput
from memgraph_server.stores.port import Timeline
from memgraph_server.wiring import clock

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["facts"])

#: A timeline comes whole, up to here; what is more has a cursor.
TIMELINE = 10_000

Relation = Annotated[str | None, Query(description="a relation's name")]
ValidAt = Annotated[str | None, Query(description="only what holds then; RFC 3339, or a day, month or year in UTC")]
KnownAt = Annotated[str | None, Query(description="as it was believed then; as valid_at")]


@router.get("/timeline", summary="What is believed about one entity, by relation and start")
def get_timeline(
    ns: Readable,
    services: Has,
    *,
    name: Annotated[str | None, Query(description="a name or an alias")] = None,
    entity: Annotated[str | None, Query(description="an entity's id, instead of its name")] = None,
    relation: Relation = None,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    limit: Annotated[int, Query(ge=1, le=TIMELINE)] = TIMELINE,
    cursor: Cursor = None,
) -> FactsOut:
    """A name that nobody has used has no facts; an id that nobody has is not found."""
    if name is None and entity is None:
        raise InvalidInput("say whose timeline: name=… or entity=…", field="name")
    filters = Filters(entity_id=entity, name=name, relation=relation, valid_at=valid_at, known_at=known_at)
    return _facts_out(
        read_facts.facts(
            services.store, ns, filters, canonical=services.relations.canonical, limit=limit, cursor=cursor
        )
    )


@router.get("/facts", summary="Facts, page by page")
def get_facts(
    ns: Readable,
    services: Has,
    *,
    name: Annotated[str | None, Query(description="of this head, by name")] = None,
    entity: Annotated[str | None, Query(description="of this head, by id")] = None,
    relation: Relation = None,
    tail: Annotated[str | None, Query(description="with this tail, by name")] = None,
    tail_entity: Annotated[str | None, Query(description="with this tail, by id")] = None,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    minimum_confidence: Annotated[float, Query(ge=0, le=1)] = 0.0,
    limit: PageSize = 100,
    cursor: Cursor = None,
) -> FactsOut:
    filters = Filters(entity, name, relation, tail_entity, tail, valid_at, known_at, minimum_confidence)
    return _facts_out(
        read_facts.facts(
            services.store, ns, filters, canonical=services.relations.canonical, limit=limit, cursor=cursor
        )
    )


def _facts_out(timeline: Timeline) -> FactsOut:
    return FactsOut(facts=[FactOut.of(view) for view in timeline.facts], next_cursor=timeline.next_cursor)


@router.get("/facts/{fact_id}", summary="One fact: every version, every claim behind it, and the turns that say so")
def get_fact(ns: Readable, fact_id: str, services: Has) -> FactHistoryOut:
    history = read_facts.fact_history(services.store, ns, fact_id)
    versions = [FactOut.of(view) for view in history.versions]
    return FactHistoryOut(
        fact=next((one for one in reversed(versions) if one.recorded_to is None and one.id == fact_id), None),
        versions=versions,
        assertions=[AssertionOut.of(view) for view in history.assertions],
        turns=[TurnOut.of(turn) for turn in history.turns],
    )


@router.post("/facts/{fact_id}/retract", summary="Withdraw every claim that supports a fact")
def retract_fact(ns: Writable, fact_id: str, services: Has, body: ReasonIn | None = None) -> RetractedOut:
    """As of now: what was believed before can still be read."""
    identifier, reason = inputs.identifier(fact_id, "fact"), body.reason if body else ""
    return RetractedOut(ids=corrections.retract_fact(services.store, ns, identifier, reason=reason, now=clock()))


@router.post("/assertions", summary="Assert facts without a model")
def post_assertions(ns: Writable, body: AssertionsIn, services: Has, readers: Works) -> AssertedOut:
    """All of them or none; an id known with the same content is the same claim."""
    given, embedder = [one.given() for one in body.assertions], services.embedder_if_ready()
    ids = assert_facts.assert_facts(
        services.store, ns, given, canonical=services.relations.canonical, embedder=embedder, now=clock()
    )
    if embedder is None or len(given) > assert_facts.EMBEDDED_AT_ONCE:
        readers.embed_missing()
    return AssertedOut(ids=ids)


@router.get("/assertions/{assertion_id}", summary="One claim as it was made")
def get_assertion(ns: Readable, assertion_id: str, services: Has) -> AssertionOut:
    return AssertionOut.of(services.store.assertion(ns, inputs.identifier(assertion_id, "assertion")))


@router.post("/assertions/{assertion_id}/retract", summary="Withdraw one claim")
def retract_assertion(ns: Writable, assertion_id: str, services: Has, body: ReasonIn | None = None) -> AssertionOut:
    """As of now; a second time changes nothing."""
    identifier, reason = inputs.identifier(assertion_id, "assertion"), body.reason if body else ""
    view = corrections.retract_assertion(services.store, ns, identifier, reason=reason, now=clock())
    return AssertionOut.of(view)
