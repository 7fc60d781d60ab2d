"""What the store tests are made of: a small relation table, turns, proposals and vectors."""

from __future__ import annotations

import hashlib
from typing import Any, Protocol

import numpy as np

from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.stores.port import Cost, Floats, GraphStore, Operations, TurnOutcome, TurnVectors

EMBEDDER, DIMENSION = "test/1", 64
#: 2023-11-14T22:13:20Z
NOW: Instant = 1_700_000_000_000_000
SECOND: Instant = 1_000_000
DAY: Instant = 86_400 * SECOND


class Relations:
    """A relation table: `lives_in` and `works_at` hold one value, `likes` and `dislikes` are antonyms."""

    def cardinality(self, relation: str) -> str:
        return "single" if relation in {"lives_in", "works_at"} else "multi"

    def antonym(self, relation: str) -> str | None:
        return {"likes": "dislikes", "dislikes": "likes"}.get(relation)


class Store(GraphStore, Operations, Protocol):
    """Both halves of the port."""


def turn(turn_id: str, text: str = "Hello.", session: str = "s", at: Instant = NOW, **more: Any) -> Turn:
    given: dict[str, Any] = {"role": Role.USER, "speaker": "Ann", **more}
    return Turn(turn_id, session, given.pop("role"), given.pop("speaker"), text, at, **given)


def claim(head: str, relation: str, tail: str | None, since: Instant = NOW, **more: Any) -> Proposal:
    """Evidence time is the start, where none is given."""
    return Proposal(head, relation, tail, since, more.pop("evidence_at", since), **more)


def vector(text: str) -> Floats:
    """A unit vector that only its text decides."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    values = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return np.asarray(values / np.linalg.norm(values), dtype=np.float32)


def near(base: Floats, share: float) -> Floats:
    """A unit vector whose cosine to `base` is about `share`."""
    other = vector(f"{share}")
    other = other - base * float(other @ base)
    other /= np.linalg.norm(other)
    return np.asarray(share * base + np.sqrt(1 - share**2) * other, dtype=np.float32)


def turn_vectors(text: str) -> TurnVectors:
    pieces = tuple(text.split()) or ("",)
    return TurnVectors(vector(text), np.stack([vector(piece) for piece in pieces]), pieces)


def triple_vectors(*proposals: Proposal) -> dict[str, Floats]:
    texts = [triple_text(each.head, each.relation, each.tail) for each in proposals if each.tail is not None]
    return {text: vector(text) for text in texts}


def outcome(
    turn_id: str, *proposals: Proposal, mentions: tuple[tuple[str, str], ...] = (), cost: Cost | None = None
) -> TurnOutcome:
    vectors = turn_vectors(turn_id), triple_vectors(*proposals)
    return TurnOutcome(turn_id, proposals, mentions, *vectors, cost=cost or Cost())


def tell(store: Store, namespace: str, *proposals: Proposal, now: Instant = NOW) -> list[str]:
    return store.assert_facts(namespace, proposals, triple_vectors(*proposals), now=now)


def entity_id(store: Store, namespace: str, name: str) -> str:
    found = store.resolve(namespace, name)
    assert found is not None, name
    return found.id


def believed(store: Store, namespace: str, head: str, relation: str | None = None, **more: Any) -> list[Any]:
    """(tail's name, start, end, stratum) of the facts of a name, in order of start."""
    head_id = entity_id(store, namespace, head)
    facts = store.timeline(namespace, entity_id=head_id, relation=relation, **more).facts
    rows = [(view.tail_name, view.fact.valid_from, view.fact.valid_to, view.fact.stratum.value) for view in facts]
    return sorted(rows, key=lambda row: (row[1], row[0]))
