"""Adding signals up, and what sessions do to scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgraph_server.retrieval.cues import Sought
from memgraph_server.retrieval.fusion import RELEVANCE, Ranking, fuse, lexical_scale
from memgraph_server.retrieval.sessions import REMARK, repetition, said_before, session_strength
from tests.retrieval.cards import WrittenCard, conversation, postings

SHIPPED = json.loads((Path(__file__).parents[2] / "schema" / "ranking.json").read_text("utf-8"))


def ranking(**changes: Any) -> Ranking:
    plain = {"weights": {"pooled": 1.0}, "scales": {}, "length": 0, "session": 0, "repeat": {}, "answerability": {}}
    return Ranking.from_mapping({**plain, **changes})


def test_the_ranking_that_ships_can_be_read_and_says_where_it_comes_from() -> None:
    shipped = Ranking.from_mapping(SHIPPED)
    assert set(RELEVANCE) <= set(shipped.weights)
    assert "RealMem" in SHIPPED["about"]


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"weights": 3}, "weights must map"),
        ({"length": "long"}, "length must be a number"),
        ({"length": float("inf")}, "length must be a number"),
        ({"weights": {"late": float("nan")}}, r"weights\.late must be a number"),
        ({"weights": {"late": True}}, r"weights\.late must be a number"),
        ({"weights": {"lexicl": 1}}, r"weights\.lexicl is not known; there are .*lexical"),
        ({"scales": {"late": "x"}}, r"scales\.late must be a number"),
        ({"scales": {"late": 0}}, "scales must be above 0"),
        ({"repeat": {"matterr": 1}}, "there are matter, members, one"),
        ({"answerability": {"cover": 1}}, "coverage"),
    ],
)
def test_a_ranking_of_another_shape_is_refused_by_name(broken: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ranking(**broken)


def test_a_ranking_that_lacks_a_part_is_refused() -> None:
    with pytest.raises(ValueError, match="it lacks repeat, answerability"):
        Ranking.from_mapping({"weights": {}, "scales": {}, "length": 0, "session": 0})


def test_a_score_is_the_weighted_sum_of_its_signals() -> None:
    cards = conversation("a", "b")
    signals = {"pooled": np.array([0.2, 0.4]), "speaker": np.array([1.0, 0.0]), "unknown": np.array([9.0, 9.0])}
    fused = fuse(cards, signals, ranking(weights={"pooled": 2.0, "speaker": 0.5}, scales={"pooled": 0.1}), 1.0)
    assert fused.relevance.tolist() == pytest.approx([4.0, 8.0])
    assert fused.score.tolist() == pytest.approx([4.5, 8.0])


def test_a_turn_without_vectors_ranks_by_its_words_among_turns_with_vectors() -> None:
    vector = np.ones(1, np.float32)
    cards = [
        WrittenCard(0, "a", pooled=vector),
        WrittenCard(1, "b", pooled=vector),
        WrittenCard(2, "c"),
        WrittenCard(3, "d"),
    ]
    signals = {"lexical": np.array([1.0, 3.0, 5.0, 0.0]), "pooled": np.array([0.2, 0.4, 0.0, 0.0])}
    relevance = fuse(cards, signals, ranking(weights={"lexical": 1.0, "pooled": 1.0}), 1.0).relevance
    assert relevance[2] > relevance[1] > relevance[0] > relevance[3]
    alone = fuse(cards[2:], {name: values[2:] for name, values in signals.items()}, ranking(), 1.0).relevance
    assert alone.tolist() == [5.0, 0.0]


def test_length_is_taken_out() -> None:
    cards = [WrittenCard(0, "short"), WrittenCard(1, "long " * 100, session_id="b")]
    scores = fuse(cards, {"pooled": np.array([0.5, 0.5])}, ranking(length=1.0), 1.0).score
    assert scores[0] > scores[1]


def test_a_session_gains_from_its_best_turns() -> None:
    assert session_strength(["a", "a", "a", "a", "b"], np.array([1.0, 3.0, 2.0, 0.0, 5.0])).tolist() == [2, 2, 2, 2, 5]
    assert session_strength(["a", "a"], np.array([3.0, 0.0])).tolist() == [1.0, 1.0]
    assert session_strength([], np.zeros(0)).tolist() == []


def test_what_a_session_has_said_makes_its_next_turn_worth_less_the_more_the_longer_it_was() -> None:
    sessions, scores = ["a", "b", "a", "a"], np.array([1.0, 0.5, 3.0, 1.0])
    assert said_before(sessions, scores, np.array([10.0, 20.0, 30.0, 40.0])).tolist() == [30.0, 0.0, 0.0, 40.0]
    short, long = (repetition(["a", "a"], np.array([2.0, 1.0]), np.full(2, size)) for size in (REMARK, 5.0 * REMARK))
    assert short.tolist() == [0.0, pytest.approx(np.log(2))]
    assert long[1] > short[1]
    assert said_before([], np.zeros(0), np.zeros(0)).tolist() == []


def test_of_two_sessions_that_match_alike_both_are_among_the_first_two() -> None:
    cards = [WrittenCard(n, "a word or two " * 20, session_id=session) for n, session in enumerate("aab")]
    scores = fuse(cards, {"pooled": np.array([2.0, 1.9, 1.5])}, ranking(repeat={"matter": 1.3}), 1.0).score
    assert np.argsort(-scores).tolist() == [0, 2, 1]
    together = fuse(
        cards, {"pooled": np.array([2.0, 1.9, 1.5])}, ranking(repeat={"matter": 1.3}), 1.0, sought=Sought.ONE
    ).score
    assert np.argsort(-together).tolist() == [0, 1, 2]


def test_no_cards_have_no_scores() -> None:
    assert fuse([], {}, Ranking.from_mapping(SHIPPED), 1.0).score.tolist() == []


def test_the_spread_of_the_lexical_signal_grows_with_the_question() -> None:
    cards = conversation(*[f"word{n} and word{n + 1} with other{n % 3}" for n in range(40)])
    short, long = (
        lexical_scale(postings(cards, text), 40) for text in ("word3", "word3 word9 word20 other1 other2 word30")
    )
    assert 1.0 <= short < long
    assert lexical_scale({}, 0) == 1.0
