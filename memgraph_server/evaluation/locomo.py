"""LoCoMo (Maharana et al., ACL 2024): long two-person chats with questions and the turns that answer them.

Facts about the files that the reader deals with:
- evidence ids are sometimes glued ("D8:6; D9:17"), broken ("D", "D:11:26") or name turns that do not exist: they are
  read by the pattern `D<session>:<turn>`, and those that exist are the evidence;
- a session has one date ("1:56 pm on 8 May, 2023", read as UTC); its turns are put a second apart, so that the order
  of speech is the order of time;
- a shared image is known by its caption (`blip_caption`);
- category 5 is adversarial: not answerable from the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.transcripts import Conversation, Probe, required
from memgraph_server.memory.interval import Instant, instant
from memgraph_server.memory.turns import Role, Turn

CATEGORIES = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop", 5: "adversarial"}
_UNANSWERABLE = "adversarial"
_EVIDENCE = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_SECOND = 1_000_000


def recognizes(document: Any) -> bool:
    samples = document if isinstance(document, list) else [document]
    return bool(samples) and all(isinstance(s, dict) and isinstance(s.get("conversation"), dict) for s in samples)


def conversations(document: Any) -> list[Conversation]:
    samples = document if isinstance(document, list) else [document]
    return [_conversation(sample, number) for number, sample in enumerate(samples)]


def session_instant(text: str) -> Instant:
    """ "1:56 pm on 8 May, 2023" as an instant, the clock read as UTC."""
    try:
        return instant(datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC))
    except ValueError:
        raise InvalidInput(f"not a LoCoMo session date: {text!r}", field="date_time") from None


def _conversation(sample: Mapping[str, Any], number: int) -> Conversation:
    name = str(sample.get("sample_id", f"conversation-{number}"))
    turns = tuple(_turns(sample["conversation"]))
    known = {_spoken_at(turn.id): turn for turn in turns}
    probes = (_probe(qa, f"{name}:{i}", turns, known) for i, qa in enumerate(sample.get("qa", [])))
    return Conversation(name, turns, tuple(probe for probe in probes if probe is not None))


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(m[1]) for key in conversation if (m := _SESSION.fullmatch(key)))
    for number in numbers:
        starts = session_instant(required(conversation, f"session_{number}_date_time", "conversation"))
        for position, said in enumerate(conversation[f"session_{number}"]):
            yield Turn(
                id=required(said, "dia_id", f"session_{number}"),
                session_id=f"session_{number}",
                role=Role.USER,
                speaker=str(said.get("speaker", "")),
                text=required(said, "text", f"session_{number}"),
                at=starts + position * _SECOND,
                captions=(said["blip_caption"],) if said.get("blip_caption") else (),
                position=position,
            )


def _spoken_at(turn_id: str) -> tuple[int, int]:
    found = _EVIDENCE.search(turn_id)
    if found is None:
        raise InvalidInput(f"not a LoCoMo turn id: {turn_id!r}", field="dia_id")
    return int(found[1]), int(found[2])


def _probe(
    qa: Mapping[str, Any], probe_id: str, turns: tuple[Turn, ...], known: Mapping[tuple[int, int], Turn]
) -> Probe | None:
    """The question, or None where none of its evidence exists."""
    category = CATEGORIES.get(qa.get("category", 0), "uncategorized")
    named = _EVIDENCE.findall(" ".join(str(e) for e in qa.get("evidence", [])))
    evidence = [known[key] for s, t in named if (key := (int(s), int(t))) in known]
    if not turns or (not evidence and category != _UNANSWERABLE):
        return None
    return Probe(
        id=probe_id,
        text=str(required(qa, "question", probe_id)),
        category=category,
        asked_at=turns[-1].at,
        sees=len(turns),
        evidence_turns=frozenset(turn.id for turn in evidence),
        evidence_sessions=frozenset(turn.session_id for turn in evidence),
        answerable=category != _UNANSWERABLE,
        answer="" if category == _UNANSWERABLE else str(qa.get("answer", "")),
    )
