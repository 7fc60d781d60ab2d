"""Answers what the revision of a belief asks about a large key (memory/requests.py), from the index of stakes.

Every request names its key whole and walks an index of it in the order of `rank`, so that its cost is that of the rows
it returns. The rules that each answer keeps are written with the requests; memory/answers.py is their executable
definition, against which these queries are tested.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Any

from memgraph_server.memory.confidence import Supported, supported
from memgraph_server.memory.facts import Assertion, Fact, Intent, Stratum
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
from memgraph_server.stores.neo4j_store.connection import Query, Row, Statements, ordered
from memgraph_server.stores.neo4j_store.keys import FACT, SLICES, STAKE, Keys, Scope
from memgraph_server.stores.neo4j_store.ranks import END, START, before, rank
from memgraph_server.stores.stakes import ANY_TAIL, BOUNDED, ENDING, OPEN

_LATEST = 2**62
_SUPPORTS = 64

_KEY = "s.namespace = $namespace AND s.head = $head AND s.relation = $relation"
_IN_TAIL = f"{_KEY} AND s.tail = list[0] AND s.kind = list[1] AND s.assertive = list[2]"
_IN_KEY = f"{_KEY} AND s.kind = list[1] AND s.assertive = list[2]"
_OF_TAIL, _OF_KEY = (
    "namespace, head, relation, tail, kind, assertive, rank",
    "namespace, head, relation, kind, assertive, rank",
)
_TAIL_RISING, _TAIL_FALLING = ordered("s", _OF_TAIL), ordered("s", _OF_TAIL, falling=True)
_KEY_RISING, _KEY_FALLING = ordered("s", _OF_KEY), ordered("s", _OF_KEY, falling=True)
_LAST_BEGUN = ordered("b", "namespace, triple, current, valid_from", falling=True)
#: An ending `e` of stake s's tail that is greater than s and less than $before.
_ENDED = """EXISTS {
                MATCH (e:Stake) WHERE e.namespace = $namespace AND e.head = $head AND e.relation = $relation
                    AND e.tail = s.tail AND e.kind = 0 AND e.assertive IN $certain AND e.rank > s.rank
                    AND e.rank < $before AND e.id <> $without
            }"""

FIRST_OF_TAIL = Query(
    "the first stake after one, in lists of (tail, kind, assertive)",
    f"""
    UNWIND $lists AS list
    CALL (list) {{
        MATCH (s:Stake) WHERE {_IN_TAIL} AND s.rank > $after AND s.id <> $without
        RETURN s.anchor AS anchor ORDER BY {_TAIL_RISING} LIMIT 1
    }}
    RETURN min(anchor)""",
)
FIRST_OF_KEY = Query(
    "the first stake after one, in lists of (any tail, kind, assertive)",
    f"""
    UNWIND $lists AS list
    CALL (list) {{
        MATCH (s:Stake) WHERE {_IN_KEY} AND s.rank > $after AND s.id <> $without
        RETURN s.anchor AS anchor ORDER BY {_KEY_RISING} LIMIT 1
    }}
    RETURN min(anchor)""",
)
LAST_OF_TAIL = Query(
    "the greatest stake before an instant, in lists of (tail, kind, assertive)",
    f"""
    UNWIND $lists AS list
    CALL (list) {{
        MATCH (s:Stake) WHERE {_IN_TAIL} AND s.rank < $before AND s.id <> $without
        RETURN s.rank AS greatest ORDER BY {_TAIL_FALLING} LIMIT 1
    }}
    RETURN max(greatest)""",
)
LAST_OF_KEY = Query(
    "the greatest stake before an instant, in lists of (any tail, kind, assertive)",
    f"""
    UNWIND $lists AS list
    CALL (list) {{
        MATCH (s:Stake) WHERE {_IN_KEY} AND s.rank < $before AND s.id <> $without
        RETURN s.rank AS greatest ORDER BY {_KEY_FALLING} LIMIT 1
    }}
    RETURN max(greatest)""",
)
UNENDED = Query(
    "the first open assertive claim after a stake that no ending outranks",
    f"""
    MATCH (s:Stake) WHERE {_KEY} AND s.kind = 1 AND s.assertive = true AND s.rank > $after AND s.rank < $until
        AND s.id <> $without AND NOT {_ENDED}
    RETURN s.anchor ORDER BY {_KEY_RISING} LIMIT 1""",
)
ARRIVING_OF_TAIL = Query(
    "stakes between two instants, in lists of (tail, kind, assertive)",
    f"""
    UNWIND $lists AS list
    MATCH (s:Stake) WHERE {_IN_TAIL} AND s.rank >= $from AND s.rank < $before
    RETURN {STAKE}""",
)
ARRIVING_OF_KEY = Query(
    "stakes between two instants, in lists of (any tail, kind, assertive)",
    f"""
    UNWIND $lists AS list
    MATCH (s:Stake) WHERE {_IN_KEY} AND s.rank >= $from AND s.rank < $before
    RETURN {STAKE}""",
)
_STANDS = f"""s.rank > $above AND s.rank < $below AND s.rank < $before AND s.valid_from < $at
            AND (s.valid_to IS NULL OR s.valid_to > $at)
            AND s.anchor = CASE WHEN s.second_at < $at THEN s.second_at ELSE s.valid_from END
            AND NOT s.tail IN $passed AND NOT {_ENDED}"""
STANDING_OF_TAIL = Query(
    "claims of a tail that stand at an instant, greatest stake first",
    f"""
    UNWIND $lists AS list
    CALL (list) {{
        MATCH (s:Stake) WHERE {_IN_TAIL} AND {_STANDS}
        RETURN s ORDER BY {_TAIL_FALLING} LIMIT $limit
    }}
    WITH s ORDER BY s.rank DESC LIMIT $limit RETURN {STAKE}""",
)
STANDING_OF_KEY = Query(
    "claims of any tail that stand at an instant, greatest stake first",
    f"""
    UNWIND $lists AS list
    CALL (list) {{
        MATCH (s:Stake) WHERE {_IN_KEY} AND {_STANDS}
        RETURN s ORDER BY {_KEY_FALLING} LIMIT $limit
    }}
    WITH s ORDER BY s.rank DESC LIMIT $limit RETURN {STAKE}""",
)
_UNSETTLED = """s.rank > $settled AND s.anchor = coalesce(s.second_at, s.valid_from) AND s.valid_from < $end
        AND (s.valid_to IS NULL OR s.valid_to > $start)"""
HEDGED_OF_TAIL = Query(
    "hedged claims of a tail that are not settled",
    f"""
    UNWIND $lists AS list
    MATCH (s:Stake) WHERE {_IN_TAIL} AND {_UNSETTLED}
    RETURN {STAKE}, s.rank""",
)
HEDGED_OF_KEY = Query(
    "hedged claims of any tail that are not settled",
    f"""
    UNWIND $lists AS list
    MATCH (s:Stake) WHERE {_IN_KEY} AND {_UNSETTLED}
    RETURN {STAKE}, s.rank""",
)
SUPPORTS = Query(
    "who supports a fact, in rank",
    f"""
    MATCH (s:Stake) WHERE {_KEY} AND s.tail = $tail AND s.assertive = $assertive AND s.support_rank > $after
        AND s.valid_from < $end AND (s.valid_to IS NULL OR s.valid_to > $start)
    RETURN s.confidence, s.turn_id, s.id, s.intent, s.support_rank
    ORDER BY {ordered("s", "namespace, head, relation, tail, assertive, support_rank")} LIMIT $limit""",
)
_TOUCHING = f"""f.namespace = $namespace AND f.current = true AND f.stratum = $stratum
        AND f.valid_from <= $end AND coalesce(f.valid_to, $latest) >= $start
        AND NOT ($confidence IS NOT NULL AND f.confidence = $confidence AND f.intent = $intent)
    RETURN {FACT}"""
FACTS_OF_KEY = Query(
    "current facts of a key that touch an interval",
    f"""
    MATCH ()-[f:FACT]->(t) USING INDEX f:FACT(namespace, current, head, relation, valid_from, version)
    WHERE f.head = $head AND f.relation = $relation AND f.version IS NOT NULL AND {_TOUCHING}""",
)
FACTS_OF_TRIPLE = Query(
    "current facts of a triple that touch an interval: of one stratum they never overlap, so the last one that began "
    "earlier bounds what can touch",
    f"""
    OPTIONAL CALL () {{
        MATCH ()-[b:FACT]->() WHERE b.namespace = $namespace AND b.triple = $triple AND b.current = true
            AND b.valid_from < $start AND b.stratum = $stratum
        RETURN b.valid_from AS earliest ORDER BY {_LAST_BEGUN} LIMIT 1
    }}
    WITH coalesce(earliest, -$latest) AS earliest
    MATCH ()-[f:FACT]->(t) USING INDEX f:FACT(namespace, triple, current, valid_from)
    WHERE f.triple = $triple AND f.valid_from >= earliest AND {_TOUCHING}""",
)

Lists = list[list[Any]]


@dataclass(slots=True)
class Answers:
    """Answers inside one write transaction, about keys whose changes were sent."""

    ask: Statements
    namespace: str
    keys: Keys

    def revise(self, revising: Any) -> Any:
        """Run a revision to its end; what it returns."""
        try:
            batch = next(revising)
            while True:
                batch = revising.send(tuple(self.answer(request) for request in batch))
        except StopIteration as finished:
            return finished.value

    @singledispatchmethod
    def answer(self, request: Request) -> Any:
        raise TypeError(f"no answer is known for {type(request).__name__}")

    @answer.register
    def _slice(self, request: Slice) -> Sliced:
        tail = None if request.tail is None else self._number(request.tail)
        scope = Scope(self._number(request.key.head), request.key.relation, tail)
        most = _LATEST if request.limit is None else request.limit + 1
        (row,) = self.ask(SLICES, namespace=self.namespace, slices=[scope.row()], most=most)
        head, relation, _, stakes, facts = row
        if len(stakes) >= most:
            return Sliced(None, ())
        said = tuple(self.keys.read_stake(head, relation, each) for each in stakes)
        return Sliced(said, tuple(self.keys.read_fact(head, relation, each) for each in facts))

    @answer.register
    def _current_facts(self, request: CurrentFacts) -> tuple[Fact, ...]:
        values = self._key(request.key) | {"stratum": request.stratum.value, "latest": _LATEST}
        values |= _bounds(request.interval.start, request.interval.end)
        confidence, intent = request.unless or (None, None)
        values |= {"confidence": confidence, "intent": None if intent is None else intent.value}
        query = FACTS_OF_KEY
        if request.tail is not None:
            ends = (values["head"], request.key.relation, self._number(request.tail))
            known = self.keys.triple(self.ask, self.namespace, ends, with_vector=False)
            query, values["triple"] = FACTS_OF_TRIPLE, 0 if known is None else known[0]
        rows = self.ask(query, **values)
        return tuple(self.keys.read_fact(values["head"], request.key.relation, row[0]) for row in rows)

    @answer.register
    def _next_of_tail(self, request: NextOfTail) -> Instant | None:
        assertive = request.stratum is Stratum.STABLE
        tails = [ANY_TAIL] if request.tail is None else [ANY_TAIL, self._number(request.tail)]
        lists: Lists = [[tail, ENDING, True] for tail in tails]
        if not assertive:
            lists += [[tail, ENDING, False] for tail in tails]
        if request.tail is not None:
            lists.append([tails[1], OPEN, assertive])
        return self._first(FIRST_OF_TAIL, request.key, lists, rank(request.after), request.without)

    @answer.register
    def _next_assertive(self, request: NextAssertive) -> Instant | None:
        return self._first(FIRST_OF_KEY, request.key, _ASSERTIVE, rank(request.after), request.without)

    def _first(self, query: Query, key: Key, lists: Lists, after: str, without: str) -> Instant | None:
        row = self.ask.one(query, **self._key(key), lists=lists, after=after, without=without)
        return None if row is None else row[0]

    def _last(self, query: Query, key: Key, lists: Lists, bound: str, without: str) -> str:
        row = self.ask.one(query, **self._key(key), lists=lists, before=bound, without=without)
        return START if row is None or row[0] is None else str(row[0])

    @answer.register
    def _next_unended(self, request: NextUnended) -> Instant | None:
        """Stakes up to the last ending of every tail are ended, all of them: the walk starts behind it."""
        last = self._last(LAST_OF_TAIL, request.key, [[ANY_TAIL, ENDING, True]], END, request.without)
        values = self._key(request.key) | {"after": max(rank(request.after), last), "until": before(request.before)}
        values |= {"without": request.without, "certain": [True], "before": END}
        row = self.ask.one(UNENDED, **values)
        return None if row is None else row[0]

    @answer.register
    def _arriving(self, request: Arriving) -> tuple[Assertion, ...]:
        counting = _counting(request.stratum)
        values = self._key(request.key) | {
            "from": before(request.interval.start),
            "before": before(request.interval.end),
        }
        if request.tail is None:
            query, lists = ARRIVING_OF_KEY, [[None, kind, certain] for kind, certain in counting]
        else:
            tails = (ANY_TAIL, self._number(request.tail))
            query, lists = ARRIVING_OF_TAIL, [[tail, kind, certain] for tail in tails for kind, certain in counting]
        return tuple(
            {each.id: each for each in self._claims(request.key, self.ask(query, **values, lists=lists))}.values()
        )

    @answer.register
    def _standing(self, request: Standing) -> tuple[Assertion, ...]:
        """Claims from the greatest stake down; one that an ending of its tail (or of all) outranks is passed over."""
        stable = request.stratum is Stratum.STABLE
        certain = [True] if stable else [False, True]
        endings: Lists = [[ANY_TAIL, ENDING, each] for each in certain]
        ended = self._last(LAST_OF_TAIL, request.key, endings, before(request.at), "")
        values = self._key(request.key) | {"at": request.at, "before": before(request.at), "limit": request.limit}
        values |= {"above": max(_rank(request.above, START), ended), "below": _rank(request.below, END)}
        values |= {"passed": [self._number(tail) for tail in sorted(request.without_tails)]}
        values |= {"certain": certain, "without": ""}
        tail = None if request.tail is None else self._number(request.tail)
        lists = [[tail, kind, stable] for kind in (OPEN, BOUNDED)]
        query = STANDING_OF_KEY if tail is None else STANDING_OF_TAIL
        return tuple(self._claims(request.key, self.ask(query, **values, lists=lists)))

    @answer.register
    def _speculation(self, request: Speculation) -> Speculations:
        """A hedged claim is settled at the start when an assertive stake up to there is greater than its greatest."""
        key, start = request.key, request.interval.start
        settled = self._last(LAST_OF_KEY, key, _ASSERTIVE, before(start + 1), "")
        values = self._key(key) | {"settled": settled} | _bounds(start, request.interval.end)
        tail = None if request.tail is None else self._number(request.tail)
        query = HEDGED_OF_KEY if tail is None else HEDGED_OF_TAIL
        rows = self.ask(query, **values, lists=[[tail, kind, False] for kind in (OPEN, BOUNDED)])
        claims = list(self._claims(key, rows))
        until = [self._first(FIRST_OF_KEY, key, _ASSERTIVE, row[1], "") for row in rows]
        return Speculations(tuple(zip(claims, until, strict=True)), tuple(self._endings_since(key, claims)))

    def _endings_since(self, key: Key, claims: list[Assertion]) -> Iterator[Assertion]:
        if not claims:
            return
        tails = {self._number(claim.tail) for claim in claims if claim.tail is not None} | {ANY_TAIL}
        lists = [[tail, ENDING, certain] for tail in sorted(tails) for certain in (False, True)]
        values = self._key(key) | {"from": before(min(claim.valid_from for claim in claims)), "before": END}
        yield from self._claims(key, self.ask(ARRIVING_OF_TAIL, **values, lists=lists))

    @answer.register
    def _support(self, request: Support) -> Supported:
        """In the order of rank, a page at a time; `supported` stops reading where nothing further matters."""
        return supported(self._supports(request), request.stratum)

    def _supports(self, request: Support) -> Iterator[tuple[float, tuple[str, str], Intent]]:
        values = self._key(request.key) | _bounds(request.interval.start, request.interval.end)
        values |= {"tail": self._number(request.tail), "assertive": request.stratum is Stratum.STABLE}
        after, limit = START, _SUPPORTS
        while True:
            rows = self.ask(SUPPORTS, **values, after=after, limit=limit)
            for confidence, turn_id, identifier, intent, after in rows:  # noqa: B007  where to go on
                voice = ("turn", turn_id) if turn_id is not None else ("assertion", identifier)
                yield confidence, voice, Intent(intent)
            if len(rows) < limit:
                return
            limit *= 4

    def _number(self, entity_id: str) -> int:
        return self.keys.numbers[entity_id]

    def _key(self, key: Key) -> dict[str, Any]:
        return {"namespace": self.namespace, "head": self._number(key.head), "relation": key.relation}

    def _claims(self, key: Key, rows: Iterable[Row]) -> Iterator[Assertion]:
        head = self._number(key.head)
        for row in rows:
            yield self.keys.read_stake(head, key.relation, row[0])


_ASSERTIVE: Lists = [[None, OPEN, True], [None, BOUNDED, True]]


def _counting(stratum: Stratum) -> list[tuple[int, bool]]:
    """(kind, assertive) of what counts in a stratum: its own claims, and endings: assertive ones, or all."""
    if stratum is Stratum.STABLE:
        return [(ENDING, True), (OPEN, True), (BOUNDED, True)]
    return [(ENDING, False), (ENDING, True), (OPEN, False), (BOUNDED, False)]


def _bounds(start: Instant, end: Instant | None) -> dict[str, Instant]:
    return {"start": start, "end": _LATEST if end is None else end}


def _rank(order: Order | None, otherwise: str) -> str:
    return otherwise if order is None else rank(order)
