"""For operators and their machines: is the process up, is work being done, how much of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from memgraph_server import __version__
from memgraph_server.access import Key
from memgraph_server.actions.readiness import Report, WorkerState, report
from memgraph_server.api.answers import HealthOut, ReadinessOut
from memgraph_server.api.dependencies import Has, Readers, Works
from memgraph_server.api.metrics import Metrics
from memgraph_server.wiring import Services, clock

router = APIRouter(tags=["operations"])


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", summary="The process answers")
async def healthz() -> HealthOut:
    return HealthOut(status="ok", version=__version__)


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz", summary="Work gets done", response_model=ReadinessOut, responses={503: {"model": ReadinessOut}}
)  # fmt: skip
def readyz(
    services: Has,
    readers: Works,
    wanted: Annotated[
        Literal["all", "requests"],
        Query(alias="for", description="requests: only what this process needs to answer them, its store and models"),
    ] = "all",
) -> Response:
    """200 where the store and the broker answer, a worker lives, the models are loaded and the API keys can be read;
    else 503, and which part is not. A load balancer asks `?for=requests`: where workers or the broker are away, turns
    are still taken and questions still answered, by this process as well as by any other."""
    found = current(services, readers)
    ready = found.ready if wanted == "all" else found.serving
    return JSONResponse({"ready": ready, **asdict(found)}, 200 if ready else 503, {} if ready else {"Retry-After": "1"})


def current(services: Services, readers: Readers) -> Report:
    asked = services.language_model
    said = asked.state if asked is not None else "none"
    states = {"language_model": said, "keys": services.keys.state()}
    return report(services.store, _state(readers), model_state(services), now=clock(), **states)


def _state(readers: Readers) -> WorkerState:
    found = readers.broker.look() if readers.broker is not None else None
    broker = "none" if found is None else "ok" if found.ok else "unreachable"
    answering = found.workers if found is not None else None
    if readers.worker is None:
        return WorkerState(external=True, broker=broker, answering=answering)
    progress = readers.worker.progress
    return WorkerState(
        broker=broker,
        answering=answering,
        alive=readers.worker.alive,
        busy=progress.busy,
        trouble=progress.trouble,
    )


def model_state(services: Services) -> str:
    """Of the embedder, and of the extractor where turns are read in this process."""
    states = {services.embedder.state} | ({services.extractor.state} if services.settings.reads_here else set())
    return "failed" if "failed" in states else "loading" if "loading" in states else "ok"


@router.get("/metrics", summary="For Prometheus", response_class=Response)
def metrics(request: Request, services: Has, readers: Works) -> Response:
    """Counts and times; no namespace, no text. Where access is checked, with a key for all namespaces."""
    key: Key | None = request.scope.get("memgraph_key")
    if key is not None:
        key.require_everywhere()
    measured: Metrics = request.app.state.metrics
    body, media_type = measured.page(current(services, readers), readers.worker.progress if readers.worker else None)
    return Response(body, media_type=media_type)


@router.get("/", include_in_schema=False)
async def root() -> Response:
    return RedirectResponse("docs")
