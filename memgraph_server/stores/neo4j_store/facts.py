"""Reads of facts at any point of both clocks (schema/neo4j/0003_beliefs.cypher).

A version is believed at K where recorded_from ≤ K < recorded_to; now, where it is current. Who supports it is computed
from the placements of that time, not stored: a fact with ten thousand supports would else copy them with every version.
Facts and their supports come by one statement. A list is read in the order of an index, and a page goes on where the
last one ended, whatever came before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from memgraph_server.errors import NotFound
from memgraph_server.memory.facts import Fact, Intent, Stratum
from memgraph_server.memory.interval import Instant
from memgraph_server.stores.about import read_ends
from memgraph_server.stores.neo4j_store.connection import Query, Row, Statements, ordered
from memgraph_server.stores.neo4j_store.entities import NEVER
from memgraph_server.stores.port import AsOf, FactView

#: Versions that are believed now; or that were believed at $known_at.
NOW = "f.current = true"
THEN = "f.current IS NOT NULL AND f.recorded_from <= $known_at AND coalesce(f.recorded_to, $never) > $known_at"
#: Narrower: what holds at $valid_at, and is as certain as asked. An index of several properties is used only where
#: each of them is asked something, if only that it is there.
HOLDING = """f.valid_from IS NOT NULL AND f.version IS NOT NULL
        AND ($valid_at IS NULL OR (f.valid_from <= $valid_at AND coalesce(f.valid_to, $never) > $valid_at))
        AND f.confidence >= $confidence"""

#: A fact `f` from `h` to `t`, in the order of `fact`; a past read does not know yet when a version will be closed.
COLUMNS = """f.id, f.version, h.id, f.relation, t.id, f.stratum, f.valid_from, f.valid_to, f.confidence, f.intent,
    f.recorded_from, CASE WHEN $known_at IS NULL THEN f.recorded_to END, h.name, t.name, f.head, f.tail, f.triple"""

#: The claims behind a fact `f` as placed at `seen`, latest evidence first, at most $latest.
SUPPORTS = f"""
    CALL (f, seen) {{
        MATCH (p:Placement) USING INDEX p:Placement(namespace, triple, evidence_at, assertion)
        WHERE p.namespace = $namespace AND p.triple = f.triple AND p.evidence_at IS NOT NULL
            AND p.assertion IS NOT NULL AND p.assertive = (f.stratum = 'stable')
            AND p.recorded_from <= seen AND coalesce(p.recorded_to, $never) > seen
            AND p.valid_from < coalesce(f.valid_to, $never) AND coalesce(p.valid_to, $never) > f.valid_from
        WITH p ORDER BY {ordered("p", "namespace, triple, evidence_at, assertion", falling=True)} LIMIT $latest
        RETURN collect([p.id, p.turn_id]) AS supports
    }}"""

#: Which index lists facts in this order; named, since a planner that thinks a memory small walks all of it.
_OF_TRIPLE = "USING INDEX f:FACT(namespace, triple, current, valid_from)"
_OF_NOW = "namespace, current, head, relation, valid_from, version"
_OF_THEN = "namespace, head, relation, valid_from, version"
_ORDER = "f.head, f.relation, f.valid_from, f.version"


def _listing(name: str, held: str, place: str, index: str) -> Query:
    """Facts at a place of the order, as the index has them."""
    return Query(
        name,
        f"""
        CALL () {{
            MATCH (h)-[f:FACT]->(t) USING INDEX f:FACT({index})
            WHERE f.namespace = $namespace AND {held} AND {place} AND {HOLDING}
            RETURN h, f, t ORDER BY {ordered("f", index)} LIMIT $limit
        }}
        WITH h, f, t, coalesce($known_at, $never - 1) AS seen
        {SUPPORTS}
        RETURN {COLUMNS}, supports ORDER BY {_ORDER}""",
    )


_RELATED = "($relation IS NULL OR f.relation = $relation)"
_PLACES = {
    "of all heads after one": f"f.head > $head AND f.relation IS NOT NULL AND {_RELATED}",
    "of a head, after a relation": "f.head = $head AND f.relation > $after AND f.valid_from IS NOT NULL",
    "of a key, after a version": """f.head = $head AND f.relation = $relation AND f.valid_from >= $start
        AND f.version IS NOT NULL AND (f.valid_from > $start OR f.version > $version)""",
}
LISTINGS_NOW = {place: _listing(f"facts believed now {place}", NOW, where, _OF_NOW) for place, where in _PLACES.items()}
LISTINGS_THEN = {
    place: _listing(f"facts believed then {place}", THEN, f"{where} AND f.version IS NOT NULL", _OF_THEN)
    for place, where in _PLACES.items()
}


def _to_tail(name: str, held: str) -> Query:
    return Query(
        name,
        f"""
        CALL () {{
            MATCH (r:Triple) USING INDEX r:Triple(namespace, tail, number)
            WHERE r.namespace = $namespace AND r.tail = $tail AND r.number IS NOT NULL
                AND ($head IS NULL OR r.head = $head) AND ($relation IS NULL OR r.relation = $relation)
            WITH r.number AS triple
            CALL (triple) {{
                MATCH (h)-[f:FACT]->(t) {_OF_TRIPLE}
                WHERE f.namespace = $namespace AND f.triple = triple AND {held} AND {HOLDING}
                RETURN h, f, t
            }}
            WITH h, f, t WHERE (f.head > $after[0] OR (f.head = $after[0] AND (f.relation > $after[1]
                OR (f.relation = $after[1] AND (f.valid_from > $after[2]
                OR (f.valid_from = $after[2] AND f.version > $after[3]))))))
            RETURN h, f, t ORDER BY {_ORDER} LIMIT $limit
        }}
        WITH h, f, t, coalesce($known_at, $never - 1) AS seen
        {SUPPORTS}
        RETURN {COLUMNS}, supports ORDER BY {_ORDER}""",
    )


TO_TAIL_NOW = _to_tail("facts believed now that lead to a tail", NOW)
TO_TAIL_THEN = _to_tail("facts believed then that lead to a tail", THEN)

VERSIONS = Query(
    "every version of a fact's triple, each with its supports as they were last seen",
    f"""
    MATCH ()-[one:FACT]->() WHERE one.namespace = $namespace AND one.id = $id
    WITH one.triple AS triple LIMIT 1
    MATCH (h)-[f:FACT]->(t) WHERE f.namespace = $namespace AND f.triple = triple AND f.current IS NOT NULL
        AND f.valid_from IS NOT NULL
    WITH h, f, t, coalesce(f.recorded_to - 1, $never - 1) AS seen
    {SUPPORTS}
    RETURN {COLUMNS}, supports ORDER BY f.recorded_from, f.valid_from, f.version""",
)


def _of_turns(name: str, held: str) -> Query:
    return Query(
        name,
        f"""
        UNWIND range(0, size($turns) - 1) AS place
        WITH place, $turns[place] AS turn
        CALL (turn) {{
            MATCH (p:Placement) USING INDEX p:Placement(namespace, turn_id)
            WHERE p.namespace = $namespace AND p.turn_id = turn AND p.triple IS NOT NULL
                AND p.recorded_from <= coalesce($known_at, $never - 1)
                AND coalesce(p.recorded_to, $never) > coalesce($known_at, $never - 1)
            RETURN p, p.triple AS triple
        }}
        CALL (triple, p) {{
            MATCH (h)-[f:FACT]->(t) {_OF_TRIPLE}
            WHERE f.namespace = $namespace AND f.triple = triple AND {held} AND {HOLDING}
                AND p.assertive = (f.stratum = 'stable')
                AND p.valid_from < coalesce(f.valid_to, $never) AND coalesce(p.valid_to, $never) > f.valid_from
            RETURN h, f, t
        }}
        WITH DISTINCT place, h, f, t, coalesce($known_at, $never - 1) AS seen
        {SUPPORTS}
        RETURN {COLUMNS}, supports, $turns[place] ORDER BY place, {_ORDER}""",
    )


OF_TURNS_NOW = _of_turns("facts believed now that turns support", NOW)
OF_TURNS_THEN = _of_turns("facts believed then that turns support", THEN)


def _ends_of_turns(name: str, held: str) -> Query:
    return Query(
        name,
        f"""
        UNWIND $turns AS turn
        MATCH (p:Placement) USING INDEX p:Placement(namespace, turn_id)
        WHERE p.namespace = $namespace AND p.turn_id = turn AND {held}
        RETURN collect([turn, p.head, p.tail])""",
        listed=True,
    )


ENDS_NOW = _ends_of_turns("entities that turns assert something of now", "p.current")
ENDS_THEN = _ends_of_turns(
    "entities that turns asserted something of then",
    "p.recorded_from <= $known_at AND coalesce(p.recorded_to, $never) > $known_at",
)

SUPPORTERS = Query(
    "assertions that support a current fact",
    """
    MATCH ()-[f:FACT]->() WHERE f.namespace = $namespace AND f.id = $id AND f.current
    CALL (f) {
        MATCH (p:Placement) USING INDEX p:Placement(namespace, triple, evidence_at, assertion)
        WHERE p.namespace = $namespace AND p.triple = f.triple AND p.evidence_at IS NOT NULL
            AND p.assertion IS NOT NULL AND p.current AND p.assertive = (f.stratum = 'stable')
            AND p.valid_from < coalesce(f.valid_to, $never) AND coalesce(p.valid_to, $never) > f.valid_from
        RETURN p.assertion AS assertion
    }
    RETURN assertion ORDER BY assertion""",
)


def clocks(namespace: str, as_of: AsOf, minimum_confidence: float = 0.0) -> dict[str, Any]:
    """The values of HOLDING, THEN and SUPPORTS."""
    values: dict[str, Any] = {"namespace": namespace, "never": NEVER, "latest": NEVER}
    values |= {"valid_at": as_of.valid_at, "known_at": as_of.known_at, "confidence": minimum_confidence}
    return values


def timeline(
    ask: Statements,
    namespace: str,
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
    values = clocks(namespace, as_of, minimum_confidence) | {"relation": relation}
    most = NEVER if limit is None else limit + 1
    if tail is not None:
        query = TO_TAIL_NOW if as_of.known_at is None else TO_TAIL_THEN
        start = [-1, "", 0, 0] if after is None else list(after)
        rows = ask(query, **values, head=head, tail=tail, after=start, limit=most)
    else:
        rows = list(_listed(ask, values, head, after, most))
    shown = rows if limit is None else rows[:limit]
    more = limit is not None and 0 < limit < len(rows)
    return [view(row) for row in shown], _sort_key(shown[-1]) if more else None


def _listed(
    ask: Statements, values: dict[str, Any], head: int | None, after: Sequence[Any] | None, limit: int
) -> Iterator[Row]:
    """Place after place, until there is enough."""
    listings = LISTINGS_NOW if values["known_at"] is None else LISTINGS_THEN
    for place, where in _places(head, values["relation"], after):
        found = ask(listings[place], **values | where, limit=limit)
        yield from found
        limit -= len(found)
        if limit <= 0:
            return


def _places(
    head: int | None, relation: str | None, after: Sequence[Any] | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    key = {"start": -NEVER, "version": -1}
    if after is None and head is None:
        yield "of all heads after one", {"head": -1}
    elif after is None:
        if relation is None:
            yield "of a head, after a relation", {"head": head, "after": ""}
        else:
            yield "of a key, after a version", {"head": head, **key}
    else:
        yield from _places_after(head, relation, after)


def _places_after(head: int | None, relation: str | None, after: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    last_head, last_relation, start, version = after
    key = {"head": last_head, "relation": last_relation, "start": start, "version": version}
    yield "of a key, after a version", key
    if relation is None:
        yield "of a head, after a relation", {"head": last_head, "after": last_relation}
    if head is None:
        yield "of all heads after one", {"head": last_head}


def _sort_key(row: Row) -> tuple[Any, ...]:
    return row[14], row[3], row[6], row[1]


def versions(ask: Statements, namespace: str, fact_id: str) -> list[FactView]:
    """Every version of the triple. Raises NotFound."""
    rows = ask(VERSIONS, **clocks(namespace, AsOf()), id=fact_id)
    if not rows:
        raise NotFound(f"there is no fact {fact_id!r}")
    return [view(row) for row in rows]


def of_turns(ask: Statements, namespace: str, turn_ids: Sequence[str], as_of: AsOf) -> dict[str, list[FactView]]:
    """Facts that an assertion of the turn supports; turns without any are left out."""
    query = OF_TURNS_NOW if as_of.known_at is None else OF_TURNS_THEN
    by_turn: defaultdict[str, list[FactView]] = defaultdict(list)
    for row in ask(query, **clocks(namespace, as_of), turns=list(dict.fromkeys(turn_ids))) if turn_ids else ():
        by_turn[row[18]].append(view(row))
    return dict(by_turn)


def ends_of_turns(
    ask: Statements, namespace: str, turn_ids: Sequence[str], known_at: Instant | None
) -> dict[str, frozenset[int]]:
    """Numbers of the entities at both ends of the turns' assertions, merges followed; turns without any are absent."""
    if not turn_ids:
        return {}
    values = {"namespace": namespace, "turns": list(dict.fromkeys(turn_ids))}
    if known_at is None:
        return read_ends(ask(ENDS_NOW, **values))
    return read_ends(ask(ENDS_THEN, **values, known_at=known_at, never=NEVER))


def supporters(ask: Statements, namespace: str, fact_id: str) -> list[int]:
    """Numbers of the assertions that support the current fact. Raises NotFound."""
    rows = ask(SUPPORTERS, namespace=namespace, id=fact_id, never=NEVER)
    if not rows:
        raise NotFound(f"there is no fact {fact_id!r} that is believed now")
    return [number for (number,) in rows]


def view(row: Row) -> FactView:
    """Supports and turns oldest evidence first."""
    supports = row[17][::-1]
    turns = dict.fromkeys(turn for _, turn in supports if turn is not None)
    return FactView(fact(row), row[12], row[13], tuple(assertion for assertion, _ in supports), tuple(turns))


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
