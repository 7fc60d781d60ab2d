"""What this server asks of models. Adapters sit beside this file; `wiring.py` alone chooses among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.turns import Turn

Floats = NDArray[np.float32]
Shape = TypeVar("Shape", bound=BaseModel)


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


class InContext(NamedTuple):
    """A text and what was said just before it: "yes, the blue one" means little by itself. An embedder may read the
    end of `before` along, so that the vectors of `text` know what it answers; `before` gets no vectors here."""

    text: str
    before: str


class Embedder(Protocol):
    """Texts to vectors. Deterministic; thread-safe; any text is accepted, the empty one too."""

    @property
    def name(self) -> str:
        """Model and revision, as recorded beside every stored vector; another name means: embed again."""
        ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str | InContext]) -> list[Encoding]:
        """Encodings in the order of `texts`, of each text alone or in its context. Raises ModelUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class TurnInContext:
    """A turn to be read, with what was said just before it (oldest first) and the names known in its session.

    `user_name`: what "I" in a user's turn without speaker resolves to ("User" by default); `listener`: the other
    party of a two-person chat, or ""; `known`: names of entities that the turns before are about.
    """

    turn: Turn
    previous: tuple[Turn, ...] = ()
    listener: str = ""
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """What language models were asked and what it cost; `cached` and `failed` calls are not among `calls`.

    calls: answered by the endpoint; retries: calls that were answered with a fault, or not at all; cached: answered
    from what was asked before; seconds: waiting included.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached: int = 0
    retries: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached + other.cached,
            self.retries + other.retries,
            self.seconds + other.seconds,
        )

    def shared(self, parts: int) -> tuple[Usage, ...]:
        """The usage of one call for several turns, as one a turn; whole numbers, which add up to it."""

        def part(count: int, place: int) -> int:
            return count // parts + (place < count % parts)

        return tuple(
            Usage(
                part(self.calls, place),
                part(self.prompt_tokens, place),
                part(self.completion_tokens, place),
                part(self.cached, place),
                part(self.retries, place),
                self.seconds / parts,
            )
            for place in range(parts)
        )


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read out of one turn: proposals of facts, and the names it mentions (name, type).

    `usage`: what a language model took for it, where one was asked; `trouble`: why another reader had to do it.
    """

    proposals: tuple[Proposal, ...]
    mentions: tuple[tuple[str, str], ...] = ()
    usage: Usage = Usage()
    trouble: str = ""


class Extractor(Protocol):
    """Turns to proposals. Never raises for odd text; raises ModelUnavailable where a model cannot be reached."""

    @property
    def name(self) -> str:
        """Recorded as `source` with every assertion."""
        ...

    def extract(self, turns: Sequence[TurnInContext]) -> list[Extraction]:
        """One extraction a turn, in order. Nothing is proposed for system and tool turns."""
        ...


class ModelRole(StrEnum):
    """What a language model is asked for; each may have an endpoint and a model of its own."""

    EXTRACT = "extract"
    READ = "read"
    JUDGE = "judge"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Message:
    """`role`: system or user. Texts from outside are in user messages only, as JSON strings."""

    role: str
    text: str


class Trouble(StrEnum):
    """Why a reply holds no answer."""

    NONE = ""
    REFUSED = "refused"
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    TOO_LONG = "too_long"


@dataclass(frozen=True, slots=True)
class Structured(Generic[Shape]):
    """A reply in the form that was asked for.

    value: None where nothing could be read, and then `trouble` says why; its lists hold the good items only.
    dropped: items that were left out, as they had not the form. cut: the reply ended before it was complete.
    """

    value: Shape | None
    usage: Usage = Usage()
    trouble: Trouble = Trouble.NONE
    dropped: int = 0
    cut: bool = False


class LanguageModel(Protocol):
    """Messages to replies. Thread-safe. Raises ModelUnavailable where the endpoint cannot be used, after retries; what
    it says names the setting to change."""

    def model(self, role: ModelRole) -> str:
        """The model's name, as it is recorded with what it gave."""
        ...

    def structured(
        self, role: ModelRole, messages: Sequence[Message], schema: type[Shape], max_tokens: int
    ) -> Structured[Shape]: ...

    def stream(
        self, role: ModelRole, messages: Sequence[Message], max_tokens: int, spent: Callable[[Usage], None]
    ) -> Iterator[str]:
        """Pieces of the text as they come; `spent` is told what they cost when the last has come."""
        ...
