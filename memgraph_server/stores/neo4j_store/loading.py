"""The first statement of a write: the namespace's lock, the recorded instant, and all that the write will ask.

The namespace's node is locked before anything else is read, so that what is read stays true until the commit. Names are
resolved and the slices of the keys they lead to are read by the same statement: a turn's reads are one round trip.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.revision import SMALL
from memgraph_server.stores import identity
from memgraph_server.stores.names import normalized_name
from memgraph_server.stores.neo4j_store import claims
from memgraph_server.stores.neo4j_store.connection import Query, Row, Statements, being_loaded
from memgraph_server.stores.neo4j_store.entities import Named
from memgraph_server.stores.neo4j_store.keys import SLICE, Keys
from memgraph_server.stores.neo4j_store.names import indexable
from memgraph_server.stores.relation_table import RelationTable, is_single

#: Locks the namespace's node, made where it is new; gives the write its instant: max(now, last + 1 µs). A node that was
#: erased while the lock was waited for has no properties any more, and nothing may be written under it.
_LOCK = """
    MERGE (n:Namespace {name: $namespace})
    ON CREATE SET n.recorded_at = $now - 1, n.sequence = 0, n.turns = 0, n.terms = 0
    SET n.locked = true
    WITH n WHERE n.loading IS NULL AND n.recorded_at IS NOT NULL
    SET n.recorded_at = CASE WHEN n.recorded_at < $now THEN $now ELSE n.recorded_at + 1 END
    WITH n"""

WHOLE = Query("whether a namespace is being loaded", "MATCH (n:Namespace {name: $namespace}) RETURN n.loading IS NULL")
LOAD = Query(
    "lock a namespace and read what a write needs",
    f"""
    {_LOCK}
    CALL () {{
        UNWIND $names AS name
        CALL (name) {{
            MATCH (e:Entity {{namespace: $namespace, normalized: name}}) RETURN e, e.stands AS stands
        }}
        CALL (stands) {{
            MATCH (s:Entity {{namespace: $namespace, number: stands}}) RETURN s
        }}
        RETURN collect([e.normalized, e.number, e.type, s.number, s.id, s.name]) AS names
    }}
    CALL () {{
        UNWIND $assertions AS id
        MATCH (a:Assertion {{namespace: $namespace, id: id}}) RETURN collect(properties(a)) AS assertions
    }}
    CALL () {{
        MATCH (c:Cardinality)
        WHERE c.namespace = $namespace AND c.current = true AND c.relation IS NOT NULL
        RETURN collect([c.relation, c.single]) AS cardinalities
    }}
    CALL () {{
        UNWIND $keys AS key
        CALL (key) {{
            MATCH (h:Entity {{namespace: $namespace, normalized: key.head}}) RETURN h.stands AS head
        }}
        CALL (key) {{
            MATCH (t:Entity {{namespace: $namespace, normalized: key.tail}}) RETURN t.stands AS tail
        }}
        CALL (key, head, tail) {{
            MATCH (r:Triple {{namespace: $namespace, head: head, relation: key.relation, tail: tail}}) RETURN r
        }}
        RETURN collect([r.head, r.relation, r.tail, r.number, r.embedder <> '']) AS triples
    }}
    CALL () {{
        UNWIND $keys AS key
        MATCH (h:Entity {{namespace: $namespace, normalized: key.head}})
        OPTIONAL MATCH (t:Entity {{namespace: $namespace, normalized: key.tail}})
        OPTIONAL MATCH (c:Cardinality {{namespace: $namespace, current: true, relation: key.relation}})
        WITH key, h.stands AS head, coalesce(t.stands, 0) AS tail, coalesce(c.single, key.single) AS single
        WITH DISTINCT CASE
            WHEN single THEN {{head: head, relation: key.relation, tail: null, ranges: [[0, $any]]}}
            WHEN tail = 0 THEN {{head: head, relation: key.relation, tail: tail, ranges: [[0, 0]]}}
            ELSE {{head: head, relation: key.relation, tail: tail, ranges: [[0, 0], [tail, tail]]}}
        END AS slice
        {SLICE}
        RETURN collect([slice.head, slice.relation, slice.tail, stakes, facts]) AS slices
    }}
    OPTIONAL CALL () {{
        MATCH (t:Turn {{namespace: $namespace, id: $turn}})
        WITH t
        MATCH (s:Session {{namespace: $namespace, id: t.session}})
        RETURN t.state AS state, s.lease_token AS token
    }}
    RETURN n.recorded_at, n.sequence, names, assertions, cardinalities, triples, slices, state, token""",
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was found. `names`: by normalized name; `state`: of the turn asked for, None where there is none."""

    namespace: str
    stamp: Instant
    sequence: int
    names: dict[str, Named]
    assertions: dict[str, tuple[object, ...]]
    cardinalities: dict[str, bool]
    keys: Keys = field(default_factory=Keys)
    state: str | None = None
    token: str | None = None


def require_whole(ask: Statements, namespace: str) -> bool:
    """Whether it exists. Raises StoreUnavailable while it is being loaded."""
    row = ask.one(WHOLE, namespace=namespace)
    if row is not None and not row[0]:
        raise being_loaded(namespace)
    return row is not None


def load(
    ask: Statements,
    namespace: str,
    now: Instant,
    relations: RelationTable,
    proposals: Sequence[Proposal] = (),
    *,
    mentions: Iterable[str] = (),
    turn: str | None = None,
) -> Loaded:
    said = [name for name, _ in claims.names(proposals)] + list(mentions)
    keys = {indexable(key): key for key in map(normalized_name, said)}
    ids = [identity.assertion_id(namespace, proposal) for proposal in proposals]
    wanted = [row for proposal in proposals for row in _keys(proposal, relations)]
    values: dict[str, Any] = {"namespace": namespace, "now": now, "turn": turn, "names": list(keys)}
    values |= {"assertions": list(dict.fromkeys(ids)), "keys": wanted, "most": SMALL + 1, "any": 2**62}
    row = ask.one(LOAD, **values)
    if row is None:
        raise being_loaded(namespace)
    loaded = _loaded(namespace, keys, row)
    loaded.keys.absent |= _ends(loaded, keys, wanted) - loaded.keys.triples.keys()
    return loaded


def _ends(loaded: Loaded, keys: dict[str, str], wanted: Sequence[dict[str, Any]]) -> set[tuple[int, str, int]]:
    """Triples that were looked for: those between entities that are there."""
    stands = {key: loaded.names[name].stands for key, name in keys.items() if name in loaded.names}
    return {
        (stands[row["head"]], row["relation"], stands[row["tail"]])
        for row in wanted
        if row["head"] in stands and row["tail"] in stands
    }


def _keys(proposal: Proposal, relations: RelationTable) -> Iterable[dict[str, Any]]:
    """The key of a proposal, and its antonym's where a claim ends that."""
    tail = None if proposal.tail is None else indexable(normalized_name(proposal.tail))
    names = [proposal.relation, relations.antonym(proposal.relation) if proposal.polarity == "claim" else None]
    for relation in names:
        if relation is not None:
            row = {"head": indexable(normalized_name(proposal.head)), "relation": relation, "tail": tail}
            yield {**row, "single": is_single(relations, relation)}


def _loaded(namespace: str, keys: dict[str, str], row: Row) -> Loaded:
    stamp, sequence, names, assertions, cardinalities, triples, slices, state, token = row
    named = {keys[key]: Named(number, kind, stands) for key, number, kind, stands, _, _ in names}
    known = {each["id"]: claims.stored_content(each) for each in assertions}
    loaded = Loaded(namespace, stamp, sequence, named, known, dict(cardinalities), state=state, token=token)
    for _, _, _, number, identifier, name in names:
        loaded.keys.know(number, identifier, name)
    for head, relation, tail, number, embedded in triples:
        loaded.keys.triples[head, relation, tail] = (number, embedded)
    for each in slices:
        loaded.keys.take(each, SMALL + 1)
    return loaded
