"""Writes to what is claimed, and with it, in the same transaction, to what is believed.

Belief itself is decided by memory/revision.py; this hands it what it asks for (answers.py) and writes the versions it
returns: closed ones get their recorded_to, once; new ones a version number. A version that was opened and closed at one
recorded instant was never visible, and is not kept.

An assertion touches its own key and, where its relation has an antonym, that one's key; nothing else. A merge moves the
placements of one entity and derives the keys that gained or lost one anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from memgraph_server.errors import NotFound
from memgraph_server.memory.belief import as_endings
from memgraph_server.memory.facts import Assertion, Fact, Intent, Polarity
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.memory.requests import Key, Slice
from memgraph_server.memory.revision import NewFact, Revision, rederive, revise
from memgraph_server.stores.checks import check_proposal
from memgraph_server.stores.identity import assertion_id, content
from memgraph_server.stores.names import normalized_name
from memgraph_server.stores.port import Floats, TurnVectors
from memgraph_server.stores.quantized import Space
from memgraph_server.stores.relation_table import RelationTable, is_single
from memgraph_server.stores.sqlite import assertions, entities
from memgraph_server.stores.sqlite.answers import Answers
from memgraph_server.stores.sqlite.entities import Named
from memgraph_server.stores.sqlite.vectors import StoredSpace, stored_space, write_triple_vector, write_turn_vectors
from memgraph_server.stores.stakes import Placed

#: (name, type) pairs.
Names: TypeAlias = Sequence[tuple[str, str]]


@dataclass(slots=True)
class Beliefs:
    """The beliefs of one namespace inside one write transaction, recorded at `stamp`."""

    connection: sqlite3.Connection
    namespace: int
    name: str
    stamp: Instant
    relations: RelationTable
    space: Space
    answers: Answers = field(init=False)
    _single: dict[str, bool] = field(default_factory=dict)
    _standing: dict[int, tuple[str, str]] = field(default_factory=dict)  # id and name by handle
    _stored_space: StoredSpace | None = None

    def __post_init__(self) -> None:
        self.answers = Answers(self.connection, self.namespace)

    # -- claims

    def assert_all(
        self, proposals: Sequence[Proposal], vectors: Mapping[str, Floats], *, turn: int = 0, mentions: Names = ()
    ) -> list[str]:
        """Ids in order. `mentions`: names and types that the turn names, whether or not it says anything of them.
        Raises InvalidInput, Conflict."""
        for proposal in proposals:
            check_proposal(proposal)
        place = (self.namespace, self.name)
        said = entities.ensure_entities(self.connection, place, [*_names(proposals), *mentions], self.stamp)
        self._standing |= {one.handle: (one.id, one.name) for one in said.values()}
        handles = {said[normalized_name(name)].handle for name, _ in mentions}
        query = "INSERT OR IGNORE INTO mention (namespace, entity, turn) VALUES (?, ?, ?)"
        self.connection.executemany(query, ((self.namespace, handle, turn) for handle in sorted(handles)))
        return [self._assert_one(proposal, said, vectors) for proposal in proposals]

    def _assert_one(self, proposal: Proposal, said: Mapping[str, Named], vectors: Mapping[str, Floats]) -> str:
        """Its id, also where the very same is known already."""
        identifier = assertion_id(self.name, proposal)
        head = said[normalized_name(proposal.head)]
        tail = None if proposal.tail is None else said[normalized_name(proposal.tail)]
        given = content(proposal, head.handle, None if tail is None else tail.handle)
        handle = assertions.write(self.connection, self.namespace, identifier, given, self.stamp)
        if handle is None:
            return identifier
        placed = Placed(
            handle,
            identifier,
            head.stands,
            proposal.relation,
            None if tail is None else tail.stands,
            proposal.valid_from,
            proposal.valid_to,
            proposal.evidence_at,
            proposal.confidence,
            proposal.polarity.value,
            proposal.ongoing,
        )
        if placed.is_claim and placed.tail is not None and proposal.tail is not None:
            vector = vectors.get(triple_text(proposal.head, proposal.relation, proposal.tail))
            self.triple(placed.head, placed.relation, placed.tail, vector)
        self._place(placed)
        self._revise(placed, self._as_counted(placed, proposal.intent, proposal.turn_id), present=True)
        return identifier

    def embed(self, turn: int, vectors: TurnVectors | None) -> None:
        if vectors is not None:
            write_turn_vectors(self.connection, self.namespace, turn, vectors, self.stored_space)

    @property
    def stored_space(self) -> StoredSpace:
        if self._stored_space is None:
            self._stored_space = stored_space(self.connection, self.space)
        return self._stored_space

    def withdraw(self, wanted: Iterable[int], reason: str) -> list[str]:
        """Withdraw these assertions as of now; ids of those that were not withdrawn before."""
        done = []
        for handle in wanted:
            if not assertions.withdraw(self.connection, self.namespace, handle, reason, self.stamp):
                continue
            for placed in assertions.placed_now(self.connection, self.namespace, "p.assertion = ?", (handle,)):
                query = "SELECT intent, turn_id FROM assertion WHERE handle = ?"
                intent, turn_id = self.connection.execute(query, (handle,)).fetchone()
                counted = self._as_counted(placed, Intent(intent), turn_id)
                self._displace(placed)
                self._revise(placed, counted, present=False)
                done.append(placed.id)
        return done

    def _place(self, placed: Placed) -> None:
        antonym = self.relations.antonym(placed.relation)
        assertions.place(self.connection, self.namespace, placed, antonym, self.stamp)

    def _displace(self, placed: Placed) -> None:
        antonym = self.relations.antonym(placed.relation)
        assertions.displace(self.connection, self.namespace, placed, antonym, self.stamp)

    def _as_counted(self, placed: Placed, intent: Intent, turn_id: str | None) -> Assertion:
        """The assertion as belief sees it: under the ids of the entities that stand for those it named."""
        return Assertion(
            placed.id,
            self._public(placed.head),
            placed.relation,
            None if placed.tail is None else self._public(placed.tail),
            placed.valid_from,
            placed.evidence_at,
            self.stamp,
            placed.valid_to,
            placed.confidence,
            intent,
            Polarity(placed.polarity),
            placed.ongoing,
            turn_id,
        )

    def _public(self, handle: int) -> str:
        identifier = self._id_and_name(handle)[0]
        self.answers.handles[identifier] = handle
        return identifier

    def _id_and_name(self, handle: int) -> tuple[str, str]:
        known = self._standing.get(handle)
        if known is None:
            query = "SELECT id, name FROM entity WHERE handle = ?"
            known = self._standing[handle] = self.connection.execute(query, (handle,)).fetchone()
        return known

    # -- facts

    def _revise(self, placed: Placed, counted: Assertion, *, present: bool) -> None:
        single = self.single(placed.relation)
        self._write(self.answers.revise(revise(counted, present=present, single=single)))
        antonym = self.relations.antonym(placed.relation)
        if antonym is not None and placed.is_claim:
            (ending,) = as_endings((counted,), antonym)
            self._write(self.answers.revise(revise(ending, present=present, single=self.single(antonym))))

    def derive_anew(self, keys: Iterable[tuple[int, str]]) -> None:
        """Whole keys, after a merge or a change of cardinality."""
        for head, relation in sorted(set(keys)):
            key = Key(self._public(head), relation)
            sliced = self.answers.answer(Slice(key, None, None))
            self._write(rederive(sliced.assertions, sliced.facts, single=self.single(relation)))

    def _write(self, revision: Revision) -> None:
        for fact in revision.close:
            self._close(fact)
        for new in revision.open:
            self._open(new)

    def _close(self, fact: Fact) -> None:
        if fact.recorded_from == self.stamp:
            self.connection.execute("DELETE FROM fact WHERE version = ?", (fact.version,))
        else:
            query = "UPDATE fact SET recorded_to = ? WHERE version = ? AND recorded_to IS NULL"
            self.connection.execute(query, (self.stamp, fact.version))

    def _open(self, new: NewFact) -> None:
        head, tail = self.answers.handle(new.head), self.answers.handle(new.tail)
        triple = self.triple(head, new.relation, tail, None)
        query = """
            INSERT INTO fact (namespace, id, triple, head, relation, tail, stratum, valid_from, valid_to, confidence,
                intent, recorded_from)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
        self.answers.unbelieved.discard(triple)
        place = (self.namespace, new.id, triple, head, new.relation, tail, new.stratum.value)
        held = (new.valid_from, new.valid_to, new.confidence, new.intent.value, self.stamp)
        self.connection.execute(query, (*place, *held))

    def triple(self, head: int, relation: str, tail: int, vector: Floats | None) -> int:
        """Its number, made where it is new; a vector is written where it has none yet."""
        ends = (head, relation, tail)
        number, new = self.answers.triples.get(ends), False
        if number is None:
            number, new = self._ensure_triple(ends)
        if vector is not None and (new or not self._embedded(number)):
            place = (number, head, tail)
            write_triple_vector(self.connection, self.namespace, place, vector, self.stored_space)
        return number

    def _ensure_triple(self, ends: tuple[int, str, int]) -> tuple[int, bool]:
        """Its number, and whether it is new, which most are."""
        head, relation, tail = ends
        text = triple_text(self._id_and_name(head)[1], relation, self._id_and_name(tail)[1])
        query = """
            INSERT INTO triple (namespace, head, relation, tail, text) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (namespace, head, relation, tail) DO NOTHING"""
        cursor = self.connection.execute(query, (self.namespace, *ends, text))
        if cursor.rowcount == 0 or cursor.lastrowid is None:
            return self.answers.triple(ends), False
        self.answers.triples[ends] = cursor.lastrowid
        self.answers.unbelieved.add(cursor.lastrowid)
        return cursor.lastrowid, True

    def _embedded(self, triple: int) -> bool:
        query = "SELECT 1 FROM triple_vector WHERE namespace = ? AND triple = ?"
        return self.connection.execute(query, (self.namespace, triple)).fetchone() is not None

    # -- cardinality

    def single(self, relation: str) -> bool:
        """Whether the relation holds one value at a time: as recorded for the namespace, else as the table says."""
        if relation not in self._single:
            recorded = cardinalities(self.connection, self.namespace, relation)
            self._single[relation] = recorded.get(relation, is_single(self.relations, relation))
        return self._single[relation]

    def set_cardinality(self, relation: str, single: bool | None, reason: str) -> None:
        if cardinalities(self.connection, self.namespace, relation).get(relation) == single:
            return
        where = "namespace = ? AND relation = ? AND recorded_to IS NULL"
        query = f"UPDATE cardinality SET recorded_to = ? WHERE {where}"  # noqa: S608  constants only
        self.connection.execute(query, (self.stamp, self.namespace, relation))
        if single is not None:
            query = """
                INSERT INTO cardinality (namespace, relation, single, reason, recorded_from) VALUES (?, ?, ?, ?, ?)"""
            self.connection.execute(query, (self.namespace, relation, int(single), reason, self.stamp))
        self._single.pop(relation, None)
        query = "SELECT DISTINCT head FROM placement WHERE namespace = ? AND relation = ? AND recorded_to IS NULL"
        heads = self.connection.execute(query, (self.namespace, relation)).fetchall()
        self.derive_anew((head, relation) for (head,) in heads)

    # -- merges

    def merge(self, entity: int, into: int) -> None:
        entities.record_merge(self.connection, self.namespace, entity, into, self.stamp)
        self._follow_merges(entity)

    def unmerge(self, entity: int) -> None:
        before = entities.canonical(self.connection, self.namespace, [entity])[entity]
        entities.undo_merge(self.connection, self.namespace, entity, self.stamp)
        self._follow_merges(before)

    def _follow_merges(self, moved: int) -> None:
        """Place anew what counts under `moved` and belongs to another entity now."""
        where = "(p.head = ? OR p.tail = ?)"
        touched: set[tuple[int, str]] = set()
        for placed in assertions.placed_now(self.connection, self.namespace, where, (moved, moved)):
            touched |= self._placed_anew(placed)
        self.derive_anew(touched)

    def _placed_anew(self, placed: Placed) -> set[tuple[int, str]]:
        """Keys that gained or lost the assertion."""
        query = "SELECT head, tail FROM assertion WHERE handle = ?"
        head, tail = self.connection.execute(query, (placed.assertion,)).fetchone()
        said = [head] if tail is None else [head, tail]
        stands = entities.canonical(self.connection, self.namespace, said)
        new = _moved(placed, stands[head], None if tail is None else stands[tail])
        if new == placed:
            return set()
        self._displace(placed)
        self._place(new)
        if new.is_claim and placed.tail is not None and new.tail is not None:
            self._copy_vector((placed.head, placed.tail), (new.head, new.tail), new.relation)
        keys = {(placed.head, placed.relation), (new.head, new.relation)}
        antonym = self.relations.antonym(placed.relation)
        return keys | {(head, antonym) for head, _ in keys if antonym is not None}

    def _copy_vector(self, old: tuple[int, int], new: tuple[int, int], relation: str) -> None:
        """A triple under its new name keeps the old one's vector: they differ by a name only."""
        number = self.triple(new[0], relation, new[1], None)
        query = """
            INSERT OR IGNORE INTO triple_vector (namespace, triple, head, tail, embedder, pooled, bits)
            SELECT v.namespace, ?, ?, ?, v.embedder, v.pooled, v.bits
            FROM triple t JOIN triple_vector v ON v.namespace = t.namespace AND v.triple = t.number
            WHERE t.namespace = ? AND t.head = ? AND t.relation = ? AND t.tail = ?"""
        self.connection.execute(query, (number, *new, self.namespace, old[0], relation, old[1]))


def cardinalities(connection: sqlite3.Connection, namespace: int, relation: str | None = None) -> dict[str, bool]:
    """As recorded for the namespace (of one relation, if given)."""
    query = """
        SELECT relation, single FROM cardinality
        WHERE namespace = ? AND relation = coalesce(?, relation) AND recorded_to IS NULL"""
    return {name: bool(single) for name, single in connection.execute(query, (namespace, relation))}


def supporters(connection: sqlite3.Connection, namespace: int, fact_id: str) -> list[int]:
    """Handles of the assertions that support the current fact. Raises NotFound."""
    query = """
        SELECT head, relation, tail, stratum, valid_from, valid_to FROM fact
        WHERE namespace = ? AND id = ? AND recorded_to IS NULL"""
    row = connection.execute(query, (namespace, fact_id)).fetchone()
    if row is None:
        raise NotFound(f"there is no fact {fact_id!r} that is believed now")
    head, relation, tail, stratum, start, end = row
    query = """
        SELECT s.assertion FROM stake s WHERE s.namespace = ? AND s.head = ? AND s.relation = ? AND s.tail = ?
        AND s.kind > 0 AND s.anchor = s.valid_from AND s.assertive = ? AND (? IS NULL OR s.valid_from < ?)
        AND (s.valid_to IS NULL OR s.valid_to > ?) ORDER BY s.assertion"""
    values = (namespace, head, relation, tail, int(stratum == "stable"), end, end, start)
    return [handle for (handle,) in connection.execute(query, values)]


def _names(proposals: Sequence[Proposal]) -> list[tuple[str, str]]:
    heads = [(proposal.head, proposal.head_type) for proposal in proposals]
    return heads + [(proposal.tail, proposal.tail_type) for proposal in proposals if proposal.tail is not None]


def _moved(placed: Placed, head: int, tail: int | None) -> Placed:
    return Placed(
        placed.assertion,
        placed.id,
        head,
        placed.relation,
        tail,
        placed.valid_from,
        placed.valid_to,
        placed.evidence_at,
        placed.confidence,
        placed.polarity,
        placed.ongoing,
    )
