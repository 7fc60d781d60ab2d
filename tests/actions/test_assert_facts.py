"""Claims without a model, on a real store: what REST cannot show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memgraph_server import wiring
from memgraph_server.actions import assert_facts as module
from memgraph_server.actions.assert_facts import GivenAssertion, assert_facts
from memgraph_server.errors import Conflict
from memgraph_server.language.hashed_embedder import HashedEmbedder
from memgraph_server.settings import Settings
from memgraph_server.wiring import Services

CLAIM = GivenAssertion(head="Ann", relation="lives in", tail="Paris", id="c1")


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = wiring.services(Settings(store=f"sqlite:///{tmp_path}/x.db", embedder="hashed", extractor="patterns"))
    yield made
    made.close()


def claim(services: Services, *given: GivenAssertion, now: int = 1_000_000) -> list[str]:
    store, canonical = services.store, services.relations.canonical
    return assert_facts(store, "ann", given, canonical=canonical, embedder=HashedEmbedder(), now=now)


def test_a_relation_is_named_as_the_table_names_it(services: Services) -> None:
    claim(services, CLAIM)
    assert services.store.timeline("ann").facts[0].fact.relation == "lives_in"


def test_the_same_call_later_is_the_same_claim(services: Services) -> None:
    claim(services, CLAIM, now=1_000_000)
    claim(services, CLAIM, now=9_000_000)
    claim(services, replace(CLAIM, confidence=1.0, intent="FACT", polarity="claim"), now=9_000_000)
    assert services.store.assertion("ann", "c1").assertion.evidence_at == 1_000_000
    with pytest.raises(Conflict):
        claim(services, replace(CLAIM, confidence=0.5), now=9_000_000)
    with pytest.raises(Conflict):
        claim(services, replace(CLAIM, valid_from="2020"), now=9_000_000)


def test_the_same_call_beside_itself_is_the_same_claim(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other call is stored after this one has looked, and before it writes."""
    looked = module._as_before
    raced = []

    def race(*arguments: object) -> object:
        found = looked(*arguments)  # type: ignore[arg-type]
        if not raced:
            raced.append(True)
            claim(services, CLAIM, now=1_000_000)
        return found

    monkeypatch.setattr(module, "_as_before", race)
    assert claim(services, CLAIM, now=2_000_000) == ["c1"]
    assert services.store.assertion("ann", "c1").assertion.evidence_at == 1_000_000


def test_a_large_call_is_stored_at_once_and_embedded_later(services: Services) -> None:
    few = [replace(CLAIM, id=None, relation="likes", tail=f"dish {i}") for i in range(3)]
    claim(services, *few)
    assert services.store.stale_vectors(HashedEmbedder().name, 1000) == []
    many = [replace(CLAIM, id=None, relation="likes", tail=f"book {i}") for i in range(module.EMBEDDED_AT_ONCE + 1)]
    claim(services, *many)
    assert len(services.store.stale_vectors(HashedEmbedder().name, 1000)) == len(many)
