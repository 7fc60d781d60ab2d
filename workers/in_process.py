"""The in-process worker: threads that read what is pending, as long as the process lives.

The stored turn is the queue; `wake` is only a hint that saves waiting for the next sweep.

    waiting ──hint or sweep──> leasing ──session──> reading ──> releasing ──> leasing …
       ^                          └── nothing due: embed what has no vectors, then wait
       └──── model or store down: wait 1, 2, 4 … 30 s, count no try ────┘

Rules:
- no exception ends a thread;
- there are two threads, so that one session is applied while the next is parsed (both use the models' own threads, see
  `actions/read_turns.py`);
- leases are kept and given back by `reading.py`.

Nothing is decided here: `actions/read_turns.py` does.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass

from memgraph_server.actions.read_turns import Reading
from memgraph_server.errors import MemgraphServerError
from memgraph_server.memory.interval import Instant
from memgraph_server.workers.reading import Desk, trouble

log = logging.getLogger(__name__)

LONGEST_PAUSE = 30.0
#: Looking for what has no vectors reads the whole store, so it is done at the start, when it is asked for, and seldom.
LOOK_SECONDS = 600.0


@dataclass(slots=True)
class Progress:
    """What the worker has done, for readiness and metrics; `trouble` is why it waits, without any text of a turn."""

    turns: int = 0
    failures: int = 0
    busy: int = 0  # threads that have a session in hand
    trouble: str | None = None
    last_read_at: Instant | None = None


class InProcessWorker:
    """Start it once; `stop` waits for the turn in hand."""

    def __init__(self, desk: Desk) -> None:
        """The desk's `reader` is called in the thread, when there is work."""
        self.progress = Progress()
        self._desk = desk
        self._hint = threading.Event()
        self._stopping = threading.Event()
        self._counting, self._catching_up = threading.Lock(), threading.Lock()
        self._look_at = 0.0  # when to look for what has no vectors, by the monotonic clock; 0: at once
        self._threads = [
            threading.Thread(target=self._run, name=f"{desk.name}-{number}", daemon=True)
            for number in range(desk.pace.threads)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """There is work; never blocks."""
        self._hint.set()

    def embed_missing(self) -> None:
        """Something was stored without vectors; never blocks."""
        self._look_at = 0.0
        self._hint.set()

    def stop(self, seconds: float = 30.0) -> None:
        self._stopping.set()
        self._hint.set()
        ends = time.monotonic() + seconds
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, ends - time.monotonic()))

    @property
    def alive(self) -> bool:
        return all(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            self._hint.clear()
            try:
                worked = self.step()
                self.progress.trouble, pause = None, 0.0
                if not worked:
                    self._hint.wait(self._desk.pace.sweep_seconds)
            except Exception as error:  # noqa: BLE001 - one exception never ends the worker
                pause = min(LONGEST_PAUSE, max(1.0, pause * 2))
                self._report(error, pause)
                self._stopping.wait(pause)

    def _report(self, error: Exception, pause: float) -> None:
        self.progress.trouble = error.code if isinstance(error, MemgraphServerError) else type(error).__name__
        self._count(failures=1)
        log.error("worker: %s; next try in %.0f s", trouble(error), pause)

    def step(self) -> bool:
        """Read one leased batch, or embed what has no vectors; False where there was nothing to do."""
        lease = self._desk.lend()
        if lease is None:
            return self._catch_up()
        self._count(busy=1)
        reading = Reading()
        try:
            reading = self._desk.read(lease, stop=self._stopping.is_set)
        finally:
            self._count(reading, busy=-1)
        return True

    def _count(self, reading: Reading | None = None, *, busy: int = 0, failures: int = 0) -> None:
        with self._counting:
            self.progress.busy += busy
            self.progress.failures += failures
            if reading is not None:
                self.progress.failures += reading.failed is not None
                self.progress.turns += reading.applied
                self.progress.last_read_at = self._desk.clock() if reading.applied else self.progress.last_read_at

    def _catch_up(self) -> bool:
        """Embed turns and triples that have no vectors of this embedder."""
        if time.monotonic() < self._look_at or not self._catching_up.acquire(blocking=False):
            return False
        try:
            self._look_at = time.monotonic() + LOOK_SECONDS
            worked = self._desk.embed_missing()
            if worked:
                self._look_at = 0.0  # there may be more
            return worked
        except Exception:
            self._look_at = 0.0
            raise
        finally:
            self._catching_up.release()
