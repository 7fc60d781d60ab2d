"""A namespace out of the database as records, and into it (stores/records.py says what they are).

`dump` reads page after page inside one transaction that holds the namespace's lock, since reads of Neo4j see no
snapshot: its writers wait meanwhile.

`load` writes batch after batch, each a transaction, since one that held all would be limited by memory. Until the last
one the namespace's node carries `loading`, a digest of the records so far, and no other verb may see the namespace
(`require_whole`): it appears whole or not at all. A load that was cut off goes on where it stopped when the same
records come again; `erase` takes back what is there of one that nobody finishes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import numpy as np

from memgraph_server.errors import Conflict, NotFound
from memgraph_server.memory.facts import Intent, Polarity, Stratum
from memgraph_server.memory.interval import Basis, Precision
from memgraph_server.memory.proposals import triple_text
from memgraph_server.memory.turns import Role, Turn, TurnState
from memgraph_server.stores.names import normalized_name
from memgraph_server.stores.neo4j_store import claims, turns
from memgraph_server.stores.neo4j_store.claims import SAID, Placed
from memgraph_server.stores.neo4j_store.connection import Connection, Query, Row, Statements, being_loaded
from memgraph_server.stores.neo4j_store.entities import MERGE, STAND
from memgraph_server.stores.neo4j_store.keys import TRIPLES
from memgraph_server.stores.neo4j_store.names import indexable
from memgraph_server.stores.neo4j_store.pending import Pending
from memgraph_server.stores.records import (
    AssertionRecord,
    CardinalityRecord,
    EntityRecord,
    FactRecord,
    Header,
    JobRecord,
    MergeRecord,
    Placing,
    Record,
    StoredVector,
    TripleRecord,
    TurnRecord,
    TurnVector,
    Withdrawal,
    fields_of,
    to_line,
)
from memgraph_server.stores.vectors import Floats, from_int8, sign_bits

#: Records read or written together.
BATCH = 500

# -- out

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
    RETURN e.number, e.id, e.name, e.type, e.recorded_at ORDER BY e.number LIMIT $limit""",
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
        MATCH (t:Turn) WHERE t.namespace = $namespace AND t.handle > $after RETURN t ORDER BY t.handle LIMIT $limit
    }
    RETURN t.handle, t.id, t.session, t.position, t.role, t.speaker, t.text, t.at, t.utc_offset_minutes, t.recorded_at,
        t.state, t.attempts, t.captions, t.reason, t.due_at, COLLECT {
            MATCH (t)-[:MENTIONS]->(e:Entity) RETURN e.id ORDER BY e.number
        },
        CASE WHEN t.embedder <> '' THEN [t.embedder, t.pooled, t.embedding, t.token_bits, t.pieces] END
    ORDER BY t.handle""",
)
TRIPLES_OUT = Query(
    "write out triples",
    """
    CALL () {
        MATCH (r:Triple) WHERE r.namespace = $namespace AND r.number > $after RETURN r ORDER BY r.number LIMIT $limit
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
        RETURN a ORDER BY a.number LIMIT $limit
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
    ORDER BY f.version LIMIT $limit""",
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
        MATCH (j:Job) WHERE j.namespace = $namespace AND j.id > $after RETURN j ORDER BY j.id LIMIT $limit
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
        yield Header(namespace, row[0], {kind: counts[kind] for kind in _ORDER})
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


_ORDER = ("entity", "merge", "turn", "triple", "assertion", "fact", "cardinality", "job")


def _pages(ask: Statements, query: Query, namespace: str, start: int | str = -1) -> Iterator[Row]:
    """Rows of a query whose first column is what it goes on after."""
    while rows := ask(query, namespace=namespace, after=start, limit=BATCH):
        yield from rows
        start = rows[-1][0]


def _turn(row: Row) -> TurnRecord:
    _, identifier, session, position, role, speaker, text, at, offset, recorded_at, state, *rest = row
    attempts, captions, reason, due_at, mentions, vector = rest
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


# -- in

BEGIN = Query(
    "begin to load a namespace, or see how far it is",
    """
    MERGE (n:Namespace {name: $namespace})
    ON CREATE SET n.loading = $digest, n.loaded = 0, n.recorded_at = $recorded_at, n.sequence = 0, n.turns = 0,
        n.terms = 0
    SET n.locked = true
    RETURN n.loading, n.loaded""",
)
GO_ON = Query(
    "lock a namespace that is loaded",
    """
    MATCH (n:Namespace {name: $namespace}) SET n.locked = true
    RETURN n.loading, n.loaded, n.sequence, n.turns""",
)
NOTE = Query(
    "note how far a namespace is loaded",
    "MATCH (n:Namespace {name: $namespace}) SET n.loading = $digest, n.loaded = $loaded, n.sequence = $sequence",
)
COMPLETE = Query(
    "end the loading of a namespace: its sessions are due, and it can be seen",
    """
    MATCH (n:Namespace {name: $namespace})
    CALL () {
        MATCH (p:Turn) WHERE p.namespace = $namespace AND p.state = 'pending' AND p.handle >= 0
        WITH DISTINCT p.session AS session
        MATCH (s:Session {namespace: $namespace, id: session})
        CALL (s) {
            MATCH (f:Turn) WHERE f.namespace = $namespace AND f.session = s.id AND f.state = 'pending'
                AND f.position >= 0
            RETURN f.due_at AS due_at ORDER BY f.position LIMIT 1
        }
        SET s.due_at = due_at
    }
    REMOVE n.loading, n.loaded""",
)
NAMED = Query(
    "entities by id",
    """
    UNWIND $ids AS id
    MATCH (e:Entity {namespace: $namespace, id: id}) RETURN e.id, e.number, e.name""",
)
UNDONE_MERGE = Query(
    "record a merge that was undone",
    """
    MATCH (e:Entity {namespace: $namespace, number: $entity})
    WITH e
    MATCH (i:Entity {namespace: $namespace, number: $into})
    CREATE (e)-[:MERGED_INTO {namespace: $namespace, recorded_from: $stamp, recorded_to: $until}]->(i)""",
)
STANDS = Query("who stands for an entity", "MATCH (e:Entity {namespace: $namespace, number: $entity}) RETURN e.stands")
MET = Query(
    "what turns that are loaded will meet",
    """
    CALL () {
        UNWIND $sessions AS id MATCH (s:Session {namespace: $namespace, id: id})
        RETURN collect([s.id, s.turns, s.last, s.speakers]) AS sessions
    }
    CALL () {
        UNWIND $terms AS term MATCH (t:Term {namespace: $namespace, term: term})
        RETURN collect([t.term, t.documents]) AS documents
    }
    RETURN sessions, documents""",
)
STORE = Query(
    "load turns with their postings, places in their sessions, mentions and vectors",
    f"""
    MATCH (n:Namespace {{name: $namespace}})
    SET n.turns = n.turns + size($turns), n.terms = n.terms + $length
    WITH n
    CALL () {{
        UNWIND $sessions AS row
        MERGE (s:Session {{namespace: $namespace, id: row.id}}) ON CREATE SET s.leases = 0
        SET s.turns = row.turns, s.last = row.last, s.speakers = row.speakers
    }}
    {turns.STORE_PARTS}
    CALL () {{
        UNWIND $mentions AS pair
        MATCH (t:Turn {{namespace: $namespace, handle: pair[0]}})
        WITH t, pair
        MATCH (e:Entity {{namespace: $namespace, number: pair[1]}})
        CREATE (t)-[:MENTIONS {{namespace: $namespace}}]->(e)
    }}
    CALL () {{
        UNWIND $embeddings AS row MATCH (t:Turn {{namespace: $namespace, handle: row.handle}})
        CALL db.create.setNodeVectorProperty(t, 'embedding', row.embedding)
    }}""",
)
CARDINALITIES_IN = Query("load cardinalities", "UNWIND $rows AS row CREATE (c:Cardinality) SET c = row")
HANDLES = Query(
    "handles of a job's turns",
    "UNWIND $turns AS id MATCH (t:Turn {namespace: $namespace, id: id}) RETURN t.id, t.handle",
)
JOBS_IN = Query("load jobs", "UNWIND $rows AS row CREATE (j:Job) SET j = row")


@dataclass(slots=True)
class Loading:
    """The load of one namespace, by one caller."""

    connection: Connection
    namespace: str
    antonym: Callable[[str], str | None]

    def load(self, header: Header, records: Iterator[Record]) -> bool:
        """False where the namespace is there already. `records`: with the header first."""
        digest, count = hashlib.sha256(), 0
        loading, loaded = self.connection.writing(lambda ask: self._begin(ask, header))
        if loading is None:
            return False
        while count < loaded:
            digest.update(to_line(next(records)))
            count += 1
        if loaded and digest.hexdigest() != loading:
            raise Conflict(
                f"an import of other records into {self.namespace!r} was cut off; erase the namespace first",
                field="namespace",
            )
        if not loaded:
            digest.update(to_line(next(records)))
            count = 1
            self._commit((loading, 0), (digest.hexdigest(), count), lambda _: None)
        for batch in _batches(records):
            before = (digest.hexdigest(), count)
            for record in batch:
                digest.update(to_line(record))
            count += len(batch)
            self._commit(before, (digest.hexdigest(), count), lambda writing, part=batch: writing.load(part))  # type: ignore[misc]
        self.connection.writing(lambda ask: ask(COMPLETE, namespace=self.namespace))
        return True

    def _begin(self, ask: Statements, header: Header) -> Row:
        values = {"namespace": self.namespace, "recorded_at": header.recorded_at, "digest": ""}
        row = ask.one(BEGIN, **values)
        assert row is not None  # noqa: S101  MERGE has one
        return row

    def _commit(self, before: tuple[str, int], after: tuple[str, int], write: Callable[[_Writing], None]) -> None:
        def work(ask: Statements) -> None:
            row = ask.one(GO_ON, namespace=self.namespace)
            if row is not None and (row[0], row[1]) == after:
                return  # committed before, by a try whose answer was lost
            if row is None or (row[0], row[1]) != before:
                raise Conflict(f"another import into {self.namespace!r} is under way", field="namespace")
            writing = _Writing(ask, self.namespace, self.antonym, row[2], row[3])
            write(writing)
            digest, loaded = after
            values = {"namespace": self.namespace, "digest": digest, "loaded": loaded}
            ask(NOTE, **values, sequence=writing.pending.sequence)

        self.connection.writing(work)


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Records of one kind."""
    for _, group in groupby(records, lambda record: record.kind):
        while batch := list(islice(group, BATCH)):
            yield batch


class _Writing:
    """One batch, inside its transaction."""

    def __init__(
        self, ask: Statements, namespace: str, antonym: Callable[[str], str | None], sequence: int, count: int
    ) -> None:
        self.ask, self.namespace, self.antonym, self.count = ask, namespace, antonym, count
        self.pending = Pending(namespace, 0, sequence)
        self.entities: dict[str, tuple[int, str]] = {}

    def load(self, batch: Sequence[Any]) -> None:
        getattr(self, f"load_{batch[0].kind}")(batch)
        self.pending.send(self.ask)

    def load_entity(self, batch: Sequence[EntityRecord]) -> None:
        for each in batch:
            number = self.pending.next()
            row = {"namespace": self.namespace, "number": number, "id": each.id, "name": each.name, "type": each.type}
            row |= {"normalized": indexable(normalized_name(each.name)), "stands": number}
            self.pending.entities.append(row | {"recorded_at": each.recorded_at})

    def load_merge(self, batch: Sequence[MergeRecord]) -> None:
        self._know(end for each in batch for end in (each.entity, each.into))
        for each in batch:
            entity, into = self.entities[each.entity][0], self.entities[each.into][0]
            values = {"namespace": self.namespace, "entity": entity, "into": into, "stamp": each.recorded_from}
            if each.recorded_to is not None:
                self.ask(UNDONE_MERGE, **values, until=each.recorded_to)
                continue
            self.ask(MERGE, **values)
            ((stands,),) = self.ask(STANDS, namespace=self.namespace, entity=into)
            self.ask(STAND, namespace=self.namespace, entity=entity, stands=stands)

    def load_turn(self, batch: Sequence[TurnRecord]) -> None:
        self._know(entity for each in batch for entity in each.mentions)
        prepared = turns.prepare([_as_turn(each) for each in batch])
        handles = {each.id: self.count + place for place, each in enumerate(batch, 1)}
        met = self.ask.one(
            MET,
            namespace=self.namespace,
            sessions=list(dict.fromkeys(each.session for each in batch)),
            terms=list({term for each in prepared for term in each.counts}),
        )
        assert met is not None  # noqa: S101  of collected lists there is one row
        rows = turns.Rows(self.namespace, 0, handles, {row[0]: row for row in met[0]})
        self.ask(
            STORE,
            namespace=self.namespace,
            length=sum(each.length for each in prepared),
            turns=[rows.turn(one) | _read_state(each) for one, each in zip(prepared, batch, strict=True)],
            sessions=rows.sessions(),
            follows=rows.follows,
            mentions=[[handles[each.id], self.entities[entity][0]] for each in batch for entity in each.mentions],
            embeddings=[
                {"handle": handles[each.id], "embedding": _embedding(each.vector).tolist()}
                for each in batch
                if each.vector is not None
            ],
            **turns.postings(prepared, handles, dict(met[1])),
        )

    def load_triple(self, batch: Sequence[TripleRecord]) -> None:
        self._know(end for each in batch for end in (each.head, each.tail))
        for each in batch:
            number, text = self.pending.next(), self._text(each.head, each.relation, each.tail)
            row = {"namespace": self.namespace, "number": number, "relation": each.relation, "text": text}
            row |= {"head": self._number(each.head), "tail": self._number(each.tail)}
            self.pending.triples.append(row | {"key": indexable(text), "embedder": ""})
            if each.vector is not None:
                vector = {"embedder": each.vector.embedder, "pooled": each.vector.pooled}
                self.pending.embeddings.append(
                    {"number": number, **vector, "embedding": _embedding(each.vector).tolist()}
                )

    def load_assertion(self, batch: Sequence[AssertionRecord]) -> None:
        placed = [(each, placing) for each in batch for placing in each.placed]
        ends = [end for each in batch for end in (each.head, each.tail)]
        ends += [end for _, placing in placed for end in (placing.head, placing.tail)]
        self._know(end for end in ends if end is not None)
        triples = self._triples((placing.head, each.relation, placing.tail) for each, placing in placed)
        for each in batch:
            number = self.pending.next()
            self.pending.assertions.append(self._assertion(number, each))
            if each.withdrawn is not None:
                row = {"namespace": self.namespace, "assertion": number, "reason": each.withdrawn.reason}
                self.pending.withdrawals.append(row | {"recorded_at": each.withdrawn.at})
            for placing in each.placed:
                self._place(number, each, placing, triples)

    def _assertion(self, number: int, record: AssertionRecord) -> dict[str, Any]:
        start, end = record.span or (None, None)
        row = {"namespace": self.namespace, "number": number, "id": record.id, "recorded_at": record.recorded_at}
        row |= {"head": self._number(record.head), "tail": self._number(record.tail)}
        return {**row, "span_start": start, "span_end": end, **dict(zip(SAID, fields_of(record, SAID), strict=True))}

    def _place(
        self, number: int, record: AssertionRecord, placing: Placing, triples: dict[tuple[int, str, int], int]
    ) -> None:
        placed = self._placed(number, record, placing)
        claim = placed.is_claim and placed.tail is not None
        triple = triples[placed.head, placed.relation, placed.tail or 0] if claim else None
        row = claims.placement_row(self.namespace, placed, triple, placing.recorded_from)
        if placing.recorded_to is not None:
            self.pending.placements.append(row | {"current": False, "recorded_to": placing.recorded_to})
            return
        self.pending.placements.append(row)
        tail = None if placing.tail is None else (placing.tail, self.entities[placing.tail][1])
        self.pending.stakes += claims.stake_rows(
            placed,
            self.antonym(placed.relation),
            namespace=self.namespace,
            tail=tail,
            triple=triple,
            at=placing.recorded_from,
        )

    def _placed(self, number: int, record: AssertionRecord, placing: Placing) -> Placed:
        return Placed(
            number,
            record.id,
            self.entities[placing.head][0],
            record.relation,
            self._number(placing.tail),
            record.valid_from,
            record.valid_to,
            record.evidence_at,
            record.confidence,
            record.polarity.value,
            record.ongoing,
            record.intent.value,
            record.turn_id,
        )

    def load_fact(self, batch: Sequence[FactRecord]) -> None:
        self._know(end for each in batch for end in (each.head, each.tail))
        triples = self._triples((each.head, each.relation, each.tail) for each in batch)
        names = ("id", "relation", "stratum", "valid_from", "valid_to", "confidence", "intent", "recorded_from")
        for each in batch:
            head, tail = self.entities[each.head][0], self.entities[each.tail][0]
            version = self.pending.next()
            row: dict[str, Any] = {"namespace": self.namespace, "version": version, "head": head, "tail": tail}
            row |= {
                "triple": triples[head, each.relation, tail],
                "text": self._text(each.head, each.relation, each.tail),
            }
            row |= dict(zip(names, fields_of(each, names), strict=True))
            until = (
                {"current": True} if each.recorded_to is None else {"current": False, "recorded_to": each.recorded_to}
            )
            self.pending.facts[version] = row | until

    def load_cardinality(self, batch: Sequence[CardinalityRecord]) -> None:
        names = ("relation", "single", "reason", "recorded_from", "recorded_to")
        rows = [dict(zip(names, fields_of(each, names), strict=True)) for each in batch]
        whole = [row | {"namespace": self.namespace, "current": row["recorded_to"] is None} for row in rows]
        self.ask(CARDINALITIES_IN, namespace=self.namespace, rows=whole)

    def load_job(self, batch: Sequence[JobRecord]) -> None:
        wanted = list({turn for each in batch for turn in each.turns})
        handles = self.ask.pairs(HANDLES, namespace=self.namespace, turns=wanted)
        rows = [
            {"namespace": self.namespace, "id": each.id, "key": each.key, "created_at": each.created_at,
             "turns": [handles[turn] for turn in each.turns]}
            for each in batch
        ]  # fmt: skip
        self.ask(JOBS_IN, namespace=self.namespace, rows=rows)

    # -- parts

    def _know(self, ids: Iterable[str]) -> None:
        rows = self.ask(NAMED, namespace=self.namespace, ids=list(dict.fromkeys(ids)))
        self.entities |= {identifier: (number, name) for identifier, number, name in rows}

    def _number(self, entity: str | None) -> int | None:
        return None if entity is None else self.entities[entity][0]

    def _text(self, head: str, relation: str, tail: str) -> str:
        return triple_text(self.entities[head][1], relation, self.entities[tail][1])

    def _triples(self, ends: Iterable[tuple[str, str, str | None]]) -> dict[tuple[int, str, int], int]:
        wanted = {
            (self.entities[head][0], relation, self.entities[tail][0])
            for head, relation, tail in ends
            if tail is not None
        }
        rows = self.ask(TRIPLES, namespace=self.namespace, triples=[list(each) for each in wanted])
        return {(head, relation, tail): number for head, relation, tail, number, _ in rows}


def _as_turn(record: TurnRecord) -> Turn:
    return Turn(
        record.id,
        record.session,
        record.role,
        record.speaker,
        record.text,
        record.at,
        record.utc_offset_minutes,
        record.captions,
    )


def _read_state(record: TurnRecord) -> dict[str, Any]:
    """What a turn that was just stored has not yet."""
    row: dict[str, Any] = {"recorded_at": record.recorded_at, "state": record.state.value}
    row |= {"attempts": record.attempts, "reason": record.reason, "due_at": record.due_at or record.recorded_at}
    if record.vector is None:
        return row
    vector = record.vector
    row |= {"embedder": vector.embedder, "pooled": vector.pooled, "token_bits": vector.tokens}
    return row | {"pieces": list(vector.pieces)}


def _embedding(vector: StoredVector) -> Floats:
    """What was quantized, to within half a scale and with the very signs it had."""
    (scale,) = np.frombuffer(vector.pooled[:4], dtype="<f4")
    values = from_int8(vector.pooled[4:], float(scale))
    positive = np.unpackbits(np.frombuffer(vector.bits, dtype=np.uint8)).astype(bool)
    small = np.where(positive, np.float32(scale / 4), np.float32(-scale / 4))
    return np.where(values == 0, small, values).astype(np.float32)
