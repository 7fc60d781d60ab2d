"""Settings are read once, from variables and options, and a wrong one is named."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from memgraph_server.settings import InvalidSetting, Settings, describe, is_loopback


def test_every_setting_has_a_default_that_it_would_itself_accept() -> None:
    shown = {variable: value for variable, value, _ in describe()}
    assert Settings.read(shown) == Settings()


def test_every_setting_says_what_it_means() -> None:
    assert all(about for _, _, about in describe())


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MEMGRAPH_SERVER_PORT", "http"),
        ("MEMGRAPH_SERVER_PORT", "65536"),
        ("MEMGRAPH_SERVER_PORT", "-1"),
        ("MEMGRAPH_SERVER_PORT", "٣"),
        ("MEMGRAPH_SERVER_PORT", "9" * 5000),
        ("MEMGRAPH_SERVER_STORE", "memory.db"),
        ("MEMGRAPH_SERVER_STORE", "sqlite:///"),
        ("MEMGRAPH_SERVER_STORE", "sqlite:///:memory:"),
        ("MEMGRAPH_SERVER_STORE", "postgres://x"),
        ("MEMGRAPH_SERVER_WORKER", "maybe"),
        ("MEMGRAPH_SERVER_EMBEDDER", "best"),
        ("MEMGRAPH_SERVER_LEASE_SECONDS", "nan"),
        ("MEMGRAPH_SERVER_LEASE_SECONDS", "soon"),
        ("MEMGRAPH_SERVER_HOST", ""),
        ("MEMGRAPH_SERVER_LOG_LEVEL", "loud"),
    ],
)
def test_an_invalid_value_is_an_error_that_names_its_variable(variable: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=variable) as caught:
        Settings.read({variable: value})
    assert caught.value.field == variable


def test_a_misspelt_variable_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="MEMGRAPH_SERVER_PROT"):
        Settings.read({"MEMGRAPH_SERVER_PROT": "1"})


def test_other_variables_are_none_of_our_business() -> None:
    assert Settings.read({"PORT": "1", "HOME": "/"}) == Settings()


@pytest.mark.parametrize("url", ["neo4j://localhost:7687", "bolt://localhost", "neo4j+s://host"])
def test_a_neo4j_is_named_by_its_address(url: str) -> None:
    settings = Settings.read({"MEMGRAPH_SERVER_STORE": url, "MEMGRAPH_SERVER_NEO4J_PASSWORD": "hidden"})
    assert (settings.store, settings.on_neo4j) == (url, True)
    assert "hidden" not in repr(settings)


@pytest.mark.parametrize("url", ["neo4j://", "neo4j://user:word@host", "neo4j:/host"])
def test_an_address_of_a_neo4j_without_host_or_with_a_password_is_refused(url: str) -> None:
    with pytest.raises(InvalidSetting, match="neo4j://HOST:PORT"):
        Settings.read({"MEMGRAPH_SERVER_STORE": url})


def test_an_option_wins_over_a_variable_and_a_missing_one_does_not() -> None:
    environ = {"MEMGRAPH_SERVER_PORT": "1234", "MEMGRAPH_SERVER_HOST": "::1"}
    settings = Settings.read(environ, port=99, host=None)
    assert (settings.port, settings.host) == (99, "::1")


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    file, secret = tmp_path / "password", "pässwörd 1"
    file.write_text(secret + "\n", "utf-8")
    assert Settings.read({"MEMGRAPH_SERVER_NEO4J_PASSWORD_FILE": str(file)}).neo4j_password == secret


def test_the_file_of_a_secret_that_is_set_to_nothing_is_as_if_it_were_not_set() -> None:
    environ = {"MEMGRAPH_SERVER_NEO4J_PASSWORD": "here"}
    assert Settings.read({**environ, "MEMGRAPH_SERVER_NEO4J_PASSWORD_FILE": ""}) == Settings.read(environ)


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"hidden\x00word", b"two\nlines"])
def test_a_file_that_cannot_be_the_secret_is_an_error_that_does_not_show_it(
    content: bytes | None, tmp_path: Path
) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidSetting, match="MEMGRAPH_SERVER_NEO4J_PASSWORD") as caught:
        Settings.read({"MEMGRAPH_SERVER_NEO4J_PASSWORD_FILE": str(file)})
    assert not any(word in caught.value.message for word in ("hidden", "two"))


def test_a_secret_is_either_in_a_variable_or_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("one")
    environ = {"MEMGRAPH_SERVER_LLM_API_KEY_FILE": str(tmp_path / "key"), "MEMGRAPH_SERVER_LLM_API_KEY": "two"}
    with pytest.raises(InvalidSetting, match="both set"):
        Settings.read(environ)


def test_only_secrets_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "port").write_text("1")
    with pytest.raises(InvalidSetting, match="MEMGRAPH_SERVER_PORT_FILE is no setting"):
        Settings.read({"MEMGRAPH_SERVER_PORT_FILE": str(tmp_path / "port")})


def test_it_is_said_which_settings_may_be_in_a_file() -> None:
    meanings = {variable: about for variable, _, about in describe()}
    assert "MEMGRAPH_SERVER_NEO4J_PASSWORD_FILE" in meanings["MEMGRAPH_SERVER_NEO4J_PASSWORD"]
    assert "_FILE" not in meanings["MEMGRAPH_SERVER_PORT"]


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().port = 1  # type: ignore[misc]


def test_four_slashes_are_an_absolute_path() -> None:
    assert str(Settings.read({"MEMGRAPH_SERVER_STORE": "sqlite:////var/x.db"}).store_file) == "/var/x.db"
    assert str(Settings.read({"MEMGRAPH_SERVER_STORE": "sqlite:///x.db"}).store_file) == "x.db"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.8.9.1", True), ("localhost", True), ("LOCALHOST", True), ("::1", True), ("[::1]", True),
     ("192.168.0.1", False), ("::", False), ("10.0.0.1", False), ("localhost.evil.example", False), ("", False)],
)  # fmt: skip
def test_loopback_is_only_what_this_machine_alone_can_reach(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
