# ruff: noqa: S608  queries are put together from constants of this file; values are bound
"""Facts around an entity, nearest to a question first, at a cost that does not depend on how many there are.

An entity of few triples has them all read and compared. A hub's are found by the bit index among its own triples,
then read and filtered by time, confidence and intent; where filters leave too few, the search widens fourfold until it
has enough or has seen all. The latest few of a hub are always looked at, so that triples without a vector are found.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from memgraph_server.memory.facts import Intent
from memgraph_server.stores.port import AsOf, Floats, Neighbour
from memgraph_server.stores.quantized import Space, cosines
from memgraph_server.stores.sqlite import facts
from memgraph_server.stores.sqlite.vectors import Indexes, candidates_for

#: Up to so many triples at each end, an entity is read whole.
SMALL = 256
#: Latest triples of a hub that are looked at beside the nearest.
LATEST = 16
#: By how much a search widens where filters left too few.
WIDENING = 4
#: Triples whose facts are read in one query, at least.
PORTION = 32
#: Turns named with a neighbour: the latest of those that support it.
TURNS = 64
#: Latest triples looked at from their tail, where a relation leads to it very often.
REVERSE = 1000


@dataclass(frozen=True, slots=True)
class Search:
    """One question to the facts of a namespace."""

    connection: sqlite3.Connection
    namespace: int
    space: Space
    indexes: Indexes
    as_of: AsOf
    minimum_confidence: float = 0.0
    intents: frozenset[Intent] | None = None

    def around(self, entity: int, vector: Floats | None, limit: int) -> list[Neighbour]:
        query = self.space.usable(vector)
        few = self._triples(entity, SMALL + 1)
        if len(few) <= SMALL:
            return self._ranked(self._facts(few), query, limit, entity)
        latest = self._facts(self._triples(entity, LATEST if query is not None else max(limit, SMALL)))
        similar: dict[int, float] = {}
        if query is not None:
            latest += self._nearest(query, limit, entity, {row[16] for row in latest}, similar)
        return self._ranked(latest, query, limit, entity, similar)

    def anywhere(self, vector: Floats, limit: int) -> list[Neighbour]:
        query = self.space.usable(vector)
        if query is None:
            return []
        similar: dict[int, float] = {}
        return self._ranked(self._nearest(query, limit, None, set(), similar), query, limit, None, similar)

    def between(self, entity: int, relations: Sequence[str], limit: int, reverse: bool) -> list[Neighbour]:
        rows = [row for relation in dict.fromkeys(relations) for row in self._related(entity, relation, limit, reverse)]
        rows.sort(key=lambda row: (-row[6], -row[1]))
        return self._neighbours(rows[:limit], {}, entity)

    def _triples(self, entity: int, limit: int) -> list[int]:
        """The latest first, at either end."""
        query = """
            SELECT number FROM (SELECT number FROM triple WHERE namespace = ?1 AND head = ?2
                ORDER BY number DESC LIMIT ?3)
            UNION SELECT number FROM (SELECT number FROM triple WHERE namespace = ?1 AND tail = ?2
                ORDER BY number DESC LIMIT ?3)
            ORDER BY number DESC LIMIT ?3"""
        return [number for (number,) in self.connection.execute(query, (self.namespace, entity, limit))]

    def _nearest(
        self, query: Floats, limit: int, entity: int | None, seen: set[int], similar: dict[int, float]
    ) -> list[facts.Row]:
        """Facts of the nearest triples, until there are enough for `limit` good ones, or all were seen. What is
        compared on the way goes into `similar`."""
        wanted = candidates_for(limit)
        found: list[facts.Row] = []
        while True:
            numbers, _ = self.indexes.nearest(self.connection, self.namespace, "triple", query, k=wanted, either=entity)
            fresh = [number for number in numbers.tolist() if number not in seen]
            seen.update(fresh)
            similar |= self._similarities(fresh, query)
            found += self._first(fresh, similar, limit - len(found))
            if len(found) >= limit or len(numbers) < wanted:
                return found
            wanted *= WIDENING

    def _first(self, triples: Sequence[int], similar: Mapping[int, float], count: int) -> list[facts.Row]:
        """Facts of the triples most similar to the query, at least `count` where there are: to read a fact costs far
        more than to compare its vector, and most candidates are not among the best."""
        order = sorted(triples, key=lambda triple: -similar.get(triple, 0.0))
        found: list[facts.Row] = []
        start = 0
        while start < len(order) and len(found) < count:
            stop = min(start + max(count, PORTION), len(order))
            while stop < len(order) and similar.get(order[stop], 0.0) == similar.get(order[stop - 1], 0.0):
                stop += 1  # equals go by what was recorded last, so that none may be missing
            found += self._facts(order[start:stop])
            start = stop
        return found

    def _facts(self, triples: Sequence[int]) -> list[facts.Row]:
        condition, values = self._condition()
        values["triples"] = json.dumps(list(triples))
        query = f"""
            SELECT {facts.columns(self.as_of)} FROM json_each(:triples) wanted
            CROSS JOIN fact f ON f.namespace = :namespace AND f.triple = wanted.value {facts.ENDS} WHERE {condition}"""
        return self.connection.execute(query, values).fetchall()

    def _condition(self) -> tuple[str, dict[str, Any]]:
        condition, values = facts.holding(self.as_of, self.minimum_confidence)
        values["namespace"] = self.namespace
        if self.intents is not None:
            condition += " AND f.intent IN (SELECT value FROM json_each(:intents))"
            values["intents"] = json.dumps(sorted(intent.value for intent in self.intents))
        return condition, values

    def _related(self, entity: int, relation: str, limit: int, reverse: bool) -> Iterator[facts.Row]:
        condition, values = self._condition()
        values |= {"entity": entity, "relation": relation, "limit": limit, "most": REVERSE}
        place = "f.head = :entity AND f.relation = :relation"
        if reverse:
            place = """f.triple IN (SELECT number FROM triple
                WHERE namespace = :namespace AND tail = :entity AND relation = :relation
                ORDER BY number DESC LIMIT :most)"""
        query = f"""
            SELECT {facts.columns(self.as_of)} FROM fact f {facts.ENDS}
            WHERE f.namespace = :namespace AND {place} AND {condition}
            ORDER BY f.valid_from DESC, f.version DESC LIMIT :limit"""
        yield from self.connection.execute(query, values)

    def _ranked(
        self,
        rows: Sequence[facts.Row],
        query: Floats | None,
        limit: int,
        entity: int | None,
        compared: Mapping[int, float] = MappingProxyType({}),
    ) -> list[Neighbour]:
        """Most similar first; among equals the one recorded last. `compared`: similarities that are known already."""
        similar = {**compared, **self._similarities({row[16] for row in rows} - compared.keys(), query)}
        order = sorted(rows, key=lambda row: (-similar.get(row[16], 0.0), -row[1]))
        return self._neighbours(order[:limit], similar, entity)

    def _similarities(self, triples: Iterable[int], query: Floats | None) -> dict[int, float]:
        triples = list(triples)
        if query is None or not triples:
            return {}
        statement = """
            SELECT v.triple, v.pooled FROM json_each(?) wanted
            CROSS JOIN triple_vector v ON v.namespace = ? AND v.triple = wanted.value
            JOIN embedder e ON e.id = v.embedder WHERE e.name = ? AND e.dimension = ?"""
        values = (json.dumps(sorted(triples)), self.namespace, self.space.embedder, self.space.dimension)
        rows = self.connection.execute(statement, values).fetchall()
        if not rows:
            return {}
        scores = cosines(query, [pooled for _, pooled in rows])
        return {triple: float(score) for (triple, _), score in zip(rows, scores, strict=True)}

    def _neighbours(
        self, rows: Sequence[facts.Row], similar: Mapping[int, float], entity: int | None
    ) -> list[Neighbour]:
        """Seen from `entity`; from their heads where none was asked about."""
        versions = [row[1] for row in rows]
        turns = facts.turns_behind(self.connection, self.namespace, versions, self.as_of.known_at, TURNS)
        found = []
        for row in rows:
            from_tail = entity is not None and row[15] == entity != row[14]
            here, there = (row[4], row[2]) if from_tail else (row[2], row[4])
            similarity = similar.get(row[16], 0.0)
            found.append(Neighbour(facts.fact(row), here, there, row[12], row[13], similarity, turns[row[1]]))
        return found
