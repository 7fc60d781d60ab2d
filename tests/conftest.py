"""Fixtures that tests of several folders share, and what the end of a run says of tests that were left out."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.services.needed import LEFT_OUT
from tests.services.neo4j_server import neo4j_server
from tests.services.redis_server import redis_server

__all__ = ["neo4j_server", "redis_server"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was left out for want of a service, and how to switch it on."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = Counter(str(place[2]).removeprefix("Skipped: ") for place in skipped if isinstance(place, tuple))
    left_out = {reason: count for reason, count in reasons.items() if reason.startswith(LEFT_OUT)}
    if left_out:
        terminalreporter.write_sep("-", "left out")
        for reason, count in sorted(left_out.items()):
            terminalreporter.write_line(f"{count} tests: {reason}")
