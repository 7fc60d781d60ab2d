"""LoCoMo files, read as `eval` reads them; each conversation is a memory of its own."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.command_line.readers.session import Session
from memgraph_server.evaluation import locomo
from memgraph_server.memory.interval import isoformat
from memgraph_server.memory.turns import Turn


def recognizes(document: Any) -> bool:
    return locomo.recognizes(document)


def sessions(document: Any) -> list[Session]:
    conversations = locomo.conversations(document)
    return [
        Session(session_id, tuple(_given(turn) for turn in turns), one.id if len(conversations) > 1 else "")
        for one in conversations
        for session_id, turns in groupby(one.turns, key=lambda turn: turn.session_id)
    ]


def _given(turn: Turn) -> GivenTurn:
    return GivenTurn(turn.text, isoformat(turn.at), turn.role.value, turn.speaker, turn.id, turn.captions)
