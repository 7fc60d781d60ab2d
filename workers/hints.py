"""Hints to the workers of other machines: "this session has turns to read", sent over a broker after the commit.

A hint may be lost, late or doubled: the stored turn is the queue, and beat's sweep finds what nobody hinted. So whoever
stores turns never waits for the broker and never hears of its faults:

    wake ──> a bounded set ──> one thread ──> broker
                  └── broker down: wait 1, 2, 4 … 30 s, hints of one session are one; beyond the bound they are dropped

A queue that is full already gets no more hints.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from memgraph_server.workers.celery_app import EMBED, READ, Broker

log = logging.getLogger(__name__)

LONGEST_PAUSE = 30.0
#: Hints that wait in this process, and in the broker, at most.
MOST_HERE = 1_000
MOST_QUEUED = 10_000
#: How often the length of the broker's queue is asked.
COUNT_SECONDS = 1.0

Hint = tuple[str, tuple[str, ...]]


class Hints:
    """Start it once. `stop` lets waiting hints go where the broker takes them."""

    def __init__(self, broker: Broker, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._broker, self._clock = broker, clock
        self._changed = threading.Condition()
        self._waiting: dict[Hint, None] = {}  # a set in order of arrival
        self._stopping = False
        self._counted_at, self._full = float("-inf"), False
        self._thread = threading.Thread(target=self._run, name="hints", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self, namespace: str, session_id: str) -> None:
        """This session has turns to read; never blocks, never raises."""
        self._add((READ, (namespace, session_id)))

    def embed_missing(self) -> None:
        """Something was stored without vectors; never blocks, never raises."""
        self._add((EMBED, ()))

    def stop(self, seconds: float = 2.0) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join(seconds)

    def _add(self, hint: Hint) -> None:
        with self._changed:
            if len(self._waiting) < MOST_HERE:
                self._waiting[hint] = None
                self._changed.notify()

    def _next(self) -> Hint | None:
        """None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping or bool(self._waiting))
            if not self._waiting:
                return None
            hint = next(iter(self._waiting))
            del self._waiting[hint]  # before it is sent: what is said of the session from now on is another hint
            return hint

    def _run(self) -> None:
        pause = 0.0
        while (hint := self._next()) is not None:
            try:
                if not self._queue_is_full():
                    self._broker.send(*hint)
                pause = 0.0
            except Exception as error:  # noqa: BLE001 - whatever a broker's client raises, the next hint is tried
                pause = min(LONGEST_PAUSE, max(1.0, pause * 2))
                log.warning("hints: the broker takes none (%s); next try in %.0f s", type(error).__name__, pause)
                if self._rest(hint, pause):
                    return

    def _rest(self, hint: Hint, seconds: float) -> bool:
        """Keep the hint for later and wait; whether to stop."""
        with self._changed:
            self._waiting = {hint: None, **self._waiting}
            return self._changed.wait_for(lambda: self._stopping, seconds)

    def _queue_is_full(self) -> bool:
        if self._clock() - self._counted_at > COUNT_SECONDS:
            self._full = self._broker.queued() >= MOST_QUEUED
            self._counted_at = self._clock()
        return self._full
