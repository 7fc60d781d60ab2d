"""The REST application: routes, problem documents, the edge around them, and the worker's life beside them."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from memgraph_server import __version__
from memgraph_server.api import (
    answer_routes,
    docs_page,
    entity_routes,
    fact_routes,
    health_routes,
    moving_routes,
    problems,
    query_routes,
    turn_routes,
)
from memgraph_server.api.answers import ProblemOut
from memgraph_server.api.dependencies import Readers
from memgraph_server.api.edge import Edge
from memgraph_server.api.language_model_metrics import LanguageModelMetrics
from memgraph_server.api.metrics import Metrics
from memgraph_server.errors import ModelUnavailable
from memgraph_server.wiring import Services, broker, worker

log = logging.getLogger(__name__)

#: FastAPI can send spans, metrics and logs with exception messages to whatever OpenTelemetry finds in a process; this
#: server tells nobody anything by itself.
_NO_TELEMETRY: Any = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}

_PROBLEM = {
    "model": ProblemOut,
    "description": "A problem document (RFC 9457)",
    "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemOut"}}},
}


def create_app(services: Services) -> FastAPI:
    """`services` are closed when the application stops."""
    app = FastAPI(
        title="memgraph-server",
        version=__version__,
        summary="Long-term memory for assistants: a temporal property graph",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        telemetry=_NO_TELEMETRY,
        responses={"4XX": _PROBLEM, "5XX": _PROBLEM},
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.services, app.state.metrics = services, Metrics()
    if services.language_model is not None:
        app.state.metrics.registry.register(LanguageModelMetrics(services.language_model.model.spending))
    app.state.readers = _readers(services)
    problems.install(app)
    for routes in (
        turn_routes,
        query_routes,
        answer_routes,
        fact_routes,
        entity_routes,
        moving_routes,
        health_routes,
        docs_page,
    ):
        app.include_router(routes.router)
    app.add_middleware(Edge, settings=services.settings, keys=services.keys, count=app.state.metrics.count)
    return app


def _readers(services: Services) -> Readers:
    """Not started yet."""
    own = worker(services) if services.settings.reads_here else None
    if not services.settings.broker_url:
        return Readers(own)
    asked = broker(services.settings)
    from memgraph_server.workers.hints import Hints

    return Readers(own, Hints(asked), asked)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Answer at once; models load in the background, and `readyz` says so meanwhile."""
    services: Services = app.state.services
    services.keys.state()  # one that cannot be read is told in the log at once, not at the first request
    loading = threading.Thread(target=_load, args=(services,), name="load-models", daemon=True)
    loading.start()
    readers: Readers = app.state.readers
    for one in (readers.worker, readers.hints):
        if one is not None:
            one.start()
    yield
    for one in (readers.worker, readers.hints):
        if one is not None:
            await run_in_threadpool(one.stop)
    if readers.broker is not None:
        await run_in_threadpool(readers.broker.close)
    await run_in_threadpool(services.close)


def _load(services: Services) -> None:
    if services.language_model is not None:
        services.language_model.look()
    try:
        services.embedder.get()
        if services.settings.reads_here:
            services.reader.get()
    except ModelUnavailable:
        log.warning("models are not ready; turns are stored and stay pending")
