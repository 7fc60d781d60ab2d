"""A store that cannot serve: 503, whose fault it is, when to retry; nothing is half-written and nobody is stuck."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memgraph_server import wiring
from memgraph_server.errors import StoreCorrupt, StoreUnavailable
from memgraph_server.settings import Settings
from tests.api.serving import QUICK, Running, assert_problem, running

AT = "2024-05-08T12:00:00Z"


def turns(*ids: str, text: str = "I live in Paris.") -> dict[str, object]:
    return {"session_id": "s", "turns": [{"id": one, "speaker": "Ann", "text": text, "at": AT} for one in ids]}


@contextmanager
def no_larger_than(size: int) -> Iterator[None]:
    """No file of this process may grow past `size` bytes: what a full disk does, without filling one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_the_stores_fault_and_passes_when_there_is_room(tmp_path: Path) -> None:
    with running(tmp_path, worker=False) as server:
        ann = server.namespace("ann")
        assert ann.post("/turns", turns("t1")).status_code == 202
        largest = max(file.stat().st_size for file in tmp_path.iterdir())
        with no_larger_than(largest + 4096):
            answer = ann.post("/turns", turns("t2", text="x" * 200_000))
            document = assert_problem(answer, 503, "store_unavailable")
            assert (document["fault"], document["retry"]) == ("store", True)
            assert str(tmp_path) not in answer.text
            assert int(answer.headers["retry-after"]) >= 1
        assert_problem(ann.get("/turns/t2"), 404, "not_found")
        assert ann.get("/turns/t1").status_code == 200
        assert ann.post("/turns", turns("t2", text="x" * 200_000)).json()["new"] == ["t2"]


def test_while_another_process_writes_readers_are_answered(tmp_path: Path) -> None:
    with running(tmp_path, worker=False) as server:
        ann = server.namespace("ann")
        with sqlite3.connect(tmp_path / "store.db", isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            assert ann.get("/facts").status_code == 200  # readers are not held up
            other.execute("ROLLBACK")
        other.close()
        assert ann.post("/turns", turns("t1")).status_code == 202


def _overwrite(file: Path) -> None:
    """Damage every page but the first few."""
    size = file.stat().st_size
    with file.open("r+b") as damaged:
        damaged.seek(8192)
        damaged.write(b"\xa5" * (size - 8192))


def test_a_damaged_file_is_reported_as_damaged_and_not_to_be_retried(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running(tmp_path, worker=False) as server:
        ann = server.namespace("ann")
        ann.post("/turns", turns(*(f"t{i}" for i in range(200))))
        with sqlite3.connect(tmp_path / "store.db") as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        other.close()
        _overwrite(tmp_path / "store.db")
        with sqlite3.connect(tmp_path / "store.db") as other:
            other.execute("PRAGMA user_version")
        other.close()
        answer = ann.post("/turns", turns("new"))
        if answer.status_code == 202:  # pages that were in a cache; a process that starts anew sees the file
            pytest.fail("the damage was not seen")
        document = assert_problem(answer, 503, "store_corrupt")
        assert (document["fault"], document["retry"]) == ("store", False)
        assert str(tmp_path) not in answer.text
        assert "store.db" not in answer.text
        assert f"{tmp_path}/store.db" in caplog.text  # whoever runs the server is told where
        assert "retry-after" not in answer.headers
        ready = server.client.get("/readyz")
        assert (ready.status_code, ready.json()["ready"]) == (503, False)
        assert server.client.get("/healthz").status_code == 200


def test_a_file_that_is_no_store_is_refused_at_start(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"This is a text file, not a database. " * 100)
    with pytest.raises(StoreCorrupt, match="backup"):
        wiring.services(Settings(**{**QUICK, "store": f"sqlite:///{tmp_path}/store.db"}))


def test_a_folder_that_is_not_there_is_named_at_start(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="nowhere"):
        wiring.services(Settings(**{**QUICK, "store": f"sqlite:///{tmp_path}/nowhere/store.db"}))


def read_only(server: Running) -> None:
    """Every connection from now on refuses to write, as a file system mounted read-only makes it."""
    pool = server.services.store._connections  # type: ignore[attr-defined]
    pool.close()
    pool._closed = False
    opened = pool._open

    def refusing() -> sqlite3.Connection:
        connection: sqlite3.Connection = opened()
        connection.execute("PRAGMA query_only = ON")
        return connection

    pool._open = refusing


def test_a_read_only_file_still_answers_and_refuses_writes_as_the_stores_fault(tmp_path: Path) -> None:
    with running(tmp_path, worker=False) as server:
        ann = server.namespace("ann")
        ann.claim({"head": "Ann", "relation": "lives_in", "tail": "Paris"})
        read_only(server)
        assert [fact["tail"] for fact in ann.timeline("Ann")] == ["Paris"]
        document = assert_problem(ann.post("/turns", turns("t1")), 503, "store_unavailable")
        assert document["fault"] == "store"
        assert [fact["tail"] for fact in ann.timeline("Ann")] == ["Paris"]
