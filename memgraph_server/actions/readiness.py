"""Whether work gets done, not only whether a process runs: health must not be green while nothing is processed."""

from __future__ import annotations

from dataclasses import dataclass

from memgraph_server.errors import MemgraphServerError
from memgraph_server.memory.interval import Instant
from memgraph_server.stores.port import Operations, Readiness

#: A turn that has waited this long, while nobody reads, says that reading has stopped.
STALLED_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class WorkerState:
    """`trouble`: why this process's worker waits, as an error code. `external`: turns are read by another process.

    Where there is a broker, `broker` is "ok" or "unreachable", and `answering` how many workers are there.
    """

    external: bool = False
    broker: str = "none"
    answering: int | None = None
    alive: bool = False
    busy: int = 0
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Each part in a word, "ok" where all is well; `pending` and `dead` are None where the store cannot say, and
    `workers_answering` where there is no broker, or it cannot be asked.

    `keys`: "none" where access is not checked, or "unreadable", where every request is refused and the log names the
    file. `language_model`: "none" where none is set, else "ok", "loading" or "failed: …" with what to set. Where turns
    wait for it, `model` has failed too; else the server is ready without it.
    """

    store: str
    broker: str
    workers: str
    model: str
    pending: int | None
    oldest_pending_seconds: float | None
    dead: int | None
    language_model: str = "none"
    workers_answering: int | None = None
    keys: str = "none"

    @property
    def ready(self) -> bool:
        works = self.workers in {"ok", "external"} and self.broker in {"ok", "none"}
        return self.serving and works

    @property
    def serving(self) -> bool:
        """Whether this process can answer requests: without workers and broker turns are stored, and wait."""
        return self.store == "ok" and self.model == "ok" and self.keys != "unreadable"


def report(
    operations: Operations,
    worker: WorkerState,
    model: str,
    *,
    now: Instant,
    language_model: str = "none",
    keys: str = "none",
) -> Report:
    """`model`: ok, loading or failed."""
    store, overall = _ask(operations)
    waited = None
    if overall is not None and overall.oldest_pending_at is not None:
        waited = max(0.0, (now - overall.oldest_pending_at) / 1_000_000)
    return Report(
        store=store,
        broker=worker.broker,
        workers=_workers(worker, waited),
        model=model,
        pending=overall.pending if overall else None,
        oldest_pending_seconds=waited,
        dead=overall.dead if overall else None,
        language_model=language_model,
        workers_answering=worker.answering,
        keys=keys,
    )


def _ask(operations: Operations) -> tuple[str, Readiness | None]:
    try:
        return "ok", operations.overall()
    except MemgraphServerError as error:
        return error.code, None


def _workers(worker: WorkerState, waited: float | None) -> str:
    stalled = waited is not None and waited > STALLED_SECONDS
    if worker.external:
        return _others(worker, stalled)
    if not worker.alive:
        return "stopped"
    if worker.trouble is not None:
        return f"waiting: {worker.trouble}"
    return "stalled" if stalled and not worker.busy else "ok"


def _others(worker: WorkerState, stalled: bool) -> str:
    """Workers that are other processes. Without a broker, they show by their work alone."""
    if worker.broker == "none":
        return "stalled" if stalled else "external"
    if not worker.answering:
        return "none answers" if worker.answering == 0 else "unknown"
    return "stalled" if stalled else "ok"
