"""The second hop: what turns say of a question beyond the best turns that they share an entity with."""

from __future__ import annotations

import numpy as np
import pytest

from memgraph_server.retrieval.second_hop import FIRST, second_hop

#: Three pieces: the first turn says the first two, the second the last two, the third what the first says.
MATCHES = np.array([[0.4, 0.3, 0.0], [0.0, 0.3, 0.3], [0.4, 0.2, 0.0], [0.0, 0.0, 0.3]])
STRANGERS = [("x",), ("y",), ("z",)]


def hop(*ends: tuple[str, ...], order: tuple[int, ...] = (0, 1, 2, 3)) -> list[float]:
    found: list[float] = second_hop(order, ends, MATCHES).tolist()
    return found


def test_a_turn_counts_by_what_it_says_beyond_the_one_that_it_goes_on_from() -> None:
    alone = hop(("marlow",), ("marlow",), *STRANGERS[:2], order=(0, 2, 3, 1))
    assert alone == pytest.approx([0.0, 0.3, 0.0, 0.0])


def test_what_says_the_same_gains_nothing_and_what_shares_no_entity_neither() -> None:
    assert hop(("marlow",), ("x",), ("marlow",), ("y",), order=(0, 1, 3, 2)) == pytest.approx([0.0] * 4)


def test_an_entity_that_most_share_joins_little() -> None:
    rare = hop(("marlow",), ("marlow",), ("x",), ("y",), order=(0, 2, 3, 1))[1]
    common = hop(("marlow",), ("marlow",), ("marlow",), ("marlow",), order=(0, 2, 3, 1))[1]
    both = hop(("marlow", "ann"), ("marlow", "ann"), ("ann",), ("ann",), order=(0, 2, 3, 1))[1]
    assert 0 < common < rare / 4
    assert both == pytest.approx(rare)


def test_only_the_best_few_are_gone_on_from() -> None:
    """The last turn shares an entity with one behind them."""
    count = FIRST + 2
    matches = np.zeros((count, 1))
    matches[-1] = 0.5
    for best, reached in ((FIRST - 1, True), (FIRST, False)):
        ends = [("e",) if place in (best, count - 1) else (f"x{place}",) for place in range(count)]
        assert bool(second_hop(range(count), ends, matches)[-1] > 0) is reached


def test_what_is_not_looked_at_is_not_reached() -> None:
    assert hop(("marlow",), ("marlow",), *STRANGERS[:2], order=(0, 2, 3)) == [0.0] * 4
    assert second_hop((), [], np.zeros((0, 3))).tolist() == []
    assert hop(("marlow",), (), (), (), order=(0,)) == [0.0] * 4
