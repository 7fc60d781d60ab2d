"""Turns in, and their originals out."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool

from memgraph_server.actions import inputs
from memgraph_server.actions.store_turns import store_turns
from memgraph_server.api.answers import FetchedOut, JobOut, StoredOut, TurnDetailOut, TurnOut
from memgraph_server.api.dependencies import Has, IdempotencyKey, Readable, Works, Writable
from memgraph_server.api.payloads import IdsIn, TurnsIn
from memgraph_server.errors import InvalidInput, NotFound, TooLarge
from memgraph_server.stores.port import Job
from memgraph_server.wiring import Services, clock, new_id

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["turns"])

#: While a caller waits, its job is looked at this often; the first looks are quick, for a single turn.
_LOOKS = (0.01, 0.02, 0.03, 0.05)


@router.post("/turns", status_code=202, summary="Store turns; their facts are read from them afterwards")
async def post_turns(
    ns: Writable,
    body: TurnsIn,
    services: Has,
    readers: Works,
    *,
    idempotency_key: IdempotencyKey = None,
    wait: Annotated[float, Query(ge=0, le=300, description="seconds to wait for the facts")] = 0.0,
) -> StoredOut:
    """The turns are on disk when this answers. Idempotent by turn id, or as a whole by Idempotency-Key."""
    given = [turn.given() for turn in body.turns]
    stored = await run_in_threadpool(
        store_turns, services.store, ns, body.session_id, given, now=clock(), new_id=new_id, key=idempotency_key,
        max_pending=services.settings.max_pending,
    )  # fmt: skip
    readers.wake(ns, body.session_id)
    job = await _finished(services, ns, stored.job, wait) if wait > 0 else stored.job
    return StoredOut.of(stored, job)


async def _finished(services: Services, namespace: str, job: Job, wait: float) -> Job:
    """The job when it has no pending turns any more, or when the time is up."""
    until = asyncio.get_running_loop().time() + wait
    looks = 0
    while job.pending and (left := until - asyncio.get_running_loop().time()) > 0:
        await asyncio.sleep(min(left, _LOOKS[min(looks, len(_LOOKS) - 1)]))
        looks += 1
        job = await run_in_threadpool(services.store.job, namespace, job.id)
    return job


@router.get("/jobs/{job_id}", summary="How far the reading of a call's turns is")
def get_job(ns: Readable, job_id: str, services: Has) -> JobOut:
    return JobOut.of(services.store.job(ns, inputs.identifier(job_id, "job")))


@router.get("/turns/{turn_id}", summary="One turn as it was sent, and its state")
def get_turn(ns: Readable, turn_id: str, services: Has) -> TurnDetailOut:
    turns = services.store.turns(ns, [inputs.identifier(turn_id, "turn")])
    if not turns:
        raise NotFound("no turn of this namespace has this id", field="turn")
    return TurnDetailOut.with_status(turns[0], services.store.turn_status(ns, turn_id))


@router.post("/turns/fetch", summary="Originals by id, each once, in the order asked")
def fetch_turns(ns: Readable, body: IdsIn, services: Has) -> FetchedOut:
    if not body.ids:
        raise InvalidInput("ids must have at least one id", field="ids")
    if len(body.ids) > inputs.MAX_IDS:
        raise TooLarge(f"at most {inputs.MAX_IDS} ids are taken in one call", field="ids")
    asked = list(dict.fromkeys(inputs.identifier(turn_id, f"ids.{index}") for index, turn_id in enumerate(body.ids)))
    turns = services.store.turns(ns, asked)
    found = {turn.id for turn in turns}
    return FetchedOut(turns=[TurnOut.of(turn) for turn in turns], missing=[one for one in asked if one not in found])
