"""The worker: turns of a session in order, each once, whatever fails in between; nothing ends it."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memgraph_server import wiring
from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.actions.read_turns import Reader, Retries
from memgraph_server.actions.store_turns import Accepted, store_turns
from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.hashed_embedder import HashedEmbedder
from memgraph_server.language.pattern_extractor import PatternExtractor
from memgraph_server.language.port import Encoding, Extraction, InContext, TurnInContext
from memgraph_server.memory.turns import TurnState
from memgraph_server.settings import Settings
from memgraph_server.wiring import Services
from memgraph_server.workers.in_process import InProcessWorker
from memgraph_server.workers.reading import STALE_AT_ONCE, Desk, Pace
from tests.api.serving import QUICK

Fault = Callable[[TurnInContext], None]


@dataclass
class FaultyExtractor:
    """The pattern extractor, with faults before it, and a record of what it was given."""

    inner: PatternExtractor
    fault: Fault = lambda _: None
    seen: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    def extract(self, turns: Sequence[TurnInContext]) -> list[Extraction]:
        for turn in turns:
            self.fault(turn)
        self.seen.extend(turn.turn.id for turn in turns)
        return self.inner.extract(turns)


@dataclass
class Bench:
    services: Services
    extractor: FaultyExtractor
    worker: InProcessWorker
    reader: Reader

    def say(self, *texts: str, session: str = "s", namespace: str = "ann", ids: Sequence[str] = ()) -> Accepted:
        given = [
            GivenTurn(text, "2024-05-08T12:00:00Z", speaker="Ann", id=ids[index] if ids else f"{session}-{index}")
            for index, text in enumerate(texts)
        ]
        store = self.services.store
        return store_turns(store, namespace, session, given, now=wiring.clock(), new_id=wiring.new_id)

    def state(self, turn_id: str, namespace: str = "ann") -> TurnState:
        return self.services.store.turn_status(namespace, turn_id).state

    def tails(self, namespace: str = "ann") -> list[str]:
        return [view.tail_name for view in self.services.store.timeline(namespace).facts]

    def until_read(self, namespace: str = "ann", seconds: float = 20) -> None:
        ends = time.monotonic() + seconds
        while self.services.store.readiness(namespace).pending:
            assert time.monotonic() < ends, "turns are still pending"
            time.sleep(0.005)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    services = wiring.services(Settings(**{**QUICK, "store": f"sqlite:///{tmp_path}/store.db"}))
    extractor = FaultyExtractor(PatternExtractor(services.relations.canonical))
    reader = Reader(services.store, extractor, HashedEmbedder(), Retries(attempts=3, first_seconds=0.01))
    pace = Pace(lease_seconds=1.0, sweep_seconds=0.02, batch=16)
    worker = InProcessWorker(Desk(services.store, lambda: reader, "w", wiring.clock, pace))
    yield Bench(services, extractor, worker, reader)
    worker.stop()
    reader.close()
    services.close()


def test_turns_of_a_session_are_read_in_order(bench: Bench) -> None:
    bench.say(*(f"I live in City{i}." for i in range(40)))
    bench.worker.start()
    bench.until_read()
    assert bench.extractor.seen == [f"s-{i}" for i in range(40)]


def test_a_hint_is_enough_and_a_sweep_finds_what_nobody_hinted(bench: Bench) -> None:
    bench.worker.start()
    bench.say("I live in Paris.")
    bench.worker.wake()
    bench.until_read()
    bench.say("I work at Acme.", session="s2")
    bench.until_read()
    assert sorted(bench.tails()) == ["Acme", "Paris"]


def test_a_turn_that_always_fails_is_dead_with_the_reason_and_takes_nobody_with_it(bench: Bench) -> None:
    def fault(turn: TurnInContext) -> None:
        if turn.turn.id == "s-1":
            raise ZeroDivisionError("the parser stumbled")

    bench.extractor.fault = fault
    bench.say("I live in Paris.", "poison", "I work at Acme.")
    bench.say("I like tea.", session="other")
    bench.worker.start()
    bench.until_read()
    assert bench.state("s-1") is TurnState.DEAD
    status = bench.services.store.turn_status("ann", "s-1")
    assert (status.attempts, status.reason) == (3, "ZeroDivisionError: the parser stumbled")
    assert sorted(bench.tails()) == ["Acme", "Paris", "tea"]
    assert bench.worker.alive


def test_later_turns_of_a_session_wait_for_one_that_is_tried_again(bench: Bench) -> None:
    failures = iter([True, True, True, True])  # as part of a slice, then alone, twice

    def fault(turn: TurnInContext) -> None:
        if turn.turn.id == "s-1" and next(failures, False):
            raise ValueError("not yet")

    bench.extractor.fault = fault
    bench.say("I live in Paris.", "I live in Rome.", "I live in Oslo.")
    bench.worker.start()
    bench.until_read()
    applied = [bench.services.store.turn_status("ann", f"s-{i}") for i in range(3)]
    assert [status.state for status in applied] == [TurnState.DONE] * 3
    facts = bench.services.store.timeline("ann").facts
    recorded = {view.turns[0]: view.fact.recorded_from for view in facts if view.fact.recorded_to is None}
    assert list(recorded) == sorted(recorded, key=lambda turn: recorded[turn])


def test_a_dead_turn_can_be_replayed(bench: Bench) -> None:
    broken = True

    def fault(_: TurnInContext) -> None:
        if broken:
            raise ValueError("a bug that will be mended")

    bench.extractor.fault = fault
    bench.say("I live in Paris.")
    bench.worker.start()
    bench.until_read()
    assert bench.state("s-0") is TurnState.DEAD
    broken = False
    assert bench.services.store.replay("ann", None, now=wiring.clock()) == 1
    bench.worker.wake()
    bench.until_read()
    assert (bench.state("s-0"), bench.tails()) == (TurnState.DONE, ["Paris"])


def test_a_model_that_is_down_costs_no_try_and_kills_no_turn(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memgraph_server.workers.in_process.LONGEST_PAUSE", 0.01)
    down = True

    def fault(_: TurnInContext) -> None:
        if down:
            raise ModelUnavailable("the model is away")

    bench.extractor.fault = fault
    bench.say("I live in Paris.")
    bench.worker.start()
    while bench.worker.progress.failures < 10:
        time.sleep(0.005)
    assert bench.worker.progress.trouble == "model_unavailable"
    assert bench.services.store.turn_status("ann", "s-0").attempts == 0
    down = False
    bench.until_read()
    assert bench.tails() == ["Paris"]
    assert bench.worker.alive


def test_an_exception_of_any_kind_does_not_end_the_thread(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memgraph_server.workers.in_process.LONGEST_PAUSE", 0.01)
    real, failures = bench.services.store.lease, iter(range(5))

    def lease(*arguments: Any, **more: Any) -> Any:
        if next(failures, None) is not None:
            raise MemoryError("out of memory")
        return real(*arguments, **more)

    monkeypatch.setattr(bench.services.store, "lease", lease)
    bench.say("I live in Paris.")
    bench.worker.start()
    bench.until_read()
    assert bench.worker.alive


def test_a_namespace_erased_while_it_is_read_is_gone_and_others_go_on(bench: Bench) -> None:
    reading = threading.Event()

    def fault(turn: TurnInContext) -> None:
        if turn.turn.id == "s-8":
            reading.set()
            time.sleep(0.1)

    bench.extractor.fault = fault
    bench.say(*(f"I like thing{i}." for i in range(60)))
    bench.worker.start()
    assert reading.wait(10)
    bench.services.store.erase("ann", now=wiring.clock())
    bench.say("I like tea.", namespace="bob")
    bench.worker.wake()
    bench.until_read("bob")
    time.sleep(0.3)
    assert bench.tails("ann") == []
    assert bench.tails("bob") == ["tea"]
    assert bench.worker.alive


def test_two_workers_read_each_turn_once(bench: Bench) -> None:
    pace = Pace(lease_seconds=1.0, sweep_seconds=0.02, batch=4)
    other = InProcessWorker(Desk(bench.services.store, lambda: bench.reader, "v", wiring.clock, pace))
    for session in range(6):
        bench.say(*(f"I like thing{session}x{i}." for i in range(12)), session=f"s{session}")
    bench.worker.start()
    other.start()
    bench.until_read()
    other.stop()
    assert len(bench.extractor.seen) == 72
    assert len(bench.tails()) == 72


def test_a_lease_that_ran_out_is_taken_over_and_the_late_worker_writes_nothing(bench: Bench) -> None:
    bench.say("I live in Paris.")
    now = wiring.clock()
    lost = bench.services.store.lease("gone", now=now, seconds=1, limit=10)
    assert lost is not None
    assert bench.services.store.lease("w", now=now, seconds=1, limit=10) is None
    taken = bench.services.store.lease("w", now=now + 2_000_000, seconds=1, limit=10)
    assert taken is not None
    assert taken.turn_ids == lost.turn_ids
    from memgraph_server.actions.read_turns import read_lease

    assert read_lease(bench.reader, lost, clock=wiring.clock).lost
    assert bench.tails() == []
    assert read_lease(bench.reader, taken, clock=wiring.clock).failed == "s-0"  # lost, and counted as a try
    bench.services.store.release(taken)
    again = bench.services.store.lease("w", now=wiring.clock(), seconds=1, limit=10)
    assert again is not None
    assert (again.tries, again.lost) == (1, False)
    assert read_lease(bench.reader, again, clock=wiring.clock).applied == 1
    assert bench.tails() == ["Paris"]


def test_what_was_asserted_without_vectors_is_embedded_when_there_is_time(bench: Bench) -> None:
    from memgraph_server.actions.assert_facts import GivenAssertion, assert_facts

    store, embedder = bench.services.store, bench.reader.embedder
    claims = [GivenAssertion(head="Ann", relation="likes", tail=f"dish {i}") for i in range(100)]
    canonical = bench.services.relations.canonical
    assert_facts(store, "ann", claims, canonical=canonical, embedder=embedder, now=wiring.clock())
    assert len(store.stale_vectors(embedder.name, 1000)) == 100
    bench.worker.start()
    bench.worker.embed_missing()
    ends = time.monotonic() + 10
    while store.stale_vectors(embedder.name, 1):
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_turns_without_a_word_neither_stop_the_worker_nor_keep_others_from_being_embedded(bench: Bench) -> None:
    from memgraph_server.actions.assert_facts import GivenAssertion, assert_facts

    store, name = bench.services.store, bench.reader.embedder.name
    wordless = [f"t{n}" for n in range(2 * STALE_AT_ONCE)]  # more than are asked for at once
    bench.say(*(["\u200b\u200d"] * len(wordless)), "I live in Paris.", ids=(*wordless, "said"))
    bench.worker.start()
    bench.until_read()
    claims = [GivenAssertion(head="Ann", relation="likes", tail=f"dish {i}") for i in range(100)]
    assert_facts(store, "ann", claims, canonical=bench.services.relations.canonical, embedder=None, now=wiring.clock())
    bench.worker.embed_missing()
    ends = time.monotonic() + 10
    while sorted(left := store.stale_vectors(name, 1000)) != sorted(("ann", "turn", each) for each in wordless):
        assert time.monotonic() < ends, left
        time.sleep(0.01)
    assert (bench.worker.progress.trouble, bench.worker.progress.failures) == (None, 0)


@dataclass
class OlderEmbedder(HashedEmbedder):
    """Of another name, as before an upgrade; it finds something in a turn without a word."""

    name: str = "older/1"

    def encode(self, texts: Sequence[str | InContext]) -> list[Encoding]:
        found = super().encode(texts)
        return [one if one.pooled.any() else super(OlderEmbedder, self).encode(["word"])[0] for one in found]


def test_embedding_again_after_an_upgrade_is_told_when_it_begins_and_when_it_is_over(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    store, name = bench.services.store, bench.reader.embedder.name
    older = Desk(store, lambda: dataclasses.replace(bench.reader, embedder=OlderEmbedder()), "older", wiring.clock)
    said = [f"I like dish{n}." for n in range(STALE_AT_ONCE)]
    bench.say(*said, "\u200b\u200d")
    while (lease := older.lend()) is not None:
        older.read(lease)
    stale = len(store.stale_vectors("older/1", 9999))
    while older.embed_missing():  # what was read is stored by the store's own embedder's name
        pass
    assert store.outdated_vectors(name) == stale == 2 * STALE_AT_ONCE + 1
    caplog.set_level("INFO", "memgraph_server.workers")
    newer = Desk(store, lambda: bench.reader, "newer", wiring.clock)
    while newer.embed_missing():
        pass
    assert not newer.embed_missing()
    assert [record.getMessage() for record in caplog.records] == [
        f"worker: {stale} turns and facts have vectors of another embedder; embedding them again with {name}",
        f"worker: no vector of another embedder is left; this process embedded {stale - 1} turns and facts with {name}",
    ]
    assert store.outdated_vectors(name) == 0  # nor is the turn without a word, which has none any more
    assert store.stale_vectors(name, 9) == [("ann", "turn", f"s-{STALE_AT_ONCE}")]


def test_embedding_what_an_import_left_out_is_not_told_of(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    from memgraph_server.actions.assert_facts import GivenAssertion, assert_facts

    claims = [GivenAssertion(head="Ann", relation="likes", tail=f"dish {i}") for i in range(100)]
    canonical = bench.services.relations.canonical
    assert_facts(bench.services.store, "ann", claims, canonical=canonical, embedder=None, now=wiring.clock())
    caplog.set_level("INFO", "memgraph_server.workers")
    desk = Desk(bench.services.store, lambda: bench.reader, "w", wiring.clock)
    while desk.embed_missing():
        pass
    assert bench.services.store.stale_vectors(bench.reader.embedder.name, 9) == []
    assert caplog.records == []


def test_system_and_tool_turns_are_kept_but_nothing_is_read_out_of_them(bench: Bench) -> None:
    given = [GivenTurn("I live in Paris.", "2024-05-08T12:00:00Z", role=role) for role in ("system", "tool", "user")]
    store_turns(bench.services.store, "ann", "s", given, now=wiring.clock(), new_id=wiring.new_id)
    bench.worker.start()
    bench.until_read()
    assert bench.tails() == ["Paris"]


def test_stopping_does_not_wait_for_the_models_and_leaves_what_is_not_applied_pending(bench: Bench) -> None:
    begun, held = threading.Event(), threading.Event()

    def fault(_: TurnInContext) -> None:
        begun.set()
        assert held.wait(60)

    bench.extractor.fault = fault
    bench.say(*(f"I like thing{i}." for i in range(16)))
    bench.worker.start()
    try:
        assert begun.wait(10)
        bench.worker.stop()
        assert not bench.worker.alive  # while the model still holds the turn
        assert bench.services.store.readiness("ann").pending == 16
        now = wiring.clock()
        assert bench.services.store.lease("next", now=now, seconds=1, limit=99) is not None  # it was given back
    finally:
        held.set()


def test_a_slow_model_keeps_its_session(bench: Bench) -> None:
    """Longer than a lease, many times over; nobody takes the session meanwhile."""
    bench.extractor.fault = lambda _: time.sleep(0.3)
    bench.say("I live in Paris.", "I like tea.")
    pace = Pace(lease_seconds=0.15, sweep_seconds=0.01, batch=16)
    workers = [
        InProcessWorker(Desk(bench.services.store, lambda: bench.reader, name, wiring.clock, pace)) for name in "vw"
    ]
    for worker in workers:
        worker.start()
    bench.until_read()
    for worker in workers:
        worker.stop()
    assert bench.extractor.seen == ["s-0", "s-1"]
    assert sorted(bench.tails()) == ["Paris", "tea"]


def test_a_time_limit_fails_the_turn_in_hand_and_it_is_read_alone_then(bench: Bench) -> None:
    class OutOfTime(Exception):
        pass

    def fault(turn: TurnInContext) -> None:
        if turn.turn.id == "s-1":
            raise OutOfTime

    bench.extractor.fault = fault
    bench.reader = dataclasses.replace(bench.reader, interrupts=(OutOfTime,))
    desk = Desk(bench.services.store, lambda: bench.reader, "w", wiring.clock, Pace(lease_seconds=5.0))
    bench.say("I live in Paris.", "I like tea.", "I like cake.")
    innocent, tries = bench.services.store.turn_status("ann", "s-0"), 0
    while bench.services.store.readiness("ann").pending:
        lease = desk.lend()
        if lease is None:
            time.sleep(0.005)
            continue
        tries += 1
        with contextlib.suppress(OutOfTime):
            desk.read(lease)
    assert innocent.attempts == 0
    assert [bench.state(f"s-{n}") for n in range(3)] == [TurnState.DONE, TurnState.DEAD, TurnState.DONE]
    assert "time limit" in (bench.services.store.turn_status("ann", "s-1").reason or "")
    assert tries <= 6  # the slice, the first alone, the second three times, the third
