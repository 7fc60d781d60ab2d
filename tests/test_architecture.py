"""The shape of the project, kept by tests: which folder may know what, and how a file introduces itself.

The import rules between folders are in pyproject.toml (import-linter); here is what an import graph cannot see.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "memgraph_server"
PURE = {
    "memory": sys.stdlib_module_names | {"memgraph_server"},
    "retrieval": sys.stdlib_module_names | {"memgraph_server", "numpy", "networkx"},
}
#: Modules of the standard library that do I/O, read a clock or roll dice.
IMPURE = {
    "asyncio",
    "glob",
    "http",
    "io",
    "logging",
    "os",
    "pathlib",
    "random",
    "secrets",
    "shutil",
    "socket",
    "sqlite3",
}
IMPURE |= {"subprocess", "tempfile", "threading", "time", "urllib", "uuid"}
VAGUE = {"utils", "helpers", "common", "manager", "misc"}


def sources(*folders: str) -> list[Path]:
    return sorted(
        path for folder in folders for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in str(path)
    )


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("folder", PURE)
def test_pure_folders_import_no_library_that_they_were_not_given(folder: str) -> None:
    for path in sources(f"memgraph_server/{folder}"):
        assert imported(path) <= PURE[folder], path


@pytest.mark.parametrize("folder", PURE)
def test_pure_folders_do_no_input_or_output_and_read_no_clock(folder: str) -> None:
    for path in sources(f"memgraph_server/{folder}"):
        assert not imported(path) & IMPURE, path
        names = {node.attr for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Attribute)}
        assert not names & {"now", "utcnow", "today"} - allowed_attributes(path), path
        calls = {node.func.id for node in ast.walk(ast.parse(path.read_text("utf-8"))) if is_name_call(node)}
        assert not calls & {"open", "print", "input", "eval", "exec"}, path


def allowed_attributes(path: Path) -> set[str]:
    """`question.now` is an argument, not a clock."""
    return {"now"} if path.parent.name == "retrieval" else set()


def is_name_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def test_every_file_says_what_it_is_for() -> None:
    for path in sources("memgraph_server", "workers", "tests"):
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))) or not path.read_text("utf-8").strip(), path


def test_no_file_has_a_name_that_says_nothing() -> None:
    for path in sources("memgraph_server", "workers", "tests"):
        assert not set(path.stem.split("_")) & VAGUE, path


def test_the_pure_folders_can_be_imported_without_any_library() -> None:
    """`memory` alone must load fast and without numpy: belief is usable as a library."""
    code = "import sys, memgraph_server.memory.belief as b; assert 'numpy' not in sys.modules, 'numpy was loaded'"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_no_file_is_too_long_to_read_in_one_sitting() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in sources("memgraph_server", "workers")
        if (lines := count(path)) > 500
    }
    assert not long, long


def count(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())
