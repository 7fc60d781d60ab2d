"""Ids that are derived from what they name, and what must be equal for one id to be one thing. Both stores use these.

An assertion without an id gets one from all that it says, so that saying the very same again is once. An entity's id is
derived from its namespace, its normalized name and the instant at which it was first recorded: it needs no randomness,
is not the name's hash (the same name recorded in two namespaces or at two times gives two ids), and says nothing of
the name.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields

from memgraph_server.errors import Conflict
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal
from memgraph_server.stores.names import normalized_name

#: What an id is derived from, besides the namespace and the names.
_IDENTIFYING = tuple(
    field.name for field in fields(Proposal) if field.name not in {"id", "head", "tail", "head_type", "tail_type"}
)
_as_json = json.JSONEncoder(sort_keys=True).encode


def entity_id(namespace: str, normalized: str, recorded_at: Instant) -> str:
    framed = json.dumps([namespace, normalized, recorded_at]).encode()
    return f"e_{hashlib.sha256(framed).hexdigest()[:32]}"


def assertion_id(namespace: str, proposal: Proposal) -> str:
    """The proposal's own id, or one derived from all it says."""
    if proposal.id is not None:
        return proposal.id
    said = {name: getattr(proposal, name) for name in _IDENTIFYING}
    said |= {"namespace": namespace, "head": normalized_name(proposal.head)}
    said["tail"] = None if proposal.tail is None else normalized_name(proposal.tail)
    return f"a_{hashlib.sha256(_as_json(said).encode()).hexdigest()[:32]}"


def content(proposal: Proposal, head: int, tail: int | None) -> tuple[object, ...]:
    """What must be equal for an id to be the same assertion, in the order of the columns."""
    return (
        head,
        tail,
        *(proposal.span or (None, None)),
        proposal.relation,
        proposal.valid_from,
        proposal.valid_to,
        proposal.evidence_at,
        proposal.confidence,
        proposal.intent.value,
        proposal.polarity.value,
        int(proposal.ongoing),
        proposal.turn_id,
        proposal.from_precision.value,
        proposal.to_precision.value,
        proposal.from_basis.value,
        proposal.to_basis.value,
        proposal.source,
    )


def require_same(identifier: str, stored: tuple[object, ...], given: tuple[object, ...]) -> None:
    if stored != given:
        raise Conflict(f"assertion {identifier!r} is known already with other content", field="id")
