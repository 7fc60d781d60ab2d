"""One session in a worker's hands: lent, kept while it is read, given back. Both kinds of worker work by this.

    lend ──> read (the lease renewed a third of its time at a time) ──> give back

A lease is short, so that a killed worker holds a session for `lease_seconds` at most, and it is renewed, so that a slow
model may take its time. Where it is lost all the same, reading stops, and the store takes nothing more under it.

Nothing is decided here: `actions/read_turns.py` does.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from memgraph_server.actions.read_turns import Reader, Reading, Stale, embed_again, read_lease
from memgraph_server.errors import MemgraphServerError
from memgraph_server.memory.interval import Instant
from memgraph_server.stores.port import Lease, Operations

log = logging.getLogger(__name__)

STALE_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Pace:
    """`batch`: turns of one session at once. `sweep_seconds` and `threads` are the in-process worker's."""

    lease_seconds: float = 10.0
    sweep_seconds: float = 1.0
    batch: int = 64
    threads: int = 2


@dataclass(slots=True)
class Again:
    """What this process embeds again, from finding something to finding nothing. `outdated`: vectors of another
    embedder at its start."""

    begun: bool = False
    outdated: int = 0
    done: int = 0


@dataclass(frozen=True, slots=True)
class Desk:
    """What a worker reads with. `reader` is called when there is work: it may load models, and raise
    ModelUnavailable."""

    operations: Operations
    reader: Callable[[], Reader]
    name: str
    clock: Callable[[], Instant]
    pace: Pace = Pace()
    #: Found by this process to have no vector: asked of the model once, and in nobody's way.
    wordless: set[Stale] = field(default_factory=set)
    again: Again = field(default_factory=Again)

    def lend(self, session: tuple[str, str] | None = None) -> Lease | None:
        """This session (namespace, id) or none; None: the one that has waited longest."""
        pace = self.pace
        return self.operations.lease(
            self.name, now=self.clock(), seconds=pace.lease_seconds, limit=pace.batch, session=session
        )

    def read(self, lease: Lease, *, stop: Callable[[], bool] = lambda: False) -> Reading:
        """Read the lease's turns and give it back."""
        returned = False
        try:
            with self._kept(lease) as lost:
                reading = read_lease(self.reader(), lease, clock=self.clock, stop=lambda: stop() or lost())
            returned = reading.returned
            return reading
        finally:
            if not returned:
                self._release(lease)

    @contextmanager
    def _kept(self, lease: Lease) -> Iterator[Callable[[], bool]]:
        """Renew the lease as long as the context lasts; what is yielded tells whether it is lost."""
        done, lost = threading.Event(), threading.Event()

        def renew() -> None:
            seconds = self.pace.lease_seconds
            while not done.wait(seconds / 3):
                try:
                    if self.operations.renew(lease, now=self.clock(), seconds=seconds) is None:
                        lost.set()
                        return
                except Exception as error:  # noqa: BLE001 - tried again; in the end the store says whose session it is
                    log.warning("worker: lease not renewed (%s)", type(error).__name__)

        thread = threading.Thread(target=renew, name="keep-lease", daemon=True)
        thread.start()
        try:
            yield lost.is_set
        finally:
            done.set()
            thread.join()

    def _release(self, lease: Lease) -> None:
        try:
            self.operations.release(lease)
        except MemgraphServerError as error:  # it runs out by itself
            log.warning("worker: lease not released (%s)", error.code)

    def embed_missing(self) -> bool:
        """Embed some turns and triples that have no vectors of this embedder (large imports, a changed model); whether
        there were any."""
        reader = self.reader()
        found = self.operations.stale_vectors(reader.embedder.name, STALE_AT_ONCE + len(self.wordless))
        stale = [each for each in found if each not in self.wordless]
        if not stale:
            self._tell_end(reader.embedder.name)
            return False
        self._tell_begin(reader.embedder.name)
        without = embed_again(reader, stale, self.operations.replace_vectors)
        self.wordless.update(without)
        self.again.done += len(stale) - len(without)
        return True

    def _tell_begin(self, embedder: str) -> None:
        """A changed model's work is told of; vectors that an import left out are not."""
        if not self.again.begun:
            self.again.begun, self.again.outdated = True, self.operations.outdated_vectors(embedder)
            if self.again.outdated:
                message = "worker: %d turns and facts have vectors of another embedder; embedding them again with %s"
                log.info(message, self.again.outdated, embedder)

    def _tell_end(self, embedder: str) -> None:
        if self.again.outdated:
            message = "worker: no vector of another embedder is left; this process embedded %d turns and facts with %s"
            log.info(message, self.again.done, embedder)
        self.again.begun, self.again.outdated, self.again.done = False, 0, 0


def trouble(error: Exception) -> str:
    """Why a worker waits: an error's code, or its kind and where; never its words, since they may quote a turn."""
    return error.code if isinstance(error, MemgraphServerError) else f"{type(error).__name__} at {_place(error)}"


def _place(error: Exception) -> str:
    """File and line of the innermost frame."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return f"{frame.tb_frame.f_code.co_filename.rpartition('/')[2]}:{frame.tb_lineno}" if frame else "?"
