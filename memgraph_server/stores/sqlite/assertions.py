# ruff: noqa: S608  queries are put together from constants of this file; values are bound
"""Assertions: written once, placed under a key, and withdrawn (schema/sqlite/0004_beliefs.sql).

An assertion without an id gets one derived from all that it says, so that saying the very same thing again, about the
same time and from the same source, is once. Placing it writes the stakes that belief asks for; taking it out of its key
(a withdrawal, a merge) closes the placement and removes them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from memgraph_server.errors import NotFound
from memgraph_server.memory.facts import Assertion, Intent, Polarity
from memgraph_server.memory.interval import Basis, Instant, Precision
from memgraph_server.stores.identity import require_same
from memgraph_server.stores.port import AssertionView
from memgraph_server.stores.stakes import Placed, stakes_of

#: Columns that are a proposal's fields of the same name.
_SAID = (
    "relation",
    "valid_from",
    "valid_to",
    "evidence_at",
    "confidence",
    "intent",
    "polarity",
    "ongoing",
    "turn_id",
    "from_precision",
    "to_precision",
    "from_basis",
    "to_basis",
    "source",
)
_CONTENT = f"head, tail, span_start, span_end, {', '.join(_SAID)}"
_COLUMNS = f"namespace, id, recorded_at, {_CONTENT}"
_PLACES = ", ".join("?" * (7 + len(_SAID)))
_PLACED = """a.handle, a.id, p.head, p.relation, p.tail, a.valid_from, a.valid_to, a.evidence_at, a.confidence,
    a.polarity, a.ongoing"""


def write(
    connection: sqlite3.Connection, namespace: int, identifier: str, said: tuple[object, ...], stamp: Instant
) -> int | None:
    """The new assertion's handle; None where the same was known. `said`: its `content`. Raises Conflict."""
    query = f"""
        INSERT INTO assertion ({_COLUMNS}) VALUES ({_PLACES}) ON CONFLICT (namespace, id) DO NOTHING"""
    cursor = connection.execute(query, (namespace, identifier, stamp, *said))
    if cursor.rowcount == 1:
        return cursor.lastrowid
    query = f"SELECT {_CONTENT} FROM assertion WHERE namespace = ? AND id = ?"
    require_same(identifier, connection.execute(query, (namespace, identifier)).fetchone(), said)
    return None


def place(connection: sqlite3.Connection, namespace: int, placed: Placed, antonym: str | None, stamp: Instant) -> None:
    query = """
        INSERT INTO placement (namespace, assertion, head, relation, tail, recorded_from)
        VALUES (?, ?, ?, ?, ?, ?)"""
    row = (namespace, placed.assertion, placed.head, placed.relation, placed.tail, stamp)
    connection.execute(query, row)
    query = """
        INSERT INTO stake (namespace, head, relation, tail, kind, assertive, anchor, evidence_at, confidence, id,
            assertion, valid_from, valid_to, second_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
    for stake in stakes_of(placed, antonym):
        connection.execute(query, (namespace, *stake))


def displace(
    connection: sqlite3.Connection, namespace: int, placed: Placed, antonym: str | None, stamp: Instant
) -> None:
    """Take it out of its key as of now. A placement that nobody can have seen, made at this instant, goes."""
    where = "namespace = ? AND assertion = ? AND recorded_to IS NULL"
    values = (namespace, placed.assertion)
    connection.execute(f"DELETE FROM placement WHERE {where} AND recorded_from = ?", (*values, stamp))
    connection.execute(f"UPDATE placement SET recorded_to = ? WHERE {where}", (stamp, *values))
    connection.executemany(
        """
        DELETE FROM stake WHERE namespace = ? AND head = ? AND relation = ? AND tail = ? AND kind = ?
        AND assertive = ? AND anchor = ? AND evidence_at = ? AND confidence = ? AND id = ?""",
        ((namespace, *stake[:9]) for stake in stakes_of(placed, antonym)),
    )


def withdraw(connection: sqlite3.Connection, namespace: int, assertion: int, reason: str, stamp: Instant) -> bool:
    """Record the withdrawal; False where it was withdrawn before."""
    query = "INSERT OR IGNORE INTO withdrawal (namespace, assertion, reason, recorded_at) VALUES (?, ?, ?, ?)"
    return connection.execute(query, (namespace, assertion, reason, stamp)).rowcount == 1


def handle_of(connection: sqlite3.Connection, namespace: int, identifier: str) -> int:
    """Raises NotFound."""
    query = "SELECT handle FROM assertion WHERE namespace = ? AND id = ?"
    row = connection.execute(query, (namespace, identifier)).fetchone()
    if row is None:
        raise NotFound(f"there is no assertion {identifier!r}")
    return int(row[0])


def placed_now(connection: sqlite3.Connection, namespace: int, where: str, values: Iterable[object]) -> list[Placed]:
    """Assertions that count now, in order of arrival. `where`: a condition of this package on `p` (placement) or `a`
    (assertion)."""
    query = f"""
        SELECT {_PLACED} FROM placement p JOIN assertion a ON a.handle = p.assertion
        WHERE p.namespace = ? AND p.recorded_to IS NULL AND {where} ORDER BY p.assertion"""
    rows = connection.execute(query, (namespace, *values))
    return [_placed_row(row) for row in rows]


def _placed_row(row: tuple[Any, ...]) -> Placed:
    handle, identifier, head, relation, tail, start, end, evidence, confidence, polarity, ongoing = row
    return Placed(
        handle,
        identifier,
        head,
        relation,
        tail,
        start,
        end,
        evidence,
        confidence,
        polarity,
        bool(ongoing),
    )


def view(connection: sqlite3.Connection, namespace: int, identifier: str) -> AssertionView:
    query = f"""
        SELECT a.id, h.id, a.relation, t.id, a.recorded_at, a.span_start, a.span_end, h.name, t.name, w.recorded_at,
            w.reason, {", ".join(f"a.{name}" for name in _SAID[1:])}
        FROM assertion a JOIN entity h ON h.handle = a.head LEFT JOIN entity t ON t.handle = a.tail
        LEFT JOIN withdrawal w ON w.namespace = a.namespace AND w.assertion = a.handle
        WHERE a.namespace = ? AND a.id = ?"""
    row = connection.execute(query, (namespace, identifier)).fetchone()
    if row is None:
        raise NotFound(f"there is no assertion {identifier!r}")
    said = dict(zip(_SAID[1:], row[11:], strict=True))
    return AssertionView(_assertion(row, said), row[7], row[8], row[9], row[10])


def _assertion(row: tuple[Any, ...], said: dict[str, Any]) -> Assertion:
    identifier, head, relation, tail, recorded_at, start, end = row[:7]
    said |= {
        "intent": Intent(said["intent"]),
        "polarity": Polarity(said["polarity"]),
        "ongoing": bool(said["ongoing"]),
        "from_precision": Precision(said["from_precision"]),
        "to_precision": Precision(said["to_precision"]),
        "from_basis": Basis(said["from_basis"]),
        "to_basis": Basis(said["to_basis"]),
        "span": None if start is None else (start, end),
    }
    return Assertion(identifier, head, relation, tail, recorded_at=recorded_at, **said)
