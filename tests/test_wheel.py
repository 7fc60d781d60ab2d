"""The wheel works away from the checkout: schema/ and workers/ are inside, the command answers, a turn goes in.

The image's wheel is built from a few folders alone and installed with extras; both are done here as in the Dockerfile.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.deployment import files

ROOT = Path(__file__).parent.parent


def build(source: Path, folder: Path) -> Path:
    """The wheel of that source, in that folder."""
    options = ["--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(source)], check=True, capture_output=True)
    return next(folder.glob("memgraph_server-*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The wheel unpacked into a folder of its own, as an installer would."""
    zipfile.ZipFile(wheel).extractall(wheel.parent / "site")
    return wheel.parent / "site"


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


def test_what_the_image_copies_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    for source in files.build_sources():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, tmp_path / source, symlinks=True)
        else:
            shutil.copy(ROOT / source, tmp_path / source)
    made = build(tmp_path, tmp_path)
    assert sorted(zipfile.ZipFile(made).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


@pytest.mark.slow
def test_the_wheel_and_the_images_extras_install_into_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    """Everything that `serve`, `worker` and `beat` on Neo4j import is there, and nothing of a checkout."""
    venv.create(tmp_path / "fresh", with_pip=False)
    python = tmp_path / "fresh" / "bin" / "python"
    install = ["-m", "pip", "--python", str(python), "install", "--quiet", f"{wheel}[{files.image_extras()}]"]
    subprocess.run([sys.executable, *install], check=True, capture_output=True)
    code = "import celery, neo4j, redis, memgraph_server.workers.tasks, memgraph_server.stores.neo4j_store"
    subprocess.run([python, "-c", code], check=True, capture_output=True, cwd=tmp_path)
    program = tmp_path / "fresh" / "bin" / "memgraph-server"
    store = f"sqlite:///{tmp_path}/memory.db"
    found = subprocess.run(
        [program, "doctor", "--store", store], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert found.returncode == 0, found.stdout + found.stderr
