"""Real faults of files, disks, processes and threads: a clear error, and nothing half-written."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memgraph_server.errors import InvalidInput, SchemaMismatch, StoreCorrupt, StoreUnavailable
from memgraph_server.stores.port import AsOf
from memgraph_server.stores.sqlite import SqliteStore, connection, erase, schema
from tests.stores.material import (
    DIMENSION,
    EMBEDDER,
    NOW,
    Relations,
    claim,
    entity_id,
    outcome,
    tell,
    turn,
    turn_vectors,
    vector,
)


def open_store(path: Path) -> SqliteStore:
    return SqliteStore(path, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = open_store(path)
    opened.migrate()
    yield opened
    opened.close()


# -- files


def test_a_file_of_garbage_is_corrupt_and_left_as_it_was(path: Path) -> None:
    path.write_bytes(b"not a database, but somebody's letters " * 1000)
    before = path.read_bytes()
    store = open_store(path)
    for use in (store.migrate, store.overall, lambda: store.append_turns("n", [turn("t")], job_id="j", now=NOW)):
        with pytest.raises(StoreCorrupt, match="restore a backup"):
            use()
    assert path.read_bytes() == before


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("table", ["letters (text)", "migration (id, applied)"])
def test_the_database_of_another_program_is_left_as_it_was(path: Path, journal: str, table: str) -> None:
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA journal_mode = {journal}")
    other.execute(f"CREATE TABLE {table}")
    other.close()
    before = path.read_bytes()
    store = open_store(path)
    for use in (store.migrate, lambda: store.append_turns("n", [turn("t")], job_id="j", now=NOW)):
        with pytest.raises(SchemaMismatch, match="another program"):
            use()
    store.close()
    assert path.read_bytes() == before


def test_a_truncated_database_is_corrupt(store: SqliteStore, path: Path) -> None:
    store.append_turns("n", [turn(f"t{i}", "words " * 50) for i in range(2000)], job_id="j", now=NOW)
    store.close()
    size = path.stat().st_size
    os.truncate(path, size // 2 // 4096 * 4096)
    broken = open_store(path)
    with pytest.raises(StoreCorrupt):
        broken.turns("n", [f"t{i}" for i in range(2000)])
    with pytest.raises(StoreCorrupt):
        broken.check()


def test_a_folder_that_does_not_exist_makes_the_store_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_store(tmp_path / "nowhere" / "a.db").migrate()


def test_a_store_needs_a_file() -> None:
    with pytest.raises(InvalidInput):
        open_store(Path(":memory:"))


def refused_to_nobody(path: Path) -> str:
    """What a process without the right to write is told. Root may write anything, so a child becomes nobody."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            open_store(path).append_turns("n", [turn("new")], job_id="k", now=NOW)
        except StoreUnavailable as error:
            os.write(writing, f"{error.code}: {error.message}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as answer:
        return answer.read()


def test_a_read_only_file_refuses_writes_and_says_so() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "a.db"
        store = open_store(path)
        store.migrate()
        store.append_turns("n", [turn("t")], job_id="j", now=NOW)
        store.close()
        path.chmod(0o444)
        folder.chmod(0o555)
        told = refused_to_nobody(path)
        assert told.startswith("store_unavailable: ")
        assert "read-only" in told or "cannot be opened" in told
        folder.chmod(0o755)
        path.chmod(0o644)
        again = open_store(path)
        assert [each.id for each in again.turns("n", ["t", "new"])] == ["t"]
        again.close()


FILL_THE_DISK = """
import resource, signal, sys
from pathlib import Path
from memgraph_server.errors import StoreUnavailable
from tests.stores.material import NOW, turn
from tests.stores.test_faults import open_store
store = open_store(Path(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
stored = 0
try:
    while True:
        turns = [turn(f"t{stored}-{i}", f"many words number {stored} {i} " * 20) for i in range(100)]
        store.append_turns("n", turns, job_id=f"j{stored}", now=NOW)
        stored += 1
except StoreUnavailable as error:
    print(stored, error.code, error.retry)
"""


def test_a_file_that_cannot_grow_loses_the_call_that_failed_and_nothing_else(store: SqliteStore, path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    command = [sys.executable, "-c", FILL_THE_DISK, str(path)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    stored, code, retry = answer.stdout.split()
    assert (code, retry) == ("store_unavailable", "True")
    assert store.corpus_size("n").turns == int(stored) * 100
    assert len(store.turns("n", [f"t{stored}-{i}" for i in range(100)])) == 0
    assert store.check() == []
    store.append_turns("n", [turn("after")], job_id="after", now=NOW)


def test_a_full_disk_is_named_and_nothing_is_half_written(store: SqliteStore, path: Path) -> None:
    store.append_turns("n", [turn("t")], job_id="j", now=NOW)
    with store._connections.alone() as lent:  # the limit holds for this connection, which is lent again next
        pages = lent.execute("PRAGMA page_count").fetchone()[0]
        lent.execute(f"PRAGMA max_page_count = {pages + 3}")
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        store.append_turns("n", [turn(f"x{i}", "words " * 500) for i in range(100)], job_id="k", now=NOW)
    assert store.corpus_size("n").turns == 1
    assert store.check() == []
    store.append_turns("n", [turn("later")], job_id="l", now=NOW)


# -- processes and threads


def test_a_lock_held_by_another_is_named_and_reading_goes_on_meanwhile(store: SqliteStore, path: Path) -> None:
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with store._connections.alone() as lent:
        lent.execute("PRAGMA busy_timeout = 100")
    with pytest.raises(StoreUnavailable, match="locked") as refused:
        store.append_turns("n", [turn("t")], job_id="j", now=NOW)
    assert refused.value.retry
    assert store.turns("n", ["t"]) == []
    assert open_store(path).turns("n", ["t"]) == []  # and a process that starts now waits for nobody
    holder.execute("COMMIT")
    store.append_turns("n", [turn("t")], job_id="j", now=NOW)
    holder.close()


def test_a_lock_that_is_given_back_in_time_was_only_waited_for(store: SqliteStore, path: Path) -> None:
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    later = threading.Timer(0.3, lambda: holder.execute("COMMIT"))
    later.start()
    store.append_turns("n", [turn("t")], job_id="j", now=NOW)
    later.join()
    assert len(store.turns("n", ["t"])) == 1
    holder.close()


WRITE_FROM_ANOTHER_PROCESS = """
import sys
from pathlib import Path
from tests.stores.material import NOW, claim, tell, turn
from tests.stores.test_faults import open_store
store, me = open_store(Path(sys.argv[1])), sys.argv[2]
for i in range(60):
    store.append_turns("n", [turn(f"{me}-{i}", "same words", session="s")], job_id=f"{me}-{i}", now=NOW)
    tell(store, "n", claim("Ann", "likes", f"{me}-{i}"))
"""


def test_two_processes_write_at_once_and_lose_nothing(store: SqliteStore, path: Path) -> None:
    commands = [[sys.executable, "-c", WRITE_FROM_ANOTHER_PROCESS, str(path), me] for me in ("one", "two")]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    errors = [process.communicate(timeout=180)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0], errors
    ids = [f"{me}-{i}" for me in ("one", "two") for i in range(60)]
    assert sorted(each.position for each in store.turns("n", ids)) == list(range(120))
    assert len(store.timeline("n", entity_id=entity_id(store, "n", "Ann")).facts) == 120
    recorded = [store.turn_status("n", turn_id).recorded_at for turn_id in ids]
    assert len(set(recorded)) == 120
    assert store.check() == []


def test_ten_writers_at_once_make_one_ann(store: SqliteStore) -> None:
    start = threading.Barrier(10)

    def write(number: int) -> str:
        start.wait()
        tell(store, "n", claim(("Ann", "ann", "ANN ")[number % 3], "likes", f"x{number}"))
        return entity_id(store, "n", "Ann")

    with ThreadPoolExecutor(10) as pool:
        ids = set(pool.map(write, range(10)))
    assert len(ids) == 1
    assert len(store.timeline("n", entity_id=ids.pop()).facts) == 10


def test_many_threads_read_and_write_and_connections_do_not_pile_up(store: SqliteStore) -> None:
    def work(number: int) -> None:
        store.append_turns("n", [turn(f"t{number}", f"thread {number}")], job_id=f"j{number}", now=NOW)
        store.apply_outcome("n", outcome(f"t{number}"), lease=None, now=NOW)
        assert store.nearest_turns("n", vector(f"t{number}"), 1)[0][1] > 0.97

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(150)))
    assert store.corpus_size("n").turns == 150
    assert len(store._connections._idle) <= connection.POOL_SIZE


def test_many_workers_never_hold_one_session_at_once(store: SqliteStore) -> None:
    turns = [turn(f"t{i}", session=f"s{i % 7}") for i in range(70)]
    store.append_turns("n", turns, job_id="j", now=NOW)
    done: list[str] = []

    def work(number: int) -> None:
        while (lease := store.lease(f"w{number}", now=NOW + 1, seconds=60, limit=3)) is not None:
            for turn_id in lease.turn_ids:
                assert store.apply_outcome("n", outcome(turn_id), lease=lease.token, now=NOW)
                done.append(turn_id)
            store.release(lease)

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(work, range(5)))
    while (lease := store.lease("last", now=NOW + 1, seconds=60, limit=99)) is not None:
        done += [
            turn_id for turn_id in lease.turn_ids if store.apply_outcome("n", outcome(turn_id), lease=None, now=NOW)
        ]
        store.release(lease)
    assert sorted(done) == sorted(each.id for each in turns)
    for session in range(7):
        mine = [turn_id for turn_id in done if int(turn_id[1:]) % 7 == session]
        assert mine == sorted(mine, key=lambda turn_id: int(turn_id[1:]))


def test_a_process_finds_the_vectors_that_another_wrote(store: SqliteStore, path: Path) -> None:
    other = open_store(path)
    store.append_turns("n", [turn("a"), turn("b")], job_id="j", now=NOW)
    store.apply_outcome("n", outcome("a", claim("Ann", "likes", "tea")), lease=None, now=NOW)
    assert len(store.nearest_turns("n", vector("b"), 9)) == 1
    other.apply_outcome("n", outcome("b", claim("Ann", "likes", "cake")), lease=None, now=NOW)
    assert len(store.nearest_turns("n", vector("b"), 9)) == 2
    found = store.search_facts("n", vector("Ann likes cake"), as_of=AsOf(), minimum_confidence=0.0, limit=1)
    assert found[0].tail_name == "cake"
    other.replace_vectors("n", EMBEDDER, {"a": turn_vectors("z")}, {})
    assert max(score for _, score in store.nearest_turns("n", vector("a"), 9)) < 0.9
    other.erase("n", now=NOW)
    assert store.nearest_turns("n", vector("b"), 9) == []
    other.close()


def test_a_forked_process_opens_connections_of_its_own(store: SqliteStore) -> None:
    store.append_turns("n", [turn("parent")], job_id="j", now=NOW)
    code = 1
    child = os.fork()
    if child == 0:
        try:
            store.append_turns("n", [turn("child")], job_id="k", now=NOW)
            code = 0 if len(store.turns("n", ["parent", "child"])) == 2 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(store.turns("n", ["parent", "child"])) == 2
    assert store.check() == []


def test_a_closed_store_says_so(store: SqliteStore) -> None:
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.overall()


# -- erasure


def files_of(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.iterdir() if each.name.startswith(path.name))


def test_no_byte_of_an_erased_text_stays_in_the_files(store: SqliteStore, path: Path) -> None:
    marker = "Zyzzyvaquux"
    turns = [turn(f"t{i}-{marker}", f"{marker} said {i} " * 30, session=marker, speaker=marker) for i in range(200)]
    store.append_turns("n", turns, job_id=marker, now=NOW, key=marker)
    store.append_turns("kept", [turn("t", "An innocent bystander")], job_id="j", now=NOW)
    for i in range(20):
        said = claim(marker, marker, f"{marker}{i}", source=marker)
        store.apply_outcome("n", outcome(f"t{i}-{marker}", said), lease=None, now=NOW)
    store.fail_turn("n", f"t50-{marker}", reason=marker, final=True, retry_at=NOW, now=NOW)
    assert marker.encode() in files_of(path)
    receipt = store.erase("n", now=NOW)
    assert receipt["turns"] == 200
    assert "log_pages_left" not in receipt
    left = files_of(path)
    for trace in (marker, marker.casefold()):
        assert trace.encode() not in left
    assert b"An innocent bystander" in left
    assert store.check() == []


def test_erasure_forgets_no_table(store: SqliteStore, path: Path) -> None:
    with sqlite3.connect(path) as plain:
        tables = [name for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        holding = {
            table
            for table in tables
            if "namespace" in [column[1] for column in plain.execute(f"PRAGMA table_info({table})")]
        }
    assert {table for table, _ in erase.ERASED} | {"reading"} == holding


def test_every_index_begins_with_the_namespace_but_the_queues(store: SqliteStore, path: Path) -> None:
    allowed = {"session_due"}
    with sqlite3.connect(path) as plain:
        for table in {table for table, _ in erase.ERASED} | {"reading"}:
            for _, index, _, origin, _ in plain.execute(f"PRAGMA index_list({table})").fetchall():
                first = plain.execute(f"PRAGMA index_info({index})").fetchone()[2]
                assert first == "namespace" or index in allowed or origin == "pk", index


@pytest.mark.parametrize("error", sorted(connection._REASONS) + sorted(connection._CORRUPT))
def test_every_fault_of_the_file_is_said_in_words(error: int) -> None:
    raised = sqlite3.OperationalError("details")
    raised.sqlite_errorcode = error | 0x100  # extended codes carry more than the kind
    told = connection.in_our_words(raised, Path("/x/a.db"))
    assert isinstance(told, StoreUnavailable)
    assert told.where == "/x/a.db", "for the operator"
    assert "/x/a.db" not in told.message, "callers are not told where it lies"
    assert isinstance(told, StoreCorrupt) == (error in connection._CORRUPT)


def test_a_fault_of_this_program_is_not_said_to_be_the_stores(store: SqliteStore) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"), store._connections.reading() as lent:
        lent.execute("SELECT * FROM nowhere")


def test_schema_version_is_that_of_the_last_migration(store: SqliteStore) -> None:
    assert store.overall().schema_version == schema.sqlite_migrations()[-1].number
