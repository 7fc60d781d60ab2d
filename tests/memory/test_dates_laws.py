"""Laws of dates, over any text, any instant and any offset."""

from __future__ import annotations

import time
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgraph_server.memory.dates import DateKind, DateMention, claimed_interval, find_dates
from memgraph_server.memory.dates.calendar import DAY, FIRST_INSTANT, LAST_INSTANT
from memgraph_server.memory.interval import Instant, Interval

_WORDS = (
    "yesterday today tomorrow last next this Friday week weekend month year ago in since until from to between and by "
    "May 3 5th 2019 2021-02-30 1/2/2023 8.5.2023 March end of the early mid- before after two a few days for now "
    "Christmas summer at 5pm night every when I was ten will went "
    "昨日 2023年5月 hace dos años 90s ( ) , . - / ' \n 0001 9999"
).split(" ")
INSTANTS = st.integers(FIRST_INSTANT, LAST_INSTANT)
ORDINARY = st.integers(0, 4_000_000_000_000_000)  # 1970 to 2096
OFFSETS = st.integers(-1439, 1439)
TEXTS = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join),
    st.lists(st.one_of(st.sampled_from(_WORDS), st.text(max_size=5)), max_size=10).map("".join),
)


@settings(max_examples=600)
@given(TEXTS, INSTANTS, OFFSETS, st.sampled_from([None, "past", "future"]))
def test_any_text_at_any_instant_gives_sound_mentions_and_never_raises(
    text: str, at: Instant, offset: int, direction: Literal["past", "future"] | None
) -> None:
    mentions = find_dates(text, at, offset, direction=direction)
    assert mentions == find_dates(text, at, offset, direction=direction)
    stops = [0]
    for mention in mentions:
        start, stop = mention.span
        assert stops[-1] <= start < stop <= len(text)
        assert text[start:stop] == mention.text
        stops.append(stop)
        _sound(mention, at)


def _sound(mention: DateMention, at: Instant) -> None:
    for moment in (mention.start, mention.end, mention.end_named):
        assert moment is None or FIRST_INSTANT <= moment <= LAST_INSTANT
    if mention.start is not None and mention.end is not None:
        assert mention.start < mention.end
    unplaced = {DateKind.RECURRING, DateKind.DURATION, DateKind.UNKNOWN}
    assert mention.placed == (mention.kind not in unplaced)
    assert (mention.start is None) == (mention.kind in unplaced | {DateKind.UNTIL})
    assert (mention.end is None) == (mention.kind in unplaced | {DateKind.SINCE})
    for ongoing in (False, True):
        claimed = claimed_interval(mention, at, ongoing=ongoing)
        assert (claimed is None) == (not mention.placed)
        if claimed is not None:
            Interval(claimed.valid_from, claimed.valid_to)  # raises where it would be empty


@given(
    ORDINARY, OFFSETS, st.sampled_from(["yesterday", "today", "tomorrow", "last night", "two days ago", "in 3 days"])
)
def test_a_day_later_says_a_day_later(at: Instant, offset: int, text: str) -> None:
    now, then = find_dates(text, at, offset)[0], find_dates(text, at + DAY, offset)[0]
    assert now.start is not None
    assert now.end is not None
    assert (then.start, then.end) == (now.start + DAY, now.end + DAY)


@given(
    ORDINARY,
    OFFSETS,
    st.sampled_from(["last week", "this week", "next week", "last weekend", "last Friday", "next Friday"]),
)
def test_a_week_later_says_a_week_later(at: Instant, offset: int, text: str) -> None:
    now, then = find_dates(text, at, offset)[0], find_dates(text, at + 7 * DAY, offset)[0]
    assert now.start is not None
    assert then.start == now.start + 7 * DAY


@given(ORDINARY, OFFSETS)
def test_today_holds_the_turn_and_yesterday_and_tomorrow_touch_it(at: Instant, offset: int) -> None:
    yesterday, today, tomorrow = find_dates("yesterday, today, tomorrow", at, offset)
    assert today.covers(at)
    assert yesterday.end == today.start
    assert today.end == tomorrow.start


@given(ORDINARY, OFFSETS, st.sampled_from(["week", "month", "year", "quarter"]))
def test_last_this_and_next_touch_and_this_holds_the_turn(at: Instant, offset: int, unit: str) -> None:
    last, this, next_ = find_dates(f"last {unit}; this {unit}; next {unit}", at, offset)
    assert this.covers(at)
    assert last.end == this.start
    assert this.end == next_.start


@given(
    ORDINARY,
    OFFSETS,
    st.sampled_from(["Monday", "Wednesday", "Saturday", "Sunday"]),
    st.sampled_from(["past", "future"]),
)
def test_a_weekday_is_within_a_week_on_the_side_it_points_to(at: Instant, offset: int, day: str, way: str) -> None:
    (mention,) = find_dates(f"on {day}", at, offset, direction="past" if way == "past" else "future")
    assert mention.start is not None
    assert mention.end is not None
    if way == "past":
        assert at - 8 * DAY < mention.start
        assert mention.end <= at
    else:
        assert at < mention.start
        assert mention.end <= at + 8 * DAY


@given(ORDINARY, ORDINARY, st.integers(1, 12), st.integers(1, 28), st.integers(1950, 2090))
def test_a_full_date_does_not_depend_on_the_turn(at: Instant, later: Instant, month: int, day: int, year: int) -> None:
    text = f"on {year}-{month:02}-{day:02}"
    assert find_dates(text, at) == find_dates(text, later)


@given(ORDINARY, st.text("abcdefghij ", max_size=30), st.text("abcdefghij ", max_size=30))
def test_spans_move_with_the_text_around_a_date(at: Instant, before: str, after: str) -> None:
    (alone,) = find_dates("8 May 2023", at)
    found = [m for m in find_dates(f"{before}; 8 May 2023; {after}", at) if m.text == alone.text]
    assert [(m.start, m.end, m.span[0]) for m in found] == [(alone.start, alone.end, len(before) + 2)]


@pytest.mark.parametrize(
    "unit",
    ["a", "7", "last ", " ", "1 ", "the ", "(", "昨日", "from 2015 to ", "May 5 ", "\x00", "\ud800", "a few ", "2023-"],
)
def test_time_grows_with_the_length_of_the_text_and_not_its_square(unit: str) -> None:
    assert _seconds(unit, 80_000) < 24 * max(_seconds(unit, 10_000), 0.002)  # 8 times as long


def _seconds(unit: str, size: int) -> float:
    text = unit * (size // len(unit))
    start = time.process_time()
    find_dates(text, 0)
    return time.process_time() - start
