# ruff: noqa: S608  queries are put together from constants of this file; values are bound
"""What concerns the whole store: its integrity, and vectors that another embedder made, or none did."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from memgraph_server.errors import InvalidInput
from memgraph_server.stores.port import Floats, TurnVectors
from memgraph_server.stores.quantized import Space
from memgraph_server.stores.sqlite.connection import Connections
from memgraph_server.stores.sqlite.vectors import stored_space, write_triple_vector, write_turn_vectors

_COUNTS = (
    (
        "turns counted",
        """SELECT count(*) FROM namespace n
        WHERE n.turns <> (SELECT count(*) FROM turn t WHERE t.namespace = n.id)""",
    ),
    (
        "turns without a state",
        "SELECT count(*) FROM turn t WHERE NOT EXISTS (SELECT 1 FROM reading r WHERE r.turn = t.handle)",
    ),
    (
        "facts without a triple",
        "SELECT count(*) FROM fact f WHERE NOT EXISTS (SELECT 1 FROM triple t WHERE t.number = f.triple)",
    ),
    (
        "sessions whose pending turns are not due",
        """SELECT count(*) FROM session s WHERE (s.due_at IS NULL) = EXISTS (SELECT 1 FROM reading r
        WHERE r.namespace = s.namespace AND r.session = s.handle AND r.state = 'pending')""",
    ),
)


def problems(connections: Connections) -> list[str]:
    """In words; empty where there are none. Reads the whole file."""
    with connections.reading() as connection:
        found = [text for (text,) in connection.execute("PRAGMA integrity_check") if text != "ok"]
        found += [
            f"row {row[1]} of {row[0]} refers to nothing" for row in connection.execute("PRAGMA foreign_key_check")
        ]
        for what, query in _COUNTS:
            wrong = connection.execute(query).fetchone()[0]
            if wrong:
                found.append(f"{what}: {wrong} wrong")
        return found


_BY_ANOTHER = "v.embedder <> coalesce((SELECT id FROM embedder WHERE name = :embedder), 0)"


def stale_vectors(connection: sqlite3.Connection, embedder: str, limit: int) -> list[tuple[str, str, str]]:
    """(namespace, "turn" or "triple", turn id or triple text). A turn that is still pending gets its vectors anyway."""
    missing = f"v.number IS NULL OR {_BY_ANOTHER}"
    query = f"""
        SELECT * FROM (
            SELECT n.name, 'turn', t.id FROM turn t JOIN namespace n ON n.id = t.namespace
            JOIN reading r ON r.turn = t.handle
            LEFT JOIN turn_vector v ON v.namespace = t.namespace AND v.turn = t.handle
            WHERE r.state = 'done' AND ({missing}) LIMIT :limit)
        UNION ALL SELECT * FROM (
            SELECT DISTINCT n.name, 'triple', t.text FROM triple t JOIN namespace n ON n.id = t.namespace
            LEFT JOIN triple_vector v ON v.namespace = t.namespace AND v.triple = t.number
            WHERE {missing} LIMIT :limit)
        LIMIT :limit"""
    return connection.execute(query, {"embedder": embedder, "limit": limit}).fetchall()


def outdated_vectors(connection: sqlite3.Connection, embedder: str) -> int:
    """Of turns that are read and of triples, by another embedder. Reads every vector's row."""
    query = f"""
        SELECT (SELECT count(*) FROM turn_vector v JOIN reading r ON r.turn = v.turn
            WHERE r.state = 'done' AND {_BY_ANOTHER}) + (SELECT count(*) FROM triple_vector v WHERE {_BY_ANOTHER})"""
    number: int = connection.execute(query, {"embedder": embedder}).fetchone()[0]
    return number


def replace_vectors(
    connection: sqlite3.Connection,
    namespace: int,
    space: Space,
    turns: Mapping[str, TurnVectors | None],
    triples: Mapping[str, Floats | None],
) -> None:
    """Turns and triples that do not exist (any more) are passed over. Raises InvalidInput for a vector of no use."""
    stored, before = stored_space(connection, space), connection.total_changes
    for turn_id, vectors in turns.items():
        _require(space, vectors.pooled if vectors is not None else None)
        query = "SELECT handle FROM turn WHERE namespace = ? AND id = ?"
        for (turn,) in connection.execute(query, (namespace, turn_id)).fetchall():
            if vectors is None:
                connection.execute("DELETE FROM turn_vector WHERE namespace = ? AND turn = ?", (namespace, turn))
            else:
                write_turn_vectors(connection, namespace, turn, vectors, stored)
    for text, vector in triples.items():
        _require(space, vector)
        query = "SELECT number, head, tail FROM triple WHERE namespace = ? AND text = ?"
        for triple in connection.execute(query, (namespace, text)).fetchall():
            if vector is None:
                query = "DELETE FROM triple_vector WHERE namespace = ? AND triple = ?"
                connection.execute(query, (namespace, triple[0]))
            else:
                write_triple_vector(connection, namespace, triple, vector, stored)
    if connection.total_changes != before:
        connection.execute("UPDATE namespace SET generation = generation + 1 WHERE id = ?", (namespace,))


def _require(space: Space, vector: Floats | None) -> None:
    if vector is not None and space.usable(vector) is None:
        raise InvalidInput(f"a vector of {space.dimension} finite numbers is needed", field="vectors")
