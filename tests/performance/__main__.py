"""Speed and size against their bars: `python -m tests.performance NAME [options]`, `NAME --help` for each.

Every module of this folder that has a `main` is one benchmark. Nothing here runs with the tests: figures are worth
something on a quiet machine only.
"""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent


def benchmarks() -> dict[str, str]:
    """Names of the benchmarks, and the first line of what each says about itself."""
    found = {}
    for path in sorted(HERE.glob("[!_]*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            found[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def main() -> int:
    known = benchmarks()
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name not in known:
        print(__doc__)
        print("\n".join(f"  {known_name:<16} {about}" for known_name, about in known.items()))
        return 0 if name in {"--help", "-h"} else 2
    sys.argv = [f"tests.performance {name}", *sys.argv[2:]]
    runpy.run_module(f"tests.performance.{name}", run_name="__main__", alter_sys=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
