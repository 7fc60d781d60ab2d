"""Query latency as the memory grows: half of all facts around one person, the question's embedding included.

    python -m tests.performance query [--facts 10000 100000] [--questions 100] [--budget 2048] [--json OUT]

Facts and turns are written through the store port (`synthetic.py`); each question goes through `actions.ask` with the
model that ships. Sizes are measured in one run, so that growth is a ratio. Bars: at 10⁵ facts p50 ≤ 40 ms and
p95 ≤ 120 ms; at 10⁶ at most twice the p50 and p95 at 10⁵.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from memgraph_server import wiring
from memgraph_server.actions.ask import ask
from memgraph_server.retrieval.evidence import Question
from memgraph_server.settings import Settings
from tests.performance import synthetic
from tests.performance.figures import Figure, arguments, present
from tests.performance.multiplied import multiply

BAR_FACTS = 100_000
P50_MS, P95_MS, GROWTH = 40.0, 120.0, 2.0
_WARM_UP = 5


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of each question by the clock, and of the processor (less moved by what else runs), and the means
    of what the answers report about themselves."""

    wall: list[float]
    cpu: list[float]
    stages: dict[str, float]


def measure(facts: int, asked: int, budget: int, folder: Path) -> Latency:
    """A store that is there already is asked as it is; ten times as large a one as is there is made of its copies."""
    file, part, tenth = (folder / f"query_{name}.db" for name in (facts, f"{facts}.part", facts // 10))
    if not file.exists():
        part.unlink(missing_ok=True)
        if tenth.exists():
            multiply(tenth, part, 10, hub=synthetic.HUB, same_relations=True)
        else:
            _fill(part, facts)
        part.rename(file)
    services = wiring.services(Settings(store=f"sqlite:///{file}"))
    try:
        return _ask_all(services, synthetic.questions(asked + _WARM_UP, facts=facts), budget)
    finally:
        services.close()


def _fill(file: Path, facts: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    services = wiring.services(Settings(store=f"sqlite:///{file}"))
    began, said = time.perf_counter(), facts // 10
    vectors = synthetic.HashedVectors(services.embedder.get())
    synthetic.fill(services.store, "speed", vectors, facts=facts, turns_too=said, now=wiring.clock())
    services.close()
    print(f"{facts:,} facts and {said:,} turns written in {time.perf_counter() - began:.0f} s", flush=True)


def _ask_all(services: wiring.Services, texts: list[str], budget: int) -> Latency:
    wall, cpu, usages = [], [], []
    for text in texts:
        began, began_cpu = time.perf_counter(), time.process_time()
        found = ask(services, "speed", Question(text=text, now=wiring.clock(), token_budget=budget))
        wall.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.process_time() - began_cpu))
        usages.append(found.usage)
    stages = sorted({name for usage in usages[_WARM_UP:] for name in usage})
    means = {name: float(np.mean([usage.get(name, 0.0) for usage in usages[_WARM_UP:]])) for name in stages}
    return Latency(wall[_WARM_UP:], cpu[_WARM_UP:], means)


def figures(by_size: dict[int, Latency]) -> list[Figure]:
    found = []
    for facts, latency in by_size.items():
        p50, p95 = np.percentile(latency.wall, [50, 95])
        at_bar = facts == BAR_FACTS
        found += [
            Figure(f"p50 at {facts:,} facts", float(p50), "ms", P50_MS if at_bar else None),
            Figure(f"p95 at {facts:,} facts", float(p95), "ms", P95_MS if at_bar else None),
            Figure(f"p50 of processor time at {facts:,} facts", float(np.percentile(latency.cpu, 50)), "ms"),
        ]
    return found + growth(by_size) + stages(by_size)


def growth(by_size: dict[int, Latency]) -> list[Figure]:
    """Each size against the one before it in the same run; the bar is on 10⁶ against 10⁵."""
    found = []
    for (small, before), (large, after) in pairwise(by_size.items()):
        bar = GROWTH if (small, large) == (BAR_FACTS, 10 * BAR_FACTS) else None
        for rank in (50, 95):
            ratio = np.percentile(after.wall, rank) / np.percentile(before.wall, rank)
            found.append(Figure(f"p{rank}, {large:,} facts to {small:,}", float(ratio), "×", bar))
    return found


def stages(by_size: dict[int, Latency]) -> list[Figure]:
    facts, latency = list(by_size.items())[-1]
    return [Figure(f"mean {name} at {facts:,}", value) for name, value in latency.stages.items()]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--facts", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--budget", type=int, default=2048)
    parser.add_argument("--keep", type=Path, help="where the filled stores are kept and used again")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="memgraph-speed-") as folder:
        by_size = {
            facts: measure(facts, options.questions, options.budget, options.keep or Path(folder))
            for facts in sorted(options.facts)
        }
    present("Query latency", figures(by_size), options.json, questions=options.questions)


if __name__ == "__main__":
    main()
