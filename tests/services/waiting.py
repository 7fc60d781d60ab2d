"""Waiting for what must come in the end, and not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable

#: A machine that is busy with much else starts Neo4j in minutes; what is right is not a matter of time.
PATIENCE_SECONDS = 600.0


def until(holds: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.02)
