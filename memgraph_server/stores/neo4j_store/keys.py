"""What a transaction knows of keys `(head, relation)`: slices read from the database, and its own changes to them.

A key of ordinary size is held whole (a multi-valued one: the tails that are touched), so that revisions are answered
from memory, by the requests' own definition (memory/answers.py). One of more than SMALL assertions is not read: it is
*large*, and asked about where it lies.

Whoever loads has sent what was decided before, so that the database and this agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memgraph_server.memory.answers import KeyInMemory
from memgraph_server.memory.belief import as_endings
from memgraph_server.memory.facts import Assertion, Fact, Intent, Polarity, Stratum
from memgraph_server.memory.revision import SMALL
from memgraph_server.stores.neo4j_store.connection import Query, Row, Statements
from memgraph_server.stores.stakes import ANY_TAIL, ENDING

_MOST = 2**62

STAKE = """[s.id, s.tail, s.tail_id, s.tail_name, s.triple, s.valid_from, s.evidence_at, s.recorded_at, s.valid_to,
    s.confidence, s.intent, s.claim, s.ongoing, s.turn_id, s.kind]"""
FACT = """[f.id, f.version, f.tail, t.id, t.name, f.triple, f.stratum, f.valid_from, f.valid_to, f.confidence,
    f.intent, f.recorded_from, f.recorded_to]"""

#: For rows `slice` of head, relation and ranges of tails: the stakes and, where these are not too many, the facts.
SLICE = f"""
    CALL (slice) {{
        CALL (slice) {{
            UNWIND slice.ranges AS span
            MATCH (s:Stake) WHERE s.namespace = $namespace AND s.head = slice.head AND s.relation = slice.relation
                AND s.first = true AND s.tail >= span[0] AND s.tail <= span[1]
            RETURN s LIMIT $most
        }}
        RETURN collect({STAKE}) AS stakes
    }}
    CALL (slice, stakes) {{
        UNWIND CASE WHEN size(stakes) < $most THEN slice.ranges ELSE [] END AS span
        MATCH ()-[f:FACT]->(t) WHERE f.namespace = $namespace AND f.current = true AND f.head = slice.head
            AND f.relation = slice.relation AND f.tail >= span[0] AND f.tail <= span[1]
        RETURN collect({FACT}) AS facts
    }}"""

SLICES = Query(
    "slices of keys",
    f"""
    UNWIND $slices AS slice
    {SLICE}
    RETURN slice.head, slice.relation, slice.tail, stakes, facts""",
)
TRIPLES = Query(
    "triples by their ends",
    """
    UNWIND $triples AS ends
    MATCH (t:Triple {namespace: $namespace, head: ends[0], relation: ends[1], tail: ends[2]})
    RETURN collect([t.head, t.relation, t.tail, t.number, t.embedder <> ''])""",
    listed=True,
)
TRIPLE_VECTOR = Query(
    "a triple's vector",
    """
    MATCH (t:Triple {namespace: $namespace, head: $head, relation: $relation, tail: $tail})
    WHERE t.embedding IS NOT NULL RETURN t.embedder, t.pooled, t.embedding""",
)
ENTITIES = Query(
    "entities by number",
    """
    UNWIND $numbers AS number
    MATCH (e:Entity {namespace: $namespace, number: number}) RETURN collect([e.number, e.id, e.name])""",
    listed=True,
)


@dataclass(frozen=True, slots=True)
class Scope:
    """A key's part that a revision looks at: one tail of a multi-valued relation, or all of it (None)."""

    head: int
    relation: str
    tail: int | None

    def row(self) -> dict[str, Any]:
        tails = [] if self.tail is None else sorted({ANY_TAIL, self.tail})
        ranges = [[tail, tail] for tail in tails] or [[ANY_TAIL, _MOST]]
        return {"head": self.head, "relation": self.relation, "tail": self.tail, "ranges": ranges}


@dataclass(slots=True)
class _Key:
    """`loaded`: tails that are here, None where all of them are. `large`: scopes' tails that are too many to read."""

    assertions: defaultdict[str | None, dict[str, Assertion]] = field(default_factory=lambda: defaultdict(dict))
    facts: defaultdict[str, dict[int, Fact]] = field(default_factory=lambda: defaultdict(dict))
    loaded: set[int | None] = field(default_factory=set)
    large: set[int | None] = field(default_factory=set)


@dataclass(slots=True)
class Keys:
    ids: dict[int, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    #: Number, and whether it has a vector (None: not known).
    triples: dict[tuple[int, str, int], tuple[int, bool | None]] = field(default_factory=dict)
    #: Looked for under the lock, and not there.
    absent: set[tuple[int, str, int]] = field(default_factory=set)
    _new: set[int] = field(default_factory=set)
    _keys: dict[tuple[int, str], _Key] = field(default_factory=dict)

    # -- entities and triples

    def know(self, number: int, identifier: str, name: str, *, new: bool = False) -> None:
        """`new`: made by this transaction, so that nothing was ever said of it."""
        self.ids[number], self.names[number], self.numbers[identifier] = identifier, name, number
        if new:
            self._new.add(number)

    def know_all(self, ask: Statements, namespace: str, numbers: Iterable[int]) -> None:
        wanted = sorted(set(numbers) - self.ids.keys())
        if wanted:
            for number, identifier, name in ask(ENTITIES, namespace=namespace, numbers=wanted):
                self.know(number, identifier, name)

    def triple(
        self, ask: Statements, namespace: str, ends: tuple[int, str, int], *, with_vector: bool
    ) -> tuple[int, bool | None] | None:
        """Number and whether it is embedded; None where there is none. `with_vector`: the latter must be known."""
        known = self.triples.get(ends)
        settled = known is not None and not (with_vector and known[1] is None)
        if settled or self._new & {ends[0], ends[2]} or (known is None and ends in self.absent):
            return known
        self.find_triples(ask, namespace, [ends])
        return self.triples.get(ends)

    def find_triples(self, ask: Statements, namespace: str, wanted: Sequence[tuple[int, str, int]]) -> None:
        if wanted:
            rows = [list(ends) for ends in dict.fromkeys(wanted)]
            for head, relation, tail, number, embedded in ask(TRIPLES, namespace=namespace, triples=rows):
                self.triples[head, relation, tail] = (number, embedded)

    def vector_of(self, ask: Statements, namespace: str, ends: tuple[int, str, int]) -> dict[str, Any] | None:
        row = ask.one(TRIPLE_VECTOR, namespace=namespace, head=ends[0], relation=ends[1], tail=ends[2])
        return None if row is None else dict(zip(("embedder", "pooled", "embedding"), row, strict=True))

    # -- slices

    def load(self, ask: Statements, namespace: str, scopes: Sequence[Scope], *, limited: bool) -> None:
        """`limited`: up to SMALL assertions each, else however many."""
        wanted = [scope.row() for scope in dict.fromkeys(scopes) if scope.head not in self._new]
        most = SMALL + 1 if limited else _MOST
        for row in ask(SLICES, namespace=namespace, slices=wanted, most=most) if wanted else ():
            self.take(row, most)

    def take(self, row: Row, most: int) -> None:
        """A row of SLICES."""
        head, relation, tail, stakes, facts = row
        key = self._keys.setdefault((head, relation), _Key())
        if len(stakes) >= most:
            key.large.add(tail)
            return
        if tail is None:
            key = self._keys[head, relation] = _Key()
        key.loaded.add(tail)
        key.loaded.add(ANY_TAIL)
        for each in stakes:
            assertion = self.read_stake(head, relation, each)
            key.assertions[assertion.tail][assertion.id] = assertion
        for each in facts:
            fact = self.read_fact(head, relation, each)
            key.facts[fact.tail][fact.version] = fact

    def has(self, scope: Scope, *, whole: bool) -> bool:
        """Whether a revision within the scope can go on. `whole`: only with all of the key in memory."""
        key = self._key(scope)
        if None in key.loaded:
            return True
        if scope.tail is None:
            return not whole and None in key.large
        there = key.loaded | key.large
        return scope.tail in there or (scope.tail in self._new and ANY_TAIL in there)

    def is_large(self, scope: Scope) -> bool:
        key = self._key(scope)
        return None not in key.loaded and scope.tail in key.large

    def in_memory(self, scope: Scope) -> KeyInMemory:
        key = self._key(scope)
        if scope.tail is None:
            said = [each for of_tail in key.assertions.values() for each in of_tail.values()]
            return KeyInMemory(said, [fact for of_tail in key.facts.values() for fact in of_tail.values()])
        tail = self.ids[scope.tail]
        said = [*key.assertions[None].values(), *key.assertions[tail].values()]
        return KeyInMemory(said, list(key.facts[tail].values()))

    def change(self, scope: Scope, assertion: Assertion, *, present: bool) -> None:
        of_tail = self._key(scope).assertions[assertion.tail]
        if present:
            of_tail[assertion.id] = assertion
        else:
            of_tail.pop(assertion.id, None)

    def add(self, fact: Fact) -> None:
        self._of(fact)[fact.version] = fact

    def drop(self, fact: Fact) -> None:
        self._of(fact).pop(fact.version, None)

    def _of(self, fact: Fact) -> dict[int, Fact]:
        return self._key(Scope(self.numbers[fact.head], fact.relation, None)).facts[fact.tail]

    def _key(self, scope: Scope) -> _Key:
        place = (scope.head, scope.relation)
        if place not in self._keys:
            self._keys[place] = _Key(loaded={None} if scope.head in self._new else set())
        return self._keys[place]

    # -- rows

    def read_stake(self, head: int, relation: str, row: Row) -> Assertion:
        """As it counts in the key: under its present head and tail, and as an ending where it is the antonym's."""
        identifier, tail, tail_id, tail_name, triple, start, evidence, recorded, end, *rest = row
        confidence, intent, claim, ongoing, turn, kind = rest
        if tail != ANY_TAIL:
            self.know(tail, tail_id, tail_name)
        if triple is not None and kind != ENDING:
            self.triples.setdefault((head, relation, tail), (triple, None))
        assertion = Assertion(
            identifier,
            self.ids[head],
            relation,
            tail_id,
            start,
            evidence,
            recorded,
            end,
            confidence,
            Intent(intent),
            Polarity.CLAIM if claim else Polarity.ENDING,
            ongoing,
            turn,
        )
        return as_endings((assertion,), relation)[0] if claim and kind == ENDING else assertion

    def read_fact(self, head: int, relation: str, row: Row) -> Fact:
        identifier, version, tail, tail_id, tail_name, triple, stratum, *held = row
        start, end, confidence, intent, since, until = held
        self.know(tail, tail_id, tail_name)
        self.triples.setdefault((head, relation, tail), (triple, None))
        return Fact(
            identifier,
            version,
            self.ids[head],
            relation,
            tail_id,
            Stratum(stratum),
            start,
            end,
            confidence,
            Intent(intent),
            since,
            until,
        )
