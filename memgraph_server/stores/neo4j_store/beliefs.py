"""Writes to what is claimed, and with it, in the same transaction, to what is believed.

Belief itself is decided by memory/revision.py. What it asks of a key of ordinary size is answered from memory: the
slices of all keys that a call touches are read in its first statement, and its own changes are added to them here. The
rest (`answers.py`) is asked of the database, after what was decided so far is sent there.

One writer at a time changes a namespace: its node is locked by the first statement, which also gives the recorded
instant. That is what keeps two writers of one key from losing an update, makes one entity of one name, and keeps a past
read the same for ever: no write with an earlier instant can still be under way when a later one is committed.

An assertion touches its own key and, where its relation has an antonym, that one's key; nothing else. A merge moves the
placements of one entity and derives the keys that gained or lost one anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memgraph_server.memory.belief import as_endings
from memgraph_server.memory.facts import Assertion, Fact, Intent, Polarity
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.memory.revision import NewFact, Revision, rederive, revise
from memgraph_server.stores import identity
from memgraph_server.stores.names import normalized_name
from memgraph_server.stores.neo4j_store import claims, entities
from memgraph_server.stores.neo4j_store.answers import Answers
from memgraph_server.stores.neo4j_store.claims import Placed
from memgraph_server.stores.neo4j_store.connection import Query, Statements
from memgraph_server.stores.neo4j_store.keys import Keys, Scope
from memgraph_server.stores.neo4j_store.loading import Loaded
from memgraph_server.stores.neo4j_store.names import indexable
from memgraph_server.stores.neo4j_store.pending import Pending
from memgraph_server.stores.neo4j_store.vectors import embedding
from memgraph_server.stores.port import Floats
from memgraph_server.stores.quantized import Space
from memgraph_server.stores.relation_table import RelationTable, is_single

#: Keys whose slices are read by one statement, where a relation's or an entity's are derived anew.
_KEYS_AT_ONCE = 500

CLOSE_CARDINALITY = Query(
    "withdraw a recorded cardinality",
    """
    MATCH (c:Cardinality) WHERE c.namespace = $namespace AND c.current = true AND c.relation = $relation
    SET c.current = false, c.recorded_to = $stamp""",
)
RECORD_CARDINALITY = Query(
    "record a cardinality",
    """
    CREATE (c:Cardinality {namespace: $namespace, relation: $relation, single: $single, reason: $reason,
        recorded_from: $stamp, current: true})""",
)
HEADS = Query(
    "heads of a relation's keys",
    """
    MATCH (p:Placement) WHERE p.namespace = $namespace AND p.relation = $relation AND p.head >= 0
    WITH DISTINCT p.head AS head
    MATCH (e:Entity {namespace: $namespace, number: head}) RETURN e.number, e.id, e.name ORDER BY e.number""",
)


@dataclass(slots=True)
class Beliefs:
    """The beliefs of one namespace inside one write transaction."""

    ask: Statements
    loaded: Loaded
    relations: RelationTable
    space: Space
    pending: Pending = field(init=False)
    keys: Keys = field(init=False)
    answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        self.pending = Pending(self.namespace, self.stamp, self.loaded.sequence)
        self.keys = self.loaded.keys
        self.answers = Answers(self.ask, self.namespace, self.keys)

    @property
    def namespace(self) -> str:
        return self.loaded.namespace

    @property
    def stamp(self) -> Instant:
        return self.loaded.stamp

    def send(self) -> None:
        self.pending.send(self.ask)

    # -- claims

    def assert_all(self, proposals: Sequence[Proposal], vectors: Mapping[str, Floats]) -> list[str]:
        """Ids in order. Raises Conflict. The proposals were checked, and what they need is loaded."""
        self.name_all(claims.names(proposals))
        ids = [identity.assertion_id(self.namespace, proposal) for proposal in proposals]
        known = dict(self.loaded.assertions)
        fresh: list[tuple[str, Proposal]] = []
        for identifier, proposal in zip(ids, proposals, strict=True):
            given = identity.content(proposal, *self._said(proposal))
            if identifier in known:
                identity.require_same(identifier, known[identifier], given)
                continue
            known[identifier] = given
            fresh.append((identifier, proposal))
        for identifier, proposal in fresh:
            self._assert_one(identifier, proposal, vectors)
        return ids

    def name_all(self, named: Iterable[tuple[str, str]]) -> list[int]:
        """Numbers, as said, of entities by (name, type), made where new; a type fills an empty one."""
        numbers = []
        for name, kind in named:
            key = normalized_name(name)
            known = self.loaded.names.get(key)
            if known is None:
                known = self._create_entity(key, name.strip(), kind)
            elif kind and not known.type:
                self.pending.types.append({"number": known.number, "type": kind})
                self.loaded.names[key] = replace(known, type=kind)
            numbers.append(known.number)
        return numbers

    def _create_entity(self, key: str, name: str, kind: str) -> entities.Named:
        number = self.pending.next()
        identifier = identity.entity_id(self.namespace, key, self.stamp)
        row = {"namespace": self.namespace, "number": number, "id": identifier, "name": name, "type": kind}
        row |= {"normalized": indexable(key), "stands": number, "recorded_at": self.stamp}
        self.pending.entities.append(row)
        made = self.loaded.names[key] = entities.Named(number, kind, number)
        self.keys.know(number, identifier, name, new=True)
        return made

    def _said(self, proposal: Proposal) -> tuple[int, int | None]:
        names = self.loaded.names
        tail = None if proposal.tail is None else names[normalized_name(proposal.tail)].number
        return names[normalized_name(proposal.head)].number, tail

    def _stands(self, proposal: Proposal) -> tuple[int, int | None]:
        names = self.loaded.names
        tail = None if proposal.tail is None else names[normalized_name(proposal.tail)].stands
        return names[normalized_name(proposal.head)].stands, tail

    def _assert_one(self, identifier: str, proposal: Proposal, vectors: Mapping[str, Floats]) -> None:
        number = self.pending.next()
        said, stands = self._said(proposal), self._stands(proposal)
        self.pending.assertions.append(
            claims.assertion_row(self.namespace, (number, identifier), proposal, said=said, stamp=self.stamp)
        )
        placed = claims.placed(number, identifier, proposal, stands)
        triple = None
        if placed.is_claim and placed.tail is not None and proposal.tail is not None:
            vector = vectors.get(triple_text(proposal.head, proposal.relation, proposal.tail))
            triple = self.triple(placed.head, placed.relation, placed.tail, vector)
        self._place(placed, triple)
        self._revise(placed, present=True)

    def withdraw(self, wanted: Iterable[int], reason: str) -> list[str]:
        """Withdraw these assertions as of now; ids of those that were not withdrawn before."""
        placements = claims.placed_now(self.ask, self.namespace, list(wanted))
        self.keys.know_all(self.ask, self.namespace, claims.ends(placements))
        self._load({scope for placed in placements for scope in self._scopes(placed)})
        for placed in placements:
            row = {"namespace": self.namespace, "assertion": placed.assertion, "reason": reason}
            self.pending.withdrawals.append({**row, "recorded_at": self.stamp})
            self.pending.displaced.append(placed.assertion)
            self._revise(placed, present=False)
        return [placed.id for placed in placements]

    def _place(self, placed: Placed, triple: int | None) -> None:
        row = claims.placement_row(self.namespace, placed, triple, self.stamp)
        self.pending.placements.append(row)
        antonym = self.relations.antonym(placed.relation)
        tail = None if placed.tail is None else (self.keys.ids[placed.tail], self.keys.names[placed.tail])
        self.pending.stakes += claims.stake_rows(
            placed, antonym, namespace=self.namespace, tail=tail, triple=triple, at=self.stamp
        )

    def _as_counted(self, placed: Placed) -> Assertion:
        """The assertion as belief sees it: under the ids of the entities that stand for those it named."""
        return Assertion(
            placed.id,
            self.keys.ids[placed.head],
            placed.relation,
            None if placed.tail is None else self.keys.ids[placed.tail],
            placed.valid_from,
            placed.evidence_at,
            self.stamp,
            placed.valid_to,
            placed.confidence,
            Intent(placed.intent),
            Polarity(placed.polarity),
            placed.ongoing,
            placed.turn_id,
        )

    # -- facts

    def _revise(self, placed: Placed, *, present: bool) -> None:
        counted = self._as_counted(placed)
        self._revise_key(placed, counted, present=present)
        antonym = self.relations.antonym(placed.relation)
        if antonym is not None and placed.is_claim:
            (ending,) = as_endings((counted,), antonym)
            self._revise_key(replace(placed, relation=antonym), ending, present=present)

    def _revise_key(self, placed: Placed, counted: Assertion, *, present: bool) -> None:
        single = self.single(counted.relation)
        scope = Scope(placed.head, counted.relation, None if single else placed.tail)
        everything = not single and placed.tail is None
        if not self.keys.has(scope, whole=everything):
            self._load([scope], limited=not everything)
        self.keys.change(scope, counted, present=present)
        asking = revise(counted, present=present, single=single)
        if self.keys.is_large(scope):
            self.send()
            self._write(self.answers.revise(asking))
        else:
            self._write(self.keys.in_memory(scope).drive(asking))

    def _scopes(self, placed: Placed) -> list[Scope]:
        relations = [placed.relation, self.relations.antonym(placed.relation) if placed.is_claim else None]
        return [
            Scope(placed.head, relation, None if self.single(relation) else placed.tail)
            for relation in relations
            if relation is not None
        ]

    def _load(self, scopes: Iterable[Scope], *, limited: bool = True) -> None:
        self.send()
        self.keys.load(self.ask, self.namespace, list(scopes), limited=limited)

    def derive_anew(self, keys: Iterable[tuple[int, str]]) -> None:
        """Whole keys, after a merge or a change of cardinality. Their heads are known."""
        wanted = sorted(set(keys))
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            scopes = [Scope(head, relation, None) for head, relation in wanted[start : start + _KEYS_AT_ONCE]]
            self._load(scopes, limited=False)
            for scope in scopes:
                held = self.keys.in_memory(scope)
                self._write(rederive(held.assertions, held.facts, single=self.single(scope.relation)))

    def _write(self, revision: Revision) -> None:
        for fact in revision.close:
            self._close(fact)
        for new in revision.open:
            self._open(new)

    def _close(self, fact: Fact) -> None:
        """A version that was opened at this very instant was never visible, and is not kept."""
        self.keys.drop(fact)
        if self.pending.facts.pop(fact.version, None) is not None:
            return
        listed = self.pending.deleted if fact.recorded_from == self.stamp else self.pending.closed
        listed.append(fact.version)

    def _open(self, new: NewFact) -> None:
        head, tail = self.keys.numbers[new.head], self.keys.numbers[new.tail]
        triple = self.triple(head, new.relation, tail, None)
        version = self.pending.next()
        fact = Fact(
            new.id,
            version,
            new.head,
            new.relation,
            new.tail,
            new.stratum,
            new.valid_from,
            new.valid_to,
            new.confidence,
            new.intent,
            self.stamp,
        )
        self.keys.add(fact)
        text = triple_text(self.keys.names[head], new.relation, self.keys.names[tail])
        place = {"namespace": self.namespace, "id": new.id, "version": version, "triple": triple, "text": text}
        ends = {"head": head, "relation": new.relation, "tail": tail, "stratum": new.stratum.value}
        held = {"valid_from": new.valid_from, "valid_to": new.valid_to, "confidence": new.confidence}
        believed = {"intent": new.intent.value, "recorded_from": self.stamp, "current": True}
        self.pending.facts[version] = {**place, **ends, **held, **believed}

    def triple(self, head: int, relation: str, tail: int, vector: Floats | None) -> int:
        """Its number, made where it is new; a vector is written where it has none yet."""
        known = self.keys.triple(self.ask, self.namespace, (head, relation, tail), with_vector=vector is not None)
        if known is None:
            known = self.keys.triples[head, relation, tail] = (self._new_triple(head, relation, tail), False)
        number, embedded = known
        row = None if embedded else embedding(self.space, vector)
        if row is not None:
            self.pending.embeddings.append({"number": number, **row})
            self.keys.triples[head, relation, tail] = (number, True)
        return number

    def _new_triple(self, head: int, relation: str, tail: int) -> int:
        number = self.pending.next()
        text = triple_text(self.keys.names[head], relation, self.keys.names[tail])
        row = {"namespace": self.namespace, "number": number, "head": head, "relation": relation, "tail": tail}
        self.pending.triples.append({**row, "text": text, "key": indexable(text), "embedder": ""})
        return number

    # -- cardinality

    def single(self, relation: str) -> bool:
        """Whether the relation holds one value at a time: as recorded for the namespace, else as the table says."""
        recorded = self.loaded.cardinalities.get(relation)
        return is_single(self.relations, relation) if recorded is None else recorded

    def set_cardinality(self, relation: str, single: bool | None, reason: str) -> None:
        if self.loaded.cardinalities.get(relation) == single:
            return
        values = {"namespace": self.namespace, "relation": relation, "stamp": self.stamp}
        self.ask(CLOSE_CARDINALITY, **values)
        self.loaded.cardinalities.pop(relation, None)
        if single is not None:
            self.ask(RECORD_CARDINALITY, **values, single=single, reason=reason)
            self.loaded.cardinalities[relation] = single
        heads = self.ask(HEADS, namespace=self.namespace, relation=relation)
        for number, identifier, name in heads:
            self.keys.know(number, identifier, name)
        self.derive_anew((number, relation) for number, _, _ in heads)

    # -- merges

    def follow_merges(self, moved: int) -> None:
        """Place anew what counts under `moved` and belongs to another entity now."""
        touched: set[tuple[int, str]] = set()
        found = claims.placed_about(self.ask, self.namespace, moved)
        self.keys.know_all(self.ask, self.namespace, {end for row in found for end in row.ends()})
        self.keys.find_triples(self.ask, self.namespace, [triple for row in found for triple in row.triples()])
        for row in found:
            touched |= self._placed_anew(row.placed, row.moved())
        self.send()
        self.derive_anew(touched)

    def _placed_anew(self, placed: Placed, new: Placed) -> set[tuple[int, str]]:
        """Keys that gained or lost the assertion."""
        if new == placed:
            return set()
        triple = None
        if new.is_claim and placed.tail is not None and new.tail is not None:
            triple = self._copied((placed.head, placed.relation, placed.tail), (new.head, new.relation, new.tail))
        self.pending.displaced.append(placed.assertion)
        self._place(new, triple)
        keys = {(placed.head, placed.relation), (new.head, new.relation)}
        antonym = self.relations.antonym(placed.relation)
        return keys | {(head, antonym) for head, _ in keys if antonym is not None}

    def _copied(self, old: tuple[int, str, int], new: tuple[int, str, int]) -> int:
        """A triple under its new name keeps the old one's vector: they differ by a name only."""
        number = self.triple(*new, None)
        if not self.keys.triples[new][1]:
            row = self.keys.vector_of(self.ask, self.namespace, old)
            if row is not None:
                self.pending.embeddings.append({"number": number, **row})
                self.keys.triples[new] = (number, True)
        return number
