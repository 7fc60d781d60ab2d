"""What is believed: every example of the memory model, and every fault of time that belief could commit.

Instants are years. Each case says who said what when, and which facts follow.
"""

from __future__ import annotations

from itertools import permutations

import pytest

from memgraph_server.memory.belief import BelievedFact, as_endings, believe, derive
from memgraph_server.memory.facts import Assertion, Intent, Polarity, Stratum
from memgraph_server.memory.interval import Allen, Interval, allen

STABLE, SPECULATIVE = Stratum.STABLE, Stratum.SPECULATIVE
Shown = tuple[str, int, int | None]


def claim(
    tail: str, start: int, end: int | None = None, *, said: int | None = None, ongoing: bool = False, sure: float = 1.0
) -> Assertion:
    """`said`: when; `ongoing`: it holds while speaking; `sure`: its confidence."""
    known_by = f"{tail} {start}-{end} said {said} {ongoing} {sure}"
    at = start if said is None else said
    return Assertion(known_by, "ann", "lives_in", tail, start, at, 0, end, sure, ongoing=ongoing)


def ending(tail: str | None, at: int, *, said: int | None = None, sure: float = 1.0) -> Assertion:
    known_by = f"end of {tail} {at} said {said} {sure}"
    when = at if said is None else said
    return Assertion(known_by, "ann", "lives_in", tail, at, when, 0, None, sure, polarity=Polarity.ENDING)


def live_in(tail: str, said: int, *, since: int | None = None) -> Assertion:
    """ "I live in …", "I've been in … since …"."""
    return claim(tail, said if since is None else since, said=said, ongoing=True)


def may(tail: str, said: int, end: int | None = None) -> Assertion:
    return claim(tail, said, end, sure=0.5)


SINGLE: list[tuple[str, list[Assertion], list[Shown], list[Shown]]] = [
    (
        "a later value closes the earlier one at its own start",
        [live_in("Paris", 2019), claim("Boston", 2021)],
        [("Boston", 2021, None), ("Paris", 2019, 2021)],
        [],
    ),
    (
        "the same value again extends to the earlier start",
        [live_in("Paris", 2020), live_in("Paris", 2021, since=2018)],
        [("Paris", 2018, None)],
        [],
    ),
    (
        "an older statement that arrives late leaves the newer one alone",
        [claim("Boston", 2021), claim("Paris", 2019)],
        [("Boston", 2021, None), ("Paris", 2019, 2021)],
        [],
    ),
    (
        "a bounded stay takes its portion, and the older value resumes",
        [live_in("Paris", 2019), claim("Boston", 2021, 2022, said=2023)],
        [("Boston", 2021, 2022), ("Paris", 2019, 2021), ("Paris", 2022, None)],
        [],
    ),
    (
        "coming back is a new interval, not a stretched old one",
        [claim("Paris", 2018), claim("Boston", 2019), claim("Paris", 2020)],
        [("Boston", 2019, 2020), ("Paris", 2018, 2019), ("Paris", 2020, None)],
        [],
    ),
    (
        "an ending ends, and nothing takes its place",
        [claim("Paris", 2018), ending("Paris", 2020)],
        [("Paris", 2018, 2020)],
        [],
    ),
    (
        "an ending without a value ends whatever it was",
        [claim("Paris", 2018), claim("Boston", 2019), ending(None, 2020)],
        [("Boston", 2019, 2020), ("Paris", 2018, 2019)],
        [],
    ),
    (
        "when the newer value ends, the older one that never ended is back",
        [live_in("Paris", 2018), claim("Boston", 2019), ending("Boston", 2020)],
        [("Boston", 2019, 2020), ("Paris", 2018, 2019), ("Paris", 2020, None)],
        [],
    ),
    (
        "two who disagree are each believed from when they spoke",
        [live_in("Paris", 2020), live_in("Boston", 2021, since=2018)],
        [("Boston", 2018, 2020), ("Boston", 2021, None), ("Paris", 2020, 2021)],
        [],
    ),
    (
        "past tense does not vouch for the time of speaking",
        [claim("London", 2015, said=2022), live_in("Paris", 2018)],
        [("London", 2015, 2018), ("Paris", 2018, None)],
        [],
    ),
    (
        "a speculation is settled by a later statement",
        [may("Rome", 2020), claim("Boston", 2021)],
        [("Boston", 2021, None)],
        [("Rome", 2020, 2021)],
    ),
    (
        "a speculation is settled by a later stay even after the stay is over",
        [may("Rome", 2020), claim("Boston", 2021, 2022)],
        [("Boston", 2021, 2022)],
        [("Rome", 2020, 2021)],
    ),
    (
        "a speculation stands beside what is known and does not touch it",
        [live_in("Paris", 2019), may("Rome", 2020)],
        [("Paris", 2019, None)],
        [("Rome", 2020, None)],
    ),
    (
        "speculations of one relation stand side by side",
        [may("Rome", 2020), may("Oslo", 2021)],
        [],
        [("Oslo", 2021, None), ("Rome", 2020, None)],
    ),
    (
        "no number of speculations makes a fact",
        [may("Rome", year) for year in range(2010, 2030)],
        [],
        [("Rome", 2010, None)],
    ),
    (
        "one plain statement does",
        [may("Rome", 2020), claim("Rome", 2021)],
        [("Rome", 2021, None)],
        [("Rome", 2020, 2021)],
    ),
    (
        "a hedged ending ends speculation only",
        [claim("Paris", 2019), may("Rome", 2019), ending("Paris", 2020, sure=0.5), ending("Rome", 2021, sure=0.5)],
        [("Paris", 2019, None)],
        [],
    ),
    (
        "a plain ending ends speculation too",
        [may("Rome", 2019), ending("Rome", 2021)],
        [],
        [("Rome", 2019, 2021)],
    ),
    (
        "a stated future end holds until it comes",
        [claim("Paris", 2020, 2030, said=2020)],
        [("Paris", 2020, 2030)],
        [],
    ),
    (
        "a stated future end is not overwritten by what is said about something else in between",
        [claim("Paris", 2020, 2030, said=2020), claim("Boston", 2024, 2025, said=2024)],
        [("Boston", 2024, 2025), ("Paris", 2020, 2024), ("Paris", 2025, 2030)],
        [],
    ),
    (
        "an end learnt later is not dropped because the fact is known",
        [live_in("Paris", 2018), ending("Paris", 2020, said=2023)],
        [("Paris", 2018, 2020)],
        [],
    ),
    (
        "an ended fact does not come back because an older statement arrives",
        [claim("Paris", 2018), ending("Paris", 2020), live_in("Paris", 2019)],
        [("Paris", 2018, 2020)],
        [],
    ),
    (
        "said again after it had ended, it holds again",
        [claim("Paris", 2016), ending("Paris", 2018), live_in("Paris", 2020)],
        [("Paris", 2016, 2018), ("Paris", 2020, None)],
        [],
    ),
    (
        "an ending before anything was said ends nothing that starts later",
        [ending("Paris", 2018), claim("Paris", 2019)],
        [("Paris", 2019, None)],
        [],
    ),
    (
        "two values from one instant: who spoke later is believed, and neither is deleted for it",
        [claim("Paris", 2019, said=2019), claim("Boston", 2019, said=2020)],
        [("Boston", 2019, None)],
        [],
    ),
    (
        "the same value twice is one fact",
        [claim("Paris", 2019), claim("Paris", 2019, said=2019)],
        [("Paris", 2019, None)],
        [],
    ),
    ("nothing is believed of nothing", [], [], []),
]

MULTI: list[tuple[str, list[Assertion], list[Shown], list[Shown]]] = [
    (
        "an unrelated value retires nothing",
        [live_in("tea", 2019), live_in("coffee", 2021)],
        [("coffee", 2021, None), ("tea", 2019, None)],
        [],
    ),
    (
        "only the value that ended ends",
        [live_in("tea", 2019), live_in("coffee", 2019), ending("tea", 2020)],
        [("coffee", 2019, None), ("tea", 2019, 2020)],
        [],
    ),
    (
        "everything ends with an ending of everything, and what is said later holds",
        [live_in("tea", 2018), live_in("coffee", 2019), ending(None, 2020), live_in("tea", 2021)],
        [("coffee", 2019, 2020), ("tea", 2018, 2020), ("tea", 2021, None)],
        [],
    ),
    (
        "said again after it had ended, the new period does not vanish into the old one",
        [claim("tea", 2016, 2018), live_in("tea", 2020)],
        [("tea", 2016, 2018), ("tea", 2020, None)],
        [],
    ),
    (
        "a claim of the antonym is an ending",
        [live_in("tea", 2018), *as_endings([claim("tea", 2020)], "lives_in")],
        [("tea", 2018, 2020)],
        [],
    ),
    (
        "speculation is not settled by a statement about another value",
        [may("tea", 2018), claim("coffee", 2019)],
        [("coffee", 2019, None)],
        [("tea", 2018, None)],
    ),
    (
        "periods that touch are one fact, periods that do not are two",
        [claim("tea", 2016, 2018), claim("tea", 2018, 2019), claim("tea", 2020, 2021)],
        [("tea", 2016, 2019), ("tea", 2020, 2021)],
        [],
    ),
]

CASES = [(True, *case) for case in SINGLE] + [(False, *case) for case in MULTI]


def shown(facts: tuple[BelievedFact, ...], stratum: Stratum) -> list[Shown]:
    return [(fact.tail, fact.valid_from, fact.valid_to) for fact in facts if fact.stratum is stratum]


@pytest.mark.parametrize(("single", "name", "said", "stable", "speculative"), CASES, ids=[case[1] for case in CASES])
def test_belief(single: bool, name: str, said: list[Assertion], stable: list[Shown], speculative: list[Shown]) -> None:
    for order in permutations(said) if len(said) <= 4 else [said, said[::-1]]:
        facts = believe(order, single=single)
        assert shown(facts, STABLE) == stable, name
        assert shown(facts, SPECULATIVE) == speculative, name


A_THEN_B = [
    (Allen.BEFORE, (1, 3), (5, 7), [("B", 5, 7), ("A", 1, 3)]),
    (Allen.MEETS, (1, 3), (3, 5), [("B", 3, 5), ("A", 1, 3)]),
    (Allen.OVERLAPS, (1, 5), (3, 7), [("B", 3, 7), ("A", 1, 3)]),
    (Allen.STARTS, (1, 3), (1, 5), [("B", 1, 5)]),
    (Allen.DURING, (3, 5), (1, 7), [("B", 1, 3), ("B", 5, 7), ("A", 3, 5)]),
    (Allen.FINISHES, (3, 7), (1, 7), [("B", 1, 3), ("A", 3, 7)]),
    (Allen.EQUALS, (1, 7), (1, 7), [("B", 1, 7)]),
    (Allen.FINISHED_BY, (1, 7), (3, 7), [("B", 3, 7), ("A", 1, 3)]),
    (Allen.CONTAINS, (1, 7), (3, 5), [("B", 3, 5), ("A", 1, 3), ("A", 5, 7)]),
    (Allen.STARTED_BY, (1, 5), (1, 3), [("B", 1, 3), ("A", 3, 5)]),
    (Allen.OVERLAPPED_BY, (3, 7), (1, 5), [("B", 1, 3), ("A", 3, 7)]),
    (Allen.MET_BY, (3, 5), (1, 3), [("B", 1, 3), ("A", 3, 5)]),
    (Allen.AFTER, (5, 7), (1, 3), [("B", 1, 3), ("A", 5, 7)]),
]


@pytest.mark.parametrize(("relation", "one", "other", "expected"), A_THEN_B)
def test_two_periods_of_one_place_in_each_relation_that_two_intervals_can_have(
    relation: Allen, one: tuple[int, int], other: tuple[int, int], expected: list[Shown]
) -> None:
    assert allen(Interval(*one), Interval(*other)) is relation
    facts = believe([claim("A", *one, said=8), claim("B", *other, said=9)], single=True)
    assert shown(facts, STABLE) == sorted(expected)


def test_a_withdrawn_claim_reopens_what_it_had_closed() -> None:
    paris, boston = live_in("Paris", 2019), claim("Boston", 2021)
    assert shown(believe([paris, boston], single=True), STABLE) == [("Boston", 2021, None), ("Paris", 2019, 2021)]
    assert shown(believe([paris], single=True), STABLE) == [("Paris", 2019, None)]


def test_a_fact_with_another_source_outlives_the_withdrawal_of_one() -> None:
    once, again = claim("Paris", 2019, sure=0.9), claim("Paris", 2020, sure=0.9)
    (both,) = believe([once, again], single=True)
    (one,) = believe([again], single=True)
    assert (both.supports, both.confidence) == (tuple(sorted((once.id, again.id))), 0.99)
    assert (one.valid_from, one.supports, one.confidence) == (2020, (again.id,), 0.9)


def test_supports_are_the_claims_that_cover_part_of_the_fact() -> None:
    stay, before, after = claim("tea", 2016, 2018), claim("tea", 2010, 2012), claim("tea", 2018, 2019)
    facts = believe([stay, before, after, ending("tea", 2017), claim("coffee", 2016)], single=False)
    supports = {(fact.tail, fact.valid_from): fact.supports for fact in facts}
    assert supports == {
        ("coffee", 2016): (claim("coffee", 2016).id,),
        ("tea", 2010): (before.id,),
        ("tea", 2016): (stay.id,),
        ("tea", 2018): (after.id,),
    }


def test_another_threshold_moves_the_line_between_known_and_speculative() -> None:
    said = [claim("Rome", 2020, sure=0.7)]
    (fact,) = believe(said, single=True, threshold=0.6)
    assert (fact.stratum, fact.confidence) == (STABLE, 0.7)


def test_derivation_is_belief_without_its_supports() -> None:
    said = [live_in("Paris", 2019), may("Rome", 2020), claim("Boston", 2021, 2022)]
    believed = believe(said, single=True)
    assert [
        (f.tail, f.stratum, f.valid_from, f.valid_to, f.confidence, f.intent) for f in derive(said, single=True)
    ] == [(f.tail, f.stratum, f.valid_from, f.valid_to, f.confidence, f.intent) for f in believed]
    assert all(fact.supports == () for fact in derive(said, single=True))


def test_the_antonyms_own_endings_end_nothing() -> None:
    assert as_endings([ending("tea", 2020)], "likes") == ()
    (made,) = as_endings([claim("tea", 2020, 2021, said=2022, ongoing=True)], "likes")
    assert (made.relation, made.polarity, made.valid_from, made.valid_to) == ("likes", Polarity.ENDING, 2020, None)


def test_any_text_may_be_a_name() -> None:
    strange = ["", "\x00", "\ud800", "🍵", "茶", "a" * 10_000, "'; DROP TABLE fact"]
    facts = believe([claim(tail, 2020) for tail in strange], single=False)
    assert sorted(fact.tail for fact in facts) == sorted(strange)


def test_the_intent_is_that_of_the_most_confident_support() -> None:
    weak = Assertion("1", "ann", "likes", "tea", 1, 1, 0, confidence=0.8, intent=Intent.CAUSAL)
    strong = Assertion("2", "ann", "likes", "tea", 2, 2, 0, confidence=0.9, intent=Intent.TEMPORAL)
    (fact,) = believe([weak, strong], single=False)
    assert fact.intent is Intent.TEMPORAL
