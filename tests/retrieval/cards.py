"""Cards and postings of a few written turns, as a store would give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgraph_server.memory.interval import Instant
from memgraph_server.memory.terms import terms

DIMENSION = 16


@dataclass(frozen=True)
class Postings:
    documents: int
    handles: NDArray[np.int64]
    counts: NDArray[np.int32]


@dataclass(frozen=True)
class WrittenCard:
    handle: int
    text: str
    speaker: str = "Ann"
    session_id: str = "s"
    at: Instant = 0
    role: str = "user"
    previous: int | None = None
    next: int | None = None
    pooled: NDArray[np.float32] | None = None
    token_bits: NDArray[np.uint8] | None = None
    pieces: tuple[str, ...] = ()
    position: int = 0
    recorded_at: Instant = 0

    @property
    def turn_id(self) -> str:
        return f"t{self.handle}"

    @property
    def length(self) -> int:
        return len(terms(self.text))

    @property
    def characters(self) -> int:
        return len(self.text)


def conversation(*texts: str, **options: object) -> list[WrittenCard]:
    """One session, turn by turn."""
    last = len(texts) - 1
    return [
        WrittenCard(n, text, previous=n - 1 if n else None, next=n + 1 if n < last else None, **options)  # type: ignore[arg-type]
        for n, text in enumerate(texts)
    ]


def postings(cards: Sequence[WrittenCard], question: str) -> dict[str, Postings]:
    found: dict[str, Postings] = {}
    for term in dict.fromkeys(terms(question)):
        counts = {card.handle: Counter(terms(card.text))[term] for card in cards}
        held = {handle: count for handle, count in counts.items() if count}
        if held:
            found[term] = Postings(
                len(held), np.array(list(held), dtype=np.int64), np.array(list(held.values()), dtype=np.int32)
            )
    return found


def direction(*places: int) -> NDArray[np.float32]:
    """A unit vector along some of the dimensions."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[list(places)] = 1.0
    return vector / np.linalg.norm(vector)


def bits(*vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    return np.packbits(np.stack(vectors) > 0, axis=1)
