"""Entities by name and by id, and merges (schema/neo4j/0002_entities.cypher).

Ids are derived as in the embedded store. `stands`, the number of the entity that stands for this one now, is kept with
each, so that a name leads to it in one step; what stood for it at an earlier instant is read from MERGED_INTO.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgraph_server.errors import Conflict, InvalidInput, NotFound
from memgraph_server.memory.facts import Entity
from memgraph_server.memory.interval import Instant
from memgraph_server.stores.identity import entity_id
from memgraph_server.stores.names import normalized_name
from memgraph_server.stores.neo4j_store.connection import Query, Row, Statements
from memgraph_server.stores.neo4j_store.names import indexable

__all__ = ["Named", "entity_id"]

#: Entities read at a time where a page is narrowed by a part of a name.
_PAGE = 500
#: An instant later than any.
NEVER = 2**62

#: An entity `e`, the names of what was merged into it, in the order of arrival, and what it is merged into.
_ENTITY = """
    CALL (e) {
        MATCH (under:Entity)-[merges:MERGED_INTO*1..]->(e) WHERE all(m IN merges WHERE m.recorded_to IS NULL)
        WITH under ORDER BY under.number
        RETURN collect(under.name) AS aliases
    }
    OPTIONAL MATCH (e)-[merged:MERGED_INTO]->(into:Entity) WHERE merged.recorded_to IS NULL
    RETURN e.id, e.name, e.type, aliases, into.id, e.number"""

FIND = Query(
    "entities by name",
    f"""
    UNWIND $names AS name
    CALL (name) {{
        MATCH (said:Entity {{namespace: $namespace, normalized: name}}) RETURN said.stands AS number
    }}
    CALL (number) {{
        MATCH (e:Entity {{namespace: $namespace, number: number}}) RETURN e
    }}
    {_ENTITY}, name""",
)
BY_ID = Query("an entity by id", f"MATCH (e:Entity {{namespace: $namespace, id: $id}}) {_ENTITY}")
NUMBER = Query(
    "an entity's number and who stands for it",
    "MATCH (e:Entity {namespace: $namespace, id: $id}) RETURN e.number, e.stands",
)
#: The number of who stands, or stood at an instant, for the entity of an `id`; nothing for an id that nobody has.
STANDS_NOW = """
    CALL (id) {
        MATCH (e:Entity {namespace: $namespace, id: id}) RETURN e.stands AS entity
    }"""
STOOD_THEN = """
    CALL (id) {
        MATCH (e:Entity {namespace: $namespace, id: id})
        MATCH (e)-[merges:MERGED_INTO*0..]->(top:Entity)
        WHERE all(m IN merges WHERE m.recorded_from <= $known_at AND coalesce(m.recorded_to, $never) > $known_at)
        RETURN top.number AS entity ORDER BY size(merges) DESC LIMIT 1
    }"""
STOOD = Query("who stood for an entity at an instant", f"UNWIND [$id] AS id {STOOD_THEN} RETURN entity")
PAGE = Query(
    "entities in the order of names",
    f"""
    CALL () {{
        MATCH (e:Entity) WHERE e.namespace = $namespace AND e.normalized > $after
        RETURN e, e.normalized AS normalized ORDER BY e.namespace, e.normalized LIMIT $limit
    }}
    {_ENTITY}, normalized ORDER BY normalized""",
)
MERGE = Query(
    "record a merge",
    """
    MATCH (e:Entity {namespace: $namespace, number: $entity})
    WITH e
    MATCH (i:Entity {namespace: $namespace, number: $into})
    CREATE (e)-[:MERGED_INTO {namespace: $namespace, recorded_from: $stamp}]->(i)""",
)
UNMERGE = Query(
    "undo a merge",
    """
    MATCH (e:Entity {namespace: $namespace, number: $entity})-[m:MERGED_INTO]->() WHERE m.recorded_to IS NULL
    SET m.recorded_to = $stamp RETURN 1""",
)
STAND = Query(
    "who stands now for an entity and for all that was merged into it",
    """
    MATCH (e:Entity {namespace: $namespace, number: $entity})
    MATCH (under:Entity)-[merges:MERGED_INTO*0..]->(e) WHERE all(m IN merges WHERE m.recorded_to IS NULL)
    SET under.stands = $stands""",
)


@dataclass(frozen=True, slots=True)
class Named:
    """What a name leads to: the entity's number as said, its type, and the number of the one that stands for it."""

    number: int
    type: str
    stands: int


def numbers_of(ask: Statements, namespace: str, identifier: str) -> tuple[int, int]:
    """The entity's number and that of the one that stands for it. Raises NotFound."""
    row = ask.one(NUMBER, namespace=namespace, id=identifier)
    if row is None:
        raise NotFound(f"there is no entity {identifier!r}")
    return row[0], row[1]


def standing(ask: Statements, namespace: str, identifier: str, known_at: Instant | None) -> int | None:
    """The number of the entity that stood for it then (None: now); None where nobody has the id."""
    if known_at is None:
        row = ask.one(NUMBER, namespace=namespace, id=identifier)
        return None if row is None else int(row[1])
    row = ask.one(STOOD, namespace=namespace, id=identifier, known_at=known_at, never=NEVER)
    return None if row is None else int(row[0])


def find(ask: Statements, namespace: str, names: Sequence[str]) -> dict[str, Entity]:
    keys = {name: indexable(normalized_name(name)) for name in names}
    rows = ask(FIND, namespace=namespace, names=list(dict.fromkeys(keys.values()))) if keys else []
    found = {row[6]: _entity(row) for row in rows}
    return {name: found[key] for name, key in keys.items() if key in found}


def get(ask: Statements, namespace: str, identifier: str) -> Entity:
    row = ask.one(BY_ID, namespace=namespace, id=identifier)
    if row is None:
        raise NotFound(f"there is no entity {identifier!r}")
    return _entity(row)


def _entity(row: Row) -> Entity:
    identifier, name, kind, aliases, into = row[:5]
    return Entity(identifier, name, kind, tuple(aliases), into)


def page(ask: Statements, namespace: str, limit: int, after: str, like: str | None) -> tuple[list[Entity], str | None]:
    """By normalized name; the merged ones are aliases of others and left out. `like`: part of a name or alias."""
    wanted = normalized_name(like) if like else ""
    chosen: list[tuple[str, Entity]] = []
    while len(chosen) <= limit:
        size = max(limit + 1, _PAGE if wanted else 0)
        rows = ask(PAGE, namespace=namespace, after=after, limit=size)
        read = [(row[6], _entity(row)) for row in rows]
        chosen += [(key, entity) for key, entity in read if entity.merged_into is None and _has(entity, wanted)]
        if len(rows) < size:
            break
        after = rows[-1][6]
    more = chosen[limit - 1][0] if len(chosen) > limit > 0 else None
    return [entity for _, entity in chosen[:limit]], more


def _has(entity: Entity, wanted: str) -> bool:
    return not wanted or any(wanted in normalized_name(name) for name in (entity.name, *entity.aliases))


def merge(ask: Statements, namespace: str, entity: tuple[int, int], into: tuple[int, int], stamp: Instant) -> None:
    """Both by number and who stands for it. Raises InvalidInput for a circle, Conflict where merged already."""
    if entity[1] != entity[0]:
        raise Conflict("the entity is merged already; unmerge it first", field="entity_id")
    if into[1] == entity[0]:
        raise InvalidInput("an entity cannot be merged into itself or into what was merged into it", field="into")
    ask(MERGE, namespace=namespace, entity=entity[0], into=into[0], stamp=stamp)
    ask(STAND, namespace=namespace, entity=entity[0], stands=into[1])


def unmerge(ask: Statements, namespace: str, entity: int, stamp: Instant) -> None:
    """Raises Conflict where the entity is not merged."""
    if not ask(UNMERGE, namespace=namespace, entity=entity, stamp=stamp):
        raise Conflict("the entity is not merged", field="entity_id")
    ask(STAND, namespace=namespace, entity=entity, stands=entity)
