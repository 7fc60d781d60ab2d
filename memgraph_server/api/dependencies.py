"""What a route is given: the services, and a namespace that the caller may use in the route's role.

A query parameter that the route does not know, or that comes twice, is refused, as an unknown member of a body is: a
misspelt `known_at` would otherwise be answered from what is believed now.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Header, Path, Query, Request, Security
from fastapi.security import HTTPBearer

from memgraph_server import access
from memgraph_server.access import Role
from memgraph_server.actions import inputs
from memgraph_server.errors import InvalidInput
from memgraph_server.wiring import Services
from memgraph_server.workers.in_process import InProcessWorker

if TYPE_CHECKING:
    from memgraph_server.workers.celery_app import Broker
    from memgraph_server.workers.hints import Hints

_bearer = HTTPBearer(auto_error=False, description="mgs_…; needed wherever the server has keys")


def services_of(request: Request) -> Services:
    found: Services = request.app.state.services
    return found


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads turns: this process, workers that are told over a broker, or (neither) a process that looks itself."""

    worker: InProcessWorker | None = None
    hints: Hints | None = None
    broker: Broker | None = None

    def wake(self, namespace: str, session_id: str) -> None:
        """This session has turns to read; never blocks, never raises."""
        if self.worker is not None:
            self.worker.wake()
        if self.hints is not None:
            self.hints.wake(namespace, session_id)

    def embed_missing(self) -> None:
        """Something was stored without vectors; never blocks, never raises."""
        for one in (self.worker, self.hints):
            if one is not None:
                one.embed_missing()


def readers_of(request: Request) -> Readers:
    found: Readers = request.app.state.readers
    return found


Has = Annotated[Services, Depends(services_of)]
Works = Annotated[Readers, Depends(readers_of)]


def _allowed(needed: Role) -> Callable[..., Awaitable[str]]:
    async def allowed(
        request: Request,
        ns: Annotated[str, Path(description="whose memory: 1 to 128 characters, no slashes or control characters")],
        _key: object = Security(_bearer),
    ) -> str:
        namespace = inputs.namespace(ns)
        key: access.Key | None = request.scope.get("memgraph_key")
        if key is not None:
            access.permit(key, needed, namespace)
        _check_parameters(request)
        return namespace

    return allowed


def _check_parameters(request: Request) -> None:
    known = {parameter.alias for parameter in request.scope["route"].dependant.query_params}
    for name in request.query_params:
        if name not in known:
            raise InvalidInput(f"{name[:64]!a} is no parameter here; known are {_listed(known)}", field=name[:64])
        if len(request.query_params.getlist(name)) > 1:
            raise InvalidInput(f"{name} is given more than once", field=name)


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


#: A namespace that the caller may read, write or erase.
Readable = Annotated[str, Depends(_allowed(Role.READER))]
Writable = Annotated[str, Depends(_allowed(Role.WRITER))]
Operable = Annotated[str, Depends(_allowed(Role.OPERATOR))]

PageSize = Annotated[int, Query(ge=1, le=1000, description="items a page")]
Cursor = Annotated[str | None, Query(description="next_cursor of the page before", max_length=1024)]
IdempotencyKey = Annotated[
    str | None, Header(alias="Idempotency-Key", description="a repeated call with it finds the job of the first")
]
