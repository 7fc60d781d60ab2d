"""Baselines: they rank as they say, fill the budget by one rule, and give retainkit's published figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.evaluation.baselines import Baseline, Bm25, Recency, ascii_words, default_baselines, words
from memgraph_server.evaluation.recall import Returned, outcome, summarize
from memgraph_server.evaluation.transcripts import read_conversations
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.retrieval.evidence import four_characters_a_token
from tests.evaluation.data import LOCOMO


def said(*texts: str) -> list[Turn]:
    return [Turn(str(n), "s", Role.USER, "Ann", text, at=n) for n, text in enumerate(texts)]


def test_recency_is_the_latest_first() -> None:
    ranking = Recency()
    ranking.add(said("a", "b", "c"))
    assert list(ranking.ranked("anything")) == [2, 1, 0]


def test_bm25_prefers_the_rare_word_and_the_shorter_turn_and_keeps_order_on_ties() -> None:
    ranking = Bm25(words)
    ranking.add(said("the cat", "the dog and the cat and more of the same", "the bird", "nothing", "none"))
    assert list(ranking.ranked("the CAT"))[:2] == [0, 1]
    assert list(ranking.ranked("???")) == [0, 1, 2, 3, 4]


def test_growing_turn_by_turn_ranks_as_all_at_once() -> None:
    texts = ("red kite", "a kite", "red red wine", "wine and a red kite")
    once, growing = Bm25(words), Bm25(words)
    once.add(said(*texts))
    for turn in said(*texts):
        growing.add([turn])
    assert once.ranked("red wine") == growing.ranked("red wine")


@given(st.lists(st.text(max_size=80), max_size=12), st.integers(0, 60), st.integers(0, 4))
def test_what_is_taken_fits_the_budget_and_nothing_that_fits_at_the_end_is_left(
    texts: list[str], budget: int, overhead: int
) -> None:
    baseline = Baseline("recency", Recency(), overhead)
    baseline.add(said(*texts))
    [(taken, spent)] = baseline.select("", [budget])
    costs = {turn.id: four_characters_a_token(turn.full_text()) + overhead for turn in said(*texts)}
    assert spent == sum(costs[turn.id] for turn in taken) <= budget
    left = [cost for turn_id, cost in costs.items() if turn_id not in {turn.id for turn in taken}]
    assert all(spent + cost > budget for cost in left)


def test_an_empty_memory_returns_nothing() -> None:
    for baseline in default_baselines(None):
        assert baseline.select("who?", [100]) == [([], 0)]


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "猫が好き", "😀 Été"])
def test_any_text_can_be_ranked(text: str) -> None:
    ranking = Bm25(words)
    ranking.add(said(text, "x"))
    assert sorted(ranking.ranked(text)) == [0, 1]
    assert "d" not in ascii_words(text)


@pytest.mark.skipif(not LOCOMO.exists(), reason="the LoCoMo dev split is not on this machine")
def test_bm25_gives_the_figures_of_retainkit_0_1_0() -> None:
    """`retainkit eval` with its `retrieval` policy on the same turns (captions included): 62.1 / 16.2 at 2,048."""
    outcomes = []
    for conversation in read_conversations(LOCOMO):
        baseline = next(b for b in default_baselines(None) if b.name == "bm25")
        baseline.add(conversation.turns)
        for probe in conversation.probes:
            [(taken, spent)] = baseline.select(probe.text, [2048])
            found = [Returned(turn.id, turn.session_id) for turn in taken]
            outcomes.append(outcome(conversation, probe, found, tokens=spent))
    recall = summarize(outcomes)
    assert {name: round(recall[name], 1) for name in ("all", "multi_hop", "temporal", "open_domain", "single_hop")} == {
        "all": 62.1,
        "multi_hop": 16.2,
        "temporal": 82.1,
        "open_domain": 25.0,
        "single_hop": 74.2,
    }
