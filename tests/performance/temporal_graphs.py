"""YAGO11k and Wikidata12k through the store, in several orders: the same facts, and one value at a time.

    python -m tests.performance temporal_graphs --data FOLDER [--orders 3] [--most N] [--json OUT]

FOLDER holds `yago11k` and `wikidata12k` as in ATISE: `head relation tail start end`, tab-separated, `####` for an
unknown year. A claim without a known start is left out; a year stands for its first instant, and an end year still
belongs to the interval. Some relations are made single-valued by `set_cardinality`, so that later values close earlier
ones. Checks: every order gives the same facts; no instant of a single-valued relation has two stable values.
"""

from __future__ import annotations

import random
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from memgraph_server import wiring
from memgraph_server.memory.facts import Stratum
from memgraph_server.memory.interval import Basis, Instant, Precision, instant
from memgraph_server.memory.proposals import Proposal
from memgraph_server.settings import Settings
from memgraph_server.stores.port import FactView, GraphStore
from tests.performance.figures import Figure, arguments, present

#: Where one value at a time makes sense, at least nearly: the data disagrees often enough to be a test.
SINGLE = {
    "yago11k": ("wasBornIn", "diedIn", "isMarriedTo", "worksAt"),
    "wikidata12k": ("P26", "P6", "P551", "P17", "P131"),
}
_YEAR = re.compile(r"(-?\d{1,4})-")
_BATCH = 500
_SAID_AT = instant(datetime(2026, 1, 1, tzinfo=UTC))

Row = tuple[str, str, str, Instant, Instant | None, str, float]


def claims(folder: Path) -> list[Proposal]:
    """Every line of the folder's files with a known start, with ids that follow from its content."""
    entities, relations = _names(folder / "entity2id.txt"), _names(folder / "relation2id.txt")
    found: dict[str, Proposal] = {}
    for file in sorted(folder.glob("*.txt")):
        if not file.stem.endswith("2id"):
            for line in file.read_text("utf-8").splitlines():
                head, relation, tail, start, end = line.split("\t")
                claim = _claim(line, entities[head], relations[relation], entities[tail], (start, end))
                if claim is not None:
                    found[line] = claim
    return list(found.values())


def _names(file: Path) -> dict[str, str]:
    lines = (line.split("\t") for line in file.read_text("utf-8").splitlines())
    return {parts[1]: parts[0].strip("<>") for parts in lines}


def _claim(line: str, head: str, relation: str, tail: str, years: tuple[str, str]) -> Proposal | None:
    start, end = (_year(text) for text in years)
    if start is None or start < 1:
        return None
    until = None if end is None or end < start else _first_instant(end + 1)
    return Proposal(
        head=head,
        relation=relation,
        tail=tail,
        valid_from=_first_instant(start),
        valid_to=until,
        evidence_at=_SAID_AT,
        from_precision=Precision.YEAR,
        from_basis=Basis.STATED,
        id=f"claim {line}",
    )


def _year(text: str) -> int | None:
    found = _YEAR.match(text)
    return int(found[1]) if found else None


def _first_instant(year: int) -> Instant:
    return instant(datetime(year, 1, 1, tzinfo=UTC))


def orders(found: Sequence[Proposal], count: int) -> Iterator[tuple[str, list[Proposal]]]:
    """As in the file, by time, latest first, then shuffled."""
    by_time = sorted(found, key=lambda claim: (claim.valid_from, claim.id or ""))
    ready = [("as given", list(found)), ("by time", by_time), ("latest first", by_time[::-1])]
    for number in range(count):
        yield ready[number] if number < len(ready) else (f"shuffled {number}", _shuffled(found, number))


def _shuffled(found: Sequence[Proposal], seed: int) -> list[Proposal]:
    return random.Random(seed).sample(list(found), len(found))


def replay(store: GraphStore, namespace: str, single: Sequence[str], found: Sequence[Proposal]) -> float:
    """Seconds for asserting all of them in batches."""
    now = wiring.clock()
    for relation in single:
        store.set_cardinality(namespace, relation, True, reason="one value at a time", now=now)
    began = time.perf_counter()
    for start in range(0, len(found), _BATCH):
        store.assert_facts(namespace, found[start : start + _BATCH], {}, now=wiring.clock())
    return time.perf_counter() - began


def believed(store: GraphStore, namespace: str) -> list[FactView]:
    views: list[FactView] = []
    cursor: str | None = None
    while True:
        page = store.timeline(namespace, limit=1_000, cursor=cursor)
        views += page.facts
        cursor = page.next_cursor
        if cursor is None:
            return views


def rows(views: Sequence[FactView]) -> frozenset[Row]:
    """What is believed, without ids that depend on the order of arrival."""
    return frozenset(
        (
            view.head_name,
            view.fact.relation,
            view.tail_name,
            view.fact.valid_from,
            view.fact.valid_to,
            view.fact.stratum,
            round(view.fact.confidence, 9),
        )
        for view in views
    )


def double_values(views: Sequence[FactView], single: Sequence[str]) -> int:
    """How often two stable values of one single-valued key hold at the same instant."""
    keys = defaultdict(list)
    for view in views:
        if view.fact.relation in single and view.fact.stratum is Stratum.STABLE:
            keys[view.fact.head, view.fact.relation].append(view.fact.interval)
    sorted_keys = (sorted(held, key=lambda interval: interval.start) for held in keys.values())
    return sum(one.overlaps(two) for held in sorted_keys for one, two in pairwise(held))


def measure(data: Path, graph: str, count: int, most: int | None, folder: Path) -> list[Figure]:
    found = claims(data / graph)[:most]
    seen: list[frozenset[Row]] = []
    doubles, seconds = 0, []
    services = wiring.services(Settings(store=f"sqlite:///{folder / f'{graph}.db'}"))
    try:
        for number, (_, ordered) in enumerate(orders(found, count)):
            seconds.append(replay(services.store, f"{graph}-{number}", SINGLE[graph], ordered))
            views = believed(services.store, f"{graph}-{number}")
            seen.append(rows(views))
            doubles += double_values(views, SINGLE[graph])
    finally:
        services.close()
    differing = sum(len(other ^ seen[0]) for other in seen[1:])
    return [
        Figure(f"{graph}: claims", len(found)),
        Figure(f"{graph}: facts", len(seen[0])),
        Figure(f"{graph}: facts that differ between {count} orders", differing, bar=0),
        Figure(f"{graph}: instants with two values", doubles, bar=0),
        Figure(f"{graph}: claims a second, slowest order", len(found) / max(seconds), "1/s"),
    ]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("--most", type=int, help="only the first so many claims of each graph")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="memgraph-graphs-") as folder:
        found = [
            figure
            for graph in SINGLE
            for figure in measure(options.data, graph, options.orders, options.most, Path(folder))
        ]
    present("Temporal knowledge graphs", found, options.json, orders=options.orders)


if __name__ == "__main__":
    main()
