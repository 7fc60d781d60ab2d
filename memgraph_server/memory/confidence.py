"""How sure a fact is, and which intent it has, from the claims that support it (REAL, III-A: the c and ι of a fact).

Confidence is the noisy-or over voices: 1 - Π(1 - c), where several claims of one turn are one voice, with its most
confident claim. It is summed as integer weights, so that it is the same in any order, and rounded to nine digits, so
that one support gives exactly its own confidence. A stable fact is never below the threshold; a speculative one is
always below it, however many voices it has. The intent is that of the first support in rank.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import exp, log1p, nextafter
from typing import NamedTuple

from memgraph_server.memory.facts import STABLE_THRESHOLD, Assertion, Intent, Stratum
from memgraph_server.memory.interval import Instant

#: Fixed point of the weights.
_UNIT = 2**32
#: A sum of weights at or above it is certainty: exp(-22) rounds to 0 at nine digits.
_CERTAIN = 22 * _UNIT


class Supported(NamedTuple):
    confidence: float
    intent: Intent


def support_rank(claim: Assertion) -> tuple[float, Instant, Instant, str]:
    """Supports in ascending rank: most confident first, then earliest start, evidence, id."""
    return -claim.confidence, claim.valid_from, claim.evidence_at, claim.id


def source(claim: Assertion) -> Hashable:
    """What counts as one voice: the turn, or the assertion itself where no turn is known."""
    return ("turn", claim.turn_id) if claim.turn_id is not None else ("assertion", claim.id)


def supported(
    rows: Iterable[tuple[float, Hashable, Intent]], stratum: Stratum, threshold: float = STABLE_THRESHOLD
) -> Supported:
    """Confidence and intent of a fact from its supports' (confidence, source, intent), in ascending `support_rank`.

    Reads no further than certainty, so a lazy cursor costs some twenty rows, however many supports there are.
    """
    enough = _CERTAIN if stratum is Stratum.STABLE else min(_CERTAIN, weight(threshold))
    total, intent = 0, None
    heard: set[Hashable] = set()
    for confidence, voice, its_intent in rows:
        intent = intent or its_intent
        if voice not in heard:  # in rank, the first of a voice is its most confident
            heard.add(voice)
            total += weight(confidence)
        if total >= enough or confidence <= 0.0:
            break
    if intent is None:
        raise ValueError("a fact has at least one support")
    return Supported(_confidence(total, stratum, threshold), intent)


def most_confident(stratum: Stratum, threshold: float = STABLE_THRESHOLD) -> float:
    """The confidence that no further support can raise: certainty, or just below the threshold for speculation."""
    return 1.0 if stratum is Stratum.STABLE else nextafter(threshold, 0.0)


def weight(confidence: float) -> int:
    """-ln(1 - confidence) in fixed point; certainty where more would round to it."""
    if confidence >= 1.0:
        return _CERTAIN
    return min(_CERTAIN, round(-log1p(-confidence) * _UNIT))


def _confidence(total: int, stratum: Stratum, threshold: float) -> float:
    noisy_or = round(1.0 - exp(-total / _UNIT), 9)
    if stratum is Stratum.STABLE:
        return max(threshold, noisy_or)
    return min(noisy_or, most_confident(stratum, threshold))
