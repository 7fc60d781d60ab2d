"""What the tests of the local extractor share: one loaded extractor and short ways to say a turn."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import yaml

from memgraph_server.language.local_extractor import LocalExtractor
from memgraph_server.language.port import Extraction, TurnInContext
from memgraph_server.memory.facts import Polarity
from memgraph_server.memory.interval import Instant, instant
from memgraph_server.memory.relations import Registry
from memgraph_server.memory.turns import Role, Turn


def on(day: str) -> Instant:
    """Midnight UTC of a day."""
    from datetime import datetime

    return instant(datetime.fromisoformat(f"{day}T00:00:00+00:00"))


#: Wednesday, 10 May 2023, noon: when every turn of these tests is said.
SAID = on("2023-05-10") + 43_200_000_000


@cache
def extractor() -> LocalExtractor:
    tables = yaml.safe_load(files("memgraph_server").joinpath("schema/relations.yaml").read_text("utf-8"))
    return LocalExtractor(Registry.from_tables(tables))


def turn(text: str, **given: object) -> Turn:
    defaults: dict[str, object] = {"id": "t1", "session_id": "s", "role": Role.USER, "speaker": "Ann", "at": SAID}
    return Turn(text=text, **{**defaults, **given})  # type: ignore[arg-type]


def read(text: str, *, previous: tuple[Turn, ...] = (), listener: str = "Bob", **given: object) -> Extraction:
    return extractor().extract([TurnInContext(turn(text, **given), previous, listener)])[0]


def claims(text: str, **given: object) -> set[tuple[str, str, str | None]]:
    """The claimed triples of a text that Ann says to Bob."""
    found = read(text, **given).proposals  # type: ignore[arg-type]
    return {(p.head, p.relation, p.tail) for p in found if p.polarity is Polarity.CLAIM}


def endings(text: str, **given: object) -> set[tuple[str, str, str | None]]:
    found = read(text, **given).proposals  # type: ignore[arg-type]
    return {(p.head, p.relation, p.tail) for p in found if p.polarity is Polarity.ENDING}
