"""Everything that must hold, in one command: `python -m tests`.

Format, lint, strict types, import rules, then the tests. Stops at the first that fails. Arguments go to pytest:
`python -m tests -k belief` or `python -m tests -m "not slow"`. Needs the development tools:
`pip install -e '.[dev]'`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ["memgraph_server", "tests", "workers"]
CHECKS = {
    "format": ["ruff", "format", "--check", *SOURCES],
    "lint": ["ruff", "check", *SOURCES],
    "types": ["mypy"],
    "imports": ["lint_imports"],
}


def command(name: str, arguments: list[str]) -> list[str]:
    if name == "imports":
        return [sys.executable, "-c", "from importlinter.cli import lint_imports_command as main; main()", "--no-logo"]
    return [sys.executable, "-m", *arguments]


def main() -> int:
    for name, arguments in CHECKS.items():
        began = time.monotonic()
        done = subprocess.run(command(name, arguments), cwd=ROOT, capture_output=True, text=True, check=False)
        print(f"{name:8} {'ok' if done.returncode == 0 else 'FAILED'}  {time.monotonic() - began:.1f} s", flush=True)
        if done.returncode:
            print(done.stdout + done.stderr)
            return done.returncode
    return subprocess.run([sys.executable, "-m", "pytest", *sys.argv[1:]], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
