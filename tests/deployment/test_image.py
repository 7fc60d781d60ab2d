"""The Dockerfile by its rules; the image itself needs an engine, and is not built here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.api.serving import running
from tests.deployment import files
from tests.deployment.clients import client


def values(name: str) -> list[str]:
    return [rest for found, rest in files.of_last_stage() if found == name]


def test_hadolint_has_nothing_to_say() -> None:
    done = subprocess.run([client("hadolint"), files.ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_its_bases_have_versions() -> None:
    chosen = dict(rest.split("=") for name, rest in files.instructions() if name == "ARG")
    bases = [rest.split()[0] for name, rest in files.instructions() if name == "FROM"]
    for base in bases:
        tag = re.sub(r"\$\{(\w+)\}", lambda match: chosen[match[1]], base).partition(":")[2]
        assert tag
        assert tag != "latest"


def test_it_runs_on_the_python_that_the_package_asks_for() -> None:
    project = tomllib.loads((files.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    tag = next(rest for name, rest in files.instructions() if name == "ARG").partition("=")[2]
    needed = tuple(map(int, project["requires-python"].removeprefix(">=").split(".")))
    assert tuple(map(int, tag.split("-")[0].split("."))) >= needed


def test_its_user_has_a_fixed_number_and_is_not_root() -> None:
    (user,) = values("USER")
    number, _, group = user.partition(":")
    assert (int(number), int(group)) >= (10_000, 10_000)
    assert all(f"--{kind} {number}" in values("RUN")[0] for kind in ("uid", "gid"))


def test_the_last_stage_has_no_build_tools() -> None:
    assert not [rest for rest in values("RUN") if re.search(r"\b(apt-get|pip|gcc|curl|git)\b", rest)]
    assert [rest for rest in values("COPY") if rest.startswith("--from=")] == values("COPY")


def test_it_starts_without_a_shell_and_ends_by_sigterm() -> None:
    assert json.loads(values("ENTRYPOINT")[0]) == ["memgraph-server"]
    assert values("STOPSIGNAL") == ["SIGTERM"]


def test_its_extras_exist() -> None:
    project = tomllib.loads((files.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(files.image_extras().split(",")) <= set(project["optional-dependencies"])


def test_what_it_copies_is_there_and_reaches_the_build() -> None:
    ignored = (files.ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert ignored[1] == "*", "nothing but what is named goes to the build"
    for source in map(Path, files.build_sources()):
        assert (files.ROOT / source).exists()
        assert f"!{source}" in ignored


def test_one_port_is_listened_on_exposed_and_checked() -> None:
    port = files.image_environment()["MEMGRAPH_SERVER_PORT"]
    assert values("EXPOSE") == [port]
    assert f"127.0.0.1:{port}/healthz" in " ".join(files.health_check())


def check_health(port: int) -> int:
    """The exit code of the image's health check, asked of another port."""
    program, *arguments = files.health_check()
    assert program == "python"
    code = [argument.replace("127.0.0.1:8765", f"127.0.0.1:{port}") for argument in arguments]
    return subprocess.run([sys.executable, *code], capture_output=True, check=False).returncode


def test_its_health_check_tells_a_server_that_answers_from_none(tmp_path: Path) -> None:
    with running(tmp_path, worker=False) as server:
        port = int(server.url.rpartition(":")[2])
        assert check_health(port) == 0
    assert check_health(port) != 0


@pytest.mark.parametrize("name", ["MEMGRAPH_SERVER_STORE", "MEMGRAPH_SERVER_KEYS_FILE"])
def test_what_it_keeps_is_in_its_own_folder(name: str) -> None:
    (folder,) = values("WORKDIR")
    assert files.image_environment()[name].removeprefix("sqlite:///").startswith(f"{folder}/")
    assert any(f"--owner=10001 --group=10001 --mode=0700 {folder}" in rest for rest in values("RUN"))
