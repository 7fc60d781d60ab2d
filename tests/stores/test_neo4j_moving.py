"""From the embedded store to Neo4j and back: the same file, byte for byte, and the same answers on the way."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from memgraph_server.actions.ask import ask
from memgraph_server.errors import Conflict, MemgraphServerError, StoreUnavailable
from memgraph_server.memory.interval import instant
from memgraph_server.retrieval.evidence import Question
from memgraph_server.stores.neo4j_store import Neo4jStore, Target, erase
from memgraph_server.stores.neo4j_store.connection import Query
from memgraph_server.stores.records import Record, from_line, to_line
from memgraph_server.stores.sqlite import SqliteStore
from memgraph_server.wiring import Services
from tests.services.neo4j_server import emptied
from tests.stores.contract_moving import answers, live
from tests.stores.material import DIMENSION, EMBEDDER, NOW, Relations, claim, tell, turn
from tests.stores.moved_sample import NAMESPACE, read_sample, services

QUESTIONS = ("Where does she want to travel?", "What did she book?", "What is her plan for the flight?", "When is it?")


@pytest.fixture
def large(neo4j_server: Target) -> Iterator[Neo4jStore]:
    store = emptied(Neo4jStore(neo4j_server, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION))
    yield store
    store.close()


def small(folder: Path, name: str) -> SqliteStore:
    store = SqliteStore(folder / name, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION)
    store.migrate()
    return store


def lines(store: Any, namespace: str = "n") -> list[bytes]:
    return [to_line(record) for record in store.dump(namespace)]


def load(store: Any, file: list[bytes], namespace: str = "n") -> None:
    assert store.load(namespace, (from_line(line, number) for number, line in enumerate(file, 1)))


@pytest.mark.parametrize("seed", range(2))
def test_a_random_history_is_the_same_there_and_back(large: Neo4jStore, tmp_path: Path, seed: int) -> None:
    first, again = small(tmp_path, "first.db"), small(tmp_path, "again.db")
    live(first, "n", 40 + seed)
    file = lines(first)
    load(large, file)
    assert lines(large) == file
    for one, other in zip(answers(first, "n"), answers(large, "n"), strict=True):
        assert one == other
    load(again, lines(large))
    assert lines(again) == file
    assert list(answers(again, "n")) == list(answers(first, "n"))
    assert [store.check() for store in (first, large, again)] == [[], [], []]
    first.close(), again.close()


def test_what_neo4j_made_itself_is_the_same_there_and_back(large: Neo4jStore, tmp_path: Path) -> None:
    live(large, "n", 50, steps=5)
    file = lines(large)
    there = small(tmp_path, "there.db")
    load(there, file)
    assert lines(there) == file
    large.erase("n", now=NOW)
    load(large, lines(there))
    assert lines(large) == file
    there.close()


def found(services: Services, question: str) -> list[Any]:
    asked = Question(question, now=instant(datetime(2026, 6, 1, tzinfo=UTC)))
    evidence = ask(services, NAMESPACE, asked)
    turns = [(each.turn.id, each.turn.text, each.score, each.facts) for each in evidence.turns]
    return [turns, evidence.answerability]


def test_the_sample_conversation_answers_alike_on_both_stores_and_after_the_way_back(
    neo4j_server: Target, tmp_path: Path
) -> None:
    with (
        services(f"sqlite:///{tmp_path}/first.db") as first,
        services(neo4j_server.url, neo4j_server.password) as there,
        services(f"sqlite:///{tmp_path}/again.db") as again,
    ):
        read_sample(first)
        file = lines(first.store, NAMESPACE)
        load(there.store, file, NAMESPACE)
        load(again.store, lines(there.store, NAMESPACE), NAMESPACE)
        assert lines(again.store, NAMESPACE) == file
        for question in QUESTIONS:
            before = found(first, question)
            assert before[0], question
            assert found(again, question) == before
            assert found(there, question) == before


def parts(records: list[Record], until: int) -> Iterator[Record]:
    """A file whose reading breaks off."""
    yield from islice(records, until)
    raise OSError("the file cannot be read on")


def test_a_load_that_was_cut_off_is_seen_by_nobody_and_goes_on_where_it_stopped(
    large: Neo4jStore, tmp_path: Path
) -> None:
    source = small(tmp_path, "source.db")
    source.append_turns("n", [turn(f"t{i}", f"Hello {i}") for i in range(1_200)], job_id="j", now=NOW)
    tell(source, "n", claim("Ann", "likes", "tea"))
    records = list(source.dump("n"))
    with pytest.raises(OSError, match="read on"):
        large.load("n", parts(records, 1_100))
    for verb in (
        lambda: large.turns("n", ["t1"]),
        lambda: large.timeline("n"),
        lambda: list(large.dump("n")),
        lambda: large.append_turns("n", [turn("x")], job_id="x", now=NOW),
        lambda: tell(large, "n", claim("Ann", "likes", "cake")),
        lambda: large.replay("n", None, now=NOW),
    ):
        with pytest.raises(StoreUnavailable, match="is being imported"):
            verb()
    assert list(large.namespaces()) == []
    assert large.lease("w", now=NOW + 10**9, seconds=1, limit=1) is None
    assert large.check() == ["'n': its import or its erasure was cut off"]
    other = [*records[:5], dataclasses.replace(records[5], text="other"), *records[6:]]  # type: ignore[call-arg, type-var]
    with pytest.raises(Conflict, match="erase the namespace first"):
        large.load("n", other)
    written = []
    large.connection.watch = lambda query, values: written.append((query.name, len(values.get("turns", ()))))
    assert large.load("n", records)
    large.connection.watch = None
    assert sum(count for name, count in written if name.startswith("load turns")) < 1_200
    assert lines(large) == [to_line(record) for record in records]
    assert large.check() == []
    assert large.lease("w", now=NOW + 10**9, seconds=1, limit=1) is not None
    source.close()


def test_a_large_namespace_is_erased_in_parts_and_one_that_was_cut_off_is_seen_by_nobody(
    large: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase, "AT_ONCE", 50)
    large.append_turns("n", [turn(f"t{i}", f"Hello {i}") for i in range(120)], job_id="j", now=NOW)
    tell(large, "n", *(claim("Hub", "knows", f"x{i}", NOW + i) for i in range(120)))
    tell(large, "other", claim("Ann", "likes", "tea"))
    sent: list[str] = []

    def cut(query: Query, _: object) -> None:
        sent.append(query.name)
        if sent.count("erase nodes of the label Triple") == 2:
            raise OSError("the process dies")

    large.connection.watch = cut
    with pytest.raises(OSError, match="dies"):
        large.erase("n", now=NOW)
    large.connection.watch = None
    for verb in (lambda: large.turns("n", ["t1"]), lambda: tell(large, "n", claim("Ann", "likes", "cake"))):
        with pytest.raises(StoreUnavailable, match="erased"):
            verb()
    assert large.check() == ["'n': its import or its erasure was cut off"]
    receipt = large.erase("n", now=NOW)
    assert (receipt["turns"], receipt["triples"], receipt["entities"], receipt["facts"]) == (120, 70, 121, 0)
    assert large.check() == []
    assert list(large.namespaces()) == ["other"]
    assert set(large.erase("n", now=NOW).values()) == {0}


def test_what_was_loaded_in_part_can_be_erased(large: Neo4jStore, tmp_path: Path) -> None:
    source = small(tmp_path, "source.db")
    live(source, "n", 1, steps=1)
    records = list(source.dump("n"))
    with pytest.raises(OSError, match="read on"):
        large.load("n", parts(records, 30))
    large.erase("n", now=NOW)
    assert large.check() == []
    assert large.load("n", records)
    with pytest.raises(MemgraphServerError):
        large.load("n", records[:-1])
    source.close()
