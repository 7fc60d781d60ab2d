"""Turns read again by another model: beside what was read before, and taken back as if it had never been read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memgraph_server import wiring
from memgraph_server.actions.reextract import Reread, every_turn, reextract, withdraw
from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.language_model.extraction import ModelExtractor
from memgraph_server.language.pattern_extractor import PatternExtractor
from tests.api.serving import Namespace, Running, running
from tests.language.language_model.clients import client_of
from tests.language.language_model.scripted_server import Script, fails, says, says_json, scripted

FACTS: list[dict[str, Any]] = [
    {"turn": 1, "head": "Ann", "relation": "lives_in", "tail": "Paris", "evidence": "I live in Paris"},
    {"turn": 1, "head": "Ann", "relation": "likes", "tail": "jazz", "evidence": "jazz"},
]


@pytest.fixture
def script() -> Iterator[Script]:
    with scripted(says_json({"facts": FACTS})) as found:
        yield found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path) as found:
        yield found


@pytest.fixture
def ann(server: Running) -> Namespace:
    space = server.namespace("ann")
    space.say("I live in Paris, where jazz is.")
    return space


def read_again(server: Running, script: Script, **more: Any) -> list[Reread]:
    services = server.services
    ids = every_turn(services.store, "ann")
    embedder = services.embedder.get()
    with closing(client_of(script)) as model:
        extractor = ModelExtractor(model, services.relations, **more)
        return list(reextract(services.store, "ann", extractor, embedder, ids, clock=wiring.clock))


def believed(ann: Namespace) -> set[tuple[str, str, str]]:
    return {(fact["relation"], fact["tail"], fact["valid_from"]) for fact in ann.timeline("Ann")}


def sources(ann: Namespace) -> list[str]:
    fact = ann.timeline("Ann", relation="lives_in")[0]
    return sorted(ann.get(f"/assertions/{one}").json()["source"] for one in fact["supports"])


def test_assertions_of_another_model_stand_beside_the_old_ones(server: Running, ann: Namespace, script: Script) -> None:
    before = believed(ann)
    found = read_again(server, script)
    assert [len(one.added) for one in found] == [2]
    assert found[0].usage.calls == 1
    assert sources(ann) == ["llm:scripted/extract-1", "patterns/1"]
    assert {tail for _, tail, _ in believed(ann) - before} == {"jazz"}


def test_a_run_is_taken_back_by_its_receipt(server: Running, ann: Namespace, script: Script) -> None:
    before = believed(ann)
    receipt = [one for found in read_again(server, script) for one in found.added]
    assert withdraw(server.services.store, "ann", receipt, reason="worse", clock=wiring.clock) == 2
    assert believed(ann) == before
    assert sources(ann) == ["patterns/1"]


def test_the_same_model_again_adds_nothing(server: Running, ann: Namespace, script: Script) -> None:
    first, second = read_again(server, script), read_again(server, script)
    assert [one.added for one in first] == [one.added for one in second]
    assert len(sources(ann)) == 2


def test_what_another_reader_stood_in_for_is_not_added_as_the_models(
    server: Running, ann: Namespace, script: Script
) -> None:
    script.play(says("no"))
    patterns = PatternExtractor(server.services.relations.canonical)
    found = read_again(server, script, otherwise=lambda: patterns)
    assert [(one.added, one.trouble) for one in found] == [((), "unreadable")]
    assert sources(ann) == ["patterns/1"]


def test_an_endpoint_that_is_down_changes_nothing(server: Running, ann: Namespace, script: Script) -> None:
    before = believed(ann)
    script.play(fails(401))
    with pytest.raises(ModelUnavailable):
        read_again(server, script)
    assert believed(ann) == before
