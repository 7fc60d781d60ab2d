"""Facts around entities, nearest to a question first, at a cost that does not depend on how many there are.

An entity of few triples has them all read and compared. A hub's are found by the vector index, which filters by
namespace and by the hub itself (turns are in it too, and have no head); where filters leave too few, the search widens
fourfold until it has enough or has seen all. The latest few of a hub are always looked at, so that triples without a
vector are found. Relationships of the hub are never walked: FACTs are read through their index.

However many entities a step asks about, one statement finds the candidates of all of them, with the facts of those that
have few, and one more reads the facts of the most similar of the others, each with who supports it. A fact costs far
more to read than a vector to compare.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memgraph_server.memory.facts import Intent
from memgraph_server.stores.about import Around, Between
from memgraph_server.stores.neo4j_store.connection import Query, Row, Statements, ordered
from memgraph_server.stores.neo4j_store.entities import STANDS_NOW, STOOD_THEN
from memgraph_server.stores.neo4j_store.facts import COLUMNS, HOLDING, NOW, SUPPORTS, THEN, clocks, fact
from memgraph_server.stores.neo4j_store.vectors import candidates_for, similarities
from memgraph_server.stores.port import AsOf, Floats, Neighbour
from memgraph_server.stores.quantized import Space

#: Up to so many triples at each end, an entity is read whole.
SMALL = 256
#: Latest triples of a hub that are looked at beside the nearest.
LATEST = 16
#: By how much a search widens where filters left too few.
WIDENING = 4
#: Triples whose facts are read for an entity first, at least; then fourfold.
PORTION = 32
#: Turns named with a neighbour: the latest of those that support it.
TURNS = 64
#: Latest triples looked at from their tail, where a relation leads to it very often.
REVERSE = 1000

_INTENDED = "($intents IS NULL OR f.intent IN $intents)"
_POOLED = "CASE WHEN r.embedder = $embedder THEN r.pooled END"


def _latest(limit: str) -> str:
    """Numbers of the latest triples of `entity`, at either end, the latest first."""
    return f"""
        CALL (entity) {{
            MATCH (r:Triple) USING INDEX r:Triple(namespace, head, number)
            WHERE r.namespace = $namespace AND r.head = entity AND r.number IS NOT NULL
            RETURN r.number AS number ORDER BY r.namespace DESC, r.head DESC, r.number DESC LIMIT {limit}
            UNION
            MATCH (r:Triple) USING INDEX r:Triple(namespace, tail, number)
            WHERE r.namespace = $namespace AND r.tail = entity AND r.number IS NOT NULL
            RETURN r.number AS number ORDER BY r.namespace DESC, r.tail DESC, r.number DESC LIMIT {limit}
        }}
        WITH number ORDER BY number DESC LIMIT {limit}
        RETURN collect(number) AS numbers"""


def _search(where: str) -> str:
    return f"""
        MATCH (r:Triple)
        SEARCH r IN (
            VECTOR INDEX embedding FOR $vector
            WHERE r.namespace = $namespace AND r.embedder = $embedder{where} LIMIT $limit
        ) SCORE AS score"""


NEAREST = Query(
    "the nearest triples of a namespace",
    f"{_search(' AND r.head >= 0')} RETURN collect([r.number, r.pooled])",
    listed=True,
)
_HUBS = f"""
    CALL (entity, hub) {{
        UNWIND CASE WHEN hub THEN [entity] ELSE [] END AS end
        CALL (end) {{
            {_search(" AND r.head = end")} RETURN r
            UNION
            {_search(" AND r.tail = end")} RETURN r
        }}
        RETURN collect([r.number, r.pooled]) AS near
    }}"""
HUBS = Query(
    "the nearest triples of hubs, at either end",
    f"UNWIND $entities AS entity WITH entity, true AS hub {_HUBS} RETURN entity, near",
)


_OF_TRIPLE = "MATCH (h)-[f:FACT]->(t) USING INDEX f:FACT(namespace, triple, current, valid_from)"
_SUPPORTED = f"""
        WITH place, h, f, t, coalesce($known_at, $never - 1) AS seen
        {SUPPORTS}
        RETURN collect([{COLUMNS}, supports, place])"""


def _candidates(name: str, stands: str, held: str) -> Query:
    return Query(
        name,
        f"""
        UNWIND range(0, size($entities) - 1) AS place
        WITH place, $entities[place] AS id
        {stands}
        CALL (entity) {{{_latest("$most + 1")}}}
        WITH place, entity, numbers, size(numbers) > $most AS large
        CALL (numbers, large) {{
            UNWIND CASE WHEN large THEN numbers[..$recent] ELSE numbers END AS number
            MATCH (r:Triple) USING INDEX r:Triple(namespace, number)
            WHERE r.namespace = $namespace AND r.number = number
            RETURN collect([number, {_POOLED}]) AS known
        }}
        CALL (place, numbers) {{
            UNWIND CASE WHEN size(numbers) <= $portion THEN numbers ELSE [] END AS triple
            CALL (triple) {{
                {_OF_TRIPLE}
                WHERE f.namespace = $namespace AND f.triple = triple AND {held} AND {HOLDING} AND {_INTENDED}
                RETURN h, f, t
            }}
            {_SUPPORTED} AS facts
        }}
        WITH place, entity, known, large, large AND $vector IS NOT NULL AS hub, size(numbers) <= $portion AS read, facts
        {_HUBS}
        RETURN place, entity, large, known, near, read, facts""",
    )


CANDIDATES_NOW = _candidates("triples of entities that could be near, as they stand now", STANDS_NOW, NOW)
CANDIDATES_THEN = _candidates("triples of entities that could be near, as they stood then", STOOD_THEN, THEN)
LATEST_TRIPLES = Query(
    "the latest triples of an entity, at either end",
    f"UNWIND [$entity] AS entity CALL (entity) {{{_latest('$limit')}}} UNWIND numbers AS number RETURN number",
)


def _facts(name: str, held: str) -> Query:
    return Query(
        name,
        f"""
        UNWIND $wanted AS each
        WITH each[0] AS place, each[1] AS triple
        CALL (triple) {{
            {_OF_TRIPLE}
            WHERE f.namespace = $namespace AND f.triple = triple AND {held} AND {HOLDING} AND {_INTENDED}
            RETURN h, f, t
        }}
        {_SUPPORTED}""",
        listed=True,
    )


FACTS_NOW = _facts("facts of triples, believed now, with their supports", NOW)
FACTS_THEN = _facts("facts of triples, believed then, with their supports", THEN)


#: At an instant that each lookup brings, so that what holds now and what ever held are looked up together.
_HOLDING = HOLDING.replace("$valid_at", "valid_at")


def _related(name: str, stands: str, matched: str, order: str = "f.valid_from DESC, f.version DESC") -> Query:
    return Query(
        name,
        f"""
        UNWIND range(0, size($asked) - 1) AS place
        WITH place, $asked[place][0] AS id, $asked[place][1] AS relations, $asked[place][2] AS valid_at
        {stands}
        CALL (entity, relations, valid_at) {{
            UNWIND relations AS relation
            CALL (entity, relation, valid_at) {{
                {matched}
                RETURN h, f, t ORDER BY {order} LIMIT $limit
            }}
            RETURN h, f, t ORDER BY f.valid_from DESC, f.version DESC LIMIT $limit
        }}
        {_SUPPORTED}""",
        listed=True,
    )


def _of_head(held: str, index: str) -> tuple[str, str]:
    matched = f"""MATCH (h)-[f:FACT]->(t) USING INDEX f:FACT({index})
                WHERE f.namespace = $namespace AND f.head = entity AND f.relation = relation AND {held}
                AND f.valid_from IS NOT NULL AND f.version IS NOT NULL AND {_HOLDING}"""
    return matched, ordered("f", index, falling=True)


def _to_tail(held: str) -> str:
    return f"""MATCH (r:Triple) USING INDEX r:Triple(namespace, tail, relation, number)
                WHERE r.namespace = $namespace AND r.tail = entity AND r.relation = relation AND r.number IS NOT NULL
                WITH r, valid_at ORDER BY {ordered("r", "namespace, tail, relation, number", falling=True)} LIMIT $most
                WITH r.number AS triple, valid_at
                CALL (triple, valid_at) {{
                    {_OF_TRIPLE}
                    WHERE f.namespace = $namespace AND f.triple = triple AND {held} AND {_HOLDING}
                    RETURN h, f, t
                }}"""


_NOW_INDEX, _THEN_INDEX = (
    "namespace, current, head, relation, valid_from, version",
    "namespace, head, relation, valid_from, version",
)
RELATED_NOW = _related("facts of heads and relations, believed now", STANDS_NOW, *_of_head(NOW, _NOW_INDEX))
RELATED_THEN = _related("facts of heads and relations, believed then", STOOD_THEN, *_of_head(THEN, _THEN_INDEX))
RELATED_TO_NOW = _related("facts of relations to tails, believed now", STANDS_NOW, _to_tail(NOW))
RELATED_TO_THEN = _related("facts of relations to tails, believed then", STOOD_THEN, _to_tail(THEN))


@dataclass(slots=True)
class _Place:
    """One entity that is asked about. `unread`: triples whose facts were not read yet, the most similar first."""

    entity: int | None
    similar: dict[int, float] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    unread: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    wanted: int = 0  # candidates asked of the index; 0 where all there are were read
    reading: int = PORTION

    def found(self, triples: Mapping[int, float | None]) -> None:
        fresh = {number: score for number, score in triples.items() if number not in self.seen}
        self.seen |= fresh.keys()
        self.similar |= {number: score for number, score in fresh.items() if score is not None}
        self.unread = sorted([*self.unread, *fresh], key=lambda number: -self.similar.get(number, 0.0))

    def portion(self, limit: int) -> list[int]:
        """The next triples to read. Equals go by what was recorded last, so that none of them may be missing."""
        if len(self.rows) >= limit:
            return []
        stop = min(max(limit - len(self.rows), self.reading), len(self.unread))
        self.reading *= WIDENING
        while 0 < stop < len(self.unread) and self._score(stop) == self._score(stop - 1):
            stop += 1
        taken, self.unread = self.unread[:stop], self.unread[stop:]
        return taken

    def _score(self, place: int) -> float:
        return self.similar.get(self.unread[place], 0.0)

    def best(self, limit: int) -> list[Neighbour]:
        """Most similar first; among equals the one recorded last."""
        order = sorted(self.rows, key=lambda row: (-self.similar.get(row[16], 0.0), -row[1]))
        return [_neighbour(row, self.similar.get(row[16], 0.0), self.entity) for row in order[:limit]]


@dataclass(slots=True)
class Search:
    """One question to the facts of a namespace."""

    ask: Statements
    namespace: str
    space: Space
    as_of: AsOf
    minimum_confidence: float = 0.0
    intents: frozenset[Intent] | None = None

    def around(self, entities: Sequence[str], vector: Floats | None, limit: int) -> list[list[Neighbour]]:
        """Of each entity, by id, in this order."""
        query = self.space.usable(vector)
        places = {index: _Place(None) for index in range(len(entities))}
        values = self._values() | self._vectors(query, candidates_for(limit)) | {"most": SMALL, "recent": LATEST}
        values |= {"latest": TURNS, "portion": min(max(limit, PORTION), SMALL), "entities": list(entities)}
        asked = CANDIDATES_NOW if self.as_of.known_at is None else CANDIDATES_THEN
        for index, *found in self.ask(asked, **values) if entities and limit else ():
            places[index] = self._place(found, query, values["limit"], limit)
        self._read(places, query, limit)
        return [place.best(limit) for place in places.values()]

    def _place(self, found: Row, query: Floats | None, wanted: int, limit: int) -> _Place:
        """A row of CANDIDATES."""
        entity, large, known, near, read, facts = found
        if large and query is None:
            known = [[number, None] for number in self._latest(entity, max(limit, SMALL))]
        place = _Place(entity, wanted=wanted if len(near) >= wanted else 0)
        place.found(self._compared(query, [*near, *known]))
        if read:  # all of them, as `portion` would have it at first
            place.rows, place.unread = facts, []
        return place

    def anywhere(self, vector: Floats, limit: int) -> list[Neighbour]:
        query = self.space.usable(vector)
        if query is None or limit == 0:
            return []
        place = _Place(None, wanted=candidates_for(limit))
        self._widen({0: place}, query, place.wanted)
        self._read({0: place}, query, limit)
        return place.best(limit)

    def between(self, asked: Sequence[Between]) -> list[list[Neighbour]]:
        """In this order; all of one limit, one direction and one recorded time."""
        limit, reverse = asked[0].limit, asked[0].reverse
        now = self.as_of.known_at is None
        forward, backward = (RELATED_NOW, RELATED_TO_NOW) if now else (RELATED_THEN, RELATED_TO_THEN)
        values = self._values() | {"limit": limit, "most": REVERSE, "latest": TURNS}
        wanted = [[each.head, list(dict.fromkeys(each.relations)), each.as_of.valid_at] for each in asked]
        found: list[list[Row]] = [[] for _ in asked]
        for row in self.ask(backward if reverse else forward, **values, asked=wanted):
            found[row[18]].append(row)
        return [self._in_time(rows, reverse) for rows in found]

    def _in_time(self, rows: list[Row], reverse: bool) -> list[Neighbour]:
        """Latest start first."""
        rows.sort(key=lambda row: (-row[6], -row[1]))
        return [_neighbour(row, 0.0, row[15] if reverse else row[14]) for row in rows]

    def _values(self) -> dict[str, Any]:
        intents = None if self.intents is None else sorted(intent.value for intent in self.intents)
        return clocks(self.namespace, self.as_of, self.minimum_confidence) | {"intents": intents}

    def _vectors(self, query: Floats | None, limit: int) -> dict[str, Any]:
        values: dict[str, Any] = {"namespace": self.namespace, "embedder": self.space.embedder, "limit": limit}
        return values | {"vector": None if query is None else query.tolist()}

    def _latest(self, entity: int, limit: int) -> list[int]:
        rows = self.ask(LATEST_TRIPLES, namespace=self.namespace, entity=entity, limit=limit)
        return [number for (number,) in rows]

    def _compared(self, query: Floats | None, triples: Iterable[Row]) -> dict[int, float | None]:
        pooled: dict[int, bytes | None] = {row[0]: row[1] for row in triples}
        known = {number: vector for number, vector in pooled.items() if vector is not None}
        return dict.fromkeys(pooled, None) | ({} if query is None else similarities(self.space, query, known))

    def _read(self, places: dict[int, _Place], query: Floats | None, limit: int) -> None:
        """Facts, until there are enough for `limit` good ones, or all were seen."""
        while True:
            wanted = {index: place.portion(limit) for index, place in places.items()}
            self._facts(places, [[index, triple] for index, triples in wanted.items() for triple in triples])
            lacking = {index: place for index, place in places.items() if len(place.rows) < limit and not place.unread}
            widened = {index: place for index, place in lacking.items() if place.wanted}
            if query is not None and widened:
                self._widen(widened, query, WIDENING * max(place.wanted for place in widened.values()))
            elif not any(place.unread and len(place.rows) < limit for place in places.values()):
                return

    def _widen(self, places: dict[int, _Place], query: Floats, wanted: int) -> None:
        values = self._vectors(query, wanted)
        if None in {place.entity for place in places.values()}:
            near: dict[int | None, list[Row]] = {None: self.ask(NEAREST, **values)}
        else:
            near = self.ask.pairs(HUBS, **values, entities=[place.entity for place in places.values()])
        for place in places.values():
            place.found(self._compared(query, near[place.entity]))
            place.wanted = wanted if len(near[place.entity]) >= wanted else 0

    def _facts(self, places: dict[int, _Place], wanted: list[list[int]]) -> None:
        query = FACTS_NOW if self.as_of.known_at is None else FACTS_THEN
        for row in self.ask(query, **self._values() | {"latest": TURNS}, wanted=wanted) if wanted else ():
            places[row[18]].rows.append(row)


def _neighbour(row: Row, similarity: float, entity: int | None) -> Neighbour:
    """Seen from `entity`; from its head where none was asked about."""
    here, there = (row[4], row[2]) if entity is not None and row[15] == entity != row[14] else (row[2], row[4])
    turns = dict.fromkeys(turn for _, turn in reversed(row[17]) if turn is not None)
    return Neighbour(fact(row), here, there, row[12], row[13], similarity, tuple(turns))


def search_together(
    ask: Statements, namespace: str, space: Space, asked: Sequence[Around | Between], vector: Floats | None
) -> list[list[Neighbour]]:
    """In the order asked; what is asked alike of many entities is asked at once."""
    found: list[list[Neighbour]] = [[] for _ in asked]
    groups: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, each in enumerate(asked):
        groups[each.alike()].append(place)
    for places in groups.values():
        together = [asked[place] for place in places]
        search = Search(ask, namespace, space, together[0].as_of)
        answers = _answers(search, together, vector)
        for place, answer in zip(places, answers, strict=True):
            found[place] = answer
    return found


def _answers(search: Search, asked: Sequence[Around | Between], vector: Floats | None) -> list[list[Neighbour]]:
    around = [each for each in asked if isinstance(each, Around)]
    if not around:
        return search.between([each for each in asked if isinstance(each, Between)])
    search.minimum_confidence = around[0].minimum_confidence
    return search.around([each.entity_id for each in around], vector, around[0].limit)
