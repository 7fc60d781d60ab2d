"""Options that several commands share, and the settings that they and the environment make together."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memgraph_server.settings import Settings

if TYPE_CHECKING:
    from memgraph_server.wiring import Services

Store = Annotated[
    str | None,
    typer.Option("--store", help="where memory is kept: sqlite:///FILE [MEMGRAPH_SERVER_STORE]", show_default=False),
]
Namespace = Annotated[str, typer.Option("--namespace", "-n", help="whose memory")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON instead of tables")]


def settings_of(**options: Any) -> Settings:
    """Raises InvalidSetting."""
    return Settings.read(os.environ, **options)


def log_as_set(settings: Settings) -> None:
    level = settings.log_level.upper()
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("memgraph_server").setLevel(level)
    if level != "DEBUG":
        for each_task in ("celery.worker.strategy", "celery.app.trace", "celery.beat"):
            logging.getLogger(each_task).setLevel("WARNING")


@contextmanager
def services_of(settings: Settings) -> Iterator[Services]:
    from memgraph_server import wiring

    services = wiring.services(settings)
    try:
        yield services
    finally:
        services.close()
