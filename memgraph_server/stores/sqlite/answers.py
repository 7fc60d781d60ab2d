# ruff: noqa: S608  queries are put together from constants of this file; values are bound
"""Answers what the revision of a belief asks about one key (memory/requests.py), from the index of stakes.

Every request names its key whole and walks an index of it, so that its cost is that of the rows it returns. The rules
that each answer keeps are written with the requests; memory/answers.py is their executable definition, against which
these queries are tested.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memgraph_server.memory.belief import as_endings
from memgraph_server.memory.confidence import Supported, supported
from memgraph_server.memory.facts import Assertion, Fact, Intent, Polarity, Stratum
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.requests import (
    Arriving,
    CurrentFacts,
    Key,
    NextAssertive,
    NextOfTail,
    NextUnended,
    Request,
    Slice,
    Sliced,
    Speculation,
    Speculations,
    Standing,
    Support,
)
from memgraph_server.memory.sweep import Order
from memgraph_server.stores.stakes import ANY_TAIL, BOUNDED, ENDING, OPEN

_END = 2**62
_START = -_END
_LEAST: Order = (_START, _START, -1.0, "")
_ORDER = "(s.anchor, s.evidence_at, s.confidence, s.id)"
_ASCENDING = "s.anchor, s.evidence_at, s.confidence, s.id"
_DESCENDING = "s.anchor DESC, s.evidence_at DESC, s.confidence DESC, s.id DESC"
_KEY = "s.namespace = :namespace AND s.head = :head AND s.relation = :relation"
_CLAIM = """a.id, t.id, a.valid_from, a.evidence_at, a.recorded_at, a.valid_to, a.confidence, a.intent, a.polarity,
    a.ongoing, a.turn_id, s.kind"""
_JOINED = "JOIN assertion a ON a.handle = s.assertion LEFT JOIN entity t ON t.handle = s.tail"
_FACT = """f.id, f.version, t.id, f.stratum, f.valid_from, f.valid_to, f.confidence, f.intent, f.recorded_from,
    f.recorded_to"""


@dataclass(slots=True)
class Answers:
    """Answers inside one write transaction. Ids of entities are looked up once."""

    connection: sqlite3.Connection
    namespace: int
    handles: dict[str, int] = field(default_factory=dict)
    triples: dict[tuple[int, str, int], int] = field(default_factory=dict)
    unbelieved: set[int] = field(default_factory=set)  # triples made in this write: no fact is theirs yet

    def revise(self, revising: Any) -> Any:
        """Run a revision (`Revising`) to its end; what it returns."""
        try:
            batch = next(revising)
            while True:
                batch = revising.send(tuple(self.answer(request) for request in batch))
        except StopIteration as finished:
            return finished.value

    def handle(self, entity_id: str) -> int:
        known = self.handles.get(entity_id)
        if known is None:
            query = "SELECT handle FROM entity WHERE namespace = ? AND id = ?"
            known = self.handles[entity_id] = self.connection.execute(query, (self.namespace, entity_id)).fetchone()[0]
        return known

    def triple(self, ends: tuple[int, str, int]) -> int:
        """Its number; 0 where there is none."""
        known = self.triples.get(ends)
        if known is None:
            query = "SELECT number FROM triple WHERE namespace = ? AND head = ? AND relation = ? AND tail = ?"
            row = self.connection.execute(query, (self.namespace, *ends)).fetchone()
            if row is None:
                return 0
            known = self.triples[ends] = row[0]
        return known

    def answer(self, request: Request) -> Any:
        return _ANSWERS[type(request)](self, request)

    def _slice(self, request: Slice) -> Sliced:
        values = self._values(request.key, tail=request.tail)
        where = f"{_KEY} AND s.anchor = s.valid_from{self._tails(request.tail)}"
        query = f"SELECT {_CLAIM} FROM stake s {_JOINED} WHERE {where}"
        cursor = self.connection.execute(query, values)
        rows = cursor.fetchall() if request.limit is None else cursor.fetchmany(request.limit + 1)
        if request.limit is not None and len(rows) > request.limit:
            cursor.close()
            return Sliced(None, ())
        facts = self._facts(request.key, self._of_tail(request.key, request.tail, values), values)
        return Sliced(tuple(self._assertion(request.key, row) for row in rows), tuple(facts))

    def _current_facts(self, request: CurrentFacts) -> tuple[Fact, ...]:
        """Facts of one tail and stratum never overlap, nor do the stable ones of a single-valued key (the only key that
        is asked about as a whole), so the last one that began earlier bounds what can touch."""
        values = self._values(request.key, tail=request.tail, stratum=request.stratum.value)
        values |= {
            "start": request.interval.start,
            "end": _END if request.interval.end is None else request.interval.end,
        }
        source = self._of_tail(request.key, request.tail, values)
        where = f"{source} AND f.stratum = :stratum AND f.valid_from <= :end AND coalesce(f.valid_to, {_END}) >= :start"
        if request.tail is not None or request.stratum is Stratum.STABLE:
            where += f""" AND f.valid_from >= coalesce((
                SELECT f.valid_from FROM fact f WHERE {source} AND f.stratum = :stratum AND f.valid_from < :start
                ORDER BY f.valid_from DESC LIMIT 1), {_START})"""
        if request.unless is not None:
            values |= {"confidence": request.unless[0], "intent": request.unless[1].value}
            where += " AND NOT (f.confidence = :confidence AND f.intent = :intent)"
        return tuple(self._facts(request.key, where, values))

    def _next_of_tail(self, request: NextOfTail) -> Instant | None:
        assertive = int(request.stratum is Stratum.STABLE)
        tails = [ANY_TAIL] if request.tail is None else [ANY_TAIL, self.handle(request.tail)]
        lists = [(tail, ENDING, 1) for tail in tails]
        if not assertive:
            lists += [(tail, ENDING, 0) for tail in tails]
        if request.tail is not None:
            lists.append((tails[1], OPEN, assertive))
        return _least(
            self._first(request.key, request.after, request.without, kind=kind, assertive=certain, tail=tail)
            for tail, kind, certain in lists
        )

    def _next_assertive(self, request: NextAssertive) -> Instant | None:
        return _least(
            self._first(request.key, request.after, request.without, kind=kind, assertive=1) for kind in (OPEN, BOUNDED)
        )

    def _first(
        self, key: Key, after: Order, without: str, *, kind: int, assertive: int, tail: int | None = None
    ) -> Instant | None:
        values = self._values(key, kind=kind, assertive=assertive, tail=tail, without=without) | _bound("after", after)
        query = f"""
            SELECT s.anchor FROM stake s WHERE {_KEY} {"" if tail is None else "AND s.tail = :tail"}
            AND s.kind = :kind AND s.assertive = :assertive AND s.id <> :without
            AND {_ORDER} > {_bind("after")} ORDER BY {_ASCENDING} LIMIT 1"""
        row = self.connection.execute(query, values).fetchone()
        return row[0] if row else None

    def _next_unended(self, request: NextUnended) -> Instant | None:
        """Stakes up to the last ending of every tail are ended, all of them: the walk starts behind it."""
        last = self._last_ending(request.key, (1,), ANY_TAIL, None, request.without)
        after = max(request.after, last)
        before = _END if request.before is None else request.before
        values = self._values(request.key, without=request.without, before=before) | _bound("after", after)
        query = f"""
            SELECT s.anchor FROM stake s WHERE {_KEY} AND s.kind = {OPEN} AND s.assertive = 1 AND s.id <> :without
            AND {_ORDER} > {_bind("after")} AND s.anchor < :before AND NOT EXISTS (
                SELECT 1 FROM stake e WHERE {_KEY.replace("s.", "e.")} AND e.tail = s.tail AND e.kind = {ENDING}
                AND e.assertive = 1 AND e.id <> :without AND {_ORDER.replace("s.", "e.")} > {_ORDER})
            ORDER BY {_ASCENDING} LIMIT 1"""
        row = self.connection.execute(query, values).fetchone()
        return row[0] if row else None

    def _arriving(self, request: Arriving) -> tuple[Assertion, ...]:
        end = _END if request.interval.end is None else request.interval.end
        values = self._values(request.key, tail=request.tail, start=request.interval.start, end=end)
        lists = [(kind, certain, self._tails(request.tail)) for kind, certain in _counting(request.stratum)]
        query = " UNION ALL ".join(
            f"""
            SELECT {_CLAIM} FROM stake s {_JOINED} WHERE {_KEY} {tails} AND s.kind = {kind} AND s.assertive = {certain}
            AND s.anchor >= :start AND s.anchor < :end"""
            for kind, certain, tails in lists
        )
        return tuple({each.id: each for each in self._assertions(request.key, query, values)}.values())

    def _standing(self, request: Standing) -> tuple[Assertion, ...]:
        """Claims from the greatest stake down; one that an ending of its tail (or of all) outranks is passed over."""
        certain = (1,) if request.stratum is Stratum.STABLE else (0, 1)
        above = max(request.above or _LEAST, self._last_ending(request.key, certain, ANY_TAIL, request.at, ""))
        values = self._values(request.key, tail=request.tail, at=request.at, limit=request.limit)
        values |= _bound("above", above) | _bound("below", request.below or (request.at, _START, -1.0, ""))
        values["without"] = json.dumps([self.handle(tail) for tail in sorted(request.without_tails)])
        lists = " UNION ALL ".join(
            f"SELECT * FROM ({self._standing_of(request, kind, certain)} ORDER BY {_DESCENDING} LIMIT :limit)"
            for kind in (OPEN, BOUNDED)
        )
        query = f"""
            SELECT {_CLAIM} FROM (SELECT * FROM ({lists}) s ORDER BY {_DESCENDING} LIMIT :limit) s
            {_JOINED} ORDER BY {_DESCENDING}"""
        return tuple(self._assertions(request.key, query, values))

    def _standing_of(self, request: Standing, kind: int, certain: tuple[int, ...]) -> str:
        assertive = int(request.stratum is Stratum.STABLE)
        endings = " OR ".join(
            f"""EXISTS (SELECT 1 FROM stake e WHERE {_KEY.replace("s.", "e.")} AND e.tail = s.tail AND e.kind = {ENDING}
                AND e.assertive = {each} AND e.anchor < :at AND {_ORDER.replace("s.", "e.")} > {_ORDER})"""
            for each in certain
        )
        return f"""
            SELECT s.* FROM stake s WHERE {_KEY} {"" if request.tail is None else "AND s.tail = :tail"}
            AND s.kind = {kind} AND s.assertive = {assertive} AND {_ORDER} > {_bind("above")}
            AND {_ORDER} < {_bind("below")} AND s.anchor < :at AND s.valid_from < :at
            {"AND s.valid_to > :at" if kind == BOUNDED else ""}
            AND s.anchor = CASE WHEN s.second_at < :at THEN s.second_at ELSE s.valid_from END
            {"AND s.tail NOT IN (SELECT value FROM json_each(:without))" if request.without_tails else ""}
            AND NOT ({endings})"""

    def _last_ending(self, key: Key, certain: Iterable[int], tail: int, before: Instant | None, without: str) -> Order:
        """The greatest stake of an ending of exactly this tail, with an instant below `before`."""
        query = f"""
            SELECT s.anchor, s.evidence_at, s.confidence, s.id FROM stake s WHERE {_KEY} AND s.tail = :tail
            AND s.kind = {ENDING} AND s.assertive = :assertive AND s.anchor < :before AND s.id <> :without
            ORDER BY {_DESCENDING} LIMIT 1"""
        limit = _END if before is None else before
        found = [_LEAST]
        for assertive in certain:
            values = self._values(key, tail=tail, assertive=assertive, before=limit, without=without)
            row = self.connection.execute(query, values).fetchone()
            if row is not None:
                found.append(row)
        return max(found)

    def _speculation(self, request: Speculation) -> Speculations:
        """A hedged claim is settled at the start when an assertive stake up to there is greater than its greatest."""
        key, start = request.key, request.interval.start
        end = _END if request.interval.end is None else request.interval.end
        values = self._values(key, tail=request.tail, start=start, end=end)
        values |= _bound("settled", self._last_assertive(key, start))
        query = " UNION ALL ".join(
            f"""
            SELECT {_CLAIM}, s.anchor, s.evidence_at, s.confidence, s.id FROM stake s {_JOINED}
            WHERE {_KEY} {"" if request.tail is None else "AND s.tail = :tail"} AND s.kind = {kind}
            AND s.assertive = 0 AND {_ORDER} > {_bind("settled")} AND s.anchor = coalesce(s.second_at, s.valid_from)
            AND s.valid_from < :end {"AND s.valid_to > :start" if kind == BOUNDED else ""}"""
            for kind in (OPEN, BOUNDED)
        )
        claims = [
            (self._assertion(key, row[:12]), self._settled_at(key, row[12:]))
            for row in self.connection.execute(query, values)
        ]
        return Speculations(tuple(claims), tuple(self._endings_since(key, [claim for claim, _ in claims])))

    def _last_assertive(self, key: Key, until: Instant) -> Order:
        """The greatest stake of an assertive claim with an instant up to and including `until`."""
        query = f"""
            SELECT s.anchor, s.evidence_at, s.confidence, s.id FROM stake s WHERE {_KEY} AND s.kind = :kind
            AND s.assertive = 1 AND s.anchor <= :until ORDER BY {_DESCENDING} LIMIT 1"""
        rows = (self.connection.execute(query, self._values(key, kind=k, until=until)).fetchone() for k in (1, 2))
        return max((row for row in rows if row is not None), default=_LEAST)

    def _settled_at(self, key: Key, greatest: Order) -> Instant | None:
        return _least(self._first(key, greatest, "", kind=kind, assertive=1) for kind in (OPEN, BOUNDED))

    def _endings_since(self, key: Key, claims: list[Assertion]) -> Iterator[Assertion]:
        if not claims:
            return
        tails = {self.handle(claim.tail) for claim in claims if claim.tail is not None} | {ANY_TAIL}
        values = self._values(key, start=min(claim.valid_from for claim in claims))
        for tail in sorted(tails):
            query = f"""
                SELECT {_CLAIM} FROM stake s {_JOINED} WHERE {_KEY} AND s.tail = :of AND s.kind = {ENDING}
                AND s.assertive IN (0, 1) AND s.anchor >= :start"""
            yield from self._assertions(key, query, {**values, "of": tail})

    def _support(self, request: Support) -> Supported:
        """A lazy cursor in the order of rank; `supported` stops reading where nothing further matters."""
        end = _END if request.interval.end is None else request.interval.end
        values = self._values(request.key, tail=request.tail, start=request.interval.start, end=end)
        query = f"""
            SELECT s.confidence, a.turn_id, s.id, a.intent FROM stake s JOIN assertion a ON a.handle = s.assertion
            WHERE {_KEY} AND s.tail = :tail AND s.kind > 0 AND s.anchor = s.valid_from
            AND s.assertive = {int(request.stratum is Stratum.STABLE)}
            AND s.valid_from < :end AND (s.valid_to IS NULL OR s.valid_to > :start)
            ORDER BY s.confidence DESC, s.valid_from, s.evidence_at, s.id"""
        rows = (
            (confidence, ("turn", turn_id) if turn_id is not None else ("assertion", assertion), Intent(intent))
            for confidence, turn_id, assertion, intent in self.connection.execute(query, values)
        )
        return supported(rows, request.stratum)

    # -- parts of queries

    def _values(self, key: Key, **more: Any) -> dict[str, Any]:
        tail = more.get("tail")
        if isinstance(tail, str):
            more["tail"] = self.handle(tail)
        return {"namespace": self.namespace, "head": self.handle(key.head), "relation": key.relation, **more}

    def _tails(self, tail: str | None) -> str:
        return "" if tail is None else f" AND s.tail IN (:tail, {ANY_TAIL})"

    def _of_tail(self, key: Key, tail: str | None, values: dict[str, Any]) -> str:
        """Which current facts: the key's, by its index, or a tail's, by its triple."""
        if tail is None:
            return "f.namespace = :namespace AND f.head = :head AND f.relation = :relation AND f.recorded_to IS NULL"
        values["triple"] = self.triple((values["head"], key.relation, self.handle(tail)))
        return "f.namespace = :namespace AND f.triple = :triple AND f.recorded_to IS NULL"

    def _facts(self, key: Key, where: str, values: dict[str, Any]) -> Iterator[Fact]:
        if values.get("triple") in self.unbelieved:
            return
        query = f"SELECT {_FACT} FROM fact f JOIN entity t ON t.handle = f.tail WHERE {where}"
        for row in self.connection.execute(query, values):
            fact, version, tail, stratum, start, end, confidence, intent, since, until = row
            yield Fact(
                fact,
                version,
                key.head,
                key.relation,
                tail,
                Stratum(stratum),
                start,
                end,
                confidence,
                Intent(intent),
                since,
                until,
            )

    def _assertions(self, key: Key, query: str, values: dict[str, Any]) -> Iterator[Assertion]:
        for row in self.connection.execute(query, values):
            yield self._assertion(key, row)

    def _assertion(self, key: Key, row: tuple[Any, ...]) -> Assertion:
        """As it counts in the key: under its present head and tail, and as an ending where it is the antonym's."""
        id_, tail, start, evidence, recorded, end, confidence, intent, polarity, ongoing, turn, kind = row
        assertion = Assertion(
            id_,
            key.head,
            key.relation,
            tail,
            start,
            evidence,
            recorded,
            end,
            confidence,
            Intent(intent),
            Polarity(polarity),
            bool(ongoing),
            turn,
        )
        if kind == ENDING and assertion.polarity is Polarity.CLAIM:
            return as_endings((assertion,), key.relation)[0]
        return assertion


def _counting(stratum: Stratum) -> list[tuple[int, int]]:
    """(kind, assertive) of what counts in a stratum: its own claims, and endings: assertive ones, or all."""
    if stratum is Stratum.STABLE:
        return [(ENDING, 1), (OPEN, 1), (BOUNDED, 1)]
    return [(ENDING, 0), (ENDING, 1), (OPEN, 0), (BOUNDED, 0)]


def _least(instants: Iterable[Instant | None]) -> Instant | None:
    return min((at for at in instants if at is not None), default=None)


def _bound(name: str, order: Order) -> dict[str, Any]:
    return {f"{name}_{index}": part for index, part in enumerate(order)}


def _bind(name: str) -> str:
    return f"(:{name}_0, :{name}_1, :{name}_2, :{name}_3)"


#: A table, since every fact that is applied asks one: the standard library's dispatch on methods costs as much as the
#: query.
_ANSWERS: Mapping[type[Request], Callable[[Answers, Any], Any]] = {
    Slice: Answers._slice,
    CurrentFacts: Answers._current_facts,
    NextOfTail: Answers._next_of_tail,
    NextAssertive: Answers._next_assertive,
    NextUnended: Answers._next_unended,
    Arriving: Answers._arriving,
    Standing: Answers._standing,
    Speculation: Answers._speculation,
    Support: Answers._support,
}
