"""Orders as text: (anchor, evidence_at, confidence, id) so that comparing texts compares tuples.

An index over one text then answers "the next stake after this one", which over four properties it cannot. Numbers are
written as sixteen hexadecimal digits: instants moved up to be positive, confidences as the bits of a double, whose
order is that of the numbers where these are not negative. Ids come last and are compared by code point.
"""

from __future__ import annotations

import struct

from memgraph_server.memory.interval import Instant
from memgraph_server.memory.sweep import Order

_LEAST = -(2**62)
#: Greater and less than every rank.
END, START = "g", ""


def rank(order: Order) -> str:
    """Of a stake."""
    anchor, evidence_at, confidence, identifier = order
    return f"{_instant(anchor)}{_instant(evidence_at)}{_confidence(confidence)}{identifier}"


def before(at: Instant | None) -> str:
    """Greater than every stake whose instant is below `at`, and less than all others (None: no instant is later)."""
    return END if at is None else _instant(at)


def support_rank(confidence: float, valid_from: Instant, evidence_at: Instant, identifier: str) -> str:
    """Of `confidence.support_rank`: the most confident first."""
    falling = 2**64 - 1 - int(_confidence(confidence), 16)
    return f"{falling:016x}{_instant(valid_from)}{_instant(evidence_at)}{identifier}"


def _instant(at: Instant) -> str:
    return f"{min(max(at, _LEAST), -_LEAST) - _LEAST:016x}"


def _confidence(confidence: float) -> str:
    return struct.pack(">d", confidence + 0.0).hex()
