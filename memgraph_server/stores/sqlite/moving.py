# ruff: noqa: S608  queries are put together from constants of this file; values are bound
"""A namespace out of the file as records, and into it (stores/records.py says what they are).

`dump` reads one snapshot, some hundred rows at a time; of what has no index in the order of storing, the numbers alone
are sorted in memory. `load` is part of one transaction, so that a namespace appears whole or not at all.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from itertools import groupby, islice
from typing import Any

from memgraph_server.errors import InvalidInput
from memgraph_server.memory.facts import Intent, Polarity, Stratum
from memgraph_server.memory.interval import Basis, Precision
from memgraph_server.memory.proposals import triple_text
from memgraph_server.memory.turns import Role, TurnState
from memgraph_server.stores.names import normalized_name
from memgraph_server.stores.prepared import prepare
from memgraph_server.stores.quantized import Space
from memgraph_server.stores.records import (
    BATCH,
    KINDS,
    AssertionRecord,
    CardinalityRecord,
    EntityRecord,
    FactRecord,
    Header,
    JobRecord,
    MergeRecord,
    Placing,
    Record,
    Spent,
    StoredVector,
    TripleRecord,
    TurnRecord,
    TurnVector,
    Withdrawal,
    fields_of,
)
from memgraph_server.stores.sqlite import namespaces, queue, turns
from memgraph_server.stores.stakes import Placed, stakes_of

_SAID = (
    "relation", "valid_from", "valid_to", "evidence_at", "recorded_at", "confidence", "intent", "polarity", "ongoing",
    "turn_id", "from_precision", "to_precision", "from_basis", "to_basis", "source",
)  # fmt: skip
_STAKE = (
    "namespace", "head", "relation", "tail", "kind", "assertive", "anchor", "evidence_at", "confidence", "id",
    "assertion", "valid_from", "valid_to", "second_at",
)  # fmt: skip
Rows = Iterable[tuple[Any, ...]]


# -- out


def dump(connection: sqlite3.Connection, namespace: int, name: str) -> Iterator[Record]:
    """The header, then all records. `namespace` exists."""
    counts = {}
    for kind in KINDS:
        query = f"SELECT count(*) FROM {kind} WHERE namespace = ?"
        counts[kind] = connection.execute(query, (namespace,)).fetchone()[0]
    recorded_at = connection.execute("SELECT recorded_at FROM namespace WHERE id = ?", (namespace,)).fetchone()[0]
    yield Header(name, recorded_at, counts)
    for part in (_entities, _merges, _turns, _triples, _assertions, _facts, _cardinalities, _jobs):
        yield from part(connection, namespace)


def _numbered(connection: sqlite3.Connection, namespace: int, table: str, number: str, columns: str) -> Rows:
    """Rows in the order of their numbers."""
    query = f"SELECT {number} FROM {table} WHERE namespace = ?"
    numbers = array("q", (each for (each,) in connection.execute(query, (namespace,))))
    ordered = sorted(numbers)
    for start in range(0, len(ordered), BATCH):
        query = f"""
            SELECT {columns} FROM json_each(?) wanted CROSS JOIN {table} x ON x.{number} = wanted.value
            ORDER BY wanted.key"""
        yield from connection.execute(query, (json.dumps(ordered[start : start + BATCH]),)).fetchall()


def _name_of(entity: str) -> str:
    return f"(SELECT id FROM entity WHERE handle = {entity})"


def _entities(connection: sqlite3.Connection, namespace: int) -> Iterator[Record]:
    for row in _numbered(connection, namespace, "entity", "handle", "x.id, x.name, x.type, x.recorded_at"):
        yield EntityRecord(*row)


def _merges(connection: sqlite3.Connection, namespace: int) -> Iterator[Record]:
    columns = f"{_name_of('x.entity')}, {_name_of('x.into_entity')}, x.recorded_from, x.recorded_to"
    for row in _numbered(connection, namespace, "merge", "number", columns):
        yield MergeRecord(*row)


def _turns(connection: sqlite3.Connection, namespace: int) -> Iterator[Record]:
    query = """
        SELECT t.ordinal, t.id, s.id, t.position, t.role, t.speaker, t.text, t.at, t.utc_offset_minutes,
            t.recorded_at, r.state, r.attempts, t.captions, r.reason, r.due_at, t.handle, e.name, v.pooled, v.bits,
            v.token_bits, v.pieces, r.calls, r.prompt_tokens, r.completion_tokens
        FROM turn t JOIN session s ON s.handle = t.session JOIN reading r ON r.turn = t.handle
        LEFT JOIN turn_vector v ON v.namespace = t.namespace AND v.turn = t.handle
        LEFT JOIN embedder e ON e.id = v.embedder
        WHERE t.namespace = ? AND t.ordinal > ? ORDER BY t.ordinal LIMIT ?"""
    mentions, after = _Mentions(connection, namespace), -1
    while rows := connection.execute(query, (namespace, after, BATCH)).fetchall():
        after = rows[-1][0]
        yield from (_turn(row, mentions.of(row[15])) for row in rows)


def _turn(row: tuple[Any, ...], mentions: tuple[str, ...]) -> TurnRecord:
    _, identifier, session, position, role, speaker, text, at, offset, recorded_at, state, *rest = row
    attempts, captions, reason, due_at, _, embedder, pooled, bits, tokens, pieces, *spent = rest
    pending = state == TurnState.PENDING
    vector = None if embedder is None else TurnVector(embedder, pooled, bits, tokens, tuple(json.loads(pieces)))
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
        tuple(json.loads(captions)),
        reason,
        due_at if pending else None,
        mentions,
        vector,
        Spent.of(*spent),
    )


def _read_state(record: TurnRecord) -> tuple[Any, ...]:
    due_at, spent = record.due_at or record.recorded_at, record.cost or Spent()
    return (record.state.value, record.attempts, record.reason, due_at, *astuple(spent))


class _Mentions:
    """Of turns asked about in their order: rows sorted once, beside the turns."""

    def __init__(self, connection: sqlite3.Connection, namespace: int) -> None:
        query = """
            SELECT m.turn, e.id FROM mention m JOIN entity e ON e.handle = m.entity
            WHERE m.namespace = ? ORDER BY m.turn, m.entity"""
        self._groups = groupby(connection.execute(query, (namespace,)), lambda row: row[0])
        self._next = next(self._groups, None)

    def of(self, turn: int) -> tuple[str, ...]:
        if self._next is None or self._next[0] != turn:
            return ()
        found = tuple(entity for _, entity in self._next[1])
        self._next = next(self._groups, None)
        return found


def _triples(connection: sqlite3.Connection, namespace: int) -> Iterator[Record]:
    vector = "FROM triple_vector v WHERE v.namespace = x.namespace AND v.triple = x.number"
    columns = f"""{_name_of("x.head")}, x.relation, {_name_of("x.tail")},
        (SELECT e.name FROM embedder e WHERE e.id = (SELECT v.embedder {vector})),
        (SELECT v.pooled {vector}), (SELECT v.bits {vector})"""
    for row in _numbered(connection, namespace, "triple", "number", columns):
        head, relation, tail, embedder, pooled, bits = row
        yield TripleRecord(head, relation, tail, None if embedder is None else StoredVector(embedder, pooled, bits))


def _assertions(connection: sqlite3.Connection, namespace: int) -> Iterator[Record]:
    withdrawal = "FROM withdrawal w WHERE w.namespace = x.namespace AND w.assertion = x.handle"
    placed = f"""
        SELECT json_group_array(json_array(head, recorded_from, tail, recorded_to)) FROM (
            SELECT {_name_of("p.head")} head, p.recorded_from, {_name_of("p.tail")} tail, p.recorded_to
            FROM placement p WHERE p.namespace = x.namespace AND p.assertion = x.handle ORDER BY p.recorded_from)"""
    said = ", ".join(f"x.{name}" for name in _SAID)
    columns = f"""x.id, {_name_of("x.head")}, {_name_of("x.tail")}, x.span_start, x.span_end,
        (SELECT w.recorded_at {withdrawal}), (SELECT w.reason {withdrawal}), ({placed}), {said}"""
    for row in _numbered(connection, namespace, "assertion", "handle", columns):
        yield _assertion(row)


def _assertion(row: tuple[Any, ...]) -> AssertionRecord:
    identifier, head, tail, start, end, withdrawn_at, reason, placed, *values = row
    said = dict(zip(_SAID, values, strict=True))
    said |= {
        "intent": Intent(said["intent"]),
        "polarity": Polarity(said["polarity"]),
        "ongoing": bool(said["ongoing"]),
        "from_precision": Precision(said["from_precision"]),
        "to_precision": Precision(said["to_precision"]),
        "from_basis": Basis(said["from_basis"]),
        "to_basis": Basis(said["to_basis"]),
    }
    return AssertionRecord(
        id=identifier,
        head=head,
        tail=tail,
        span=None if start is None else (start, end),
        withdrawn=None if withdrawn_at is None else Withdrawal(withdrawn_at, reason),
        placed=tuple(Placing(*each) for each in json.loads(placed)),
        **said,
    )


def _facts(connection: sqlite3.Connection, namespace: int) -> Iterator[Record]:
    columns = f"""x.id, {_name_of("x.head")}, x.relation, {_name_of("x.tail")}, x.stratum, x.valid_from, x.confidence,
        x.intent, x.recorded_from, x.valid_to, x.recorded_to"""
    for row in _numbered(connection, namespace, "fact", "version", columns):
        identifier, head, relation, tail, stratum, valid_from, confidence, intent, since, valid_to, until = row
        held = (valid_from, confidence, Intent(intent), since, valid_to, until)
        yield FactRecord(identifier, head, relation, tail, Stratum(stratum), *held)


def _cardinalities(connection: sqlite3.Connection, namespace: int) -> Iterator[Record]:
    query = """
        SELECT relation, single, reason, recorded_from, recorded_to FROM cardinality WHERE namespace = ?
        ORDER BY recorded_from, relation"""
    for relation, single, *rest in connection.execute(query, (namespace,)):
        yield CardinalityRecord(relation, bool(single), *rest)


def _jobs(connection: sqlite3.Connection, namespace: int) -> Iterator[Record]:
    query = """
        SELECT j.id, j.created_at, j.key, (SELECT json_group_array(id) FROM (
            SELECT t.id FROM job_turn m JOIN turn t ON t.handle = m.turn
            WHERE m.namespace = j.namespace AND m.job = j.handle ORDER BY m.ordinal))
        FROM job j WHERE j.namespace = ? ORDER BY j.id"""
    for identifier, created_at, key, members in connection.execute(query, (namespace,)):
        yield JobRecord(identifier, created_at, tuple(dict.fromkeys(json.loads(members))), key)


# -- in


def load(
    connection: sqlite3.Connection,
    records: Iterator[Record],
    *,
    space: Space,
    antonym: Callable[[str], str | None],
) -> None:
    """A namespace that does not exist, inside a write. The records are consistent."""
    header = next(records)
    if not isinstance(header, Header):
        raise InvalidInput("a namespace begins with its own record", field="kind")
    number = namespaces.ensure(connection, header.namespace, header.recorded_at)
    connection.execute("UPDATE namespace SET recorded_at = ? WHERE id = ?", (header.recorded_at, number))
    loading = _Loading(connection, number, space, antonym)
    for kind, group in groupby(records, lambda record: record.kind):
        while batch := list(islice(group, BATCH)):
            getattr(loading, f"load_{kind}")(batch)
    loading.settle_sessions()


class _Loading:
    """Rows of one namespace, batch after batch; ids are looked up in the file, not remembered."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        namespace: int,
        space: Space,
        antonym: Callable[[str], str | None],
    ) -> None:
        self.connection, self.namespace, self.space, self.antonym = connection, namespace, space, antonym

    def load_entity(self, batch: Sequence[EntityRecord]) -> None:
        names = namespaces.next_number(self.connection, "entity")
        self._insert(
            "entity",
            ("handle", "namespace", "id", "name", "type", "recorded_at"),
            (
                (names + place, self.namespace, each.id, each.name, each.type, each.recorded_at)
                for place, each in enumerate(batch)
            ),
        )
        normalized = ((self.namespace, normalized_name(each.name), names + place) for place, each in enumerate(batch))
        self._insert("name", ("namespace", "normalized", "entity"), normalized)

    def load_merge(self, batch: Sequence[MergeRecord]) -> None:
        handles = self._handles("entity", [end for each in batch for end in (each.entity, each.into)])
        rows = [(handles[each.entity], handles[each.into], each.recorded_from, each.recorded_to) for each in batch]
        columns = ("namespace", "entity", "into_entity", "recorded_from", "recorded_to")
        self._insert("merge", columns, ((self.namespace, *row) for row in rows))
        self.connection.executemany(
            "UPDATE entity SET merged_into = ? WHERE handle = ?",
            ((into, entity) for entity, into, _, until in rows if until is None),
        )

    def load_turn(self, batch: Sequence[TurnRecord]) -> None:
        arrivals = turns.arrivals(self.connection, self.namespace, prepare([each.turn() for each in batch]))
        turns.write_turns(self.connection, self.namespace, arrivals, [each.recorded_at for each in batch])
        turns.write_postings(self.connection, self.namespace, arrivals)
        turns.note_sessions(self.connection, self.namespace, arrivals, 0)
        handles = [arrival.handle for arrival in arrivals]
        self.connection.executemany(
            """
            UPDATE reading SET state = ?, attempts = ?, reason = ?, due_at = ?, calls = ?, prompt_tokens = ?,
                completion_tokens = ? WHERE turn = ?""",
            ((*_read_state(each), handle) for each, handle in zip(batch, handles, strict=True)),
        )
        entities = self._handles("entity", [entity for each in batch for entity in each.mentions])
        mentions = (
            (self.namespace, entities[entity], handle)
            for each, handle in zip(batch, handles, strict=True)
            for entity in each.mentions
        )
        self._insert("mention", ("namespace", "entity", "turn"), mentions)
        columns = ("namespace", "turn", "embedder", "pooled", "bits", "token_bits", "pieces")
        vectors = (
            (*self._vector(each.vector, handle), each.vector.tokens, json.dumps(each.vector.pieces, ensure_ascii=False))
            for each, handle in zip(batch, handles, strict=True)
            if each.vector is not None
        )
        self._insert("turn_vector", columns, vectors)

    def load_triple(self, batch: Sequence[TripleRecord]) -> None:
        ends = [end for each in batch for end in (each.head, each.tail)]
        handles, names = self._handles("entity", ends), self._names(ends)
        first = namespaces.next_number(self.connection, "triple")
        rows = [
            (first + place, self.namespace, handles[each.head], each.relation, handles[each.tail],
             triple_text(names[each.head], each.relation, names[each.tail]))
            for place, each in enumerate(batch)
        ]  # fmt: skip
        self._insert("triple", ("number", "namespace", "head", "relation", "tail", "text"), rows)
        columns = ("namespace", "triple", "embedder", "pooled", "bits", "head", "tail")
        vectors = (
            (*self._vector(each.vector, row[0]), row[2], row[4])
            for each, row in zip(batch, rows, strict=True)
            if each.vector is not None
        )
        self._insert("triple_vector", columns, vectors)

    def load_assertion(self, batch: Sequence[AssertionRecord]) -> None:
        ends = [end for each in batch for end in (each.head, each.tail)]
        ends += [end for each in batch for placed in each.placed for end in (placed.head, placed.tail)]
        handles = self._handles("entity", [end for end in ends if end is not None])
        first = namespaces.next_number(self.connection, "assertion")
        columns = ("handle", "namespace", "id", "head", "tail", "span_start", "span_end", *_SAID)
        rows = (
            (first + place, self.namespace, each.id, handles[each.head], handles.get(each.tail or ""),
             *(each.span or (None, None)), *fields_of(each, _SAID))
            for place, each in enumerate(batch)
        )  # fmt: skip
        self._insert("assertion", columns, rows)
        withdrawn = (
            (self.namespace, first + place, each.withdrawn.reason, each.withdrawn.at)
            for place, each in enumerate(batch)
            if each.withdrawn is not None
        )
        self._insert("withdrawal", ("namespace", "assertion", "reason", "recorded_at"), withdrawn)
        self._place(batch, first, handles)

    def _place(self, batch: Sequence[AssertionRecord], first: int, handles: dict[str, int]) -> None:
        columns = ("namespace", "assertion", "head", "relation", "tail", "recorded_from", "recorded_to")
        rows = (
            (self.namespace, first + place, handles[placed.head], each.relation, handles.get(placed.tail or ""),
             placed.recorded_from, placed.recorded_to)
            for place, each in enumerate(batch)
            for placed in each.placed
        )  # fmt: skip
        self._insert("placement", columns, rows)
        counting = (
            (first + place, each, placed)
            for place, each in enumerate(batch)
            for placed in each.placed
            if placed.recorded_to is None
        )
        stakes = (
            (self.namespace, *stake)
            for handle, each, placed in counting
            for stake in stakes_of(_placed(handle, each, placed, handles), self.antonym(each.relation))
        )
        self._insert("stake", _STAKE, stakes)

    def load_fact(self, batch: Sequence[FactRecord]) -> None:
        handles = self._handles("entity", [end for each in batch for end in (each.head, each.tail)])
        query = "SELECT number FROM triple WHERE namespace = ? AND head = ? AND relation = ? AND tail = ?"
        names = ("stratum", "valid_from", "valid_to", "confidence", "intent", "recorded_from", "recorded_to")
        rows = []
        for each in batch:
            ends = (handles[each.head], each.relation, handles[each.tail])
            (triple,) = self.connection.execute(query, (self.namespace, *ends)).fetchone()
            rows.append((self.namespace, each.id, triple, *ends, *fields_of(each, names)))
        self._insert("fact", ("namespace", "id", "triple", "head", "relation", "tail", *names), rows)

    def load_cardinality(self, batch: Sequence[CardinalityRecord]) -> None:
        columns = ("relation", "single", "reason", "recorded_from", "recorded_to")
        self._insert("cardinality", ("namespace", *columns), ((self.namespace, *fields_of(e, columns)) for e in batch))

    def load_job(self, batch: Sequence[JobRecord]) -> None:
        for each in batch:
            query = "INSERT INTO job (namespace, id, key, created_at) VALUES (?, ?, ?, ?) RETURNING handle"
            row = (self.namespace, each.id, each.key, each.created_at)
            (job,) = self.connection.execute(query, row).fetchone()
            handles = self._handles("turn", each.turns)
            members = ((self.namespace, job, place, handles[turn]) for place, turn in enumerate(each.turns))
            self._insert("job_turn", ("namespace", "job", "ordinal", "turn"), members)

    def settle_sessions(self) -> None:
        self.connection.execute(f"{queue.SET_DUE} WHERE namespace = ?", (self.namespace,))

    # -- parts

    def _insert(self, table: str, columns: Sequence[str], rows: Rows) -> None:
        places = ", ".join("?" * len(columns))
        self.connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", rows)

    def _handles(self, table: str, ids: Iterable[str]) -> dict[str, int]:
        query = f"""
            SELECT x.id, x.handle FROM json_each(?) wanted CROSS JOIN {table} x
            WHERE x.namespace = ? AND x.id = wanted.value"""
        return dict(self.connection.execute(query, (json.dumps(list(dict.fromkeys(ids))), self.namespace)))

    def _names(self, ids: Iterable[str]) -> dict[str, str]:
        query = """
            SELECT e.id, e.name FROM json_each(?) wanted CROSS JOIN entity e
            WHERE e.namespace = ? AND e.id = wanted.value"""
        return dict(self.connection.execute(query, (json.dumps(list(dict.fromkeys(ids))), self.namespace)))

    def _vector(self, vector: StoredVector, owner: int) -> tuple[int, int, int, bytes, bytes]:
        return self.namespace, owner, self._embedder(vector), vector.pooled, vector.bits

    def _embedder(self, vector: StoredVector) -> int:
        """Its number, made where it is new. Raises InvalidInput for one that has other dimensions here."""
        width, own = vector.width, vector.embedder == self.space.embedder
        query = "SELECT id, dimension FROM embedder WHERE name = ?"
        row = self.connection.execute(query, (vector.embedder,)).fetchone()
        dimension = row[1] if row is not None else self.space.dimension if own else width
        if Space(vector.embedder, dimension).width != width:
            raise InvalidInput(
                f"the embedder {vector.embedder!r} has {dimension} dimensions here, not {width}", field="vector"
            )
        if row is None:
            query = "INSERT INTO embedder (name, dimension) VALUES (?, ?) RETURNING id"
            row = self.connection.execute(query, (vector.embedder, dimension)).fetchone()
        return int(row[0])


def _placed(handle: int, record: AssertionRecord, placing: Placing, handles: dict[str, int]) -> Placed:
    return Placed(
        handle,
        record.id,
        handles[placing.head],
        record.relation,
        None if placing.tail is None else handles[placing.tail],
        record.valid_from,
        record.valid_to,
        record.evidence_at,
        record.confidence,
        record.polarity.value,
        record.ongoing,
    )
