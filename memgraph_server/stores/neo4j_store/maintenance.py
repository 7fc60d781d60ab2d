"""What concerns the whole store: its integrity, and vectors that another embedder made, or none did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memgraph_server.errors import InvalidInput
from memgraph_server.stores.neo4j_store.connection import Query, Statements
from memgraph_server.stores.neo4j_store.names import indexable
from memgraph_server.stores.neo4j_store.vectors import embedding, turn_embedding
from memgraph_server.stores.port import Floats, TurnVectors
from memgraph_server.stores.quantized import Space

#: What must not be, each counted for one namespace.
CHECKS = (
    Query(
        "turns that are counted wrongly",
        """
        MATCH (n:Namespace {name: $namespace})
        CALL () {
            MATCH (t:Turn) WHERE t.namespace = $namespace AND t.handle IS NOT NULL RETURN count(t) AS turns
        }
        RETURN abs(n.turns - turns)""",
    ),
    Query(
        "facts whose triple is missing",
        """
        MATCH ()-[f:FACT]->() WHERE f.namespace = $namespace AND f.version IS NOT NULL AND NOT EXISTS {
            MATCH (t:Triple {namespace: $namespace, number: f.triple})
        }
        RETURN count(f)""",
    ),
    Query(
        "facts that lie between other entities than they say",
        """
        MATCH (h)-[f:FACT]->(t) WHERE f.namespace = $namespace AND f.version IS NOT NULL
            AND (h.number <> f.head OR t.number <> f.tail OR h.namespace <> f.namespace OR t.namespace <> f.namespace)
        RETURN count(f)""",
    ),
    Query(
        "facts whose being current and recorded end disagree",
        """
        MATCH ()-[f:FACT]->() WHERE f.namespace = $namespace AND f.version IS NOT NULL
            AND f.current <> (f.recorded_to IS NULL)
        RETURN count(f)""",
    ),
    Query(
        "sessions whose pending turns are not due, or that are due without any",
        """
        MATCH (s:Session) WHERE s.namespace = $namespace AND s.id IS NOT NULL AND (s.due_at IS NULL) = EXISTS {
            MATCH (t:Turn) WHERE t.namespace = $namespace AND t.session = s.id AND t.state = 'pending'
                AND t.position IS NOT NULL
        }
        RETURN count(s)""",
    ),
)
CUT_OFF = Query(
    "namespaces that are not loaded to the end",
    "MATCH (n:Namespace) WHERE n.name IS NOT NULL AND n.loading IS NOT NULL RETURN n.name ORDER BY n.name",
)
STALE_TURNS = Query(
    "turns that are read and have no vector of an embedder",
    """
    CALL () {
        MATCH (t:Turn) WHERE t.state = 'done' AND t.embedder < $embedder RETURN t LIMIT $limit
        UNION ALL
        MATCH (t:Turn) WHERE t.state = 'done' AND t.embedder > $embedder RETURN t LIMIT $limit
    }
    RETURN t.namespace, 'turn', t.id LIMIT $limit""",
)
STALE_TRIPLES = Query(
    "triples that have no vector of an embedder",
    """
    CALL () {
        MATCH (t:Triple) WHERE t.embedder < $embedder RETURN t LIMIT $limit
        UNION ALL
        MATCH (t:Triple) WHERE t.embedder > $embedder RETURN t LIMIT $limit
    }
    RETURN DISTINCT t.namespace, 'triple', t.text LIMIT $limit""",
)
OUTDATED = Query(
    "vectors of turns that are read, and of triples, by another embedder",
    """
    CALL () {
        MATCH (t:Turn) WHERE t.state = 'done' AND t.embedder > '' AND t.embedder < $embedder RETURN count(t) AS number
        UNION ALL
        MATCH (t:Turn) WHERE t.state = 'done' AND t.embedder > $embedder RETURN count(t) AS number
        UNION ALL
        MATCH (t:Triple) WHERE t.embedder > '' AND t.embedder < $embedder RETURN count(t) AS number
        UNION ALL
        MATCH (t:Triple) WHERE t.embedder > $embedder RETURN count(t) AS number
    }
    RETURN sum(number)""",
)
_NO_VECTOR = "SET t.embedder = '', t.embedding = null, t.pooled = null"
DROP_TURNS = Query(
    "turns have no vectors any more",
    f"""
    UNWIND $ids AS id MATCH (t:Turn {{namespace: $namespace, id: id}})
    {_NO_VECTOR}, t.token_bits = null, t.pieces = null""",
)
DROP_TRIPLES = Query(
    "triples have no vectors any more",
    f"UNWIND $keys AS key MATCH (t:Triple {{namespace: $namespace, key: key}}) {_NO_VECTOR}",
)
REPLACE_TURNS = Query(
    "replace vectors of turns",
    """
    UNWIND $rows AS row
    MATCH (t:Turn {namespace: $namespace, id: row.id})
    SET t.embedder = row.embedder, t.pooled = row.pooled, t.token_bits = row.token_bits, t.pieces = row.pieces
    WITH t, row CALL db.create.setNodeVectorProperty(t, 'embedding', row.embedding)""",
)
REPLACE_TRIPLES = Query(
    "replace vectors of triples",
    """
    UNWIND $rows AS row
    MATCH (t:Triple {namespace: $namespace, key: row.key})
    SET t.embedder = row.embedder, t.pooled = row.pooled
    WITH t, row CALL db.create.setNodeVectorProperty(t, 'embedding', row.embedding)""",
)


def problems(ask: Statements, namespace: str) -> list[str]:
    """In words; empty where there are none. Reads all of the namespace."""
    counted = ((check.name, ask(check, namespace=namespace)) for check in CHECKS)
    return [f"{namespace!r}: {rows[0][0]} {name}" for name, rows in counted if rows and rows[0][0]]


def stale_vectors(ask: Statements, embedder: str, limit: int) -> list[tuple[str, str, str]]:
    """(namespace, "turn" or "triple", turn id or triple text). A turn that is still pending gets its vectors anyway."""
    rows = ask(STALE_TURNS, embedder=embedder, limit=limit)
    if len(rows) < limit:
        rows += ask(STALE_TRIPLES, embedder=embedder, limit=limit - len(rows))
    return [(namespace, kind, what) for namespace, kind, what in rows]


def outdated_vectors(ask: Statements, embedder: str) -> int:
    """Of turns that are read and of triples, by another embedder; asked of two indexes."""
    number: int = ask(OUTDATED, embedder=embedder)[0][0]
    return number


def replace_vectors(
    ask: Statements,
    namespace: str,
    space: Space,
    turns: Mapping[str, TurnVectors | None],
    triples: Mapping[str, Floats | None],
) -> None:
    """Turns and triples that do not exist (any more) are passed over. Raises InvalidInput for a vector of no use."""
    of_turns = [
        {"id": turn_id, **_usable(space, turn_embedding(space, each))}
        for turn_id, each in turns.items()
        if each is not None
    ]
    of_triples = [
        {"key": indexable(text), **_usable(space, embedding(space, vector))}
        for text, vector in triples.items()
        if vector is not None
    ]
    ask(REPLACE_TURNS, namespace=namespace, rows=of_turns)
    ask(REPLACE_TRIPLES, namespace=namespace, rows=of_triples)
    if len(of_turns) < len(turns):
        ask(DROP_TURNS, namespace=namespace, ids=[turn_id for turn_id, each in turns.items() if each is None])
    if len(of_triples) < len(triples):
        ask(DROP_TRIPLES, namespace=namespace, keys=[indexable(text) for text, each in triples.items() if each is None])


def _usable(space: Space, row: dict[str, Any] | None) -> dict[str, Any]:
    if row is None:
        raise InvalidInput(f"a vector of {space.dimension} finite numbers is needed", field="vectors")
    return row
