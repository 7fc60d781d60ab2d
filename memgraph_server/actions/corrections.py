"""Claims withdrawn, entities merged and parted: what was believed before stays readable, nothing is destroyed."""

from __future__ import annotations

from memgraph_server.actions import inputs
from memgraph_server.errors import InvalidInput
from memgraph_server.memory.facts import Entity
from memgraph_server.memory.interval import Instant
from memgraph_server.stores.port import AssertionView, GraphStore

MAX_REASON_BYTES = 4096


def retract_assertion(
    store: GraphStore, namespace: str, assertion_id: str, *, reason: str, now: Instant
) -> AssertionView:
    """Withdraw one claim as of now; the assertion as it is then. Raises NotFound."""
    inputs.namespace(namespace)
    words = inputs.well_formed(reason, "reason", MAX_REASON_BYTES)
    store.retract_assertion(namespace, assertion_id, reason=words, now=now)
    return store.assertion(namespace, assertion_id)


def retract_fact(store: GraphStore, namespace: str, fact_id: str, *, reason: str, now: Instant) -> list[str]:
    """Withdraw every claim that supports the fact; their ids. Raises NotFound."""
    inputs.namespace(namespace)
    words = inputs.well_formed(reason, "reason", MAX_REASON_BYTES)
    return store.retract_fact(namespace, fact_id, reason=words, now=now)


def merge(store: GraphStore, namespace: str, entity_id: str, into: str, *, now: Instant) -> Entity:
    """From now on `into` stands for the entity too. Raises NotFound, Conflict."""
    inputs.namespace(namespace)
    if entity_id == into:
        raise InvalidInput("an entity cannot be merged into itself", field="into")
    return store.merge(namespace, entity_id, inputs.identifier(into, "into"), now=now)


def unmerge(store: GraphStore, namespace: str, entity_id: str, *, now: Instant) -> Entity:
    """Undo a merge: the entity stands for itself again. Raises NotFound, Conflict."""
    return store.unmerge(inputs.namespace(namespace), entity_id, now=now)


def erase(store: GraphStore, namespace: str, *, now: Instant) -> dict[str, int]:
    """Everything of the namespace, for good; rows removed, by kind."""
    return store.erase(inputs.namespace(namespace), now=now)
