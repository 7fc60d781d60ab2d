"""Assertions: written once, placed under a key, and withdrawn (schema/neo4j/0003_beliefs.cypher): their rows and reads.

What an assertion's id is and which stakes it has are the embedded store's own rules, so that a memory that is moved
from one store to the other keeps its ids and its beliefs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memgraph_server.errors import NotFound
from memgraph_server.memory.facts import STABLE_THRESHOLD, Assertion, Intent, Polarity
from memgraph_server.memory.interval import Basis, Instant, Precision
from memgraph_server.memory.proposals import Proposal
from memgraph_server.stores import stakes
from memgraph_server.stores.neo4j_store.connection import Query, Statements
from memgraph_server.stores.neo4j_store.ranks import rank, support_rank
from memgraph_server.stores.port import AssertionView
from memgraph_server.stores.stakes import ENDING

SAID = (
    "relation",
    "valid_from",
    "valid_to",
    "evidence_at",
    "confidence",
    "intent",
    "polarity",
    "ongoing",
    "turn_id",
    "from_precision",
    "to_precision",
    "from_basis",
    "to_basis",
    "source",
)

_PLACED = """a.number, a.id, p.head, p.relation, p.tail, a.valid_from, a.valid_to, a.evidence_at, a.confidence,
    a.polarity, a.ongoing, a.intent, a.turn_id, p.triple"""

NUMBER = Query("an assertion by id", "MATCH (a:Assertion {namespace: $namespace, id: $id}) RETURN a.number")
PLACED = Query(
    "where assertions count now",
    f"""
    UNWIND $assertions AS number
    CALL (number) {{
        MATCH (p:Placement {{namespace: $namespace, assertion: number}}) WHERE p.current RETURN p
    }}
    CALL (number) {{
        MATCH (a:Assertion {{namespace: $namespace, number: number}}) RETURN a
    }}
    RETURN {_PLACED} ORDER BY a.number""",
)
PLACED_ABOUT = Query(
    "what counts under an entity now, and which entities stand now for those it named",
    f"""
    CALL () {{
        MATCH (p:Placement) WHERE p.namespace = $namespace AND p.head = $entity AND p.current = true RETURN p
        UNION
        MATCH (p:Placement) WHERE p.namespace = $namespace AND p.tail = $entity AND p.current = true RETURN p
    }}
    WITH p
    MATCH (a:Assertion {{namespace: $namespace, number: p.assertion}})
    WITH p, a
    MATCH (h:Entity {{namespace: $namespace, number: a.head}})
    OPTIONAL MATCH (t:Entity {{namespace: $namespace, number: a.tail}})
    RETURN {_PLACED}, h.stands, t.stands ORDER BY a.number""",
)
VIEW = Query(
    "an assertion as it was said",
    """
    MATCH (a:Assertion {namespace: $namespace, id: $id})
    WITH a
    MATCH (h:Entity {namespace: $namespace, number: a.head})
    OPTIONAL MATCH (t:Entity {namespace: $namespace, number: a.tail})
    OPTIONAL MATCH (w:Withdrawal {namespace: $namespace, assertion: a.number})
    RETURN properties(a), h.id, t.id, h.name, t.name, w.recorded_at, w.reason""",
)

CARDINALITIES = Query(
    "recorded cardinalities",
    """
    MATCH (c:Cardinality) WHERE c.namespace = $namespace AND c.current = true AND c.relation IS NOT NULL
    RETURN c.relation, c.single""",
)


@dataclass(frozen=True, slots=True)
class Placed(stakes.Placed):
    """With copies of what reads of supports ask."""

    intent: str
    turn_id: str | None
    triple: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A placement about an entity, and which entities stand now for the ends that its assertion named."""

    placed: Placed
    head: int
    tail: int | None

    def moved(self) -> Placed:
        if (self.head, self.tail) == (self.placed.head, self.placed.tail):
            return self.placed
        return replace(self.placed, head=self.head, tail=self.tail)

    def ends(self) -> list[int]:
        return [end for end in (self.placed.head, self.placed.tail, self.head, self.tail) if end is not None]

    def triples(self) -> list[tuple[int, str, int]]:
        if self.tail is None or self.placed.tail is None or not self.placed.is_claim:
            return []
        relation = self.placed.relation
        return [(self.placed.head, relation, self.placed.tail), (self.head, relation, self.tail)]


def names(proposals: Sequence[Proposal]) -> list[tuple[str, str]]:
    """(name, type) of all heads, then of all tails."""
    heads = [(proposal.head, proposal.head_type) for proposal in proposals]
    return heads + [(proposal.tail, proposal.tail_type) for proposal in proposals if proposal.tail is not None]


def assertion_row(
    namespace: str, new: tuple[int, str], proposal: Proposal, *, said: tuple[int, int | None], stamp: Instant
) -> dict[str, Any]:
    """`new`: its number and id. `said`: numbers of its head and tail, merges not followed."""
    number, identifier = new
    start, end = proposal.span or (None, None)
    row: dict[str, Any] = {"namespace": namespace, "number": number, "id": identifier, "recorded_at": stamp}
    row |= {"head": said[0], "tail": said[1], "span_start": start, "span_end": end}
    row |= {name: _plain(getattr(proposal, name)) for name in SAID}
    return row | {"confidence": float(proposal.confidence)}


def _plain(value: object) -> object:
    """The driver takes no enumeration for the text that it is."""
    return str(value) if isinstance(value, str) else value


def stored_content(row: dict[str, Any]) -> tuple[object, ...]:
    """Of an assertion's properties, what `content` is of a proposal."""
    said = (row.get(name) for name in SAID)
    return (row["head"], row.get("tail"), row.get("span_start"), row.get("span_end"), *said)


def placed(number: int, identifier: str, proposal: Proposal, stands: tuple[int, int | None]) -> Placed:
    return Placed(
        number,
        identifier,
        stands[0],
        proposal.relation,
        stands[1],
        proposal.valid_from,
        proposal.valid_to,
        proposal.evidence_at,
        float(proposal.confidence),
        proposal.polarity.value,
        proposal.ongoing,
        proposal.intent.value,
        proposal.turn_id,
    )


def placement_row(namespace: str, placed: Placed, triple: int | None, stamp: Instant) -> dict[str, Any]:
    """With copies of what reads of supports ask, which never changes."""
    row: dict[str, Any] = {"namespace": namespace, "assertion": placed.assertion, "id": placed.id, "triple": triple}
    row |= {"head": placed.head, "relation": placed.relation, "tail": placed.tail, "turn_id": placed.turn_id}
    row |= {"valid_from": placed.valid_from, "valid_to": placed.valid_to, "evidence_at": placed.evidence_at}
    row |= {"assertive": placed.confidence >= STABLE_THRESHOLD, "recorded_from": stamp, "current": True}
    return row


def stake_rows(
    placed: Placed,
    antonym: str | None,
    *,
    namespace: str,
    tail: tuple[str, str] | None,
    triple: int | None,
    at: Instant,
) -> list[dict[str, Any]]:
    """`tail`: its id and name. `at`: when the assertion was recorded, or placed anew."""
    whole: dict[str, Any] = {"namespace": namespace, "recorded_at": at, "turn_id": placed.turn_id}
    whole |= {"claim": placed.is_claim, "intent": placed.intent, "ongoing": placed.ongoing, "triple": triple}
    whole |= {"tail_id": tail[0], "tail_name": tail[1]} if tail is not None else {}
    return [{**whole, **_stake(stake)} for stake in stakes.stakes_of(placed, antonym)]


def _stake(stake: tuple[Any, ...]) -> dict[str, Any]:
    head, relation, tail, kind, assertive, anchor, evidence, confidence, identifier, number, start, end, second = stake
    row = {"head": head, "relation": relation, "tail": tail, "kind": kind, "assertive": bool(assertive)}
    row |= {"anchor": anchor, "evidence_at": evidence, "confidence": confidence, "id": identifier}
    row |= {"assertion": number, "valid_from": start, "valid_to": end, "second_at": second}
    row |= {"rank": rank((anchor, evidence, confidence, identifier)), "first": anchor == start}
    if anchor == start and kind != ENDING:
        row["support_rank"] = support_rank(confidence, start, evidence, identifier)
    return row


def number_of(ask: Statements, namespace: str, identifier: str) -> int:
    """Raises NotFound."""
    row = ask.one(NUMBER, namespace=namespace, id=identifier)
    if row is None:
        raise NotFound(f"there is no assertion {identifier!r}")
    return int(row[0])


def placed_now(ask: Statements, namespace: str, assertions: Sequence[int]) -> list[Placed]:
    """Those of them that count now."""
    return [Placed(*row) for row in ask(PLACED, namespace=namespace, assertions=list(assertions))]


def placed_about(ask: Statements, namespace: str, entity: int) -> list[Found]:
    rows = ask(PLACED_ABOUT, namespace=namespace, entity=entity)
    return [Found(Placed(*row[:-2]), row[-2], row[-1]) for row in rows]


def ends(placements: Iterable[Placed]) -> set[int]:
    return {end for each in placements for end in (each.head, each.tail) if end is not None}


def view(ask: Statements, namespace: str, identifier: str) -> AssertionView:
    row = ask.one(VIEW, namespace=namespace, id=identifier)
    if row is None:
        raise NotFound(f"there is no assertion {identifier!r}")
    said, head, tail, head_name, tail_name, withdrawn_at, because = row
    return AssertionView(_assertion(said, head, tail), head_name, tail_name, withdrawn_at, because)


def _assertion(row: dict[str, Any], head: str, tail: str | None) -> Assertion:
    said = {name: row.get(name) for name in SAID}
    said |= {
        "intent": Intent(row["intent"]),
        "polarity": Polarity(row["polarity"]),
        "from_precision": Precision(row["from_precision"]),
        "to_precision": Precision(row["to_precision"]),
        "from_basis": Basis(row["from_basis"]),
        "to_basis": Basis(row["to_basis"]),
        "span": None if "span_start" not in row else (row["span_start"], row["span_end"]),
    }
    parts: dict[str, Any] = {"id": row["id"], "head": head, "tail": tail, "recorded_at": row["recorded_at"], **said}
    return Assertion(**parts)


def cardinalities(ask: Statements, namespace: str) -> dict[str, bool]:
    return ask.pairs(CARDINALITIES, namespace=namespace)
