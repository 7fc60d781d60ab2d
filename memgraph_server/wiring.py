"""The only place where adapters are chosen: REST, worker and command line all get theirs here.

Heavy things (parser, ONNX runtime) are imported and loaded when they are needed first, or in the background while the
server already answers; a failure to load is remembered for a moment and told to whoever asks, as ModelUnavailable.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import yaml

from memgraph_server.access import KeyFile
from memgraph_server.errors import ModelUnavailable, StoreUnavailable
from memgraph_server.language.port import ModelRole, TurnInContext
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.relations import Registry
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.settings import InvalidSetting, Settings

if TYPE_CHECKING:
    from memgraph_server.actions.read_turns import Reader
    from memgraph_server.language.language_model.client import CompatibleModel
    from memgraph_server.language.language_model.connecting import Connected
    from memgraph_server.language.port import Embedder, Extractor
    from memgraph_server.retrieval.fusion import Ranking
    from memgraph_server.stores.neo4j_store.console import Answer
    from memgraph_server.stores.port import GraphStore, Operations
    from memgraph_server.workers.celery_app import Broker, Limits
    from memgraph_server.workers.in_process import InProcessWorker
    from memgraph_server.workers.reading import Desk

    class Store(GraphStore, Operations, Protocol):
        """Both faces of a store, by one adapter."""


log = logging.getLogger(__name__)
_Model = TypeVar("_Model")
_TRY_AGAIN_SECONDS = 5.0


def clock() -> Instant:
    return time.time_ns() // 1000


def new_id() -> str:
    return uuid.uuid4().hex


#: Never stored: what the parser is tried on while it is loaded.
_FIRST_TURN = TurnInContext(Turn("warm-up", "warm-up", Role.USER, "Ann", "I live in Paris.", at=0))


class Lazy(Generic[_Model]):
    """A model that is loaded once, by whoever needs it first; others wait for it."""

    def __init__(self, what: str, load: Callable[[], _Model]) -> None:
        self.what, self._load = what, load
        self._lock = threading.Lock()
        self._model: _Model | None = None
        self._failed: tuple[float, str] | None = None

    def get(self) -> _Model:
        """Raises ModelUnavailable; loading is tried again after a few seconds."""
        with self._lock:
            if self._model is None:
                self._try()
            assert self._model is not None  # noqa: S101 - _try has set it or raised
            return self._model

    def _try(self) -> None:
        if self._failed is not None and time.monotonic() - self._failed[0] < _TRY_AGAIN_SECONDS:
            raise ModelUnavailable(self._failed[1])
        try:
            gc.disable()  # loading makes objects by the million, none of them garbage
            self._model, self._failed = self._load(), None
            gc.freeze()  # a model lives as long as the process: no later collection need walk through it
        except Exception as error:
            message = f"the {self.what} cannot be loaded: {error}"
            self._failed = (time.monotonic(), message)
            log.error("the %s cannot be loaded (%s)", self.what, type(error).__name__)
            raise ModelUnavailable(message) from error
        finally:
            gc.enable()

    @property
    def state(self) -> str:
        """ "ready", "failed", or "loading" (or not asked for yet)."""
        return "ready" if self._model is not None else "failed" if self._failed is not None else "loading"


@dataclass(frozen=True, slots=True)
class Services:
    """Everything a use case is given."""

    settings: Settings
    store: Store
    relations: Registry
    embedder: Lazy[Embedder]
    extractor: Lazy[Extractor]
    reader: Lazy[Reader]
    keys: KeyFile
    ranking: Ranking
    language_model: Connected | None = None

    def model_for(self, *roles: ModelRole) -> CompatibleModel:
        """The language model, for roles that are set. Raises ModelUnavailable, saying what to set."""
        from memgraph_server.language.language_model.client import not_set

        for role in roles:
            if self.language_model is None or not self.language_model.model.has(role):
                raise not_set(role)
        assert self.language_model is not None  # noqa: S101 - no call is without a role
        return self.language_model.model

    def forget_answers(self) -> None:
        """What a language model has said is remembered for a while, in memory: drop it, since something was erased."""
        if self.language_model is not None:
            self.language_model.model.forget()

    def embedder_if_ready(self) -> Embedder | None:
        """None where asking would wait or fail: vectors then come later, by the worker."""
        return self.embedder.get() if self.embedder.state == "ready" else None

    def close(self) -> None:
        if self.reader.state == "ready":
            self.reader.get().close()
        if self.language_model is not None:
            self.language_model.close()
        self.store.close()


def services(settings: Settings, *, interrupts: tuple[type[Exception], ...] = ()) -> Services:
    """`interrupts`: see Reader. Raises StoreUnavailable, StoreCorrupt or SchemaMismatch where the store cannot be
    used."""
    relations, rank = registry(), _ranking(settings)
    model = _embedder(settings)
    store = _opened(settings, model)
    try:
        store.migrate()
    except BaseException:
        store.close()
        raise
    embedder = Lazy("embedder", lambda: _loaded(model))
    language_model = _language_model(settings)
    extractor = Lazy("extractor", lambda: _extractor(settings, relations, language_model))
    reader = Lazy("models", lambda: _reader(settings, store, embedder, extractor, interrupts))
    keys = KeyFile(settings.keys_path)
    return Services(settings, store, relations, embedder, extractor, reader, keys, rank, language_model)


@lru_cache(maxsize=1)
def registry() -> Registry:
    text = (resources.files("memgraph_server") / "schema" / "relations.yaml").read_text("utf-8")
    # The parser in C, where PyYAML has it, saves a third of a second of every start.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return Registry.from_tables(yaml.load(text, Loader=loader))  # noqa: S506 - both loaders are safe ones


def _ranking(settings: Settings) -> Ranking:
    """Raises InvalidSetting where the file that is set holds none."""
    from memgraph_server.actions.ask import shipped_ranking
    from memgraph_server.retrieval.fusion import Ranking

    if not settings.ranking:
        return shipped_ranking()
    try:
        return Ranking.from_mapping(json.loads(Path(settings.ranking).read_text("utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        message = f"{settings.ranking} holds no ranking ({why}); `eval --fit` writes one"
        raise InvalidSetting(message, field="MEMGRAPH_SERVER_RANKING") from error


def open_store(settings: Settings) -> Store:
    """The store as it is: its schema may be another version's."""
    return _opened(settings, _embedder(settings))


def _opened(settings: Settings, embedder: Embedder) -> Store:
    if settings.on_neo4j:
        return _on_neo4j(settings, embedder)
    from memgraph_server.stores.sqlite import SqliteStore

    return SqliteStore(settings.store_file, registry(), embedder_name=embedder.name, dimension=embedder.dimension)


@contextmanager
def models_alone(settings: Settings) -> Iterator[tuple[Embedder, list[Extractor]]]:
    """Models without a store, loaded, to be measured side by side: the local extractor, the one that is set, and the
    language model's where one is set for it. Raises ModelUnavailable."""
    connected = _language_model(settings)
    by_model = connected is not None and connected.model.has(ModelRole.EXTRACT)
    kinds = dict.fromkeys(["local", settings.extractor, *(["llm"] if by_model else [])])
    relations = registry()
    try:
        each = [_extractor(replace(settings, extractor=kind), relations, connected) for kind in kinds]
        yield _loaded(_embedder(settings)), each
    finally:
        if connected is not None:
            connected.close()


def _on_neo4j(settings: Settings, embedder: Embedder) -> Store:
    try:
        from memgraph_server.stores.neo4j_store import Neo4jStore, Target
    except ModuleNotFoundError as error:
        raise StoreUnavailable("the Neo4j driver is absent: pip install 'memgraph-server[neo4j]'") from error
    target = Target(settings.store, settings.neo4j_user, settings.neo4j_password, settings.neo4j_database)
    return Neo4jStore(target, registry(), embedder_name=embedder.name, dimension=embedder.dimension)


@contextmanager
def open_console(settings: Settings) -> Iterator[Callable[..., Answer]]:
    """An operator's own read-only queries to the Neo4j of these settings. Raises StoreUnavailable."""
    opened: Any = _on_neo4j(settings, _embedder(settings))
    from memgraph_server.stores.neo4j_store import console

    try:
        yield partial(console.ask, opened.connection)
    finally:
        opened.close()


def _embedder(settings: Settings) -> Embedder:
    """Not loaded yet; its name and dimension are known all the same."""
    if settings.embedder == "hashed":
        from memgraph_server.language.hashed_embedder import HashedEmbedder

        return HashedEmbedder()
    from memgraph_server.language.onnx_embedder import OnnxEmbedder

    return OnnxEmbedder()


def _loaded(embedder: Embedder) -> Embedder:
    embedder.encode([_FIRST_TURN.turn.text])  # loads the model now, where it can be said that it fails
    return embedder


def _language_model(settings: Settings) -> Connected | None:
    """Not called yet; the client's package is imported at the first call."""
    if not any(getattr(settings, name) for name in ("llm_model", *(f"llm_{role}_model" for role in ModelRole))):
        return None
    from memgraph_server.language.language_model.connecting import connected

    return connected(settings)


def _extractor(settings: Settings, relations: Registry, language_model: Connected | None = None) -> Extractor:
    if settings.extractor == "llm":
        return _model_extractor(settings, relations, language_model)
    if settings.extractor == "patterns":
        from memgraph_server.language.pattern_extractor import PatternExtractor

        return PatternExtractor(relations.canonical)
    from memgraph_server.language.local_extractor import LocalExtractor

    extractor = LocalExtractor(relations)
    extractor.extract([_FIRST_TURN])  # loads the parser now, where it can be said that it fails
    return extractor


def _model_extractor(settings: Settings, relations: Registry, connected: Connected | None) -> Extractor:
    """Whether its endpoint answers is known before the first turn is read."""
    from memgraph_server.language.language_model.client import not_set
    from memgraph_server.language.language_model.extraction import ModelExtractor

    if connected is None or not connected.model.has(ModelRole.EXTRACT):
        raise not_set(ModelRole.EXTRACT)
    local = Lazy("local extractor", lambda: _extractor(replace(settings, extractor="local"), relations))
    if settings.llm_fallback == "pending":
        connected.probe()
    return ModelExtractor(
        connected.model,
        relations,
        otherwise=local.get if settings.llm_fallback == "local" else None,
        turns_a_call=settings.llm_turns_per_call,
        at_once=settings.llm_concurrency,
        spending=connected.model.spending,
    )


def _reader(
    settings: Settings,
    store: Store,
    embedder: Lazy[Embedder],
    extractor: Lazy[Extractor],
    interrupts: tuple[type[Exception], ...],
) -> Reader:
    from memgraph_server.actions.read_turns import Reader, Retries

    retries, by_model = Retries(attempts=settings.max_attempts), settings.extractor == "llm"
    return Reader(store, extractor.get(), embedder.get(), retries, names_known=by_model, interrupts=interrupts)


def _desk(services: Services) -> Desk:
    """Its name is the machine's and the process's, so that leases can be told apart. A batch for a language model is
    what it reads side by side."""
    from memgraph_server.workers.reading import Desk, Pace

    settings = services.settings
    most = settings.llm_concurrency * settings.llm_turns_per_call if settings.extractor == "llm" else settings.batch
    return Desk(
        services.store,
        services.reader.get,
        name=f"{socket.gethostname()}-{os.getpid()}-worker",
        clock=clock,
        pace=Pace(settings.lease_seconds, settings.sweep_seconds, min(settings.batch, most)),
    )


def worker(services: Services) -> InProcessWorker:
    """Not started yet."""
    from memgraph_server.workers.in_process import InProcessWorker

    return InProcessWorker(_desk(services))


def _limits(settings: Settings) -> Limits:
    """A task outlasts the slowest batch of a language model, every call timing out at each of its tries."""
    from memgraph_server.workers.celery_app import Limits

    slowest = 2 * (1 + settings.llm_retries) * settings.llm_timeout_seconds + 60
    return Limits(max(settings.task_seconds, slowest) if settings.extractor == "llm" else settings.task_seconds)


def _celery(settings: Settings, *, patient: bool) -> Any:
    try:
        from memgraph_server.workers.celery_app import celery_app
    except ModuleNotFoundError as error:
        what = "MEMGRAPH_SERVER_BROKER_URL is set, but Celery is absent: pip install 'memgraph-server[workers]'"
        raise InvalidSetting(what, field="MEMGRAPH_SERVER_BROKER_URL") from error
    return celery_app(
        settings.broker_url,
        settings.broker_queue,
        _limits(settings),
        sweep_seconds=settings.beat_seconds,
        patient=patient,
    )


def broker(settings: Settings) -> Broker:
    """For whoever stores turns and asks who reads them. Raises InvalidSetting where Celery is absent."""
    app = _celery(settings, patient=False)
    from memgraph_server.workers.celery_app import Broker

    return Broker(app)


def celery_worker(settings: Settings) -> Any:
    """The Celery app with its tasks, for `worker` and `beat`. Store and models are opened by each process that reads,
    after Celery has forked it. Raises InvalidSetting where Celery is absent."""
    app = _celery(settings, patient=True)
    from celery.exceptions import SoftTimeLimitExceeded

    from memgraph_server.workers import tasks

    @lru_cache(maxsize=1)
    def desk() -> Desk:
        return _desk(services(settings, interrupts=(SoftTimeLimitExceeded,)))

    tasks.register(app, desk, late_seconds=settings.beat_seconds)
    return app
