"""Command-line tools that come from PyPI, beside this Python or on the PATH."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tests.services.needed import absent


def client(name: str) -> str:
    """Its path; without it the test is left out."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if found is None:
        absent(name, "pip install -e '.[deployment]'")
    return found
