"""Applies the numbered migrations to a Neo4j; several processes may start at once, each migration is applied by one.

Neo4j cannot change schema and data in one transaction. So a migration's statements can each be run twice without harm
(IF NOT EXISTS), and its record is written last: one that was cut off is run again from its start. Whoever migrates
holds the lock of one node meanwhile, in a transaction of its own; a process that dies gives it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from neo4j.exceptions import ClientError, TransientError

from memgraph_server.stores.migrate import Migration, known_migrations, missing_migrations, require_current
from memgraph_server.stores.neo4j_store.connection import Connection, Query, Statements

if TYPE_CHECKING:
    from neo4j import Session

#: Seconds to wait until new indexes are filled.
_INDEX_SECONDS = 600

LOCK_CONSTRAINT = Query(
    "one node to lock", "CREATE CONSTRAINT schema_lock IF NOT EXISTS FOR (l:SchemaLock) REQUIRE l.id IS UNIQUE"
)
MIGRATION_CONSTRAINT = Query(
    "one record a migration",
    "CREATE CONSTRAINT migration_name IF NOT EXISTS FOR (m:Migration) REQUIRE m.name IS UNIQUE",
)
LOCK = Query("wait for whoever migrates", "MERGE (l:SchemaLock {id: 1}) SET l.held = true")
APPLIED = Query(
    "migrations applied", "MATCH (m:Migration) WHERE m.name IS NOT NULL RETURN m.name, m.checksum ORDER BY m.name"
)
RECORD = Query(
    "record a migration",
    "MERGE (m:Migration {name: $name}) SET m.checksum = $checksum, m.applied_at = datetime({timezone: 'Z'})",
)
AWAIT = Query("wait for new indexes", "CALL db.awaitIndexes($seconds)")
PROGRAM_QUERIES = (LOCK, APPLIED, RECORD)


@lru_cache(maxsize=1)
def neo4j_migrations() -> list[Migration]:
    return known_migrations("neo4j", ".cypher")


def version() -> int:
    """This program's schema version: the number of its last migration."""
    return neo4j_migrations()[-1].number


def apply_missing(connection: Connection, known: Sequence[Migration]) -> list[str]:
    """Names applied by this call."""
    for constraint in (LOCK_CONSTRAINT, MIGRATION_CONSTRAINT):
        _change_schema(connection, constraint.text)

    def under_lock(ask: Statements) -> list[str]:
        ask(LOCK)
        missing = missing_migrations(known, connection.reading(applied_migrations))
        for migration in missing:
            _apply(connection, migration)
        return [migration.name for migration in missing]

    done = connection.writing(under_lock)
    connection.accept_again()
    return done


def _apply(connection: Connection, migration: Migration) -> None:
    for statement in statements(migration.text):
        _change_schema(connection, statement)
    connection.outside(lambda session: _run(session, AWAIT.text, seconds=_INDEX_SECONDS))
    connection.writing(lambda ask: ask(RECORD, name=migration.name, checksum=migration.checksum))


def _change_schema(connection: Connection, text: str) -> None:
    connection.outside(lambda session: _tried(session, text))


def _tried(session: Session, text: str) -> None:
    """Two processes that create the very same thing at once: one is told that it exists, or that they met."""
    for left in reversed(range(5)):
        try:
            _run(session, text)
            break
        except (TransientError, ClientError) as error:
            met = isinstance(error, TransientError) or "AlreadyExists" in (error.code or "")
            if not met or not left:
                raise


def _run(session: Session, text: str, **values: int) -> None:
    session.run(f"CYPHER 25\n{text}", values).consume()


def applied_migrations(ask: Statements) -> dict[str, str]:
    """Names and checksums; empty where the database holds no store yet."""
    return ask.pairs(APPLIED)


def accept(ask: Statements) -> None:
    """Raises SchemaMismatch unless the database is at this program's schema."""
    require_current(neo4j_migrations(), applied_migrations(ask))


def statements(text: str) -> Iterator[str]:
    """The statements of a migration: each ends with a semicolon at the end of a line."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("//"))
    for part in re.split(r";[ \t]*$", "\n".join(lines), flags=re.MULTILINE):
        if part.strip():
            yield part.strip()
