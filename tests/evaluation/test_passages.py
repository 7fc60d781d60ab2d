"""Passages of a small made-up encyclopedia, ranked by the real path over the given triples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.passages import Found, evaluate_passages, read_folder
from memgraph_server.settings import Settings

ENCYCLOPEDIA = {
    "The Long Tide": ("The Long Tide is a novel.", [["The Long Tide", "written by", "Ada Moor"]]),
    "Ada Moor": ("Moor grew up by the sea.", [["Ada Moor", "born in", "Wexley"], ["Ada Moor"], ["a", "b", " "]]),
    **{f"Town {n}": (f"Town {n} lies on the river {n}.", [[f"Town {n}", "lies on", f"river {n}"]]) for n in range(20)},
}


def folder(path: Path, **changed: Any) -> Path:
    corpus = [{"title": title, "text": text} for title, (text, _) in ENCYCLOPEDIA.items()]
    docs = [{"title": t, "text": text, "extracted_triples": triples} for t, (text, triples) in ENCYCLOPEDIA.items()]
    paragraphs = [
        {"title": title, "paragraph_text": text, "is_supporting": title in {"The Long Tide", "Ada Moor"}}
        for title, (text, _) in ENCYCLOPEDIA.items()
    ]
    question = {"id": "2hop", "question": "Where was the writer of The Long Tide born?", "paragraphs": paragraphs}
    files = {"corpus": corpus, "questions": [question], "triples": {"docs": docs}} | changed
    for name, document in files.items():
        if document is not None:
            (path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_passage_keeps_those_triples_that_are_three_texts(tmp_path: Path) -> None:
    passages, questions = read_folder(folder(tmp_path))
    assert passages[1].triples == (("Ada Moor", "born in", "Wexley"),)
    assert (questions[0].hops, questions[0].supporting) == (2, {"p0", "p1"})


def test_both_passages_are_among_the_first_and_the_report_says_so(tmp_path: Path) -> None:
    written = tmp_path / "report.json"
    found = evaluate_passages(folder(tmp_path), settings=Settings(), json_path=written)
    assert json.loads(written.read_text("utf-8")) == found
    assert (found["passages"], found["triples"], found["questions"]) == (22, 22, 1)
    assert found["rankers"]["memory"]["all_at_5"] == 100.0
    less = {"memory, without the second hop", "memory, without its facts"}
    assert set(found["rankers"]) == {"memory", *less, "bm25", "dense"}


def test_a_question_counts_at_k_when_all_its_passages_are_among_the_first_k() -> None:
    found = Found()
    found.note([f"p{n}" for n in range(20)], frozenset({"p0", "p7"}))
    assert found.figures() == {"all_at_5": 0.0, "all_at_10": 100.0, "share_at_5": 50.0, "share_at_10": 100.0}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"triples": None}, "triples"),
        ({"corpus": None}, "a corpus"),
        ({"questions": []}, "questions"),
        ({"questions": [{"id": "1", "question": "?", "paragraphs": [{}]}]}, "MuSiQue's form"),
        ({"questions": [{"id": "1", "question": "?", "paragraphs": []}]}, "no supporting paragraph"),
    ],
)
def test_a_folder_of_another_kind_is_the_callers_error(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_folder(folder(tmp_path, **changed))


def test_a_file_that_is_not_json_is_named(tmp_path: Path) -> None:
    for text in ("{", "[" * 100_000):
        (folder(tmp_path) / "broken.json").write_text(text, encoding="utf-8")
        with pytest.raises(InvalidInput, match=r"broken\.json is not JSON"):
            read_folder(tmp_path)
