"""The local calendar: periods of days, weeks, months and years as local microseconds.

Rules: a day is its proleptic Gregorian ordinal (`date.toordinal`), a month the number 12 * year + month - 1, a period
`(start, end)` in microseconds since 1970-01-01T00:00 local. Weeks start on Monday, weekends are Saturday and Sunday.
Whatever leaves the years 1 to 9999 raises ValueError or OverflowError, and the finder drops it.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from memgraph_server.memory.interval import Instant

Period: TypeAlias = tuple[int, int]

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_EPOCH = date(1970, 1, 1).toordinal()
_LAST = date.max.toordinal()
#: The instants that a datetime can hold.
FIRST_INSTANT: Instant = (1 - _EPOCH) * DAY
LAST_INSTANT: Instant = (_LAST + 1 - _EPOCH) * DAY - 1


@dataclass(frozen=True, slots=True)
class Now:
    """The turn's own local time, from which everything relative is counted."""

    local: int

    @classmethod
    def of(cls, at: Instant, utc_offset_minutes: int) -> Now:
        local = at + utc_offset_minutes * MINUTE
        return cls(min(max(local, FIRST_INSTANT), LAST_INSTANT))

    @property
    def day(self) -> int:
        return self.local // DAY + _EPOCH

    @property
    def month(self) -> int:
        return month_of(self.day)

    @property
    def year(self) -> int:
        return date.fromordinal(self.day).year

    @property
    def week(self) -> int:
        """The Monday of the week."""
        return monday(self.day)


def midnight(day: int) -> int:
    if not 1 <= day <= _LAST + 1:
        raise ValueError("outside the calendar")
    return (day - _EPOCH) * DAY


def day_of(local: int) -> int:
    return local // DAY + _EPOCH


def days(first: int, count: int = 1) -> Period:
    return midnight(first), midnight(first + count)


def year_of(local: int) -> int:
    return date.fromordinal(day_of(local)).year


def monday(day: int) -> int:
    return day - (day - 1) % 7


def weekday_of(day: int) -> int:
    """0 for Monday to 6 for Sunday."""
    return (day - 1) % 7


def month_of(day: int) -> int:
    there = date.fromordinal(day)
    return 12 * there.year + there.month - 1


def first_of_month(month: int) -> int:
    if month == 12 * 10_000:
        return _LAST + 1
    return date(month // 12, month % 12 + 1, 1).toordinal()


def months(first: int, count: int = 1) -> Period:
    return midnight(first_of_month(first)), midnight(first_of_month(first + count))


def years(first: int, count: int = 1) -> Period:
    return months(12 * first, 12 * count)


def shifted(day: int, months_on: int) -> int:
    """The same day of another month; the last one where that month is shorter (31 March, a month back: 28 February)."""
    month = month_of(day) + months_on
    length = monthrange(month // 12, month % 12 + 1)[1]
    return date(month // 12, month % 12 + 1, min(date.fromordinal(day).day, length)).toordinal()


def weekend_after(day: int) -> int:
    """The Saturday of the weekend that is on, or else comes next."""
    return monday(day) + 5


def nth_weekday(year: int, month: int, weekday: int, n: int) -> int:
    """The n-th weekday of a month; the last one for n = -1."""
    if n < 0:
        last = first_of_month(12 * year + month) - 1
        return last - (weekday_of(last) - weekday) % 7
    first = date(year, month, 1).toordinal()
    return first + (weekday - weekday_of(first)) % 7 + 7 * (n - 1)


def easter(year: int) -> int:
    """Western Easter Sunday (the anonymous Gregorian computus, Meeus 1991)."""
    a, b, c = year % 19, year // 100, year % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return date(year, f // 31, f % 31 + 1).toordinal()
