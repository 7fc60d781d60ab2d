"""Which format a file is in, by its shape; never by its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memgraph_server.command_line.readers import chatgpt_export, claude_export, locomo, openai_chat, own
from memgraph_server.command_line.readers.session import Session
from memgraph_server.errors import InvalidInput

#: Format -> (does this document have its shape, its sessions given when it began).
FORMATS: Mapping[str, tuple[Callable[[Any], bool], Callable[[Any, str | None], list[Session]]]] = {
    "chatgpt": (chatgpt_export.recognizes, lambda document, _: chatgpt_export.sessions(document)),
    "claude": (claude_export.recognizes, lambda document, _: claude_export.sessions(document)),
    "locomo": (locomo.recognizes, lambda document, _: locomo.sessions(document)),
    "own": (own.recognizes, lambda document, _: own.sessions(document)),
    "openai": (openai_chat.recognizes, openai_chat.sessions),
}


def read_file(path: Path, began: str | None = None) -> tuple[str, list[Session]]:
    """The format's name and the sessions. Raises InvalidInput."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}", field="FILE") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is no text in UTF-8", field="FILE") from None
    return read_document(_parsed(text, path), began)


def _parsed(text: str, path: Path) -> Any:
    """JSON, or JSON Lines."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as whole:
        try:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            raise InvalidInput(f"{path} is neither JSON nor JSON Lines: {whole}", field="FILE") from None


def read_document(document: Any, began: str | None = None) -> tuple[str, list[Session]]:
    for name, (recognizes, sessions) in FORMATS.items():
        if recognizes(document):
            return name, _read(name, sessions, document, began)
    raise InvalidInput(
        "no format has this shape; known: this project's JSON, OpenAI messages, ChatGPT and Claude exports, LoCoMo",
        field="FILE",
    )


def _read(
    name: str, sessions: Callable[[Any, str | None], list[Session]], document: Any, began: str | None
) -> list[Session]:
    """A file that looks like an export and is none inside is the caller's to mend, however it is broken."""
    try:
        return sessions(document, began)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"this looks like {name}, but a part of it has another shape ({error})", field="FILE"
        ) from None
