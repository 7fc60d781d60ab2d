"""A large made-up memory, through the real store port: half of all facts have one person at their head.

Vectors are made from the text's hash: the same text has the same vector, others are far from it, as with a model, but
a million of them take seconds instead of hours. Only the stored texts are embedded like that; a benchmark's questions
go through the model that ships.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np

from memgraph_server.language.encodings import alone
from memgraph_server.language.port import Embedder, Encoding, Floats, InContext
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.memory.terms import terms
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.stores.port import GraphStore, TurnOutcome, TurnVectors

HUB = "Ann"
_DAY = 86_400_000_000
_START: Instant = 1_577_836_800_000_000  # 2020-01-01
_RELATIONS = ("likes", "dislikes", "visited", "bought", "read", "watched", "cooked", "met", "played", "learned")
_THINGS = ("book", "lake", "song", "cake", "bridge", "garden", "film", "train", "coat", "recipe", "game", "museum")
_QUALITIES = ("red", "old", "quiet", "bright", "small", "distant", "warm", "famous", "hidden", "broken", "new", "tall")
_BATCH = 1_000
_Item = TypeVar("_Item")


class HashedVectors:
    """An Embedder whose vectors follow from the text alone; conforms to `language.port.Embedder`."""

    def __init__(self, like: Embedder) -> None:
        self._like = like

    @property
    def name(self) -> str:
        """The shipped model's, so that the store takes these vectors as its own."""
        return self._like.name

    @property
    def dimension(self) -> int:
        return self._like.dimension

    def encode(self, texts: Sequence[str | InContext]) -> list[Encoding]:
        return [self._encoding(alone(text)) for text in texts]

    def pooled(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Of triples, which need no token vectors."""
        return {text: self._unit(text) for text in texts}

    def _encoding(self, text: str) -> Encoding:
        pieces = tuple(terms(text))
        tokens = np.stack([self._unit(piece) for piece in pieces]) if pieces else np.zeros((0, self.dimension))
        return Encoding(self._unit(text), tokens.astype(np.float32), pieces)

    def _unit(self, text: str) -> Floats:
        seed = int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
        vector = np.random.default_rng(seed).standard_normal(self.dimension, dtype=np.float32)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def thing(number: int) -> str:
    """A distinct two-word name with a number, such as "quiet bridge 4711"."""
    quality = _QUALITIES[number // len(_THINGS) % len(_QUALITIES)]
    return f"{quality} {_THINGS[number % len(_THINGS)]} {number}"


def proposals(count: int, turns: Sequence[Turn], *, seed: int = 0) -> Iterator[Proposal]:
    """Claims of multi-valued relations, each with a tail of its own; every second one is the hub's."""
    chance = random.Random(seed)
    for number in range(count):
        head = HUB if number % 2 == 0 else f"Person {chance.randrange(max(1, count // 20))}"
        at = _START + number * _DAY // 100
        yield Proposal(
            head=head,
            relation=chance.choice(_RELATIONS),
            tail=thing(number),
            valid_from=at,
            evidence_at=at,
            turn_id=turns[number % len(turns)].id if turns else None,
        )


def turns(count: int) -> list[Turn]:
    """Turns in sessions of fifty, by the hub and one other in turn."""
    return [
        Turn(
            id=f"t{number}",
            session_id=f"s{number // 50}",
            role=Role.USER,
            speaker=HUB if number % 2 == 0 else "Bo",
            text=f"I saw the {thing(number)} yesterday, and then we talked about the {thing(number * 7)}.",
            at=_START + number * _DAY // 10,
            position=number % 50,
        )
        for number in range(count)
    ]


def questions(count: int, *, facts: int, seed: int = 1) -> list[str]:
    """Half about the hub, half about others."""
    chance = random.Random(seed)
    asked = []
    for number in range(count):
        who = HUB if number % 2 == 0 else f"Person {chance.randrange(max(1, facts // 20))}"
        what = thing(chance.randrange(facts)).rpartition(" ")[0]
        asked.append(f"When did {who} {chance.choice(('visit', 'buy', 'read', 'cook'))} the {what}?")
    return asked


def fill(
    store: GraphStore, namespace: str, vectors: HashedVectors, *, facts: int, turns_too: int, now: Instant
) -> None:
    """Turns first, then facts that point to them, in batches."""
    said = turns(turns_too)
    for batch in _batches(said):
        for session in sorted({turn.session_id for turn in batch}):
            of_session = [turn for turn in batch if turn.session_id == session]
            store.append_turns(namespace, of_session, job_id=f"job-{session}-{of_session[0].id}", now=now)
    for turn, encoding in zip(said, vectors.encode([turn.full_text() for turn in said]), strict=True):
        as_stored = TurnVectors(encoding.pooled, encoding.tokens, encoding.pieces)
        store.apply_outcome(namespace, TurnOutcome(turn.id, (), (), as_stored, {}), lease=None, now=now)
    for claims in _batches(proposals(facts, said)):
        texts = [triple_text(claim.head, claim.relation, claim.tail or "") for claim in claims]
        store.assert_facts(namespace, claims, vectors.pooled(texts), now=now)


def _batches(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, _BATCH)):
        yield batch
