"""Migrations: numbered, once each, in one transaction with their record, refused where they do not fit."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from memgraph_server.errors import SchemaMismatch
from memgraph_server.stores.migrate import Migration, known_migrations, missing_migrations, require_current
from memgraph_server.stores.sqlite import SqliteStore, schema
from memgraph_server.stores.sqlite.connection import Connections
from tests.stores.material import DIMENSION, EMBEDDER, NOW, Relations, turn

ONE, TWO = Migration("0001_one.sql", "CREATE TABLE one (x);"), Migration("0002_two.sql", "CREATE TABLE two (x);")


def open_store(path: Path) -> SqliteStore:
    return SqliteStore(path, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION)


def test_migrations_are_numbered_without_gaps_and_say_what_they_are_for() -> None:
    known = known_migrations("sqlite", ".sql")
    assert [migration.number for migration in known] == list(range(1, len(known) + 1))
    for migration in known:
        assert re.fullmatch(r"\d{4}_[a-z_]+\.sql", migration.name)
        assert migration.text.startswith("-- ")


def test_what_is_missing_comes_in_order() -> None:
    assert missing_migrations([ONE, TWO], {}) == [ONE, TWO]
    assert missing_migrations([ONE, TWO], {ONE.name: ONE.checksum}) == [TWO]
    assert missing_migrations([ONE], {ONE.name: ONE.checksum}) == []


@pytest.mark.parametrize(
    ("known", "applied", "says"),
    [
        ([ONE], {ONE.name: ONE.checksum, TWO.name: TWO.checksum}, "newer than this program"),
        ([ONE], {ONE.name: "edited"}, "was edited"),
        ([ONE, TWO], {TWO.name: TWO.checksum}, "was skipped"),
    ],
)
def test_a_schema_that_does_not_fit_is_refused_with_its_reason(
    known: list[Migration], applied: dict[str, str], says: str
) -> None:
    with pytest.raises(SchemaMismatch, match=says):
        missing_migrations(known, applied)


@pytest.mark.parametrize(("applied", "says"), [({}, "missing"), ({ONE.name: ONE.checksum}, "older than this program")])
def test_an_old_schema_names_the_command_to_run(applied: dict[str, str], says: str) -> None:
    with pytest.raises(SchemaMismatch, match=f"{says}; run `memgraph-server migrate`"):
        require_current([ONE, TWO], applied)


def test_the_schema_of_a_store_is_that_of_its_migrations(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a.db")
    assert store.migrate() == [migration.name for migration in schema.sqlite_migrations()]
    assert store.migrate() == []
    plain = sqlite3.connect(":memory:")
    for migration in schema.sqlite_migrations():
        plain.executescript(migration.text)
    query = "SELECT name, sql FROM sqlite_schema WHERE name NOT IN ('migration') ORDER BY name"
    with sqlite3.connect(tmp_path / "a.db") as migrated:
        assert migrated.execute(query).fetchall() == plain.execute(query).fetchall()
        records = migrated.execute("SELECT name, checksum, applied_at FROM migration").fetchall()
    assert [(name, checksum) for name, checksum, _ in records] == [
        (migration.name, migration.checksum) for migration in schema.sqlite_migrations()
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", when) for *_, when in records)


def test_a_store_before_its_migration_refuses_every_use(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a.db")
    with pytest.raises(SchemaMismatch, match="memgraph-server migrate"):
        store.append_turns("n", [turn("t")], job_id="j", now=NOW)
    store.migrate()
    store.append_turns("n", [turn("t")], job_id="j", now=NOW)


def test_a_store_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    open_store(tmp_path / "a.db").migrate()
    with sqlite3.connect(tmp_path / "a.db") as newer:
        newer.execute("INSERT INTO migration (name, checksum) VALUES ('9999_later.sql', 'x')")
    store = open_store(tmp_path / "a.db")
    for use in (store.overall, store.migrate):
        with pytest.raises(SchemaMismatch, match="newer than this program"):
            use()


def test_a_migration_that_fails_leaves_nothing_of_itself(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "a.db")
    broken = Migration("0002_broken.sql", "CREATE TABLE two (x);\nINSERT INTO nowhere VALUES (1);")
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        schema.apply_missing(connections, [ONE, broken])
    with connections.reading() as connection:
        assert list(schema.applied_migrations(connection)) == [ONE.name]
        assert connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'two'").fetchone() is None


def test_a_statement_may_hold_semicolons_and_comments() -> None:
    table = "-- one; two\nCREATE TABLE a (x DEFAULT ';'); -- end\n"
    text = table + "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  SELECT 1;\nEND;\n-- last"
    assert [part.count("CREATE") for part in schema.statements(text)] == [1, 1]


def test_several_processes_may_start_at_once(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from tests.stores.test_migrate import open_store
print(len(open_store(Path({str(tmp_path / "a.db")!r})).migrate()))
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], answers
    assert sum(int(out) for out, _ in answers) == len(schema.sqlite_migrations())
