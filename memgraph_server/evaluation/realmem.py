"""RealMem: one person's dated chats with an assistant, and queries whose evidence is named by session.

Facts about the files that the reader deals with:
- sessions carry a day ("2025-12-15 (Monday)") and are nearly, not fully, in its order: they are sorted by day, those
  of one day as in the file; turns are put a second apart from midnight UTC;
- a query is a user turn with `is_query`; the assistant's turn after it names its evidence (`memory_session_uuids`);
- only sessions before the query's own may be used: a query with evidence elsewhere is left out (424 of 432 remain);
- one turn of the assistant is empty: nothing was said, and nothing is stored;
- users are called "User": the person's own name, from the file's metadata, says more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.transcripts import Conversation, Probe, required, slug
from memgraph_server.memory.interval import Instant, instant
from memgraph_server.memory.turns import Role, Turn

_SECOND = 1_000_000
_ROLES = {"User": Role.USER, "Assistant": Role.ASSISTANT}


def recognizes(document: Any) -> bool:
    files = document if isinstance(document, list) else [document]
    return bool(files) and all(isinstance(f, dict) and isinstance(f.get("dialogues"), list) for f in files)


def conversations(document: Any) -> list[Conversation]:
    """One conversation a person; a list of RealMem files is several persons."""
    return [_person(file) for file in (document if isinstance(document, list) else [document])]


def day_instant(text: str) -> Instant:
    """ "2025-12-15 (Monday)" as the first instant of that day, UTC."""
    try:
        return instant(datetime.strptime(text[:10], "%Y-%m-%d").replace(tzinfo=UTC))
    except ValueError:
        raise InvalidInput(f"not a RealMem date: {text!r}", field="current_time") from None


def _person(file: Mapping[str, Any]) -> Conversation:
    name = str(file.get("_metadata", {}).get("person_name", "User"))
    speaker = name.replace("_", " ")
    sessions = sorted(file["dialogues"], key=lambda session: day_instant(required(session, "current_time", "session")))
    turns: list[Turn] = []
    probes: list[Probe] = []
    for session in sessions:
        probes += _probes(session, speaker, turns)
        turns += _turns(session, speaker)
    return Conversation(name, tuple(turns), tuple(probes))


def _turns(session: Mapping[str, Any], person: str) -> Iterator[Turn]:
    uuid = required(session, "session_uuid", "session")
    starts = day_instant(session["current_time"])
    for position, said in enumerate(session["dialogue_turns"]):
        if not (text := required(said, "content", f"session {uuid}")).strip():
            continue
        role = _ROLES.get(said["speaker"], Role.USER)
        yield Turn(
            id=f"{uuid}:{position}",
            session_id=uuid,
            role=role,
            speaker=person if role is Role.USER else str(said["speaker"]),
            text=text,
            at=starts + position * _SECOND,
            position=position,
        )


def _probes(session: Mapping[str, Any], speaker: str, before: Sequence[Turn]) -> Iterator[Probe]:
    """The session's queries whose evidence lies in the turns before it."""
    known = {turn.session_id for turn in before}
    said = session["dialogue_turns"]
    for position, (query, reply) in enumerate(pairwise(said)):
        evidence = frozenset(reply.get("memory_session_uuids") or ())
        if query.get("is_query") and evidence and evidence <= known:
            yield Probe(
                id=f"{session['session_uuid']}:{position}",
                text=query["content"],
                category=slug(str(query.get("category_name") or "")),
                asked_at=day_instant(session["current_time"]),
                sees=len(before),
                evidence_sessions=evidence,
                speaker=speaker,
            )
