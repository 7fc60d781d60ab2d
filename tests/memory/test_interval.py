"""Intervals: the thirteen relations of two, and instants as sets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.errors import InvalidInput
from memgraph_server.memory.interval import (
    Allen,
    Interval,
    allen,
    between,
    difference,
    earliest,
    instant,
    intersection,
    isoformat,
    to_datetime,
    union,
)

OTHER = Interval(10, 20)
RELATIONS = [
    (Interval(1, 5), Allen.BEFORE, Allen.AFTER),
    (Interval(1, 10), Allen.MEETS, Allen.MET_BY),
    (Interval(5, 15), Allen.OVERLAPS, Allen.OVERLAPPED_BY),
    (Interval(10, 15), Allen.STARTS, Allen.STARTED_BY),
    (Interval(12, 15), Allen.DURING, Allen.CONTAINS),
    (Interval(15, 20), Allen.FINISHES, Allen.FINISHED_BY),
    (Interval(10, 20), Allen.EQUALS, Allen.EQUALS),
    (Interval(5, 20), Allen.FINISHED_BY, Allen.FINISHES),
    (Interval(5, 25), Allen.CONTAINS, Allen.DURING),
    (Interval(10, 25), Allen.STARTED_BY, Allen.STARTS),
    (Interval(15, 25), Allen.OVERLAPPED_BY, Allen.OVERLAPS),
    (Interval(20, 25), Allen.MET_BY, Allen.MEETS),
    (Interval(25, 30), Allen.AFTER, Allen.BEFORE),
    (Interval(10), Allen.STARTED_BY, Allen.STARTS),
    (Interval(5), Allen.CONTAINS, Allen.DURING),
    (Interval(15), Allen.OVERLAPPED_BY, Allen.OVERLAPS),
    (Interval(20), Allen.MET_BY, Allen.MEETS),
]

LAST = 12
intervals = st.builds(
    lambda start, length: Interval(start, None if length is None else start + length),
    st.integers(0, LAST - 2),
    st.none() | st.integers(1, 6),
)


def instants(*given_intervals: Interval) -> set[int]:
    return {at for at in range(2 * LAST) if any(each.contains(at) for each in given_intervals)}


@pytest.mark.parametrize(("one", "forward", "backward"), RELATIONS)
def test_every_relation_of_two_intervals_has_its_name_and_its_converse(
    one: Interval, forward: Allen, backward: Allen
) -> None:
    assert (allen(one, OTHER), allen(OTHER, one)) == (forward, backward)


def test_the_table_shows_all_thirteen() -> None:
    assert {forward for _, forward, _ in RELATIONS} == set(Allen)


def test_two_open_intervals_compare_by_their_starts_alone() -> None:
    assert [allen(Interval(start), Interval(5)) for start in (1, 5, 9)] == [
        Allen.FINISHED_BY,
        Allen.EQUALS,
        Allen.FINISHES,
    ]


@given(intervals, intervals)
def test_intervals_overlap_where_they_share_an_instant_and_touching_is_not_sharing(
    one: Interval, other: Interval
) -> None:
    shared = bool(instants(one) & instants(other))
    assert one.overlaps(other) == other.overlaps(one) == shared
    apart = {Allen.BEFORE, Allen.MEETS, Allen.MET_BY, Allen.AFTER}
    assert (allen(one, other) in apart) == (not shared)
    assert one.touches_or_overlaps(other) == (allen(one, other) not in {Allen.BEFORE, Allen.AFTER})


@given(intervals, st.lists(intervals, max_size=4))
def test_union_difference_and_intersection_are_those_of_sets_of_instants(one: Interval, others: list[Interval]) -> None:
    whole = union(others)
    assert instants(*whole) == instants(*others)
    assert all(earlier.end is not None and earlier.end < later.start for earlier, later in pairwise(whole))
    assert instants(*difference(one, others)) == instants(one) - instants(*others)
    assert instants(*intersection(one, whole)) == instants(one) & instants(*others)


@pytest.mark.parametrize("end", [5, 4])
def test_an_interval_without_an_instant_is_refused(end: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        Interval(5, end)
    assert refused.value.field == "valid_to"
    assert between(5, end) == []


def test_no_end_is_later_than_any_end() -> None:
    assert [earliest(None, 3), earliest(3, None), earliest(4, 3), earliest(None, None)] == [3, 3, 3, None]


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=45))])))
def test_a_zone_aware_time_is_the_same_instant_after_a_round_trip(at: datetime) -> None:
    try:
        in_utc = at.astimezone(UTC)
    except OverflowError:
        return
    assert to_datetime(instant(at)) == in_utc
    assert datetime.fromisoformat(isoformat(instant(at))) == in_utc


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="zone"):
        instant(datetime(2023, 5, 8))  # noqa: DTZ001


def test_instants_before_1970_and_of_the_year_1_are_instants() -> None:
    assert instant(datetime(1969, 12, 31, 23, 59, 59, 999999, UTC)) == -1
    assert isoformat(instant(datetime(1, 1, 1, tzinfo=UTC))) == "0001-01-01T00:00:00Z"
