"""Claims arrive without a model: checked, defaults filled, names left to the store, facts derived there.

What is left out (the service's contract): `valid_from` is `evidence_at`, `evidence_at` is now, `confidence` is 1,
`intent` is FACT, `ongoing` is true where the claim is open and `evidence_at` was given.

A repeated call must be the same claim, though "now" has moved on: where an assertion of that id is there already, what
was left out is taken from it before the two are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from memgraph_server.actions import inputs
from memgraph_server.errors import Conflict, InvalidInput, NotFound, TooLarge
from memgraph_server.language.port import Embedder, Floats
from memgraph_server.memory.facts import Assertion, Intent, Polarity
from memgraph_server.memory.interval import Basis, Instant, Precision
from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.stores.port import GraphStore

_Word = TypeVar("_Word", Intent, Polarity)

#: Triples embedded before the call returns; those of larger calls are left to the worker, which finds them by itself.
EMBEDDED_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class GivenAssertion:
    """An assertion as a caller sends it: nothing checked yet, None where it was left out."""

    head: str
    relation: str
    tail: str | None = None
    id: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: float | None = None
    intent: str | None = None
    polarity: str | None = None
    ongoing: bool | None = None
    evidence_at: str | None = None
    turn_id: str | None = None


def assert_facts(
    store: GraphStore,
    namespace: str,
    given: Sequence[GivenAssertion],
    *,
    canonical: Callable[[str], str],
    embedder: Embedder | None,
    now: Instant,
) -> list[str]:
    """Assertion ids, in order; all are stored, or none. Raises InvalidInput, TooLarge, NotFound, Conflict."""
    inputs.namespace(namespace)
    _check_count(given)
    proposals = [_proposal(one, f"assertions.{index}", canonical, now) for index, one in enumerate(given)]
    _check_turns(store, namespace, proposals)
    repeated = _as_before(store, namespace, given, proposals)
    vectors = _vectors(repeated, embedder)
    try:
        return store.assert_facts(namespace, repeated, vectors, now=now)
    except Conflict:  # unless the same call ran beside this one and was first
        again = _as_before(store, namespace, given, proposals)
        if again == repeated:
            raise
        return store.assert_facts(namespace, again, vectors, now=now)


def _check_count(given: Sequence[GivenAssertion]) -> None:
    if not given:
        raise InvalidInput("assertions must have at least one assertion", field="assertions")
    if len(given) > inputs.MAX_ASSERTIONS:
        raise TooLarge(f"at most {inputs.MAX_ASSERTIONS} assertions are taken in one call", field="assertions")


def _check_turns(store: GraphStore, namespace: str, proposals: Sequence[Proposal]) -> None:
    asked = {proposal.turn_id: index for index, proposal in enumerate(proposals) if proposal.turn_id is not None}
    missing = set(asked) - {turn.id for turn in store.turns(namespace, list(asked))} if asked else set()
    if missing:
        index = min(asked[turn_id] for turn_id in missing)
        raise NotFound(
            f"assertions.{index}.turn_id names no turn of this namespace", field=f"assertions.{index}.turn_id"
        )


def _proposal(given: GivenAssertion, field: str, canonical: Callable[[str], str], now: Instant) -> Proposal:
    polarity = _member(Polarity, given.polarity or Polarity.CLAIM, f"{field}.polarity")
    evidence_at = inputs.date_of(given.evidence_at, f"{field}.evidence_at")[0] if given.evidence_at is not None else now
    start = _dated(given.valid_from, f"{field}.valid_from")
    end = _dated(given.valid_to, f"{field}.valid_to")
    _check_span(polarity, start, end, evidence_at, field)
    return Proposal(
        head=inputs.name(given.head, f"{field}.head"),
        relation=canonical(inputs.name(given.relation, f"{field}.relation")),
        tail=_tail(given.tail, polarity, f"{field}.tail"),
        valid_from=start[0] if start else evidence_at,
        valid_to=end[0] if end else None,
        evidence_at=evidence_at,
        confidence=_confidence(given.confidence, f"{field}.confidence"),
        intent=_member(Intent, given.intent or Intent.FACT, f"{field}.intent"),
        polarity=polarity,
        ongoing=_ongoing(given, polarity, end is None),
        from_precision=start[1] if start else Precision.INSTANT,
        to_precision=end[1] if end else Precision.INSTANT,
        from_basis=Basis.STATED if start else Basis.OBSERVED,
        to_basis=Basis.STATED if end else Basis.OBSERVED,
        turn_id=inputs.identifier(given.turn_id, f"{field}.turn_id") if given.turn_id is not None else None,
        id=inputs.identifier(given.id, f"{field}.id") if given.id is not None else None,
    )


def _dated(text: str | None, field: str) -> tuple[Instant, Precision] | None:
    return inputs.date_of(text, field) if text is not None else None


def _check_span(
    polarity: Polarity,
    start: tuple[Instant, Precision] | None,
    end: tuple[Instant, Precision] | None,
    evidence_at: Instant,
    field: str,
) -> None:
    if end is None:
        return
    if polarity is Polarity.ENDING:
        raise InvalidInput("an ending has no valid_to; its instant is valid_from", field=f"{field}.valid_to")
    if end[0] <= (start[0] if start else evidence_at):
        raise InvalidInput(
            "valid_to must be after valid_from (and after evidence_at, where valid_from is left out)",
            field=f"{field}.valid_to",
        )


def _tail(text: str | None, polarity: Polarity, field: str) -> str | None:
    if text is None and polarity is Polarity.CLAIM:
        raise InvalidInput("a claim needs a tail; only an ending may leave it out", field=field)
    return inputs.name(text, field) if text is not None else None


def _confidence(value: float | None, field: str) -> float:
    confidence = 1.0 if value is None else value
    if not (math.isfinite(confidence) and 0.0 <= confidence <= 1.0):
        raise InvalidInput("confidence must be from 0 to 1", field=field)
    return confidence


def _ongoing(given: GivenAssertion, polarity: Polarity, is_open: bool) -> bool:
    if given.ongoing is not None:
        return given.ongoing and polarity is Polarity.CLAIM
    return polarity is Polarity.CLAIM and is_open and given.evidence_at is not None


def _member(kind: type[_Word], text: str, field: str) -> _Word:
    try:
        return kind(text)
    except ValueError:
        raise InvalidInput(f"{field} must be one of {', '.join(kind)}", field=field) from None


def _as_before(
    store: GraphStore, namespace: str, given: Sequence[GivenAssertion], proposals: Sequence[Proposal]
) -> list[Proposal]:
    """The proposals with what was left out taken from assertions of the same id that are there already."""
    return [
        _with_earlier_defaults(one, proposal, _known(store, namespace, proposal.id))
        for one, proposal in zip(given, proposals, strict=True)
    ]


def _known(store: GraphStore, namespace: str, assertion_id: str | None) -> Assertion | None:
    if assertion_id is None:
        return None
    try:
        return store.assertion(namespace, assertion_id).assertion
    except NotFound:
        return None


def _with_earlier_defaults(given: GivenAssertion, proposal: Proposal, known: Assertion | None) -> Proposal:
    if known is None or given.evidence_at is not None:
        return proposal
    valid_from = known.evidence_at if given.valid_from is None else proposal.valid_from
    return replace(proposal, evidence_at=known.evidence_at, valid_from=valid_from)


def _vectors(proposals: Sequence[Proposal], embedder: Embedder | None) -> Mapping[str, Floats]:
    texts = {triple_text(one.head, one.relation, one.tail) for one in proposals if one.tail is not None}
    if embedder is None or len(texts) > EMBEDDED_AT_ONCE:
        return {}
    ordered = sorted(texts)
    return {text: encoding.pooled for text, encoding in zip(ordered, embedder.encode(ordered), strict=True)}
