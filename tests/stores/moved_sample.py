"""The conversation that ships, read once into an embedded store, and moved from there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from memgraph_server import wiring
from memgraph_server.command_line.ingesting import ingest_sessions
from memgraph_server.command_line.readers import read_file
from memgraph_server.settings import Settings
from memgraph_server.wiring import Services
from tests.services.neo4j_server import emptied

QUICK = {"embedder": "hashed", "extractor": "patterns"}
NAMESPACE = "sample"


@contextmanager
def services(store: str, password: str = "") -> Iterator[Services]:
    opened = wiring.services(Settings(store=store, neo4j_password=password, **QUICK))  # type: ignore[arg-type]
    try:
        if opened.settings.on_neo4j:
            emptied(opened.store)  # type: ignore[arg-type]
        yield opened
    finally:
        opened.close()


def read_sample(services: Services) -> None:
    folder = resources.files("memgraph_server") / "samples"
    (sample,) = (each for each in folder.iterdir() if each.name.endswith(".json") and each.name != "evaluation.json")
    _, sessions = read_file(Path(str(sample)), None)
    ingest_sessions(services, NAMESPACE, sessions)
