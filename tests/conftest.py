"""Fixtures that tests of several folders share, and what the end of a run says of tests that were left out."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from tests.services.needed import LEFT_OUT
from tests.services.neo4j_server import neo4j_server
from tests.services.rabbitmq_server import rabbitmq_server
from tests.services.redis_server import redis_server

__all__ = ["neo4j_server", "rabbitmq_server", "redis_server"]

#: How long an example takes says something about the machine, not about the rule.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


#: Begun first where tests run side by side, since they take longest.
_LONG = ("topology", "neo4j")


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Side by side (`-n 2 --dist loadgroup --no-loadscope-reorder`) one process runs a file, and all that empties the
    one Neo4j."""
    if not getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        return
    groups = {item: _group(item) for item in items}
    for item, group in groups.items():
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: groups[item] not in _LONG)


def _group(item: pytest.Item) -> str:
    said = item.get_closest_marker("xdist_group")
    if said is not None:
        return str(said.args[0])
    fixtures = getattr(item, "fixturenames", ())
    if "neo4j_server" in fixtures:
        return "neo4j"
    return "topology" if "topology" in item.path.name else item.path.name


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was left out for want of a service, and how to switch it on."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = Counter(str(place[2]).removeprefix("Skipped: ") for place in skipped if isinstance(place, (tuple, list)))
    left_out = {reason: count for reason, count in reasons.items() if reason.startswith(LEFT_OUT)}
    if left_out:
        terminalreporter.write_sep("-", "left out")
        for reason, count in sorted(left_out.items()):
            terminalreporter.write_line(f"{count} tests: {reason}")
