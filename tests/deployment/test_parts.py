"""Whatever a file starts is a real command, with settings that exist and are accepted, and finds its files."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from memgraph_server.command_line.commands import app
from memgraph_server.settings import PREFIX, InvalidSetting, Settings
from tests.deployment import files
from tests.deployment.files import Part

SECRETS = {PREFIX + field.name.upper() for field in dataclasses.fields(Settings) if field.metadata["secret"]}
PARTS = files.parts()
EACH = pytest.mark.parametrize("part", PARTS, ids=lambda part: part.where)


def parsed(arguments: list[str]) -> None:
    """As the command line reads them, options and their values included; nothing is run. Raises UsageError."""
    command: Any = get_command(app)
    words = list(arguments)
    while hasattr(command, "commands"):
        assert words, "a command is missing"
        name = words.pop(0)
        assert name in command.commands, f"there is no command {name}"
        command = command.commands[name]
    command.make_context("memgraph-server", words)


def settings_of(part: Part, folder: Path) -> Settings:
    """With files of the same names that hold something, since those of a deployment are not here."""
    (folder / "secret").write_text("something\n")
    given = {
        name: str(folder / "secret") if name.endswith("_FILE") and name.removesuffix("_FILE") in SECRETS else value
        for name, value in part.environment.items()
        if name.startswith(PREFIX)
    }
    return Settings.read(given)


def test_every_place_that_starts_the_server_is_looked_at() -> None:
    assert {part.where for part in PARTS} == {
        "Dockerfile",
        *(f"docker-compose.yml: {name}" for name in ("migrate", "api", "worker", "beat")),
        *(f"kubernetes: memgraph-server-{name}" for name in ("migrate", "api", "worker", "beat")),
    }


@EACH
def test_its_command_exists_with_these_options(part: Part) -> None:
    parsed(part.arguments)


@EACH
def test_its_settings_exist_and_are_accepted(part: Part, tmp_path: Path) -> None:
    settings = settings_of(part, tmp_path)
    assert settings.on_neo4j or part.where == "Dockerfile"


@EACH
def test_each_file_that_a_setting_names_is_mounted(part: Part) -> None:
    for name, value in part.environment.items():
        if name.endswith("_FILE") and name.removesuffix("_FILE") in SECRETS:
            assert part.finds(value), f"{name}={value}"
    if "serve" in part.arguments:
        assert part.finds(part.environment["MEMGRAPH_SERVER_KEYS_FILE"])


@EACH
def test_no_secret_is_written_into_it(part: Part) -> None:
    for name, value in part.environment.items():
        if name in SECRETS:
            assert not value or (name.endswith("_URL") and "@" not in value), name
        assert not re.search(r"mgs_[0-9a-f]{8}_", value)


@pytest.mark.parametrize(("page", "arguments"), files.commands_in_docs(), ids=lambda one: str(one)[:60])
def test_a_command_in_the_docs_exists_with_these_options(
    page: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in arguments:
        if re.fullmatch(r"[\w.][\w./-]*\.jsonl?", word):  # a file that the command would find there
            (tmp_path / word).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / word).touch()
    parsed(arguments)


def test_there_are_commands_in_the_docs() -> None:
    pages = {page for page, _ in files.commands_in_docs()}
    assert pages >= {"README.md", "deployment.md", "operations.md"}


@pytest.mark.parametrize("wrong", [["serve", "--no-such"], ["no-such"], ["keys", "create"], ["serve", "--port", "x"]])
def test_a_command_that_does_not_exist_would_be_noticed(wrong: list[str]) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|no command|missing|valid integer"):
        parsed(wrong)


def test_a_setting_that_does_not_exist_would_be_noticed(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting):
        settings_of(Part("here", [], {"MEMGRAPH_SERVER_BROKER": "redis"}), tmp_path)
