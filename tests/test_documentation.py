"""Every command in README.md and docs/ is run: a page's `bash` blocks, in order, are one script in a folder of its own.

Not run: set-up (`git clone`, `python3 -m venv`, `pip install`) and `python -m tests` itself, since CI does just these;
and a block directly below a comment `<!-- not run: REASON -->`. A page may start a server in the
background: everything that its script started is ended with it. Links between pages must lead somewhere.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SET_UP = re.compile(r"^(git clone .*|python3 -m venv .*|pip install [^&]*(&& )?|python -m tests.*)")
BLOCK = re.compile(r"(?P<comment><!-- not run: [^>]+ -->\n)?```bash\n(?P<code>.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")


def commands(page: Path) -> str:
    blocks = [match["code"] for match in BLOCK.finditer(page.read_text("utf-8")) if not match["comment"]]
    return "\n".join(SET_UP.sub("", SET_UP.sub("", line)) for block in blocks for line in block.splitlines())


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


WITH_COMMANDS = [page for page in PAGES if commands(page).strip()]


def test_there_are_commands_to_run() -> None:
    assert ROOT / "README.md" in WITH_COMMANDS


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name)
def test_the_commands_of_a_page_work(page: Path, tmp_path: Path) -> None:
    for entry in ("tests", "docs", "memgraph_server", "schema", "workers"):
        (tmp_path / entry).symlink_to(ROOT / entry)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "120"}
    printed = tmp_path / "printed.txt"
    with (
        printed.open("w") as output,
        subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", commands(page)],
            cwd=tmp_path,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as script,
    ):
        try:
            code = script.wait(timeout=300)
        finally:
            end_group(script.pid)
    assert code == 0, printed.read_text("utf-8", "replace")[-4000:]


def end_group(group: int) -> None:
    """End what the script left running, such as a server in the background."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGTERM)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{name(page)} points to {target}"
