"""Entities, assertions and facts: what is claimed, and what is believed because of it (design: REAL, III-A).

An assertion is what one source claims, and is never changed. A fact is a believed edge of the graph, derived from all
assertions of its key `(head, relation)` by `belief.py`. Ids are opaque text, given from outside; heads and tails are
entity ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memgraph_server.memory.interval import Basis, Instant, Interval, Precision

#: θ_stable of the paper: at or above it an assertion is assertive, below it hedged.
STABLE_THRESHOLD = 0.8


class Intent(StrEnum):
    """What later question a fact may serve (REAL, III-A, Exploration Intent Enrichment)."""

    FACT = "FACT"
    CAUSAL = "CAUSAL"
    TEMPORAL = "TEMPORAL"
    CONTRAST = "CONTRAST"
    EVOLUTION = "EVOLUTION"


class Polarity(StrEnum):
    CLAIM = "claim"
    ENDING = "ending"


class Stratum(StrEnum):
    STABLE = "stable"
    SPECULATIVE = "speculative"


@dataclass(frozen=True, slots=True)
class Entity:
    """A canonical name with its aliases; `merged_into` names the entity that stands for it now, if any."""

    id: str
    name: str
    type: str = ""  # "person", "place", … or ""
    aliases: tuple[str, ...] = ()
    merged_into: str | None = None


@dataclass(frozen=True, slots=True)
class Assertion:
    """What one source claims; immutable. An ending without a tail ends every tail of its key.

    `ongoing`: the claim is said to hold while speaking, so its evidence time vouches for it too.
    `source`: who read it out of the turn ("local/1", "api", a model with its prompt version).
    `span`: the characters of the turn's text that say so.
    """

    id: str
    head: str
    relation: str
    tail: str | None
    valid_from: Instant
    evidence_at: Instant
    recorded_at: Instant
    valid_to: Instant | None = None
    confidence: float = 1.0
    intent: Intent = Intent.FACT
    polarity: Polarity = Polarity.CLAIM
    ongoing: bool = False
    turn_id: str | None = None
    from_precision: Precision = Precision.INSTANT
    to_precision: Precision = Precision.INSTANT
    from_basis: Basis = Basis.OBSERVED
    to_basis: Basis = Basis.OBSERVED
    source: str = "api"
    span: tuple[int, int] | None = None

    @property
    def interval(self) -> Interval:
        return Interval(self.valid_from, self.valid_to)

    @property
    def assertive(self) -> bool:
        return self.confidence >= STABLE_THRESHOLD


@dataclass(frozen=True, slots=True)
class Fact:
    """One version of a believed edge. The current version has no `recorded_to`.

    `id` stays while the belief keeps its head, relation, tail, stratum and start; `version` is unique to this row.
    """

    id: str
    version: int
    head: str
    relation: str
    tail: str
    stratum: Stratum
    valid_from: Instant
    valid_to: Instant | None
    confidence: float
    intent: Intent
    recorded_from: Instant
    recorded_to: Instant | None = None

    @property
    def interval(self) -> Interval:
        return Interval(self.valid_from, self.valid_to)
