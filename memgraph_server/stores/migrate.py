"""Numbered migrations: which there are, and which a store still lacks. Applying them is each adapter's own matter.

Rules: files `NNNN_name.suffix` in `schema/<store>/`, applied in order, each in one transaction with its record (name,
SHA-256 of the file, when). An applied file is never edited: its checksum must still match. A store that knows a
migration which this program does not is newer than the program, and is refused.
"""

from __future__ import annotations

import hashlib
import importlib.resources
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgraph_server.errors import SchemaMismatch


@dataclass(frozen=True, slots=True)
class Migration:
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def number(self) -> int:
        return int(self.name.split("_", 1)[0])


def known_migrations(store: str, suffix: str) -> list[Migration]:
    """Those that ship with this program for `store` ("sqlite", "neo4j"), in order."""
    folder = importlib.resources.files("memgraph_server") / "schema" / store
    files = sorted((item for item in folder.iterdir() if item.name.endswith(suffix)), key=lambda item: item.name)
    return [Migration(item.name, item.read_text(encoding="utf-8")) for item in files]


def missing_migrations(known: Sequence[Migration], applied: Mapping[str, str]) -> list[Migration]:
    """What to apply, given the names and checksums already applied.

    Raises SchemaMismatch where the store is newer than this program, an applied file was edited, or one was skipped.
    """
    by_name = {migration.name: migration for migration in known}
    for name, checksum in applied.items():
        if name not in by_name:
            raise SchemaMismatch(f"the store's schema is newer than this program: it holds {name}; upgrade the program")
        if by_name[name].checksum != checksum:
            raise SchemaMismatch(f"migration {name} was edited after it was applied; restore the original file")
    missing = [migration for migration in known if migration.name not in applied]
    if missing and applied and missing[0].name < max(applied):
        raise SchemaMismatch(f"migration {missing[0].name} was skipped, though later ones are applied")
    return missing


def require_current(known: Sequence[Migration], applied: Mapping[str, str]) -> None:
    """Raises SchemaMismatch unless the store is exactly at this program's schema."""
    missing = missing_migrations(known, applied)
    if missing:
        state = "older than this program" if applied else "missing"
        raise SchemaMismatch(f"the store's schema is {state}; run `memgraph-server migrate` (next: {missing[0].name})")
