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
    "2026-01-06-training-2": ("100kg", "80kg", "120kg"),
    "2026-04-06-training-2": ("120kg", "95kg", "147.5kg"),
    "2026-02-09-training-0": ("flu", "on hold"),
    "2026-02-15-training-0": ("80% better",),
    "2026-02-15-training-4": ("Option 1",),
    "2026-02-26-first-aid-0": ("72%", "shock"),
    "2026-03-20-first-aid-0": ("88%",),
    "2026-04-02-first-aid-2": ("HLTAID011", "March 31st, 2026", "March 31st, 2029"),
}


@pytest.fixture(scope="module")
def sessions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((SAMPLES / "liam.json").read_text("utf-8"))
    return found


def test_the_sample_is_twenty_dated_sessions_of_at_most_150_kilobytes(sessions: list[dict[str, Any]]) -> None:
    assert (SAMPLES / "liam.json").stat().st_size <= 150_000
    assert len(sessions) == 20
    assert sum(len(session["turns"]) for session in sessions) == 134
    times = [datetime.fromisoformat(turn["at"]) for session in sessions for turn in session["turns"]]
    assert times == sorted(times)


def test_the_sample_can_be_read_as_an_evaluation_file_too(sessions: list[dict[str, Any]]) -> None:
    question = {"text": "Why on hold?", "evidence": ["2026-02-09-training-0"]}
    [found] = conversations({"conversations": [{"id": "liam", "sessions": sessions, "questions": [question]}]})
    assert {turn.speaker for turn in found.turns} == {"Liam", "Assistant"}
    assert found.probes[0].evidence_sessions == {"2026-02-09-training"}


def test_the_sample_holds_no_markup_of_the_tool_that_made_it(sessions: list[dict[str, Any]]) -> None:
    for session in sessions:
        for turn in session["turns"]:
            assert not re.search(r"memory_analysis|\[Citation\]|【", turn["text"]), turn["id"]
            assert turn["text"].strip()


def test_the_turns_that_the_readme_names_say_what_it_says(sessions: list[dict[str, Any]]) -> None:
    texts = {turn["id"]: turn["text"] for session in sessions for turn in session["turns"]}
    readme = (SAMPLES / "README.md").read_text("utf-8")
    assert set(re.findall(r"`(\d{4}-\d\d-\d\d-(?:training|first-aid)-\d+)`", readme)) >= set(SAID)
    for turn_id, words in SAID.items():
        assert all(word in texts[turn_id] for word in words), turn_id


def test_the_samples_licence_and_source_are_beside_it() -> None:
    assert "Apache License" in (SAMPLES / "LICENSE").read_text("utf-8")
    assert "RealMem" in (SAMPLES / "README.md").read_text("utf-8")
