"""Turns arrive: checked, given ids, stored verbatim and committed. Reading them comes later (`read_turns.py`)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memgraph_server.actions import inputs
from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.errors import Conflict, InvalidInput, OverQuota, TooLarge
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.turns import Turn
from memgraph_server.stores.port import GraphStore, Job

_KEY = re.compile(r"[\x20-\x7e]{1,255}")


@dataclass(frozen=True, slots=True)
class Accepted:
    """Turn ids in the order sent; `new` of them were stored by this call, `known` were there already."""

    job: Job
    ids: tuple[str, ...]
    new: tuple[str, ...]
    known: tuple[str, ...]


def store_turns(
    store: GraphStore,
    namespace: str,
    session_id: str,
    given: Sequence[GivenTurn],
    *,
    now: Instant,
    new_id: Callable[[], str],
    key: str | None = None,
    max_pending: int | None = None,
) -> Accepted:
    """Store 1 to 10,000 turns of one session, in the order given; the job that reads them.

    Idempotent by turn id and, with `key`, as a whole: ids and the job's id are then made from the key and the content,
    so that a repeated call finds its own job, and the same key with other content is seen. Raises InvalidInput,
    TooLarge, OverQuota, Conflict.
    """
    inputs.namespace(namespace)
    inputs.identifier(session_id, "session_id")
    _check_count(given)
    _check_quota(store, namespace, len(given), max_pending)
    job_id = f"job-{new_id()}" if key is None else f"job-{_digest(_checked_key(key), session_id, *given)}"
    turns = _turns(session_id, given, new_id, key)
    stored = store.append_turns(namespace, turns, job_id=job_id, now=now, key=key)
    if key is not None and stored.job.id != job_id:
        raise Conflict("this Idempotency-Key came with other turns before", field="Idempotency-Key")
    return Accepted(stored.job, tuple(turn.id for turn in turns), stored.new, stored.known)


def _turns(session_id: str, given: Sequence[GivenTurn], new_id: Callable[[], str], key: str | None) -> list[Turn]:
    turns = []
    for index, turn in enumerate(given):
        turn_id = turn.id if turn.id is not None else new_id() if key is None else _digest(key, session_id, index)
        turns.append(inputs.turn_of(turn, id=turn_id, session_id=session_id, field=f"turns.{index}"))
    return turns


def _check_count(given: Sequence[GivenTurn]) -> None:
    if not given:
        raise InvalidInput("turns must have at least one turn", field="turns")
    if len(given) > inputs.MAX_TURNS:
        raise TooLarge(f"at most {inputs.MAX_TURNS} turns are taken in one call", field="turns")


def _check_quota(store: GraphStore, namespace: str, count: int, max_pending: int | None) -> None:
    """Backpressure: what waits to be read is bounded for each namespace, so that one cannot starve the others."""
    if max_pending is not None and store.readiness(namespace).pending + count > max_pending:
        raise OverQuota(f"more than {max_pending} turns of this namespace would wait to be read; send them later")


def _checked_key(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise InvalidInput("an Idempotency-Key has 1 to 255 visible ASCII characters", field="Idempotency-Key")
    return key


def _digest(*parts: object) -> str:
    """32 hexadecimal characters of SHA-256 over the parts, told apart by `repr`."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
