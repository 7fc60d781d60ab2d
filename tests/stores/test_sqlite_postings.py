"""Postings that a process keeps are those of the rows, whoever wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memgraph_server.stores.port import Posting
from memgraph_server.stores.sqlite import SqliteStore, postings
from tests.stores.material import DIMENSION, EMBEDDER, NOW, Relations, turn


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that some turns are many."""
    monkeypatch.setattr(postings, "FREQUENT", 2)
    monkeypatch.setattr(postings, "CEILING", 6)
    monkeypatch.setattr(postings, "KEPT", 8)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[SqliteStore, SqliteStore]]:
    """Two of one file, as two processes have."""
    made = [SqliteStore(tmp_path / "m.db", Relations(), embedder_name=EMBEDDER, dimension=DIMENSION) for _ in range(2)]
    made[0].migrate()
    yield made[0], made[1]
    for store in made:
        store.close()


def say(store: SqliteStore, text: str, start: int, stop: int, namespace: str = "n") -> None:
    said = [turn(f"t{number}", text=text) for number in range(start, stop)]
    store.append_turns(namespace, said, job_id=f"j{start}", now=NOW)


def held(store: SqliteStore, term: str, namespace: str = "n") -> list[int]:
    """Occurrences, turn by turn; also checks what a posting promises."""
    found = store.postings(namespace, [term]).get(term)
    if found is None:
        return []
    assert (sorted(set(found.handles.tolist())), found.documents) == (found.handles.tolist(), found.counts.size)
    return [int(count) for count in found.counts]


def test_what_others_wrote_is_found(stores: tuple[SqliteStore, SqliteStore]) -> None:
    one, other = stores
    say(one, "tea", 0, 3)
    assert held(one, "tea") == [1, 1, 1]
    say(other, "tea or tea", 3, 5)
    assert held(one, "tea") == [1, 1, 1, 2, 2]
    assert held(one, "tea") == held(other, "tea")


def test_above_the_ceiling_only_the_number_is_known(stores: tuple[SqliteStore, SqliteStore]) -> None:
    one, other = stores
    say(one, "tea", 0, 5)
    assert held(one, "tea") == [1] * 5
    say(other, "tea", 5, 9)
    for store in (one, other, one):
        found = store.postings("n", ["tea"])["tea"]
        assert (found.documents, found.handles.size, found.counts.size) == (9, 0, 0)


def test_the_term_unused_longest_is_dropped_and_read_again(stores: tuple[SqliteStore, SqliteStore]) -> None:
    one, _ = stores
    for place, text in enumerate(("tea", "milk", "rice", "tea milk")):
        say(one, text, 3 * place, 3 * place + 3)
    for _ in range(2):
        assert [held(one, term) for term in ("tea", "milk", "rice")] == [[1] * 6, [1] * 6, [1] * 3]
        assert one._postings._size <= postings.KEPT


def test_nothing_of_an_erased_namespace_is_kept(stores: tuple[SqliteStore, SqliteStore]) -> None:
    one, other = stores
    say(one, "tea", 0, 4)
    say(one, "tea", 0, 3, namespace="other")
    assert held(one, "tea") == held(other, "tea") == [1] * 4
    one.erase("n", now=NOW)
    assert (held(one, "tea"), held(other, "tea")) == ([], [])
    say(one, "tea", 0, 2)
    assert held(one, "tea") == held(other, "tea") == [1] * 2
    assert held(one, "tea", "other") == [1] * 3


def test_a_posting_that_is_unknown_is_absent(stores: tuple[SqliteStore, SqliteStore]) -> None:
    found: dict[str, Posting] = stores[0].postings("n", ["tea", "tea"])
    assert found == {}
