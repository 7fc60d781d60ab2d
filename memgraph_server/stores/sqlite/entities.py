"""Entities by name and by id (stores/identity.py), and merges (schema/sqlite/0003_entities.sql)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memgraph_server.errors import Conflict, InvalidInput, NotFound
from memgraph_server.memory.facts import Entity
from memgraph_server.memory.interval import Instant
from memgraph_server.stores.identity import entity_id
from memgraph_server.stores.names import normalized_name

_COLUMNS = "e.handle, e.id, e.name, e.type, e.merged_into"


@dataclass(frozen=True, slots=True)
class Named:
    """An entity as said; `stands` is the handle of the one that stands for it now, itself where it was not merged."""

    handle: int
    id: str
    name: str
    type: str
    stands: int


def ensure_entities(
    connection: sqlite3.Connection, namespace: tuple[int, str], named: Iterable[tuple[str, str]], stamp: Instant
) -> dict[str, Named]:
    """By normalized name, made where new. `namespace`: its number and name; `named`: (name, type) pairs.

    A type that is learned later fills an empty one; a known type stays.
    """
    wanted: dict[str, tuple[str, str]] = {}
    for name, kind in named:
        key = normalized_name(name)
        if not wanted.get(key, ("", ""))[1]:
            wanted[key] = (wanted.get(key, (name, ""))[0], kind)
    found = _named(connection, namespace[0], list(wanted))
    for key, (name, kind) in wanted.items():
        if key not in found:
            found[key] = _create(connection, namespace, key, name=name.strip(), kind=kind, stamp=stamp)
        elif kind and not found[key].type:
            connection.execute("UPDATE entity SET type = ? WHERE handle = ?", (kind, found[key].handle))
            found[key] = replace(found[key], type=kind)
    return found


def _named(connection: sqlite3.Connection, namespace: int, keys: Sequence[str]) -> dict[str, Named]:
    query = """
        SELECT n.normalized, e.handle, e.id, e.name, e.type, e.merged_into
        FROM json_each(?) wanted CROSS JOIN name n CROSS JOIN entity e
        WHERE n.namespace = ? AND n.normalized = wanted.value AND e.handle = n.entity"""
    rows = connection.execute(query, (json.dumps(keys), namespace)).fetchall()
    merged = [handle for _, handle, *_, into in rows if into is not None]
    stands = canonical(connection, namespace, merged) if merged else {}
    return {
        key: Named(handle, identifier, name, kind, stands.get(handle, handle))
        for key, handle, identifier, name, kind, _ in rows
    }


def _create(
    connection: sqlite3.Connection, namespace: tuple[int, str], key: str, *, name: str, kind: str, stamp: Instant
) -> Named:
    number, owner = namespace
    identifier = entity_id(owner, key, stamp)
    query = "INSERT INTO entity (namespace, id, name, type, recorded_at) VALUES (?, ?, ?, ?, ?)"
    handle = connection.execute(query, (number, identifier, name, kind, stamp)).lastrowid
    assert handle is not None  # noqa: S101  an INSERT of one row has one
    query = "INSERT INTO name (namespace, normalized, entity) VALUES (?, ?, ?)"
    connection.execute(query, (number, key, handle))
    return Named(handle, identifier, name, kind, handle)


def _handles(connection: sqlite3.Connection, namespace: int, keys: Sequence[str]) -> dict[str, int]:
    query = """
        SELECT n.normalized, n.entity FROM json_each(?) wanted CROSS JOIN name n
        WHERE n.namespace = ? AND n.normalized = wanted.value"""
    return dict(connection.execute(query, (json.dumps(list(keys)), namespace)))


def canonical(connection: sqlite3.Connection, namespace: int, handles: Iterable[int]) -> dict[int, int]:
    """The entity that stands for each now."""
    query = """
        WITH RECURSIVE chain (said, now) AS (
            SELECT value, value FROM json_each(?)
            UNION SELECT c.said, e.merged_into FROM chain c JOIN entity e ON e.handle = c.now
            WHERE e.namespace = ? AND e.merged_into IS NOT NULL)
        SELECT c.said, c.now FROM chain c JOIN entity e ON e.handle = c.now WHERE e.merged_into IS NULL"""
    return dict(connection.execute(query, (json.dumps(sorted(set(handles))), namespace)))


def canonical_at(connection: sqlite3.Connection, namespace: int, handle: int, known_at: Instant | None) -> int:
    """The entity that stood for it then (None: now)."""
    query = """
        SELECT into_entity FROM merge WHERE namespace = ? AND entity = ? AND (
            (? IS NULL AND recorded_to IS NULL)
            OR (recorded_from <= ? AND (recorded_to IS NULL OR recorded_to > ?)))"""
    while True:
        row = connection.execute(query, (namespace, handle, known_at, known_at, known_at)).fetchone()
        if row is None:
            return handle
        handle = row[0]


def handle_of(connection: sqlite3.Connection, namespace: int, entity_id: str) -> int:
    """Raises NotFound."""
    query = "SELECT handle FROM entity WHERE namespace = ? AND id = ?"
    row = connection.execute(query, (namespace, entity_id)).fetchone()
    if row is None:
        raise NotFound(f"there is no entity {entity_id!r}")
    return int(row[0])


def find_names(connection: sqlite3.Connection, namespace: int, names: Sequence[str]) -> dict[str, Entity]:
    keys = {name: normalized_name(name) for name in names}
    said = _handles(connection, namespace, list(dict.fromkeys(keys.values())))
    now = canonical(connection, namespace, said.values())
    entities = load(connection, namespace, set(now.values()))
    return {name: entities[now[said[key]]] for name, key in keys.items() if key in said}


def get(connection: sqlite3.Connection, namespace: int, entity_id: str) -> Entity:
    handle = handle_of(connection, namespace, entity_id)
    return load(connection, namespace, [handle])[handle]


def load(connection: sqlite3.Connection, namespace: int, handles: Iterable[int]) -> dict[int, Entity]:
    wanted = json.dumps(list(handles))
    query = f"""
        SELECT {_COLUMNS}, i.id FROM json_each(?) wanted CROSS JOIN entity e ON e.handle = wanted.value
        LEFT JOIN entity i ON i.handle = e.merged_into WHERE e.namespace = ?"""  # noqa: S608  constants only
    aliases = _aliases(connection, namespace, wanted)
    return {
        handle: Entity(public, name, kind, aliases.get(handle, ()), into)
        for handle, public, name, kind, _, into in connection.execute(query, (wanted, namespace))
    }


def _aliases(connection: sqlite3.Connection, namespace: int, wanted: str) -> Mapping[int, tuple[str, ...]]:
    """Names of what was merged into each, in the order of arrival."""
    query = """
        WITH RECURSIVE under (top, handle) AS (
            SELECT value, value FROM json_each(?)
            UNION SELECT u.top, e.handle FROM under u JOIN entity e ON e.namespace = ? AND e.merged_into = u.handle)
        SELECT u.top, e.name FROM under u JOIN entity e ON e.handle = u.handle
        WHERE u.top <> u.handle ORDER BY u.handle"""
    aliases: dict[int, tuple[str, ...]] = {}
    for top, name in connection.execute(query, (wanted, namespace)):
        aliases[top] = (*aliases.get(top, ()), name)
    return aliases


def page(
    connection: sqlite3.Connection, namespace: int, limit: int, after: str, like: str | None
) -> tuple[list[Entity], str | None]:
    """By normalized name; the merged ones are aliases of others and left out. `like`: part of a name or alias."""
    query = """
        SELECT n.normalized, e.handle FROM name n JOIN entity e ON e.handle = n.entity
        WHERE n.namespace = ? AND n.normalized > ? AND e.merged_into IS NULL
        ORDER BY n.normalized"""
    wanted = normalized_name(like) if like else ""
    chosen: list[tuple[str, int]] = []
    for normalized, handle in connection.execute(query, (namespace, after)):
        if wanted in normalized or _alias_has(connection, namespace, handle, wanted):
            chosen.append((normalized, handle))
        if len(chosen) > limit:
            break
    entities = load(connection, namespace, [handle for _, handle in chosen[:limit]])
    more = chosen[limit - 1][0] if len(chosen) > limit > 0 else None
    return [entities[handle] for _, handle in chosen[:limit]], more


def _alias_has(connection: sqlite3.Connection, namespace: int, handle: int, wanted: str) -> bool:
    aliases = _aliases(connection, namespace, json.dumps([handle])).get(handle, ())
    return any(wanted in normalized_name(alias) for alias in aliases)


def record_merge(connection: sqlite3.Connection, namespace: int, entity: int, into: int, stamp: Instant) -> None:
    """Raises InvalidInput for a circle and Conflict where the entity is merged already."""
    now = canonical(connection, namespace, [entity, into])
    if now[entity] != entity:
        raise Conflict("the entity is merged already; unmerge it first", field="entity_id")
    if now[into] == entity:
        raise InvalidInput("an entity cannot be merged into itself or into what was merged into it", field="into")
    query = "INSERT INTO merge (namespace, entity, into_entity, recorded_from) VALUES (?, ?, ?, ?)"
    connection.execute(query, (namespace, entity, into, stamp))
    connection.execute("UPDATE entity SET merged_into = ? WHERE handle = ?", (into, entity))


def undo_merge(connection: sqlite3.Connection, namespace: int, entity: int, stamp: Instant) -> None:
    """Raises Conflict where the entity is not merged."""
    query = "UPDATE merge SET recorded_to = ? WHERE namespace = ? AND entity = ? AND recorded_to IS NULL"
    if connection.execute(query, (stamp, namespace, entity)).rowcount == 0:
        raise Conflict("the entity is not merged", field="entity_id")
    connection.execute("UPDATE entity SET merged_into = NULL WHERE handle = ?", (entity,))
