"""This project's own evaluation format: measure the memory on your own transcripts.

```json
{"conversations": [{
  "id": "trip-1",
  "sessions": [{"session_id": "s1", "turns": [
    {"id": "t1", "role": "user", "speaker": "Ann", "text": "I moved to Rome.", "at": "2024-05-08T13:56:00Z",
     "attachments": [{"caption": "a street"}]}]}],
  "questions": [
    {"text": "Where does Ann live?", "category": "single hop", "evidence": ["t1"], "answer": "in Rome",
     "asked_at": "2024-06-01T00:00:00Z"},
    {"text": "Which dog?", "answerable": false}]}]}
```

Turns are what `ingest` reads and `POST /turns` takes (`id` and `at` are needed here). A question names the turns that
answer it together (`evidence`), or the sessions (`evidence_sessions`); `answerable: false` measures abstention.
`answer` is what `eval --answers` is judged by.
`asked_at` is its reference time and hides what was said later; without it the question is asked at the end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.transcripts import Conversation, Probe, required, slug
from memgraph_server.memory.interval import Instant, instant
from memgraph_server.memory.turns import Role, Turn


def recognizes(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("conversations"), list)


def conversations(document: Any) -> list[Conversation]:
    return [_conversation(record, number) for number, record in enumerate(document["conversations"])]


def _conversation(record: Mapping[str, Any], number: int) -> Conversation:
    name = str(required(record, "id", f"conversation {number}"))
    turns = tuple(sorted(_turns(required(record, "sessions", name)), key=lambda turn: turn.at))
    if not turns:
        raise InvalidInput(f"conversation {name!r} has no turns", field="sessions")
    asked = (_probe(q, f"{name}:{i}", turns) for i, q in enumerate(record.get("questions", [])))
    return Conversation(name, turns, tuple(probe for probe in asked if probe is not None))


def _turns(sessions: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    for session in sessions:
        session_id = str(required(session, "session_id", "session"))
        for position, said in enumerate(required(session, "turns", session_id)):
            at = _datetime(required(said, "at", session_id))
            offset = at.utcoffset()
            yield Turn(
                id=str(required(said, "id", session_id)),
                session_id=session_id,
                role=_role(said.get("role", "user")),
                speaker=str(said.get("speaker", "")),
                text=required(said, "text", session_id),
                at=instant(at),
                utc_offset_minutes=int(offset.total_seconds() // 60) if offset else 0,
                captions=tuple(str(a["caption"]) for a in said.get("attachments", []) if a.get("caption")),
                position=position,
            )


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        raise InvalidInput(f"{name!r} is no role; use one of {', '.join(Role)}", field="role") from None


def _datetime(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise InvalidInput(f"not an ISO 8601 time: {text!r}", field="at") from None


def _probe(question: Mapping[str, Any], probe_id: str, turns: tuple[Turn, ...]) -> Probe | None:
    asked_at, sees = _when(question.get("asked_at"), turns)
    seen = {turn.id: turn for turn in turns[:sees]}
    evidence = [seen[str(e)] for e in question.get("evidence", []) if str(e) in seen]
    sessions = {turn.session_id for turn in evidence} | (
        {str(s) for s in question.get("evidence_sessions", [])} & {turn.session_id for turn in seen.values()}
    )
    answerable = bool(question.get("answerable", True))
    if answerable and not sessions:
        return None
    return Probe(
        id=str(question.get("id", probe_id)),
        text=str(required(question, "text", probe_id)),
        category=slug(str(question.get("category", ""))),
        asked_at=asked_at,
        sees=sees,
        evidence_turns=frozenset(turn.id for turn in evidence),
        evidence_sessions=frozenset(sessions),
        answerable=answerable,
        speaker=question.get("speaker"),
        answer=str(question.get("answer", "")) if answerable else "",
    )


def _when(asked_at: str | None, turns: tuple[Turn, ...]) -> tuple[Instant, int]:
    if asked_at is None:
        return turns[-1].at, len(turns)
    at = instant(_datetime(asked_at))
    return at, bisect_left([turn.at for turn in turns], at)
