"""The Neo4j store as it grows, and as workers are added: ratios in one run.

    python -m tests.performance neo4j_growth [--facts 10000 300000] [--samples 100] [--workers 8] [--json OUT]
    python -m tests.performance neo4j_growth --again        over the memories that an earlier run has filled

Needs a Neo4j for tests (tests/services/neo4j start) and its data is deleted. One person holds half of the facts.
1. applying one fact to anybody and to that person, and a question: at each size as it is reached and warm, and once
   more in all of them in turn, so that another load of the machine falls on all alike; statements a turn;
2. turns a second with a scripted extractor that takes 200 ms a turn, by one worker process and by several.
"""

from __future__ import annotations

import importlib
import multiprocessing
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgraph_server import wiring
from memgraph_server.actions.ask import ask
from memgraph_server.actions.read_turns import Reader
from memgraph_server.language.hashed_embedder import HashedEmbedder
from memgraph_server.language.port import Extraction, TurnInContext
from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.retrieval.evidence import Question
from memgraph_server.settings import Settings
from memgraph_server.stores.neo4j_store import Neo4jStore, Target
from memgraph_server.stores.port import TurnOutcome
from memgraph_server.stores.sqlite import SqliteStore
from memgraph_server.workers.in_process import InProcessWorker
from memgraph_server.workers.reading import Desk, Pace
from tests.performance import synthetic
from tests.performance.figures import Figure, arguments, present
from tests.services.neo4j_server import SCRIPT, emptied

PASSWORD = "memgraph-tests"  # noqa: S105  of the server that tests start
APPLY, ASK, SCALE, ROUND_TRIPS = 1.3, 1.5, 5.0, 4.0  # bars
SLOW_SECONDS = 0.2
WARM_SECONDS = 120.0  # at most, after much was loaded
SESSIONS, TURNS_EACH = 24, 4


@dataclass(frozen=True, slots=True)
class AtSize:
    """Medians in milliseconds."""

    anybody: float
    hub: float
    asked: float


@dataclass(frozen=True, slots=True)
class Reached(AtSize):
    """Measured when a size was reached; statements of one turn."""

    statements: float


Act = Callable[[int], None]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--facts", type=int, nargs="+", default=[10_000, 300_000])
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--again", action="store_true", help="fill nothing, and leave the workers out")
    options = parser.parse_args()
    url = subprocess.run([SCRIPT, "start"], capture_output=True, text=True, check=True).stdout.split()[-1]
    store = open_store(url)
    store.migrate()
    rows = [] if options.again else worker_figures(url, store, options.workers)
    sizes, in_turn = growth(url, store, sorted(options.facts), options.samples, again=options.again)
    store.close()
    rows += [*growth_figures(sizes), *in_turn_figures(in_turn)]
    present("Neo4j as it grows", rows, options.json, samples=options.samples)


def open_store(url: str) -> Neo4jStore:
    embedder = HashedEmbedder()
    target = Target(url, "neo4j", PASSWORD)
    return Neo4jStore(target, wiring.registry(), embedder_name=embedder.name, dimension=embedder.dimension)


# -- 1: growth


def growth(
    url: str, store: Neo4jStore, sizes: list[int], samples: int, *, again: bool
) -> tuple[dict[int, Reached], dict[int, AtSize]]:
    """At each size when it was reached, and in all of them in turn."""
    services = wiring.services(Settings(store=url, neo4j_password=PASSWORD, embedder="hashed", extractor="patterns"))
    vectors = synthetic.HashedVectors(HashedEmbedder())
    found: dict[int, Reached] = {}
    there = 0
    try:
        for size in sizes:
            began = time.perf_counter()
            if not again:
                fill(store, vectors, there, size)
                print(f"{size:,} facts after {time.perf_counter() - began:.0f} s", flush=True)
            there = size
            acts = acts_at(services, store, vectors, size, samples)
            warm(acts[-1], samples)
            spent = [medians([act], samples)[0] for act in acts]
            found[size] = Reached(*spent, statements_of_a_turn(store, vectors, f"speed-{size}", samples))
            print(found[size], flush=True)
        all_acts = [acts_at(services, store, vectors, size, samples) for size in sizes]
        by_act = [medians(of_sizes, samples) for of_sizes in zip(*all_acts, strict=True)]
        in_turn = {size: AtSize(*spent) for size, spent in zip(sizes, zip(*by_act, strict=True), strict=True)}
    finally:
        services.close()
    return found, in_turn


def fill(store: Neo4jStore, vectors: synthetic.HashedVectors, start: int, stop: int) -> None:
    """Turns and facts of an own namespace for each step, so that the store grows and the memory asked about too. Made
    in an embedded store and imported from there, which takes a third of the time."""
    namespace = f"speed-{stop}"
    with tempfile.TemporaryDirectory() as folder:
        made = SqliteStore(
            Path(folder) / "made.db", wiring.registry(), embedder_name=vectors.name, dimension=vectors.dimension
        )
        made.migrate()
        facts = stop - start
        synthetic.fill(made, namespace, vectors, facts=facts, turns_too=facts // 10, now=wiring.clock())
        store.load(namespace, made.dump(namespace))
        made.close()


def acts_at(
    services: wiring.Services, store: Neo4jStore, vectors: synthetic.HashedVectors, size: int, samples: int
) -> tuple[Act, Act, Act]:
    """What is measured at a size, by AtSize's members: anybody's fact, the hub's, a question."""
    namespace, mark = f"speed-{size}", time.time_ns()

    def applied(head: str) -> Act:
        def apply(index: int) -> None:
            now = wiring.clock()
            said = Proposal(head.format(index // 10), f"noticed_{index // 10}", f"new {mark} {index}", now, now)
            text = triple_text(said.head, said.relation, said.tail or "")
            store.assert_facts(namespace, [said], vectors.pooled([text]), now=now)

        return apply

    questions = synthetic.questions(samples, facts=size)

    def asked(index: int) -> None:
        question = Question(text=questions[index], now=wiring.clock(), token_budget=2048)
        ask(services, namespace, question)

    return applied(f"somebody {mark} {{}}"), applied(synthetic.HUB), asked


def medians(acts: Sequence[Act], times: int) -> list[float]:
    """Milliseconds of each, done in turn. The first tenth warms up."""
    spent: list[list[float]] = [[] for _ in acts]
    for index in range(times):
        for act, own in zip(acts, spent, strict=True):
            began = time.perf_counter()
            act(index)
            own.append(1000 * (time.perf_counter() - began))
    return [statistics.median(own[times // 10 :]) for own in spent]


def warm(act: Act, samples: int) -> None:
    """Until it gets no faster: plans are made and pages are in memory, as in a server that has been in use."""
    ends, before = time.monotonic() + WARM_SECONDS, float("inf")
    while (now := medians([act], samples)[0]) < 0.95 * before and time.monotonic() < ends:
        before = now


def statements_of_a_turn(store: Neo4jStore, vectors: synthetic.HashedVectors, namespace: str, samples: int) -> float:
    """What applying the outcome of one turn with one new fact sends: each statement is one round trip."""
    sent: list[str] = []
    now, mark = wiring.clock(), time.time_ns()
    for index in range(samples):
        turn = Turn(f"{mark}-{index}", f"{mark}", Role.USER, synthetic.HUB, f"I noticed {index}", now)
        store.append_turns(namespace, [turn], job_id=turn.id, now=now)
        said = Proposal(synthetic.HUB, "noticed", f"{mark} {index}", now, now, turn_id=turn.id)
        text = triple_text(said.head, said.relation, said.tail or "")
        outcome = TurnOutcome(turn.id, (said,), (), None, vectors.pooled([text]))
        store.connection.watch = lambda query, _: sent.append(query.name)
        store.apply_outcome(namespace, outcome, lease=None, now=now)
        store.connection.watch = None
    return len(sent) / samples


def growth_figures(sizes: dict[int, Reached]) -> list[Figure]:
    first, rows = next(iter(sizes.values())), []
    for size, cost in sizes.items():
        bars = (APPLY, ASK) if cost is not first else (None, None)
        rows += [
            Figure(f"one more fact of anybody at {size:,}", cost.anybody, "ms"),
            Figure("  against the smallest", cost.anybody / first.anybody, "×", bars[0]),
            Figure(f"one more fact of the hub at {size:,}", cost.hub, "ms"),
            Figure("  against the smallest", cost.hub / first.hub, "×", bars[0]),
            Figure(f"a question at {size:,}", cost.asked, "ms"),
            Figure("  against the smallest", cost.asked / first.asked, "×", bars[1]),
            Figure(f"round trips to apply a turn at {size:,}", cost.statements, bar=ROUND_TRIPS),
        ]
    return rows


def in_turn_figures(sizes: dict[int, AtSize]) -> list[Figure]:
    first, rows = next(iter(sizes.values())), []
    for size, cost in list(sizes.items())[1:]:
        rows += [
            Figure(f"in turn: one more fact of anybody at {size:,}", cost.anybody / first.anybody, "×", APPLY),
            Figure(f"in turn: one more fact of the hub at {size:,}", cost.hub / first.hub, "×", APPLY),
            Figure(f"in turn: a question at {size:,}", cost.asked / first.asked, "×", ASK),
        ]
    return rows


# -- 2: workers


def worker_figures(url: str, store: Neo4jStore, workers: int) -> list[Figure]:
    """Of an empty database: what is there is deleted."""
    for namespace in store.namespaces():  # of an earlier run: more than one statement can delete
        store.erase(namespace, now=wiring.clock())
    emptied(store)
    one, several = (workers_speed(url, store, count) for count in (1, workers))
    print(f"{one:.1f} turns a second by one worker, {several:.1f} by {workers}", flush=True)
    return [
        Figure("turns a second, one worker", one),
        Figure(f"turns a second, {workers} workers against one", several / one, "×", SCALE, at_least=True),
    ]


class SlowExtractor:
    """One fact a turn after 200 ms, as a language model would take. Conforms to `language.port.Extractor`."""

    name = "scripted-slow/1"

    def extract(self, turns: Any) -> list[Extraction]:
        return [self._one(item) for item in turns]

    def _one(self, item: TurnInContext) -> Extraction:
        time.sleep(SLOW_SECONDS)
        turn = item.turn
        said = Proposal(turn.speaker, "said", turn.text, turn.at, turn.at, turn_id=turn.id)
        return Extraction(proposals=(said,), mentions=())


def workers_speed(url: str, store: Neo4jStore, count: int) -> float:
    """Turns a second, from the moment that all worker processes stand ready."""
    namespace = f"workers-{count}"
    context = multiprocessing.get_context("spawn")
    ready, begin, end = context.Semaphore(0), context.Event(), context.Event()
    target = importlib.import_module("tests.performance.neo4j_growth").work  # by that name for the new process too
    processes = [context.Process(target=target, args=(url, n, ready, begin, end)) for n in range(count)]
    for process in processes:
        process.start()
    for _ in processes:
        ready.acquire()
    for session in range(SESSIONS):
        now = wiring.clock()
        said = [
            Turn(f"{session}-{n}", f"s{session}", Role.USER, f"p{session}", f"word {n}", now) for n in range(TURNS_EACH)
        ]
        store.append_turns(namespace, said, job_id=f"j{session}", now=now)
    began = time.perf_counter()
    begin.set()
    while store.readiness(namespace).pending:
        time.sleep(0.05)
    spent = time.perf_counter() - began
    end.set()
    for process in processes:
        process.join()
    return SESSIONS * TURNS_EACH / spent


def work(url: str, number: int, ready: Any, begin: Any, end: Any) -> None:
    store = open_store(url)
    reader = Reader(store, SlowExtractor(), HashedEmbedder())
    pace = Pace(lease_seconds=30, sweep_seconds=0.05, batch=TURNS_EACH, threads=1)
    worker = InProcessWorker(Desk(store, lambda: reader, f"worker-{number}", wiring.clock, pace))
    ready.release()
    begin.wait()
    worker.start()
    end.wait()
    worker.stop()
    reader.close()
    store.close()


if __name__ == "__main__":
    main()
