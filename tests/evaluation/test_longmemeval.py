"""LongMemEval's files: one question a pile of chats."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.longmemeval import date_instant
from memgraph_server.evaluation.transcripts import Conversation, read_conversations
from memgraph_server.memory.interval import instant
from memgraph_server.memory.turns import Role


def record(**changes: Any) -> dict[str, Any]:
    late = [{"role": "user", "content": "My best time is 25:50 now.", "has_answer": True}]
    early = [
        {"role": "user", "content": "I ran 5K in 27:12.", "has_answer": True},
        {"role": "assistant", "content": "Well done!", "has_answer": False},
        {"role": "user", "content": " "},
    ]
    return {
        "question_id": "q1",
        "question_type": "knowledge-update",
        "question": "What is my best time?",
        "answer": "25:50",
        "question_date": "2023/06/01 (Thu) 09:00",
        "haystack_dates": ["2023/05/27 (Sat) 10:00", "2023/05/25 (Thu) 23:07"],
        "haystack_session_ids": ["late", "early"],
        "haystack_sessions": [late, early],
        "answer_session_ids": ["late"],
        **changes,
    }


def read(folder: Path, *records: dict[str, Any]) -> list[Conversation]:
    path = folder / "longmemeval.json"
    path.write_text(json.dumps(list(records)), encoding="utf-8")
    return read_conversations(path)


def test_sessions_come_by_date_with_the_turns_that_have_text(tmp_path: Path) -> None:
    (found,) = read(tmp_path, record())
    assert [turn.id for turn in found.turns] == ["early:0", "early:1", "late:0"]
    assert [turn.role for turn in found.turns] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert [turn.at for turn in found.turns] == sorted({turn.at for turn in found.turns})


def test_the_question_has_its_gold_answer_evidence_and_category(tmp_path: Path) -> None:
    (probe,) = read(tmp_path, record())[0].probes
    assert (probe.id, probe.answer, probe.category, probe.answerable) == ("q1", "25:50", "knowledge_update", True)
    assert probe.evidence_turns == {"early:0", "late:0"}
    assert probe.evidence_sessions == {"early", "late"}
    assert (probe.asked_at, probe.sees) == (instant(datetime(2023, 6, 1, 9, tzinfo=UTC)), 3)


def test_a_question_about_what_was_never_said_is_not_answerable(tmp_path: Path) -> None:
    (probe,) = read(tmp_path, record(question_id="q1_abs", answer="You never said that."))[0].probes
    assert (probe.answerable, probe.answer, probe.evidence_turns) == (False, "", frozenset())


def test_each_record_is_a_memory_of_its_own_and_a_number_is_an_answer(tmp_path: Path) -> None:
    found = read(tmp_path, record(), record(question_id="q2", answer=3))
    assert [conversation.id for conversation in found] == ["q1", "q2"]
    assert found[1].probes[0].answer == "3"


def test_a_session_that_lies_there_twice_is_one(tmp_path: Path) -> None:
    once = record()
    twice = record(
        haystack_sessions=[*once["haystack_sessions"], once["haystack_sessions"][0]],
        haystack_dates=[*once["haystack_dates"], once["haystack_dates"][0]],
        haystack_session_ids=[*once["haystack_session_ids"], "late"],
    )
    assert read(tmp_path, twice)[0].turns == read(tmp_path, once)[0].turns


@pytest.mark.parametrize(
    "changes",
    [
        {"haystack_dates": ["2023/05/27 (Sat) 10:00"]},
        {"haystack_dates": ["soon", "2023/05/25"]},
        {"haystack_session_ids": ["late", "late"]},
        {"haystack_sessions": [[], []]},
        {"haystack_sessions": [[{"role": "user"}], []]},
    ],
)
def test_a_broken_record_is_the_files_fault(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        read(tmp_path, record(**changes))


@pytest.mark.parametrize("text", ["2023/05/20 (Sat) 02:21", "2023/05/20 02:21", "2023/05/20 (土) 02:21"])
def test_a_date_is_read_as_utc_whatever_language_its_day_is_in(text: str) -> None:
    assert date_instant(text) == instant(datetime(2023, 5, 20, 2, 21, tzinfo=UTC))


@pytest.mark.parametrize("text", ["", "2023/13/20", "2023/05/20 25:00", None, "20 May 2023", "0000/01/01"])
def test_what_is_no_date_is_refused(text: Any) -> None:
    with pytest.raises(InvalidInput):
        date_instant(text)
