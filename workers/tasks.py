"""The Celery worker's tasks: a hint comes in, turns are lent from the store and read. Ids in, nothing decided here.

    read (namespace, session)   that session's turns, batch after batch
    read ()                     whatever has waited longest, session after session
    sweep ()                    by beat: where turns have waited too long, as many `read ()` as the queue has room for
    embed ()                    by beat, and where something was stored without vectors

Rules:
- the store says what is to be done: a hint that comes twice, late, or for a session that another worker has, finds
  nothing to lend and ends;
- a hint lasts for a slice of time, then it is given to the queue again, so that no session holds a process for itself;
- a store or model that is down is waited for: 2, 4, 8 … s, a bounded number of times; after that the sweep comes;
- a model that does not return within the time limit has failed the turn in hand. It cannot be stopped from within, so
  the process ends; Celery starts another.
"""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable
from typing import Any

from celery import Celery
from celery.exceptions import Retry, SoftTimeLimitExceeded
from celery.signals import worker_process_init

from memgraph_server.errors import MemgraphServerError
from memgraph_server.workers.celery_app import EMBED, READ, SWEEP, queue_length
from memgraph_server.workers.reading import Desk, trouble

log = logging.getLogger(__name__)

SLICE_SECONDS = 10.0
MOST_RETRIES = 4
#: The sweep fills the queue up to this.
SWEEP_HINTS = 32


def register(app: Celery, desk: Callable[[], Desk], *, late_seconds: float) -> None:
    """`desk` is called in the process that reads: when it starts, so that no task's time goes into loading models, and
    at each task. `late_seconds`: from when on a turn has waited too long without being read."""

    def prepare(**_: Any) -> None:
        try:
            desk().reader()
        except Exception as error:  # noqa: BLE001 - the first task tries again, and is tried again
            log.warning("worker: not ready yet (%s)", trouble(error))

    def read(task: Any, namespace: str | None = None, session_id: str | None = None) -> None:
        session = None if namespace is None or session_id is None else (namespace, session_id)
        with _Patience(task):
            if _read(desk(), session):
                task.apply_async(task.request.args)

    def sweep(task: Any) -> None:
        with _Patience(task, retry=False):
            for _ in range(_missing_hints(desk(), app, late_seconds)):
                app.send_task(READ)

    def embed(task: Any) -> None:
        until = time.monotonic() + SLICE_SECONDS
        with _Patience(task, retry=False):
            while desk().embed_missing():
                if time.monotonic() > until:
                    task.apply_async()
                    return

    worker_process_init.connect(prepare, weak=False)
    for name, function in ((READ, read), (SWEEP, sweep), (EMBED, embed)):
        app.task(function, name=name, bind=True, shared=False)


def _read(desk: Desk, session: tuple[str, str] | None) -> bool:
    """Whether there may be more when the slice of time is over."""
    until = time.monotonic() + SLICE_SECONDS
    while (lease := desk.lend(session)) is not None:
        desk.read(lease, stop=lambda: time.monotonic() > until)
        if time.monotonic() > until:
            return True
    return False


def _missing_hints(desk: Desk, app: Celery, late_seconds: float) -> int:
    overall = desk.operations.overall()
    if overall.oldest_pending_at is None or desk.clock() - overall.oldest_pending_at < late_seconds * 1_000_000:
        return 0
    return max(0, min(overall.pending, SWEEP_HINTS - queue_length(app)))


class _Patience:
    """Around a task's work: what is down is waited for, what is broken is told, and a time limit ends the process."""

    def __init__(self, task: Any, *, retry: bool = True) -> None:
        self._task, self._retry = task, retry

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, Retry):
            return False
        if isinstance(error, SoftTimeLimitExceeded):
            log.error("worker: a task took longer than its time limit; its process ends")
            os._exit(1)
        tries = self._task.request.retries
        if self._retry and isinstance(error, MemgraphServerError) and error.retry and tries < MOST_RETRIES:
            wait = 2.0 ** (tries + 1) * random.uniform(0.75, 1.25)  # noqa: S311 - spread, no secret
            log.warning("worker: %s; next try in %.0f s", trouble(error), wait)
            raise self._task.retry(countdown=wait, max_retries=MOST_RETRIES) from None
        log.error("worker: %s; left to the sweep", trouble(error))
        return True
