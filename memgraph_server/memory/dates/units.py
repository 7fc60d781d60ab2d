"""The arithmetic of "three weeks ago" and "early 2022": units counted from now, thirds of a period, parts of a day.

Rules: a count of days names a day, of weeks the calendar week, of months the calendar month, of years the calendar
year that lies so far away ("a month ago" on 31 March is February). Parts of the day: morning 5-12, afternoon 12-18,
evening 18-24, night 18-6.
"""

from __future__ import annotations

from memgraph_server.memory.dates.calendar import (
    HOUR,
    MINUTE,
    Now,
    Period,
    day_of,
    days,
    first_of_month,
    midnight,
    month_of,
    months,
    shifted,
    weekend_after,
    years,
)
from memgraph_server.memory.dates.grammar import Reading
from memgraph_server.memory.interval import Precision

PARTS = {
    "morning": (5, 12), "afternoon": (12, 18), "arvo": (12, 18),
    "evening": (18, 24), "night": (18, 30), "noon": (12, 13),
    "lunchtime": (12, 14), "midday": (12, 13), "midnight": (24, 25), "am": (0, 12), "dawn": (5, 8), "dusk": (18, 21),
}  # fmt: skip
_UNIT_PRECISION = {"month": Precision.MONTH, "quarter": Precision.MONTH}
_UNIT_PRECISION |= dict.fromkeys(("year", "decade", "century"), Precision.YEAR)
_UNIT_PRECISION |= dict.fromkeys(("minute", "hour"), Precision.INSTANT)
MONTHS_LONG = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}


def precision_of(unit: str) -> Precision:
    return _UNIT_PRECISION.get(unit, Precision.DAY)


def part_of(day: int, part: str) -> Period:
    first, last = PARTS[part]
    return midnight(day) + first * HOUR, midnight(day) + last * HOUR


def away(now: Now, unit: str, count: int) -> Period:
    """The calendar unit that lies `count` units from now (negative: ago)."""
    if unit in ("minute", "hour"):
        size = MINUTE if unit == "minute" else HOUR
        return now.local + count * size, now.local + count * size + size
    if unit in ("day", "night"):
        return days(now.day + count)
    if unit in ("week", "fortnight"):
        return days(now.week + 7 * count * (2 if unit == "fortnight" else 1), 7)
    if unit == "weekend":
        return days(weekend_away(now, count), 2)
    return _long_away(now, unit, count)


def _long_away(now: Now, unit: str, count: int) -> Period:
    size = MONTHS_LONG[unit]
    if unit in ("month", "quarter"):
        return months((now.month // size + count) * size, size)
    if unit == "year":
        return years(now.year + count)
    return years(now.year + count * size // 12) if count else years(now.year // (size // 12) * (size // 12), size // 12)


def weekend_away(now: Now, count: int) -> int:
    """The Saturday of the weekend so many away: -1 is the last one that is over, 0 the one that is on or comes."""
    return weekend_after(now.day) + 7 * count


def moved(now: Now, unit: str, count: int) -> int:
    """This same moment so many units away; the start of that day for whole days and longer."""
    if unit in ("minute", "hour"):
        return away(now, unit, count)[0]
    if unit in MONTHS_LONG:
        return midnight(shifted(now.day, count * MONTHS_LONG[unit]))
    return midnight(now.day + count * {"week": 7, "weekend": 7, "fortnight": 14}.get(unit, 1))


def third(period: Period, part: str) -> Period:
    """The "early", "mid" or "late" third; of "beginning", "start" and "end" the sixth there (of a week the third).

    Whole years of decades, whole months of years, else whole days.
    """
    first, last = day_of(period[0]), day_of(period[1])
    parts = 6 if part in ("beginning", "start", "end") and last - first > 7 else 3
    at = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1}.get(part, parts - 1)
    marks = [_mark(first, last, at / parts), _mark(first, last, (at + 1) / parts)]
    return midnight(marks[0]), midnight(max(marks[1], marks[0] + 1))


def _mark(first: int, last: int, share: float) -> int:
    """The day so far into a period, on the edge of a year, a month or a day."""
    long = last - first
    if share in (0, 1):
        return last if share else first
    if long > 800:
        return first_of_month(month_of(first) + round(long * share / 365.25) * 12)
    return first_of_month(month_of(first) + round(long * share / 30.5)) if long > 80 else first + round(long * share)


def third_of(period: Period, part: str, precision: Precision) -> Reading:
    """The third as a reading, one step more precise than the whole, decades excepted; approximate."""
    long = day_of(period[1]) - day_of(period[0])
    finer = precision if long > 800 else Precision.MONTH if long > 80 else Precision.DAY
    return Reading(third(period, part), finer, approximate=True)
