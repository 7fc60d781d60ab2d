"""`worker` and `beat`: processes that read stored turns, beside those that serve."""

from __future__ import annotations

import signal
import socket
import threading
import uuid
from typing import Annotated

import typer

from memgraph_server.command_line.options import Store, log_as_set, services_of, settings_of
from memgraph_server.errors import InvalidInput
from memgraph_server.settings import Settings

BrokerUrl = Annotated[
    str | None,
    typer.Option(
        "--broker",
        help="redis://HOST:6379/0 or amqp://…; without: no broker, one process [MEMGRAPH_SERVER_BROKER_URL]",
        show_default=False,
    ),
]


def worker(
    store: Store = None,
    broker: BrokerUrl = None,
    processes: Annotated[
        int | None, typer.Option(help="processes that read, with a broker [default: 2]", min=1, max=256)
    ] = None,
    beat: Annotated[bool, typer.Option("--beat", help="beat beside it, where there is but one worker")] = False,
) -> None:
    """Read stored turns, beside `serve`; any number may run on one store.

    With a broker it is a Celery worker, told by `serve` what to read. Without one it looks for work by itself.

    Example: memgraph-server worker --store sqlite:///memory.db

    Example: memgraph-server worker --store neo4j://127.0.0.1:7687 --broker redis://127.0.0.1:6379/0 --processes 4

    Example: memgraph-server worker --broker redis://127.0.0.1:6379/0 --beat
    """
    settings = settings_of(store=store, broker_url=broker, worker_processes=processes)
    log_as_set(settings)
    if settings.broker_url:
        _celery_worker(settings, beat=beat)
    elif beat or processes is not None:
        raise InvalidInput("--beat and --processes need a broker: --broker redis://HOST:6379/0", field="broker")
    else:
        _own_process(settings)


def beat(store: Store = None, broker: BrokerUrl = None) -> None:
    """Have workers look, again and again, for turns that nobody told them of. One is enough; more do no harm.

    Example: memgraph-server beat --broker redis://127.0.0.1:6379/0
    """
    settings = settings_of(store=store, broker_url=broker)
    if not settings.broker_url:
        raise InvalidInput("beat needs a broker: --broker redis://HOST:6379/0", field="broker")
    log_as_set(settings)
    from memgraph_server import wiring

    app = wiring.celery_worker(settings)
    typer.echo("beat started", err=True)
    app.Beat(loglevel=settings.log_level.upper(), quiet=True).run()


def _own_process(settings: Settings) -> None:
    from memgraph_server import wiring

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with services_of(settings) as services:
        working = wiring.worker(services)
        working.start()
        typer.echo(f"reading turns of {settings.store}", err=True)
        ended.wait()
        working.stop()


def _celery_worker(settings: Settings, *, beat: bool) -> None:
    """Processes, not threads: only a process can be ended when a model does not return."""
    from memgraph_server import wiring

    app = wiring.celery_worker(settings)
    typer.echo(f"reading turns of {settings.store}", err=True)
    celery = app.Worker(
        hostname=f"memgraph-server-{uuid.uuid4().hex[:8]}@{socket.gethostname()}",
        pool="prefork",
        concurrency=settings.worker_processes,
        beat=beat,
        loglevel=settings.log_level.upper(),
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    celery.start()
    raise typer.Exit(celery.exitcode or 0)
