"""Entities: who and what is known, and which names are one; and the end of a namespace."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from memgraph_server.actions import corrections, inputs
from memgraph_server.api.answers import EntitiesOut, EntityOut, ReceiptOut
from memgraph_server.api.dependencies import Cursor, Has, Operable, PageSize, Readable, Writable
from memgraph_server.api.payloads import MergeIn
from memgraph_server.memory.interval import isoformat
from memgraph_server.wiring import clock

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["entities"])


@router.get("/entities", summary="Entities, page by page")
def get_entities(
    ns: Readable,
    services: Has,
    like: Annotated[str | None, Query(description="only names or aliases that contain this")] = None,
    limit: PageSize = 100,
    cursor: Cursor = None,
) -> EntitiesOut:
    wanted = inputs.name(like, "like") if like else None
    found, after = services.store.entities(ns, limit=limit, cursor=cursor, like=wanted)
    return EntitiesOut(entities=[EntityOut.of(entity) for entity in found], next_cursor=after)


@router.get("/entities/{entity_id}", summary="One entity")
def get_entity(ns: Readable, entity_id: str, services: Has) -> EntityOut:
    return EntityOut.of(services.store.entity(ns, inputs.identifier(entity_id, "entity")))


@router.post("/entities/{entity_id}/merge", summary="Let another entity stand for this one; can be undone")
def merge(ns: Writable, entity_id: str, body: MergeIn, services: Has) -> EntityOut:
    """The entity that stands for both. Facts are derived again; none is lost."""
    identifier = inputs.identifier(entity_id, "entity")
    return EntityOut.of(corrections.merge(services.store, ns, identifier, body.into, now=clock()))


@router.post("/entities/{entity_id}/unmerge", summary="Undo a merge")
def unmerge(ns: Writable, entity_id: str, services: Has) -> EntityOut:
    identifier = inputs.identifier(entity_id, "entity")
    return EntityOut.of(corrections.unmerge(services.store, ns, identifier, now=clock()))


@router.delete("", summary="Erase a namespace: everything, for good")
def erase(ns: Operable, services: Has) -> ReceiptOut:
    """Turns, assertions, facts, vectors and index entries; the receipt counts what was removed."""
    now = clock()
    removed = dict(corrections.erase(services.store, ns, now=now))
    services.forget_answers()
    return ReceiptOut(namespace=ns, erased_at=isoformat(now), removed=removed)
