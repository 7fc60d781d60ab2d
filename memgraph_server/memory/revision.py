"""Belief kept up to date: what one assertion, applied or withdrawn, changes (work in progress: types are final)."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeAlias

from memgraph_server.memory.facts import Fact, Intent, Stratum
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.requests import Request


@dataclass(frozen=True, slots=True)
class NewFact:
    """A version to write: `Fact` without version and recorded time, which the store gives."""

    id: str
    head: str
    relation: str
    tail: str
    stratum: Stratum
    valid_from: Instant
    valid_to: Instant | None
    confidence: float
    intent: Intent


@dataclass(frozen=True, slots=True)
class Revision:
    """Versions to close at the recorded time, and versions to write then. Facts that stay as they are: in neither."""

    close: tuple[Fact, ...] = ()
    open: tuple[NewFact, ...] = ()


#: Yields batches of requests, is sent batches of answers in the same order, returns the revision.
Revising: TypeAlias = Generator[tuple[Request, ...], tuple[Any, ...], Revision]


def fact_id(head: str, relation: str, tail: str, stratum: Stratum, valid_from: Instant) -> str:
    """The fact's id: 128 bits of SHA-256 over its parts, the same whatever the order of arrival."""
    parts = (head, relation, tail, stratum.value, str(valid_from))
    framed = b"".join(b"%d:%b" % (len(raw), raw) for raw in (part.encode("utf-8", "surrogatepass") for part in parts))
    return f"f_{hashlib.sha256(framed).hexdigest()[:32]}"
