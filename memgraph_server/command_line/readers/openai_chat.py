"""OpenAI chat messages: `[{"role", "content"}, …]`, `{"messages": […]}`, or one such object a line.

They carry no times, and a conversation must not be dated to the day of its import: either messages have a `created_at`
or `timestamp`, or the caller says when the conversation began, and turns follow a second apart.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memgraph_server.actions.inputs import GivenTurn, time_of
from memgraph_server.command_line.readers.session import Session, fit_id, made_id, seconds_text, texts_of
from memgraph_server.errors import InvalidInput
from memgraph_server.memory.interval import isoformat

_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system", "tool": "tool",
          "function": "tool"}  # fmt: skip
_SECOND = timedelta(seconds=1) // timedelta(microseconds=1)


def recognizes(document: Any) -> bool:
    chats = _chats(document)
    return bool(chats) and all(_is_message(one) for chat in chats for one in chat["messages"])


def _is_message(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("role"), str) and "content" in one


def _chats(document: Any) -> list[dict[str, Any]]:
    """Objects that have messages."""
    if isinstance(document, dict):
        document = [document]
    if not isinstance(document, list) or not document:
        return []
    if all(isinstance(one, dict) and isinstance(one.get("messages"), list) for one in document):
        return document
    return [{"messages": document}] if all(_is_message(one) for one in document) else []


def sessions(document: Any, began: str | None) -> list[Session]:
    """`began`: RFC 3339, of the first message that has no time of its own."""
    return [_session(chat, began) for chat in _chats(document)]


def _session(chat: dict[str, Any], began: str | None) -> Session:
    messages = chat["messages"]
    spoken = [(str(m.get("role")), texts_of(m.get("content"))) for m in messages]
    session_id = fit_id(str(chat.get("id") or chat.get("session_id") or made_id(spoken, began)))
    next_at = time_of(began, "at")[0] if began is not None else None
    turns = []
    for index, (message, (role, text)) in enumerate(zip(messages, spoken, strict=True)):
        said_at = _time(message)
        if said_at is None and next_at is None:
            raise InvalidInput(
                "chat messages have no times; say when the conversation began with --at TIME", field="at"
            )
        at = said_at if said_at is not None else isoformat(next_at or 0)
        next_at = time_of(at, "at")[0] + _SECOND
        if text.strip():
            turn_id = fit_id(str(message["id"])) if message.get("id") else made_id(session_id, index, role, text)
            turns.append(GivenTurn(text, at, _ROLES.get(role, "tool"), str(message.get("name") or ""), turn_id))
    return Session(session_id, tuple(turns))


def _time(message: dict[str, Any]) -> str | None:
    for member in ("created_at", "timestamp", "create_time", "at"):
        value = message.get(member)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return seconds_text(value, member)
        if isinstance(value, str) and value:
            return value
    return None
