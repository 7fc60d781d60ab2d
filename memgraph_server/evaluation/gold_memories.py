"""Gold memories: what RealMem says should have been remembered of a session (`extracted_memory`), by session.

Facts about the files that the reader deals with:
- a memory's content begins with its topic in 【brackets】 and names its person as "User": it is compared as it stands;
- its own `session_uuid` is that of the session it stands in; the session's counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class GoldMemory:
    id: str
    session_id: str
    text: str


def gold_memories(path: Path) -> dict[str, list[GoldMemory]]:
    """Session id -> its memories, of a file or a folder's `*.json`; {} for files of another kind. The file must be
    readable JSON (`transcripts.read_conversations` says what is wrong with one that is not)."""
    found: dict[str, list[GoldMemory]] = {}
    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        for memory in _memories(_document(file)):
            found.setdefault(memory.session_id, []).append(memory)
    return found


def _document(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []


def _memories(document: Any) -> Iterator[GoldMemory]:
    for person in document if isinstance(document, list) else [document]:
        sessions = person.get("dialogues") if isinstance(person, Mapping) else None
        for session in sessions if isinstance(sessions, list) else []:
            yield from _of_session(session)


def _of_session(session: Mapping[str, Any]) -> Iterator[GoldMemory]:
    uuid = str(session.get("session_uuid", ""))
    for number, memory in enumerate(session.get("extracted_memory") or []):
        text = str(memory.get("content") or "").strip()
        if text:
            yield GoldMemory(str(memory.get("index") or f"{uuid}-{number}"), uuid, text)
