"""Records of a namespace into the database (stores/records.py says what they are); `dumping.py` gives them.

`load` writes batch after batch, each a transaction, since one that held all would be limited by memory. Until the last
one the namespace's node carries `loading`, a digest of the records so far, and no other verb may see the namespace
(`require_whole`): it appears whole or not at all. A load that was cut off goes on where it stopped when the same
records come again; `erase` takes back what is there of one that nobody finishes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import groupby, islice
from typing import Any

import numpy as np

from memgraph_server.errors import Conflict
from memgraph_server.memory.proposals import triple_text
from memgraph_server.stores.names import normalized_name
from memgraph_server.stores.neo4j_store import claims, turns
from memgraph_server.stores.neo4j_store.claims import SAID, Placed
from memgraph_server.stores.neo4j_store.connection import Connection, Query, Row, Statements, being_loaded
from memgraph_server.stores.neo4j_store.entities import MERGE, STAND
from memgraph_server.stores.neo4j_store.keys import TRIPLES
from memgraph_server.stores.neo4j_store.names import indexable
from memgraph_server.stores.neo4j_store.pending import Pending
from memgraph_server.stores.prepared import prepare
from memgraph_server.stores.records import (
    BATCH,
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
    fields_of,
    to_line,
)
from memgraph_server.stores.vectors import Floats, from_int8

BEGIN = Query(
    "begin to load a namespace, or see how far it is",
    """
    MERGE (n:Namespace {name: $namespace})
    ON CREATE SET n.loading = $digest, n.loaded = 0, n.recorded_at = $recorded_at, n.sequence = 0, n.turns = 0,
        n.terms = 0
    SET n.locked = true
    WITH n WHERE n.recorded_at IS NOT NULL
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
            RETURN f.due_at AS due_at ORDER BY f.namespace, f.session, f.state, f.position LIMIT 1
        }
        SET s.due_at = due_at
    }
    REMOVE n.loading, n.loaded""",
)
NAMED = Query(
    "entities by id",
    """
    UNWIND $ids AS id
    MATCH (e:Entity {namespace: $namespace, id: id}) RETURN collect([e.id, e.number, e.name])""",
    listed=True,
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
    "UNWIND $turns AS id MATCH (t:Turn {namespace: $namespace, id: id}) RETURN collect([t.id, t.handle])",
    listed=True,
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
        if row is None:  # erased while its lock was waited for
            raise being_loaded(self.namespace)
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
        prepared = prepare([each.turn() for each in batch])
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


def _read_state(record: TurnRecord) -> dict[str, Any]:
    """What a turn that was just stored has not yet."""
    row: dict[str, Any] = {"recorded_at": record.recorded_at, "state": record.state.value}
    row |= {"attempts": record.attempts, "reason": record.reason, "due_at": record.due_at or record.recorded_at}
    if record.cost is not None:
        row["cost"] = list(astuple(record.cost))
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
