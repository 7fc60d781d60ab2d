"""The rule of belief read aloud, one instant at a time: slow, and as near to the words of the design as code can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from memgraph_server.memory.facts import Assertion, Polarity, Stratum
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.sweep import Order

#: (tail, stratum, start, end)
Spell = tuple[str, Stratum, Instant, Instant | None]


def anchors(each: Assertion) -> list[Instant]:
    ongoing = each.polarity is Polarity.CLAIM and each.valid_to is None and each.ongoing
    return [each.valid_from, *([each.evidence_at] if ongoing and each.evidence_at > each.valid_from else [])]


def order(each: Assertion, at: Instant) -> Order:
    """The latest anchor at or before `at`, with what breaks ties."""
    return max(anchor for anchor in anchors(each) if anchor <= at), each.evidence_at, each.confidence, each.id


def covers(each: Assertion, at: Instant) -> bool:
    if each.polarity is Polarity.ENDING:
        return each.valid_from <= at
    return each.valid_from <= at and (each.valid_to is None or at < each.valid_to)


def decider(candidates: Iterable[Assertion], tail: str, at: Instant) -> Assertion | None:
    of_tail = [each for each in candidates if each.tail in (tail, None) and covers(each, at)]
    latest = max(of_tail, key=lambda each: order(each, at), default=None)
    return latest if latest is not None and latest.polarity is Polarity.CLAIM else None


def settled(claim: Assertion, assertive: Iterable[Assertion], at: Instant) -> bool:
    """Whether an assertive claim of the key has spoken since, by `at`."""
    last = (anchors(claim)[-1], claim.evidence_at, claim.confidence, claim.id)
    return any(
        anchor <= at and (anchor, each.evidence_at, each.confidence, each.id) > last
        for each in assertive
        if each.polarity is Polarity.CLAIM
        for anchor in anchors(each)
    )


def believed_at(known: Sequence[Assertion], at: Instant, *, single: bool) -> set[tuple[str, Stratum]]:
    tails = {each.tail for each in known if each.tail is not None}
    assertive = [each for each in known if each.confidence >= 0.8]
    deciders = [claim for tail in tails if (claim := decider(assertive, tail, at)) is not None]
    if single:
        deciders = sorted(deciders, key=lambda each: order(each, at))[-1:]
    hedged = [
        each
        for each in known
        if each.polarity is Polarity.ENDING or (each.confidence < 0.8 and not (single and settled(each, assertive, at)))
    ]
    return {(claim.tail, Stratum.STABLE) for claim in deciders if claim.tail is not None} | {
        (tail, Stratum.SPECULATIVE) for tail in tails if decider(hedged, tail, at) is not None
    }


def spells(known: Sequence[Assertion], last: Instant, *, single: bool) -> list[Spell]:
    """Longest runs over the instants 0 to `last`; what is believed at `last` never ends."""
    believed = [believed_at(known, at, single=single) for at in range(last + 1)]
    found: list[Spell] = []
    for tail, stratum in sorted(set().union(*believed)):
        yes = [at for at in range(last + 1) if (tail, stratum) in believed[at]]
        for _, run in groupby(enumerate(yes), key=lambda pair: pair[1] - pair[0]):
            instants = [at for _, at in run]
            end = None if instants[-1] == last else instants[-1] + 1
            found.append((tail, stratum, instants[0], end))
    return sorted(found)
