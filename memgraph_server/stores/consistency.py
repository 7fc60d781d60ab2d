"""Whether records are a whole and consistent memory: asked before the first of them is written anywhere.

Each record alone is checked where its line is read (records.py). Here is what needs the ones before it: the format's
version, order and counts, ids that come twice, references to what does not exist, intervals that end before they
begin, positions with gaps, merges in a circle. Of what came before, ids are held in memory: about a hundred bytes each.
Whether facts follow from assertions is not asked: a memory is moved as it was believed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import singledispatchmethod

from memgraph_server.memory.facts import Polarity
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.turns import TurnState
from memgraph_server.stores.names import normalized_name
from memgraph_server.stores.records import (
    FORMAT,
    KINDS,
    VERSION,
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
    usable_vector,
    wrong,
)


def consistent(records: Iterable[Record]) -> Iterator[Record]:
    """The same records, one a line. Raises InvalidInput with the line's number and the field, at the end too."""
    section: _Section | None = None
    names: set[str] = set()
    number = 0
    for number, record in enumerate(records, 1):
        if isinstance(record, Header):
            if section is not None:
                section.end(number)
            section = _Section(_header(record, names, number))
        elif section is None:
            raise wrong(number, "kind", "a file begins with the record of a namespace")
        else:
            section.take(record, number)
        yield record
    if section is None:
        raise wrong(1, "record", "there is nothing in the file")
    section.end(number + 1)


def _header(header: Header, names: set[str], number: int) -> Header:
    if header.format != FORMAT:
        raise wrong(number, "format", f"must be {FORMAT!r}, as memgraph-server export writes it")
    if header.version != VERSION:
        raise wrong(number, "version", f"is {header.version}; this program reads {VERSION}: use the one that wrote it")
    if header.namespace in names:
        raise wrong(number, "namespace", f"{header.namespace!r} comes twice")
    for kind in header.counts:
        if kind not in KINDS:
            raise wrong(number, f"counts.{kind}", "is no kind of record")
    names.add(header.namespace)
    return header


class _Fault(Exception):
    """A field, and what is wrong with it."""


@dataclass(slots=True)
class _Section:
    header: Header
    seen: Counter[str] = field(default_factory=Counter)
    entities: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    merged: dict[str, str] = field(default_factory=dict)
    turns: set[str] = field(default_factory=set)
    positions: Counter[str] = field(default_factory=Counter)
    triples: set[tuple[str, str, str]] = field(default_factory=set)
    assertions: set[str] = field(default_factory=set)
    jobs: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    single: set[str] = field(default_factory=set)
    last: int = 0

    def take(self, record: Record, number: int) -> None:
        place = KINDS.index(record.kind)
        if place < self.last:
            raise wrong(number, "kind", f"{record.kind} comes after {KINDS[self.last]}; keep the order of the export")
        self.last = place
        self.seen[record.kind] += 1
        if self.seen[record.kind] > self.header.counts.get(record.kind, 0):
            raise wrong(number, "kind", f"the namespace's record counts fewer of the kind {record.kind}")
        try:
            self.check(record)
        except _Fault as fault:
            place_of_fault, why = fault.args
            raise wrong(number, place_of_fault, why) from None

    def end(self, number: int) -> None:
        for kind, count in self.header.counts.items():
            if self.seen[kind] != count:
                raise wrong(number, "counts", f"{count} of the kind {kind} were to come, {self.seen[kind]} are there")

    @singledispatchmethod
    def check(self, record: Record) -> None:
        raise NotImplementedError

    @check.register
    def _entity(self, record: EntityRecord) -> None:
        _new(self.entities, record.id, "id")
        _new(self.names, normalized_name(record.name), "name")
        self._recorded(record.recorded_at, "recorded_at")

    @check.register
    def _merge(self, record: MergeRecord) -> None:
        self._entities(entity=record.entity, into=record.into)
        self._span(record.recorded_from, record.recorded_to, "recorded_to")
        self._recorded(record.recorded_from, "recorded_from")
        if record.recorded_to is not None:
            return
        top = record.into
        while top in self.merged:
            top = self.merged[top]
        if record.entity in self.merged or top == record.entity:
            raise _Fault("into", "an entity is merged twice, or into itself")
        self.merged[record.entity] = record.into

    @check.register
    def _turn(self, record: TurnRecord) -> None:
        _new(self.turns, record.id, "id")
        if record.position != self.positions[record.session]:
            raise _Fault("position", f"must be {self.positions[record.session]}, the session's next")
        self.positions[record.session] += 1
        self._recorded(record.recorded_at, "recorded_at")
        if (record.due_at is None) == (record.state is TurnState.PENDING):
            raise _Fault("due_at", "belongs to pending turns, and to each of them")
        for entity in record.mentions:
            self._entities(mentions=entity)
        if len(set(record.mentions)) != len(record.mentions):
            raise _Fault("mentions", "an entity comes twice")
        _vector(record.vector)

    @check.register
    def _triple(self, record: TripleRecord) -> None:
        self._entities(head=record.head, tail=record.tail)
        ends = (record.head, record.relation, record.tail)
        if ends in self.triples:
            raise _Fault("tail", "the triple comes twice")
        self.triples.add(ends)
        _vector(record.vector)

    @check.register
    def _assertion(self, record: AssertionRecord) -> None:
        _new(self.assertions, record.id, "id")
        self._entities(head=record.head, tail=record.tail)
        self._recorded(record.recorded_at, "recorded_at")
        self._span(record.valid_from, record.valid_to, "valid_to")
        if record.tail is None and record.polarity is Polarity.CLAIM:
            raise _Fault("tail", "a claim needs one")
        counting = [each for each in record.placed if each.recorded_to is None]
        if len(counting) > (0 if record.withdrawn else 1):
            raise _Fault("placed", "it counts in more places than it can")
        for each in record.placed:
            self._placing(record, each)

    def _placing(self, record: AssertionRecord, placing: Placing) -> None:
        self._entities(placed=placing.head)
        self._entities(placed=placing.tail)
        self._span(placing.recorded_from, placing.recorded_to, "placed")
        if (placing.tail is None) != (record.tail is None):
            raise _Fault("placed", "it has a tail where the assertion has one, and only there")
        if record.polarity is Polarity.CLAIM and placing.tail is not None:
            self._known_triple(placing.head, record.relation, placing.tail, "placed")

    @check.register
    def _fact(self, record: FactRecord) -> None:
        self._known_triple(record.head, record.relation, record.tail, "tail")
        self._span(record.valid_from, record.valid_to, "valid_to")
        self._span(record.recorded_from, record.recorded_to, "recorded_to")
        self._recorded(record.recorded_to or record.recorded_from, "recorded_from")

    @check.register
    def _cardinality(self, record: CardinalityRecord) -> None:
        self._span(record.recorded_from, record.recorded_to, "recorded_to")
        self._recorded(record.recorded_from, "recorded_from")
        if record.recorded_to is None:
            _new(self.single, record.relation, "relation")

    @check.register
    def _job(self, record: JobRecord) -> None:
        _new(self.jobs, record.id, "id")
        if record.key is not None:
            _new(self.keys, record.key, "key")
        for turn in record.turns:
            if turn not in self.turns:
                raise _Fault("turns", f"there is no turn {turn!r}")

    def _entities(self, **ends: str | None) -> None:
        for place, entity in ends.items():
            if entity is not None and entity not in self.entities:
                raise _Fault(place, f"there is no entity {entity!r}")

    def _known_triple(self, head: str, relation: str, tail: str, place: str) -> None:
        if (head, relation, tail) not in self.triples:
            raise _Fault(place, "there is no such triple")

    def _recorded(self, at: Instant, place: str) -> None:
        if at > self.header.recorded_at:
            raise _Fault(place, "is later than the clock of the namespace")

    def _span(self, start: Instant, end: Instant | None, place: str) -> None:
        if end is not None and end <= start:
            raise _Fault(place, "must be later than the beginning")


def _new(known: set[str], each: str, place: str) -> None:
    if each in known:
        raise _Fault(place, f"{each!r} comes twice")
    known.add(each)


def _vector(vector: StoredVector | None) -> None:
    why = None if vector is None else usable_vector(vector)
    if why is not None:
        raise _Fault("vector", why)
