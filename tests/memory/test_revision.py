"""The revision gives what belief gives, after every step, and asks for no more than what changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgraph_server.memory.answers import KeyInMemory
from memgraph_server.memory.belief import believe, derive
from memgraph_server.memory.facts import Assertion, Fact, Intent, Polarity, Stratum
from memgraph_server.memory.requests import Key, Request, Slice, Sliced, Speculations, Support
from memgraph_server.memory.revision import Revision, fact_id, rederive, revise
from tests.memory.histories import HEAD, RELATION, history

Content = tuple[str, str, Stratum, int, int | None, float, Intent]


@dataclass
class Believed:
    """The current facts of one key, kept up to date by revisions."""

    single: bool
    limit: int
    assertions: list[Assertion] = field(default_factory=list)
    facts: dict[str, Fact] = field(default_factory=dict)
    versions: int = 0

    def step(self, assertion: Assertion, present: bool) -> Revision:
        if present:
            self.assertions.append(assertion)
        else:
            self.assertions = [each for each in self.assertions if each.id != assertion.id]
        key = KeyInMemory(self.assertions, list(self.facts.values()))
        revision = key.drive(revise(assertion, present=present, single=self.single, limit=self.limit))
        self.write(revision)
        return revision

    def write(self, revision: Revision) -> None:
        for fact in revision.close:
            del self.facts[fact.id]
        for new in revision.open:
            assert new.id not in self.facts
            self.versions += 1
            self.facts[new.id] = Fact(
                new.id,
                self.versions,
                new.head,
                new.relation,
                new.tail,
                new.stratum,
                new.valid_from,
                new.valid_to,
                new.confidence,
                new.intent,
                recorded_from=self.versions,
            )

    def content(self) -> set[Content]:
        return {
            (fact.id, fact.tail, fact.stratum, fact.valid_from, fact.valid_to, fact.confidence, fact.intent)
            for fact in self.facts.values()
        }

    def expected(self) -> set[Content]:
        return {
            (
                fact_id(fact.head, fact.relation, fact.tail, fact.stratum, fact.valid_from),
                fact.tail,
                fact.stratum,
                fact.valid_from,
                fact.valid_to,
                fact.confidence,
                fact.intent,
            )
            for fact in believe(self.assertions, single=self.single)
        }


def follows(seed: int, limit: int, size: int) -> bool:
    """Whether the revisions of a history give, after each of its steps, what belief gives."""
    case = history(seed, size)
    believed = Believed(case.single, limit)
    for assertion, present in case.steps:
        believed.step(assertion, present)
        if believed.content() != believed.expected():
            return False
    return True


@settings(max_examples=150)
@given(st.integers(0, 10**9), st.sampled_from([0, 2, 64]), st.sampled_from([6, 16]))
def test_one_at_a_time_gives_what_the_whole_gives_after_every_step(seed: int, limit: int, size: int) -> None:
    assert follows(seed, limit, size)


@pytest.mark.parametrize(("limit", "size", "count"), [(0, 5, 2_000), (2, 6, 1_000), (0, 16, 400)])
def test_seeded_histories_give_the_same_by_steps_as_at_once(limit: int, size: int, count: int) -> None:
    broken = [seed for seed in range(count) if not follows(seed, limit, size)]
    assert broken == [], "seeds of histories that the revision gets wrong"


def test_a_claim_that_was_ended_does_not_count_before_it_is_vouched_for_again() -> None:
    """A since 1, ended at 5, said again at 20, ended at 30: from 10 to 20 nobody stands in the way of B's return."""
    since = Assertion("a1", HEAD, RELATION, "A", 1, 20, 0, confidence=0.9, ongoing=True)
    believed = Believed(single=True, limit=0)
    for assertion in (claim(0, "B"), since, ending(5, "A"), ending(30, "A"), ending(10, "B")):
        believed.step(assertion, present=True)
    believed.step(ending(10, "B"), present=False)
    assert believed.content() == believed.expected()
    assert sorted((fact.valid_from, fact.valid_to, fact.tail) for fact in believed.facts.values()) == [
        (0, 1, "B"),
        (1, 5, "A"),
        (5, 20, "B"),
        (20, 30, "A"),
        (30, None, "B"),
    ]


@settings(max_examples=50)
@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_the_same_assertions_in_another_order_end_in_the_same_facts_with_the_same_ids(seed: int, shuffle: int) -> None:
    case = history(seed, 10)
    orders = [case.assertions, Random(shuffle).sample(case.assertions, len(case.assertions))]
    outcomes = []
    for order in orders:
        believed = Believed(case.single, limit=0)
        for assertion in order:
            believed.step(assertion, present=True)
        outcomes.append(believed.content())
    assert outcomes[0] == outcomes[1]


@settings(max_examples=50)
@given(st.integers(0, 10**9))
def test_what_is_applied_and_withdrawn_leaves_no_trace_in_what_is_believed(seed: int) -> None:
    case = history(seed, 10)
    believed = Believed(case.single, limit=0)
    for assertion in case.assertions:
        before = believed.content()
        believed.step(assertion, present=True)
        believed.step(assertion, present=False)
        assert believed.content() == before
        believed.step(assertion, present=True)


@settings(max_examples=50)
@given(st.integers(0, 10**9))
def test_a_version_is_closed_or_opened_only_where_something_changed(seed: int) -> None:
    case = history(seed, 10)
    believed = Believed(case.single, limit=0)
    for assertion, present in case.steps:
        before = believed.content()
        revision = believed.step(assertion, present)
        opened = {(n.id, n.tail, n.stratum, n.valid_from, n.valid_to, n.confidence, n.intent) for n in revision.open}
        assert opened == believed.content() - before


@settings(max_examples=50)
@given(st.integers(0, 10**9))
def test_a_change_of_cardinality_derives_the_key_anew_and_back(seed: int) -> None:
    case = history(seed, 10)
    believed = Believed(case.single, limit=64)
    for assertion in case.assertions:
        believed.step(assertion, present=True)
    before = believed.content()
    for single in (not case.single, case.single):
        believed.single = single
        believed.write(rederive(believed.assertions, believed.facts.values(), single=single))
        assert believed.content() == believed.expected()
    assert believed.content() == before


@dataclass(frozen=True)
class Counted(KeyInMemory):
    """Counts rounds and rows; the support of a fact is read lazily (test_confidence.py), and counts as one row."""

    tally: dict[str, int] = field(default_factory=lambda: {"rounds": 0, "rows": 0})
    keys: set[Key] = field(default_factory=set)

    def answer(self, request: Request) -> Any:
        answer = super().answer(request)
        self.keys.add(request.key)
        self.tally["rounds"] += isinstance(request, Slice)
        self.tally["rows"] += _rows(answer)
        return answer


def _rows(answer: Any) -> int:
    if isinstance(answer, Sliced):
        return len(answer.assertions or ()) + len(answer.facts)
    if isinstance(answer, Speculations):
        return len(answer.claims) + len(answer.endings)
    return len(answer) if isinstance(answer, tuple) and not hasattr(answer, "confidence") else 1


def claim(at: int, tail: str, *, end: int | None = None, sure: float = 0.9, known_by: str = "") -> Assertion:
    return Assertion(known_by or f"a{at}", HEAD, RELATION, tail, at, at, 0, end, sure, ongoing=end is None)


def ending(at: int, tail: str) -> Assertion:
    return Assertion(f"e{at}", HEAD, RELATION, tail, at, at, 0, confidence=0.9, polarity=Polarity.ENDING)


Shape = Callable[[int], list[Assertion]]
SHAPES: dict[str, tuple[bool, Shape]] = {
    "thousands of values, each after the last": (True, lambda n: [claim(10 * i, f"t{i}") for i in range(n)]),
    "one value said again and again": (True, lambda n: [claim(10 * i, "t") for i in range(n)]),
    "one value of many said again and again": (False, lambda n: [claim(10 * i, "t") for i in range(n)]),
    "two values in turn": (True, lambda n: [claim(10 * i, f"t{i % 2}") for i in range(n)]),
    "bounded stays": (True, lambda n: [claim(10 * i, f"t{i}", end=10 * i + 5) for i in range(n)]),
    "a value that comes and goes": (
        False,
        lambda n: [ending(10 * i, "t") if i % 2 else claim(10 * i, "t") for i in range(n)],
    ),
    "speculation between statements": (
        True,
        lambda n: [claim(10 * i, f"t{i % 7}", sure=0.5 if i % 2 else 0.9) for i in range(n)],
    ),
    "values side by side": (False, lambda n: [claim(10 * i, f"t{i}") for i in range(n)]),
}
CHANGES: dict[str, Callable[[int, str], Assertion]] = {
    "a new value at the end": lambda n, _: claim(10 * n, "new"),
    "the last value again": lambda n, last: claim(10 * n, last),
    "the value before it again": lambda n, _: claim(10 * n, f"t{(n - 2) % 2}"),
    "a stay in the middle": lambda n, _: claim(5 * n + 1, "new", end=5 * n + 3),
    "a new value in the middle": lambda n, _: claim(5 * n + 11, "new"),
    "a speculation at the end": lambda n, _: claim(10 * n, "maybe", sure=0.4),
    "a speculation in the middle": lambda n, _: claim(5 * n + 11, "maybe", sure=0.4),
    "the last value's end": lambda n, last: ending(10 * n, last),
    "an end in the middle of the last value's": lambda n, last: ending(5 * n + 11, last),
}
#: A new value that was never ended fills every gap from then on: it changes facts all along the key.
PAIRS = [
    (shape, change)
    for shape in SHAPES
    for change in CHANGES
    if (shape, change) != ("bounded stays", "a new value in the middle")
]


def cost(single: bool, assertions: Sequence[Assertion], change: Assertion) -> tuple[int, int]:
    """Rows loaded to apply the change, and to withdraw it again, checked against belief."""
    believed = Believed(single, limit=64)
    believed.write(rederive(assertions, (), single=single))
    believed.assertions = list(assertions)
    rows = []
    for present in (True, False):
        known = [*assertions, change] if present else list(assertions)
        key = Counted(known, list(believed.facts.values()))
        believed.write(key.drive(revise(change, present=present, single=single)))
        believed.assertions = known
        expected = {(f.tail, f.stratum, f.valid_from, f.valid_to, f.confidence) for f in derive(known, single=single)}
        got = {(f.tail, f.stratum, f.valid_from, f.valid_to, f.confidence) for f in believed.facts.values()}
        assert got == expected
        assert key.keys == {Key(HEAD, RELATION)}
        rows.append(key.tally["rows"])
    return rows[0], rows[1]


@pytest.mark.parametrize(("shape", "change"), PAIRS)
def test_a_change_loads_as_many_rows_from_a_large_key_as_from_a_small_one(shape: str, change: str) -> None:
    single, make = SHAPES[shape]
    loaded = []
    for size in (100, 600):
        known = make(size)
        loaded.append(max(cost(single, known, CHANGES[change](size, known[-1].tail or ""))))
    assert loaded[1] <= max(loaded[0], 20) + 4


@pytest.mark.parametrize("shape", SHAPES)
def test_the_time_to_derive_a_key_grows_with_its_size_and_not_its_square(shape: str) -> None:
    small, large = (derived_in(shape, size) for size in (1_000, 10_000))
    assert large < 35 * max(small, 0.002)  # 10 times as many


def derived_in(shape: str, size: int) -> float:
    """Seconds of the processor, the better of two."""
    single, make = SHAPES[shape]
    known, spent = make(size), []
    for _ in range(2):
        started = process_time()
        derive(known, single=single)
        spent.append(process_time() - started)
    return min(spent)


def test_a_small_key_is_settled_in_one_round_trip() -> None:
    believed = Believed(single=True, limit=64)
    for number in range(60):
        believed.step(claim(10 * number, f"t{number % 3}"), present=True)
    asking = revise(claim(5, "t1"), present=True, single=True)
    assert next(asking) == (Slice(Key(HEAD, RELATION), None, 64),)
    with pytest.raises(StopIteration):
        asking.send((Sliced(tuple(believed.assertions), tuple(believed.facts.values())),))


def test_of_a_multi_valued_relation_only_the_tail_is_asked_for() -> None:
    asking = revise(claim(5, "tea"), present=True, single=False)
    assert next(asking) == (Slice(Key(HEAD, RELATION), "tea", 64),)


def test_an_ending_of_everything_in_a_multi_valued_relation_asks_for_everything() -> None:
    everything = Assertion("e", HEAD, RELATION, None, 5, 5, 0, polarity=Polarity.ENDING)
    assert next(revise(everything, present=True, single=False)) == (Slice(Key(HEAD, RELATION), None, None),)


def test_an_extended_fact_is_a_new_version_of_the_same_id() -> None:
    believed = Believed(single=True, limit=64)
    believed.step(claim(10, "paris", end=20), present=True)
    revision = believed.step(claim(15, "paris", end=30), present=True)
    assert [old.id for old in revision.close] == [new.id for new in revision.open]
    assert [new.valid_to for new in revision.open] == [30]


def test_ids_tell_every_part_apart_and_take_any_text() -> None:
    parts = [
        ("a", "bc", "d", Stratum.STABLE, 1),
        ("ab", "c", "d", Stratum.STABLE, 1),
        ("a", "bc", "d", Stratum.SPECULATIVE, 1),
        ("a", "bc", "d", Stratum.STABLE, 11),
        ("a", "bc", "\ud800\x00🍵", Stratum.STABLE, 1),
        ("a", "bc", "1:d", Stratum.STABLE, 1),
    ]
    ids = {fact_id(*each) for each in parts}
    assert len(ids) == len(parts)
    assert all(each.startswith("f_") and len(each) == 34 for each in ids)


def test_the_id_of_a_fact_is_the_same_in_every_release() -> None:
    """Stores keep ids: a change here would orphan them."""
    assert fact_id("ann", "lives_in", "paris", Stratum.STABLE, 0) == "f_ac91aec236e9f590da5cea3af5e1edf4"


def test_a_request_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="no answer"):
        KeyInMemory((), ()).answer("what?")


def test_support_is_asked_for_what_changed_only() -> None:
    asked: list[Request] = []

    class Listening(KeyInMemory):
        def answer(self, request: Request) -> Any:
            asked.append(request)
            return super().answer(request)

    known = [claim(10 * i, f"t{i}") for i in range(100)]
    believed = Believed(single=True, limit=64)
    believed.write(rederive(known, (), single=True))
    new = claim(1_000, "new")
    Listening([*known, new], list(believed.facts.values())).drive(revise(new, present=True, single=True))
    supports = {(each.tail, each.interval.start) for each in asked if isinstance(each, Support)}
    assert supports == {("t99", 990), ("new", 1_000)}
