"""The embedded store keeps the contract of stores, and what is its own: files, processes, threads."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memgraph_server.stores.sqlite import SqliteStore
from tests.stores.contract import GraphStoreContract
from tests.stores.material import DIMENSION, EMBEDDER, Relations


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
    """Nothing is added: all of it is the contract's."""
