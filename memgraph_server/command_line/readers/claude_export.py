"""Claude's data export, `conversations.json`: `[{"uuid", "name", "created_at", "chat_messages": [{"uuid", "text",
"content": [{"type": "text", "text"}], "sender": "human|assistant", "created_at", "attachments", "files"}]}, …]`.

The names of attached files are kept as captions; their extracted content is no utterance and is left out.
"""

from __future__ import annotations

from typing import Any

from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.command_line.readers.session import Session, fit_id, made_id

_ROLES = {"human": "user", "assistant": "assistant"}


def recognizes(document: Any) -> bool:
    found = document if isinstance(document, list) else [document]
    return bool(found) and all(isinstance(one, dict) and isinstance(one.get("chat_messages"), list) for one in found)


def sessions(document: Any) -> list[Session]:
    found = document if isinstance(document, list) else [document]
    return [session for one in found if (session := _session(one)).turns]


def _session(conversation: dict[str, Any]) -> Session:
    session_id = fit_id(str(conversation.get("uuid") or made_id(str(conversation["chat_messages"]))))
    began = str(conversation.get("created_at") or "")
    turns = (_turn(one, session_id, began) for one in conversation["chat_messages"] if isinstance(one, dict))
    return Session(session_id, tuple(turn for turn in turns if turn is not None))


def _turn(message: dict[str, Any], session_id: str, began: str) -> GivenTurn | None:
    role = _ROLES.get(str(message.get("sender")))
    parts = [one for one in message.get("content") or [] if isinstance(one, dict) and one.get("type") == "text"]
    text = "\n".join(str(one.get("text") or "") for one in parts).strip() or str(message.get("text") or "")
    shared = [*(message.get("attachments") or []), *(message.get("files") or [])]
    captions = tuple(str(one["file_name"]) for one in shared if isinstance(one, dict) and one.get("file_name"))
    if role is None or not (text.strip() or captions):
        return None
    at = str(message.get("created_at") or began)
    return GivenTurn(text, at, role, "", fit_id(str(message.get("uuid") or made_id(session_id, at, text))), captions)
