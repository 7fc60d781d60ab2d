"""Counterfactual repair: what each rule looks up, and what it makes of what it finds."""

from __future__ import annotations

import pytest

from memgraph_server.retrieval.evidence import Step
from memgraph_server.retrieval.repair import DISCOUNTS, Lookup, Repairs, Rule
from tests.retrieval.graphs import fact, step
from tests.retrieval.tables import Relations

TABLE = Relations(
    inverse={"parent_of": "child_of", "child_of": "parent_of", "friend_of": "friend_of"},
    antonym={"likes": "dislikes", "bought": "returned"},
    hypernym={"adores": "likes", "likes": "knows_of"},
)


def lookups(*wanted: str) -> dict[Rule, Lookup]:
    return {lookup.rule: lookup for lookup in Repairs(TABLE, wanted, below=lambda _: True).lookups("ann", 100)}


@pytest.mark.parametrize(
    ("wanted", "rule", "relations", "reverse"),
    [
        ("likes", Rule.ANTONYM, ("dislikes",), False),
        ("bought", Rule.ANTONYM, ("returned",), False),
        ("parent_of", Rule.INVERSE, ("child_of",), True),
        ("friend_of", Rule.SYMMETRIC, ("friend_of",), True),
        ("likes", Rule.BROADER, ("knows_of",), False),
        ("likes", Rule.NARROWER, ("adores",), False),
        ("likes", Rule.CLASS, ("likes",), False),
        ("likes", Rule.BEFORE, ("likes",), False),
        ("likes", Rule.AFTER, ("likes",), False),
    ],
)
def test_a_rule_looks_for_its_relations(wanted: str, rule: Rule, relations: tuple[str, ...], *, reverse: bool) -> None:
    found = lookups(wanted)[rule]
    assert (found.relations, found.reverse, found.entity) == (relations, reverse, "ann")


def test_nothing_is_looked_up_where_no_relation_is_wanted() -> None:
    assert Repairs(TABLE, ()).lookups("ann", 100) == ()


def test_a_relation_without_an_antonym_inverse_or_hypernym_has_only_its_versions() -> None:
    assert {lookup.rule for lookup in Repairs(TABLE, ("eats",)).lookups("ann", 100)} == {Rule.BEFORE, Rule.AFTER}


@pytest.mark.parametrize("rule", list(DISCOUNTS))
def test_an_inferred_step_names_its_rule_and_is_surely_less_certain(rule: Rule) -> None:
    found = step(fact("ann", "dislikes", "tea", start=200, end=300))
    lookup = Lookup(rule, "ann", ("dislikes",), False, None, 350 if rule is Rule.BEFORE else 100)
    (inferred,) = Repairs(TABLE, ("likes",), below=lambda name: name == "Tea").infer(lookup, [found])
    assert inferred.rule == rule.value
    assert 0 < inferred.confidence < found.fact.confidence
    assert inferred.fact == found.fact


def versions() -> list[Step]:
    return [
        step(fact("ann", "lives_in", "rome", start=0, end=10)),
        step(fact("ann", "lives_in", "oslo", start=10, end=20)),
        step(fact("ann", "lives_in", "bern", start=30, end=40)),
        step(fact("ann", "lives_in", "nice", start=40)),
        step(fact("ann", "works_at", "acme", start=0, end=5)),
    ]


@pytest.mark.parametrize(
    ("rule", "at", "expected"),
    [
        (Rule.BEFORE, 25, {"oslo", "acme"}),
        (Rule.BEFORE, 20, {"oslo", "acme"}),
        (Rule.BEFORE, 19, {"rome", "acme"}),
        (Rule.BEFORE, 4, set()),
        (Rule.AFTER, 25, {"bern"}),
        (Rule.AFTER, 30, {"nice"}),
        (Rule.AFTER, 40, set()),
    ],
)
def test_the_version_just_before_or_after_is_taken_for_each_relation(rule: Rule, at: int, expected: set[str]) -> None:
    lookup = Lookup(rule, "ann", ("lives_in", "works_at"), False, None, at)
    assert {found.there for found in Repairs(TABLE, ("lives_in",)).infer(lookup, versions())} == expected


def test_a_class_keeps_its_members_only() -> None:
    lookup = Lookup(Rule.CLASS, "ann", ("does",), False, None, 0)
    found = [step(fact("ann", "does", "swimming")), step(fact("ann", "does", "taxes"))]
    repairs = Repairs(TABLE, ("does",), below=lambda name: name == "Swimming")
    assert [inferred.there for inferred in repairs.infer(lookup, found)] == ["swimming"]
