# ruff: noqa: S608  table names are constants of this file
"""Erasure: the only destructive verb. Rows of every table, then the bytes they stood in.

`secure_delete` overwrites what is deleted; the checkpoint afterwards moves that into the file and empties the log,
which still held the pages as they were. A test asserts that every table with a `namespace` column is listed here.
"""

from __future__ import annotations

import sqlite3

from memgraph_server.stores.sqlite.connection import Connections

#: Table and the receipt's word for it; rows that others refer to come after those.
ERASED = (
    ("mention", "mentions"),
    ("posting", "index_entries"),
    ("turn_vector", "embeddings"),
    ("triple_vector", "embeddings"),
    ("fact", "facts"),
    ("triple", "triples"),
    ("stake", "index_entries"),
    ("placement", "index_entries"),
    ("withdrawal", "withdrawals"),
    ("assertion", "assertions"),
    ("cardinality", "cardinalities"),
    ("merge", "merges"),
    ("name", "names"),
    ("entity", "entities"),
    ("job_turn", "index_entries"),
    ("job", "jobs"),
    ("turn", "turns"),
    ("speaker", "index_entries"),
    ("session", "sessions"),
)


def erase(connection: sqlite3.Connection, namespace: int) -> dict[str, int]:
    """Rows removed, by kind."""
    receipt = dict.fromkeys((word for _, word in ERASED), 0)
    connection.execute("DELETE FROM reading WHERE turn IN (SELECT handle FROM turn WHERE namespace = ?)", (namespace,))
    for table, word in ERASED:
        receipt[word] += connection.execute(f"DELETE FROM {table} WHERE namespace = ?", (namespace,)).rowcount
    connection.execute("DELETE FROM namespace WHERE id = ?", (namespace,))
    return receipt


def shred(connections: Connections) -> int:
    """Give the freed pages back and empty the log, so that no byte of what was erased stays in the files.

    Pages left in the log, because somebody read an older snapshot all the while: 0, nearly always; erase again then.
    """
    with connections.alone() as connection:
        connection.execute("PRAGMA incremental_vacuum").fetchall()
        busy, pages, moved = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return int(pages - moved if busy else 0)
