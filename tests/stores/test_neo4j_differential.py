"""Whoever reads a use case must not see which store is under it: the same histories and the same conversation, on both.

Entity and fact ids are derived, so they must be equal too; only the numbers of versions are each store's own.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from memgraph_server.errors import MemgraphServerError
from memgraph_server.memory.facts import Polarity
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.terms import terms
from memgraph_server.stores.neo4j_store import Neo4jStore, Target
from memgraph_server.stores.port import AsOf
from memgraph_server.stores.sqlite import SqliteStore
from tests.services.neo4j_server import emptied
from tests.stores.material import DIMENSION, EMBEDDER, NOW, Relations, Store, claim, outcome, tell, turn, vector

Both = tuple[Store, Store]
HEADS, TAILS = ("Ann", "Bob", "Cat"), ("tea", "cake", "Ann", "Paris")
RELATIONS = ("lives_in", "likes", "dislikes", "knows")


@pytest.fixture
def both(neo4j_server: Target, tmp_path: Path) -> Iterator[Both]:
    large = emptied(Neo4jStore(neo4j_server, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION))
    small = SqliteStore(tmp_path / "a.db", Relations(), embedder_name=EMBEDDER, dimension=DIMENSION)
    small.migrate()
    yield small, large
    small.close()
    large.close()


def said(draw: random.Random, number: int) -> Proposal:
    polarity = draw.choice([Polarity.CLAIM, Polarity.CLAIM, Polarity.CLAIM, Polarity.ENDING])
    start = NOW + draw.randrange(400)
    tails: tuple[str | None, ...] = TAILS if polarity is Polarity.CLAIM else (*TAILS, None)
    length = draw.choice([None, None, draw.randrange(1, 60)]) if polarity is Polarity.CLAIM else None
    return Proposal(
        draw.choice(HEADS),
        draw.choice(RELATIONS),
        draw.choice(tails),
        start,
        start + draw.randrange(40),
        valid_to=None if length is None else start + length,
        confidence=draw.choice([0.3, 0.6, 0.8, 0.9, 1.0]),
        polarity=polarity,
        ongoing=draw.random() < 0.5,
        turn_id=draw.choice([None, "t1", "t2", "t3"]),
        id=f"{draw.randrange(100)}-{number}",
    )


def plain(answer: Any) -> Any:
    """An answer without the numbers of versions, arrays as lists."""
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        parts = {each.name: plain(getattr(answer, each.name)) for each in dataclasses.fields(answer)}
        return {name: part for name, part in parts.items() if name not in ("version", "next_cursor", "schema_version")}
    if isinstance(answer, dict):
        return {key: plain(part) for key, part in answer.items()}
    if isinstance(answer, Sequence) and not isinstance(answer, str | bytes):
        return [plain(part) for part in answer]
    if hasattr(answer, "tolist"):
        return plain(answer.tolist())
    return answer


def same(stores: Both, ask: Callable[[Store], Any]) -> Any:
    one, other = (plain(_asked(store, ask)) for store in stores)
    assert one == other
    return one


def _asked(store: Store, ask: Callable[[Store], Any]) -> Any:
    """An error is an answer, too."""
    try:
        return ask(store)
    except MemgraphServerError as error:
        return type(error).__name__, error.message


def _shared(store: Store, as_of: AsOf) -> list[list[str]]:
    """Which turns assert something of one entity, however a store numbers entities."""
    holders: dict[int, list[str]] = {}
    for turn_id, ends in store.ends_of_turns("n", ["t1", "t2", "t3"], as_of.known_at).items():
        for entity in ends:
            holders.setdefault(entity, []).append(turn_id)
    return sorted(sorted(turns) for turns in holders.values())


def reads(stores: Both, as_of: AsOf) -> None:
    same(stores, lambda store: store.timeline("n", as_of=as_of))
    same(stores, lambda store: store.facts_of_turns("n", ["t1", "t2", "t3"], as_of))
    same(stores, lambda store: _shared(store, as_of))
    around: dict[str, Any] = {"as_of": as_of, "minimum_confidence": 0.4, "intents": None, "limit": 7}
    for name in (*HEADS, "tea"):
        entity = same(stores, lambda store, name=name: store.resolve("n", name))  # type: ignore[misc]
        if entity is None:
            continue
        identifier = entity["id"]
        same(stores, lambda s, i=identifier: s.neighbours("n", i, vector=vector("q"), **around))  # type: ignore[misc]
        same(stores, lambda s, i=identifier: s.facts_between("n", i, RELATIONS, as_of=as_of, limit=9))  # type: ignore[misc]
        same(
            stores,
            lambda s, i=identifier: s.facts_between("n", i, RELATIONS, as_of=as_of, limit=9, reverse=True),  # type: ignore[misc]
        )
    same(stores, lambda s: s.search_facts("n", vector("q"), as_of=as_of, minimum_confidence=0.0, limit=9))


@pytest.mark.parametrize("seed", range(3))
def test_the_same_random_history_is_believed_alike_now_and_as_of_every_past(both: Both, seed: int) -> None:
    draw, known = random.Random(seed), [f"{NOW}"]
    for step in range(25):
        now = NOW + 1000 * step
        proposals = [said(draw, 10 * step + index) for index in range(draw.randrange(1, 8))]
        same(both, lambda store, told=proposals, at=now: tell(store, "n", *told, now=at))  # type: ignore[misc]
        known += [each.id for each in proposals if each.id is not None]
        _change(both, draw, known, now + 500)
        if step % 8 == 7:
            reads(both, AsOf())
    for step in range(0, 25, 6):
        reads(both, AsOf(known_at=NOW + 1000 * step + 999))
    reads(both, AsOf(valid_at=NOW + 200))
    assert [store.check() for store in both] == [[], []]


def _change(both: Both, draw: random.Random, known: list[str], now: int) -> None:
    """One of: withdraw, learn a cardinality, merge or unmerge."""
    kind = draw.randrange(4)
    if kind == 0:
        chosen = draw.choice(known)
        same(both, lambda store: store.retract_assertion("n", chosen, reason="drawn", now=now))
    elif kind == 1:
        relation, single = draw.choice(RELATIONS), draw.choice([True, False, None])
        same(both, lambda store: store.set_cardinality("n", relation, single, reason="drawn", now=now))
    elif kind == 2:
        one, other = draw.sample(HEADS, 2)
        found = same(both, lambda store: store.find_names("n", [one, other]))
        if len(found) == 2:
            same(both, lambda store: store.merge("n", found[one]["id"], found[other]["id"], now=now))
            if draw.random() < 0.5:
                same(both, lambda store: store.unmerge("n", found[one]["id"], now=now + 100))


@pytest.mark.parametrize("seed", range(2))
def test_keys_too_large_to_be_read_whole_are_believed_alike(both: Both, seed: int) -> None:
    draw = random.Random(seed)
    for step in range(6):
        proposals = [
            dataclasses.replace(said(draw, 100 * step + index), head="Ann", relation=relation)
            for index in range(25)
            for relation in ("lives_in", "likes")
        ]
        proposals = [dataclasses.replace(each, id=f"{step}-{place}") for place, each in enumerate(proposals)]
        same(both, lambda store, told=proposals, at=NOW + step: tell(store, "n", *told, now=at))  # type: ignore[misc]
        same(both, lambda store: store.timeline("n"))
        same(both, lambda store, at=NOW + step: store.retract_assertion("n", f"{at - NOW}-3", reason="", now=at))  # type: ignore[misc]
        same(both, lambda store: store.timeline("n"))


def test_the_same_conversation_is_found_alike(both: Both) -> None:
    texts = ["I live in Paris", "I like tea and cake", "Bob knows Ann", "We saw the sea", "Tea is good, tea is fine"]
    turns = [turn(f"t{i}", texts[i % 5], session=f"s{i % 3}", at=NOW + i) for i in range(60)]
    for start in range(0, 60, 20):
        same(both, lambda s, at=start: s.append_turns("n", turns[at : at + 20], job_id=f"j{at}", now=NOW + at))  # type: ignore[misc]
    for number in range(0, 60, 2):
        told = claim(HEADS[number % 3], "likes", f"thing {number % 7}", NOW + number)
        same(
            both,
            lambda s, n=number, p=told: s.apply_outcome(  # type: ignore[misc]
                "n", outcome(f"t{n}", p, mentions=(("Zed", "person"),)), lease=None, now=NOW + 100 + n
            ),
        )
    same(both, lambda store: store.job("n", "j20"))
    same(both, lambda store: store.handles("n", [f"t{i}" for i in range(60)]))
    same(both, lambda store: store.postings("n", terms("tea in Paris")))
    same(both, lambda store: store.corpus_size("n"))
    same(both, lambda store: store.nearest_turns("n", vector("t4"), 8))
    same(both, lambda store: store.turn_cards("n", store.sample_turns("n", 9)))
    same(both, lambda store: store.turn_vectors("n", store.sample_turns("n", 9)))
    same(both, lambda store: store.previous_turns("n", "t30", 4))
    same(both, lambda store: store.entities("n", limit=5)[0])
    same(both, lambda store: store.stale_vectors("other", 3)[:3] and sorted(store.stale_vectors("other", 99)))
    same(both, lambda store: store.readiness("n"))
    reads(both, AsOf())
