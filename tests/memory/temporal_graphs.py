"""YAGO11k and Wikidata12k as assertions, from the folder of development data where it is there.

A line is head, relation, tail, start, end; `##` stands for what is not known. A date known to the year stands for its
first instant. An end that is not after its start is known no better than the start's unit: the value held in it. Rows
without a start, or with one outside the years 1 to 9999 or known to the century only, are no assertions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memgraph_server.memory.facts import Assertion
from memgraph_server.memory.interval import Basis, Instant, Precision, instant

DATA = Path(__file__).parents[3] / "shared" / "data" / "temporalkg"
FILES = {"yago11k": ("train.txt", "valid.txt"), "wikidata12k": ("valid.txt", "test.txt")}

#: One value at a time, in our own judgement of what the relation means; the rest are not.
SINGLE = {
    "yago11k": {"<wasBornIn>", "<diedIn>", "<isMarriedTo>"},
    "wikidata12k": {"P1376", "P131", "P17", "P6", "P26", "P551", "P102", "P1346", "P1435", "P2962"},
}
# capital of, located in, country, head of government, spouse, residence, party, winner, heritage status, chess title

_DATE = re.compile(r"(\d{1,4})-(##|0[1-9]|1[0-2])-(##|0[1-9]|[12]\d|3[01])")


def relations(graph: str) -> dict[str, str]:
    """Number to name."""
    lines = (DATA / graph / "relation2id.txt").read_text("utf-8").splitlines()
    return {number: name for name, number in (line.split()[:2] for line in lines)}


def assertions(graph: str) -> Iterator[Assertion]:
    names = relations(graph)
    for file in FILES[graph]:
        for number, line in enumerate((DATA / graph / file).read_text("utf-8").splitlines()):
            head, relation, tail, start, end = line.split("\t")
            triple = head, names[relation], tail
            assertion = _assertion(f"{file}:{number}", triple, _date(start), _date(end))
            if assertion is not None:
                yield assertion


def by_relation(graph: str) -> dict[str, list[Assertion]]:
    found: defaultdict[str, list[Assertion]] = defaultdict(list)
    for each in assertions(graph):
        found[each.relation].append(each)
    return dict(found)


def _assertion(
    known_by: str,
    triple: tuple[str, str, str],
    start: tuple[datetime, Precision] | None,
    end: tuple[datetime, Precision] | None,
) -> Assertion | None:
    if start is None:
        return None
    began = instant(start[0])
    return Assertion(
        known_by,
        *triple,
        began,
        evidence_at=began,
        recorded_at=0,
        valid_to=_end(start, end),
        from_precision=start[1],
        to_precision=end[1] if end else Precision.INSTANT,
        from_basis=Basis.STATED,
        to_basis=Basis.STATED if end else Basis.OBSERVED,
    )


def _end(start: tuple[datetime, Precision], end: tuple[datetime, Precision] | None) -> Instant | None:
    if end is None:
        return None
    return instant(end[0]) if end[0] > start[0] else instant(_after(*start))


def _after(at: datetime, precision: Precision) -> datetime:
    if precision is Precision.YEAR:
        return at.replace(year=at.year + 1)
    if precision is Precision.MONTH:
        return (at.replace(day=28) + timedelta(days=4)).replace(day=1)
    return at + timedelta(days=1)


def _date(text: str) -> tuple[datetime, Precision] | None:
    match = _DATE.fullmatch(text)
    if match is None or int(match[1]) == 0:
        return None
    year, month, day = match.groups()
    if month == "##":
        return datetime(int(year), 1, 1, tzinfo=UTC), Precision.YEAR
    if day == "##":
        return datetime(int(year), int(month), 1, tzinfo=UTC), Precision.MONTH
    return datetime(int(year), int(month), int(day), tzinfo=UTC), Precision.DAY
