"""Isolation in the index, not after it: fifty turns beside a hundred thousand are searched as if they were alone.

A namespace of fifty turns, with fifty facts about one person, lies beside one whose turns and facts say the same and
have vectors that are nearer to the question. Full-text and vector search answer the same before and after.

MEMGRAPH_TEST_GIANT sets the size of the other: 100000 takes minutes on Neo4j; by default as many as a minute allows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgraph_server.memory.terms import terms
from memgraph_server.memory.turns import Role, TurnState
from memgraph_server.stores.port import AsOf
from memgraph_server.stores.quantized import quantized
from memgraph_server.stores.records import (
    EntityRecord,
    Header,
    Record,
    StoredVector,
    TripleRecord,
    TurnRecord,
    TurnVector,
)
from memgraph_server.stores.sqlite import SqliteStore
from memgraph_server.stores.vectors import sign_bits
from tests.stores.contract_moving import plain
from tests.stores.material import (
    DIMENSION,
    EMBEDDER,
    NOW,
    Relations,
    Store,
    claim,
    entity_id,
    near,
    outcome,
    turn,
    vector,
)

SIZES = {"sqlite": 30_000, "neo4j": 5_000}
FEW, K = 50, 20
QUESTION = "tea with lemon"


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.xdist_group("neo4j"))])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, int]]:
    size = int(os.environ.get("MEMGRAPH_TEST_GIANT", SIZES[request.param]))
    if request.param == "sqlite":
        store: Any = SqliteStore(tmp_path / "a.db", Relations(), embedder_name=EMBEDDER, dimension=DIMENSION)
        store.migrate()
    else:
        target = request.getfixturevalue("neo4j_server")
        from memgraph_server.stores.neo4j_store import Neo4jStore
        from tests.services.neo4j_server import emptied

        store = emptied(Neo4jStore(target, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION))
    yield store, size
    store.close()


def small(store: Store) -> None:
    turns = [turn(f"t{i}", f"I like tea with lemon and number {i}") for i in range(FEW)]
    store.append_turns("small", turns, job_id="j", now=NOW)
    for number in range(FEW):
        told = outcome(f"t{number}", claim("Ann", "likes", f"tea {number}", NOW + number))
        store.apply_outcome("small", told, lease=None, now=NOW)


def giant(size: int) -> Iterator[Record]:
    """As records: turns that say what the others say, all of them nearer to the question, and a hub of facts."""
    base, draw = vector(QUESTION), np.random.default_rng(1)
    yield Header("giant", NOW, {"entity": size // 10 + 1, "turn": size, "triple": size // 10})
    yield EntityRecord("e", "Ann", "person", NOW)
    for number in range(size // 10):
        yield EntityRecord(f"e{number}", f"tea {number}", "", NOW)
    for number in range(size):
        close = near_by(base, draw)
        stored = TurnVector(EMBEDDER, quantized(close), sign_bits(close).tobytes())
        text = f"I like tea with lemon and number {number}"
        place = (f"t{number}", f"s{number // 1000}", number % 1000)
        yield TurnRecord(*place, Role.USER, "Ann", text, NOW, 0, NOW, TurnState.DONE, 1, vector=stored)
    for number in range(size // 10):
        close = near_by(base, draw)
        yield TripleRecord(
            "e", "likes", f"e{number}", StoredVector(EMBEDDER, quantized(close), sign_bits(close).tobytes())
        )


def near_by(base: Any, draw: np.random.Generator) -> Any:
    moved = base + draw.normal(size=DIMENSION).astype(np.float32) * np.float32(0.05)
    return (moved / np.linalg.norm(moved)).astype(np.float32)


def found(store: Store) -> list[Any]:
    around: dict[str, Any] = {"as_of": AsOf(), "minimum_confidence": 0.0, "limit": K}
    ann = entity_id(store, "small", "Ann")
    near_turns = store.nearest_turns("small", near(vector(QUESTION), 0.9), K)
    ids = {handle: identifier for identifier, handle in store.handles("small", [f"t{i}" for i in range(FEW)]).items()}
    facts = store.search_facts("small", vector(QUESTION), **around)
    neighbours = store.neighbours("small", ann, vector=vector(QUESTION), intents=None, **around)
    postings = store.postings("small", terms("tea with lemon number 7"))
    assert (len(near_turns), len(facts), len(neighbours)) == (K, K, K)
    return [
        [(ids[handle], round(score, 5)) for handle, score in near_turns],
        [(each.tail_name, round(each.similarity, 5)) for each in facts],
        [(each.tail_name, round(each.similarity, 5)) for each in neighbours],
        {term: (each.documents, [ids[handle] for handle in each.handles.tolist()]) for term, each in postings.items()},
        plain(store.corpus_size("small")),
        [ids[handle] for handle in store.sample_turns("small", 9)],
    ]


@pytest.mark.slow
def test_a_small_namespace_beside_a_huge_one_gets_its_own_results_and_all_of_them(place: tuple[Store, int]) -> None:
    store, size = place
    small(store)
    alone = found(store)
    assert store.load("giant", giant(size))
    assert store.corpus_size("giant").turns == size
    assert found(store) == alone
    assert len(store.nearest_turns("giant", vector(QUESTION), K)) == K
    assert min(score for _, score in store.nearest_turns("giant", vector(QUESTION), K)) > 0.8
