"""The language model of the settings: which roles it has, what is shown of it, and whether it can be used."""

from __future__ import annotations

import time

import pytest

from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.language_model.connecting import Connected, connected
from memgraph_server.language.port import ModelRole
from memgraph_server.settings import InvalidSetting, Settings, describe
from tests.language.language_model.scripted_server import Script, fails, says

KEY = "sk-secret-of-the-test"


def settings(**variables: str) -> Settings:
    return Settings.read({f"MEMGRAPH_SERVER_LLM_{name.upper()}": value for name, value in variables.items()})


def test_without_settings_there_is_none() -> None:
    assert connected(Settings()) is None
    assert connected(settings(base_url="http://127.0.0.1:1/v1")) is None
    assert connected(settings(model="m")) is None


def test_one_role_may_have_a_model_and_the_others_none() -> None:
    one = connected(settings(base_url="http://127.0.0.1:1/v1", answer_model="strong"))
    assert one is not None
    assert [role for role in ModelRole if one.model.has(role)] == [ModelRole.ANSWER]


def test_each_role_may_have_its_own() -> None:
    one = connected(settings(base_url="http://a/v1", model="m", judge_model="small", answer_base_url="http://b/v1"))
    assert one is not None
    assert {role: (at.base_url, at.model) for role, at in one.model.endpoints.items()} == {
        ModelRole.EXTRACT: ("http://a/v1", "m"),
        ModelRole.READ: ("http://a/v1", "m"),
        ModelRole.JUDGE: ("http://a/v1", "small"),
        ModelRole.ANSWER: ("http://b/v1", "m"),
    }


def test_keys_are_never_shown() -> None:
    chosen = settings(api_key=KEY, judge_api_key=KEY)
    shown = {variable: value for variable, value, _ in describe(chosen)}
    assert shown["MEMGRAPH_SERVER_LLM_API_KEY"] == "(set)"
    assert KEY not in repr(chosen) + repr(shown)
    with pytest.raises(InvalidSetting) as caught:
        settings(api_key=f"{KEY}\n")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("base_url", "127.0.0.1:8080"),
        ("base_url", "ftp://host/v1"),
        ("base_url", "http://user:word@host/v1"),
        ("fallback", "give up"),
        ("turns_per_call", "0"),
        ("timeout_seconds", "-1"),
        ("concurrency", "many"),
    ],
)
def test_a_setting_that_cannot_work_is_named(name: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=f"MEMGRAPH_SERVER_LLM_{name.upper()}"):
        settings(**{name: value})


def of(script: Script) -> Connected:
    one = connected(settings(base_url=script.url, model="scripted", retries="0"))
    assert one is not None
    return one


def after_looking(one: Connected) -> str:
    ends = time.monotonic() + 10
    while one.state == "loading":
        assert time.monotonic() < ends
        time.sleep(0.01)
    return one.state


def test_asking_how_it_is_never_waits_and_then_knows(script: Script) -> None:
    script.play(says("ok"))
    one = of(script)
    assert one.state == "loading"
    assert after_looking(one) == "ok"
    one.state, one.state  # noqa: B018 - asked again, but not looked again
    assert len(script.asked) == 1
    one.close()


def test_what_is_wrong_is_told_without_the_address(script: Script) -> None:
    script.play(fails(401))
    one = of(script)
    state = after_looking(one)
    assert state.startswith("failed: the language model at its address wants a key, and none is set")
    assert "MEMGRAPH_SERVER_LLM_API_KEY" in state
    assert script.url not in state
    with pytest.raises(ModelUnavailable):
        one.probe()
    one.close()


def test_an_endpoint_that_failed_is_looked_at_again_when_asked_later(script: Script) -> None:
    script.play(fails(503))
    one = of(script)
    now = 0.0
    one.clock = lambda: now
    assert after_looking(one).startswith("failed")
    script.play(says("ok"))
    now = 60.0
    ends = time.monotonic() + 10
    while one.state != "ok":
        assert time.monotonic() < ends
        time.sleep(0.01)
    one.close()
