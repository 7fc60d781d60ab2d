"""Turns: stored verbatim, indexed for search in the same transaction, never changed (schema/sqlite/0001, 0002).

Idempotent by id: a turn known with the same content is counted as known, one with other content is a Conflict and
nothing of the call is stored; twins within one call count alike. What counts as content is said in
stores/prepared.py.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memgraph_server.errors import Conflict, NotFound
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.stores.port import Cost, Job, StoredTurns
from memgraph_server.stores.prepared import Prepared, content
from memgraph_server.stores.sqlite import namespaces

_COLUMNS = "t.id, s.id, t.role, t.speaker, t.text, t.at, t.utc_offset_minutes, t.captions, t.position"
_FROM = "turn t JOIN session s ON s.handle = t.session"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A new turn with its place in the tables."""

    prepared: Prepared
    handle: int
    ordinal: int
    session: int
    position: int

    @property
    def turn(self) -> Turn:
        return self.prepared.turn


def append(
    connection: sqlite3.Connection,
    namespace: int,
    given: Sequence[Prepared],
    *,
    job_id: str,
    now: Instant,
    key: str | None,
) -> StoredTurns:
    answered = _answered(connection, namespace, key)
    if answered is not None:
        return answered
    turns = [prepared.turn for prepared in given]
    known = _known(connection, namespace, turns)
    fresh = _fresh(given, known)
    stamp = namespaces.stamp(connection, namespace, now)
    arriving = arrivals(connection, namespace, fresh)
    write_turns(connection, namespace, arriving, [stamp] * len(arriving))
    write_postings(connection, namespace, arriving)
    note_sessions(connection, namespace, arriving, stamp)
    handles = known | {arrival.turn.id: arrival.handle for arrival in arriving}
    members = [handles[turn.id] for turn in turns]
    begun = _write_job(connection, namespace, job_id, key=key, members=members, stamp=stamp)
    new = {arrival.turn.id for arrival in arriving}
    pending = Job(job_id, len(arriving), 0, 0, stamp, {})
    return StoredTurns(
        pending if begun and len(new) == len(turns) else job(connection, namespace, job_id),
        tuple(prepared.turn.id for prepared in fresh),
        tuple(dict.fromkeys(turn.id for turn in turns if turn.id not in new)),
    )


def _answered(connection: sqlite3.Connection, namespace: int, key: str | None) -> StoredTurns | None:
    """What the call with this idempotency key stored, if there was one."""
    if key is None:
        return None
    query = "SELECT id FROM job WHERE namespace = ? AND key = ?"
    row = connection.execute(query, (namespace, key)).fetchone()
    if row is None:
        return None
    return StoredTurns(job(connection, namespace, row[0]), (), tuple(_job_turns(connection, namespace, row[0])))


def _job_turns(connection: sqlite3.Connection, namespace: int, job_id: str) -> list[str]:
    query = """
        SELECT t.id FROM job j JOIN job_turn m ON m.namespace = j.namespace AND m.job = j.handle
        JOIN turn t ON t.handle = m.turn WHERE j.namespace = ? AND j.id = ? ORDER BY m.ordinal"""
    return list(dict.fromkeys(turn_id for (turn_id,) in connection.execute(query, (namespace, job_id))))


def _known(connection: sqlite3.Connection, namespace: int, turns: Sequence[Turn]) -> dict[str, int]:
    """Handles of the turns that are stored already; Conflict where one of them has other content."""
    stored = {turn.id: turn for turn in fetch(connection, namespace, [turn.id for turn in turns])}
    for turn in turns:
        if turn.id in stored and content(stored[turn.id]) != content(turn):
            raise Conflict(f"turn {turn.id!r} is stored already with other content", field="id")
    return handles(connection, namespace, list(stored)) if stored else {}


def _fresh(given: Sequence[Prepared], known: dict[str, int]) -> list[Prepared]:
    fresh: dict[str, Prepared] = {}
    for prepared in given:
        turn = prepared.turn
        if turn.id in known:
            continue
        if turn.id in fresh and content(fresh[turn.id].turn) != content(turn):
            raise Conflict(f"turn {turn.id!r} comes twice in one call with different content", field="id")
        fresh.setdefault(turn.id, prepared)
    return list(fresh.values())


def arrivals(connection: sqlite3.Connection, namespace: int, fresh: Sequence[Prepared]) -> list[Arrival]:
    """Places for new turns, which count in the namespace from now on."""
    sessions = _sessions(connection, namespace, {prepared.turn.session_id: None for prepared in fresh})
    words = sum(prepared.length for prepared in fresh)
    ordinal = namespaces.count_turns(connection, namespace, len(fresh), words)
    handle = namespaces.next_number(connection, "turn")
    placed = []
    for index, prepared in enumerate(fresh):
        session, position = sessions[prepared.turn.session_id]
        sessions[prepared.turn.session_id] = (session, position + 1)
        placed.append(Arrival(prepared, handle + index, ordinal + index, session, position))
    return placed


def _sessions(connection: sqlite3.Connection, namespace: int, ids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Handle and next position of each session, made where it is new."""
    found = {}
    for session_id in ids:
        query = """
            INSERT INTO session (namespace, id) VALUES (?, ?)
            ON CONFLICT (namespace, id) DO UPDATE SET turns = turns RETURNING handle, turns"""
        found[session_id] = connection.execute(query, (namespace, session_id)).fetchone()
    return found


def write_turns(
    connection: sqlite3.Connection, namespace: int, arrivals: Sequence[Arrival], recorded: Sequence[Instant]
) -> None:
    """`recorded`: when each was, in the same order."""
    connection.executemany(
        """
        INSERT INTO turn (handle, namespace, id, ordinal, session, position, role, speaker, at, utc_offset_minutes,
            recorded_at, length, characters, captions, text)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            (
                arrival.handle,
                namespace,
                arrival.turn.id,
                arrival.ordinal,
                arrival.session,
                arrival.position,
                arrival.turn.role.value,
                arrival.turn.speaker,
                arrival.turn.at,
                arrival.turn.utc_offset_minutes,
                recorded_at,
                arrival.prepared.length,
                arrival.prepared.characters,
                json.dumps(arrival.turn.captions, ensure_ascii=False) if arrival.turn.captions else "[]",
                arrival.turn.text,
            )
            for arrival, recorded_at in zip(arrivals, recorded, strict=True)
        ),
    )
    connection.executemany(
        "INSERT INTO reading (turn, namespace, session, position, state, due_at) VALUES (?, ?, ?, ?, 'pending', ?)",
        (
            (arrival.handle, namespace, arrival.session, arrival.position, recorded_at)
            for arrival, recorded_at in zip(arrivals, recorded, strict=True)
        ),
    )


def write_postings(connection: sqlite3.Connection, namespace: int, arrivals: Sequence[Arrival]) -> None:
    """In the order of the index, so that a large call fills its pages one after another."""
    counts = [(term, arrival.handle, n) for arrival in arrivals for term, n in arrival.prepared.counts.items()]
    connection.executemany(
        "INSERT INTO posting (namespace, term, turn, count) VALUES (?, ?, ?, ?)",
        ((namespace, *row) for row in sorted(counts)),
    )


def note_sessions(connection: sqlite3.Connection, namespace: int, arrivals: Sequence[Arrival], stamp: Instant) -> None:
    """Next positions, who speaks, and that the session has something due."""
    added = Counter(arrival.session for arrival in arrivals)
    connection.executemany(
        "UPDATE session SET turns = turns + ?, due_at = coalesce(due_at, ?) WHERE handle = ?",
        ((n, stamp, session) for session, n in added.items()),
    )
    speakers: dict[tuple[int, str], int] = {}
    for arrival in arrivals:
        if arrival.turn.speaker:
            speakers.setdefault((arrival.session, arrival.turn.speaker), arrival.position)
    connection.executemany(
        "INSERT OR IGNORE INTO speaker (namespace, session, name, position) VALUES (?, ?, ?, ?)",
        ((namespace, session, name, position) for (session, name), position in speakers.items()),
    )


def _write_job(
    connection: sqlite3.Connection,
    namespace: int,
    job_id: str,
    *,
    key: str | None,
    members: Sequence[int],
    stamp: Instant,
) -> bool:
    """Whether the job is new; one that is known is carried on: its members are added to."""
    query = (
        "INSERT INTO job (namespace, id, key, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (namespace, id) DO NOTHING"
    )
    cursor = connection.execute(query, (namespace, job_id, key, stamp))
    new, handle, start = cursor.rowcount == 1, cursor.lastrowid, 0
    if not new:
        query = "UPDATE job SET key = coalesce(key, ?) WHERE namespace = ? AND id = ? RETURNING handle"
        handle = connection.execute(query, (key, namespace, job_id)).fetchone()[0]
        query = "SELECT coalesce(max(ordinal) + 1, 0) FROM job_turn WHERE namespace = ? AND job = ?"
        start = connection.execute(query, (namespace, handle)).fetchone()[0]
    connection.executemany(
        "INSERT INTO job_turn (namespace, job, ordinal, turn) VALUES (?, ?, ?, ?)",
        ((namespace, handle, start + index, turn) for index, turn in enumerate(dict.fromkeys(members))),
    )
    return new


def job(connection: sqlite3.Connection, namespace: int, job_id: str) -> Job:
    query = "SELECT handle, created_at FROM job WHERE namespace = ? AND id = ?"
    row = connection.execute(query, (namespace, job_id)).fetchone()
    if row is None:
        raise NotFound(f"there is no job {job_id!r}")
    handle, created_at = row
    members = "job_turn m JOIN reading r ON r.turn = m.turn WHERE m.namespace = ? AND m.job = ?"
    query = """
        SELECT state, count(*), sum(calls), sum(prompt_tokens), sum(completion_tokens) FROM reading
        WHERE turn IN (SELECT turn FROM job_turn WHERE namespace = ? AND job = ?) GROUP BY state"""
    rows = connection.execute(query, (namespace, handle)).fetchall()
    states = {state: count for state, count, *_ in rows}
    cost = Cost(*(sum(row[place] for row in rows) for place in (2, 3, 4)))
    query = f"""
        SELECT t.id, r.reason FROM {members.replace("WHERE", "JOIN turn t ON t.handle = m.turn WHERE")}
        AND r.state = 'dead' ORDER BY m.ordinal"""  # noqa: S608  constants only
    reasons = dict(connection.execute(query, (namespace, handle))) if states.get("dead") else {}
    done, dead = states.get("done", 0), states.get("dead", 0)
    return Job(job_id, sum(states.values()), done, dead, created_at, reasons, cost)


def fetch(connection: sqlite3.Connection, namespace: int, turn_ids: Sequence[str]) -> list[Turn]:
    query = f"""
        SELECT {_COLUMNS} FROM json_each(?) wanted CROSS JOIN {_FROM}
        WHERE t.namespace = ? AND t.id = wanted.value ORDER BY wanted.key"""  # noqa: S608  constants only
    rows = connection.execute(query, (json.dumps(list(turn_ids)), namespace))
    return [_turn(row) for row in rows]


def previous(connection: sqlite3.Connection, namespace: int, turn_id: str, count: int) -> list[Turn]:
    session, position = _place(connection, namespace, turn_id)
    query = f"""
        SELECT {_COLUMNS} FROM {_FROM} WHERE t.namespace = ? AND t.session = ?
        AND t.position BETWEEN ? AND ? ORDER BY t.position"""  # noqa: S608  constants only
    rows = connection.execute(query, (namespace, session, position - count, position - 1))
    return [_turn(row) for row in rows]


def _place(connection: sqlite3.Connection, namespace: int, turn_id: str) -> tuple[int, int]:
    query = "SELECT session, position FROM turn WHERE namespace = ? AND id = ?"
    row: tuple[int, int] | None = connection.execute(query, (namespace, turn_id)).fetchone()
    if row is None:
        raise NotFound(f"there is no turn {turn_id!r}")
    return row


def speakers(connection: sqlite3.Connection, namespace: int, session_id: str) -> list[str]:
    query = """
        SELECT p.name FROM session s JOIN speaker p ON p.namespace = s.namespace AND p.session = s.handle
        WHERE s.namespace = ? AND s.id = ? ORDER BY p.position, p.name"""
    return [name for (name,) in connection.execute(query, (namespace, session_id))]


def handles(connection: sqlite3.Connection, namespace: int, turn_ids: Sequence[str]) -> dict[str, int]:
    query = """
        SELECT t.id, t.handle FROM json_each(?) wanted CROSS JOIN turn t
        WHERE t.namespace = ? AND t.id = wanted.value"""
    return dict(connection.execute(query, (json.dumps(list(turn_ids)), namespace)))


def _turn(row: tuple[str, str, str, str, str, int, int, str, int]) -> Turn:
    turn_id, session_id, role, speaker, text, at, offset, captions, position = row
    shared = tuple(json.loads(captions)) if captions != "[]" else ()
    return Turn(turn_id, session_id, Role(role), speaker, text, at, offset, shared, position)
