"""A namespace out of the database as records (stores/records.py says what they are); `moving.py` takes them in.

`dump` reads page after page inside one transaction that holds the namespace's lock, since reads of Neo4j see no
snapshot: its writers wait meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from memgraph_server.errors import NotFound
from memgraph_server.memory.facts import Intent, Polarity, Stratum
from memgraph_server.memory.interval import Basis, Precision
from memgraph_server.memory.turns import Role, TurnState
from memgraph_server.stores.neo4j_store.claims import SAID
from memgraph_server.stores.neo4j_store.connection import Connection, Query, Row, Statements, being_loaded
from memgraph_server.stores.records import (
    BATCH,
    KINDS,
    AssertionRecord,
    CardinalityRecord,
    EntityRecord,
    FactRecord,
    Header,
    JobRecord,
    MergeRecord,
    Placing,
    Record,
    Spent,
    StoredVector,
    TripleRecord,
    TurnRecord,
    TurnVector,
    Withdrawal,
)
from memgraph_server.stores.vectors import sign_bits

LOCK = Query(
    "lock a namespace that is written out",
    "MATCH (n:Namespace {name: $namespace}) SET n.locked = true RETURN n.recorded_at, n.loading",
)
COUNTS = {
    kind: Query(
        f"count what there is of a namespace: {kind}",
        f"MATCH (x:{label}) WHERE x.namespace = $namespace AND {indexed} RETURN count(x)",
    )
    for kind, label, indexed in (
        ("entity", "Entity", "x.number IS NOT NULL"),
        ("turn", "Turn", "x.handle IS NOT NULL"),
        ("triple", "Triple", "x.number IS NOT NULL"),
        ("assertion", "Assertion", "x.number IS NOT NULL"),
        ("cardinality", "Cardinality", "x.current IS NOT NULL AND x.relation IS NOT NULL"),
        ("job", "Job", "x.id IS NOT NULL"),
    )
}
COUNT_FACTS = Query(
    "count what there is of a namespace: fact",
    "MATCH ()-[f:FACT]->() WHERE f.namespace = $namespace AND f.version IS NOT NULL RETURN count(f)",
)
ENTITIES = Query(
    "write out entities",
    """
    MATCH (e:Entity) WHERE e.namespace = $namespace AND e.number > $after
    RETURN e.number, e.id, e.name, e.type, e.recorded_at ORDER BY e.namespace, e.number LIMIT $limit""",
)
MERGES = Query(
    "write out merges",
    """
    MATCH (e:Entity) WHERE e.namespace = $namespace AND e.number IS NOT NULL
    CALL (e) {
        MATCH (e)-[m:MERGED_INTO]->(i:Entity) RETURN m, i
    }
    RETURN e.id, i.id, m.recorded_from, m.recorded_to ORDER BY m.recorded_from""",
)
TURNS = Query(
    "write out turns",
    """
    CALL () {
        MATCH (t:Turn) WHERE t.namespace = $namespace AND t.handle > $after RETURN t
        ORDER BY t.namespace, t.handle LIMIT $limit
    }
    RETURN t.handle, t.id, t.session, t.position, t.role, t.speaker, t.text, t.at, t.utc_offset_minutes, t.recorded_at,
        t.state, t.attempts, t.captions, t.reason, t.due_at, COLLECT {
            MATCH (t)-[:MENTIONS]->(e:Entity) RETURN e.id ORDER BY e.number
        },
        CASE WHEN t.embedder <> '' THEN [t.embedder, t.pooled, t.embedding, t.token_bits, t.pieces] END, t.cost
    ORDER BY t.handle""",
)
TRIPLES_OUT = Query(
    "write out triples",
    """
    CALL () {
        MATCH (r:Triple) WHERE r.namespace = $namespace AND r.number > $after RETURN r
        ORDER BY r.namespace, r.number LIMIT $limit
    }
    MATCH (h:Entity {namespace: $namespace, number: r.head})
    WITH r, h
    MATCH (t:Entity {namespace: $namespace, number: r.tail})
    RETURN r.number, h.id, r.relation, t.id, CASE WHEN r.embedder <> '' THEN [r.embedder, r.pooled, r.embedding] END
    ORDER BY r.number""",
)
ASSERTIONS = Query(
    "write out assertions",
    """
    CALL () {
        MATCH (a:Assertion) WHERE a.namespace = $namespace AND a.number > $after
        RETURN a ORDER BY a.namespace, a.number LIMIT $limit
    }
    MATCH (h:Entity {namespace: $namespace, number: a.head})
    OPTIONAL MATCH (t:Entity {namespace: $namespace, number: a.tail})
    OPTIONAL MATCH (w:Withdrawal {namespace: $namespace, assertion: a.number})
    RETURN a.number, properties(a), h.id, t.id, w.recorded_at, w.reason, COLLECT {
        MATCH (p:Placement {namespace: $namespace, assertion: a.number})
        WITH p
        MATCH (ph:Entity {namespace: $namespace, number: p.head})
        OPTIONAL MATCH (pt:Entity {namespace: $namespace, number: p.tail})
        RETURN [ph.id, p.recorded_from, pt.id, p.recorded_to] ORDER BY p.recorded_from
    }
    ORDER BY a.number""",
)
FACTS = Query(
    "write out facts",
    """
    MATCH (h)-[f:FACT]->(t) WHERE f.namespace = $namespace AND f.version > $after
    RETURN f.version, f.id, h.id, f.relation, t.id, f.stratum, f.valid_from, f.confidence, f.intent, f.recorded_from,
        f.valid_to, f.recorded_to
    ORDER BY f.namespace, f.version LIMIT $limit""",
)
CARDINALITIES = Query(
    "write out cardinalities",
    """
    MATCH (c:Cardinality) WHERE c.namespace = $namespace AND c.current IS NOT NULL AND c.relation IS NOT NULL
    RETURN c.relation, c.single, c.reason, c.recorded_from, c.recorded_to ORDER BY c.recorded_from, c.relation""",
)
JOBS = Query(
    "write out jobs",
    """
    CALL () {
        MATCH (j:Job) WHERE j.namespace = $namespace AND j.id > $after RETURN j
        ORDER BY j.namespace, j.id LIMIT $limit
    }
    RETURN j.id, j.created_at, j.key, COLLECT {
        UNWIND range(0, size(j.turns) - 1) AS place
        MATCH (t:Turn {namespace: $namespace, handle: j.turns[place]})
        RETURN t.id ORDER BY place
    }
    ORDER BY j.id""",
)


def dump(connection: Connection, namespace: str) -> Iterator[Record]:
    """The header, then all records. Raises NotFound."""
    with connection.holding() as ask:
        row = ask.one(LOCK, namespace=namespace)
        if row is None:
            raise NotFound(f"there is no namespace {namespace!r}")
        if row[1] is not None:
            raise being_loaded(namespace)
        counts = {kind: ask(query, namespace=namespace)[0][0] for kind, query in COUNTS.items()}
        merges = [MergeRecord(*each) for each in ask(MERGES, namespace=namespace)]
        counts |= {"merge": len(merges), "fact": ask(COUNT_FACTS, namespace=namespace)[0][0]}
        yield Header(namespace, row[0], {kind: counts[kind] for kind in KINDS})
        yield from (EntityRecord(*each[1:]) for each in _pages(ask, ENTITIES, namespace))
        yield from merges
        yield from (_turn(each) for each in _pages(ask, TURNS, namespace))
        yield from (_triple(each) for each in _pages(ask, TRIPLES_OUT, namespace))
        yield from (_assertion(each) for each in _pages(ask, ASSERTIONS, namespace))
        yield from (_fact(each) for each in _pages(ask, FACTS, namespace))
        yield from (CardinalityRecord(*each) for each in ask(CARDINALITIES, namespace=namespace))
        yield from (
            JobRecord(identifier, created_at, tuple(members), key)
            for identifier, created_at, key, members in _pages(ask, JOBS, namespace, start="")
        )


def _pages(ask: Statements, query: Query, namespace: str, start: int | str = -1) -> Iterator[Row]:
    """Rows of a query whose first column is what it goes on after."""
    while rows := ask(query, namespace=namespace, after=start, limit=BATCH):
        yield from rows
        start = rows[-1][0]


def _turn(row: Row) -> TurnRecord:
    _, identifier, session, position, role, speaker, text, at, offset, recorded_at, state, *rest = row
    attempts, captions, reason, due_at, mentions, vector, spent = rest
    return TurnRecord(
        identifier,
        session,
        position,
        Role(role),
        speaker,
        text,
        at,
        offset,
        recorded_at,
        TurnState(state),
        attempts,
        tuple(captions),
        reason,
        due_at if state == TurnState.PENDING else None,
        tuple(mentions),
        None if vector is None else _turn_vector(*vector),
        None if spent is None else Spent(*spent),
    )


def _turn_vector(embedder: str, pooled: bytes, embedding: list[float], tokens: bytes, pieces: list[str]) -> TurnVector:
    return TurnVector(embedder, bytes(pooled), _signs(embedding), bytes(tokens), tuple(pieces))


def _signs(embedding: list[float]) -> bytes:
    return sign_bits(np.asarray(embedding, dtype=np.float32)).tobytes()


def _triple(row: Row) -> TripleRecord:
    _, head, relation, tail, vector = row
    if vector is None:
        return TripleRecord(head, relation, tail)
    return TripleRecord(head, relation, tail, StoredVector(vector[0], bytes(vector[1]), _signs(vector[2])))


def _assertion(row: Row) -> AssertionRecord:
    _, said, head, tail, withdrawn_at, reason, placed = row
    values: dict[str, Any] = {name: said.get(name) for name in SAID}
    values |= {
        "intent": Intent(said["intent"]),
        "polarity": Polarity(said["polarity"]),
        "from_precision": Precision(said["from_precision"]),
        "to_precision": Precision(said["to_precision"]),
        "from_basis": Basis(said["from_basis"]),
        "to_basis": Basis(said["to_basis"]),
        "span": None if "span_start" not in said else (said["span_start"], said["span_end"]),
        "withdrawn": None if withdrawn_at is None else Withdrawal(withdrawn_at, reason),
        "placed": tuple(Placing(*each) for each in placed),
    }
    return AssertionRecord(id=said["id"], head=head, tail=tail, recorded_at=said["recorded_at"], **values)


def _fact(row: Row) -> FactRecord:
    _, identifier, head, relation, tail, stratum, valid_from, confidence, intent, *clocks = row
    ends = (identifier, head, relation, tail)
    return FactRecord(*ends, Stratum(stratum), valid_from, confidence, Intent(intent), *clocks)
