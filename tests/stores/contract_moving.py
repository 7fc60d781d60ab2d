"""The contract of moving: what is dumped can be loaded elsewhere, and is the same memory there."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from memgraph_server.errors import Conflict, InvalidInput, MemgraphServerError, NotFound
from memgraph_server.memory.facts import Polarity
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.terms import terms
from memgraph_server.memory.turns import TurnState
from memgraph_server.stores.port import AsOf, Cost
from memgraph_server.stores.records import (
    EntityRecord,
    FactRecord,
    Header,
    Record,
    Spent,
    TurnRecord,
    from_line,
    to_line,
)
from tests.stores.material import NOW, Store, claim, outcome, tell, turn, vector

HEADS, TAILS = ("Ann", "Bob", "Cat"), ("tea", "cake", "Ann", "Paris")
RELATIONS = ("lives_in", "likes", "dislikes", "knows")


def told(draw: random.Random, number: int) -> Proposal:
    polarity = draw.choice([Polarity.CLAIM, Polarity.CLAIM, Polarity.CLAIM, Polarity.ENDING])
    start = NOW + draw.randrange(400)
    tails: tuple[str | None, ...] = TAILS if polarity is Polarity.CLAIM else (*TAILS, None)
    length = draw.choice([None, None, draw.randrange(1, 60)]) if polarity is Polarity.CLAIM else None
    return Proposal(
        draw.choice(HEADS),
        draw.choice(RELATIONS),
        draw.choice(tails),
        start,
        start + draw.randrange(40),
        valid_to=None if length is None else start + length,
        confidence=draw.choice([0.3, 0.6, 0.8, 0.9, 1.0]),
        polarity=polarity,
        ongoing=draw.random() < 0.5,
        turn_id=draw.choice([None, "t1", "t2", "t3"]),
        span=draw.choice([None, (0, 4)]),
        id=f"i{number}",
    )


def live(store: Store, namespace: str, seed: int, steps: int = 12) -> None:
    """A memory with all there is: turns in every state, merges, unmerges, withdrawals, learned cardinalities."""
    draw = random.Random(seed)
    texts = ["I live in Paris, \u00e9t\u00e9", "I like tea\nand cake", "Bob knows Ann \U0001f600", "tea tea tea", ""]
    turns = [
        turn(f"t{i}", texts[i % 5], session=f"s{i % 3}", at=NOW + i, captions=("a boat",) if i % 4 == 0 else ())
        for i in range(20)
    ]
    for start in range(0, 20, 5):
        store.append_turns(namespace, turns[start : start + 5], job_id=f"j{start}", now=NOW + start, key=f"k{start}")
    for number in range(12):
        one = dataclasses.replace(told(draw, 1000 + number), turn_id=None)
        mentions = (("Zed", "person"), (draw.choice(HEADS), ""))
        cost = Cost(number % 2, 100 * (number % 4), number % 4)  # tokens without a call, where one was shared
        told_by = outcome(f"t{number}", one, mentions=mentions, cost=cost)
        store.apply_outcome(namespace, told_by, lease=None, now=NOW + 100)
    store.fail_turn(namespace, "t13", reason="poison \u2028", final=True, retry_at=NOW, now=NOW)
    store.fail_turn(namespace, "t14", reason="not now", final=False, retry_at=NOW + 7_000, now=NOW)
    for step in range(steps):
        now = NOW + 1000 * (step + 1)
        tell(store, namespace, *(told(draw, 10 * step + index) for index in range(draw.randrange(1, 8))), now=now)
        _change(store, namespace, draw, step, now + 500)


def _change(store: Store, namespace: str, draw: random.Random, step: int, now: int) -> None:
    kind = draw.randrange(4)
    try:
        if kind == 0:
            store.retract_assertion(namespace, f"i{10 * step}", reason="drawn", now=now)
        elif kind == 1:
            single = draw.choice([True, False, None])
            store.set_cardinality(namespace, draw.choice(RELATIONS), single, reason="drawn", now=now)
        elif kind == 2:
            found = store.find_names(namespace, draw.sample(HEADS, 2))
            one, other = (each.id for each in found.values())
            store.merge(namespace, one, other, now=now)
            if draw.random() < 0.5:
                store.unmerge(namespace, one, now=now + 100)
    except (MemgraphServerError, ValueError):
        return  # what cannot be merged or withdrawn is none the worse for the test


def plain(answer: Any) -> Any:
    """Without numbers that are a store's own."""
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        own = ("version", "next_cursor", "schema_version", "handle", "previous", "next")
        parts = {each.name: plain(getattr(answer, each.name)) for each in dataclasses.fields(answer)}
        return {name: part for name, part in parts.items() if name not in own}
    if isinstance(answer, dict):
        return {str(key): plain(part) for key, part in answer.items()}
    if isinstance(answer, Sequence) and not isinstance(answer, str | bytes):
        return [plain(part) for part in answer]
    return plain(answer.tolist()) if hasattr(answer, "tolist") else repr(answer)


def answers(store: Store, namespace: str) -> Iterator[Any]:
    """What is believed now and was at every step, what is found, and what is still to be done."""
    pasts = (NOW + 1000 * step + offset for step in range(1, 14, 4) for offset in (1, 600))
    for known_at in (None, *pasts):
        as_of = AsOf(NOW + 200 if known_at is not None and known_at % 2 else None, known_at)
        yield plain(store.timeline(namespace, as_of=as_of))
        yield plain(store.facts_of_turns(namespace, [f"t{i}" for i in range(20)], as_of))
        for entity in store.find_names(namespace, ["Ann", "tea"]).values():
            around: dict[str, Any] = {"as_of": as_of, "minimum_confidence": 0.4, "intents": None, "limit": 9}
            yield plain(store.neighbours(namespace, entity.id, vector=vector("q"), **around))
            yield plain(store.facts_between(namespace, entity.id, RELATIONS, as_of=as_of, limit=9, reverse=True))
        yield plain(store.search_facts(namespace, vector("q"), as_of=as_of, minimum_confidence=0.0, limit=9))
    ids = [f"t{i}" for i in range(20)]
    yield plain([store.turns(namespace, ids), [store.turn_status(namespace, each) for each in ids]])
    yield plain([store.job(namespace, "j10"), store.dead_turns(namespace, 9, None), store.readiness(namespace)])
    yield plain([store.session_speakers(namespace, "s1"), store.previous_turns(namespace, "t9", 9)])
    yield plain([store.entities(namespace, limit=99), store.cardinalities(namespace), store.corpus_size(namespace)])
    named = {handle: identifier for identifier, handle in store.handles(namespace, ids).items()}
    yield [(named[handle], score) for handle, score in store.nearest_turns(namespace, vector("t4"), 9)]
    yield [named[handle] for handle in store.sample_turns(namespace, 7)]
    yield [plain(card) for card in store.turn_cards(namespace, list(named)).values()]
    yield [plain(held) for _, held in sorted(store.turn_vectors(namespace, list(named)).items())]
    for term, posting in sorted(store.postings(namespace, terms("tea in Paris cake")).items()):
        found = zip(posting.handles.tolist(), posting.counts.tolist(), strict=True)
        yield term, posting.documents, [(named[handle], count) for handle, count in found]


def moved(store: Store, namespace: str = "n") -> list[Record]:
    """Dumped, erased, and loaded again: into an empty place, whatever the store is."""
    records = list(store.dump(namespace))
    store.erase(namespace, now=NOW)
    assert store.load(namespace, records)
    return records


class MovingContract:
    @pytest.mark.parametrize("seed", range(2))
    def test_a_memory_that_was_moved_answers_as_before_now_and_for_every_past(self, store: Store, seed: int) -> None:
        live(store, "n", seed)
        lines = [to_line(record) for record in store.dump("n")]
        before = list(answers(store, "n"))
        store.erase("n", now=NOW)
        assert store.load("n", (from_line(line, number) for number, line in enumerate(lines, 1)))
        assert list(answers(store, "n")) == before
        assert [to_line(record) for record in store.dump("n")] == lines
        assert store.check() == []

    def test_what_is_written_afterwards_is_as_if_nothing_had_been_moved(self, store: Store) -> None:
        live(store, "n", 7)
        records = list(store.dump("n"))
        draw = random.Random(70)
        later = [told(draw, 9000 + index) for index in range(40)]
        for place, each in enumerate(later):
            tell(store, "n", each, now=NOW + place)  # the clock is ahead of this
        more = [to_line(record) for record in store.dump("n")]
        store.erase("n", now=NOW)
        store.load("n", records)
        for place, each in enumerate(later):
            tell(store, "n", each, now=NOW + place)
        assert [to_line(record) for record in store.dump("n")] == more

    def test_the_recorded_clock_goes_on_from_where_it_was(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "likes", "tea"), now=NOW + 5_000)
        moved(store)
        tell(store, "n", claim("Ann", "likes", "cake"), now=NOW)
        assert [view.fact.recorded_from for view in store.timeline("n").facts] == [NOW + 5_000, NOW + 5_001]

    def test_pending_turns_are_read_where_they_were_moved_to_and_dead_ones_can_be_replayed(self, store: Store) -> None:
        store.append_turns("n", [turn(f"t{i}") for i in range(4)], job_id="j", now=NOW)
        store.fail_turn("n", "t0", reason="poison", final=True, retry_at=NOW, now=NOW)
        store.fail_turn("n", "t1", reason="not now", final=False, retry_at=NOW + 50, now=NOW)
        moved(store)
        assert store.lease("w", now=NOW + 49, seconds=1, limit=9) is None
        lease = store.lease("w", now=NOW + 50, seconds=1, limit=9)
        assert lease is not None
        assert lease.turn_ids == ("t1", "t2", "t3")
        assert store.turn_status("n", "t0").reason == "poison"
        assert store.replay("n", None, now=NOW + 60) == 1
        assert store.turn_status("n", "t1").attempts == 1

    def test_what_reading_a_turn_took_is_moved_with_it(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b"), turn("c")], job_id="j", now=NOW)
        for name, cost in (("a", Cost(2, 700, 60)), ("b", Cost(0, 350, 30)), ("c", Cost())):
            store.apply_outcome("n", outcome(name, cost=cost), lease=None, now=NOW)
        lines = [to_line(record) for record in moved(store)]
        costs = [store.turn_status("n", name).cost for name in "abc"]
        assert costs == [Cost(2, 700, 60), Cost(0, 350, 30), Cost()]
        assert store.job("n", "j").cost == Cost(2, 1050, 90)
        assert [to_line(record) for record in store.dump("n")] == lines
        assert [b'"cost"' in line for line in lines if b'"kind":"turn"' in line] == [True, True, False]

    def test_an_idempotency_key_is_known_after_the_move(self, store: Store) -> None:
        store.append_turns("n", [turn("t0")], job_id="j", now=NOW, key="once")
        moved(store)
        again = store.append_turns("n", [turn("t0")], job_id="other", now=NOW, key="once")
        assert (again.job.id, again.new, again.known) == ("j", (), ("t0",))
        assert store.append_turns("n", [turn("t1")], job_id="j2", now=NOW).new == ("t1",)
        assert [each.position for each in store.turns("n", ["t0", "t1"])] == [0, 1]

    def test_the_same_records_are_loaded_once(self, store: Store) -> None:
        live(store, "n", 3, steps=2)
        records = moved(store)
        before = list(store.dump("n"))
        assert not store.load("n", records)
        assert list(store.dump("n")) == before

    def test_what_has_other_content_is_not_loaded_into(self, store: Store) -> None:
        live(store, "n", 3, steps=2)
        records = list(store.dump("n"))
        tell(store, "n", claim("Ann", "likes", "tea"))
        before = list(store.dump("n"))
        with pytest.raises(Conflict, match="'n' has other content"):
            store.load("n", records)
        assert list(store.dump("n")) == before

    def test_a_namespace_that_never_was_cannot_be_dumped(self, store: Store) -> None:
        with pytest.raises(NotFound):
            list(store.dump("nobody"))

    def test_records_are_loaded_into_their_own_namespace_only(self, store: Store) -> None:
        tell(store, "a", claim("Ann", "likes", "tea"))
        with pytest.raises(InvalidInput, match="'a'") as refused:
            store.load("A", list(store.dump("a")))
        assert refused.value.field == "namespace"

    def test_a_record_that_fits_nothing_leaves_nothing(self, store: Store) -> None:
        live(store, "n", 5, steps=2)
        records = list(store.dump("n"))
        place = next(index for index, each in enumerate(records) if isinstance(each, EntityRecord))
        wrong = dataclasses.replace(records[place], id="somebody else")
        store.erase("n", now=NOW)
        with pytest.raises(InvalidInput, match="there is no"):
            store.load("n", [*records[:place], wrong, *records[place + 1 :]])
        store.erase("n", now=NOW)  # of a store that loads in parts, what was there before the fault
        assert list(store.namespaces()) == []
        assert store.load("n", records)

    def test_vectors_of_another_embedder_are_moved_and_stay_stale(self, store: Store) -> None:
        store.append_turns("n", [turn("t0")], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("t0", claim("Ann", "likes", "tea")), lease=None, now=NOW)
        records = [
            dataclasses.replace(each, vector=dataclasses.replace(each.vector, embedder="older/1"))
            if not isinstance(each, Header) and getattr(each, "vector", None) is not None
            else each
            for each in store.dump("n")
        ]
        store.erase("n", now=NOW)
        store.load("n", records)
        assert store.nearest_turns("n", vector("t0"), 5) == []
        assert {kind for _, kind, _ in store.stale_vectors("test/1", 9)} == {"turn", "triple"}
        assert store.stale_vectors("older/1", 9) == []
        assert list(store.dump("n")) == records

    def test_an_empty_call_leaves_a_namespace_that_can_be_moved(self, store: Store) -> None:
        store.append_turns("n", [], job_id="j", now=NOW)
        assert [record.kind for record in moved(store)] == ["namespace", "job"]
        assert store.job("n", "j").total == 0

    def test_the_dump_of_one_state_is_not_disturbed_by_a_write_after_its_first_record(self, store: Store) -> None:
        live(store, "n", 2, steps=1)
        whole = list(store.dump("n"))
        dumping = store.dump("n")
        assert next(dumping) == whole[0]
        dumping.close()  # whoever stops reading gives back what was held
        tell(store, "n", claim("Ann", "likes", "something new"))
        assert len(list(store.dump("n"))) > len(whole)

    def test_records_say_what_was_stored(self, store: Store) -> None:
        live(store, "n", 1)
        records = list(store.dump("n"))
        turns = [each for each in records if isinstance(each, TurnRecord)]
        assert [each.id for each in turns] == [f"t{i}" for i in range(20)]
        assert turns[4].captions == ("a boat",)
        assert (turns[13].state, turns[13].reason, turns[13].attempts) == (TurnState.DEAD, "poison \u2028", 1)
        assert (turns[14].state, turns[14].due_at) == (TurnState.PENDING, NOW + 7_000)
        assert [each.cost for each in turns[:4]] == [None, Spent(1, 100, 1), Spent(0, 200, 2), Spent(1, 300, 3)]
        assert all(each.cost is None for each in turns[12:])
        assert turns[0].vector is not None
        named = {each.id: each.name for each in records if isinstance(each, EntityRecord)}
        assert all("Zed" in [named[entity] for entity in each.mentions] for each in turns[:12])
        assert all(each.mentions == () for each in turns[12:])
        assert turns[19].vector is None
        versions = [each for each in records if isinstance(each, FactRecord)]
        assert any(each.recorded_to is not None for each in versions)
        assert len({each.id for each in versions}) < len(versions)
