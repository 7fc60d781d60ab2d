"""Beside Graphiti on the same Neo4j, in one run, with a model of zero latency on both sides.

    python -m tests.performance beside_graphiti [--facts 0 500 5000] [--turns 30] [--json OUT]

Needs a Neo4j for tests (tests/services/neo4j start) and its data is deleted. `graphiti-core` is installed into an
environment of its own (`--environment DIR`; made where it is missing), since it is no dependency of this project.

Both sides read the same turns: "Ann likes thing 17" gives one new fact about Ann. The scripted model answers at once,
and both embed by the same hash, so that what is left is what each does around its models. Measured: milliseconds,
statements and model calls a turn where one person has 0, 500 and 5,000 facts already; turns a second of a
conversation, handed over session by session (Graphiti takes episodes one by one); search; how many nodes ten
concurrent turns make of one person; and whether a turn is kept whose model never answers.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import neo4j

from memgraph_server import wiring
from memgraph_server.actions.ask import ask
from memgraph_server.actions.read_turns import Reader, read_lease
from memgraph_server.language.hashed_embedder import HashedEmbedder
from memgraph_server.language.port import Extraction, TurnInContext
from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.retrieval.evidence import Question
from memgraph_server.settings import Settings
from memgraph_server.stores.neo4j_store import Neo4jStore, Target
from tests.performance.figures import Figure, arguments, present
from tests.services.neo4j_server import SCRIPT, emptied

GRAPHITI = ("graphiti-core==0.31.2", "httpx")  # it imports httpx without asking for it
OTHER_SIDE = Path(__file__).with_name("_graphiti_side.py")
PASSWORD = "memgraph-tests"  # noqa: S105  of the server that tests start
SESSION = 20  # turns; a session of a conversation
AHEAD = 5.0  # the bar: times ahead in time a turn and turns a second


@dataclass(slots=True)
class ScriptedExtractor:
    """One fact a turn, at once; counts its calls. Conforms to `language.port.Extractor`."""

    name: str = "scripted/1"
    calls: int = 0
    guard: Lock = field(default_factory=Lock)

    def extract(self, turns: Any) -> list[Extraction]:
        with self.guard:
            self.calls += len(turns)
        return [self._one(item) for item in turns]

    def _one(self, item: TurnInContext) -> Extraction:
        head, _, tail = item.turn.text.partition(" likes ")
        said = Proposal(head, "likes", tail, item.turn.at, item.turn.at, turn_id=item.turn.id)
        return Extraction(proposals=(said,), mentions=())


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--facts", type=int, nargs="+", default=[0, 500, 5000])
    parser.add_argument("--turns", type=int, default=30, help="turns measured at each size")
    parser.add_argument("--environment", type=Path, default=Path(tempfile.gettempdir()) / "beside-graphiti")
    options = parser.parse_args()
    url = started()
    python = python_of(options.environment)
    bare(url)
    theirs = their_side(python, url, options.facts, options.turns)
    bare(url)
    ours = our_side(url, options.facts, options.turns)
    present("Beside Graphiti", figures(ours, theirs), options.json, graphiti=GRAPHITI[0], turns=options.turns)


def started() -> str:
    done = subprocess.run([SCRIPT, "start"], capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]


def bare(url: str) -> None:
    """No data, constraints or indexes: both sides label nodes Entity, and neither is to keep the other's indexes
    of them."""
    with neo4j.GraphDatabase.driver(url, auth=("neo4j", PASSWORD)) as driver, driver.session() as session:
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS").consume()
        for (name,) in session.run("SHOW CONSTRAINTS YIELD name").values():
            session.run(f"DROP CONSTRAINT `{name}`").consume()
        for (name,) in session.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name").values():
            session.run(f"DROP INDEX `{name}`").consume()


def python_of(environment: Path) -> Path:
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *GRAPHITI], check=True)
    return python


def their_side(python: Path, url: str, facts: list[int], turns: int) -> dict[str, Any]:
    given = json.dumps({"url": url, "password": PASSWORD, "facts": facts, "turns": turns})
    done = subprocess.run([python, OTHER_SIDE, given], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"Graphiti's side failed:\n{done.stderr[-3000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def our_side(url: str, facts: list[int], turns: int) -> dict[str, Any]:
    registry, embedder = wiring.registry(), HashedEmbedder()
    store = Neo4jStore(
        Target(url, "neo4j", PASSWORD), registry, embedder_name=embedder.name, dimension=embedder.dimension
    )
    emptied(store)
    statements: list[str] = []
    store.connection.watch = lambda query, _: statements.append(query.name)
    extractor = ScriptedExtractor()
    reader = Reader(store, extractor, embedder)
    try:
        return {
            "sizes": {str(size): _turn_cost(store, reader, statements, size, turns) for size in facts},
            "turns_per_second": _throughput(store, reader, turns),
            "search_ms": {str(size): _search(url, size) for size in facts if size},
            "nodes_of_one_person": _concurrent(store, reader),
            "kept_without_answer": _kept(store),
        }
    finally:
        reader.close()
        store.close()


def _turn_cost(store: Neo4jStore, reader: Reader, statements: list[str], size: int, turns: int) -> dict[str, float]:
    namespace = f"size-{size}"
    _fill(store, namespace, size)
    spent = []
    _one_turn(store, reader, namespace, 10**6)  # plans and classes are made once
    statements.clear()
    before = reader.extractor.calls  # type: ignore[attr-defined]
    for index in range(turns):
        began = time.perf_counter()
        _one_turn(store, reader, namespace, 10**6 + 1 + index)
        spent.append(1000 * (time.perf_counter() - began))
    calls = reader.extractor.calls - before  # type: ignore[attr-defined]
    return {"ms": statistics.median(spent), "statements": len(statements) / turns, "calls": calls / turns}


def _fill(store: Neo4jStore, namespace: str, size: int) -> None:
    now = wiring.clock()
    for start in range(0, size, 500):
        said = [Proposal("Ann", "likes", f"thing {n}", now, now) for n in range(start, min(size, start + 500))]
        texts = [triple_text(one.head, one.relation, one.tail or "") for one in said]
        vectors = [encoding.pooled for encoding in HashedEmbedder().encode(texts)]
        store.assert_facts(namespace, said, dict(zip(texts, vectors, strict=True)), now=now)


def _one_turn(store: Neo4jStore, reader: Reader, namespace: str, number: int, session: str = "s") -> None:
    """What the server does with it from the call to the end of its reading, in one process."""
    turn = Turn(f"{session}-{number}", session, Role.USER, "Ann", f"Ann likes thing {number}", wiring.clock())
    store.append_turns(namespace, [turn], job_id=f"job-{turn.id}", now=wiring.clock())
    _read_session(store, reader, namespace, session)


def _read_session(store: Neo4jStore, reader: Reader, namespace: str, session: str) -> None:
    """As a worker that was told of it."""
    now = wiring.clock() + 1
    lease = store.lease("benchmark", now=now, seconds=60, limit=64, session=(namespace, session))
    if lease is not None:
        reading = read_lease(reader, lease, clock=wiring.clock)
        if not reading.returned:
            store.release(lease)


def _throughput(store: Neo4jStore, reader: Reader, turns: int) -> float:
    """A conversation as `ingest` hands it over: session by session, each read by a worker that was told of it."""
    began = time.perf_counter()
    for session, start in enumerate(range(0, turns, SESSION)):
        said = [
            Turn(f"t{index}", f"s{session}", Role.USER, "Ann", f"Ann likes thing {index}", wiring.clock())
            for index in range(start, min(turns, start + SESSION))
        ]
        store.append_turns("throughput", said, job_id=f"job-{session}", now=wiring.clock())
        _read_session(store, reader, "throughput", f"s{session}")
    return turns / (time.perf_counter() - began)


def _search(url: str, size: int) -> float:
    settings = Settings(store=url, neo4j_password=PASSWORD, embedder="hashed", extractor="patterns")
    services = wiring.services(settings)
    try:
        spent = []
        for index in range(23):
            question = Question(text=f"Does Ann like thing {index}?", now=wiring.clock(), token_budget=512)
            began = time.perf_counter()
            ask(services, f"size-{size}", question)
            spent.append(1000 * (time.perf_counter() - began))
        return statistics.median(spent[3:])
    finally:
        services.close()


def _concurrent(store: Neo4jStore, reader: Reader) -> int:
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda n: _one_turn(store, reader, "concurrent", n, f"s{n}"), range(10)))
    found, _ = store.entities("concurrent", limit=100, like="Ann")
    return len([entity for entity in found if entity.name == "Ann"])


def _kept(store: Neo4jStore) -> int:
    """A turn that is acknowledged and never read is there."""
    turn = Turn("only", "s", Role.USER, "Ann", "Ann likes tea", wiring.clock())
    store.append_turns("kept", [turn], job_id="job", now=wiring.clock())
    return len(store.turns("kept", ["only"]))


def figures(ours: dict[str, Any], theirs: dict[str, Any]) -> list[Figure]:
    rows = []
    for size, cost in ours["sizes"].items():
        other = theirs["sizes"][size]
        rows += [
            Figure(f"a turn at {size} facts of one person, Graphiti", other["ms"], "ms"),
            Figure(f"a turn at {size} facts of one person, memory", cost["ms"], "ms"),
            Figure(f"times ahead at {size} facts", other["ms"] / cost["ms"], "×", AHEAD, at_least=True),
            Figure(f"statements a turn at {size}: Graphiti", other["statements"]),
            Figure(f"statements a turn at {size}: memory", cost["statements"]),
            Figure(f"model calls a turn at {size}: Graphiti", other["calls"]),
            Figure(f"model calls a turn at {size}: memory", cost["calls"], bar=1),
        ]
    rows += [
        Figure("turns a second, Graphiti", theirs["turns_per_second"]),
        Figure("turns a second, memory", ours["turns_per_second"]),
        Figure(
            "times ahead in turns a second", ours["turns_per_second"] / theirs["turns_per_second"], "×", AHEAD, True
        ),
    ]
    for size, spent in ours["search_ms"].items():
        rows += [
            Figure(f"search at {size} facts, Graphiti", theirs["search_ms"][size], "ms"),
            Figure(f"search at {size} facts with turns in a budget, memory", spent, "ms"),
        ]
    return [
        *rows,
        Figure("nodes of one person after ten concurrent turns, Graphiti", theirs["nodes_of_one_person"]),
        Figure("nodes of one person after ten concurrent turns, memory", ours["nodes_of_one_person"], bar=1),
        Figure("turns kept of one whose model never answers, Graphiti", theirs["kept_without_answer"]),
        Figure(
            "turns kept of one whose model never answers, memory", ours["kept_without_answer"], bar=1, at_least=True
        ),
    ]


if __name__ == "__main__":
    main()
