"""Instants and half-open intervals `[start, end)`, in UTC microseconds since 1970.

Rules: an interval has at least one instant; an absent `end` is open; touching intervals do not overlap. Integers
rather than datetimes, since belief compares millions of them and both stores keep them as integers; `instant` and
`to_datetime` are the only ways in and out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from memgraph_server.errors import InvalidInput

#: Microseconds since 1970-01-01T00:00Z; negative before.
Instant: TypeAlias = int

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Precision(StrEnum):
    """How exactly a date was said; a coarse date stands for its first instant."""

    INSTANT = "instant"
    DAY = "day"
    MONTH = "month"
    YEAR = "year"


class Basis(StrEnum):
    """Whether a date was said ("since March 2023") or only the turn's own time is known."""

    STATED = "stated"
    OBSERVED = "observed"


@dataclass(frozen=True, slots=True)
class Interval:
    """The instants from `start` up to, not including, `end` (None: no end)."""

    start: Instant
    end: Instant | None = None

    def __post_init__(self) -> None:
        if self.end is not None and self.end <= self.start:
            raise InvalidInput("an interval must end after it starts", field="valid_to")

    def contains(self, at: Instant) -> bool:
        return self.start <= at and (self.end is None or at < self.end)

    def overlaps(self, other: Interval) -> bool:
        """Share at least one instant; touching is not sharing."""
        return (other.end is None or self.start < other.end) and (self.end is None or other.start < self.end)

    def touches_or_overlaps(self, other: Interval) -> bool:
        return (other.end is None or self.start <= other.end) and (self.end is None or other.start <= self.end)


class Allen(StrEnum):
    """The thirteen relations of two intervals (Allen 1983); each is true of exactly one pair of them in one order."""

    BEFORE = "before"
    MEETS = "meets"
    OVERLAPS = "overlaps"
    STARTS = "starts"
    DURING = "during"
    FINISHES = "finishes"
    EQUALS = "equals"
    FINISHED_BY = "finished_by"
    CONTAINS = "contains"
    STARTED_BY = "started_by"
    OVERLAPPED_BY = "overlapped_by"
    MET_BY = "met_by"
    AFTER = "after"


#: By the order of the starts and of the ends (-1: mine is earlier), for intervals that share an instant.
_SHARING = {
    (-1, -1): Allen.OVERLAPS,
    (-1, 0): Allen.FINISHED_BY,
    (-1, 1): Allen.CONTAINS,
    (0, -1): Allen.STARTS,
    (0, 0): Allen.EQUALS,
    (0, 1): Allen.STARTED_BY,
    (1, -1): Allen.DURING,
    (1, 0): Allen.FINISHES,
    (1, 1): Allen.OVERLAPPED_BY,
}


def allen(one: Interval, other: Interval) -> Allen:
    """How `one` lies to `other`: `allen(a, b)` BEFORE reads "a before b". An open end is later than any instant."""
    if one.end is not None and one.end <= other.start:
        return Allen.MEETS if one.end == other.start else Allen.BEFORE
    if other.end is not None and other.end <= one.start:
        return Allen.MET_BY if other.end == one.start else Allen.AFTER
    return _SHARING[_sign(one.start - other.start), _compare_ends(one.end, other.end)]


def _compare_ends(one: Instant | None, other: Instant | None) -> int:
    if one is None or other is None:
        return (one is None) - (other is None)
    return _sign(one - other)


def earliest(one: Instant | None, other: Instant | None) -> Instant | None:
    """The lesser of two ends, where None is no end."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def between(start: Instant, end: Instant | None) -> list[Interval]:
    """`[start, end)` as a list: empty where that holds no instant."""
    return [] if end is not None and end <= start else [Interval(start, end)]


def intersection(one: Interval, others: Iterable[Interval]) -> list[Interval]:
    """The parts of `one` that lie in any of the disjoint `others`, ascending."""
    parts = (between(max(one.start, each.start), earliest(one.end, each.end)) for each in others)
    return sorted((part for found in parts for part in found), key=_start)


def difference(one: Interval, others: Iterable[Interval]) -> list[Interval]:
    """The parts of `one` that lie in none of `others`, ascending."""
    rest: list[Interval] = []
    start: Instant | None = one.start
    for hole in union(others):
        if start is None:
            break
        rest.extend(between(start, earliest(one.end, hole.start)))
        start = None if hole.end is None else max(start, hole.end)
    if start is not None:
        rest.extend(between(start, one.end))
    return rest


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The same instants as longest intervals, ascending: those that touch or overlap are one."""
    whole: list[Interval] = []
    for each in sorted(intervals, key=_start):
        if whole and whole[-1].touches_or_overlaps(each):
            last = whole.pop()
            end = None if last.end is None or each.end is None else max(last.end, each.end)
            whole.append(Interval(last.start, end))
        else:
            whole.append(each)
    return whole


def _start(interval: Interval) -> Instant:
    return interval.start


def _sign(distance: int) -> int:
    return (distance > 0) - (distance < 0)


def instant(at: datetime) -> Instant:
    """A zone-aware datetime as an instant; a naive one is the caller's error."""
    if at.tzinfo is None:
        raise InvalidInput("a time needs a zone, for example 2023-05-08T13:56:00Z", field="at")
    return (at - _EPOCH) // _MICROSECOND


def to_datetime(at: Instant) -> datetime:
    """The instant as a UTC datetime; years 1 to 9999."""
    return _EPOCH + timedelta(microseconds=at)


def isoformat(at: Instant) -> str:
    """RFC 3339 in UTC with `Z`, microseconds only where there are any."""
    return to_datetime(at).isoformat().replace("+00:00", "Z")
