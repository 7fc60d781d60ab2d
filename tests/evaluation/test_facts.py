"""How facts are measured: gold memories, the nearest fact and sentence, evidence turns; by real models, small files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.facts import SAME, evaluate_facts, measured_sessions, nearest, sentences_of
from memgraph_server.evaluation.gold_memories import GoldMemory, gold_memories
from memgraph_server.evaluation.transcripts import read_conversations
from memgraph_server.language.hashed_embedder import HashedEmbedder
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.settings import Settings

MARKS = Path(__file__).parent / "marks" / "realmem_same.tsv"


def person(**session: Any) -> dict[str, Any]:
    """A RealMem file of two sessions; the query of the second is answered by the first."""
    first = {
        "session_uuid": "s1",
        "current_time": "2026-01-01 (Thursday)",
        "dialogue_turns": [
            {"speaker": "User", "content": "I bought a red car. I work at Acme."},
            {"speaker": "Assistant", "content": "Noted!"},
        ],
        "extracted_memory": [{"index": "m1", "content": "User bought a red car."}],
        **session,
    }
    second = {
        "session_uuid": "s2",
        "current_time": "2026-01-02 (Friday)",
        "dialogue_turns": [
            {"speaker": "User", "content": "Which car is mine?", "is_query": True},
            {"speaker": "Assistant", "content": "The red one.", "memory_session_uuids": ["s1"]},
        ],
    }
    return {"_metadata": {"person_name": "Ann"}, "dialogues": [first, second]}


def chat() -> list[dict[str, Any]]:
    """A LoCoMo file: D1:1 gives a fact, D1:2 gives none."""
    said = [("Ann", "I bought a red car."), ("Bob", "Wow!"), ("Ann", "See you!")]
    turns = [{"speaker": s, "dia_id": f"D1:{n}", "text": t} for n, (s, t) in enumerate(said, 1)]
    asked = [
        {"question": "What did Ann buy?", "evidence": ["D1:1"], "category": 4},
        {"question": "When?", "evidence": ["D1:2"], "category": 2},
        {"question": "Why, perhaps?", "evidence": ["D1:3"], "category": 3},
    ]
    conversation = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}
    return [{"sample_id": "c", "conversation": conversation, "qa": asked}]


def written(folder: Path, document: Any) -> Path:
    path = folder / "file.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def measured(path: Path, **given: Any) -> dict[str, Any]:
    return evaluate_facts(path, settings=Settings(embedder="hashed"), **given)


def test_gold_memories_are_read_by_session_and_other_files_have_none(tmp_path: Path) -> None:
    assert gold_memories(written(tmp_path, person())) == {"s1": [GoldMemory("m1", "s1", "User bought a red car.")]}
    assert gold_memories(written(tmp_path, chat())) == {}
    assert gold_memories(written(tmp_path, person(extracted_memory=None))) == {}


def test_only_sessions_with_gold_memories_are_measured_where_there_are_any(tmp_path: Path) -> None:
    path = written(tmp_path, person())
    (conversation,) = read_conversations(path)
    assert [s.id for s in measured_sessions(conversation, gold_memories(path))] == ["Ann/s1"]
    assert [s.id for s in measured_sessions(conversation, {})] == ["Ann/s1", "Ann/s2"]
    assert [s.id for s in measured_sessions(conversation, {}, 1)] == ["Ann/s1"]


def test_evidence_that_needs_more_than_was_said_does_not_count(tmp_path: Path) -> None:
    (conversation,) = read_conversations(written(tmp_path, chat()))
    (session,) = measured_sessions(conversation, {})
    assert dict(session.evidence) == {"single_hop": {"D1:1"}, "temporal": {"D1:2"}}


def test_a_text_with_the_words_of_a_memory_is_the_nearest_and_says_the_same() -> None:
    memory = GoldMemory("m", "s", "User bought a red car.")
    (found,) = nearest([memory], ["the weather is fine", "User bought a red car."], HashedEmbedder())
    assert (found.text, found.cosine >= SAME) == ("User bought a red car.", True)
    assert nearest([memory], [], HashedEmbedder())[0].cosine == 0


def test_sentences_and_lines_and_captions_are_pieces_of_a_session() -> None:
    turn = Turn("t", "s", Role.USER, "Ann", "One. Two!\n- three", at=0, captions=("a dog",))
    assert sentences_of([turn, turn]) == ["One.", "Two!", "- three [shares a dog]"]


def test_the_report_says_how_many_gold_memories_a_fact_says(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = measured(written(tmp_path, person()), json_path=out)
    (figures,) = result["extractors"].values()
    assert (figures["turns"], figures["facts"], figures["gold_memories_said"] is not None) == (2, 2, True)
    assert (result["gold_memories"], result["sessions"]) == (1, 1)
    (memory,) = result["memories"]
    assert [f["text"] for f in memory["facts"].values()] == ["Ann bought red car"]
    assert memory["sentence"]["text"] == "I bought a red car."
    assert json.loads(out.read_text()) == result


def test_the_report_says_which_evidence_turns_have_a_fact(tmp_path: Path) -> None:
    (figures,) = measured(written(tmp_path, chat()))["extractors"].values()
    assert figures["evidence_turns_with_a_fact"] == {"all": 50.0, "single_hop": 100.0, "temporal": 0.0}
    assert (figures["evidence_turns"], figures["gold_memories_said"]) == (2, None)


def test_a_file_without_gold_memories_and_evidence_cannot_be_measured(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        measured(written(tmp_path, person(extracted_memory=[])))


def test_marks_of_gold_memories_are_whole() -> None:
    """Marked by hand: whether the best fact says the same; the cosine is that of the run in the header."""
    lines = [line for line in MARKS.read_text("utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == 50
    assert {row["mark"] for row in rows} <= {"same", "part", "other"}
