"""Whether a relation holds one value at a time, learned from what followed what."""

from __future__ import annotations

import pytest

from memgraph_server.memory.cardinality import Succession, succession
from memgraph_server.memory.facts import Assertion, Polarity
from memgraph_server.memory.interval import Basis, Precision
from tests.memory import temporal_graphs

DAY = 86_400_000_000


def stated(head: str, tail: str, start: int, end: int, precision: Precision = Precision.DAY) -> Assertion:
    """Over days `[start, end)`."""
    return Assertion(
        f"{head} {tail} {start}",
        head,
        "r",
        tail,
        start * DAY,
        start * DAY,
        0,
        end * DAY,
        from_precision=precision,
        to_precision=precision,
        from_basis=Basis.STATED,
        to_basis=Basis.STATED,
    )


def jobs(*, overlap: int) -> list[Assertion]:
    """Ten people with two jobs of 1,000 days each; the second begins so many days before the first ends."""
    heads = [f"h{number}" for number in range(10)]
    return [
        each
        for head in heads
        for each in (stated(head, "first", 0, 1000), stated(head, "second", 1000 - overlap, 2000 - overlap))
    ]


def test_values_that_replace_one_another_are_single() -> None:
    seen = succession(jobs(overlap=0))
    assert (seen.heads, seen.pairs, seen.overlapping, seen.single) == (10, 10, 0, True)
    assert seen.expected == pytest.approx(10, abs=0.1)


def test_values_that_stand_side_by_side_are_not() -> None:
    assert succession(jobs(overlap=500)).single is False


def test_an_overlap_within_the_precision_of_the_dates_is_none() -> None:
    assert succession(jobs(overlap=1)).overlapping == 0
    by_year = [stated("h", "first", 0, 1000), stated("h", "second", 800, 2000, Precision.YEAR)]
    assert succession(by_year).overlapping == 0


def test_short_events_far_apart_say_nothing() -> None:
    prizes = [stated(f"h{head}", f"p{n}", 3650 * n, 3650 * n + 1) for head in range(50) for n in range(3)]
    seen = succession(prizes)
    assert (seen.pairs, seen.overlapping, seen.single) == (100, 0, None)
    assert seen.expected < 1


def test_too_little_says_nothing() -> None:
    assert succession(jobs(overlap=0)[:8]).single is None
    assert succession(jobs(overlap=500)[:8]).single is None
    assert succession([]) == Succession(0, 0, 0, 0)


def test_a_few_mistakes_do_not_hide_a_succession() -> None:
    clean = [each for number in range(10) for each in _renamed(jobs(overlap=0), number)]
    assert succession([*clean, *_renamed(jobs(overlap=500)[:8], 99)]).single is True


def _renamed(claims: list[Assertion], number: int) -> list[Assertion]:
    return [stated(f"{number}/{c.head}", c.tail or "", c.valid_from // DAY, (c.valid_to or 0) // DAY) for c in claims]


def test_what_was_not_stated_is_not_counted() -> None:
    observed = Assertion("o", "h0", "r", "third", 5 * DAY, 5 * DAY, 0, 900 * DAY)
    open_end = Assertion("p", "h0", "r", "fourth", 5 * DAY, 5 * DAY, 0, from_basis=Basis.STATED)
    ending = Assertion("e", "h0", "r", "first", 5 * DAY, 5 * DAY, 0, polarity=Polarity.ENDING)
    assert succession([*jobs(overlap=0), observed, open_end, ending]) == succession(jobs(overlap=0))


def test_order_and_repetition_do_not_matter() -> None:
    claims = jobs(overlap=3)
    assert succession(claims[::-1] + claims) == succession(claims)


@pytest.mark.skipif(not temporal_graphs.DATA.is_dir(), reason=f"no development data at {temporal_graphs.DATA}")
def test_on_real_graphs_no_relation_is_held_single_that_is_not() -> None:
    """A relation wrongly single would close facts that hold; what is seen too rarely gets no verdict."""
    verdicts = {
        (graph, relation): succession(claims).single
        for graph in temporal_graphs.FILES
        for relation, claims in temporal_graphs.by_relation(graph).items()
    }
    single = {key for key, verdict in verdicts.items() if verdict}
    multi = {key for key, verdict in verdicts.items() if verdict is False}
    judged = {(graph, name) for graph, names in temporal_graphs.SINGLE.items() for name in names}
    assert single == {("yago11k", "<isMarriedTo>"), ("wikidata12k", "P131"), ("wikidata12k", "P17")}
    assert single <= judged
    assert len(multi) >= 7
    assert not multi & judged
