"""Namespaces by number, their recorded clock, and the numbers of rows to come.

A namespace that nothing was written to has no row; reads use `NOWHERE` for it, which no row carries, so that every
query answers "nothing" without a case of its own.
"""

from __future__ import annotations

import sqlite3

from memgraph_server.memory.interval import Instant
from memgraph_server.stores.checks import check_instant

NOWHERE = 0


def find(connection: sqlite3.Connection, name: str) -> int:
    row = connection.execute("SELECT id FROM namespace WHERE name = ?", (name,)).fetchone()
    return row[0] if row else NOWHERE


def ensure(connection: sqlite3.Connection, name: str, now: Instant) -> int:
    """Its number, made where it is new; inside a write."""
    number = find(connection, name)
    if number != NOWHERE:
        return number
    row = connection.execute("INSERT INTO namespace (name, recorded_at) VALUES (?, ?)", (name, now - 1))
    assert row.lastrowid is not None  # noqa: S101  an INSERT of one row has one
    return row.lastrowid


def stamp(connection: sqlite3.Connection, namespace: int, now: Instant) -> Instant:
    """The recorded instant of this write: max(now, last + 1 µs), and from now on the last one."""
    check_instant(now, "now")
    query = "UPDATE namespace SET recorded_at = max(?, recorded_at + 1) WHERE id = ? RETURNING recorded_at"
    stamped: Instant = connection.execute(query, (now, namespace)).fetchone()[0]
    return stamped


def enter(connection: sqlite3.Connection, name: str, now: Instant) -> tuple[int, Instant]:
    """The namespace's number, made where it is new, and the recorded instant of this write, as `stamp` gives it."""
    query = "UPDATE namespace SET recorded_at = max(?, recorded_at + 1) WHERE name = ? RETURNING id, recorded_at"
    row: tuple[int, Instant] | None = connection.execute(query, (now, name)).fetchone()
    if row is not None:
        return row
    number = ensure(connection, name, now)
    return number, stamp(connection, number, now)


def count_turns(connection: sqlite3.Connection, namespace: int, turns: int, terms: int) -> int:
    """Count new turns and their terms in; the ordinal of the first."""
    query = "UPDATE namespace SET turns = turns + ?, terms = terms + ? WHERE id = ? RETURNING turns"
    after: int = connection.execute(query, (turns, terms, namespace)).fetchone()[0]
    return after - turns


def next_number(connection: sqlite3.Connection, table: str) -> int:
    """The number an AUTOINCREMENT table gives next; inside a write, so that nobody else takes it."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return (row[0] if row else 0) + 1
