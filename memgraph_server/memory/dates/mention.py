"""What a date in a text is, and what it says about the interval of a claim.

Rules: a mention is half-open, UTC, and never invents a time. What has no place on the calendar ("as a kid", "every
Friday", "for two years" of a stay that is over) has no `start`. `start` is None and `end` is set only for UNTIL.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from memgraph_server.memory.dates.calendar import DAY, FIRST_INSTANT
from memgraph_server.memory.interval import Basis, Instant, Precision


class DateKind(StrEnum):
    """How the words place a time.

    POINT: within `[start, end)`: "on 3 May", "yesterday", "in 2019", "two years ago", "last week".
    SINCE: from `start`, no end said: "since 2019", "for two years now", "after May".
    UNTIL: `start` is None, up to `end`: "until June", "by Friday", "before 2019".
    RANGE: all of `[start, end)`: "from March to May", "2015-2018", "over the past month".
    RECURRING: no interval: "every Tuesday", "daily", "on Fridays".
    DURATION: a length without a place: "for two years" in the simple past.
    UNKNOWN: a time that cannot be placed: "in my twenties", "someday", "years ago", "soon".
    """

    POINT = "point"
    SINCE = "since"
    UNTIL = "until"
    RANGE = "range"
    RECURRING = "recurring"
    DURATION = "duration"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DateMention:
    """One date in a text.

    start: its first instant; None for UNTIL and where there is no place on the calendar.
    end: the first instant after it; None where it is open.
    precision: of what names the start (of the end, for UNTIL). Weeks, weekends and seasons name days and months.
    span, text: the characters that say it, without a plain "on", "in" or "at".
    approximate: "around", "about", "a few weeks ago", seasons, or an ambiguous form such as 8/5/2023.
    end_precision: of what names the end.
    end_named: the first instant of the date that names the end of a RANGE or UNTIL: 1 May in "from March to May",
        whose `end` is 1 June.
    """

    start: Instant | None
    end: Instant | None
    precision: Precision
    kind: DateKind
    span: tuple[int, int]
    text: str
    approximate: bool = False
    end_precision: Precision = Precision.INSTANT
    end_named: Instant | None = None

    @property
    def placed(self) -> bool:
        """Says something about the calendar."""
        return self.start is not None or self.end is not None

    def covers(self, at: Instant) -> bool:
        """A placed mention whose time includes the instant."""
        after_start = self.start is None or self.start <= at
        return self.placed and after_start and (self.end is None or at < self.end)


class ClaimedInterval(NamedTuple):
    """The valid interval of a claim, with the fields of a proposal."""

    valid_from: Instant
    valid_to: Instant | None
    from_precision: Precision
    to_precision: Precision
    from_basis: Basis
    to_basis: Basis

    @property
    def basis(self) -> Basis:
        return self.from_basis


def claimed_interval(mention: DateMention, at: Instant, *, ongoing: bool = False) -> ClaimedInterval | None:
    """What a claim said at `at` with this date is valid for; None where the date has no place on the calendar.

    POINT: `[start, end)`: an event happened within it, a state held in it. `ongoing`: it began then and goes on
        ("I moved to Boston in June"): `[start, open)`.
    SINCE: `[start, open)`.
    RANGE: `[start, …)`. A month or a day that names the end is still part of it ("from March to May" ends with May); a
        year stands for its first instant ("from 2015 to 2018" ends at 2018, precision year: when in 2018 is not said).
    UNTIL: up to the first instant of what names the end (a day that "by" or "through" names is part of it). The start
        is not said: `at`, where the end is still to come, else one unit of the end's precision before the end, the
        least that the words vouch for; basis observed.
    """
    if not mention.placed:
        return None
    to_basis = Basis.OBSERVED if mention.end is None or (ongoing and mention.kind is DateKind.POINT) else Basis.STATED
    if mention.start is None:
        return _until(mention, at)
    end = None if to_basis is Basis.OBSERVED else _state_end(mention)
    if end is not None and end <= mention.start:
        end = mention.end
    to_precision = Precision.INSTANT if end is None else mention.end_precision
    return ClaimedInterval(mention.start, end, mention.precision, to_precision, Basis.STATED, to_basis)


def _state_end(mention: DateMention) -> Instant | None:
    coarse = mention.end_precision is Precision.YEAR or (
        mention.end_precision is Precision.MONTH and mention.kind is not DateKind.RANGE
    )
    return mention.end_named if coarse and mention.end_named is not None else mention.end


def _until(mention: DateMention, at: Instant) -> ClaimedInterval | None:
    end = _state_end(mention)
    if end is None:
        return None
    if at < end:
        return ClaimedInterval(at, end, Precision.INSTANT, mention.end_precision, Basis.OBSERVED, Basis.STATED)
    unit = {Precision.INSTANT: 1, Precision.DAY: DAY, Precision.MONTH: 28 * DAY, Precision.YEAR: 365 * DAY}
    start = max(end - unit[mention.end_precision], FIRST_INSTANT)
    return ClaimedInterval(start, end, mention.end_precision, mention.end_precision, Basis.OBSERVED, Basis.STATED)
