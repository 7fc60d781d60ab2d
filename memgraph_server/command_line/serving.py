"""`serve`: REST and, unless it is off or there is a broker, the worker, in one process."""

from __future__ import annotations

from typing import Annotated

import typer

from memgraph_server.access import KeyFile
from memgraph_server.command_line.options import Store, log_as_set, settings_of
from memgraph_server.errors import InvalidInput, StoreUnavailable
from memgraph_server.settings import Settings, is_loopback


def serve(
    store: Store = None,
    host: Annotated[str | None, typer.Option(help="address to listen on [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="port; 0: any free one [default: 8765]", min=0, max=65535)] = None,
    worker: Annotated[bool | None, typer.Option("--worker/--no-worker", help="read turns in this process")] = None,
) -> None:
    """Serve the REST API, documented at /docs; reads stored turns beside it, or with a broker tells workers to.

    Example: memgraph-server serve --store sqlite:///memory.db --port 8765
    """
    settings = settings_of(store=store, host=host, port=port, worker=worker)
    run(settings)


def run(settings: Settings) -> None:
    """Listen until interrupted. Raises InvalidInput where listening there would be open to others."""
    check_access(settings)
    import uvicorn

    from memgraph_server import wiring
    from memgraph_server.api.app import create_app

    log_as_set(settings)
    services = wiring.services(settings)
    config = uvicorn.Config(
        create_app(services), host=settings.host, port=settings.port, log_config=None, access_log=False,
        server_header=False, lifespan="on", timeout_graceful_shutdown=10,
    )  # fmt: skip
    server = uvicorn.Server(config)
    try:
        server.run()
    except SystemExit as stopped:  # the port is taken, or the like; uvicorn has logged why
        raise StoreUnavailable(f"cannot listen on {settings.host}:{settings.port}") from stopped


def check_access(settings: Settings) -> None:
    """Off loopback only with keys: whoever reaches the port could read and erase everything."""
    if not is_loopback(settings.host) and not KeyFile(settings.keys_path).exists():
        raise InvalidInput(
            f"{settings.host} can be reached from elsewhere, and there are no API keys in {settings.keys_path}; "
            "first run `memgraph-server keys create`",
            field="MEMGRAPH_SERVER_HOST",
        )
