"""Facts around an entity, nearest to a question first, at a cost that does not depend on how many there are.

An entity of few triples has them all read and compared. A hub's are found by the vector index, which filters by
namespace and by the hub itself, then read and filtered by time, confidence and intent; where filters leave too few, the
search widens fourfold until it has enough or has seen all. The latest few of a hub are always looked at, so that
triples without a vector are found. Relationships of the hub are never walked: FACTs are read through their index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memgraph_server.memory.facts import Intent
from memgraph_server.stores.neo4j_store.connection import Query, Row, Statements
from memgraph_server.stores.neo4j_store.facts import COLUMNS, HOLDING, NOW, SUPPORTS, THEN, clocks, fact
from memgraph_server.stores.neo4j_store.vectors import Space, similarities
from memgraph_server.stores.port import AsOf, Floats, Neighbour

#: Up to so many triples at each end, an entity is read whole.
SMALL = 256
#: Latest triples of a hub that are looked at beside the nearest.
LATEST = 16
#: Candidates of the index for one answer by the vectors themselves, and by how much a search widens.
WIDENING = 4
#: Turns named with a neighbour: the latest of those that support it.
TURNS = 64
#: Latest triples looked at from their tail, where a relation leads to it very often.
REVERSE = 1000

_INTENDED = "($intents IS NULL OR f.intent IN $intents)"
_POOLED = "CASE WHEN r.embedder = $embedder THEN r.pooled END"

LATEST_TRIPLES = Query(
    "the latest triples of an entity, at either end",
    f"""
    CALL () {{
        MATCH (r:Triple) WHERE r.namespace = $namespace AND r.head = $entity AND r.number IS NOT NULL
        RETURN r ORDER BY r.number DESC LIMIT $limit
        UNION
        MATCH (r:Triple) WHERE r.namespace = $namespace AND r.tail = $entity AND r.number IS NOT NULL
        RETURN r ORDER BY r.number DESC LIMIT $limit
    }}
    RETURN r.number, {_POOLED} ORDER BY r.number DESC LIMIT $limit""",
)


def _nearest(name: str, where: str) -> Query:
    return Query(
        name,
        f"""
        MATCH (r:Triple)
        SEARCH r IN (
            VECTOR INDEX triple_embedding FOR $vector
            WHERE r.namespace = $namespace AND r.embedder = $embedder{where} LIMIT $limit
        ) SCORE AS score
        RETURN r.number, r.pooled""",
    )


NEAREST = _nearest("the nearest triples of a namespace", "")
NEAREST_OF_HEAD = _nearest("the nearest triples of a head", " AND r.head = $entity")
NEAREST_TO_TAIL = _nearest("the nearest triples to a tail", " AND r.tail = $entity")


def _facts(name: str, held: str) -> Query:
    return Query(
        name,
        f"""
        UNWIND $triples AS triple
        MATCH (h)-[f:FACT]->(t) WHERE f.namespace = $namespace AND f.triple = triple AND {held} AND {HOLDING}
            AND {_INTENDED}
        RETURN {COLUMNS}""",
    )


FACTS_NOW = _facts("facts of triples, believed now", NOW)
FACTS_THEN = _facts("facts of triples, believed then", THEN)

SUPPORTED = Query(
    "who supports these versions",
    f"""
    UNWIND $versions AS version
    MATCH (h)-[f:FACT {{namespace: $namespace, version: version}}]->(t)
    WITH f, coalesce($known_at, $never - 1) AS seen
    {SUPPORTS}
    RETURN f.version, supports""",
)


def _related(name: str, held: str) -> Query:
    return Query(
        name,
        f"""
        UNWIND $relations AS relation
        CALL (relation) {{
            MATCH (h)-[f:FACT]->(t) WHERE f.namespace = $namespace AND f.head = $entity AND f.relation = relation
                AND {held} AND f.valid_from IS NOT NULL AND f.version IS NOT NULL AND {HOLDING}
            RETURN h, f, t ORDER BY f.valid_from DESC, f.version DESC LIMIT $limit
        }}
        RETURN {COLUMNS}""",
    )


def _related_to(name: str, held: str) -> Query:
    return Query(
        name,
        f"""
        UNWIND $relations AS relation
        CALL (relation) {{
            MATCH (r:Triple) WHERE r.namespace = $namespace AND r.tail = $entity AND r.relation = relation
                AND r.number IS NOT NULL
            WITH r ORDER BY r.number DESC LIMIT $most
            MATCH (h)-[f:FACT]->(t) WHERE f.namespace = $namespace AND f.triple = r.number AND {held} AND {HOLDING}
            RETURN h, f, t ORDER BY f.valid_from DESC, f.version DESC LIMIT $limit
        }}
        RETURN {COLUMNS}""",
    )


RELATED_NOW = _related("facts of a head and relations, believed now", NOW)
RELATED_THEN = _related("facts of a head and relations, believed then", THEN)
RELATED_TO_NOW = _related_to("facts of relations to a tail, believed now", NOW)
RELATED_TO_THEN = _related_to("facts of relations to a tail, believed then", THEN)


@dataclass(slots=True)
class Search:
    """One question to the facts of a namespace."""

    ask: Statements
    namespace: str
    space: Space
    as_of: AsOf
    minimum_confidence: float = 0.0
    intents: frozenset[Intent] | None = None

    def around(self, entity: int, vector: Floats | None, limit: int) -> list[Neighbour]:
        query = self.space.usable(vector)
        few = self._latest(entity, SMALL + 1)
        if len(few) <= SMALL:
            return self._ranked(self._facts(few), few, query, limit, entity)
        if query is None:
            few = few if limit <= SMALL else self._latest(entity, limit)
            return self._ranked(self._facts(few), few, None, limit, entity)
        seen = dict(list(few.items())[:LATEST])
        rows = self._facts(seen)
        rows += self._nearest(query, limit, entity, seen)
        return self._ranked(rows, seen, query, limit, entity)

    def anywhere(self, vector: Floats, limit: int) -> list[Neighbour]:
        query = self.space.usable(vector)
        if query is None or limit == 0:
            return []
        seen: dict[int, bytes | None] = {}
        rows = self._nearest(query, limit, None, seen)
        return self._ranked(rows, seen, query, limit, None)

    def between(self, entity: int, relations: Sequence[str], limit: int, reverse: bool) -> list[Neighbour]:
        now = self.as_of.known_at is None
        forward, backward = (RELATED_NOW, RELATED_TO_NOW) if now else (RELATED_THEN, RELATED_TO_THEN)
        values = self._values() | {"entity": entity, "limit": limit, "most": REVERSE}
        rows = self.ask(backward if reverse else forward, **values, relations=list(dict.fromkeys(relations)))
        rows.sort(key=lambda row: (-row[6], -row[1]))
        return self._neighbours(rows[:limit], {}, entity)

    def _values(self) -> dict[str, Any]:
        intents = None if self.intents is None else sorted(intent.value for intent in self.intents)
        return clocks(self.namespace, self.as_of, self.minimum_confidence) | {"intents": intents}

    def _latest(self, entity: int, limit: int) -> dict[int, bytes | None]:
        """Triples, the latest first, with their quantized vectors."""
        values = {"namespace": self.namespace, "entity": entity, "limit": limit, "embedder": self.space.embedder}
        return self.ask.pairs(LATEST_TRIPLES, **values)

    def _nearest(self, query: Floats, limit: int, entity: int | None, seen: dict[int, bytes | None]) -> list[Row]:
        """Facts of the nearest triples, until there are enough for `limit` good ones, or all were seen."""
        wanted = max(limit * WIDENING, 64)
        found: list[Row] = []
        while True:
            near = self._candidates(query, wanted, entity)
            fresh = {number: pooled for number, pooled in near.items() if number not in seen}
            seen.update(fresh)
            found += self._facts(fresh)
            if len(found) >= limit or len(near) < wanted:
                return found
            wanted *= WIDENING

    def _candidates(self, query: Floats, wanted: int, entity: int | None) -> dict[int, bytes]:
        values: dict[str, Any] = {"namespace": self.namespace, "embedder": self.space.embedder, "limit": wanted}
        values |= {"vector": query.tolist()}
        if entity is None:
            return self.ask.pairs(NEAREST, **values)
        of_head = self.ask.pairs(NEAREST_OF_HEAD, **values, entity=entity)
        return of_head | self.ask.pairs(NEAREST_TO_TAIL, **values, entity=entity)

    def _facts(self, triples: Iterable[int]) -> list[Row]:
        wanted = list(triples)
        query = FACTS_NOW if self.as_of.known_at is None else FACTS_THEN
        return self.ask(query, **self._values(), triples=wanted) if wanted else []

    def _ranked(
        self,
        rows: Sequence[Row],
        triples: dict[int, bytes | None],
        query: Floats | None,
        limit: int,
        entity: int | None,
    ) -> list[Neighbour]:
        """Most similar first; among equals the one recorded last."""
        stored = {row[16]: triples[row[16]] for row in rows}
        known = {number: pooled for number, pooled in stored.items() if pooled is not None}
        similar = {} if query is None else similarities(self.space, query, known)
        order = sorted(rows, key=lambda row: (-similar.get(row[16], 0.0), -row[1]))
        return self._neighbours(order[:limit], similar, entity)

    def _neighbours(self, rows: Sequence[Row], similar: dict[int, float], entity: int | None) -> list[Neighbour]:
        if not rows:
            return []
        values = self._values() | {"latest": TURNS, "versions": [row[1] for row in rows]}
        supports = self.ask.pairs(SUPPORTED, **values)
        return [_neighbour(row, similar.get(row[16], 0.0), entity, supports[row[1]][::-1]) for row in rows]


def _neighbour(row: Row, similarity: float, entity: int | None, supports: Sequence[Row]) -> Neighbour:
    """Seen from `entity`; from its head where none was asked about."""
    here, there = (row[4], row[2]) if entity is not None and row[15] == entity != row[14] else (row[2], row[4])
    turns = dict.fromkeys(turn for _, turn in supports if turn is not None)
    return Neighbour(fact(row), here, there, row[12], row[13], similarity, tuple(turns))
