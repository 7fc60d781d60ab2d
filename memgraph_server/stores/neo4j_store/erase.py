"""Erasure: the only destructive verb. Everything of a namespace, by label, in one transaction.

Neo4j reuses the space of what was deleted and does not overwrite it before; its transaction logs keep what was written
until they are pruned. Whoever must know that no byte is left on disk sets `db.tx_log.rotation.retention_policy` and
compacts the store (docs say how); what this gives is that no query finds it.
"""

from __future__ import annotations

from memgraph_server.stores.neo4j_store.connection import Query, Statements
from memgraph_server.stores.neo4j_store.queue import LOCK

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
    ("Entity", ("id",), "entities"),
    ("Job", ("id",), "jobs"),
    ("Turn", ("id",), "turns"),
    ("Session", ("id",), "sessions"),
)


def _there(indexed: tuple[str, ...]) -> str:
    return " AND ".join(f"x.{name} IS NOT NULL" for name in indexed)


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
    """
    MATCH ()-[f:FACT]->() WHERE f.namespace = $namespace AND f.version IS NOT NULL DELETE f RETURN count(f)""",
)
ERASE_MERGES = Query(
    "erase merges",
    """
    MATCH (e:Entity) WHERE e.namespace = $namespace AND e.number IS NOT NULL
    CALL (e) {
        MATCH (e)-[m:MERGED_INTO]->() DELETE m RETURN count(m) AS number
    }
    RETURN sum(number)""",
)
ERASE = {
    label: Query(
        f"erase nodes of the label {label}",
        f"""
        MATCH (x:{label}) WHERE x.namespace = $namespace AND {_there(indexed)} DETACH DELETE x RETURN count(x)""",
    )
    for label, indexed, _ in ERASED
}
ERASE_NAMESPACE = Query("erase a namespace", "MATCH (n:Namespace {name: $namespace}) DELETE n")


def erase(ask: Statements, namespace: str) -> dict[str, int]:
    """What was removed, by kind."""
    receipt = {"embeddings": 0, "facts": 0, "merges": 0} | {word: 0 for _, _, word in ERASED}
    if ask.one(LOCK, namespace=namespace) is None:
        return receipt
    for word, query in (
        ("embeddings", COUNT_EMBEDDINGS),
        ("facts", ERASE_FACTS),
        ("merges", ERASE_MERGES),
        *((word, ERASE[label]) for label, _, word in ERASED),
    ):
        receipt[word] += ask(query, namespace=namespace)[0][0]
    ask(ERASE_NAMESPACE, namespace=namespace)
    return receipt
