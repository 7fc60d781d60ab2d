"""What is believed, and was: timelines, facts with their history, and where each came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memgraph_server.actions import inputs
from memgraph_server.errors import InvalidInput
from memgraph_server.memory.facts import Entity
from memgraph_server.memory.turns import Turn
from memgraph_server.stores.port import AsOf, AssertionView, FactView, GraphStore, Timeline


@dataclass(frozen=True, slots=True)
class Filters:
    """Which facts: by entity (id or name), relation, tail (id or name), both clocks and confidence."""

    entity_id: str | None = None
    name: str | None = None
    relation: str | None = None
    tail_id: str | None = None
    tail: str | None = None
    valid_at: str | None = None
    known_at: str | None = None
    minimum_confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class FactHistory:
    """All versions of one fact, with every claim and turn behind them."""

    versions: tuple[FactView, ...]
    assertions: tuple[AssertionView, ...]
    turns: tuple[Turn, ...]


def facts(
    store: GraphStore,
    namespace: str,
    filters: Filters,
    *,
    canonical: Callable[[str], str],
    limit: int,
    cursor: str | None = None,
) -> Timeline:
    """Facts by head, relation and start. A name nobody has used has no facts; an id nobody has raises NotFound."""
    inputs.namespace(namespace)
    as_of = as_of_text(filters.valid_at, filters.known_at)
    relation = canonical(inputs.name(filters.relation, "relation")) if filters.relation is not None else None
    head, unknown_head = _entity(store, namespace, filters.entity_id, filters.name, "name")
    tail, unknown_tail = _entity(store, namespace, filters.tail_id, filters.tail, "tail")
    if unknown_head or unknown_tail:
        if cursor is not None:
            raise InvalidInput("nobody is known by this name, so the cursor is of another list", field="cursor")
        return Timeline(facts=())
    return store.timeline(
        namespace,
        entity_id=head.id if head else None,
        relation=relation,
        tail_id=tail.id if tail else None,
        as_of=as_of,
        minimum_confidence=filters.minimum_confidence,
        limit=limit,
        cursor=cursor,
    )


def _entity(
    store: GraphStore, namespace: str, entity_id: str | None, name: str | None, field: str
) -> tuple[Entity | None, bool]:
    """The entity asked for, and whether one was asked for that is unknown by name."""
    if entity_id is not None and name is not None:
        raise InvalidInput(f"say either {field} or its id, not both", field=field)
    if entity_id is not None:
        return standing_for(store, namespace, entity_id), False
    if name is None:
        return None, False
    found = store.resolve(namespace, inputs.name(name, field))
    return found, found is None


def standing_for(store: GraphStore, namespace: str, entity_id: str) -> Entity:
    """The entity, or the one that stands for it after merges. Raises NotFound."""
    entity = store.entity(namespace, inputs.identifier(entity_id, "entity"))
    seen = {entity.id}
    while entity.merged_into is not None and entity.merged_into not in seen:
        entity = store.entity(namespace, entity.merged_into)
        seen.add(entity.id)
    return entity


def as_of_text(valid_at: str | None, known_at: str | None) -> AsOf:
    return AsOf(
        valid_at=inputs.date_in_url(valid_at, "valid_at") if valid_at is not None else None,
        known_at=inputs.date_in_url(known_at, "known_at") if known_at is not None else None,
    )


def fact_history(store: GraphStore, namespace: str, fact_id: str) -> FactHistory:
    """Raises NotFound."""
    inputs.namespace(namespace)
    versions = store.fact_versions(namespace, inputs.identifier(fact_id, "fact"))
    supports = _once(assertion for version in versions for assertion in version.supports)
    turns = _once(turn for version in versions for turn in version.turns)
    return FactHistory(
        versions=tuple(versions),
        assertions=tuple(store.assertion(namespace, assertion_id) for assertion_id in supports),
        turns=tuple(store.turns(namespace, turns)),
    )


def _once(ids: Iterable[str]) -> Sequence[str]:
    return list(dict.fromkeys(ids))
