"""What a transaction has decided to write and has not sent yet: one statement writes all of it.

A turn costs so few round trips because of this: its reads come in one statement, everything is decided here, and all
writes go in one more. Nothing in it depends on the order of rows within a list, and lists are written in the order in
which they need each other: entities before what is about them, stakes taken away before stakes placed.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, fields
from typing import Any

from memgraph_server.stores.neo4j_store.connection import Query, Statements
from memgraph_server.stores.port import Applied, Cost

Rows = list[dict[str, Any]]

_PARTS = """
    CALL () {
        UNWIND $entities AS row CREATE (e:Entity) SET e = row
    }
    CALL () {
        UNWIND $types AS row MATCH (e:Entity {namespace: $namespace, number: row.number}) SET e.type = row.type
    }
    CALL () {
        UNWIND $assertions AS row CREATE (a:Assertion) SET a = row
        WITH a, row
        CALL (a, row) {
            UNWIND [end IN [['head', row.head], ['tail', row.tail]] WHERE end[1] IS NOT NULL] AS end
            MATCH (e:Entity {namespace: $namespace, number: end[1]})
            CREATE (a)-[:ABOUT {namespace: $namespace, role: end[0]}]->(e)
        }
        CALL (a, row) {
            MATCH (t:Turn {namespace: $namespace, id: row.turn_id})
            CREATE (t)-[:STATES {namespace: $namespace}]->(a)
        }
    }
    CALL () {
        UNWIND $withdrawals AS row MATCH (a:Assertion {namespace: $namespace, number: row.assertion})
        CREATE (w:Withdrawal)-[:OF {namespace: $namespace}]->(a) SET w = row
    }
    CALL () {
        UNWIND $displaced AS number
        MATCH (p:Placement {namespace: $namespace, assertion: number}) WHERE p.current
        SET p.current = false, p.recorded_to = $stamp
    }
    CALL () {
        UNWIND $displaced AS number MATCH (s:Stake {namespace: $namespace, assertion: number}) DELETE s
    }
    CALL () {
        UNWIND $placements AS row CREATE (p:Placement) SET p = row
    }
    CALL () {
        UNWIND $stakes AS row CREATE (s:Stake) SET s = row
    }
    CALL () {
        UNWIND $triples AS row CREATE (t:Triple) SET t = row
    }
    CALL () {
        UNWIND $embeddings AS row MATCH (t:Triple {namespace: $namespace, number: row.number})
        SET t.embedder = row.embedder, t.pooled = row.pooled
        WITH t, row CALL db.create.setNodeVectorProperty(t, 'embedding', row.embedding)
    }
    CALL () {
        UNWIND $closed AS version MATCH ()-[f:FACT {namespace: $namespace, version: version}]->()
        SET f.current = false, f.recorded_to = $stamp
    }
    CALL () {
        UNWIND $deleted AS version MATCH ()-[f:FACT {namespace: $namespace, version: version}]->() DELETE f
    }
    CALL () {
        UNWIND $facts AS row
        MATCH (h:Entity {namespace: $namespace, number: row.head})
        WITH h, row
        MATCH (t:Entity {namespace: $namespace, number: row.tail})
        CREATE (h)-[f:FACT]->(t) SET f = row
    }"""

WRITE = Query(
    "write what was decided",
    f"""
    MATCH (n:Namespace {{name: $namespace}}) SET n.sequence = $sequence
    {_PARTS}""",
)

WRITE_OUTCOME = Query(
    "write what a turn says, its mentions and vectors, that it is done, and the end of its session's lease",
    f"""
    MATCH (n:Namespace {{name: $namespace}}) SET n.sequence = $sequence
    {_PARTS}
    WITH n
    MATCH (t:Turn {{namespace: $namespace, id: $turn}})
    SET t.state = 'done', t.attempts = t.attempts + 1, t.reason = null, t.cost = $cost
    WITH t
    CALL (t) {{
        UNWIND $mentions AS number MATCH (e:Entity {{namespace: $namespace, number: number}})
        CREATE (t)-[:MENTIONS {{namespace: $namespace}}]->(e)
    }}
    CALL (t) {{
        UNWIND $vectors AS row
        SET t.embedder = row.embedder, t.pooled = row.pooled, t.token_bits = row.token_bits, t.pieces = row.pieces
        WITH t, row CALL db.create.setNodeVectorProperty(t, 'embedding', row.embedding)
    }}
    WITH t
    MATCH (s:Session {{namespace: $namespace, id: t.session}})
    OPTIONAL CALL (t) {{
        MATCH (p:Turn) WHERE p.namespace = $namespace AND p.session = t.session AND p.state = 'pending'
            AND p.position >= 0
        RETURN p.due_at AS due_at ORDER BY p.namespace, p.session, p.state, p.position LIMIT 1
    }}
    WITH s, due_at, due_at IS NULL AND s.lease_token = $lease AS last
    SET s.due_at = due_at, s.lease_token = CASE WHEN last THEN null ELSE s.lease_token END,
        s.lease_until = CASE WHEN last THEN null ELSE s.lease_until END
    RETURN last""",
)


@dataclass(slots=True)
class Pending:
    """Rows to write, by kind. `facts` by version, so that one that is superseded at once is never written."""

    namespace: str
    stamp: int
    sequence: int
    entities: Rows = field(default_factory=list)
    types: Rows = field(default_factory=list)
    assertions: Rows = field(default_factory=list)
    withdrawals: Rows = field(default_factory=list)
    displaced: list[int] = field(default_factory=list)
    placements: Rows = field(default_factory=list)
    stakes: Rows = field(default_factory=list)
    triples: Rows = field(default_factory=list)
    embeddings: Rows = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    deleted: list[int] = field(default_factory=list)
    facts: dict[int, dict[str, Any]] = field(default_factory=dict)

    def next(self) -> int:
        """The namespace's next number; of entities, assertions, triples and versions alike."""
        self.sequence += 1
        return self.sequence

    def send(self, ask: Statements) -> None:
        if any(self._lists().values()):
            ask(WRITE, **self._values())
            self._clear()

    def send_outcome(
        self, ask: Statements, turn: str, mentions: list[int], vectors: Rows, *, lease: str | None, cost: Cost
    ) -> Applied:
        given = {"turn": turn, "mentions": mentions, "vectors": vectors, "lease": lease}
        row = ask.one(WRITE_OUTCOME, **self._values(), **given, cost=list(astuple(cost)) if cost != Cost() else None)
        self._clear()
        return Applied.LAST if row is not None and row[0] else Applied.MORE

    def _values(self) -> dict[str, Any]:
        whole = {"namespace": self.namespace, "stamp": self.stamp, "sequence": self.sequence}
        return {**whole, **self._lists(), "facts": list(self.facts.values())}

    def _lists(self) -> dict[str, Any]:
        names = (each.name for each in fields(self) if each.name not in ("namespace", "stamp", "sequence"))
        return {name: getattr(self, name) for name in names}

    def _clear(self) -> None:
        for rows in self._lists().values():
            rows.clear()
