"""Which facts bear on the time that a question is about."""

from __future__ import annotations

import pytest

from memgraph_server.memory.interval import Instant, Interval
from memgraph_server.retrieval.compatibility import may_answer
from tests.retrieval.graphs import DAY, fact

NOW = Interval(10 * DAY, 10 * DAY + 1)
TENTH = Interval(10 * DAY, 11 * DAY)


@pytest.mark.parametrize(
    ("start", "end", "scope", "expected"),
    [
        (0, None, NOW, True),  # holds
        (0, 5 * DAY, NOW, False),  # is over
        (4 * DAY, 4 * DAY + 1, NOW, True),  # happened, nobody said when, and was told by then
        (12 * DAY, 12 * DAY + 1, NOW, False),  # told later
        (4 * DAY, 5 * DAY, NOW, False),  # happened on a day of its own
        (4 * DAY, 4 * DAY + 1, TENTH, False),  # another day is asked about
        (10 * DAY, 10 * DAY + 1, TENTH, True),
        (0, 5 * DAY, None, True),  # any time
    ],
)
def test_a_fact_may_answer(start: Instant, end: Instant | None, scope: Interval | None, expected: bool) -> None:
    assert may_answer(fact("ann", "read", "Dune", start=start, end=end), scope) is expected
