"""Ingest speed on a LoCoMo conversation with the models that ship, and the models' share of it.

    python -m tests.performance ingest --locomo FILE [--conversation N] [--json OUT]

Turns go through `store_turns` and the worker's step, as in `serve`. The models' share is the time that the extractor
and the embedder take for the same turns one after the other, over the whole time; they overlap in the pipeline, so it
may be above 100 %. Bar: at least 40 turns a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memgraph_server.evaluation.pipeline import Pipeline, opened
from memgraph_server.evaluation.transcripts import read_conversations
from memgraph_server.memory.turns import Turn
from memgraph_server.settings import Settings
from memgraph_server.wiring import Services
from tests.performance.figures import Figure, arguments, present

TURNS_A_SECOND = 40.0
_WARM_UP = 8


class Timed:
    """A model that counts the seconds spent in one of its methods; everything else is passed on."""

    def __init__(self, model: Any, method: str) -> None:
        self.seconds = 0.0
        self._model, self._method = model, method

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._model, name)
        return self._timed(found) if name == self._method else found

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*given, **named)
            finally:
                self.seconds += time.perf_counter() - began

        return timed


def with_timed_models(services: Services) -> tuple[Timed, Timed]:
    """The services' reader with its two models wrapped. Loads them."""
    reader = services.reader.get()
    extractor, embedder = Timed(reader.extractor, "extract"), Timed(reader.embedder, "encode")
    object.__setattr__(reader, "extractor", extractor)
    object.__setattr__(reader, "embedder", embedder)
    return extractor, embedder


def measure(turns: tuple[Turn, ...]) -> list[Figure]:
    with opened(Settings(), None) as services:
        extractor, embedder = with_timed_models(services)
        Pipeline(services, "warm-up").ingest(turns[:_WARM_UP])
        extractor.seconds = embedder.seconds = 0.0
        began_cpu = time.process_time()
        seconds = Pipeline(services, "measured").ingest(turns)
        cpu = time.process_time() - began_cpu
    models = extractor.seconds + embedder.seconds
    return [
        Figure("ingest", len(turns) / seconds, "turns/s", TURNS_A_SECOND, at_least=True),
        Figure("processor time", 1000 * cpu / len(turns), "ms a turn, all cores"),
        Figure("extractor", 100 * extractor.seconds / seconds, "% of the time"),
        Figure("embedder", 100 * embedder.seconds / seconds, "% of the time"),
        Figure("models, overlapping", 100 * models / seconds, "% of the time"),
    ]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--conversation", type=int, default=0, help="which one of the file, from 0")
    options = parser.parse_args()
    conversation = read_conversations(options.locomo)[options.conversation]
    title = f"Ingest of {conversation.id}"
    present(title, measure(conversation.turns), options.json, turns=len(conversation.turns))


if __name__ == "__main__":
    main()
