"""Turns read again by another model: beside what was read before, and taken back as if it had never been read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memgraph_server import wiring
from memgraph_server.actions import sources
from memgraph_server.actions.reextract import Reread, every_turn, reextract, withdraw
from memgraph_server.errors import InvalidInput, ModelUnavailable, NotFound
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
    since = sources.survey(services.store, "ann").recorded_at
    with closing(client_of(script)) as model:
        extractor = ModelExtractor(model, services.relations, **more)
        return list(reextract(services.store, "ann", extractor, embedder, ids, since=since, clock=wiring.clock))


def believed(ann: Namespace) -> set[tuple[str, str, str]]:
    return {(fact["relation"], fact["tail"], fact["valid_from"]) for fact in ann.timeline("Ann")}


def readers(ann: Namespace) -> list[str]:
    fact = ann.timeline("Ann", relation="lives_in")[0]
    return sorted(ann.get(f"/assertions/{one}").json()["source"] for one in fact["supports"])


def test_assertions_of_another_model_stand_beside_the_old_ones(server: Running, ann: Namespace, script: Script) -> None:
    before = believed(ann)
    found = read_again(server, script)
    assert [len(one.added) for one in found] == [2]
    assert found[0].usage.calls == 1
    assert readers(ann) == ["llm:scripted/extract-1", "patterns/1"]
    assert {tail for _, tail, _ in believed(ann) - before} == {"jazz"}


def test_a_run_is_taken_back_by_its_receipt(server: Running, ann: Namespace, script: Script) -> None:
    before = believed(ann)
    receipt = [one for found in read_again(server, script) for one in found.added]
    assert withdraw(server.services.store, "ann", receipt, reason="worse", clock=wiring.clock) == 2
    assert believed(ann) == before
    assert readers(ann) == ["patterns/1"]


def test_the_same_model_again_adds_nothing(server: Running, ann: Namespace, script: Script) -> None:
    first, second = read_again(server, script), read_again(server, script)
    assert [(len(one.added), one.known) for one in first] == [(2, 0)]
    assert [(one.added, one.known) for one in second] == [((), 2)], "its receipt would take the first run back"
    assert len(readers(ann)) == 2


def test_what_another_reader_stood_in_for_is_not_added_as_the_models(
    server: Running, ann: Namespace, script: Script
) -> None:
    script.play(says("no"))
    patterns = PatternExtractor(server.services.relations.canonical)
    found = read_again(server, script, otherwise=lambda: patterns)
    assert [(one.added, one.trouble) for one in found] == [((), "unreadable")]
    assert readers(ann) == ["patterns/1"]


def test_an_endpoint_that_is_down_changes_nothing(server: Running, ann: Namespace, script: Script) -> None:
    before = believed(ann)
    script.play(fails(401))
    with pytest.raises(ModelUnavailable):
        read_again(server, script)
    assert believed(ann) == before


def test_a_turn_without_a_usable_reply_takes_no_other_with_it(server: Running, ann: Namespace, script: Script) -> None:
    ann.say("Nothing that a model could read.", "I live in Paris, where jazz is.", session="s2")
    unread = says("la la la")

    def play(body: dict[str, Any]) -> Any:
        return (unread if "Nothing" in str(body["messages"][-1]["content"].split('"turns"')[1]) else GOOD)(body)

    script.play(play)
    found = read_again(server, script)
    assert [(len(one.added), one.trouble) for one in found] == [(2, ""), (0, "unusable_reply"), (2, "")]


# -- all that a source claims, taken back and brought back

SOURCE = "llm:scripted/extract-1"
GOOD = says_json({"facts": FACTS})


def take_back(server: Running, source: str = SOURCE) -> list[str]:
    store = server.services.store
    claims = sources.survey(store, "ann").of(source)
    return list(sources.undo(store, "ann", claims, source, clock=wiring.clock))


def bring_back(server: Running, source: str = SOURCE) -> list[str]:
    store, embedder = server.services.store, server.services.embedder.get()
    claims = sources.survey(store, "ann").of(source)
    return list(sources.redo(store, "ann", claims, embedder, clock=wiring.clock))


def test_a_source_is_taken_back_and_brought_back_again_and_again(
    server: Running, ann: Namespace, script: Script
) -> None:
    without = believed(ann)
    read_again(server, script)
    with_it = believed(ann)
    assert without != with_it
    for _ in range(3):
        assert len(take_back(server)) == 2
        assert take_back(server) == [], "a second time changes nothing"
        assert believed(ann) == without
        assert len(bring_back(server)) == 2
        assert bring_back(server) == []
        assert believed(ann) == with_it
    assert readers(ann) == [SOURCE, "patterns/1"]
    found = ann.post("/query", {"query": "jazz", "token_budget": 100}).json()
    assert "jazz" in {one["tail"] for one in found["subgraph"]["edges"]}, "its vector is there again"


def test_what_was_said_of_a_claim_comes_back_with_it(server: Running, ann: Namespace, script: Script) -> None:
    read_again(server, script)
    (before,) = (one for one in take_back(server) if view(ann, one)["tail"] == "jazz")
    (after,) = (one for one in bring_back(server) if view(ann, one)["tail"] == "jazz")
    same = {"id", "recorded_at", "withdrawn_at", "withdrawn_because"}
    assert {k: v for k, v in view(ann, before).items() if k not in same} == {
        k: v for k, v in view(ann, after).items() if k not in same
    }
    assert after == f"{before}~1"


def view(ann: Namespace, assertion: str) -> dict[str, Any]:
    found: dict[str, Any] = ann.get(f"/assertions/{assertion}").json()
    return found


def test_what_an_operator_has_withdrawn_stays_withdrawn(server: Running, ann: Namespace, script: Script) -> None:
    added = read_again(server, script)[0].added
    (wrong,) = (one for one in added if view(ann, one)["tail"] == "jazz")
    assert ann.post(f"/assertions/{wrong}/retract", {"reason": "not so"}).status_code == 200
    take_back(server)
    bring_back(server)
    assert "jazz" not in {tail for _, tail, _ in believed(ann)}
    claims = sources.survey(server.services.store, "ann").of(SOURCE)
    assert (len(claims.standing), len(claims.undone), claims.corrected) == (1, 0, 1)


def test_callers_claims_and_sources_that_are_not_there_are_refused(server: Running, ann: Namespace) -> None:
    ann.claim({"head": "Ann", "relation": "likes", "tail": "tea"})
    with pytest.raises(InvalidInput, match="callers"):
        take_back(server, "api")
    with pytest.raises(NotFound, match="patterns/1"):
        take_back(server, "llm:nobody")
    with pytest.raises(InvalidInput, match="s9"):
        every_turn(server.services.store, "ann", ["s9"])
