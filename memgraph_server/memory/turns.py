"""A turn: one utterance, kept verbatim. What a turn is, and the limits of one; nothing about how it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memgraph_server.memory.interval import Instant


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class TurnState(StrEnum):
    """PENDING until its facts are applied; DEAD after bounded retries, with the reason kept, until it is replayed."""

    PENDING = "pending"
    DONE = "done"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. `position` counts from 0 within its session and is given by the store on arrival."""

    id: str
    session_id: str
    role: Role
    speaker: str  # "" where the caller named none
    text: str
    at: Instant
    utc_offset_minutes: int = 0  # the speaker's zone, for "yesterday" and "this morning"
    captions: tuple[str, ...] = ()  # of shared images and files
    position: int = 0

    def full_text(self) -> str:
        """The text with its captions, as it is returned, counted against budgets and indexed."""
        shares = "".join(f" [shares {caption}]" for caption in self.captions)
        return f"{self.text}{shares}".strip()
