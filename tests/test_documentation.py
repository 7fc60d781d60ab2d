"""Every command in README.md and docs/ is run: a page's `bash` blocks, in order, are one script in a folder of its own.

Not run: set-up lines (`git clone`, `python3 -m venv`, `source`, `pip install`) and `python -m tests` itself, since CI
does just these; and a block directly below a comment `<!-- not run: REASON -->`. A page may start a server in the
background: everything that its script started is ended with it. Links between pages must lead somewhere.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SET_UP = re.compile(r"^(git clone|cd memgraph-server|python3 -m venv|source |pip install|python -m tests)")
BLOCK = re.compile(r"(?P<comment><!-- not run: [^>]+ -->\n)?```bash\n(?P<code>.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")


def commands(page: Path) -> str:
    blocks = [match["code"] for match in BLOCK.finditer(page.read_text("utf-8")) if not match["comment"]]
    return "\n".join(line for block in blocks for line in block.splitlines() if not SET_UP.match(line))


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
    script = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", commands(page)],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        assert script.stdout
        code = script.wait(timeout=300)
        os.killpg(script.pid, signal.SIGTERM)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        code = script.poll()
    printed = script.stdout.read() if script.stdout else ""
    assert code == 0, printed[-4000:]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{name(page)} points to {target}"
