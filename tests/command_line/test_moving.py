"""`export` and `import` as an operator meets them: one file, whole or not at all."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.command_line.test_commands import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    for namespace in ("ann", "bob"):
        shell.json("ingest", "own.json", "--namespace", namespace)
    return shell


THERE = ("--store", "sqlite:///there.db")


def test_everything_is_moved_into_another_store(shell: Shell) -> None:
    shell.run("export", "-o", "all.jsonl")
    file = shell.folder / "all.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lines = file.read_bytes().splitlines()
    assert [json.loads(line)["namespace"] for line in lines if b'"namespace"' in line] == ["ann", "bob"]
    done = shell.json("import", "all.jsonl", *THERE)
    assert [(one["namespace"], one["new"], one["counts"]["turn"]) for one in done] == [
        ("ann", True, 2), ("bob", True, 2)
    ]  # fmt: skip
    assert shell.run("export", *THERE).stdout.encode() == file.read_bytes()
    asked = ("query", "Where does Ann live?", "-n", "ann", "--budget", "100")
    found, before = (shell.json(*asked, *store)["turns"] for store in (THERE, ()))
    assert [(one["id"], one["text"]) for one in found] == [(one["id"], one["text"]) for one in before]
    assert [one["new"] for one in shell.json("import", "all.jsonl", *THERE)] == [False, False]
    assert "was there" in shell.run("import", "all.jsonl", *THERE).stdout


def test_one_namespace_can_be_exported_alone(shell: Shell) -> None:
    shell.run("export", "-n", "bob", "-o", "bob.jsonl")
    shell.run("import", "bob.jsonl", *THERE)
    assert shell.json("timeline", "Ann", "-n", "bob", *THERE)["facts"]
    assert "'ann'" in shell.run("export", "-n", "ann", *THERE, code=2).stderr


def test_a_namespace_that_is_not_there_leaves_no_file(shell: Shell) -> None:
    assert "'nobody'" in shell.run("export", "-n", "ann", "-n", "nobody", "-o", "some.jsonl", code=2).stderr
    assert sorted(path.name for path in shell.folder.glob("some*")) == []


def test_a_folder_that_is_not_there_is_said(shell: Shell) -> None:
    assert "cannot be written" in shell.run("export", "-o", "none/all.jsonl", code=2).stderr


def test_a_bad_line_near_the_end_changes_nothing(shell: Shell) -> None:
    shell.run("export", "-o", "all.jsonl")
    file = shell.folder / "all.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:-1], lines[-1].replace(b'"turns":["t1"', b'"turns":["t9"')]))
    said = shell.run("import", "all.jsonl", *THERE, code=2).stderr
    assert f"line {len(lines)}: turns: there is no turn 't9'" in said
    assert "no namespace yet" in shell.run("export", *THERE, code=2).stderr


@pytest.mark.parametrize("kept", [1, 3, -1])
def test_a_file_that_was_cut_off_is_refused(shell: Shell, kept: int) -> None:
    shell.run("export", "-o", "all.jsonl")
    lines = (shell.folder / "all.jsonl").read_bytes().splitlines(keepends=True)[:kept]
    (shell.folder / "part.jsonl").write_bytes(b"".join(lines))
    assert f"line {len(lines) + 1}: counts" in shell.run("import", "part.jsonl", *THERE, code=2).stderr
