"""The sample that ships: small, well formed, free of leftovers, and its README tells the truth about it."""

from __future__ import annotations

import json
import re
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from memgraph_server.evaluation.own_format import conversations

SAMPLES = Path(str(resources.files("memgraph_server") / "samples"))
#: What the README says about each turn it names.
SAID = {
    "2026-04-10-beijing-0": ("VisaHQ", "$750"),
    "2026-05-16-beijing-4": ("My parents' comfort is my main concern",),
    "2026-01-07-beijing-2": ("My main concern", "most bang for our buck"),
    "2026-03-09-beijing-0": ("$1200 more than we budgeted",),
    "2026-03-09-beijing-2": ("$9,450",),
    "2026-05-18-beijing-0": ("boring",),
    "2026-05-18-beijing-4": ("798 Art District", "Day 4"),
    "2026-05-30-beijing-0": ("Day 4", "798 Art District"),
    "2026-01-29-back-0": ("app",),
    "2026-01-29-back-2": ("notebook", "coffee", "1 to 10"),
}


@pytest.fixture(scope="module")
def sessions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((SAMPLES / "sarah.json").read_text("utf-8"))
    return found


def test_the_sample_is_sixteen_dated_sessions_of_at_most_150_kilobytes(sessions: list[dict[str, Any]]) -> None:
    assert (SAMPLES / "sarah.json").stat().st_size <= 150_000
    assert len(sessions) == 16
    assert sum(len(session["turns"]) for session in sessions) == 102
    times = [datetime.fromisoformat(turn["at"]) for session in sessions for turn in session["turns"]]
    assert times == sorted(times)


def test_the_sample_can_be_read_as_an_evaluation_file_too(sessions: list[dict[str, Any]]) -> None:
    question = {"text": "Which agency?", "evidence": ["2026-04-10-beijing-0"]}
    [found] = conversations({"conversations": [{"id": "sarah", "sessions": sessions, "questions": [question]}]})
    assert {turn.speaker for turn in found.turns} == {"Sarah", "Assistant"}
    assert found.probes[0].evidence_sessions == {"2026-04-10-beijing"}


def test_the_sample_holds_no_markup_of_the_tool_that_made_it(sessions: list[dict[str, Any]]) -> None:
    for session in sessions:
        for turn in session["turns"]:
            assert not re.search(r"memory_analysis|execute_task|\[Citation\]|【", turn["text"]), turn["id"]
            assert turn["text"].strip()


def test_the_turns_that_the_readme_names_say_what_it_says(sessions: list[dict[str, Any]]) -> None:
    texts = {turn["id"]: turn["text"] for session in sessions for turn in session["turns"]}
    readme = (SAMPLES / "README.md").read_text("utf-8")
    assert set(re.findall(r"`(\d{4}-\d\d-\d\d-(?:beijing|back)-\d+)`", readme)) >= set(SAID)
    for turn_id, words in SAID.items():
        assert all(word in texts[turn_id] for word in words), turn_id


def test_the_samples_licence_and_source_are_beside_it() -> None:
    assert "Apache License" in (SAMPLES / "LICENSE").read_text("utf-8")
    assert "RealMem" in (SAMPLES / "README.md").read_text("utf-8")
