"""Instants and half-open intervals `[start, end)`, in UTC microseconds since 1970.

Rules: an interval has at least one instant; an absent `end` is open; touching intervals do not overlap. Integers
rather than datetimes, since belief compares millions of them and both stores keep them as integers; `instant` and
`to_datetime` are the only ways in and out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from typing import TypeAlias

from memgraph_server.errors import InvalidInput

#: Microseconds since 1970-01-01T00:00Z; negative before.
Instant: TypeAlias = int

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
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
