"""Two real temporal graphs: in any order the same facts, and no instant of a single-valued relation with two values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from random import Random

import pytest

from memgraph_server.memory.answers import KeyInMemory
from memgraph_server.memory.belief import BelievedFact, derive
from memgraph_server.memory.facts import Assertion, Fact
from memgraph_server.memory.interval import Precision, isoformat
from memgraph_server.memory.revision import NewFact, revise
from tests.memory import temporal_graphs

pytestmark = pytest.mark.skipif(
    not temporal_graphs.DATA.is_dir(), reason=f"no development data at {temporal_graphs.DATA}"
)
GRAPHS = sorted(temporal_graphs.FILES)

Keys = dict[tuple[str, str], list[Assertion]]


def by_key(assertions: Iterable[Assertion]) -> Keys:
    keys: defaultdict[tuple[str, str], list[Assertion]] = defaultdict(list)
    for each in assertions:
        keys[each.head, each.relation].append(each)
    return dict(keys)


def facts(graph: str, assertions: Iterable[Assertion]) -> set[BelievedFact]:
    single = temporal_graphs.SINGLE[graph]
    return {fact for (_, name), known in by_key(assertions).items() for fact in derive(known, single=name in single)}


@pytest.mark.parametrize("graph", GRAPHS)
def test_any_order_gives_the_same_facts(graph: str) -> None:
    assertions = list(temporal_graphs.assertions(graph))
    believed = facts(graph, assertions)
    assert len(assertions) > 7_000
    assert len(believed) > 0.8 * len(assertions)
    for seed in range(3):
        assert facts(graph, Random(seed).sample(assertions, len(assertions))) == believed


@pytest.mark.parametrize("graph", GRAPHS)
def test_one_at_a_time_in_any_order_gives_the_same_facts(graph: str) -> None:
    single = temporal_graphs.SINGLE[graph]
    busiest = sorted(by_key(temporal_graphs.assertions(graph)).items(), key=lambda item: -len(item[1]))[:150]
    for (_, name), known in busiest:
        expected = {_content(fact) for fact in derive(known, single=name in single)}
        for seed in range(3):
            arriving = Random(seed).sample(known, len(known))
            assert {_content(fact) for fact in revised(arriving, single=name in single)} == expected


def revised(arriving: list[Assertion], *, single: bool) -> list[Fact]:
    current: dict[str, Fact] = {}
    for count, assertion in enumerate(arriving, 1):
        key = KeyInMemory(arriving[:count], list(current.values()))
        revision = key.drive(revise(assertion, present=True, single=single, limit=3))
        for old in revision.close:
            del current[old.id]
        current |= {new.id: _version(new, count) for new in revision.open}
    return list(current.values())


def _version(new: NewFact, count: int) -> Fact:
    whose = (new.head, new.relation, new.tail, new.stratum)
    return Fact(new.id, count, *whose, new.valid_from, new.valid_to, new.confidence, new.intent, count)


def _content(fact: Fact | BelievedFact) -> tuple[str, int, int | None, float]:
    return fact.tail, fact.valid_from, fact.valid_to, fact.confidence


@pytest.mark.parametrize("graph", GRAPHS)
def test_no_instant_of_a_single_valued_relation_has_two_values(graph: str) -> None:
    checked = 0
    for (_, name), known in by_key(temporal_graphs.assertions(graph)).items():
        if name in temporal_graphs.SINGLE[graph]:
            stable = sorted(derive(known, single=True), key=lambda fact: fact.valid_from)
            checked += len(stable) > 1
            assert all(one.valid_to is not None and one.valid_to <= two.valid_from for one, two in pairwise(stable))
    assert checked > 40


def test_a_date_known_to_the_year_stands_for_its_first_instant() -> None:
    years = {isoformat(each.valid_from) for each in temporal_graphs.assertions("yago11k") if each.tail == "10290"}
    assert "1787-01-01T00:00:00Z" in years
    coarse = [each for each in temporal_graphs.assertions("yago11k") if each.from_precision is Precision.YEAR]
    assert all("-01-01T00:00:00Z" in isoformat(each.valid_from) for each in coarse)
    assert min(isoformat(each.valid_from) for each in coarse) < "0400"
