"""`POST …/answer`: over a real server, a real store and a scripted endpoint that is asked over HTTP."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from memgraph_server.language.language_model.answering import NOT_FOUND
from tests.api.serving import Namespace, Running, assert_problem, running
from tests.language.language_model.scripted_server import (
    Play,
    Script,
    by_role,
    fails,
    gives,
    role_of,
    says,
    says_json,
    streams,
)

QUESTION = {"query": "Where does Ann live?"}


@pytest.fixture
def paris(answering: Running) -> Namespace:
    assert answering.services.language_model is not None
    answering.services.language_model.model._outages.clear()
    answering.services.forget_answers()
    space = answering.namespace(f"ann-{uuid4().hex}")
    space.say("I live in Paris.", "I like jazz.")
    return space


def play(endpoint: Script, answer: Play, **others: Play) -> None:
    endpoint.play(by_role(answer=answer, **others))


def events(body: str) -> list[tuple[str, Any]]:
    found = []
    for block in body.strip().split("\n\n"):
        kind, data = block.split("\n")
        found.append((kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_the_answer_cites_what_it_was_given_by_id(endpoint: Script, paris: Namespace) -> None:
    play(endpoint, streams("Ann lives in ", "Paris [T1]", " [F1]."))
    answer = paris.post("/answer", QUESTION).json()
    assert (answer["answer"], answer["abstained"], answer["model"]) == (
        "Ann lives in Paris [T1] [F1].",
        False,
        "scripted",
    )
    by_mark = {one["mark"]: one for one in answer["citations"]}
    assert paris.get(f"/turns/{by_mark['T1']['id']}").status_code == 200
    assert paris.get(f"/facts/{by_mark['F1']['id']}").json()["fact"]["tail"] == "Paris"
    assert answer["usage"]["model_calls"] == 1
    assert answer["usage"]["model_prompt_tokens"] == 100


def test_what_was_not_given_is_not_cited(endpoint: Script, paris: Namespace) -> None:
    play(endpoint, streams("In Paris [T99], [turn-1], see ", "[F", "42] and [T1]."))
    answer = paris.post("/answer", QUESTION).json()
    assert answer["answer"] == "In Paris,, see and [T1]."
    assert [one["mark"] for one in answer["citations"]] == ["T1"]


def test_the_evidence_can_be_sent_along(endpoint: Script, paris: Namespace) -> None:
    play(endpoint, streams("In Paris [T1]."))
    answer = paris.post("/answer", {**QUESTION, "include_evidence": True}).json()
    assert answer["citations"][0]["id"] in {turn["id"] for turn in answer["evidence"]["turns"]}


def test_the_model_sees_marks_and_data_but_no_ids(endpoint: Script, paris: Namespace) -> None:
    play(endpoint, streams("UNKNOWN"))
    answer = paris.post("/answer", {**QUESTION, "include_evidence": True}).json()
    sent = json.dumps(endpoint.asked[-1].body)
    assert not [turn["id"] for turn in answer["evidence"]["turns"] if turn["id"] in sent]
    assert "I live in Paris." in json.dumps(endpoint.asked[-1].material["turns"])
    assert "I live in Paris." not in endpoint.asked[-1].body["messages"][0]["content"]


@pytest.mark.parametrize("pieces", [("UNKNOWN",), ("UNK", "NOWN", "."), ("",), (" ",)])
def test_the_model_may_abstain(endpoint: Script, paris: Namespace, pieces: tuple[str, ...]) -> None:
    play(endpoint, streams(*pieces))
    answer = paris.post("/answer", QUESTION).json()
    assert (answer["answer"], answer["abstained"], answer["citations"]) == (NOT_FOUND, True, [])


def test_what_the_memory_is_not_likely_to_hold_costs_no_call(endpoint: Script, answering: Running) -> None:
    empty = answering.namespace("empty")
    endpoint.play(fails(500))
    answer = empty.post("/answer", QUESTION).json()
    assert (answer["abstained"], answer["model"], endpoint.asked) == (True, "", [])


def test_a_threshold_is_the_operators_to_set(endpoint: Script, tmp_path: Any) -> None:
    endpoint.play(fails(500))
    with running(tmp_path, llm_base_url=endpoint.url, llm_model="scripted", answer_threshold=1.0) as server:
        space = server.namespace("ann")
        space.say("I live in Paris.")
        answer = space.post("/answer", QUESTION).json()
        assert (answer["abstained"], answer["answer"]) == (True, NOT_FOUND)
        assert [role_of(request.body) for request in endpoint.asked if role_of(request.body) == "answer"] == []


def test_a_stream_ends_with_the_whole_answer(endpoint: Script, paris: Namespace) -> None:
    play(endpoint, streams("Ann lives ", "in Paris ", "[T1]", "[T7]."))
    answer = paris.post("/answer", {**QUESTION, "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = events(answer.text)
    assert [kind for kind, _ in told[:-1]] == ["delta"] * (len(told) - 1)
    assert told[-1][0] == "answer"
    assert "".join(data["text"] for _, data in told[:-1]).strip() == told[-1][1]["answer"] == "Ann lives in Paris [T1]."


@pytest.mark.parametrize("stream", [True, False])
def test_an_endpoint_that_does_not_stream_is_understood_all_the_same(
    endpoint: Script, paris: Namespace, stream: bool
) -> None:
    play(endpoint, says("Ann lives in Paris [T1] [T99]."))
    answer = paris.post("/answer", {**QUESTION, "stream": stream})
    found = events(answer.text)[-1][1] if stream else answer.json()
    assert found["answer"] == "Ann lives in Paris [T1]."
    assert (found["usage"]["model_calls"], found["abstained"]) == (1, False)
    assert found["usage"]["model_completion_tokens"] > 0


@pytest.mark.parametrize("body", [{"error": {"message": "overloaded"}}, [], "no"])
def test_what_is_neither_a_stream_nor_a_completion_is_a_problem(endpoint: Script, paris: Namespace, body: Any) -> None:
    play(endpoint, gives(body))
    assert_problem(paris.post("/answer", QUESTION), 503, "model_unavailable")


def test_a_stream_can_abstain(endpoint: Script, paris: Namespace) -> None:
    play(endpoint, streams("UNK", "NOWN"))
    told = events(paris.post("/answer", {**QUESTION, "stream": True}).text)
    assert told[-1][1]["abstained"] is True
    assert [data["text"] for kind, data in told if kind == "delta"] == [NOT_FOUND]


def test_a_stream_that_breaks_off_ends_with_a_problem(endpoint: Script, paris: Namespace) -> None:
    play(endpoint, streams("Ann lives in a town ", "called ", broken=True))
    told = events(paris.post("/answer", {**QUESTION, "stream": True}).text)
    assert told[-1][0] == "problem"
    assert (told[-1][1]["code"], told[-1][1]["status"]) == ("model_unavailable", 503)


@pytest.mark.parametrize("stream", [True, False])
def test_an_endpoint_that_fails_is_a_problem_before_the_first_word(
    endpoint: Script, paris: Namespace, stream: bool
) -> None:
    play(endpoint, fails(401))
    answer = paris.post("/answer", {**QUESTION, "stream": stream})
    problem = assert_problem(answer, 503, "model_unavailable")
    assert "MEMGRAPH_SERVER_LLM_API_KEY" in problem["detail"]
    assert answer.headers["Retry-After"] == "60"


def test_without_a_model_the_problem_says_what_to_set(served: Running) -> None:
    problem = assert_problem(served.namespace("none").post("/answer", QUESTION), 503, "model_unavailable")
    assert "MEMGRAPH_SERVER_LLM_BASE_URL" in problem["detail"]
    assert problem["retry"] is False  # a setting is missing: waiting cannot help
    problem = assert_problem(
        served.namespace("none").post("/query", {**QUESTION, "evaluator": "llm"}), 503, "model_unavailable"
    )
    assert "MEMGRAPH_SERVER_LLM_JUDGE_MODEL" in problem["detail"]
    assert problem["retry"] is False


@pytest.mark.parametrize("body", [{}, {"query": ""}, {**QUESTION, "stream": "yes"}, {**QUESTION, "evaluator": "gpt"}])
def test_bad_input_is_named(paris: Namespace, body: dict[str, Any]) -> None:
    assert_problem(paris.post("/answer", body), 422, "invalid_input")


# -- queries with the model as reader and judge


def scores(body: dict[str, Any]) -> Any:
    paths = json.loads(body["messages"][-1]["content"])["paths"]
    return says_json({"scores": [{"path": one["path"], "relevance": 0.9, "coherence": 0.9, "sufficiency": 0.9,
                                  "stop": True} for one in paths]})(body)  # fmt: skip


def test_a_query_is_read_once_and_judged_once_a_step(endpoint: Script, paris: Namespace) -> None:
    read = says_json({"roots": [{"name": "Ann", "intent": "FACT"}], "when": "", "uncertain": False})
    endpoint.play(by_role(read=read, judge=scores))
    answer = paris.post("/query", {**QUESTION, "evaluator": "llm", "explain": True}).json()
    asked = [role_of(request.body) for request in endpoint.asked]
    roles = [role for role in asked if role != "probe"]  # of a server that has just started
    assert roles.count("read") == 1
    assert 1 <= roles.count("judge") <= 2 * 3, "at most one a step, and one more where a step is repaired"
    assert answer["usage"]["model_calls"] == len(roles)
    assert answer["usage"]["model_fallbacks"] == 0
    assert {path["relevance"] for path in answer["paths"]} == {0.9}
    assert answer["paths"][0]["root_name"] == "Ann"


def test_a_query_whose_model_talks_nonsense_is_answered_locally_and_says_so(endpoint: Script, paris: Namespace) -> None:
    local = paris.post("/query", QUESTION).json()
    endpoint.play(says("la la la"))
    answer = paris.post("/query", {**QUESTION, "evaluator": "llm"}).json()
    assert answer["usage"]["model_fallbacks"] >= 2
    assert [one["id"] for one in answer["turns"]] == [one["id"] for one in local["turns"]]


def test_a_query_without_an_endpoint_is_a_problem_where_nobody_may_stand_in(endpoint: Script, paris: Namespace) -> None:
    endpoint.play(fails(503))
    assert_problem(paris.post("/query", {**QUESTION, "evaluator": "llm"}), 503, "model_unavailable")


def test_erasing_a_namespace_forgets_what_the_model_said(
    endpoint: Script, answering: Running, paris: Namespace
) -> None:
    assert answering.services.language_model is not None
    endpoint.play(by_role(read=says_json({"roots": [{"name": "Ann"}]}), judge=scores))
    paris.post("/query", {**QUESTION, "evaluator": "llm"})
    answers = answering.services.language_model.model._answers
    assert len(answers._kept) > 0
    assert paris.client.delete(paris.path).status_code == 200
    assert len(answers._kept) == 0
