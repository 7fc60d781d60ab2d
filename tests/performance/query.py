"""Query latency as the memory grows: half of all facts around one person, the question's embedding included.

    python -m tests.performance query [--facts 10000 100000] [--questions 100] [--budget 2048] [--json OUT]

Facts and turns are written through the store port (`synthetic.py`); each question goes through `actions.ask` with the
model that ships. Sizes are measured in one run, so that growth is a ratio. Bars: at 10⁵ facts p50 ≤ 40 ms and
p95 ≤ 120 ms; at 10⁶ at most twice the p50 and p95 at 10⁵.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from memgraph_server.actions.ask import ask

from memgraph_server import wiring
from memgraph_server.retrieval.evidence import Question
from memgraph_server.settings import Settings
from tests.performance import synthetic
from tests.performance.figures import Figure, arguments, present

BAR_FACTS = 100_000
P50_MS, P95_MS, GROWTH = 40.0, 120.0, 2.0
_WARM_UP = 5


def measure(facts: int, asked: int, budget: int, folder: Path) -> tuple[list[float], dict[str, float]]:
    """Milliseconds of each question, and the means of the stages that the answers report."""
    services = wiring.services(Settings(store=f"sqlite:///{folder / f'{facts}.db'}"))
    try:
        began = time.perf_counter()
        vectors = synthetic.HashedVectors(services.embedder.get())
        now = wiring.clock()
        synthetic.fill(services.store, "speed", vectors, facts=facts, turns_too=facts // 10, now=now)
        print(f"{facts:,} facts and {facts // 10:,} turns written in {time.perf_counter() - began:.0f} s", flush=True)
        return _ask_all(services, synthetic.questions(asked + _WARM_UP, facts=facts), budget)
    finally:
        services.close()


def _ask_all(services: wiring.Services, texts: list[str], budget: int) -> tuple[list[float], dict[str, float]]:
    times, usages = [], []
    for text in texts:
        began = time.perf_counter()
        found = ask(services, "speed", Question(text=text, now=wiring.clock(), token_budget=budget))
        times.append(1000 * (time.perf_counter() - began))
        usages.append(found.usage)
    stages = sorted({name for usage in usages[_WARM_UP:] for name in usage})
    means = {name: float(np.mean([usage.get(name, 0.0) for usage in usages[_WARM_UP:]])) for name in stages}
    return times[_WARM_UP:], means


def figures(by_size: dict[int, list[float]]) -> list[Figure]:
    found = []
    for facts, times in by_size.items():
        p50, p95 = np.percentile(times, [50, 95])
        at_bar = facts == BAR_FACTS
        found += [
            Figure(f"p50 at {facts:,} facts", float(p50), "ms", P50_MS if at_bar else None),
            Figure(f"p95 at {facts:,} facts", float(p95), "ms", P95_MS if at_bar else None),
        ]
    if BAR_FACTS in by_size:
        for facts in (size for size in by_size if size > BAR_FACTS):
            for rank in (50, 95):
                ratio = np.percentile(by_size[facts], rank) / np.percentile(by_size[BAR_FACTS], rank)
                found.append(Figure(f"p{rank}, {facts:,} facts to {BAR_FACTS:,}", float(ratio), "×", GROWTH))
    return found


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--facts", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--budget", type=int, default=2048)
    options = parser.parse_args()
    by_size: dict[int, list[float]] = {}
    stages: dict[str, float] = {}
    with TemporaryDirectory(prefix="memgraph-speed-") as folder:
        for facts in options.facts:
            by_size[facts], stages = measure(facts, options.questions, options.budget, Path(folder))
    largest = [Figure(f"mean {name} at {options.facts[-1]:,}", value) for name, value in stages.items()]
    present("Query latency", figures(by_size) + largest, options.json, questions=options.questions)


if __name__ == "__main__":
    main()
