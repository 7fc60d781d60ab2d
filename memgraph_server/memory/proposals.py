"""A proposal: an assertion before its names are entities. Extractors and callers propose; the store resolves names.

Names are text from outside: data, never syntax. `relation` is canonical already (`relations.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from memgraph_server.memory.facts import Intent, Polarity
from memgraph_server.memory.interval import Basis, Instant, Precision


@dataclass(frozen=True, slots=True)
class Proposal:
    """(head, relation, tail) by name over `[valid_from, valid_to)`; `id` is None where the store may choose one."""

    head: str
    relation: str
    tail: str | None
    valid_from: Instant
    evidence_at: Instant
    valid_to: Instant | None = None
    confidence: float = 1.0
    intent: Intent = Intent.FACT
    polarity: Polarity = Polarity.CLAIM
    ongoing: bool = False
    from_precision: Precision = Precision.INSTANT
    to_precision: Precision = Precision.INSTANT
    from_basis: Basis = Basis.OBSERVED
    to_basis: Basis = Basis.OBSERVED
    head_type: str = ""
    tail_type: str = ""
    source: str = "api"
    span: tuple[int, int] | None = None
    turn_id: str | None = None
    id: str | None = None


def triple_text(head: str, relation: str, tail: str) -> str:
    """The triple as a short sentence, for embedding, full-text search and prompts: "Ann lives in Paris"."""
    return f"{head} {relation.replace('_', ' ')} {tail}"
