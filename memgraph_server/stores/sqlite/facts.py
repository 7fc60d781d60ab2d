# ruff: noqa: S608  queries are put together from constants of this file; values are bound
"""Reads of facts at any point of both clocks (schema/sqlite/0004_beliefs.sql).

A version is believed at K where recorded_from ≤ K < recorded_to; now, where it has no recorded_to. Who supports it is
computed from the placements of that time, not stored: a fact with ten thousand supports would else copy them with
every version. Entities are followed through merges as of K, so that a past read sees what it saw then.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memgraph_server.errors import NotFound
from memgraph_server.memory.facts import STABLE_THRESHOLD, Fact, Intent, Stratum
from memgraph_server.memory.interval import Instant
from memgraph_server.stores.about import read_ends
from memgraph_server.stores.port import AsOf, FactView

COLUMNS = """f.id, f.version, h.id, f.relation, t.id, f.stratum, f.valid_from, f.valid_to, f.confidence, f.intent,
    f.recorded_from, f.recorded_to, h.name, t.name, f.head, f.tail, f.triple"""
ENDS = "JOIN entity h ON h.handle = f.head JOIN entity t ON t.handle = f.tail"
Row = tuple[Any, ...]


def columns(as_of: AsOf) -> str:
    """A past read does not know yet when a version will be closed: it must say the same for ever."""
    return COLUMNS if as_of.known_at is None else COLUMNS.replace("f.recorded_to", "NULL")


def holding(as_of: AsOf, minimum_confidence: float = 0.0) -> tuple[str, dict[str, Any]]:
    """The condition on `f` for both clocks and the confidence, and its values."""
    values: dict[str, Any] = {"valid_at": as_of.valid_at, "known_at": as_of.known_at, "confidence": minimum_confidence}
    conditions = ["f.recorded_to IS NULL"]
    if as_of.known_at is not None:
        conditions = ["f.recorded_from <= :known_at", "(f.recorded_to IS NULL OR f.recorded_to > :known_at)"]
    if as_of.valid_at is not None:
        conditions += ["f.valid_from <= :valid_at", "(f.valid_to IS NULL OR f.valid_to > :valid_at)"]
    if minimum_confidence > 0.0:
        conditions.append("f.confidence >= :confidence")
    return " AND ".join(conditions), values


def timeline(
    connection: sqlite3.Connection,
    namespace: int,
    *,
    head: int | None,
    relation: str | None,
    tail: int | None,
    as_of: AsOf,
    minimum_confidence: float,
    limit: int | None,
    after: Sequence[Any] | None,
) -> tuple[list[FactView], tuple[Any, ...] | None]:
    """Facts by head, relation and start, and the sort key to go on after, if there is more."""
    condition, values = holding(as_of, minimum_confidence)
    values |= {"namespace": namespace, "head": head, "relation": relation, "tail": tail}
    where = ["f.namespace = :namespace", condition]
    where += [f"f.{name} = :{name}" for name in ("head", "relation") if values[name] is not None]
    if tail is not None:
        where.append("f.triple IN (SELECT number FROM triple WHERE namespace = :namespace AND tail = :tail)")
    if after is not None:
        where.append("(f.head, f.relation, f.valid_from, f.version) > (:after_0, :after_1, :after_2, :after_3)")
        values |= {f"after_{index}": part for index, part in enumerate(after)}
    query = f"""
        SELECT {columns(as_of)} FROM fact f {ENDS} WHERE {" AND ".join(where)}
        ORDER BY f.head, f.relation, f.valid_from, f.version LIMIT :limit"""
    values["limit"] = -1 if limit is None else limit + 1
    rows = connection.execute(query, values).fetchall()
    shown = rows if limit is None else rows[:limit]
    more = limit is not None and 0 < limit < len(rows)
    return list(views(connection, namespace, shown, as_of.known_at)), _sort_key(shown[-1]) if more else None


def _sort_key(row: Row) -> tuple[Any, ...]:
    return row[14], row[3], row[6], row[1]


def versions(connection: sqlite3.Connection, namespace: int, fact_id: str) -> list[FactView]:
    """Every version of the triple, each with its supports as they were last seen. Raises NotFound."""
    query = "SELECT triple FROM fact WHERE namespace = ? AND id = ? LIMIT 1"
    row = connection.execute(query, (namespace, fact_id)).fetchone()
    if row is None:
        raise NotFound(f"there is no fact {fact_id!r}")
    query = f"""
        SELECT {COLUMNS} FROM fact f {ENDS} WHERE f.namespace = ? AND f.triple = ?
        ORDER BY f.recorded_from, f.valid_from, f.version"""
    found: list[FactView] = []
    for each in connection.execute(query, (namespace, row[0])).fetchall():
        last_seen = None if each[11] is None else each[11] - 1
        found += views(connection, namespace, [each], last_seen)
    return found


def of_turns(
    connection: sqlite3.Connection, namespace: int, turn_ids: Sequence[str], as_of: AsOf
) -> dict[str, list[FactView]]:
    """Facts that an assertion of the turn supports; turns without any are left out."""
    condition, values = holding(as_of)
    values |= {"namespace": namespace, "turns": json.dumps(list(dict.fromkeys(turn_ids)))}
    query = f"""
        SELECT DISTINCT a.turn_id, {columns(as_of)}
        FROM json_each(:turns) wanted CROSS JOIN assertion a ON a.namespace = :namespace AND a.turn_id = wanted.value
        CROSS JOIN placement p ON p.namespace = a.namespace AND p.assertion = a.handle AND {_placed(as_of.known_at)}
        CROSS JOIN triple r ON r.namespace = p.namespace AND r.head = p.head AND r.relation = p.relation
            AND r.tail = p.tail
        CROSS JOIN fact f ON f.namespace = p.namespace AND f.triple = r.number {ENDS}
        WHERE a.polarity = 'claim' AND {condition} AND (a.confidence >= {STABLE_THRESHOLD}) = (f.stratum = 'stable')
        AND (f.valid_to IS NULL OR a.valid_from < f.valid_to) AND (a.valid_to IS NULL OR a.valid_to > f.valid_from)
        ORDER BY wanted.key, f.head, f.relation, f.valid_from, f.version"""
    rows = connection.execute(query, values).fetchall()
    seen = views(connection, namespace, [row[1:] for row in rows], as_of.known_at)
    by_turn: defaultdict[str, list[FactView]] = defaultdict(list)
    for row, fact in zip(rows, seen, strict=True):
        by_turn[row[0]].append(fact)
    return dict(by_turn)


def ends_of_turns(
    connection: sqlite3.Connection, namespace: int, turn_ids: Sequence[str], known_at: Instant | None
) -> dict[str, frozenset[int]]:
    """Handles of the entities at both ends of the turns' assertions, merges followed; turns without any are absent."""
    query = f"""
        SELECT a.turn_id, p.head, p.tail
        FROM json_each(:turns) wanted CROSS JOIN assertion a ON a.namespace = :namespace AND a.turn_id = wanted.value
        CROSS JOIN placement p ON p.namespace = :namespace AND p.assertion = a.handle AND {_placed(known_at)}"""
    values = {"namespace": namespace, "known_at": known_at, "turns": json.dumps(list(dict.fromkeys(turn_ids)))}
    return read_ends(connection.execute(query, values))


def views(
    connection: sqlite3.Connection, namespace: int, rows: Iterable[Row], known_at: Instant | None
) -> Iterator[FactView]:
    for row in rows:
        supporting = list(supports(connection, namespace, row, known_at))
        turns = dict.fromkeys(turn for _, turn in supporting if turn is not None)
        yield FactView(fact(row), row[12], row[13], tuple(assertion for assertion, _ in supporting), tuple(turns))


def supports(
    connection: sqlite3.Connection, namespace: int, row: Row, known_at: Instant | None
) -> Iterator[tuple[str, str | None]]:
    """(assertion id, turn id) of the claims behind a fact, oldest evidence first."""
    query = f"""
        SELECT a.id, a.turn_id FROM fact f CROSS JOIN placement p {_behind(known_at)}
        AND f.namespace = :namespace AND f.version = :version ORDER BY a.evidence_at, a.handle"""
    values = {"namespace": namespace, "version": row[1], "known_at": known_at}
    yield from connection.execute(query, values)


def turns_behind(
    connection: sqlite3.Connection, namespace: int, versions: Sequence[int], known_at: Instant | None, latest: int
) -> dict[int, tuple[str, ...]]:
    """By version, the turns of the `latest` claims behind it, oldest evidence first: of many facts in one query."""
    query = f"""
        SELECT json_group_array(json_array(f.version, json((SELECT json_group_array(turn_id) FROM (
            SELECT a.turn_id FROM placement p {_behind(known_at)}
            ORDER BY a.evidence_at DESC, a.handle DESC LIMIT :latest)))))
        FROM json_each(:versions) wanted CROSS JOIN fact f ON f.version = wanted.value
        WHERE f.namespace = :namespace"""
    values = {"namespace": namespace, "versions": json.dumps(versions), "known_at": known_at, "latest": latest}
    return {
        version: tuple(dict.fromkeys(turn for turn in reversed(turns) if turn is not None))
        for version, turns in json.loads(connection.execute(query, values).fetchone()[0])
    }


def _behind(known_at: Instant | None) -> str:
    """What of `placement p` supports the version `f`, and how."""
    return f"""
        JOIN assertion a ON a.handle = p.assertion
        WHERE p.namespace = f.namespace AND p.head = f.head AND p.relation = f.relation AND p.tail = f.tail
        AND {_placed(known_at)} AND a.polarity = 'claim'
        AND (a.confidence >= {STABLE_THRESHOLD}) = (f.stratum = '{Stratum.STABLE}')
        AND (f.valid_to IS NULL OR a.valid_from < f.valid_to) AND (a.valid_to IS NULL OR a.valid_to > f.valid_from)"""


def _placed(known_at: Instant | None) -> str:
    if known_at is None:
        return "p.recorded_to IS NULL"
    return "p.recorded_from <= :known_at AND (p.recorded_to IS NULL OR p.recorded_to > :known_at)"


def fact(row: Row) -> Fact:
    identifier, version, head, relation, tail, stratum, start, end, confidence, intent, since, until = row[:12]
    return Fact(
        identifier,
        version,
        head,
        relation,
        tail,
        Stratum(stratum),
        start,
        end,
        confidence,
        Intent(intent),
        since,
        until,
    )
