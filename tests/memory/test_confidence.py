"""How sure a fact is: noisy-or over voices, the same in any order, exact for one voice."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.memory.confidence import Supported, most_confident, supported
from memgraph_server.memory.facts import Intent, Stratum

STABLE, SPECULATIVE = Stratum.STABLE, Stratum.SPECULATIVE


def confidence(stratum: Stratum, *voices: float) -> float:
    rows = [(each, number, Intent.FACT) for number, each in enumerate(sorted(voices, reverse=True))]
    return supported(rows, stratum).confidence


@given(st.integers(800, 1000), st.integers(0, 799))
def test_one_voice_gives_exactly_its_own_confidence(sure: int, hedged: int) -> None:
    assert confidence(STABLE, sure / 1000) == sure / 1000
    assert confidence(SPECULATIVE, hedged / 1000) == hedged / 1000


def test_voices_add_up_as_independent_ones_do() -> None:
    assert confidence(STABLE, 0.8, 0.9) == 0.98
    assert confidence(SPECULATIVE, 0.5, 0.5) == 0.75
    assert confidence(STABLE, 0.9, 1.0) == 1.0


@given(st.lists(st.floats(0, 0.799), min_size=1, max_size=40))
def test_no_number_of_hedged_voices_reaches_the_threshold(voices: list[float]) -> None:
    assert max(voices) - 1e-9 <= confidence(SPECULATIVE, *voices) <= most_confident(SPECULATIVE) < 0.8


def test_several_claims_of_one_turn_are_one_voice_with_its_most_confident_claim() -> None:
    rows = [(0.9, "turn 1", Intent.FACT), (0.85, "turn 1", Intent.FACT), (0.8, "turn 2", Intent.FACT)]
    assert supported(rows, STABLE) == Supported(0.98, Intent.FACT)


@given(st.lists(st.sampled_from([0.8, 0.85, 0.9, 0.95, 0.81]), min_size=1, max_size=5))
def test_equal_multisets_of_voices_give_equal_confidence_whatever_the_order(voices: list[float]) -> None:
    orders = {supported([(c, i, Intent.FACT) for i, c in enumerate(order)], STABLE) for order in permutations(voices)}
    assert len(orders) == 1


@pytest.mark.parametrize(("stratum", "sure"), [(STABLE, 0.8), (STABLE, 1.0), (SPECULATIVE, 0.5), (SPECULATIVE, 0.0)])
def test_a_million_supports_are_not_all_read(stratum: Stratum, sure: float) -> None:
    read = 0

    def cursor() -> Iterator[tuple[float, int, Intent]]:
        nonlocal read
        for number in range(1_000_000):
            read += 1
            yield sure, number, Intent.FACT

    supported(cursor(), stratum)
    assert read <= 24


def test_a_fact_without_support_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="at least one support"):
        supported([], STABLE)
