"""What the revision of a belief asks of a store, and what it is told (driven by `revision.py`).

All requests speak of one key `(head, relation)` of one namespace, inside the write transaction that changes it.

Rules for every answer:
- withdrawn assertions are left out; the assertion that is being inserted is in; the one being withdrawn is out;
- claims of the relation's antonym (same head) are in, as endings (`belief.as_endings`);
- an *ending* of a tail is one of that tail or one without tail; in the STABLE stratum only assertive endings count,
  in the SPECULATIVE one all do. *Claims of a stratum*: assertive ones are STABLE, hedged ones SPECULATIVE;
- *current facts* are those with no `recorded_to`.

An assertion has *stakes*, `Order`s: one at `valid_from`, and a second at `evidence_at` where it is a claim, open,
ongoing and `evidence_at > valid_from`. A stake counts from its instant to the end of its assertion (an ending never
ends). A store does well to keep stakes as rows of their own (at most two an assertion) with an index on
`(key, tail, polarity, assertive, anchor, evidence_at, confidence, id)`.

Requests come in batches (a tuple); answers go back as a tuple in the same order. The first batch of a revision is
always one `Slice`, so that the first batches of many revisions can be answered in one round trip; for keys of up to
`limit` assertions it is the only one.

`answers.py` answers all of these from plain lists: the executable definition that every store is tested against.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from memgraph_server.memory.facts import Assertion, Fact, Intent, Stratum
from memgraph_server.memory.interval import Instant, Interval
from memgraph_server.memory.sweep import Order


@dataclass(frozen=True, slots=True)
class Key:
    head: str
    relation: str


@dataclass(frozen=True, slots=True)
class Slice:
    """All assertions of the key (of `tail`: its claims and its endings), and the current facts of the same.

    Answer: `Sliced`; nothing (None, ()) where there are more than `limit` assertions. `limit` None: however many.
    """

    key: Key
    tail: str | None
    limit: int | None


@dataclass(frozen=True, slots=True)
class Sliced:
    assertions: tuple[Assertion, ...] | None
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class CurrentFacts:
    """Current facts of the stratum (of `tail`, if given) that overlap or touch `interval`. Answer: tuple[Fact, ...].

    `unless`: leave out those with this confidence and this intent, which a further support cannot change.
    """

    key: Key
    stratum: Stratum
    tail: str | None
    interval: Interval
    unless: tuple[float, Intent] | None = None


@dataclass(frozen=True, slots=True)
class NextOfTail:
    """Least anchor, among stakes greater than `after`, of an open claim of `tail` and stratum or of an ending of it.

    `tail` None: of an ending without tail. Stakes of assertion `without` do not count. Answer: Instant or None.
    """

    key: Key
    stratum: Stratum
    tail: str | None
    after: Order
    without: str


@dataclass(frozen=True, slots=True)
class NextUnended:
    """Least anchor, among stakes greater than `after` with an instant below `before` (None: any), of an open assertive
    claim of any tail such that no assertive ending of its tail is greater than that stake.

    Stakes of assertion `without` do not count. Answer: Instant or None.
    """

    key: Key
    after: Order
    before: Instant | None
    without: str


@dataclass(frozen=True, slots=True)
class NextAssertive:
    """Least anchor, among stakes greater than `after`, of an assertive claim of any tail. Answer: Instant or None."""

    key: Key
    after: Order
    without: str


@dataclass(frozen=True, slots=True)
class Arriving:
    """Claims of the stratum and endings (of `tail` and without tail; all where `tail` is None) with a stake whose
    instant is in `interval`. Answer: tuple[Assertion, ...], any order, each once.
    """

    key: Key
    stratum: Stratum
    tail: str | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class Standing:
    """Claims of the stratum (of `tail`, if given) that began before `at`, still cover it, and are not ended: there is
    no ending of its tail, with an instant below `at`, greater than the claim's greatest stake before `at`.

    In descending order of that stake, at most `limit`, only stakes below `below` (None: all) and above `above`
    (None: all), and none of the tails in `without_tails`. Answer: tuple[Assertion, ...] in that order.
    """

    key: Key
    stratum: Stratum
    tail: str | None
    at: Instant
    above: Order | None
    below: Order | None
    without_tails: frozenset[str]
    limit: int


@dataclass(frozen=True, slots=True)
class Speculation:
    """Of a single-valued relation: hedged claims (of `tail`, if given) that overlap `interval` and are not settled at
    its start. A hedged claim is settled from the least anchor of an assertive claim's stake greater than the hedged
    claim's greatest stake. Answer: `Speculations`.
    """

    key: Key
    tail: str | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class Speculations:
    """`claims`: each with the instant from which it is settled (None: never). `endings`: all endings (assertive or
    hedged) of the claims' tails and those without tail, from the earliest start of the claims on (or simply all)."""

    claims: tuple[tuple[Assertion, Instant | None], ...]
    endings: tuple[Assertion, ...]


@dataclass(frozen=True, slots=True)
class Support:
    """Who supports a fact: claims of its tail and stratum that overlap `interval`. Answer: `confidence.Supported`, as
    `confidence.supported(rows, stratum)` folds it from (confidence, source, intent) of those claims in ascending
    `confidence.support_rank`: confidence descending, then valid_from, evidence_at, id ascending. `source` is the turn's
    id, or the assertion's where it has none (kept apart). It stops reading when nothing further can matter: give it a
    lazy cursor.
    """

    key: Key
    stratum: Stratum
    tail: str
    interval: Interval


Request: TypeAlias = (
    Slice | CurrentFacts | NextOfTail | NextUnended | NextAssertive | Arriving | Standing | Speculation | Support
)

T = TypeVar("T")

#: Yields batches of requests, is sent batches of answers in the same order, returns its result.
Asking: TypeAlias = Generator[tuple[Request, ...], tuple[Any, ...], T]
