"""Evaluation files: three formats, one shape. Real files are checked where they are there, made-up ones always."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.locomo import session_instant
from memgraph_server.evaluation.realmem import day_instant
from memgraph_server.evaluation.transcripts import Conversation, read_conversations, slug
from memgraph_server.memory.interval import instant
from memgraph_server.memory.turns import Role
from tests.evaluation.data import LOCOMO, REALMEM

needs_locomo = pytest.mark.skipif(not LOCOMO.exists(), reason="the LoCoMo dev split is not on this machine")
needs_realmem = pytest.mark.skipif(not REALMEM.exists(), reason="RealMem is not on this machine")


def written(tmp_path: Path, document: Any) -> Path:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def read_one(tmp_path: Path, document: Any) -> Conversation:
    return read_conversations(written(tmp_path, document))[0]


def locomo_sample(**changes: Any) -> dict[str, Any]:
    sample: dict[str, Any] = {
        "sample_id": "made-up",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_2_date_time": "12:05 am on 1 June, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "Look", "blip_caption": "a red kite"}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I moved to Rome"},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Great"},
            ],
            "session_3_date_time": "1:56 pm on 8 July, 2023",
        },
        "qa": [{"question": "Where does Ann live?", "evidence": ["D1:1"], "category": 4}],
    }
    return sample | changes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:05 am on 1 June, 2023", datetime(2023, 6, 1, 0, 5, tzinfo=UTC)),
        (" 12:30 pm on 29 February, 2024 ", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
    ],
)
def test_a_locomo_session_date_is_read_as_utc(text: str, expected: datetime) -> None:
    assert session_instant(text) == instant(expected)


@pytest.mark.parametrize("text", ["", "8 May 2023", "13:99 pm on 8 May, 2023", "1:56 pm on 31 June, 2023", "\ud800"])
def test_a_broken_session_date_is_the_files_fault(text: str) -> None:
    with pytest.raises(InvalidInput):
        session_instant(text)


def test_a_realmem_day_is_its_first_instant() -> None:
    assert day_instant("2025-12-15 (Monday)") == instant(datetime(2025, 12, 15, tzinfo=UTC))


def test_locomo_turns_come_in_order_of_time_with_their_captions(tmp_path: Path) -> None:
    found = read_one(tmp_path, [locomo_sample()])
    assert [turn.id for turn in found.turns] == ["D1:1", "D1:2", "D2:1"]
    assert found.session_order() == ("session_1", "session_2")
    assert [turn.at for turn in found.turns] == sorted({turn.at for turn in found.turns})
    assert found.turns[2].full_text() == "Look [shares a red kite]"


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (["D1:1"], {"D1:1"}),
        (["D1:1; D2:1"], {"D1:1", "D2:1"}),
        (["D1:1 D1:2", "D2:1"], {"D1:1", "D1:2", "D2:1"}),
        (["D", "D:11:26", "D1:02"], {"D1:2"}),
        (["D1:1", "D9:9"], {"D1:1"}),
    ],
)
def test_glued_and_malformed_evidence_ids_are_read_by_their_pattern(
    tmp_path: Path, evidence: list[str], expected: set[str]
) -> None:
    qa = [{"question": "q", "evidence": evidence, "category": 1}]
    assert read_one(tmp_path, [locomo_sample(qa=qa)]).probes[0].evidence_turns == expected


def test_a_question_without_any_existing_evidence_is_left_out_but_an_adversarial_one_is_kept(tmp_path: Path) -> None:
    qa = [
        {"question": "lost", "evidence": ["D9:9"], "category": 4},
        {"question": "trap", "evidence": [], "category": 5},
        {"question": "kept", "evidence": ["D1:1"], "category": 2},
    ]
    probes = read_one(tmp_path, [locomo_sample(qa=qa)]).probes
    assert [(probe.text, probe.category, probe.answerable) for probe in probes] == [
        ("trap", "adversarial", False),
        ("kept", "temporal", True),
    ]


@needs_locomo
def test_the_locomo_dev_split_has_760_answerable_questions() -> None:
    probes = [probe for found in read_conversations(LOCOMO) for probe in found.probes]
    assert Counter(probe.category for probe in probes if probe.answerable) == {
        "single_hop": 418,
        "temporal": 156,
        "multi_hop": 142,
        "open_domain": 44,
    }
    assert sum(not probe.answerable for probe in probes) == 237


@needs_realmem
def test_the_realmem_personas_have_424_queries_with_evidence_before_them() -> None:
    found = read_conversations(REALMEM)
    assert sum(len(conversation.probes) for conversation in found) == 424
    for conversation in found:
        assert all(turn.text.strip() for turn in conversation.turns)  # what is empty cannot be stored
        for probe in conversation.probes:
            before = {turn.session_id for turn in conversation.turns[: probe.sees]}
            assert probe.evidence_sessions <= before
            assert probe.id.split(":")[0] not in before
            assert all(turn.at <= probe.asked_at + 60_000_000 for turn in conversation.turns[: probe.sees])


def realmem_file() -> dict[str, Any]:
    def said(speaker: str, content: str, **more: Any) -> dict[str, Any]:
        return {"speaker": speaker, "content": content, "is_query": False, **more}

    return {
        "_metadata": {"person_name": "Ann_Lee"},
        "dialogues": [
            {
                "session_uuid": "late",
                "current_time": "2026-01-02 (Friday)",
                "dialogue_turns": [
                    said("User", "What next?", is_query=True, category_name="Dynamic Updating"),
                    said("Assistant", "The kitchen.", memory_session_uuids=["early"]),
                    said("User", "And then?", is_query=True, category_name="Dynamic Updating"),
                    said("Assistant", "Nothing.", memory_session_uuids=["late"]),
                ],
            },
            {
                "session_uuid": "early",
                "current_time": "2025-12-31 (Wednesday)",
                "dialogue_turns": [said("User", "I painted the hall."), said("Assistant", "Good."), said("User", " ")],
            },
        ],
    }


def test_a_realmem_query_sees_earlier_sessions_only_and_the_user_has_a_name(tmp_path: Path) -> None:
    found = read_one(tmp_path, realmem_file())
    assert [(probe.text, probe.sees, probe.category) for probe in found.probes] == [
        ("What next?", 2, "dynamic_updating")
    ]
    assert found.probes[0].evidence_sessions == {"early"}
    assert [(turn.speaker, turn.role) for turn in found.turns[:2]] == [
        ("Ann Lee", Role.USER),
        ("Assistant", Role.ASSISTANT),
    ]


def own(**question: Any) -> dict[str, Any]:
    turns = [
        {"id": "t1", "speaker": "Ann", "text": "I moved to Rome.", "at": "2024-05-08T13:56:00-04:00"},
        {"id": "t2", "role": "assistant", "text": "Nice.", "at": "2024-05-09T00:00:00Z", "attachments": []},
    ]
    sessions = [{"session_id": "s1", "turns": turns}]
    return {"conversations": [{"id": "c", "sessions": sessions, "questions": [{"text": "Where?"} | question]}]}


def test_our_own_format_keeps_the_speakers_zone_and_asks_at_the_end_unless_told(tmp_path: Path) -> None:
    found = read_one(tmp_path, own(evidence=["t1"], category="Single hop"))
    assert found.turns[0].utc_offset_minutes == -240
    assert found.turns[0].at == instant(datetime(2024, 5, 8, 17, 56, tzinfo=UTC))
    assert (found.probes[0].sees, found.probes[0].category) == (2, "single_hop")
    earlier = read_one(tmp_path, own(evidence=["t1"], asked_at="2024-05-08T20:00:00Z"))
    assert earlier.probes[0].sees == 1


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        3,
        {"conversations": [{"sessions": []}]},
        {"conversations": [{"id": "c", "sessions": []}]},
        own(),
        own(evidence=["nowhere"]),
        own(evidence=["t1"], asked_at="tomorrow"),
        own(evidence=["t1"], asked_at="2024-05-08T20:00:00"),
        [locomo_sample(conversation={"session_1": [], "session_1_date_time": "never"})],
    ],
)
def test_a_file_that_cannot_be_measured_is_the_callers_error(tmp_path: Path, document: Any) -> None:
    with pytest.raises(InvalidInput):
        read_conversations(written(tmp_path, document))


def test_a_missing_or_binary_file_is_the_callers_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        read_conversations(tmp_path / "absent.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\x00")
    with pytest.raises(InvalidInput):
        read_conversations(tmp_path / "binary.json")
    (tmp_path / "binary.json").write_text("[" * 100_000)
    with pytest.raises(InvalidInput, match="is not JSON"):
        read_conversations(tmp_path)
    (tmp_path / "binary.json").unlink()
    with pytest.raises(InvalidInput, match="holds no"):
        read_conversations(tmp_path)


def test_steps_ingest_everything_once_and_never_ahead_of_a_question(tmp_path: Path) -> None:
    found = read_one(tmp_path, realmem_file())
    ingested: list[str] = []
    for turns, probes in found.steps():
        ingested += [turn.id for turn in turns]
        assert all(len(ingested) == probe.sees for probe in probes)
    assert ingested == [turn.id for turn in found.turns]


def test_the_content_hash_follows_the_content(tmp_path: Path) -> None:
    first = read_one(tmp_path, own(evidence=["t1"]))
    other_question = read_one(tmp_path, own(evidence=["t1"], text="Who?"))
    document = own(evidence=["t1"])
    document["conversations"][0]["sessions"][0]["turns"][0]["text"] += "!"
    assert first.content_hash() == other_question.content_hash()
    assert first.content_hash() != read_one(tmp_path, document).content_hash()


@pytest.mark.parametrize(
    ("name", "key"),
    [("Dynamic Updating", "dynamic_updating"), ("Temporal-reasoning", "temporal_reasoning"), ("", "uncategorized")],
)
def test_category_names_become_json_keys(name: str, key: str) -> None:
    assert slug(name) == key
