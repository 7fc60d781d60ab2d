"""The laws of belief, over histories in which everything collides.

Hypothesis tries to break each law and shrinks what it finds. Beside it a counted run goes through 100,000 seeded
histories in CI, and through 1,000,000 by `pytest -m million`; a failure names the seed, and `history(seed)` makes it
again. Law 1 (nothing is destroyed) and law 7 (erasure is total) are a store's to keep; the locality of law 6 is tested
in test_revision.py.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgraph_server.memory.belief import BelievedFact, believe
from memgraph_server.memory.facts import Assertion, Intent, Polarity, Stratum
from tests.memory.histories import CONFIDENCES, HEAD, RELATION, TAILS, History, history
from tests.memory.rule import believed_at, covers, spells

#: An instant after the last anchor and the last end of any history here: what holds then never ends.
LAST = 14


def claim_or_ending(number: int, draw: st.DrawFn) -> Assertion:
    polarity = draw(st.sampled_from([Polarity.CLAIM, Polarity.CLAIM, Polarity.ENDING]))
    start = draw(st.integers(0, 7))
    length = draw(st.none() | st.integers(1, 4)) if polarity is Polarity.CLAIM else None
    return Assertion(
        f"a{number}",
        HEAD,
        RELATION,
        draw(st.sampled_from(TAILS if polarity is Polarity.CLAIM else (*TAILS, None))),
        start,
        evidence_at=draw(st.integers(0, 7)),
        recorded_at=0,
        valid_to=None if length is None else start + length,
        confidence=draw(st.sampled_from(CONFIDENCES)),
        intent=draw(st.sampled_from(list(Intent))),
        polarity=polarity,
        ongoing=draw(st.booleans()),
        turn_id=draw(st.sampled_from(["t1", "t2", None])),
    )


@st.composite
def said(draw: st.DrawFn) -> list[Assertion]:
    return [claim_or_ending(number, draw) for number in range(draw(st.integers(0, 8)))]


def runs(facts: tuple[BelievedFact, ...]) -> list[tuple[str, Stratum, int, int | None]]:
    return [(fact.tail, fact.stratum, fact.valid_from, fact.valid_to) for fact in facts]


@settings(max_examples=300)
@given(said(), st.booleans())
def test_belief_is_the_rule_asked_at_each_instant(known: list[Assertion], single: bool) -> None:
    assert runs(believe(known, single=single)) == spells(known, LAST, single=single)


@settings(max_examples=200)
@given(said(), st.booleans(), st.randoms())
def test_order_does_not_matter(known: list[Assertion], single: bool, random: Random) -> None:
    shuffled = random.sample(known, len(known))
    assert believe(shuffled, single=single) == believe(known, single=single)


@given(said(), st.booleans())
def test_the_same_assertion_twice_is_once(known: list[Assertion], single: bool) -> None:
    assert believe(known + known, single=single) == believe(known, single=single)


@settings(max_examples=200)
@given(said())
def test_single_means_single(known: list[Assertion]) -> None:
    stable = [fact for fact in believe(known, single=True) if fact.stratum is Stratum.STABLE]
    for at in range(LAST + 1):
        assert sum(holds(fact, at) for fact in stable) <= 1


@settings(max_examples=200)
@given(said(), st.booleans())
def test_no_time_is_invented(known: list[Assertion], single: bool) -> None:
    for fact in believe(known, single=single):
        backing = [each for each in known if each.id in fact.supports]
        assert all(each.tail == fact.tail and each.polarity is Polarity.CLAIM for each in backing)
        for at in range(LAST + 1):
            assert not holds(fact, at) or any(covers(each, at) for each in backing)


@settings(max_examples=200)
@given(said(), st.booleans())
def test_hedged_assertions_never_touch_a_stable_fact(known: list[Assertion], single: bool) -> None:
    def stable(assertions: list[Assertion]) -> list[BelievedFact]:
        return [fact for fact in believe(assertions, single=single) if fact.stratum is Stratum.STABLE]

    assert stable(known) == stable([each for each in known if each.assertive])


@settings(max_examples=200)
@given(said(), st.booleans())
def test_facts_are_sorted_disjoint_and_as_long_as_they_can_be(known: list[Assertion], single: bool) -> None:
    facts = believe(known, single=single)
    assert facts == tuple(sorted(facts, key=lambda fact: (fact.tail, fact.stratum, fact.valid_from)))
    for one, other in pairwise(facts):
        if (one.tail, one.stratum) == (other.tail, other.stratum):
            assert one.valid_to is not None
            assert one.valid_to < other.valid_from


def holds(fact: BelievedFact, at: int) -> bool:
    return fact.valid_from <= at and (fact.valid_to is None or at < fact.valid_to)


# -- counted


def keeps_the_laws(case: History, random: Random) -> bool:
    """Laws 2 and 3 on the whole history; the rule itself, and with it laws 4 and 5, at three instants of it."""
    known, single = case.assertions, case.single
    facts = believe(known, single=single)
    again = random.sample(known, len(known)) + list(known[:2])
    return believe(again, single=single) == facts and all(
        {(fact.tail, fact.stratum) for fact in facts if holds(fact, at)} == believed_at(known, at, single=single)
        for at in random.sample(range(LAST + 1), 3)
    )


def broken(seeds: range) -> list[int]:
    return [seed for seed in seeds if not keeps_the_laws(history(seed), Random(seed))][:5]


def test_the_laws_hold_over_100_000_random_histories() -> None:
    assert broken(range(100_000)) == [], "seeds of histories that break a law"


@pytest.mark.million
def test_the_laws_hold_over_1_000_000_random_histories(request: pytest.FixtureRequest) -> None:
    if "million" not in request.config.option.markexpr:
        pytest.skip("the long run, by `pytest -m million`")
    assert broken(range(100_000, 1_100_000)) == [], "seeds of histories that break a law"


def test_the_histories_are_as_different_as_they_should_be() -> None:
    """So that a mistake in their generator cannot make the counted run say nothing."""
    some = [history(seed) for seed in range(2_000)]
    assertions = [each for case in some for each in case.assertions]
    facts = [fact for case in some for fact in believe(case.assertions, single=case.single)]
    assert {case.single for case in some} == {True, False}
    assert {len(case.assertions) for case in some} == set(range(1, 7))
    assert {each.polarity for each in assertions} == set(Polarity)
    assert {each.assertive for each in assertions} == {True, False}
    assert any(each.tail is None for each in assertions)
    assert any(not applied for case in some for _, applied in case.steps)
    assert {fact.stratum for fact in facts} == set(Stratum)
    assert sum(fact.valid_to is not None for fact in facts) > 500
    assert sum(len(fact.supports) > 1 for fact in facts) > 200
