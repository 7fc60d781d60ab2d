"""From the assertions of one key `(head, relation)` to what is believed (design: the memory model; REAL, III-A).

- Assertive assertions (confidence at or above the threshold) alone decide the stable facts, by the rule of `sweep.py`.
- Hedged claims, unless an ending of either kind is greater, give speculative facts beside them, all tails alike; of a
  single-valued relation a hedged claim is settled, and gone, from the anchor of any greater stake of an assertive
  claim on, whatever its tail. Hedged assertions never touch a stable fact.
- A fact is a longest run of instants with one tail and one stratum; its supports are the claims of that tail and
  stratum that overlap it, and give it confidence and intent (`confidence.py`).
- A claim of the antonym is an ending of the same tail.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from memgraph_server.memory.confidence import source, support_rank, supported
from memgraph_server.memory.facts import STABLE_THRESHOLD, Assertion, Intent, Polarity, Stratum
from memgraph_server.memory.interval import Instant, earliest
from memgraph_server.memory.sweep import Bid, End, Order, Run, runs, stakes


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


def believe(
    assertions: Iterable[Assertion], *, single: bool, threshold: float = STABLE_THRESHOLD
) -> tuple[BelievedFact, ...]:
    """All that is believed of one key, sorted by tail, stratum and start.

    `assertions`: every assertion of the key that is not withdrawn, and its antonym's (`as_endings`), in any order;
    one that occurs twice counts once. `single`: no two stable tails at one instant.
    """
    known = _once(assertions)
    facts = []
    for fact, of_tail in _derived(known, single, threshold):
        supports = sorted(claim.id for claim in of_tail if overlap(claim, fact.valid_from, fact.valid_to))
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


def overlap(claim: Assertion, start: Instant, end: Instant | None) -> bool:
    """Whether the claim covers an instant of `[start, end)`."""
    return (end is None or claim.valid_from < end) and (claim.valid_to is None or start < claim.valid_to)


# -- the two strata


def _once(assertions: Iterable[Assertion]) -> list[Assertion]:
    return list({assertion.id: assertion for assertion in assertions}.values())


def _derived(
    known: Sequence[Assertion], single: bool, threshold: float
) -> Iterator[tuple[BelievedFact, list[Assertion]]]:
    """Facts in order, each with all claims of its tail and stratum."""
    if len(known) == 1:
        yield from _alone(known[0], threshold)
        return
    hedged, assertive = claims(known, threshold)
    bids = chain.from_iterable(map(bid, assertive, map(_own_end, assertive)))
    tentative = chain.from_iterable(map(bid, hedged, settle(hedged, assertive) if single else map(_own_end, hedged)))
    strata = {
        Stratum.STABLE: (assertive, runs(bids, ends(known, threshold), single=single) if assertive else []),
        Stratum.SPECULATIVE: (hedged, runs(tentative, ends(known), single=False) if hedged else []),
    }
    found = [
        (fact, of_tail)
        for stratum, (of_kind, of_stratum) in strata.items()
        for fact, of_tail in _facts(stratum, of_kind, of_stratum, threshold)
    ]
    found.sort(key=lambda pair: (pair[0].tail, pair[0].stratum, pair[0].valid_from))
    yield from found


def _alone(claim: Assertion, threshold: float) -> Iterator[tuple[BelievedFact, list[Assertion]]]:
    """What most keys hold: one assertion, that nothing competes with. It is believed throughout its interval."""
    if claim.polarity is not Polarity.CLAIM or claim.tail is None:
        return
    stratum = Stratum.STABLE if claim.confidence >= threshold else Stratum.SPECULATIVE
    confidence, intent = supported([(claim.confidence, source(claim), claim.intent)], stratum, threshold)
    held = (claim.valid_from, claim.valid_to, confidence, intent)
    yield BelievedFact(claim.head, claim.relation, claim.tail, stratum, *held, ()), [claim]


def claims(known: Iterable[Assertion], threshold: float = STABLE_THRESHOLD) -> tuple[list[Assertion], list[Assertion]]:
    """The hedged and the assertive claims among them."""
    strata: tuple[list[Assertion], list[Assertion]] = [], []
    for each in known:
        if each.polarity is Polarity.CLAIM and each.tail is not None:
            strata[each.confidence >= threshold].append(each)
    return strata


def ends(known: Iterable[Assertion], least: float = 0.0) -> list[End]:
    """The endings among them that are at least so confident."""
    return [
        End(stakes(each)[0], each.tail)
        for each in known
        if each.polarity is Polarity.ENDING and each.confidence >= least
    ]


def bid(claim: Assertion, end: Instant | None) -> Iterator[Bid]:
    """The claim's bids, up to its own end or an earlier one from which it is settled."""
    return (Bid(stake, claim.tail or "", end) for stake in stakes(claim))


def _own_end(claim: Assertion) -> Instant | None:
    return claim.valid_to


def settle(hedged: Iterable[Assertion], assertive: Iterable[Assertion]) -> list[Instant | None]:
    """Where each hedged claim of a single-valued relation stops: its own end, or the next greater assertive stake."""
    firm = sorted(stake for claim in assertive for stake in stakes(claim))
    return [earliest(claim.valid_to, settled_at(claim, firm)) for claim in hedged]


def settled_at(claim: Assertion, firm: Sequence[Order]) -> Instant | None:
    after = bisect_right(firm, stakes(claim)[-1])
    return firm[after][0] if after < len(firm) else None


# -- facts of the runs


def _facts(
    stratum: Stratum, of_kind: Iterable[Assertion], of_stratum: Iterable[Run], threshold: float
) -> Iterator[tuple[BelievedFact, list[Assertion]]]:
    by_tail: defaultdict[str | None, list[Assertion]] = defaultdict(list)
    for claim in of_kind:
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


def _backed(of_tail: Sequence[Run], backers: Sequence[Assertion]) -> Iterator[tuple[Run, Iterator[Assertion]]]:
    """Runs of one tail, ascending, each with its supports in rank: a window of claims slides along with the runs."""
    arriving = sorted(backers, key=lambda claim: claim.valid_from)
    leaving = sorted((claim for claim in backers if claim.valid_to is not None), key=lambda claim: claim.valid_to or 0)
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
