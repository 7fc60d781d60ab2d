"""Erasure: the only destructive verb. Everything of a namespace, by label, some thousands at a time.

One transaction that deleted a large namespace would be limited by the server's memory. So the namespace is first marked
as one that is not whole, which no other verb reads or writes (loading.py), and its node goes last: an erasure that was
cut off leaves nothing to be seen, and is ended by erasing again.

Neo4j reuses the space of what was deleted and does not overwrite it before; its transaction logs keep what was written
until they are pruned. Whoever must know that no byte is left on disk sets `db.tx_log.rotation.retention_policy` and
compacts the store (docs say how); what this gives is that no query finds it.
"""

from __future__ import annotations

from memgraph_server.stores.neo4j_store.connection import Connection, Query, Statements

#: Nodes, or relationships, that one transaction deletes.
AT_ONCE = 5_000
#: Label, the properties that are indexed behind the namespace and never absent, and the receipt's word.
ERASED = (
    ("Posting", ("term", "segment"), "index_entries"),
    ("Term", ("term",), "index_entries"),
    ("Triple", ("number",), "triples"),
    ("Stake", ("assertion",), "index_entries"),
    ("Placement", ("assertion",), "index_entries"),
    ("Withdrawal", ("assertion",), "withdrawals"),
    ("Assertion", ("id",), "assertions"),
    ("Cardinality", ("current", "relation"), "cardinalities"),
    ("Job", ("id",), "jobs"),
    ("Turn", ("id",), "turns"),
    ("Session", ("id",), "sessions"),
    ("Entity", ("id",), "entities"),  # last: by then no relationships are left that could be many
)


def _there(indexed: tuple[str, ...]) -> str:
    return " AND ".join(f"x.{name} IS NOT NULL" for name in indexed)


#: `loaded` is not 0, so that no import goes on with what is being erased.
BEGIN = Query(
    "mark a namespace as one that is being erased",
    """
    MATCH (n:Namespace {name: $namespace}) SET n.locked = true
    WITH n WHERE n.recorded_at IS NOT NULL
    SET n.loading = 'erased', n.loaded = 1 RETURN n.name""",
)
#: Of two that erase one namespace the slower must not touch what is written after the faster one is done.
_MARKED = """
    MATCH (n:Namespace {name: $namespace}) SET n.locked = true
    WITH n WHERE n.loading = 'erased'"""
COUNT_EMBEDDINGS = Query(
    "vectors of a namespace",
    """
    CALL () {
        MATCH (t:Turn) WHERE t.namespace = $namespace AND t.id IS NOT NULL AND t.embedder <> '' RETURN count(t) AS turns
    }
    CALL () {
        MATCH (t:Triple) WHERE t.namespace = $namespace AND t.number IS NOT NULL AND t.embedder <> ''
        RETURN count(t) AS triples
    }
    RETURN turns + triples""",
)
ERASE_FACTS = Query(
    "erase facts",
    f"""{_MARKED}
    CALL () {{
        MATCH ()-[f:FACT]->() WHERE f.namespace = $namespace AND f.version IS NOT NULL
        WITH f LIMIT $most DELETE f RETURN count(f) AS number
    }}
    RETURN number""",
)
ERASE_MERGES = Query(
    "erase merges",
    f"""{_MARKED}
    MATCH (e:Entity) WHERE e.namespace = $namespace AND e.number IS NOT NULL
    CALL (e) {{
        MATCH (e)-[m:MERGED_INTO]->() DELETE m RETURN count(m) AS number
    }}
    RETURN sum(number)""",
)
ERASE = {
    label: Query(
        f"erase nodes of the label {label}",
        f"""{_MARKED}
        CALL () {{
            MATCH (x:{label}) WHERE x.namespace = $namespace AND {_there(indexed)}
            WITH x LIMIT $most DETACH DELETE x RETURN count(x) AS number
        }}
        RETURN number""",
    )
    for label, indexed, _ in ERASED
}
ERASE_NAMESPACE = Query("erase a namespace", f"{_MARKED} DELETE n")


def erase(connection: Connection, namespace: str) -> dict[str, int]:
    """What was removed, by kind."""
    receipt = {"embeddings": 0, "facts": 0, "merges": 0} | {word: 0 for _, _, word in ERASED}
    if connection.writing(lambda ask: ask.one(BEGIN, namespace=namespace)) is None:
        return receipt
    receipt["embeddings"] = connection.reading(lambda ask: _number(ask, COUNT_EMBEDDINGS, namespace))
    receipt["merges"] = connection.writing(lambda ask: _number(ask, ERASE_MERGES, namespace))
    receipt["facts"] = _emptied(connection, ERASE_FACTS, namespace)
    for label, _, word in ERASED:
        receipt[word] += _emptied(connection, ERASE[label], namespace)
    connection.writing(lambda ask: ask(ERASE_NAMESPACE, namespace=namespace))
    return receipt


def _emptied(connection: Connection, query: Query, namespace: str) -> int:
    """How many there were."""
    total = 0
    while True:
        count = connection.writing(lambda ask: _number(ask, query, namespace, most=AT_ONCE))
        total += count
        if count < AT_ONCE:
            return total


def _number(ask: Statements, query: Query, namespace: str, **values: int) -> int:
    """0 where somebody else has erased the rest."""
    row = ask.one(query, namespace=namespace, **values)
    return 0 if row is None else int(row[0])
