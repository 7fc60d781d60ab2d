"""Choosing turns under a budget, and the cascade."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.memory.facts import Intent
from memgraph_server.retrieval import budget
from memgraph_server.retrieval.evidence import Path, four_characters_a_token
from tests.retrieval.cards import direction
from tests.retrieval.graphs import fact, step

NO_VECTORS = np.zeros((0, 0), np.float32)


@pytest.mark.parametrize(
    ("tokens", "scores", "limit", "expected"),
    [
        ([5, 5, 5], [1, 3, 2], 10, [1, 2]),
        ([5, 50, 5], [1, 3, 2], 10, [2, 0]),
        ([5, 5], [1, 1], 5, [0]),
        ([5, 5], [1, 2], 4, []),
        ([], [], 100, []),
        ([0, 3], [1, 2], 3, [1, 0]),
    ],
)
def test_the_best_turns_that_fit_are_chosen_whole(
    tokens: list[int], scores: list[float], limit: int, expected: list[int]
) -> None:
    assert budget.choose(tokens, scores, limit, NO_VECTORS) == expected


def test_a_near_duplicate_comes_after_everything_else() -> None:
    vectors = np.stack([direction(1), direction(1), direction(2)])
    assert budget.choose([5, 5, 5], [3, 2, 1], 100, vectors) == [0, 2, 1]
    assert budget.choose([5, 5, 5], [3, 2, 1], 10, vectors) == [0, 2]


def test_turns_without_vectors_are_no_duplicates_of_each_other() -> None:
    assert budget.choose([1, 1], [2, 1], 9, np.zeros((2, 16), np.float32)) == [0, 1]


@given(
    st.lists(st.tuples(st.integers(0, 40), st.floats(-5, 5)), max_size=30),
    st.integers(0, 200),
)
def test_no_budget_is_overrun_and_nothing_that_fits_is_left(turns: list[tuple[int, float]], limit: int) -> None:
    tokens, scores = [size for size, _ in turns], [score for _, score in turns]
    chosen = budget.choose(tokens, scores, limit, NO_VECTORS)
    used = sum(tokens[place] for place in chosen)
    assert used <= limit
    assert len(chosen) == len(set(chosen))
    assert all(tokens[place] > limit - used for place in range(len(turns)) if place not in chosen)


def test_a_turn_counts_as_much_as_the_best_path_it_supports() -> None:
    first = Path("ann", "Ann", Intent.FACT, (step(fact("ann", "likes", "tea"), turns=("t1", "t2")),), 1, 1, 1)
    second = Path("ann", "Ann", Intent.FACT, (step(fact("ann", "likes", "jam"), turns=("t2",)),), 1, 1, 1)
    assert budget.path_turns([first, second], [0.4, 0.7]) == {"t1": 0.4, "t2": 0.7}
    assert budget.entities_on([first, second]) == ["ann", "tea", "jam"]


def test_the_cascade_takes_the_earliest_unknown_turn_of_each_entity_and_at_most_five() -> None:
    definitions = {f"e{n}": [(20, f"late{n}"), (10, f"early{n}")] for n in range(8)}
    assert budget.cascade(definitions, ["early0"]) == ["early1", "early2", "early3", "early4", "early5"]
    assert budget.cascade({"e": []}, []) == []
    assert budget.cascade({"a": [(1, "t")], "b": [(1, "t")]}, []) == ["t"]


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_four_characters_are_a_token(text: str, tokens: int) -> None:
    assert four_characters_a_token(text) == tokens
