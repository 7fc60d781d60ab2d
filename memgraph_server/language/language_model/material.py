"""What an extraction call is shown: turns to be read, with what they need to be understood. Pure.

Rules of safety: everything goes into one JSON message; recalled memories and system prompts pasted into a turn are
blanked, and so are turns of system and tools; a turn that speaks to the reader ("ignore the above", "output JSON") is
read in a call of its own, and shown as context to no other: what it asks for can touch its own facts only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memgraph_server.language.language_model.wire import clean
from memgraph_server.language.local_extractor.readable import without_recalled
from memgraph_server.language.port import TurnInContext
from memgraph_server.memory.turns import Role, Turn

#: Characters of a turn before that are shown, and names of known entities.
_BEFORE, _KNOWN = 400, 30
_TO_THE_READER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:above|previous|prior|earlier|instructions?|rules?|prompt|everything)\b"
    r"|\b(?:system prompt|you are now|new instructions?|jailbreak|as an ai|json|extract(?:ion|or)?\b.{0,20}\bfacts?)\b"
    r"|\bmark\b.{0,30}\b(?:true|false|wrong|ended)\b"
    r"|忽略.{0,12}(?:以上|之前|指令)|无视.{0,12}指令|以上の指示を無視|ignorier\w*.{0,30}anweisung|ignor\w+.{0,30}instruc",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Readable:
    """A turn with the text that is read: as long as the turn's (or the read limit), character by character."""

    context: TurnInContext
    text: str
    shares: str = ""  # captions

    @property
    def turn(self) -> Turn:
        return self.context.turn

    @property
    def speaker(self) -> str:
        return speaker_of(self.turn)

    @property
    def listener(self) -> str:
        """The other party: who is named so, else who spoke last before, else the other role."""
        others = [speaker_of(one) for one in reversed(self.context.previous) if spoken(one)]
        named = self.context.listener.strip() or next((one for one in others if one != self.speaker), "")
        if named or self.turn.speaker.strip():
            return named
        return "User" if self.turn.role is Role.ASSISTANT else "Assistant"

    @property
    def around(self) -> tuple[str, ...]:
        """Texts and names in which what a turn is about may be named."""
        before = (without_recalled(one.text) for one in self.context.previous if shown(one))
        return (*before, *self.context.known, self.speaker, self.listener)


def readable(context: TurnInContext) -> Readable | None:
    """None for what is not read: turns of system and tools, and those without text."""
    turn = context.turn
    text, shares = clean(without_recalled(turn.text)), clean(", ".join(turn.captions))
    if not spoken(turn) or not (text.strip() or shares):
        return None
    return Readable(context, text, shares)


def spoken(turn: Turn) -> bool:
    return turn.role in {Role.USER, Role.ASSISTANT}


def shown(turn: Turn) -> bool:
    """Whether others may be read with this turn in view."""
    return spoken(turn) and not speaks_to_the_reader(turn.text)


def speaks_to_the_reader(text: str) -> bool:
    return _TO_THE_READER.search(text) is not None


def speaker_of(turn: Turn) -> str:
    """As the local extractor names them, so that both mean the same person."""
    return turn.speaker.strip() or ("Assistant" if turn.role is Role.ASSISTANT else "User")


def groups(turns: Sequence[Readable], most: int) -> Iterator[list[Readable]]:
    """Turns that go into one call: at most so many, neighbours; one that speaks to the reader alone."""
    group: list[Readable] = []
    for one in turns:
        if speaks_to_the_reader(one.turn.text):
            yield from ([group] if group else [])
            yield [one]
            group = []
            continue
        group.append(one)
        if len(group) >= most:
            yield group
            group = []
    if group:
        yield group


def material(group: Sequence[Readable], *, with_context: bool = True) -> Mapping[str, Any]:
    """The user message of one call, as JSON. Turns are numbered from 1 within it."""
    first = group[0].context
    before = [one for one in first.previous if shown(one)] if with_context else []
    given: dict[str, Any] = {}
    if before:
        given["before"] = [
            {"speaker": clean(speaker_of(one)), "text": clean(without_recalled(one.text).strip()[:_BEFORE])}
            for one in before
        ]
    if with_context and first.known:
        given["known"] = [clean(name) for name in first.known[:_KNOWN]]
    given["turns"] = [_turn(number, one) for number, one in enumerate(group, start=1)]
    return given


def _turn(number: int, one: Readable) -> dict[str, Any]:
    said: dict[str, Any] = {"turn": number, "speaker": clean(one.speaker), "text": clean(one.text.strip())}
    if one.listener:
        said["listener"] = clean(one.listener)
    if one.shares:
        said["shares"] = clean(one.shares)
    return said
