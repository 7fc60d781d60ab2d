"""What is Neo4j's own: round trips, writers that meet, migrations, a server that is not there."""

from __future__ import annotations

import base64
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import neo4j
import pytest

from memgraph_server.errors import InvalidInput, SchemaMismatch, StoreUnavailable
from memgraph_server.stores.neo4j_store import Neo4jStore, Target, schema
from memgraph_server.stores.neo4j_store.connection import MOST_AHEAD, Query
from memgraph_server.stores.port import AsOf
from tests.services.neo4j_server import emptied
from tests.stores.material import (
    DAY,
    DIMENSION,
    EMBEDDER,
    NOW,
    Relations,
    believed,
    claim,
    entity_id,
    outcome,
    tell,
    turn,
    vector,
)

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
    """With the transaction's begin and commit, four round trips; also for a new relation of two who are known."""
    for number in range(3):
        store.append_turns("n", [turn(f"t{number}")], job_id=f"j{number}", now=NOW)
        said = [claim("Ann", relation, f"x{number}", NOW + number) for relation in ("lives_in", "likes", "knows")]
        said.append(claim("Ann", f"met_{number}", "Bob", NOW + number))
        sent: list[str] = []
        store.connection.watch = lambda query, _, sent=sent: sent.append(query.name)  # type: ignore[misc]
        told = outcome(f"t{number}", *said, mentions=(("Bob", "person"),))
        assert store.apply_outcome("n", told, lease=None, now=NOW + number)
        store.connection.watch = None
        assert len(sent) == 2, sent
    assert len(believed(store, "n", "Ann")) == 12


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


def test_workers_of_many_sessions_about_one_person_meet_without_deadlock(
    store: Neo4jStore, neo4j_server: Target
) -> None:
    """Each with a store of its own, as processes have. A deadlock would be run again and be slow, so none is wanted."""
    workers, each, tries, failures = 8, 5, Counter[str](), list[BaseException]()

    def work(worker: int, own: Neo4jStore) -> None:
        try:
            for number in range(each):
                _read_one_turn(own, f"s{worker}", f"t{worker}-{number}", NOW + number * workers + worker)
        except BaseException as error:  # noqa: BLE001  told to the test
            failures.append(error)

    stores = [opened(neo4j_server) for _ in range(workers)]
    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(stores)]
    for own in stores:
        own.connection.writing = counted(own.connection.writing, tries)  # type: ignore[method-assign]
        own.connection.stating = counted(own.connection.stating, tries)  # type: ignore[method-assign]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for own in stores:
        own.close()
    assert not failures
    assert tries["verbs"] >= workers * each * 5
    assert tries["runs"] <= tries["verbs"] * 1.05, tries  # one more now and then, where the server asks for it
    count = workers * each
    assert sorted(view.fact.valid_from - NOW for view in store.timeline("n", relation="lives_in").facts) == [
        *range(count)
    ]
    assert [start for _, start, end, _ in believed(store, "n", "Ann", "lives_in") if end is None] == [NOW + count - 1]
    assert len(believed(store, "n", "Ann", "likes")) == 3
    assert [one.name for one in store.entities("n", limit=999)[0] if one.name in ("Ann", "Zed")] == ["Ann", "Zed"]
    assert (store.readiness("n").pending, store.check()) == (0, [])


def _read_one_turn(store: Neo4jStore, session: str, turn_id: str, at: int) -> None:
    """As a worker does, with all that takes locks: stored, lent, kept, failed once, applied, given back."""
    store.append_turns("n", [turn(turn_id, "I like tea in Paris", session=session)], job_id=turn_id, now=NOW)
    lease = store.lease(session, now=NOW + DAY, seconds=60, limit=4, session=("n", session))
    assert lease is not None
    assert store.renew(lease, now=NOW + DAY, seconds=60)
    store.fail_turn("n", turn_id, reason="drawn", final=False, retry_at=NOW, now=NOW)
    lives, likes = claim("Ann", "lives_in", f"P{at}", at), claim("Ann", "likes", f"x{at % 3}", at)
    known = claim(f"friend {at % 5}", "knows", "Ann", at)
    told = outcome(turn_id, lives, likes, known, mentions=(("Zed", "person"),))
    assert store.apply_outcome("n", told, lease=lease.token, now=NOW)
    store.release(lease)


def counted(writing: Callable[..., Any], tries: Counter[str]) -> Callable[..., Any]:
    """Verbs that write, and how often their work was run."""

    def run(work: Callable[[Any], Any]) -> Any:
        def tried(ask: Any) -> Any:
            tries["runs"] += 1
            return work(ask)

        tries["verbs"] += 1
        return writing(tried)

    return run


def test_of_two_that_erase_the_slower_leaves_what_was_written_after_the_faster(
    store: Neo4jStore, neo4j_server: Target
) -> None:
    tell(store, "n", claim("Ann", "likes", "tea"))
    faster = opened(neo4j_server)

    def overtake(query: Query, _: object) -> None:
        if query.name == "erase nodes of the label Assertion":
            store.connection.watch = None
            faster.erase("n", now=NOW)
            faster.append_turns("n", [turn("t0")], job_id="j", now=NOW)
            tell(faster, "n", claim("Ann", "likes", "cake"))

    store.connection.watch = overtake
    store.erase("n", now=NOW)
    assert [tail for tail, *_ in believed(store, "n", "Ann")] == ["cake"]
    assert [each.id for each in store.turns("n", ["t0"])] == ["t0"]
    tell(store, "n", claim("Ann", "likes", "figs"))
    assert store.check() == []
    faster.close()


@pytest.mark.parametrize("verb", ["append", "tell", "load"])
def test_who_waited_for_a_namespace_that_was_erased_meanwhile_is_told_and_writes_nothing(
    store: Neo4jStore, verb: str
) -> None:
    def write() -> object:
        if verb == "append":
            return store.append_turns("n", [turn("t0")], job_id="j", now=NOW)
        return tell(store, "n", claim("Ann", "likes", "tea")) if verb == "tell" else store.load("n", records)

    tell(store, "n", claim("Ann", "likes", "tea"))
    records = list(store.dump("n"))
    store.erase("n", now=NOW)
    store.append_turns("n", [], job_id="empty", now=NOW)
    told: list[object] = []

    def wait_and_write() -> None:
        try:
            told.append(write())
        except BaseException as error:  # noqa: BLE001  told to the test
            told.append(error)

    with store.connection.session() as session, session.begin_transaction() as erasing:
        erasing.run("MATCH (x) WHERE x.namespace = 'n' OR x:Namespace DETACH DELETE x").consume()
        writer = threading.Thread(target=wait_and_write)
        writer.start()
        writer.join(0.5)
        assert writer.is_alive()  # it waits for the lock
        erasing.commit()
    writer.join(30)
    assert isinstance(told[0], StoreUnavailable), told
    assert store.check() == []
    assert list(store.namespaces()) == []
    assert write()
    assert store.check() == []


def test_a_read_asks_for_what_its_process_wrote(store: Neo4jStore, caplog: pytest.LogCaptureFixture) -> None:
    """In a cluster, of a follower that has it already."""
    store.append_turns("n", [turn("t0")], job_id="j", now=NOW)
    with caplog.at_level("DEBUG", logger="neo4j.io"):
        assert store.job("n", "j").total == 1
    sent = [line for line in caplog.messages if " RUN " in line]
    assert sent
    assert all("'bookmarks': [" in line for line in sent)


def later_than(bookmark: str) -> str:
    """A transaction that is not there: its number stands at the end, in two bytes or more, before a closing one."""
    raw = bytearray(base64.b64decode(bookmark.removeprefix("FB:")))
    raw[-3] += 1
    return "FB:" + base64.b64encode(raw).decode()


@pytest.mark.parametrize(
    "of_what",
    [pytest.param("put back", marks=pytest.mark.slow), "no server's"],  # the server waits for a minute
)
def test_a_database_that_lacks_what_was_written_is_used_again_after_one_refusal(
    store: Neo4jStore, of_what: str
) -> None:
    """As after it was put back to an earlier state under a server that runs."""
    store.append_turns("n", [turn("t0")], job_id="j", now=NOW)
    connection = store.connection
    held = connection._bookmarks.get_bookmarks()
    lost = map(later_than, held) if of_what == "put back" else ["nonsense"]
    connection._bookmarks = neo4j.GraphDatabase.bookmark_manager(neo4j.Bookmarks.from_raw_values(lost))
    with pytest.raises(StoreUnavailable, match="Bookmark"):
        store.job("n", "j")
    assert store.job("n", "j").total == 1


def test_a_read_ahead_of_a_store_that_is_closed_says_so(neo4j_server: Target) -> None:
    store = opened(neo4j_server)
    begun, on = threading.Semaphore(0), threading.Event()

    def busy() -> None:
        begun.release()
        on.wait(20)

    running = [store.ahead(busy) for _ in range(MOST_AHEAD)]
    for _ in running:
        assert begun.acquire(timeout=20)
    queued = store.ahead(lambda: 1)
    closing = threading.Thread(target=store.close)
    closing.start()
    with pytest.raises(StoreUnavailable, match="closed"):
        queued()
    on.set()
    closing.join()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.ahead(lambda: 1)


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


def test_vectors_that_lie_in_two_indexes_are_moved_into_one(store: Neo4jStore) -> None:
    """From the schema of 0004 to the present one, with turns and facts there."""
    for number in range(6):
        store.append_turns("n", [turn(f"t{number}")], job_id=f"j{number}", now=NOW)
        store.apply_outcome("n", outcome(f"t{number}", claim("Ann", "likes", f"x{number}")), lease=None, now=NOW)
    before = _nearest(store)
    assert (len(before[0]), len(before[1])) == (6, 6)
    vectors, later = schema.neo4j_migrations()[3], [each.name for each in schema.neo4j_migrations()[4:]]
    forget = Query("forget later migrations", "MATCH (m:Migration) WHERE m.name >= $name DELETE m")
    store.connection.writing(lambda ask: ask(forget, name=later[0]))
    for text in ("DROP INDEX embedding", *schema.statements(vectors.text)):
        store.connection.outside(lambda session, text=text: session.run(f"CYPHER 25 {text}").consume())  # type: ignore[misc]
    assert store.migrate() == later
    assert _nearest(store) == before
    indexes = Query("vector indexes", "SHOW VECTOR INDEXES YIELD name RETURN name")
    assert store.connection.reading(lambda ask: ask(indexes)) == [["embedding"]]


def _nearest(store: Neo4jStore) -> tuple[list[tuple[int, float]], list[tuple[str, float]]]:
    facts = store.search_facts("n", vector("Ann likes x3"), as_of=AsOf(), minimum_confidence=0.0, limit=9)
    return store.nearest_turns("n", vector("t3"), 9), [(one.fact.id, one.similarity) for one in facts]


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
