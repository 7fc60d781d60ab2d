"""From single dates to what is said with them: "Friday night at 8pm", "the end of March", "from March to May".

Four passes over the readings of a text, each looking only at the words between two neighbours or just before one.
"""

from __future__ import annotations

from memgraph_server.memory.dates.grammar import Found, Scan
from memgraph_server.memory.dates.neighbours import joined, listed
from memgraph_server.memory.dates.operators import operated
from memgraph_server.memory.dates.ranges import ranged
from memgraph_server.memory.dates.shifts import modified


def composed(found: list[Found], scan: Scan) -> list[Found]:
    """The readings of a text put together, sorted by place."""
    found = listed(joined(found, scan), scan)
    found = [modified(one, before, scan) for one, before in zip(found, _stops(found), strict=True)]
    found = ranged(found, scan)
    return [operated(one, before, scan) for one, before in zip(found, _stops(found), strict=True)]


def _stops(found: list[Found]) -> list[int]:
    """Where the date before each one ends: its own words begin after that."""
    return [0, *(one.stop for one in found)][: len(found)]
