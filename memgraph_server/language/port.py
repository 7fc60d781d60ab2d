"""What this server asks of models. Adapters sit beside this file; `wiring.py` alone chooses among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.turns import Turn

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Encoding:
    """One text as vectors.

    pooled: shape (dimension,), unit length; zeros for a text without any word piece (empty, white space).
    tokens: shape (n, dimension), unit rows, one for each word piece of the text (special tokens left out), cut at the
        model's limit. Empty, shape (0, dimension), where the model gives none.
    pieces: the word pieces, as many as rows in `tokens`.
    """

    pooled: Floats
    tokens: Floats
    pieces: tuple[str, ...]


class Embedder(Protocol):
    """Texts to vectors. Deterministic; thread-safe; any text is accepted, the empty one too."""

    @property
    def name(self) -> str:
        """Model and revision, as recorded beside every stored vector; another name means: embed again."""
        ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encodings in the order of `texts`. Raises ModelUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class TurnInContext:
    """A turn to be read, with what was said just before it (oldest first) and the names known in its session.

    `user_name`: what "I" in a user's turn without speaker resolves to ("User" by default); `listener`: the other
    party of a two-person chat, or "".
    """

    turn: Turn
    previous: tuple[Turn, ...] = ()
    listener: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read out of one turn: proposals of facts, and the names it mentions (name, type)."""

    proposals: tuple[Proposal, ...]
    mentions: tuple[tuple[str, str], ...] = ()


class Extractor(Protocol):
    """Turns to proposals. Never raises for odd text; raises ModelUnavailable where a model cannot be reached."""

    @property
    def name(self) -> str:
        """Recorded as `source` with every assertion."""
        ...

    def extract(self, turns: Sequence[TurnInContext]) -> list[Extraction]:
        """One extraction a turn, in order. Nothing is proposed for system and tool turns."""
        ...
