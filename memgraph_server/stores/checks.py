"""What no store takes: text that cannot be stored as UTF-8, numbers out of range. Refused before anything is written.

A lone surrogate has no UTF-8 form, and NUL ends a string for half of the tools that read a store; both are refused by
name of the field rather than changed, since a turn is kept verbatim or not at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from memgraph_server.errors import InvalidInput
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.turns import Turn

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LIMIT = 2**62


def check_text(text: str, field: str) -> str:
    """The text itself; raises InvalidInput naming the field and the character."""
    found = _UNSTORABLE.search(text)
    if found is not None:
        kind = "a NUL character" if found[0] == "\x00" else "a lone surrogate"
        raise InvalidInput(f"{field} holds {kind} at character {found.start()}, which cannot be stored", field=field)
    return text


def check_name(text: str, field: str) -> str:
    """A text that must say something."""
    if not text.strip():
        raise InvalidInput(f"{field} must not be empty", field=field)
    return check_text(text, field)


def check_instant(at: int | None, field: str) -> None:
    if at is not None and not -_LIMIT < at < _LIMIT:
        raise InvalidInput(f"{field} is not an instant that can be stored", field=field)


def check_limit(limit: int) -> int:
    if not 0 <= limit < _LIMIT:
        raise InvalidInput("limit must not be negative", field="limit")
    return limit


def check_turn(turn: Turn) -> None:
    check_name(turn.id, "id")
    check_name(turn.session_id, "session_id")
    check_text(turn.speaker, "speaker")
    check_text(turn.text, "text")
    for caption in turn.captions:
        check_text(caption, "captions")
    check_instant(turn.at, "at")
    if abs(turn.utc_offset_minutes) > 24 * 60:
        raise InvalidInput("utc_offset_minutes must be within a day", field="utc_offset_minutes")


def check_proposal(proposal: Proposal) -> None:
    check_name(proposal.head, "head")
    check_name(proposal.relation, "relation")
    if proposal.tail is not None:
        check_name(proposal.tail, "tail")
    elif proposal.polarity == "claim":
        raise InvalidInput("a claim needs a tail", field="tail")
    _check_proposal_times(proposal)
    for field, text in (("head_type", proposal.head_type), ("tail_type", proposal.tail_type)):
        check_text(text, field)
    check_text(proposal.source, "source")
    for field, optional in (("id", proposal.id), ("turn_id", proposal.turn_id)):
        if optional is not None:
            check_name(optional, field)
    if math.isnan(proposal.confidence) or not 0.0 <= proposal.confidence <= 1.0:
        raise InvalidInput("confidence must be between 0 and 1", field="confidence")


def _check_proposal_times(proposal: Proposal) -> None:
    check_instant(proposal.valid_from, "valid_from")
    check_instant(proposal.valid_to, "valid_to")
    check_instant(proposal.evidence_at, "evidence_at")
    if proposal.valid_to is not None and proposal.valid_to <= proposal.valid_from:
        raise InvalidInput("an interval must end after it starts", field="valid_to")


def check_texts(texts: Sequence[str], field: str) -> None:
    for text in texts:
        check_text(text, field)
