"""This project's JSON: what `POST /turns` takes, one session or several; and its evaluation format."""

from __future__ import annotations

from typing import Any

from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.command_line.readers.session import Session, made_id
from memgraph_server.errors import InvalidInput


def recognizes(document: Any) -> bool:
    return bool(_sessions(document)) or _conversations(document) is not None


def sessions(document: Any) -> list[Session]:
    several = _conversations(document)
    if several is None:
        return [_session(one, "") for one in _sessions(document)]
    name_of = {id(one): str(one.get("id", "")) if len(several) > 1 else "" for one in several}
    return [_session(one, name_of[id(record)]) for record in several for one in record.get("sessions", [])]


def _conversations(document: Any) -> list[dict[str, Any]] | None:
    found = document.get("conversations") if isinstance(document, dict) else None
    return found if isinstance(found, list) and all(isinstance(one, dict) for one in found) else None


def _sessions(document: Any) -> list[dict[str, Any]]:
    if isinstance(document, dict) and isinstance(document.get("sessions"), list):
        document = document["sessions"]
    found = document if isinstance(document, list) else [document]
    return found if found and all(isinstance(one, dict) and isinstance(one.get("turns"), list) for one in found) else []


def _session(record: dict[str, Any], conversation: str) -> Session:
    session_id = str(record.get("session_id") or record.get("id") or made_id(str(record["turns"])))
    turns = tuple(_turn(one, session_id, index) for index, one in enumerate(record["turns"]))
    return Session(session_id, turns, conversation)


def _turn(record: Any, session_id: str, index: int) -> GivenTurn:
    where = f"sessions.{session_id}.turns.{index}"
    if not isinstance(record, dict) or not isinstance(record.get("text"), str) or not isinstance(record.get("at"), str):
        raise InvalidInput(f"{where} must have text and at", field=where)
    shared = [one for one in record.get("attachments") or [] if isinstance(one, dict)]
    text, at, role = record["text"], record["at"], str(record.get("role", "user"))
    speaker = str(record.get("speaker") or "")
    return GivenTurn(
        text=text,
        at=at,
        role=role,
        speaker=speaker,
        id=str(record["id"]) if record.get("id") is not None else made_id(session_id, index, role, speaker, text, at),
        captions=tuple(str(one["caption"]) for one in shared if one.get("caption")),
    )
