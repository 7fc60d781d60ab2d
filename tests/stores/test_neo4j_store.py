"""The store on Neo4j keeps the contract of stores, whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from memgraph_server.stores.neo4j_store import Neo4jStore, Target
from tests.services.neo4j_server import emptied
from tests.stores.contract import GraphStoreContract
from tests.stores.material import DIMENSION, EMBEDDER, Relations


@pytest.fixture
def new_store(neo4j_server: Target) -> Iterator[Callable[..., Neo4jStore]]:
    opened: list[Neo4jStore] = []

    def make(same_as: Neo4jStore | None = None) -> Neo4jStore:
        store = Neo4jStore(neo4j_server, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION)
        opened.append(store)
        if same_as is None:
            emptied(store)
        return store

    yield make
    for store in opened:
        store.close()


class TestNeo4jStore(GraphStoreContract):
    """Nothing is added: all of it is the contract's."""
