"""The contract over random histories: whatever is written, in whatever order, reads agree with a plain model.

The model keeps a list of assertions and asks `believe` for each key: the definition of belief, over all assertions,
with merges followed and withdrawn ones left out. The store keeps versions and revises them. They must agree after every
step, now and, for every earlier instant, as they did then (laws 1 to 6).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from memgraph_server.memory.belief import as_endings, believe
from memgraph_server.memory.facts import Assertion, Polarity
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal
from memgraph_server.stores.port import AsOf
from tests.stores.material import NOW, Relations, Store, entity_id, tell

HEADS, TAILS, RELATIONS = ("Ann", "Bob"), ("tea", "cake", "Ann"), ("lives_in", "likes", "dislikes", "drives")
Row = tuple[Any, ...]


@st.composite
def proposals(draw: st.DrawFn) -> Proposal:
    start = draw(st.integers(0, 9))
    polarity = draw(st.sampled_from([Polarity.CLAIM, Polarity.CLAIM, Polarity.CLAIM, Polarity.ENDING]))
    tails = TAILS if polarity is Polarity.CLAIM else (*TAILS, None)
    length = draw(st.one_of(st.none(), st.integers(1, 5))) if polarity is Polarity.CLAIM else None
    return Proposal(
        draw(st.sampled_from(HEADS)),
        draw(st.sampled_from(RELATIONS)),
        draw(st.sampled_from(tails)),
        start,
        start + draw(st.integers(0, 4)),
        valid_to=None if length is None else start + length,
        confidence=draw(st.sampled_from([0.3, 0.6, 0.8, 0.9, 1.0])),
        polarity=polarity,
        ongoing=draw(st.booleans()),
        turn_id=draw(st.sampled_from([None, "t1", "t2"])),
    )


class Model:
    """What a store must answer, from the definition alone."""

    def __init__(self) -> None:
        self.assertions: dict[str, Assertion] = {}  # heads and tails are names, as said
        self.withdrawn: set[str] = set()
        self.merged: dict[str, str] = {}
        self.single: dict[str, bool] = {}

    def facts(self) -> set[Row]:
        relations = Relations()
        keys: defaultdict[tuple[str, str], list[Assertion]] = defaultdict(list)
        for said in self.assertions.values():
            if said.id in self.withdrawn:
                continue
            each = self._standing(said)
            keys[each.head, each.relation].append(each)
            antonym = relations.antonym(each.relation)
            if antonym is not None:
                keys[each.head, antonym] += as_endings([each], antonym)
        found = set()
        for (_, relation), assertions in keys.items():
            single = self.single.get(relation, relations.cardinality(relation) == "single")
            for f in believe(assertions, single=single):
                place = (f.head, f.relation, f.tail, f.stratum.value)
                found.add((*place, f.valid_from, f.valid_to, f.confidence, f.intent.value, f.supports))
        return found

    def _standing(self, said: Assertion) -> Assertion:
        tail = None if said.tail is None else self.stands(said.tail)
        return dataclasses.replace(said, head=self.stands(said.head), tail=tail)

    def stands(self, name: str) -> str:
        while name in self.merged:
            name = self.merged[name]
        return name


class Histories(RuleBasedStateMachine):
    """Set by the test: a maker of empty stores."""

    make: Callable[[], Store]

    def __init__(self) -> None:
        super().__init__()
        self.store = type(self).make()
        self.model = Model()
        self.clock: Instant = NOW
        self.numbers = itertools.count()
        self.past: list[tuple[Instant, set[Row]]] = []

    def teardown(self) -> None:
        self.store.close()

    @rule(said=st.lists(proposals(), min_size=1, max_size=4), data=st.data())
    def say(self, said: list[Proposal], data: st.DataObject) -> None:
        """Ids come in no order: they break ties, and must not break them by arrival."""
        named = [dataclasses.replace(p, id=f"{data.draw(st.integers(0, 99))}-{next(self.numbers)}") for p in said]
        tell(self.store, "n", *named, now=self.clock)
        for p in named:
            assert p.id is not None
            self.model.assertions[p.id] = Assertion(
                p.id,
                p.head,
                p.relation,
                p.tail,
                p.valid_from,
                p.evidence_at,
                self.clock,
                p.valid_to,
                p.confidence,
                p.intent,
                p.polarity,
                p.ongoing,
                p.turn_id,
            )

    @precondition(lambda self: self.model.assertions)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(sorted(self.model.assertions)))
        self.store.retract_assertion("n", chosen, reason="drawn", now=self.clock)
        self.model.withdrawn.add(chosen)

    @precondition(lambda self: self.model.assertions)
    @rule(data=st.data())
    def say_again(self, data: st.DataObject) -> None:
        chosen = self.model.assertions[data.draw(st.sampled_from(sorted(self.model.assertions)))]
        again = Proposal(
            chosen.head,
            chosen.relation,
            chosen.tail,
            chosen.valid_from,
            chosen.evidence_at,
            valid_to=chosen.valid_to,
            confidence=chosen.confidence,
            polarity=chosen.polarity,
            ongoing=chosen.ongoing,
            turn_id=chosen.turn_id,
            id=chosen.id,
        )
        assert tell(self.store, "n", again, now=self.clock) == [chosen.id]

    @rule(relation=st.sampled_from(RELATIONS), single=st.sampled_from([True, False, None]))
    def learn(self, relation: str, single: bool | None) -> None:
        self.store.set_cardinality("n", relation, single, reason="drawn", now=self.clock)
        self.model.single.pop(relation, None)
        if single is not None:
            self.model.single[relation] = single

    @rule(entity=st.sampled_from(["Ann", "Bob", "tea", "cake"]), into=st.sampled_from(["Ann", "Bob", "tea", "cake"]))
    def merge_or_unmerge(self, entity: str, into: str) -> None:
        if any(self.store.resolve("n", name) is None for name in (entity, into)):
            return
        ids = {name: self._id(name) for name in (entity, into)}
        if entity in self.model.merged:
            self.store.unmerge("n", ids[entity], now=self.clock)
            del self.model.merged[entity]
        elif self.model.stands(into) != entity:
            self.store.merge("n", ids[entity], ids[into], now=self.clock)
            self.model.merged[entity] = into

    def _id(self, name: str) -> str:
        """Of the entity itself, merges not followed."""
        ids: set[str] = set()
        for each in self.model.assertions.values():
            if each.head == name:
                ids.add(self.store.assertion("n", each.id).assertion.head)
            if each.tail == name:
                ids.add(str(self.store.assertion("n", each.id).assertion.tail))
        return ids.pop() if ids else entity_id(self.store, "n", name)

    @invariant()
    def reads_agree_with_the_model_now_and_then(self) -> None:
        now = self._read(AsOf())
        assert now == self.model.facts()
        self.past.append((self.clock, now))
        self.clock += 1000
        for known_at, then in self.past[-12:]:
            assert self._read(AsOf(known_at=known_at + 999)) == then

    def _read(self, as_of: AsOf) -> set[Row]:
        found = set()
        for view in self.store.timeline("n", as_of=as_of).facts:
            f = view.fact
            place = (view.head_name, f.relation, view.tail_name, f.stratum.value)
            rest = (f.valid_from, f.valid_to, f.confidence, f.intent.value, tuple(sorted(view.supports)))
            found.add((*place, *rest))
        return found


class HistoryContract:
    def test_random_histories_are_believed_as_the_model_says_now_and_as_of_every_past(
        self, new_store: Callable[..., Store]
    ) -> None:
        machine = type("OfThisStore", (Histories,), {"make": staticmethod(new_store)})
        checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
        # A store's steps are slow, and so would shrinking them be: minutes. The example found is short enough to read.
        phases = (Phase.explicit, Phase.reuse, Phase.generate)
        limits = settings(max_examples=30, stateful_step_count=20, suppress_health_check=checks, phases=phases)
        run_state_machine_as_test(machine, settings=limits)
