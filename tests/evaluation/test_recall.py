"""What counts as found, and the statistics over it; scikit-free oracles are written out where they are short."""

from __future__ import annotations

import itertools
import math
from collections.abc import Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.evaluation.recall import (
    Outcome,
    Returned,
    auroc,
    bootstrap_interval,
    coverage,
    evidence_age,
    outcome,
    reliability,
    summarize,
)
from memgraph_server.evaluation.transcripts import Conversation, Probe
from memgraph_server.memory.turns import Role, Turn

scores = st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=1, max_size=30)


def conversation(*sessions: int) -> Conversation:
    """One conversation with as many turns in each session as named."""
    said = [(s, n) for s, count in enumerate(sessions) for n in range(count)]
    turns = tuple(Turn(f"s{s}:{n}", f"s{s}", Role.USER, "Ann", "text", at=at) for at, (s, n) in enumerate(said))
    return Conversation("c", turns, ())


def probe(
    turns: Set[str] = frozenset(), sessions: Set[str] = frozenset(), *, sees: int = 6, answerable: bool = True
) -> Probe:
    named = sessions or {turn.split(":")[0] for turn in turns}
    return Probe("p", "q", "single_hop", 0, sees, frozenset(turns), frozenset(named), answerable=answerable)


def returned(*ids: str, by_graph: bool = False) -> list[Returned]:
    return [Returned(turn_id, turn_id.split(":")[0], by_graph) for turn_id in ids]


@pytest.mark.parametrize(
    ("asked", "found", "share"),
    [
        (probe({"s0:0"}), returned("s0:0", "s1:0"), 1.0),
        (probe({"s0:0", "s1:1"}), returned("s0:0", "s1:0"), 0.5),
        (probe({"s0:0"}), returned("s0:1"), 0.0),
        (probe({"s0:0"}), [], 0.0),
        (probe(sessions={"s0", "s1"}), returned("s0:1", "s0:0"), 0.5),
        (probe(sessions={"s0", "s1"}), returned("s1:0", "s0:1"), 1.0),
        (probe(), returned("s0:0"), 0.0),
    ],
)
def test_all_evidence_turns_or_a_turn_of_each_evidence_session_must_be_there(
    asked: Probe, found: list[Returned], share: float
) -> None:
    assert coverage(asked, found) == share


def test_one_missing_evidence_turn_of_many_is_not_covered() -> None:
    result = outcome(conversation(2, 2, 2), probe({"s0:0", "s1:1"}), returned("s0:0"), tokens=1)
    assert (result.covered, result.partial) == (False, 0.5)


def test_evidence_counts_for_the_graph_only_where_no_turn_of_it_came_by_search() -> None:
    asked = probe({"s0:0", "s1:1"})
    mixed = outcome(conversation(2, 2, 2), asked, returned("s0:0", by_graph=True) + returned("s1:1"), tokens=1)
    assert mixed.covered
    assert mixed.graph_share == 0.5
    assert summarize([mixed])["reached_by_graph"] == 0.0
    whole = outcome(conversation(2, 2, 2), asked, returned("s0:0", "s1:1", by_graph=True), tokens=1)
    assert summarize([whole])["reached_by_graph"] == 100.0


@pytest.mark.parametrize(
    ("asked", "age"),
    [
        (probe({"s2:0"}), 0),
        (probe({"s1:0"}), 1),
        (probe({"s0:0", "s2:1"}), 2),
        (probe({"s0:0"}, sees=4), 1),
        (probe(), 0),
    ],
)
def test_age_is_counted_in_sessions_from_the_oldest_evidence_to_the_last_seen(asked: Probe, age: int) -> None:
    assert evidence_age(conversation(2, 2, 2), asked) == age


def made(*, covered: bool, category: str = "single_hop", name: str = "c", answerable: bool = True) -> Outcome:
    return Outcome("p", name, category, answerable, 0, covered, float(covered), 0.0, 10)


def test_a_summary_leaves_unanswerable_questions_out_and_splits_the_rest() -> None:
    found = summarize(
        [
            made(covered=True),
            made(covered=False, category="multi_hop", name="d"),
            made(covered=False, answerable=False),
        ]
    )
    assert (found["all"], found["single_hop"], found["multi_hop"], found["questions"]) == (50.0, 100.0, 0.0, 2)
    assert found["by_conversation"] == {"c": 100.0, "d": 0.0}
    assert found["leave_one_conversation_out"] == [0.0, 100.0]
    assert found["by_age"]["same_session"] == {"recall": 50.0, "questions": 2}


def test_nothing_asked_is_summarized_as_zero_questions() -> None:
    assert summarize([])["questions"] == 0


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(0, 3))
def test_a_bootstrap_interval_holds_the_mean_is_repeatable_and_narrows_on_agreement(
    values: list[bool], seed: int
) -> None:
    numbers = [float(v) for v in values]
    low, high = bootstrap_interval(numbers, seed=seed)
    assert 0.0 <= low <= high <= 1.0
    assert (low, high) == bootstrap_interval(numbers, seed=seed)
    if len(set(values)) == 1:
        assert low == high == numbers[0]
    else:
        assert low < high


@given(scores, scores)
def test_auroc_is_the_share_of_pairs_in_the_right_order(positives: list[float], negatives: list[float]) -> None:
    pairs = list(itertools.product(positives, negatives))
    expected = sum(1.0 if p > n else 0.5 if p == n else 0.0 for p, n in pairs) / len(pairs)
    found = auroc(positives, negatives)
    assert found is not None
    assert math.isclose(found, expected)
    swapped = auroc(negatives, positives)
    assert swapped is not None
    assert math.isclose(found + swapped, 1.0)


def test_auroc_of_nothing_is_none() -> None:
    assert auroc([], [0.5]) is None
    assert auroc([0.5], []) is None


def test_reliability_bins_hold_what_was_said_and_what_was_true() -> None:
    found = reliability([(0.05, False), (0.95, True), (0.96, False), (1.0, True)])
    assert [(row["from"], row["count"]) for row in found["bins"]] == [(0.0, 1), (0.9, 3)]
    assert found["bins"][1]["observed"] == pytest.approx(2 / 3, abs=1e-3)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50))
def test_every_forecast_falls_into_one_bin_and_a_perfect_one_has_no_error(forecasts: list[tuple[float, bool]]) -> None:
    assert sum(row["count"] for row in reliability(forecasts)["bins"]) == len(forecasts)
    perfect = reliability([(float(true), true) for _, true in forecasts])
    assert (perfect["brier"], perfect["expected_calibration_error"]) == (0.0, 0.0)
