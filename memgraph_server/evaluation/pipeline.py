"""The memory under evaluation: the real pipeline and the real query path, and nothing that a deployment has not.

    turns ── store_turns ──> SQLite ── worker.step ──> facts        question ── ask ──> Evidence

Every conversation has a namespace of its own in one store. A kept store is used again for a conversation that it holds
already: the namespace's name is a digest of the turns, of the models and of the code that reads turns, so that a
change to any of them reads again, and a change to retrieval does not.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta, timezone
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from memgraph_server import wiring
from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.actions.model_evidence import gather
from memgraph_server.actions.store_turns import store_turns
from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.transcripts import Conversation, Probe
from memgraph_server.memory.interval import to_datetime
from memgraph_server.memory.turns import Turn
from memgraph_server.retrieval.evidence import Evidence, Question
from memgraph_server.settings import Settings

#: What decides which facts come out of a turn, below the package; a kept store is read again when any of it changes.
READING = ("memory", "language", "stores", "schema", "actions/read_turns.py", "actions/store_turns.py")
#: At most this many turns are stored in one call.
_CALL = 1_000
_PAUSE_SECONDS = 0.05

Tick = Callable[[int], None]


class Pipeline:
    """One conversation's memory: `ingest` waits until every turn is read, `question` asks at a budget."""

    def __init__(self, services: wiring.Services, namespace: str) -> None:
        self.services, self.namespace = services, namespace
        self._worker = wiring.worker(services)

    def ingest(self, turns: Sequence[Turn], tick: Tick = lambda _: None) -> float:
        """Store and read the turns; seconds taken. `tick` hears how many more are read."""
        began = time.perf_counter()
        for session_id, group in groupby(turns, key=lambda turn: turn.session_id):
            said = [given(turn) for turn in group]
            for start in range(0, len(said), _CALL):
                store_turns(
                    self.services.store,
                    self.namespace,
                    session_id,
                    said[start : start + _CALL],
                    now=wiring.clock(),
                    new_id=wiring.new_id,
                )
        self._read(len(turns), tick)
        return time.perf_counter() - began

    def _read(self, left: int, tick: Tick) -> None:
        while (pending := self.services.store.readiness(self.namespace).pending) > 0:
            tick(left - pending)
            left = pending
            if not self._worker.step():  # a turn that failed waits for its next try
                time.sleep(_PAUSE_SECONDS)
        tick(left)

    def question(self, probe: Probe, budget: int) -> Question:
        return Question(
            text=probe.text,
            now=wiring.clock(),
            reference_time=probe.asked_at,
            token_budget=budget,
            speaker=probe.speaker,
        )

    def ask(self, probe: Probe, budget: int) -> Evidence:
        return gather(self.services, self.namespace, self.question(probe, budget), None)

    def holds(self, conversation: Conversation) -> bool:
        """Every turn is there and read."""
        size = self.services.store.corpus_size(self.namespace)
        return size.turns == len(conversation.turns) and self.services.store.readiness(self.namespace).pending == 0

    def dead(self) -> int:
        return self.services.store.readiness(self.namespace).dead

    def erase(self) -> None:
        self.services.store.erase(self.namespace, now=wiring.clock())

    def facts_of(self, turn_ids: Sequence[str]) -> dict[str, int]:
        """How many believed facts point to each turn, whenever they hold."""
        found = self.services.store.facts_of_turns(self.namespace, turn_ids)
        return {turn_id: len(found.get(turn_id, ())) for turn_id in turn_ids}


@contextmanager
def opened(settings: Settings, keep: Path | None) -> Iterator[wiring.Services]:
    """Services over a store of the evaluation's own, kept in a folder or gone afterwards; never the settings' store."""
    with TemporaryDirectory(prefix="memgraph-eval-") as temporary:
        folder = keep if keep is not None else Path(temporary)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"{folder} cannot be made: {error.strerror}", field="keep") from error
        services = wiring.services(replace(settings, store=f"sqlite:///{folder.absolute() / 'evaluation.db'}"))
        try:
            yield services
        finally:
            services.close()


def namespace_of(conversation: Conversation, services: wiring.Services) -> str:
    models = f"{services.embedder.get().name}|{services.extractor.get().name}|{_code()}"
    digest = hashlib.sha256(f"{conversation.content_hash()}|{models}".encode()).hexdigest()
    return f"eval-{digest[:24]}"


@lru_cache(maxsize=1)
def _code() -> str:
    """A digest of the files that decide what is read out of a turn."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for root in READING:
        files = [package / root] if root.endswith(".py") else sorted((package / root).rglob("*"))
        for file in files:
            if file.is_file() and file.suffix in {".py", ".yaml", ".sql", ".gz"}:
                digest.update(file.read_bytes())
    return digest.hexdigest()


def given(turn: Turn) -> GivenTurn:
    """The turn as a caller sends it."""
    zone = timezone(timedelta(minutes=turn.utc_offset_minutes))
    return GivenTurn(
        text=turn.text,
        at=to_datetime(turn.at).astimezone(zone).isoformat(),
        role=turn.role,
        speaker=turn.speaker,
        id=turn.id,
        captions=turn.captions,
    )
