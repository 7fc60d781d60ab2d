"""LongMemEval (Wu et al., ICLR 2025): one question to a pile of dated chats with an assistant, a pile a question.

Facts about the files that the reader deals with:
- each record is a conversation of its own, with one question; a session that lies in its pile twice is one;
- sessions are sorted by their date ("2023/05/20 (Sat) 02:21", read as UTC), turns put a second apart;
- a question whose id ends in `_abs` is not answerable; others name their evidence by session (`answer_session_ids`)
  and, in most files, by turn (`has_answer`);
- `answer` is the gold answer, for preferences a description of what a good reply has;
- the whole pile is seen, whatever the question's date: that is the protocol.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.transcripts import Conversation, Probe, required, slug
from memgraph_server.memory.interval import Instant, instant
from memgraph_server.memory.turns import Role, Turn

_SECOND = 1_000_000
#: The day's name says nothing that the date does not.
_DATE = re.compile(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})(?:\s*\([^)]*\))?(?:\s+(\d{1,2}):(\d{2}))?")


def recognizes(document: Any) -> bool:
    records = document if isinstance(document, list) else []
    return bool(records) and all(isinstance(one, dict) and "haystack_sessions" in one for one in records)


def conversations(document: Any) -> list[Conversation]:
    return [_conversation(record) for record in document]


def date_instant(text: Any) -> Instant:
    """ "2023/05/20 (Sat) 02:21" as an instant, the clock read as UTC. Raises InvalidInput."""
    found = _DATE.fullmatch(str(text).strip())
    year, month, day, hour, minute = (int(part or 0) for part in found.groups()) if found else (0,) * 5
    try:
        return instant(datetime(year, month, day, hour, minute, tzinfo=UTC))
    except ValueError:
        raise InvalidInput(f"not a LongMemEval date: {text!r}", field="haystack_dates") from None


def _conversation(record: Mapping[str, Any]) -> Conversation:
    name = str(required(record, "question_id", "record"))
    evidence: set[str] = set()
    sessions = _sessions(record, name)
    turns = tuple(turn for sid, at, said in sessions for turn in _turns(sid, at, said, evidence))
    if not turns:
        raise InvalidInput(f"{name}: no session has a turn", field="haystack_sessions")
    answerable = not name.endswith("_abs")
    named = {str(one) for one in record.get("answer_session_ids") or ()}
    there = {sid for sid, _, _ in sessions} & named | {t.session_id for t in turns if t.id in evidence}
    asked_at = date_instant(record["question_date"]) if record.get("question_date") else turns[-1].at
    probe = Probe(
        id=name,
        text=str(required(record, "question", name)),
        category=slug(str(record.get("question_type", ""))),
        asked_at=asked_at,
        sees=len(turns),
        evidence_turns=frozenset(evidence) if answerable else frozenset(),
        evidence_sessions=frozenset(there) if answerable else frozenset(),
        answerable=answerable,
        answer=str(record.get("answer", "")) if answerable else "",
    )
    return Conversation(name, turns, (probe,) if there or not answerable else ())


def _sessions(record: Mapping[str, Any], name: str) -> list[tuple[str, Instant, list[Any]]]:
    """Id, begin and turns of each, by begin. Raises InvalidInput."""
    said = required(record, "haystack_sessions", name)
    dates = required(record, "haystack_dates", name)
    ids = record.get("haystack_session_ids") or [f"session-{number}" for number in range(len(said))]
    if not len(said) == len(dates) == len(ids):
        raise InvalidInput(f"{name}: sessions, ids and dates differ in number", field="haystack_sessions")
    found: dict[str, tuple[str, Instant, list[Any]]] = {}
    for sid, date, turns in zip(map(str, ids), dates, said, strict=True):
        if sid in found and found[sid][2] != turns:
            raise InvalidInput(f"{name}: two sessions are called {sid!r}", field="haystack_session_ids")
        found.setdefault(sid, (sid, date_instant(date), list(turns)))
    return sorted(found.values(), key=lambda session: session[1])


def _turns(session_id: str, at: Instant, said: list[Any], evidence: set[str]) -> Iterator[Turn]:
    """Turns with text; the ids of those that hold the answer are put into `evidence`."""
    for position, one in enumerate(said):
        turn_id = f"{session_id}:{position}"
        text = str(required(one, "content", turn_id) or "")
        if not text.strip():
            continue
        role = Role.ASSISTANT if one.get("role") == "assistant" else Role.USER
        if one.get("has_answer"):
            evidence.add(turn_id)
        yield Turn(
            id=turn_id, session_id=session_id, role=role, speaker="Assistant" if role is Role.ASSISTANT else "User",
            text=text, at=at + position * _SECOND, position=position,
        )  # fmt: skip
