"""What is Neo4j's own: round trips, writers that meet, migrations, a server that is not there."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from memgraph_server.errors import InvalidInput, SchemaMismatch, StoreUnavailable
from memgraph_server.stores.neo4j_store import Neo4jStore, Target, schema
from memgraph_server.stores.neo4j_store.connection import Query
from tests.services.neo4j_server import emptied
from tests.stores.material import DIMENSION, EMBEDDER, NOW, Relations, believed, claim, entity_id, outcome, tell, turn

FUTURE = Query("a migration to come", "CREATE (:Migration {name: '9999_later.cypher', checksum: 'x'})")
PAST = Query("no migration to come", "MATCH (m:Migration {name: '9999_later.cypher'}) DELETE m")


def opened(target: Target) -> Neo4jStore:
    return Neo4jStore(target, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION)


@pytest.fixture
def store(neo4j_server: Target) -> Iterator[Neo4jStore]:
    store = emptied(opened(neo4j_server))
    yield store
    store.close()


def test_a_turn_with_several_facts_is_read_by_one_statement_and_written_by_one(store: Neo4jStore) -> None:
    """With the transaction's begin and commit, four round trips."""
    for number in range(3):
        store.append_turns("n", [turn(f"t{number}")], job_id=f"j{number}", now=NOW)
        said = [claim("Ann", relation, f"x{number}", NOW + number) for relation in ("lives_in", "likes", "knows")]
        sent: list[str] = []
        store.connection.watch = lambda query, _, sent=sent: sent.append(query.name)  # type: ignore[misc]
        told = outcome(f"t{number}", *said, mentions=(("Bob", "person"),))
        assert store.apply_outcome("n", told, lease=None, now=NOW + number)
        store.connection.watch = None
        assert len(sent) == 2, sent
    assert len(believed(store, "n", "Ann")) == 9


def test_many_writers_of_one_key_lose_no_update(store: Neo4jStore) -> None:
    """Single-valued: each claim closes the one before it, so a lost update would leave two open ends."""
    writers, each = 8, 6
    failures: list[BaseException] = []

    def write(writer: int) -> None:
        try:
            for number in range(each):
                place = number * writers + writer
                tell(store, "n", claim("Ann", "lives_in", f"P{place}", NOW + place), now=NOW)
        except BaseException as error:  # noqa: BLE001  told to the test
            failures.append(error)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    last = writers * each - 1
    expected = [(f"P{n}", NOW + n, None if n == last else NOW + n + 1, "stable") for n in range(last + 1)]
    assert believed(store, "n", "Ann") == expected
    assert store.check() == []


def test_writers_who_name_the_same_new_person_make_one_of_her(store: Neo4jStore) -> None:
    threads = [threading.Thread(target=tell, args=(store, "new", claim("Ann", "likes", f"x{n}"))) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.name for each in store.entities("new", limit=99)[0] if each.name == "Ann"] == ["Ann"]
    assert len(believed(store, "new", "Ann")) == 10


def test_workers_at_the_same_time_never_get_the_same_session(store: Neo4jStore) -> None:
    store.append_turns("n", [turn(f"t{n}", session=f"s{n}") for n in range(12)], job_id="j", now=NOW)
    lent: list[str] = []

    def work(name: str) -> None:
        while (lease := store.lease(name, now=NOW, seconds=60, limit=4)) is not None:
            lent.append(lease.session_id)

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(lent) == sorted(f"s{n}" for n in range(12))


def test_a_store_of_a_newer_program_is_refused(store: Neo4jStore, neo4j_server: Target) -> None:
    store.connection.writing(lambda ask: ask(FUTURE))
    newer = opened(neo4j_server)
    try:
        for use in (newer.overall, newer.migrate):
            with pytest.raises(SchemaMismatch, match="newer than this program"):
                use()
    finally:
        store.connection.writing(lambda ask: ask(PAST))
        newer.close()


def test_migrations_are_recorded_once_whoever_applies_them(store: Neo4jStore, neo4j_server: Target) -> None:
    assert store.migrate() == []
    forget = Query("forget the last migration", "MATCH (m:Migration) WHERE m.name >= $name DELETE m")
    last = schema.neo4j_migrations()[-1].name
    store.connection.writing(lambda ask: ask(forget, name=last))
    code = f"""
from memgraph_server.stores.neo4j_store import Target
from tests.stores.test_neo4j_operation import opened
store = opened(Target({neo4j_server.url!r}, {neo4j_server.user!r}, {neo4j_server.password!r}))
print(store.migrate())
store.close()
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate(timeout=120) for process in started]
    assert sorted(out.strip() for out, _ in answers) == sorted(["[]", "[]", str([last])]), answers
    applied = store.connection.reading(schema.applied_migrations)
    assert applied == {each.name: each.checksum for each in schema.neo4j_migrations()}


def test_a_server_that_is_not_there_is_unavailable(neo4j_server: Target) -> None:
    for target in (Target("bolt://127.0.0.1:1", "neo4j", "secret"), Target(neo4j_server.url, "neo4j", "secret")):
        away = opened(target)
        with pytest.raises(StoreUnavailable) as refused:
            away.overall()
        away.close()
        assert refused.value.retry
        assert "secret" not in str(refused.value)
        assert "127.0.0.1" not in refused.value.message  # callers are not told; the log and the command line are
        assert target.url in str(refused.value)


def test_a_store_that_was_closed_says_so(store: Neo4jStore, neo4j_server: Target) -> None:
    closed = opened(neo4j_server)
    closed.close()
    with pytest.raises(StoreUnavailable):
        closed.overall()


def test_a_name_of_any_length_is_an_entity_and_an_id_that_no_index_takes_is_refused(store: Neo4jStore) -> None:
    long = "Ann " * 5000
    tell(store, "n", claim(long, "likes", "tea"), claim(f"{long}!", "likes", "tea"))
    assert store.entity("n", entity_id(store, "n", long)).name == long.strip()
    assert entity_id(store, "n", long) != entity_id(store, "n", f"{long}!")
    with pytest.raises(InvalidInput) as refused:
        store.append_turns("n", [turn("x" * 5000)], job_id="j", now=NOW)
    assert refused.value.field == "id"
