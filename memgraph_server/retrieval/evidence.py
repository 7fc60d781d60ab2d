"""What a question is, and what comes back for it: the shapes that REST, the command line and `eval` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memgraph_server.memory.facts import Fact, Intent
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.turns import Turn

#: Counts the tokens of a text; the default is a quarter of its characters, rounded up.
Tokenizer = Callable[[str], int]


def four_characters_a_token(text: str) -> int:
    return tokens_of(len(text))


def tokens_of(characters: int) -> int:
    """What the default counts, where the text itself is not at hand."""
    return -(-characters // 4)


@dataclass(frozen=True, slots=True)
class Question:
    """`reference_time`: the instant the question is about (None: read from its words, else `now`). `known_at`: answer
    from what was believed then. `history`: texts of the live prompt, oldest first, to resolve "that" and "there"."""

    text: str
    now: Instant
    reference_time: Instant | None = None
    known_at: Instant | None = None
    token_budget: int = 2048
    speaker: str | None = None
    session_id: str | None = None
    history: tuple[str, ...] = ()
    beams: int = 5
    depth: int = 3
    candidates: int = 5
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a path. `rule` names the counterfactual rule of an inferred step, else ""."""

    fact: Fact
    head_name: str
    tail_name: str
    forward: bool
    rule: str = ""
    confidence: float = 1.0
    similarity: float = 0.0  # cosine of the triple's vector to the question's, 0.0 where either is absent
    turns: tuple[str, ...] = ()  # turn ids, oldest first

    @property
    def here(self) -> str:
        """The entity this step leaves."""
        return self.fact.head if self.forward else self.fact.tail

    @property
    def there(self) -> str:
        """The entity this step reaches."""
        return self.fact.tail if self.forward else self.fact.head


@dataclass(frozen=True, slots=True)
class Path:
    """A beam that survived: where it began, its steps, and its three scores in [0, 1] (REAL, III-B2)."""

    root: str
    root_name: str
    intent: Intent
    steps: tuple[Step, ...]
    relevance: float
    coherence: float
    sufficiency: float


@dataclass(frozen=True, slots=True)
class EvidenceTurn:
    """`reached_by`: "graph", "search" or "cascade". `tokens`: of `turn.full_text()`, by the question's tokenizer."""

    turn: Turn
    tokens: int
    score: float
    reached_by: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvidenceFact:
    fact: Fact
    head_name: str
    tail_name: str
    turns: tuple[str, ...]
    rule: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """The answer to a question: a compact subgraph and the turns it points to, chronological, within the budget.

    `answerability`: calibrated probability in [0, 1] that the memory holds the answer. `usage`: tokens returned,
    milliseconds by stage, model calls. `trace`: why each beam lived or died, where `explain` was set.
    """

    question: Question
    reference_time: Instant
    paths: tuple[Path, ...]
    facts: tuple[EvidenceFact, ...]
    turns: tuple[EvidenceTurn, ...]
    answerability: float
    usage: Mapping[str, float] = field(default_factory=dict)
    trace: tuple[Mapping[str, Any], ...] = ()
