"""The one shape that every reader gives: a session of turns as they would be sent to `POST /turns`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.errors import InvalidInput

#: What leads an id that had to be made fit for a path.
_MOST = 128


@dataclass(frozen=True, slots=True)
class Session:
    """`conversation`: which of the file's separate memories it belongs to; "" where the file has one."""

    session_id: str
    turns: tuple[GivenTurn, ...]
    conversation: str = ""


def made_id(*parts: object) -> str:
    """An id from what a turn is, so that the same file read twice stores each turn once."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def fit_id(text: str) -> str:
    """The id itself, where it may be one; else a made one."""
    fit = 0 < len(text) <= _MOST and text.isprintable() and "/" not in text and text not in {".", ".."}
    return text if fit else made_id(text)


def seconds_text(seconds: float, field: str) -> str:
    """Seconds since 1970 (as ChatGPT exports have them) as RFC 3339."""
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).isoformat()
    except (OverflowError, ValueError, TypeError):
        raise InvalidInput(f"{field} is no time in seconds since 1970", field=field) from None


def texts_of(content: Any) -> str:
    """A chat message's content: a text, or a list of parts of which the texts count."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = (part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | dict))
    return "\n".join(part for part in parts if isinstance(part, str) and part)
