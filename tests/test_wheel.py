"""The wheel works away from the checkout: schema/ and workers/ are inside, the command answers, a turn goes in."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked into a folder of its own, as an installer would."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(build, check=True, capture_output=True)
    wheel = next(folder.glob("memgraph_server-*.whl"))
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def run(installed: Path, code: str) -> str:
    """Run code that sees the unpacked wheel before any checkout."""
    program = f"import sys; sys.path.insert(0, {str(installed)!r})\n{code}"
    done = subprocess.run([sys.executable, "-c", program], cwd=installed, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_wheel_carries_its_schema_and_workers(installed: Path) -> None:
    names = {str(path.relative_to(installed)) for path in installed.rglob("*")}
    for source in [*(ROOT / "schema").rglob("*.*"), *(ROOT / "workers").glob("*.py")]:
        assert f"memgraph_server/{source.relative_to(ROOT)}" in names


def test_nothing_is_installed_beside_the_package(installed: Path) -> None:
    top = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert top == {"memgraph_server"}


def test_a_fact_goes_in_and_comes_out_of_the_installed_wheel(installed: Path, tmp_path: Path) -> None:
    answer = run(
        installed,
        f"""
import memgraph_server, sys
assert memgraph_server.__file__.startswith({str(installed)!r}), memgraph_server.__file__
sys.argv = ["memgraph-server", "migrate", "--store", "sqlite:///{tmp_path}/memory.db"]
from memgraph_server.__main__ import main
main()
""",
    )
    assert (tmp_path / "memory.db").exists(), answer
