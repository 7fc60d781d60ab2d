"""Applies the numbered migrations to an SQLite file; several processes may start at once, each is applied by one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache

from memgraph_server.stores.migrate import Migration, known_migrations, missing_migrations, require_current
from memgraph_server.stores.sqlite.connection import Connections, refuse_others

_RECORD_TABLE = """
CREATE TABLE IF NOT EXISTS migration (
    name       TEXT PRIMARY KEY,
    checksum   TEXT NOT NULL,
    applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID
"""


@lru_cache(maxsize=1)
def sqlite_migrations() -> list[Migration]:
    return known_migrations("sqlite", ".sql")


def version() -> int:
    """This program's schema version: the number of its last migration."""
    return sqlite_migrations()[-1].number


def apply_missing(connections: Connections, known: Sequence[Migration]) -> list[str]:
    """Names applied by this call. Each takes the write lock first and then looks again what is missing."""
    done: list[str] = []
    while True:
        with connections.writing() as connection:
            refuse_others(connection)
            connection.execute(_RECORD_TABLE)
            missing = missing_migrations(known, applied_migrations(connection))
            if not missing:
                connections.accept_again()
                return done
            for statement in statements(missing[0].text):
                connection.execute(statement)
            record = (missing[0].name, missing[0].checksum)
            connection.execute("INSERT INTO migration (name, checksum) VALUES (?, ?)", record)
        done.append(missing[0].name)


def applied_migrations(connection: sqlite3.Connection) -> dict[str, str]:
    """Names and checksums; empty where the file holds no store yet. Raises SchemaMismatch for another program's."""
    refuse_others(connection)
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").fetchone() is None:
        return {}
    return dict(connection.execute("SELECT name, checksum FROM migration ORDER BY name"))


def accept(connection: sqlite3.Connection) -> None:
    """Raises SchemaMismatch unless the file is at this program's schema."""
    require_current(sqlite_migrations(), applied_migrations(connection))


def statements(text: str) -> Iterator[str]:
    """The statements of a migration, one by one (`executescript` would commit the transaction it runs in)."""
    pending = ""
    for line in text.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
