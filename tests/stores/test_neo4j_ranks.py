"""Orders as text compare as the orders themselves, whatever their parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.memory.confidence import support_rank as plain_rank
from memgraph_server.memory.facts import Assertion
from memgraph_server.stores.neo4j_store.names import LONGEST, indexable
from memgraph_server.stores.neo4j_store.ranks import END, START, before, rank, support_rank

INSTANTS = st.integers(-(2**62), 2**62)
CONFIDENCES = st.floats(0.0, 1.0)
IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
ORDERS = st.tuples(INSTANTS, INSTANTS, CONFIDENCES, IDS)


@given(ORDERS, ORDERS)
def test_ranks_compare_as_their_orders_do(one: tuple[int, int, float, str], other: tuple[int, int, float, str]) -> None:
    assert (rank(one) < rank(other)) == (one < other)
    assert START < rank(one) < END


@given(ORDERS, INSTANTS)
def test_an_instant_lies_before_the_stakes_from_it_on(order: tuple[int, int, float, str], at: int) -> None:
    assert (rank(order) < before(at)) == (order[0] < at)
    assert rank(order) < before(None)


@given(ORDERS, ORDERS)
def test_support_ranks_compare_as_those_of_belief(
    one: tuple[int, int, float, str], other: tuple[int, int, float, str]
) -> None:
    def plain(order: tuple[int, int, float, str]) -> tuple[object, ...]:
        start, evidence, confidence, identifier = order
        return plain_rank(Assertion(identifier, "h", "r", "t", start, evidence, 0, confidence=confidence))

    def text(order: tuple[int, int, float, str]) -> str:
        start, evidence, confidence, identifier = order
        return support_rank(confidence, start, evidence, identifier)

    assert (text(one) < text(other)) == (plain(one) < plain(other))


def test_a_text_too_long_for_an_index_is_known_by_its_digest() -> None:
    long = "é" * LONGEST
    assert indexable("Ann") == "Ann"
    assert len(indexable(long).encode()) < LONGEST
    assert indexable(long) != indexable(long + "x")
