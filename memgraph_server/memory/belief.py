"""From the assertions of one key `(head, relation)` to what is believed (design: the memory model; REAL, III-A).

One rule, asked at each instant: **the latest anchor at or before that instant decides.**

- A claim of a tail covers its interval; it has an anchor at its start and, where it is open and said to hold while
  speaking, one at its evidence time. An ending covers everything from its one anchor on; without tail, for all tails.
- Anchors are compared as stakes `(instant, evidence_at, confidence, assertion id)`: later evidence wins a tie, then
  confidence, then the id. No two are equal, so no answer depends on the order of arrival.
- A tail is alive where the greatest stake among its claims and endings that cover the instant is a claim's.
  Multi-valued: every alive tail is believed. Single-valued: the alive tail with the greatest claim.
- Assertive assertions (confidence at or above the threshold) alone decide the stable facts. Hedged claims, unless an
  ending of either kind is greater, give speculative facts beside them; of a single-valued relation a hedged claim
  is settled, and gone, from the anchor of any greater stake of an assertive claim on.
- A fact is a longest run of instants with one tail and one stratum; its supports are the claims of that tail and
  stratum that overlap it. Its confidence is the noisy-or over sources (turns), its intent that of the first support
  in rank: most confident, then earliest.

Because an ending never ends and time only moves forward, a stake that is out is out for good: the sweep keeps a
stack of stakes in ascending order and drops dead ones from its top. O(n log n) for n assertions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple, TypeAlias

from memgraph_server.memory.confidence import source, support_rank, supported
from memgraph_server.memory.facts import STABLE_THRESHOLD, Assertion, Intent, Polarity, Stratum
from memgraph_server.memory.interval import Instant

#: A stake: (anchor instant, evidence_at, confidence, assertion id), compared as a tuple; ids by code point.
Order: TypeAlias = tuple[Instant, Instant, float, str]


@dataclass(frozen=True, slots=True)
class BelievedFact:
    """A believed edge over `[valid_from, valid_to)`; `supports`: ids of the assertions behind it, sorted."""

    head: str
    relation: str
    tail: str
    stratum: Stratum
    valid_from: Instant
    valid_to: Instant | None
    confidence: float
    intent: Intent
    supports: tuple[str, ...]


class Run(NamedTuple):
    """A longest run of instants `[start, end)` at which `tail` is believed (in one stratum)."""

    tail: str
    start: Instant
    end: Instant | None


#: A claim with the instant it ends at: its own end, or the one from which it is settled.
Bounded: TypeAlias = tuple[Assertion, Instant | None]


def believe(
    assertions: Iterable[Assertion], *, single: bool, threshold: float = STABLE_THRESHOLD
) -> tuple[BelievedFact, ...]:
    """All that is believed of one key, sorted by tail, stratum and start.

    `assertions`: every assertion of the key that is not withdrawn, and its antonym's (`as_endings`), in any order;
    one that occurs twice counts once. `single`: no two stable tails at one instant.
    """
    known = _once(assertions)
    facts = []
    for fact, claims in _derived(known, single, threshold):
        supports = sorted(claim.id for claim in claims if overlap(claim, fact.valid_from, fact.valid_to))
        facts.append(replace(fact, supports=tuple(supports)))
    return tuple(facts)


def derive(
    assertions: Iterable[Assertion], *, single: bool, threshold: float = STABLE_THRESHOLD
) -> tuple[BelievedFact, ...]:
    """`believe` without `supports` (left empty), whose total size can be the square of the key's."""
    return tuple(fact for fact, _ in _derived(_once(assertions), single, threshold))


def as_endings(claims: Iterable[Assertion], relation: str) -> tuple[Assertion, ...]:
    """Claims of the antonym relation as endings of the same tails of `relation`, at their starts."""
    return tuple(
        replace(claim, relation=relation, polarity=Polarity.ENDING, valid_to=None, ongoing=False)
        for claim in claims
        if claim.polarity is Polarity.CLAIM
    )


def stakes(assertion: Assertion) -> tuple[Order, ...]:
    """The assertion's one or two stakes, ascending."""
    first = (assertion.valid_from, assertion.evidence_at, assertion.confidence, assertion.id)
    vouched = assertion.ongoing and assertion.valid_to is None and assertion.polarity is Polarity.CLAIM
    if vouched and assertion.evidence_at > assertion.valid_from:
        return first, (assertion.evidence_at, *first[1:])
    return (first,)


def overlap(claim: Assertion, start: Instant, end: Instant | None) -> bool:
    """Whether the claim covers an instant of `[start, end)`."""
    return (end is None or claim.valid_from < end) and (claim.valid_to is None or start < claim.valid_to)


# -- who is believed when


@dataclass(slots=True)
class _Lane:
    """What competes for one place: all tails of a single-valued relation, one tail of a multi-valued one."""

    stack: list[tuple[Order, str, Instant | None]] = field(default_factory=list)
    tail: str | None = None
    since: Instant = 0


class _Event(NamedTuple):
    """A stake at its instant, or the end of a bounded claim (no stake). Ends sort first; it makes no difference."""

    at: Instant
    stake: Order | tuple[()]
    tail: str | None
    end: Instant | None
    ending: bool


def runs(claims: Iterable[Bounded], endings: Iterable[Assertion], *, single: bool) -> list[Run]:
    """The rule itself, for the claims of one stratum and the endings that count in it. In order of their ends."""
    lanes: defaultdict[str | None, _Lane] = defaultdict(_Lane)
    ended: dict[str | None, Order] = {}
    done: list[Run] = []
    for at, events in groupby(sorted(_events(claims, endings), key=lambda event: event[:2]), key=lambda e: e.at):
        touched: set[str | None] = set()
        for event in events:
            _arrive(event, lanes, ended, touched, single)
        for name in touched:
            _look(lanes[name], at, ended, done)
    done.extend(Run(lane.tail, lane.since, None) for lane in lanes.values() if lane.tail is not None)
    return done


def _events(claims: Iterable[Bounded], endings: Iterable[Assertion]) -> Iterator[_Event]:
    for claim, end in claims:
        if end is not None:
            if end <= claim.valid_from:  # settled before it began
                continue
            yield _Event(end, (), claim.tail, None, False)
        for stake in stakes(claim):
            if end is None or stake[0] < end:
                yield _Event(stake[0], stake, claim.tail, end, False)
    for ending in endings:
        stake = stakes(ending)[0]
        yield _Event(stake[0], stake, ending.tail, None, True)


def _arrive(
    event: _Event,
    lanes: defaultdict[str | None, _Lane],
    ended: dict[str | None, Order],
    touched: set[str | None],
    single: bool,
) -> None:
    """Take one event in; stakes arrive in ascending order, so each is the greatest so far."""
    lane = None if single else event.tail
    if event.ending and event.stake:
        ended[event.tail] = event.stake
        if event.tail is None:
            touched.update(name for name, lane_of_it in lanes.items() if lane_of_it.tail is not None)
    elif event.stake and event.tail is not None:
        lanes[lane].stack.append((event.stake, event.tail, event.end))
    if lane in lanes:
        touched.add(lane)


def _look(lane: _Lane, at: Instant, ended: dict[str | None, Order], done: list[Run]) -> None:
    """Drop what is out for good, see who is believed from `at` on, and close the run that is over."""
    stack = lane.stack
    while stack and _is_out(stack[-1], at, ended):
        stack.pop()
    tail = stack[-1][1] if stack else None
    if tail != lane.tail:
        if lane.tail is not None:
            done.append(Run(lane.tail, lane.since, at))
        lane.tail, lane.since = tail, at


def _is_out(entry: tuple[Order, str, Instant | None], at: Instant, ended: dict[str | None, Order]) -> bool:
    stake, tail, end = entry
    return (end is not None and end <= at) or stake < ended.get(tail, ()) or stake < ended.get(None, ())


# -- the two strata


def _once(assertions: Iterable[Assertion]) -> list[Assertion]:
    return list({assertion.id: assertion for assertion in assertions}.values())


def _derived(
    known: Sequence[Assertion], single: bool, threshold: float
) -> Iterator[tuple[BelievedFact, list[Assertion]]]:
    """Facts in order, each with all claims of its tail and stratum."""
    assertive = [assertion for assertion in known if assertion.confidence >= threshold]
    hedged = _claims(assertion for assertion in known if assertion.confidence < threshold)
    stable = _claims(assertive)
    plain = [(claim, claim.valid_to) for claim in stable]
    settled = settle(hedged, stable) if single else [(claim, claim.valid_to) for claim in hedged]
    strata = {
        Stratum.STABLE: (stable, runs(plain, _endings(assertive), single=single)),
        Stratum.SPECULATIVE: (hedged, runs(settled, _endings(known), single=False)),
    }
    found = [
        (fact, of_tail)
        for stratum, (claims, of_stratum) in strata.items()
        for fact, of_tail in _facts(stratum, claims, of_stratum, threshold)
    ]
    found.sort(key=lambda pair: (pair[0].tail, pair[0].stratum, pair[0].valid_from))
    yield from found


def _claims(assertions: Iterable[Assertion]) -> list[Assertion]:
    return [each for each in assertions if each.polarity is Polarity.CLAIM and each.tail is not None]


def _endings(assertions: Iterable[Assertion]) -> list[Assertion]:
    return [each for each in assertions if each.polarity is Polarity.ENDING]


def settle(hedged: Iterable[Assertion], stable: Iterable[Assertion]) -> list[Bounded]:
    """Hedged claims of a single-valued relation with their ends: their own, or the next greater stable stake."""
    firm = sorted(stake for claim in stable for stake in stakes(claim))
    return [(claim, earliest(claim.valid_to, _settled_at(claim, firm))) for claim in hedged]


def _settled_at(claim: Assertion, firm: Sequence[Order]) -> Instant | None:
    after = bisect_right(firm, stakes(claim)[-1])
    return firm[after][0] if after < len(firm) else None


def earliest(one: Instant | None, other: Instant | None) -> Instant | None:
    """The lesser of two ends, where None is no end."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


# -- facts of the runs


def _facts(
    stratum: Stratum, claims: Iterable[Assertion], of_stratum: Iterable[Run], threshold: float
) -> Iterator[tuple[BelievedFact, list[Assertion]]]:
    by_tail: defaultdict[str | None, list[Assertion]] = defaultdict(list)
    for claim in claims:
        by_tail[claim.tail].append(claim)
    for tail, group in groupby(sorted(of_stratum, key=lambda run: run[:2]), key=lambda run: run.tail):
        of_tail = by_tail[tail]
        for run, backing in _backed(list(group), of_tail):
            rows = ((claim.confidence, source(claim), claim.intent) for claim in backing)
            confidence, intent = supported(rows, stratum, threshold)
            one = of_tail[0]
            yield (
                BelievedFact(one.head, one.relation, run.tail, stratum, run.start, run.end, confidence, intent, ()),
                of_tail,
            )


def _backed(of_tail: Sequence[Run], claims: Sequence[Assertion]) -> Iterator[tuple[Run, Iterator[Assertion]]]:
    """Runs of one tail, ascending, each with its supports in rank: a window of claims slides along with the runs."""
    arriving = sorted(claims, key=lambda claim: claim.valid_from)
    leaving = sorted((claim for claim in claims if claim.valid_to is not None), key=lambda claim: claim.valid_to or 0)
    inside: list[Assertion] = []
    came = went = 0
    for run in of_tail:
        while came < len(arriving) and (run.end is None or arriving[came].valid_from < run.end):
            insort(inside, arriving[came], key=support_rank)
            came += 1
        while went < len(leaving) and (leaving[went].valid_to or 0) <= run.start:
            _remove(inside, leaving[went])
            went += 1
        yield run, iter(inside)


def _remove(inside: list[Assertion], claim: Assertion) -> None:
    """It is inside: what has ended before a run began before it, too."""
    del inside[bisect_left(inside, support_rank(claim), key=support_rank)]
