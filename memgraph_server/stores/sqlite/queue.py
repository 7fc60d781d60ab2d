"""The queue: stored turns that are still to be read. A message to a worker is only a hint; this is the truth.

Rules:
- turns of a session are read in order: a session is due when its first pending turn is, so that a turn waiting for a
  retry holds back the ones behind it; a DEAD turn is no longer pending and holds back nobody;
- a lease lends one session to one worker until it expires; a worker at work renews it, and one that died gives it back
  by time alone, and whoever lends it next is told;
- a lease is lost only when the session was lent again, so a slow worker that nobody replaced may still finish;
- what a worker brings is taken once: only for a PENDING turn, checked in the transaction that writes it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from memgraph_server.errors import NotFound
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.turns import TurnState
from memgraph_server.stores.port import CONTEXT, Applied, Cost, Lease, Readiness, TurnStatus
from memgraph_server.stores.sqlite import turns

_STATUS = "t.id, r.state, r.attempts, r.reason, t.recorded_at, t.handle, r.calls, r.prompt_tokens, r.completion_tokens"
_FROM = "reading r JOIN turn t ON t.handle = r.turn"
#: A session is due when its first pending turn is. Which sessions: a WHERE behind it.
SET_DUE = """
    UPDATE session SET due_at = (
        SELECT r.due_at FROM reading r
        WHERE r.namespace = session.namespace AND r.session = session.handle AND r.state = 'pending'
        ORDER BY r.position LIMIT 1)"""


def due(connection: sqlite3.Connection, now: Instant, of: tuple[str, str] | None) -> tuple[Any, ...] | None:
    """The session that could be lent now: `of` (namespace, id) or none; None: the one that has waited longest."""
    which = "" if of is None else "AND n.name = ? AND s.id = ?"
    query = f"""
        SELECT s.handle, s.namespace, n.name, s.id, s.leases, s.lease_token IS NOT NULL
        FROM session s JOIN namespace n ON n.id = s.namespace
        WHERE s.due_at <= ? AND (s.lease_until IS NULL OR s.lease_until <= ?) {which}
        ORDER BY s.due_at, s.handle LIMIT 1"""  # noqa: S608  constants only
    row: tuple[Any, ...] | None = connection.execute(query, (now, now, *(of or ()))).fetchone()
    return row


def lease(
    connection: sqlite3.Connection,
    worker: str,
    *,
    now: Instant,
    seconds: float,
    limit: int,
    of: tuple[str, str] | None,
) -> Lease | None:
    row = due(connection, now, of)
    if row is None:
        return None
    session, namespace, name, session_id, leases, lost = row
    token, until = f"{session}.{leases + 1}.{worker}", now + round(seconds * 1_000_000)
    query = "UPDATE session SET leases = leases + 1, lease_token = ?, lease_until = ? WHERE handle = ?"
    connection.execute(query, (token, until, session))
    due_turns = _due_turns(connection, namespace, session, now, limit)
    lent = turns.fetch(connection, namespace, [turn_id for turn_id, _ in due_turns])
    before = turns.previous(connection, namespace, lent[0].id, CONTEXT) if lent else []
    speakers = turns.speakers(connection, namespace, session_id)
    tries = due_turns[0][1] if due_turns else 0
    return Lease(name, session_id, token, until, tuple(lent), tries, tuple(before), tuple(speakers), bool(lost))


def _due_turns(
    connection: sqlite3.Connection, namespace: int, session: int, now: Instant, limit: int
) -> list[tuple[str, int]]:
    """The session's pending turns in order, with their failed attempts, up to the first that is not due."""
    query = f"""
        SELECT t.id, r.attempts, r.due_at FROM {_FROM} WHERE r.namespace = ? AND r.session = ? AND r.state = 'pending'
        ORDER BY r.position LIMIT ?"""  # noqa: S608  constants only
    found: list[tuple[str, int]] = []
    for turn_id, attempts, due_at in connection.execute(query, (namespace, session, limit)):
        if due_at > now:
            break
        found.append((turn_id, attempts))
    return found


def renew(connection: sqlite3.Connection, lease: Lease, until: Instant) -> bool:
    """Whether the lease is still held; it then lasts until `until`."""
    query = """
        UPDATE session SET lease_until = ?
        WHERE namespace = (SELECT id FROM namespace WHERE name = ?) AND id = ? AND lease_token = ?"""
    return connection.execute(query, (until, lease.namespace, lease.session_id, lease.token)).rowcount == 1


def release(connection: sqlite3.Connection, token: str, namespace: str, session_id: str) -> None:
    query = """
        UPDATE session SET lease_token = NULL, lease_until = NULL
        WHERE namespace = (SELECT id FROM namespace WHERE name = ?) AND id = ? AND lease_token = ?"""
    connection.execute(query, (namespace, session_id, token))


def pending_turn(connection: sqlite3.Connection, namespace: int, turn_id: str, token: str | None) -> int | None:
    """The handle of a turn whose outcome may be written now; None where it was read already or the lease is lost."""
    query = f"""
        SELECT t.handle, r.state, s.lease_token FROM {_FROM} JOIN session s ON s.handle = t.session
        WHERE t.namespace = ? AND t.id = ?"""  # noqa: S608  constants only
    row = connection.execute(query, (namespace, turn_id)).fetchone()
    if row is None:
        raise NotFound(f"there is no turn {turn_id!r}")
    handle, state, holder = row
    if state != TurnState.PENDING or (token is not None and token != holder):
        return None
    return int(handle)


def finish(connection: sqlite3.Connection, turn: int, token: str | None, cost: Cost) -> Applied:
    """The turn is done, at that cost; the lease under `token` is given back where that was the last of its session."""
    query = """
        UPDATE reading SET state = 'done', attempts = attempts + 1, reason = NULL, calls = ?, prompt_tokens = ?,
            completion_tokens = ? WHERE turn = ?"""
    connection.execute(query, (cost.calls, cost.prompt_tokens, cost.completion_tokens, turn))
    session, due_at = _set_due(connection, turn)
    if due_at is not None or token is None:
        return Applied.MORE
    query = "UPDATE session SET lease_token = NULL, lease_until = NULL WHERE handle = ? AND lease_token = ?"
    return Applied.LAST if connection.execute(query, (session, token)).rowcount == 1 else Applied.MORE


def fail(
    connection: sqlite3.Connection, namespace: int, turn_id: str, *, reason: str, final: bool, retry_at: Instant
) -> None:
    """One more attempt failed; a turn that is DONE or DEAD already stays so."""
    query = "SELECT handle FROM turn WHERE namespace = ? AND id = ?"
    row = connection.execute(query, (namespace, turn_id)).fetchone()
    if row is None:
        raise NotFound(f"there is no turn {turn_id!r}")
    query = """
        UPDATE reading SET state = ?, attempts = attempts + 1, reason = ?, due_at = ?
        WHERE turn = ? AND state = 'pending'"""
    state = TurnState.DEAD if final else TurnState.PENDING
    connection.execute(query, (state.value, reason, retry_at, row[0]))
    _set_due(connection, row[0])


def replay(connection: sqlite3.Connection, namespace: int, turn_ids: Sequence[str] | None, now: Instant) -> int:
    query = f"SELECT r.turn FROM {_FROM} WHERE r.namespace = ? AND r.state = 'dead'"  # noqa: S608  constants only
    values: tuple[object, ...] = (namespace,)
    if turn_ids is not None:
        query += " AND t.id IN (SELECT value FROM json_each(?))"
        values = (namespace, json.dumps(list(turn_ids)))
    dead = [turn for (turn,) in connection.execute(query, values)]
    again = "UPDATE reading SET state = 'pending', attempts = 0, due_at = ? WHERE turn = ?"
    connection.executemany(again, ((now, turn) for turn in dead))
    for turn in dead:
        _set_due(connection, turn)
    return len(dead)


def _set_due(connection: sqlite3.Connection, turn: int) -> tuple[int, Instant | None]:
    """The turn's session, and when it is due from now on."""
    where = "WHERE handle = (SELECT session FROM reading WHERE turn = ?) RETURNING handle, due_at"
    row: tuple[int, Instant | None] = connection.execute(f"{SET_DUE} {where}", (turn,)).fetchone()
    return row


def status(connection: sqlite3.Connection, namespace: int, turn_id: str) -> TurnStatus:
    query = f"SELECT {_STATUS} FROM {_FROM} WHERE t.namespace = ? AND t.id = ?"  # noqa: S608  constants only
    row = connection.execute(query, (namespace, turn_id)).fetchone()
    if row is None:
        raise NotFound(f"there is no turn {turn_id!r}")
    return _status(row)


def dead_turns(
    connection: sqlite3.Connection, namespace: int, limit: int, after: int
) -> tuple[list[TurnStatus], int | None]:
    """In order of arrival; the second value is where to go on, if there is more."""
    query = f"""
        SELECT {_STATUS} FROM {_FROM} WHERE r.namespace = ? AND r.state = 'dead' AND r.turn > ?
        ORDER BY r.turn LIMIT ?"""  # noqa: S608  constants only
    rows = connection.execute(query, (namespace, after, limit + 1)).fetchall()
    last = rows[limit - 1][5] if len(rows) > limit > 0 else None
    return [_status(row) for row in rows[:limit]], last


def _status(row: tuple[Any, ...]) -> TurnStatus:
    turn_id, state, attempts, reason, recorded_at, _, *cost = row
    return TurnStatus(turn_id, TurnState(state), attempts, reason, recorded_at, Cost(*cost))


def readiness(connection: sqlite3.Connection, namespace: int | None, embedder: str | None, version: int) -> Readiness:
    """Of one namespace, or of all of them (None)."""
    where, values = ("r.namespace = ?", (namespace,)) if namespace is not None else ("1", ())
    query = f"""
        SELECT count(*), min(t.recorded_at) FROM {_FROM}
        WHERE {where} AND r.state = 'pending'"""  # noqa: S608  constants only
    pending, oldest = connection.execute(query, values).fetchone()
    query = f"SELECT count(*) FROM reading r WHERE {where} AND r.state = 'dead'"  # noqa: S608  constants only
    dead = connection.execute(query, values).fetchone()[0]
    return Readiness(pending, oldest, dead, version, embedder)
