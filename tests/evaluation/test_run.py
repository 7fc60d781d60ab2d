"""`eval` over a small made-up conversation, through the real pipeline, models and query path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from rich.console import Console

from memgraph_server.api.app import create_app
from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.pipeline import Pipeline, namespace_of, opened
from memgraph_server.evaluation.recall import coverage
from memgraph_server.evaluation.run import BrokenPromise, evaluate, returned
from memgraph_server.evaluation.transcripts import Conversation, read_conversations
from memgraph_server.memory.interval import isoformat
from memgraph_server.retrieval.evidence import Evidence
from memgraph_server.settings import Settings

FILE = Path(str(resources.files("memgraph_server") / "samples" / "evaluation.json"))
BUDGETS = (60, 120)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("eval")


@pytest.fixture(scope="module")
def printed() -> StringIO:
    return StringIO()


@pytest.fixture(scope="module")
def result(folder: Path, printed: StringIO) -> dict[str, Any]:
    console = Console(file=printed, width=200)
    evaluate(FILE, settings=Settings(), budgets=BUDGETS, json_path=folder / "out.json", console=console)
    found: dict[str, Any] = json.loads((folder / "out.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def conversation() -> Conversation:
    return read_conversations(FILE)[0]


@pytest.fixture(scope="module")
def asked(conversation: Conversation) -> Iterator[tuple[Pipeline, Conversation]]:
    """The conversation as a memory, everything ingested."""
    with opened(Settings(), None) as services:
        pipeline = Pipeline(services, namespace_of(conversation, services))
        pipeline.ingest(conversation.turns)
        yield pipeline, conversation


def test_the_report_has_a_figure_for_each_budget_and_category(result: dict[str, Any]) -> None:
    assert set(result["budgets"]) == {"60", "120"}
    for figures in result["budgets"].values():
        assert figures["questions"] == 7
        assert figures["questions_by_category"] == {"multi_hop": 2, "single_hop": 3, "temporal": 2}
        for name in ("all", "multi_hop", "single_hop", "temporal", "partial", "reached_by_graph"):
            assert 0.0 <= figures[name] <= 100.0
        low, high = figures["intervals"]["all"]
        assert low <= figures["all"] <= high
        assert figures["all"] <= figures["partial"]


def test_the_memory_finds_most_of_a_small_conversation(result: dict[str, Any]) -> None:
    assert result["budgets"]["120"]["all"] >= 70.0


def test_a_sample_of_the_questions_is_drawn_by_its_seed(result: dict[str, Any]) -> None:
    def asked(questions: int, seed: int) -> list[str]:
        drawn = evaluate(
            FILE, settings=Settings(), budgets=[60], baselines=False, limit=1, questions=questions, seed=seed
        )
        assert drawn["sample"] == {"questions": questions, "seed": seed}
        return [question["text"] for question in drawn["questions"]]

    first = asked(3, 1)
    assert len(first) == 3
    assert set(first) <= {question["text"] for question in result["questions"]}
    assert first == asked(3, 1) != asked(3, 2)
    assert "sample" not in result


def test_baselines_are_measured_on_the_same_questions(result: dict[str, Any]) -> None:
    assert set(result["baselines"]) == {"recency", "bm25", "bm25_same_budget", "dense"}
    for rival in result["baselines"].values():
        assert {figures["questions"] for figures in rival["budgets"].values()} == {7}
        assert all("reached_by_graph" not in figures for figures in rival["budgets"].values())


def test_abstention_extraction_timings_and_versions_are_reported(result: dict[str, Any]) -> None:
    assert 0.0 <= result["abstention_auroc"] <= 100.0
    assert (result["abstention"]["answerable"], result["abstention"]["unanswerable"]) == (7, 2)
    assert sum(row["count"] for row in result["abstention"]["bins"]) == 9
    assert result["extraction"]["evidence_turns"] == 8
    assert result["extraction"]["dead_turns"] == 0
    assert result["extraction"]["facts_a_turn"] > 0
    assert result["extraction"]["cost_of_a_turn"] == {}, "no language model reads"
    assert result["timings"]["ingested_turns"] == result["turns"] == 18
    assert result["timings"]["query_milliseconds_p95"] >= result["timings"]["query_milliseconds_p50"] > 0
    assert {"memgraph-server", "embedder", "extractor", "python"} <= set(result["versions"])


def test_each_question_says_what_it_missed(result: dict[str, Any]) -> None:
    questions = {question["text"]: question for question in result["questions"]}
    assert len(questions) == 9
    lacking = [q for q in questions.values() if q["evidence"] and q["missing"]["60"]]
    assert 100 * (1 - len(lacking) / 7) == pytest.approx(result["budgets"]["60"]["all"], abs=0.01)


def test_the_terminal_shows_every_policy(result: dict[str, Any], printed: StringIO) -> None:
    for policy in ("memory", *result["baselines"]):
        assert policy.replace("_", " ") in printed.getvalue()


def test_a_question_never_sees_its_future(conversation: Conversation) -> None:
    """One question is asked after the first session: the memory holds six turns then, not eighteen."""
    early = [probe for probe in conversation.probes if probe.sees < len(conversation.turns)]
    assert [probe.sees for probe in early] == [6]
    with opened(Settings(), None) as services:
        pipeline = Pipeline(services, "early")
        pipeline.ingest(conversation.turns[:6])
        found = pipeline.ask(early[0], 4096)
    assert {item.turn.session_id for item in found.turns} == {"s1"}


def test_a_kept_store_gives_the_same_figures_without_reading_again(folder: Path, conversation: Conversation) -> None:
    """A question asked in the middle forbids keeping, so it is left out here."""
    document = json.loads(FILE.read_text("utf-8"))
    asked_at_the_end = [q for q in document["conversations"][0]["questions"] if "asked_at" not in q]
    document["conversations"][0]["questions"] = asked_at_the_end
    path = folder / "at-the-end.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    runs = [evaluate(path, settings=Settings(), budgets=[60], keep=folder / "kept", baselines=False) for _ in range(2)]
    assert [run["timings"]["ingested_turns"] for run in runs] == [18, 0]
    assert runs[0]["budgets"] == runs[1]["budgets"]
    assert runs[0]["extraction"] == runs[1]["extraction"]


def test_what_is_counted_is_what_comes_back_over_rest(conversation: Conversation) -> None:
    """A server closes its store when it ends, so this memory is its own."""
    with opened(Settings(worker=False), None) as services:
        pipeline = Pipeline(services, "rest")
        pipeline.ingest(conversation.turns)
        counted = [pipeline.ask(probe, 120) for probe in conversation.probes]
        with TestClient(create_app(services), base_url="http://127.0.0.1") as client:
            for probe, expected in zip(conversation.probes, counted, strict=True):
                body = {"query": probe.text, "reference_time": isoformat(probe.asked_at), "token_budget": 120}
                answer = client.post("/v1/namespaces/rest/query", json=body)
                assert answer.status_code == 200
                assert_same(answer.json(), expected)


def assert_same(answer: dict[str, Any], expected: Evidence) -> None:
    assert [(turn["id"], turn["text"], turn["reached_by"]) for turn in answer["turns"]] == [
        (item.turn.id, item.turn.full_text(), item.reached_by) for item in expected.turns
    ]
    assert answer["answerability"] == pytest.approx(expected.answerability)


def test_every_turn_returned_is_whole_and_fits(asked: tuple[Pipeline, Conversation]) -> None:
    pipeline, conversation = asked
    for probe in conversation.probes:
        for budget in (1, 17, 60, 100_000):
            found = returned(pipeline.ask(probe, budget), budget, conversation)
            if budget == 100_000 and probe.answerable:
                assert coverage(probe, found) == 1.0


def altered(evidence: Evidence) -> Evidence:
    first, *rest = evidence.turns
    return replace(evidence, turns=(replace(first, turn=replace(first.turn, text=first.turn.text + "!")), *rest))


def test_an_altered_turn_or_one_over_the_budget_ends_the_evaluation(asked: tuple[Pipeline, Conversation]) -> None:
    pipeline, conversation = asked
    evidence = pipeline.ask(conversation.probes[0], 120)
    with pytest.raises(BrokenPromise):
        returned(altered(evidence), 120, conversation)
    with pytest.raises(BrokenPromise):
        returned(evidence, 1, conversation)


@pytest.mark.parametrize("budgets", [[], [0], [-5, 100]])
def test_budgets_that_make_no_sense_are_refused_before_any_work(budgets: list[int]) -> None:
    with pytest.raises(InvalidInput):
        evaluate(FILE, settings=Settings(), budgets=budgets)


def test_a_folder_to_keep_that_cannot_be_made_is_the_callers_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="cannot be made"):
        evaluate(FILE, settings=Settings(), budgets=[60], keep=tmp_path / "file" / "kept")
