"""Each fault of an endpoint, played over real HTTP: what the caller gets, and how often it was asked."""

from __future__ import annotations

import json
import logging
import threading
from typing import Any

import pytest
from pydantic import BaseModel, Field

from memgraph_server.errors import ModelUnavailable, UnusableReply
from memgraph_server.language.language_model.client import CompatibleModel, PromptTooLong
from memgraph_server.language.language_model.dialects import Form
from memgraph_server.language.language_model.endpoints import Given, endpoints
from memgraph_server.language.language_model.limits import Limits
from memgraph_server.language.port import Message, ModelRole, Structured, Trouble, Usage
from tests.language.language_model.clients import ASKED, KEY, client_of
from tests.language.language_model.scripted_server import (
    Answer,
    Play,
    Script,
    breaks,
    completion,
    fails,
    gives,
    hangs,
    refuses_forms,
    says,
    scripted,
    streams,
)


class Fact(BaseModel):
    head: str
    confidence: float = 1.0


class Facts(BaseModel):
    facts: list[Fact] = Field(default_factory=list)


GOOD = says('{"facts": [{"head": "Ann"}]}')
ROLE = ModelRole.EXTRACT


def ask(model: CompatibleModel, messages: list[Message] = ASKED) -> Structured[Facts]:
    return model.structured(ROLE, messages, Facts, 200)


def heads(found: Structured[Facts]) -> list[str]:
    return [fact.head for fact in found.value.facts] if found.value is not None else []


@pytest.mark.parametrize(
    "plays",
    [
        pytest.param([fails(429, "slow down")], id="too many requests"),
        pytest.param([fails(429, "slow down", Retry_After="0.01")], id="too many requests, with Retry-After"),
        pytest.param([fails(500)], id="an internal error"),
        pytest.param([fails(502), fails(503), fails(529)], id="a gateway in trouble"),
        pytest.param([fails(408)], id="a time-out of the endpoint"),
        pytest.param([breaks(0)], id="a connection broken before the answer"),
        pytest.param([breaks(20)], id="a connection broken within the answer"),
        pytest.param([gives(b"<html>Bad gateway</html>", headers={"Content-Type": "text/html"})], id="a web page"),
        pytest.param([gives(b'{"choices": [{')], id="half a body"),
        pytest.param([gives({"error": {"message": "overloaded"}})], id="an error with status 200"),
        pytest.param([gives([])], id="a list for a completion"),
    ],
)
def test_what_may_pass_is_tried_again(script: Script, model: CompatibleModel, plays: list[Play]) -> None:
    script.play(*plays, GOOD)
    found = ask(model)
    assert heads(found) == ["Ann"]
    assert found.usage.calls == 1
    assert found.usage.retries == len(plays) == len(script.asked) - 1


def test_an_endpoint_that_takes_too_long_is_given_up_by_the_client_and_asked_again(script: Script) -> None:
    model = client_of(script, timeout=0.2)
    script.play(hangs(1.0), GOOD)
    assert heads(ask(model)) == ["Ann"]
    assert len(script.asked) == 2
    model.close()


def test_retry_after_is_waited_for_and_holds_all_calls(script: Script) -> None:
    waits: list[float] = []
    model = client_of(script, sleep=waits.append)
    script.play(fails(429, Retry_After="0.05"), GOOD)
    ask(model)
    assert 0.05 <= waits[0] <= 0.06
    assert model._budget._paused_until > 0
    model.close()


def test_an_endpoint_that_asks_for_a_long_pause_is_down_for_now_and_says_for_how_long(script: Script) -> None:
    model = client_of(script)
    script.play(fails(429, Retry_After="3600"))
    with pytest.raises(ModelUnavailable) as caught:
        ask(model)
    assert caught.value.retry_after == 3600
    assert len(script.asked) == 1
    model.close()


def test_a_fault_that_stays_is_given_up_after_the_retries_and_then_left_alone(
    script: Script, model: CompatibleModel
) -> None:
    script.play(fails(503))
    with pytest.raises(ModelUnavailable) as caught:
        ask(model)
    assert caught.value.status == 503
    assert len(script.asked) == 5  # one, one in a simpler form, three retries
    with pytest.raises(ModelUnavailable):
        ask(model)
    assert len(script.asked) == 5
    assert model.trouble is not None


def test_nobody_listens() -> None:
    with scripted() as script:
        pass
    model = client_of(script)
    with pytest.raises(ModelUnavailable, match=r"cannot be reached.*set MEMGRAPH_SERVER_LLM_BASE_URL"):
        ask(model)
    model.close()


@pytest.mark.parametrize(
    ("play", "says_to_set"),
    [
        (fails(401, "Incorrect API key"), "refuses the key.*MEMGRAPH_SERVER_LLM_API_KEY"),
        (fails(403, "no access"), "MEMGRAPH_SERVER_LLM_API_KEY"),
        (fails(404, "The model `scripted` does not exist", "model_not_found"), "MEMGRAPH_SERVER_LLM_MODEL"),
        (fails(400, "model 'scripted' not found"), "no model 'scripted'.*MEMGRAPH_SERVER_LLM_MODEL"),
        (fails(404, "Not Found"), "MEMGRAPH_SERVER_LLM_BASE_URL"),
        (fails(429, "You exceeded your current quota", "insufficient_quota"), "quota"),
        (fails(400, "what is that"), "refuses what it is asked"),
        (fails(418), "refuses what it is asked"),
    ],
)
def test_a_wrong_setting_is_named_and_not_tried_again(
    script: Script, model: CompatibleModel, play: Play, says_to_set: str
) -> None:
    script.play(play)
    with pytest.raises(ModelUnavailable, match=says_to_set) as caught:
        ask(model)
    assert len(script.asked) <= 4  # the forms of a request that a 400 may be about
    assert caught.value.retry_after == 60
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("play", "trouble", "asked"),
    [
        (says(None, refusal="I cannot do that."), Trouble.REFUSED, 1),
        (says("", "content_filter"), Trouble.REFUSED, 1),
        (fails(400, "blocked by the content management policy", "content_filter"), Trouble.REFUSED, 1),
        (gives({**completion("x"), "choices": []}), Trouble.EMPTY, 2),
        (says(None), Trouble.EMPTY, 2),
        (says("   "), Trouble.EMPTY, 2),
        (says("I am sorry, but no."), Trouble.UNREADABLE, 2),
        (says("la la la " * 500, "length"), Trouble.UNREADABLE, 1),
        (fails(400, "maximum context length is 8192 tokens", "context_length_exceeded"), Trouble.TOO_LONG, 1),
    ],
)
def test_a_reply_without_an_answer_says_why_and_is_no_outage(
    script: Script, model: CompatibleModel, play: Play, trouble: Trouble, asked: int
) -> None:
    script.play(play)
    found = ask(model)
    assert (found.value, found.trouble, len(script.asked)) == (None, trouble, asked)
    assert model.trouble is None
    script.play(GOOD)
    assert heads(ask(model)) == ["Ann"], "a bad reply is not remembered"


def test_an_unusable_reply_is_asked_for_once_more_with_some_chance(script: Script, model: CompatibleModel) -> None:
    script.play(says("Well…"), GOOD)
    assert heads(ask(model)) == ["Ann"]
    assert [request.body["temperature"] for request in script.asked] == [0.0, 0.4]


def test_a_runaway_gives_what_was_complete(script: Script, model: CompatibleModel) -> None:
    script.play(says('{"facts": [{"head": "Ann"}, {"head": "Bob"}, {"head": "Ann and th', "length"))
    found = ask(model)
    assert heads(found) == ["Ann", "Bob"]
    assert (found.cut, found.dropped) == (True, 1)


@pytest.mark.parametrize(
    ("refused", "status", "form"),
    [
        ((), 400, Form.SCHEMA),
        (("json_schema",), 400, Form.OBJECT_BY_SCHEMA),
        (("json_schema",), 422, Form.OBJECT_BY_SCHEMA),
        (("json_schema", "schema"), 400, Form.OBJECT),
        (("json_schema", "json_object"), 400, Form.TEXT),
    ],
)
def test_a_form_that_is_refused_is_replaced_by_a_simpler_one_and_remembered(
    script: Script, model: CompatibleModel, refused: tuple[str, ...], status: int, form: Form
) -> None:
    script.play(refuses_forms(*refused, status=status, then=GOOD))
    assert heads(ask(model)) == ["Ann"]
    assert len(script.asked) == 1 + form
    script.requests.clear()
    assert heads(ask(model, [*ASKED, Message("user", "{}")])) == ["Ann"]
    assert len(script.asked) == 1
    assert ("response_format" in script.asked[0].body) == (form is not Form.TEXT)


def test_a_server_that_answers_500_to_a_schema_is_understood_but_one_500_alone_proves_nothing(
    script: Script, model: CompatibleModel
) -> None:
    script.play(refuses_forms("json_schema", status=500, then=GOOD))
    asked = []
    for number in range(3):
        script.requests.clear()
        ask(model, [*ASKED, Message("user", str(number))])
        asked.append(len(script.asked))
    assert asked == [2, 2, 1]


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", {"max_completion_tokens": 200}),
        ("Unsupported value: 'temperature' does not support 0", {"max_tokens": 200}),
    ],
)
def test_parameters_that_newer_models_refuse_are_left_out(
    script: Script, model: CompatibleModel, message: str, sent: dict[str, Any]
) -> None:
    script.play(fails(400, message), GOOD)
    assert heads(ask(model)) == ["Ann"]
    assert script.asked[1].body.items() >= sent.items()
    assert script.asked[1].body["response_format"]["type"] == "json_schema"


def test_the_same_question_is_asked_once_until_it_is_forgotten(script: Script, model: CompatibleModel) -> None:
    script.play(GOOD)
    ask(model)
    again = ask(model)
    assert heads(again) == ["Ann"]
    assert (again.usage.calls, again.usage.cached, len(script.asked)) == (0, 1, 1)
    model.forget()
    ask(model)
    assert len(script.asked) == 2


def test_what_it_cost_is_told_with_the_reply_and_summed_for_metrics(script: Script, model: CompatibleModel) -> None:
    script.play(fails(500), GOOD)
    usage = ask(model).usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.retries) == (1, 100, 20, 1)
    assert model.spending.sums()[ROLE, "scripted"].prompt_tokens == 100


def test_a_server_that_counts_nothing_is_counted_for(script: Script, model: CompatibleModel) -> None:
    body = completion('{"facts": []}')
    del body["usage"]
    script.play(gives(body))
    assert ask(model).usage.prompt_tokens > 0


def test_no_more_calls_run_at_once_than_the_budget_allows(script: Script) -> None:
    model = client_of(script, limits=Limits(concurrency=2))
    script.play(hangs(0.03))
    threads = [
        threading.Thread(target=ask, args=(model, [*ASKED, Message("user", str(number))])) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert (len(script.asked), script.most_running) == (8, 2)
    model.close()


def test_nothing_of_the_environment_or_this_machine_is_sent(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    model = client_of(script)
    ask(model)
    sent = {name.lower(): value for name, value in script.asked[0].headers.items()}
    assert "from-the-environment" not in json.dumps(sent)
    assert not [
        name for name in sent if name.startswith("x-stainless") and "retry" not in name and "timeout" not in name
    ]
    assert sent["authorization"] == f"Bearer {KEY}"
    model.close()


def test_without_a_key_none_is_sent(script: Script) -> None:
    model = CompatibleModel(endpoints(Given(script.url, "", "m"), {}, 5.0))
    ask(model)
    assert "authorization" not in {name.lower() for name in script.asked[0].headers}
    model.close()


@pytest.mark.parametrize("text", ["\0", "\ud83d", "a\udc00b", "💙", "你好", "{}\"'`"])
def test_any_text_can_be_sent(script: Script, model: CompatibleModel, text: str) -> None:
    ask(model, [Message("user", text)])
    assert len(script.asked[0].body["messages"][0]["content"]) == len(text)


def test_neither_keys_nor_texts_are_logged_or_shown(script: Script, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    model = client_of(script)
    private = "what Ann said to nobody else"
    script.play(fails(500, private), fails(429, private), fails(401, f"{KEY} is wrong, {private}"))
    with pytest.raises(ModelUnavailable) as caught:
        ask(model, [Message("user", private)])
    told = [caplog.text, str(caught.value), repr(model.endpoints), model.trouble or ""]
    assert not [text for text in told if private in text or KEY in text]
    model.close()


def test_each_role_has_its_endpoint_and_no_key_goes_to_another_address() -> None:
    common = Given("http://one/v1", "key-one", "cheap")
    found = endpoints(
        common,
        {
            ModelRole.ANSWER: Given(model="strong"),
            ModelRole.JUDGE: Given("http://two/v1"),
            ModelRole.READ: Given("http://two/v1", "key-two", "other"),
        },
        5.0,
    )
    places = {role: (one.base_url, one.key, one.model) for role, one in found.items()}
    assert places == {
        ModelRole.EXTRACT: ("http://one/v1", "key-one", "cheap"),
        ModelRole.ANSWER: ("http://one/v1", "key-one", "strong"),
        ModelRole.JUDGE: ("http://two/v1", "", "cheap"),
        ModelRole.READ: ("http://two/v1", "key-two", "other"),
    }
    assert found[ModelRole.ANSWER].variables[2] == "MEMGRAPH_SERVER_LLM_ANSWER_MODEL"


def test_a_role_without_a_model_says_what_to_set() -> None:
    model = CompatibleModel({})
    with pytest.raises(ModelUnavailable, match=r"MEMGRAPH_SERVER_LLM_BASE_URL.*MEMGRAPH_SERVER_LLM_EXTRACT_MODEL"):
        ask(model)


# -- before the first use


@pytest.mark.parametrize(
    ("play", "models", "told"),
    [
        (fails(401), ["scripted"], "refuses the key"),
        (fails(404, "Not Found"), ["small", "large"], "no model 'scripted' .it has large, small"),
        (fails(404, "Not Found"), None, "MEMGRAPH_SERVER_LLM_BASE_URL"),
        (fails(500), ["scripted"], "does not answer"),
        (gives(b"<html>", headers={"Content-Type": "text/html"}), None, "no completion"),
    ],
)
def test_the_probe_says_what_is_wrong(
    script: Script, model: CompatibleModel, play: Play, models: list[str] | None, told: str
) -> None:
    script.models = models
    script.play(play)
    with pytest.raises(ModelUnavailable, match=told):
        model.probe()


def test_the_probe_costs_one_tiny_call_for_each_model(script: Script, model: CompatibleModel) -> None:
    script.play(says("ok"))
    model.probe()
    assert [request.body["max_tokens"] for request in script.asked] == [8]
    assert model.trouble is None


# -- streaming


def streamed(model: CompatibleModel) -> tuple[str, Usage]:
    spent: list[Usage] = []
    text = "".join(model.stream(ROLE, ASKED, 100, spent.append))
    return text, spent[0]


def test_a_stream_comes_in_pieces_and_is_counted(script: Script, model: CompatibleModel) -> None:
    script.play(streams("In ", "Paris", "."))
    text, usage = streamed(model)
    assert (text, usage.calls, usage.completion_tokens) == ("In Paris.", 1, 3)


@pytest.mark.parametrize("first", [fails(503), fails(429), breaks(0)])
def test_a_stream_that_cannot_begin_is_tried_again(script: Script, model: CompatibleModel, first: Play) -> None:
    script.play(first, streams("In Paris."))
    assert streamed(model)[0] == "In Paris."


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("before", ["probe", "stream"])
def test_a_text_that_worked_says_nothing_about_forms(
    script: Script, model: CompatibleModel, before: str, status: int
) -> None:
    """A worker probes before its first turn, and an answer streams before its first judge."""

    def reply(body: dict[str, Any]) -> Answer:
        return (streams("Paris") if body.get("stream") else GOOD)(body)

    script.play(refuses_forms("json_schema", status=status, then=reply))
    if before == "probe":
        model.probe()
    else:
        assert streamed(model)[0] == "Paris"
    for _ in range(3):
        assert heads(ask(model)) == ["Ann"]
        assert streamed(model)[0] == "Paris"
        model.forget()
    forms = [one.body["response_format"]["type"] for one in script.asked if "response_format" in one.body]
    assert forms[-1] == "json_object", "what was learnt is kept, whatever is asked without a form in between"
    assert forms.count("json_schema") <= 2


def mute(then: Play) -> Play:
    """A server that begins a stream, and fails where nobody is told: nothing comes, not even an end."""
    nothing = gives(b"", headers={"Content-Type": "text/event-stream"})
    return lambda body: (nothing if body.get("stream") else then)(body)


def test_a_stream_of_nothing_is_no_answer_and_the_whole_is_asked_for(script: Script, model: CompatibleModel) -> None:
    script.play(mute(says("In Paris.")))
    text, usage = streamed(model)
    assert (text, usage.calls) == ("In Paris.", 1)


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        (fails(400, "maximum context length is 900 tokens", "context_length_exceeded"), PromptTooLong),
        (fails(500), ModelUnavailable),
        (fails(401), ModelUnavailable),
    ],
)
def test_what_was_wrong_with_a_stream_of_nothing_is_told(
    script: Script, model: CompatibleModel, fault: Play, raised: type[Exception]
) -> None:
    script.play(mute(fault))
    with pytest.raises(raised):
        streamed(model)


def test_a_stream_that_breaks_off_says_so_and_gives_its_place_back(script: Script) -> None:
    model = client_of(script, limits=Limits(concurrency=1))
    script.play(streams("In ", "Par", broken=True))
    for _ in range(2):
        pieces = []
        with pytest.raises(ModelUnavailable, match="broke off"):
            pieces += list(model.stream(ROLE, ASKED, 100, lambda _: None))
    model.close()


def test_a_stream_that_nobody_listens_to_gives_its_place_back(script: Script) -> None:
    model = client_of(script, limits=Limits(concurrency=1, patience=1.0))
    script.play(streams("In ", "Paris"))
    pieces = model.stream(ROLE, ASKED, 100, lambda _: None)
    assert next(pieces) == "In "
    pieces.close()  # type: ignore[attr-defined]
    assert streamed(model)[0] == "In Paris"
    model.close()


def test_a_server_without_stream_options_is_asked_without(script: Script, model: CompatibleModel) -> None:
    def play(body: dict[str, Any]) -> Any:
        return (fails(400, "unknown field stream_options") if "stream_options" in body else streams("ok"))(body)

    script.play(play)
    text, usage = streamed(model)
    assert (text, usage.calls) == ("ok", 1)
    assert usage.prompt_tokens > 0


def test_evidence_that_is_too_long_to_answer_from_is_no_outage(script: Script, model: CompatibleModel) -> None:
    script.play(fails(400, "maximum context length is 8192"))
    with pytest.raises(UnusableReply, match="token_budget"):
        streamed(model)
    assert model.trouble is None
