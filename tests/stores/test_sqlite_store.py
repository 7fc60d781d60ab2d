"""The embedded store keeps the contract of stores, and what is its own: files, processes, threads."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memgraph_server.stores.sqlite import SqliteStore
from tests.stores.contract import GraphStoreContract
from tests.stores.material import DIMENSION, EMBEDDER, NOW, Relations, turn


@pytest.fixture
def new_store(tmp_path: Path) -> Iterator[Callable[..., SqliteStore]]:
    numbers = itertools.count()
    opened: list[SqliteStore] = []
    paths: dict[int, Path] = {}

    def make(same_as: SqliteStore | None = None) -> SqliteStore:
        path = tmp_path / f"{next(numbers)}.db" if same_as is None else paths[id(same_as)]
        store = SqliteStore(path, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION)
        store.migrate()
        opened.append(store)
        paths[id(store)] = path
        return store

    yield make
    for store in opened:
        store.close()


class TestSqliteStore(GraphStoreContract):
    """The contract's tests, and those of what this store has beside the port."""

    def test_a_snapshot_sees_its_beginning_until_it_ends(self, new_store: Callable[..., SqliteStore]) -> None:
        store = new_store()
        store.append_turns("n", [turn("t1")], job_id="j1", now=NOW)
        with store.snapshot("n"), store.snapshot("n"):
            write = threading.Thread(
                target=store.append_turns, args=("n", [turn("t2")]), kwargs={"job_id": "j2", "now": NOW}
            )
            write.start()
            write.join()
            assert store.corpus_size("n").turns == 1
            assert store.corpus_size("other").turns == 0
        assert store.corpus_size("n").turns == 2

    def test_a_snapshot_is_its_own_threads_alone(self, new_store: Callable[..., SqliteStore]) -> None:
        store = new_store()
        seen: list[int] = []
        with store.snapshot("n"):
            store.append_turns("n", [turn("t1")], job_id="j1", now=NOW)
            look = threading.Thread(target=lambda: seen.append(store.corpus_size("n").turns))
            look.start()
            look.join()
        assert seen == [1]
