"""`eval --answers` over the made-up conversation: real store and answer path, an endpoint that is asked over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from memgraph_server.errors import InvalidInput, ModelUnavailable
from memgraph_server.evaluation.answers import Plan, answered, evaluate_answers, sampled
from memgraph_server.evaluation.full_context import latest
from memgraph_server.evaluation.transcripts import read_conversations
from memgraph_server.settings import Settings
from tests.language.language_model.scripted_server import (
    Answer,
    Play,
    Script,
    by_role,
    fails,
    says,
    says_json,
    scripted,
    streams,
)

FILE = Path(str(resources.files("memgraph_server") / "samples" / "evaluation.json"))
TURNS = 18
TWO = ("grade-1", "grade-locomo-1")


@pytest.fixture
def script() -> Iterator[Script]:
    with scripted(says("ok")) as found:
        yield found


def settings(script: Script, **more: Any) -> Settings:
    return Settings(
        **{
            "embedder": "hashed", "extractor": "patterns", "llm_base_url": script.url, "llm_model": "scripted",
            "llm_retries": 0, "answer_threshold": 0.0, **more,
        }
    )  # fmt: skip


def measured(script: Script, path: Path = FILE, **plan: Any) -> dict[str, Any]:
    return evaluate_answers(path, settings=settings(script), plan=Plan(**{"context": 8000, **plan}))


def material(body: dict[str, Any]) -> Any:
    return json.loads(body["messages"][-1]["content"])


def is_whole(body: dict[str, Any]) -> bool:
    """The baseline is shown a session at least, and no facts; the memory's budget of 60 tokens is for fewer turns."""
    return not material(body)["facts"] and len(material(body)["turns"]) >= 6


def answers(memory: Play, full: Play) -> Play:
    return lambda body: (full if is_whole(body) else memory)(body)


GOLD = {probe.text: probe.answer for probe in read_conversations(FILE)[0].probes}


def knows(body: dict[str, Any]) -> Answer:
    """An answerer that knows all that can be known."""
    gold = GOLD[material(body)["question"]]
    return streams(f"It is {gold} [T1]." if gold else "UNKNOWN")(body)


def grades(body: dict[str, Any]) -> Answer:
    shown = material(body)
    return says_json({"reason": "", "verdict": "correct" if shown["gold"] in shown["answer"] else "wrong"})(body)


def test_right_answers_are_right_for_both_and_cost_one_call(script: Script) -> None:
    script.play(by_role(answer=knows, grade=grades))
    result = measured(script, judges=("grade-1",))
    assert (result["questions"], result["questions_by_category"]["adversarial"]) == (9, 2)
    for system in ("memory", "full_context"):
        found = result["systems"][system]
        judged = found["judged"]["grade-1@scripted"]
        assert (judged["all"], judged["judged"], judged["unjudged"]) == (100.0, 7, 0)
        assert judged["multi_hop"] == judged["single_hop"] == judged["temporal"] == 100.0
        assert found["abstention"] == {"unanswerable": 2, "rightly": 100.0, "answerable": 7, "wrongly": 0.0}
        assert found["a_question"]["model_calls"] == 1
        assert found["a_question"]["model_prompt_tokens"] == 100
        assert 50 < found["f1"]["all"] < found["f1"]["with_unanswerable"] < 100
        assert found["f1"]["adversarial"] == 100
    grading = [result["systems"][system]["grading"] for system in ("memory", "full_context")]
    assert grading[0] == {"calls": 7, "prompt_tokens": 700, "completion_tokens": 140, "cached": 0}
    assert (grading[1]["calls"], grading[1]["cached"]) == (0, 7), "the same answer is judged once"
    assert result["difference"]["grade-1@scripted"] == {"points": 0.0, "interval": [0.0, 0.0], "questions": 7}


def test_the_memory_is_measured_beside_the_whole_conversation(script: Script) -> None:
    script.play(by_role(answer=answers(streams("In Rome [T1]."), knows), grade=grades))
    result = measured(script, judges=("grade-1",), budget=60)
    by = {system: found["judged"]["grade-1@scripted"]["all"] for system, found in result["systems"].items()}
    assert by == {"memory": 0.0, "full_context": 100.0}
    assert result["difference"]["grade-1@scripted"]["points"] == -100.0
    assert result["systems"]["full_context"]["turns_shown"]["whole_conversation"] == 9
    assert result["systems"]["memory"]["a_question"]["turn_tokens"] <= 60
    early = next(one for one in result["answers"] if one["question"].startswith("Why could Theo"))
    assert (early["full_context"]["turns"], early["full_context"]["of_turns"]) == (6, 6), "it saw its future"
    wrong = result["systems"]["memory"]["abstention"]
    assert (wrong["rightly"], wrong["wrongly"]) == (0.0, 0.0)


def test_an_abstention_on_what_can_be_answered_is_wrong_without_a_judge(script: Script) -> None:
    script.play(by_role(answer=streams("UNKNOWN"), grade=grades))
    result = measured(script, judges=("grade-1",))
    found = result["systems"]["memory"]
    assert found["judged"]["grade-1@scripted"]["all"] == 0.0
    assert (found["grading"]["calls"], found["f1"]["all"], found["abstention"]["wrongly"]) == (0, 0.0, 100.0)


def test_a_verdict_that_cannot_be_read_is_counted_and_not_guessed(script: Script) -> None:
    def rough(body: dict[str, Any]) -> Answer:
        return (says("Well done!") if "Nora" in material(body)["question"] else grades)(body)

    script.play(by_role(answer=knows, grade=rough))
    judged = measured(script, judges=("grade-1",))["systems"]["memory"]["judged"]["grade-1@scripted"]
    assert (judged["judged"], judged["unjudged"], judged["all"]) == (3, 4, 100.0)


def test_what_reading_a_turn_costs_is_reported_where_a_model_reads(script: Script) -> None:
    script.play(by_role(answer=knows, extract=says_json({"facts": []})))
    by_model = settings(script, extractor="llm")
    result = evaluate_answers(FILE, settings=by_model, plan=Plan(context=8000, questions=1))
    assert result["ingested"]["turns"] == TURNS
    assert result["ingested"]["a_turn"] == {
        "model_calls": 1.0, "model_prompt_tokens": 100.0, "model_completion_tokens": 20.0,
    }  # fmt: skip


def test_several_judges_are_reported_each_with_their_agreement(script: Script) -> None:
    def either(body: dict[str, Any]) -> Answer:
        strict = "contradicts" in body["messages"][0]["content"]
        return (says_json({"verdict": "wrong"}) if strict else grades)(body)

    script.play(by_role(answer=knows, grade=either))
    result = measured(script, judges=TWO)
    assert {j: f["all"] for j, f in result["systems"]["memory"]["judged"].items()} == {
        "grade-1@scripted": 0.0,
        "grade-locomo-1@scripted": 100.0,
    }
    assert result["agreement"] == [
        {"judges": ["grade-1@scripted", "grade-locomo-1@scripted"], "answers": 14, "same": 0.0, "kappa": 0.0}
    ]


def test_where_the_conversation_is_too_long_its_latest_turns_are_shown(script: Script) -> None:
    script.play(by_role(answer=knows))
    shown = measured(script, context=1200, budget=60)["systems"]["full_context"]["turns_shown"]
    assert 0 < shown["mean"] < TURNS
    last = [request for request in script.asked if is_whole(request.body)][-1]
    assert len(last.body["messages"][-1]["content"]) < 3 * 1200
    texts = [turn["text"] for turn in last.material["turns"].values()]
    conversation = read_conversations(FILE)[0]
    assert texts == [turn.full_text() for turn in conversation.turns[-len(texts) :]]


def test_an_endpoint_that_refuses_the_length_is_asked_with_half_of_it(script: Script) -> None:
    def narrow(body: dict[str, Any]) -> Answer:
        long = len(body["messages"][-1]["content"]) > 1500
        return (fails(400, "maximum context length is 900 tokens", "context_length_exceeded") if long else knows)(body)

    script.play(by_role(answer=narrow))
    result = measured(script, context=16_000)
    found = result["systems"]["full_context"]
    assert (found["failed"], result["context"]["asked_for"]) == (0, 16_000)
    assert result["context"]["used"] < 4000
    assert 0 < found["turns_shown"]["mean"] < TURNS


def test_a_refusal_is_no_answer_and_is_counted(script: Script) -> None:
    refuses = fails(400, "the content was filtered", "content_filter")
    script.play(by_role(answer=answers(knows, refuses), grade=grades))
    result = measured(script, judges=("grade-1",), budget=60)
    found = result["systems"]["full_context"]
    assert found["failed"] == 9
    assert (found["judged"]["grade-1@scripted"]["judged"], found["judged"]["grade-1@scripted"]["unjudged"]) == (0, 7)
    assert result["systems"]["memory"]["failed"] == 0
    assert result["difference"]["grade-1@scripted"]["points"] is None


def test_an_endpoint_that_stays_away_ends_the_run_and_what_was_measured_is_kept(script: Script, tmp_path: Path) -> None:
    script.play(*[by_role(answer=knows)] * 4, fails(503))
    out = tmp_path / "out.json"
    plan = Plan(context=8000)
    with pytest.raises(ModelUnavailable):
        evaluate_answers(FILE, settings=settings(script, llm_concurrency=1), plan=plan, json_path=out)
    result = json.loads(out.read_text("utf-8"))
    assert result["questions"] == 1, "the first round, of the question that is asked after the first session"
    assert "does not answer" in result["ended_early"]
    assert result["systems"]["memory"]["f1"]["all"] > 0


def test_a_sample_is_the_same_for_the_same_seed(script: Script) -> None:
    conversations = read_conversations(FILE) * 2
    drawn = [tuple(p.id for c in sampled(conversations, 5, seed) for p in c.probes) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 5
    assert [len(c.probes) for c in sampled(conversations, None, 0)] == [9, 9]
    assert len(sampled(conversations, 1, 0)) == 1, "a conversation without a question is not read at all"
    script.play(by_role(answer=knows))
    assert measured(script, questions=3)["questions"] == 3


def test_what_cannot_be_measured_is_refused_before_any_work(script: Script, tmp_path: Path) -> None:
    document = json.loads(FILE.read_text("utf-8"))
    for question in document["conversations"][0]["questions"]:
        question.pop("answer", None)
        question.pop("answerable", None)
    path = tmp_path / "without.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InvalidInput, match="answer"):
        measured(script, path)
    with pytest.raises(InvalidInput, match="context"):
        measured(script, context=100)
    with pytest.raises(InvalidInput, match="grade-9"):
        measured(script, judges=("grade-9",))
    with pytest.raises(ModelUnavailable, match="LLM_BASE_URL"):
        evaluate_answers(FILE, settings=Settings(embedder="hashed", extractor="patterns"), plan=Plan())
    assert not script.asked


def test_questions_without_a_gold_answer_are_left_out_and_others_kept() -> None:
    (conversation,) = answered(read_conversations(FILE), "file")
    assert len(conversation.probes) == 9
    assert all(probe.answer for probe in conversation.probes if probe.answerable)


def test_the_latest_turns_that_fit_are_whole_and_in_order() -> None:
    turns = read_conversations(FILE)[0].turns
    assert list(latest(turns, 10**6)) == list(turns)
    assert list(latest(turns, 0)) == []
    for characters in (150, 500, 1500):
        found = list(latest(turns, characters))
        assert found == list(turns[-len(found) :])


def test_the_table_shows_both_ways_every_measure_and_the_cost(script: Script) -> None:
    script.play(by_role(answer=knows, grade=grades))
    printed = StringIO()
    console = Console(file=printed, width=220)
    evaluate_answers(FILE, settings=settings(script), plan=Plan(context=8000, judges=TWO), console=console)
    for word in ("memory", "full context", "token F1", "grade-1@scripted", "adversarial", "kappa", "1.0 calls"):
        assert word in printed.getvalue()


def test_the_command_writes_the_report(script: Script, tmp_path: Path) -> None:
    script.play(by_role(answer=knows, grade=grades))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MEMGRAPH_SERVER_")} | {
        "MEMGRAPH_SERVER_EMBEDDER": "hashed", "MEMGRAPH_SERVER_EXTRACTOR": "patterns",
        "MEMGRAPH_SERVER_LLM_BASE_URL": script.url, "MEMGRAPH_SERVER_LLM_MODEL": "scripted",
        "MEMGRAPH_SERVER_ANSWER_THRESHOLD": "0", "COLUMNS": "200",
    }  # fmt: skip
    command = ["eval", "--answers", "--judge", str(FILE), "--questions", "4", "--json", "out.json", "--budget", "100"]
    done = run(command, tmp_path, environ)
    assert done.returncode == 0, done.stderr
    assert "full context" in done.stdout
    result = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert (result["questions"], result["budget"], result["judges"]) == (4, 100, ["grade-1@scripted"])
    for wrong in (["--budget", "60", "120"], ["--context", "10"], ["--judge-by", "nobody"]):
        refused = run(["eval", str(FILE), "--answers", *wrong], tmp_path, environ)
        assert (refused.returncode, "Traceback" in refused.stderr) == (2, False), refused.stderr
    assert run(["eval", str(FILE), "--context", "300"], tmp_path, environ).returncode == 2


def run(arguments: list[str], folder: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "memgraph_server", *arguments]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=300)
