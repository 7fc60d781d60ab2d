"""What a store asks of the relation table: how many values a relation holds at a time, and its antonym."""

from __future__ import annotations

from typing import Any, Protocol


class RelationTable(Protocol):
    """What a store needs of `memory.relations.Registry`."""

    def cardinality(self, name: str) -> Any:
        """ "single" or "multi" (or an enumeration of these)."""
        ...

    def antonym(self, name: str) -> str | None: ...


def is_single(relations: RelationTable, relation: str) -> bool:
    return str(relations.cardinality(relation)) == "single"
