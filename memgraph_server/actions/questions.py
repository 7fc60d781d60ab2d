"""A question as a caller puts it, checked: the same rules for REST and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from memgraph_server.actions import inputs
from memgraph_server.errors import InvalidInput
from memgraph_server.memory.interval import Instant
from memgraph_server.retrieval.evidence import Question

MAX_HISTORY = 200


class Asked(Protocol):
    """The members of `POST /query`; None where one was left out."""

    @property
    def query(self) -> str: ...
    @property
    def reference_time(self) -> str | None: ...
    @property
    def known_at(self) -> str | None: ...
    @property
    def token_budget(self) -> int: ...
    @property
    def speaker(self) -> str | None: ...
    @property
    def session_id(self) -> str | None: ...
    @property
    def history(self) -> Sequence[str | dict[str, Any]] | None: ...
    @property
    def evaluator(self) -> str | None: ...
    @property
    def beams(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def candidates(self) -> int: ...
    @property
    def explain(self) -> bool: ...


def question_of(asked: Asked, now: Instant) -> Question:
    """Raises InvalidInput and TooLarge, naming the member."""
    if asked.evaluator not in {None, "local", "llm"}:
        raise InvalidInput("evaluator must be local or llm", field="evaluator")
    return Question(
        text=inputs.query_text(asked.query),
        now=now,
        reference_time=_date(asked.reference_time, "reference_time"),
        known_at=_date(asked.known_at, "known_at"),
        token_budget=asked.token_budget,
        speaker=inputs.speaker(asked.speaker, "speaker") or None if asked.speaker is not None else None,
        session_id=inputs.identifier(asked.session_id, "session_id") if asked.session_id is not None else None,
        history=_history(asked.history or ()),
        beams=asked.beams,
        depth=asked.depth,
        candidates=asked.candidates,
        explain=asked.explain,
    )


def _date(text: str | None, field: str) -> Instant | None:
    return inputs.date_of(text, field)[0] if text is not None else None


def _history(given: Sequence[str | dict[str, Any]]) -> tuple[str, ...]:
    """The latest of them, where there are more than a prompt is resolved against."""
    latest = list(enumerate(given))[-MAX_HISTORY:]
    return tuple(_said(one, f"history.{index}") for index, one in latest)


def _said(one: str | dict[str, Any], field: str) -> str:
    text = one if isinstance(one, str) else one.get("content", one.get("text"))
    if not isinstance(text, str):
        raise InvalidInput("a message of the history needs a text or content", field=field)
    return inputs.well_formed(text, field, inputs.MAX_TEXT_BYTES)
