"""Turns on their way into a store: what can be worked out before it is locked, and what counts as their content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memgraph_server.memory.terms import terms
from memgraph_server.memory.turns import Turn


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn with its lexical terms: all that can be worked out before the store is locked."""

    turn: Turn
    characters: int
    counts: Counter[str]

    @property
    def length(self) -> int:
        return self.counts.total()


def prepare(turns: Sequence[Turn]) -> list[Prepared]:
    full = [turn.full_text() for turn in turns]
    return [Prepared(turn, len(text), Counter(terms(text))) for turn, text in zip(turns, full, strict=True)]


def content(turn: Turn) -> tuple[object, ...]:
    return (turn.session_id, turn.role, turn.speaker, turn.text, turn.at, turn.captions)
