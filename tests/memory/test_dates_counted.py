"""Dates counted from the turn: each row is what is said, and what it means on Monday 8 May 2023, 13:56 UTC."""

from __future__ import annotations

import pytest

from tests.memory.dates_notation import said

COUNTED = [
    # days counted from today
    ("I went to a support group yesterday.", "yesterday = point 2023-05-07..2023-05-08 day"),
    ("I saw her today.", "today = point 2023-05-08..2023-05-09 day"),
    ("We leave tomorrow.", "tomorrow = point 2023-05-09..2023-05-10 day"),
    ("See you tomorrow morning!", "tomorrow morning = point 2023-05-09T05:00..2023-05-09T12:00 day"),
    ("She called yesterday evening.", "yesterday evening = point 2023-05-07T18:00..2023-05-08 day"),
    ("I'll sing tonight.", "tonight = point 2023-05-08T18:00..2023-05-09T06:00 day"),
    ("last night was great", "last night = point 2023-05-07T18:00..2023-05-08T06:00 day"),
    ("This morning I ran.", "This morning = point 2023-05-08T05:00..2023-05-08T12:00 day"),
    ("We had lunch this afternoon.", "this afternoon = point 2023-05-08T12:00..2023-05-08T18:00 day"),
    ("the day before yesterday I slept", "the day before yesterday = point 2023-05-06..2023-05-07 day"),
    ("I fly the day after tomorrow", "the day after tomorrow = point 2023-05-10..2023-05-11 day"),
    ("two days ago", "two days ago = point 2023-05-06..2023-05-07 day"),
    ("three days ago", "three days ago = point 2023-05-05..2023-05-06 day"),
    ("a couple of days ago", "a couple of days ago = point 2023-05-06..2023-05-07 day ~"),
    ("a few days ago", "a few days ago = point 2023-05-05..2023-05-06 day ~"),
    ("I met her the other day", "the other day = point 2023-04-24..2023-05-08 day ~"),
    ("in three days", "in three days = point 2023-05-11..2023-05-12 day"),
    ("In 10 days we fly.", "In 10 days = point 2023-05-18..2023-05-19 day"),
    ("just now", "just now = point 2023-05-08T12:56..2023-05-08T13:56 instant ~"),
    ("I did it an hour ago", "an hour ago = point 2023-05-08T12:56..2023-05-08T13:56 instant"),
    ("30 minutes ago", "30 minutes ago = point 2023-05-08T13:26..2023-05-08T13:27 instant"),
    ("earlier today", "earlier today = point 2023-05-08..2023-05-08T13:56 day ~"),
    ("later today", "later today = point 2023-05-08T13:56..2023-05-09 day ~"),
    # weeks and weekends
    ("last week", "last week = point 2023-05-01..2023-05-08 day"),
    ("this week", "this week = point 2023-05-08..2023-05-15 day"),
    ("next week", "next week = point 2023-05-15..2023-05-22 day"),
    ("the week before last", "the week before last = point 2023-04-24..2023-05-01 day"),
    ("the week after next", "the week after next = point 2023-05-22..2023-05-29 day"),
    ("two weeks ago", "two weeks ago = point 2023-04-24..2023-05-01 day"),
    ("about three weeks ago", "about three weeks ago = point 2023-04-17..2023-04-24 day ~"),
    ("in two weeks", "in two weeks = point 2023-05-22..2023-05-29 day"),
    ("a week from now", "a week from now = point 2023-05-15..2023-05-22 day"),
    ("two weeks later", "two weeks later = point 2023-05-22..2023-05-29 day ~"),
    ("a fortnight ago", "a fortnight ago = point 2023-04-24..2023-05-01 day"),
    ("last weekend", "last weekend = point 2023-05-06..2023-05-08 day"),
    ("this past weekend", "this past weekend = point 2023-05-06..2023-05-08 day"),
    ("this weekend I'm hiking", "this weekend = point 2023-05-13..2023-05-15 day"),
    ("This weekend was wild, we danced.", "This weekend = point 2023-05-06..2023-05-08 day"),
    ("next weekend", "next weekend = point 2023-05-20..2023-05-22 day"),
    ("two weekends ago", "two weekends ago = point 2023-04-29..2023-05-01 day"),
    ("over the weekend I ran", "the weekend = point 2023-05-06..2023-05-08 day"),
    ("We will relax over the weekend.", "the weekend = point 2023-05-13..2023-05-15 day"),
    ("Any plans for the weekend?", "the weekend = point 2023-05-13..2023-05-15 day"),
    ("the weekend before last", "the weekend before last = point 2023-04-29..2023-05-01 day"),
    ("earlier this week", "earlier this week = point 2023-05-08..2023-05-08T13:56 day ~"),
    ("later this week", "later this week = point 2023-05-08T13:56..2023-05-15 day ~"),
    ("the week of 3 May", "the week of 3 May = point 2023-05-01..2023-05-08 day"),
    ("the week of May 22", "the week of May 22 = point 2023-05-22..2023-05-29 day"),
    ("the end of the week", "the end of the week = point 2023-05-13..2023-05-15 day ~"),
    ("within two weeks", "within two weeks = range 2023-05-08T13:56..2023-05-23 instant"),
    ("over the past two weeks", "over the past two weeks = range 2023-04-24..2023-05-08T13:56 day"),
    ("in the last few weeks", "in the last few weeks = range 2023-04-17..2023-05-08T13:56 day ~"),
    ("for the past two weeks", "for the past two weeks = since 2023-04-24.. day"),
    # months
    ("last month", "last month = point 2023-04-01..2023-05-01 month"),
    ("this month", "this month = point 2023-05-01..2023-06-01 month"),
    ("next month", "next month = point 2023-06-01..2023-07-01 month"),
    ("a month ago", "a month ago = point 2023-04-01..2023-05-01 month"),
    ("two months ago", "two months ago = point 2023-03-01..2023-04-01 month"),
    ("six months ago", "six months ago = point 2022-11-01..2022-12-01 month"),
    ("in a month", "in a month = point 2023-06-01..2023-07-01 month"),
    ("in two months", "in two months = point 2023-07-01..2023-08-01 month"),
    ("earlier this month", "earlier this month = point 2023-05-01..2023-05-08 month ~"),
    ("later this month", "later this month = point 2023-05-08T13:56..2023-06-01 month ~"),
    ("the end of the month", "the end of the month = point 2023-05-27..2023-06-01 day ~"),
    ("over the past month", "the past month = range 2023-04-08..2023-05-08T13:56 month"),
    ("in the last three months", "in the last three months = range 2023-02-08..2023-05-08T13:56 month"),
    ("for three months now", "for three months now = since 2023-02-08.. month"),
    ("I've been playing for about four months now.", "for about four months now = since 2023-01-08.. month ~"),
    ("half a year ago", "half a year ago = point 2022-11-01..2022-12-01 month ~"),
    ("a month and a half ago", "a month and a half ago = point 2023-04-01..2023-05-01 month ~"),
    # years
    ("last year", "last year = point 2022-01-01..2023-01-01 year"),
    ("this year", "this year = point 2023-01-01..2024-01-01 year"),
    ("next year", "next year = point 2024-01-01..2025-01-01 year"),
    ("a year ago", "a year ago = point 2022-01-01..2023-01-01 year"),
    ("three years ago", "three years ago = point 2020-01-01..2021-01-01 year"),
    ("ten years ago", "ten years ago = point 2013-01-01..2014-01-01 year"),
    ("twenty-five years ago", "twenty-five years ago = point 1998-01-01..1999-01-01 year"),
    ("a hundred years ago", "a hundred years ago = point 1923-01-01..1924-01-01 year"),
    ("a few years ago", "a few years ago = point 2020-01-01..2021-01-01 year ~"),
    ("several years ago", "several years ago = point 2019-01-01..2020-01-01 year ~"),
    ("a couple of years ago", "a couple of years ago = point 2021-01-01..2022-01-01 year ~"),
    ("around 3 years ago", "around 3 years ago = point 2020-01-01..2021-01-01 year ~"),
    ("a year and a half ago", "a year and a half ago = point 2021-11-01..2021-12-01 month ~"),
    ("in five years", "in five years = point 2028-01-01..2029-01-01 year"),
    ("the year before last", "the year before last = point 2021-01-01..2022-01-01 year"),
    ("earlier this year", "earlier this year = point 2023-01-01..2023-05-08 year ~"),
    ("later this year", "later this year = point 2023-05-08T13:56..2024-01-01 year ~"),
    ("late last year", "late last year = point 2022-09-01..2023-01-01 month ~"),
    ("early next year", "early next year = point 2024-01-01..2024-05-01 month ~"),
    ("the end of the year", "the end of the year = point 2023-11-01..2024-01-01 month ~"),
    ("the past year", "the past year = range 2022-05-08..2023-05-08T13:56 year"),
    ("over the past few years", "over the past few years = range 2020-05-08..2023-05-08T13:56 year ~"),
    ("for the past three years", "for the past three years = since 2020-05-08.. year"),
    ("for the last 3 years", "for the last 3 years = since 2020-05-08.. year"),
    ("for two years now", "for two years now = since 2021-05-08.. year"),
    ("I've lived here for two years.", "for two years = since 2021-05-08.. year"),
    ("I've had them for 3 years now.", "for 3 years now = since 2020-05-08.. year"),
    ("She has worked there for over ten years.", "for over ten years = since 2013-05-08.. year ~"),
    ("Seven years now, and I paint.", "Seven years now = since 2016-05-08.. year"),
    ("I lived there for two years.", "for two years = duration"),
    ("John's dog lived there for two years.", "for two years = duration"),
    ("It is a dog that lived for ten years.", "for ten years = duration"),
    ("I've been married for 5 years already.", "for 5 years already = since 2018-05-08.. year"),
    ("We haven't talked for a few days.", "for a few days = since 2023-05-05.. day ~"),
    ("I haven't seen you in two weeks.", "in two weeks = since 2023-04-24.. day ~"),
    ("I finished it in two days.", ""),
    ("We leave in two days.", "in two days = point 2023-05-10..2023-05-11 day"),
    ("mid-January next year", "mid-January next year = point 2024-01-11..2024-01-22 day ~"),
    ("last year in June", "last year in June = point 2022-06-01..2022-07-01 month"),
    ("in June of last year", "June of last year = point 2022-06-01..2022-07-01 month"),
    ("a decade ago", "a decade ago = point 2013-01-01..2014-01-01 year"),
    ("last decade", "last decade = point 2013-01-01..2014-01-01 year"),
    ("this time last year", "this time last year = point 2022-05-01..2022-06-01 month ~"),
    # weekdays
    ("last Friday", "last Friday = point 2023-05-05..2023-05-06 day"),
    ("last Fri", "last Fri = point 2023-05-05..2023-05-06 day"),
    ("last Tues.", "last Tues. = point 2023-05-02..2023-05-03 day"),
    ("last Monday", "last Monday = point 2023-05-01..2023-05-02 day"),
    ("this Friday", "this Friday = point 2023-05-12..2023-05-13 day"),
    ("next Friday", "next Friday = point 2023-05-19..2023-05-20 day ~"),
    ("this coming Sunday", "this coming Sunday = point 2023-05-14..2023-05-15 day"),
    ("this past Saturday", "this past Saturday = point 2023-05-06..2023-05-07 day"),
    ("I saw him on Friday.", "Friday = point 2023-05-05..2023-05-06 day"),
    ("I will see him on Friday.", "Friday = point 2023-05-12..2023-05-13 day"),
    ("We met Monday.", "Monday = point 2023-05-01..2023-05-02 day"),
    ("On Friday night we danced.", "Friday night = point 2023-05-05T18:00..2023-05-06T06:00 day"),
    ("Last Friday night we danced.", "Last Friday night = point 2023-05-05T18:00..2023-05-06T06:00 day"),
    ("Friday at 5pm I will leave.", "Friday at 5pm = point 2023-05-12T17:00..2023-05-12T17:01 instant"),
    ("at 5pm on Friday I will leave", "at 5pm on Friday = point 2023-05-12T17:00..2023-05-12T17:01 instant"),
    ("tomorrow at 8:30 am", "tomorrow at 8:30 am = point 2023-05-09T08:30..2023-05-09T08:31 instant"),
    ("meet me at 17:45", "at 17:45 = point 2023-05-08T17:45..2023-05-08T17:46 instant"),
    ("by Friday", "by Friday = until ..2023-05-13 day"),
    ("since Monday", "since Monday = since 2023-05-01.. day"),
    ("until Friday", "until Friday = until ..2023-05-12 day"),
    ("I was there from Monday to Wednesday.", "from Monday to Wednesday = range 2023-05-01..2023-05-04 day"),
    ("Wednesday, April 26", "Wednesday, April 26 = point 2023-04-26..2023-04-27 day"),
    ("**Wednesday**, April 26th", "Wednesday**, April 26th = point 2023-04-26..2023-04-27 day"),
    ("scheduled for Wednesday", "Wednesday = point 2023-05-10..2023-05-11 day"),
    (
        "I was there Monday and Tuesday",
        "Monday = point 2023-05-01..2023-05-02 day ; Tuesday = point 2023-05-02..2023-05-03 day",
    ),
    ("2:00 PM - 4:00 PM", "2:00 PM - 4:00 PM = range 2023-05-08T14:00..2023-05-08T16:00 instant"),
    (
        "Sunday, May 7th: 4:00 PM - 4:20 PM",
        "Sunday, May 7th: 4:00 PM - 4:20 PM = range 2023-05-07T16:00..2023-05-07T16:20 instant",
    ),
    ("at 9 PM.", "at 9 PM = point 2023-05-08T21:00..2023-05-08T21:01 instant"),
    ("between Tuesday and Thursday I worked", "between Tuesday and Thursday = range 2023-05-02..2023-05-05 day"),
    ("yesterday (Sunday) I slept", "yesterday (Sunday) = point 2023-05-07..2023-05-08 day"),
    ("Saturday, May 6", "Saturday, May 6 = point 2023-05-06..2023-05-07 day"),
    ("Wed 3 May 2023", "3 May 2023 = point 2023-05-03..2023-05-04 day"),
    # now
    ("right now we are full", "right now = point 2023-05-08T13:56..2023-05-08T13:56:00.000001 instant ~"),
    ("These days I paint.", "These days = point 2023-05-08T13:56..2023-05-08T13:56:00.000001 instant ~"),
]


@pytest.mark.parametrize(("text", "expected"), COUNTED)
def test_a_date_counted_from_the_turn_means_this(text: str, expected: str) -> None:
    assert said(text, "2023-05-08T13:56:00Z") == expected


MONTH_END = [
    ("a month ago", "a month ago = point 2023-02-01..2023-03-01 month"),
    ("two months ago", "two months ago = point 2023-01-01..2023-02-01 month"),
    ("last month", "last month = point 2023-02-01..2023-03-01 month"),
    ("a year ago", "a year ago = point 2022-01-01..2023-01-01 year"),
    ("in a month", "in a month = point 2023-04-01..2023-05-01 month"),
    ("for one month now", "for one month now = since 2023-02-28.. month"),
    ("in the last month", "the last month = range 2023-02-28..2023-03-31T10:00 month"),
]


@pytest.mark.parametrize(("text", "expected"), MONTH_END)
def test_on_31_march_a_month_ago_is_february(text: str, expected: str) -> None:
    assert said(text, "2023-03-31T10:00:00Z") == expected


LEAP_DAY = [
    ("a year ago", "a year ago = point 2023-01-01..2024-01-01 year"),
    ("for a year now", "for a year now = since 2023-02-28.. year"),
    ("yesterday", "yesterday = point 2024-02-28..2024-02-29 day"),
    ("tomorrow", "tomorrow = point 2024-03-01..2024-03-02 day"),
    ("February 29", "February 29 = point 2024-02-29..2024-03-01 day"),
    ("in four years", "in four years = point 2028-01-01..2029-01-01 year"),
    ("this time last year", "this time last year = point 2023-02-01..2023-03-01 month ~"),
]


@pytest.mark.parametrize(("text", "expected"), LEAP_DAY)
def test_on_a_leap_day_every_year_has_a_neighbour(text: str, expected: str) -> None:
    assert said(text, "2024-02-29T10:00:00Z") == expected


SUNDAY = [
    ("last weekend", "last weekend = point 2023-07-08..2023-07-10 day"),
    ("this weekend", "this weekend = point 2023-07-15..2023-07-17 day"),
    ("next weekend", "next weekend = point 2023-07-22..2023-07-24 day"),
    ("over the weekend we ran", "the weekend = point 2023-07-15..2023-07-17 day"),
    ("last Sunday", "last Sunday = point 2023-07-09..2023-07-10 day"),
    ("this Sunday", "this Sunday = point 2023-07-16..2023-07-17 day"),
    ("next Sunday", "next Sunday = point 2023-07-23..2023-07-24 day ~"),
    ("last week", "last week = point 2023-07-03..2023-07-10 day"),
]


@pytest.mark.parametrize(("text", "expected"), SUNDAY)
def test_on_a_sunday_the_week_and_its_weekend_are_not_over(text: str, expected: str) -> None:
    assert said(text, "2023-07-16T12:00:00Z") == expected


NEW_YEAR = [
    ("yesterday", "yesterday = point 2023-12-31..2024-01-01 day"),
    ("last night", "last night = point 2023-12-31T18:00..2024-01-01T06:00 day"),
    ("last year", "last year = point 2023-01-01..2024-01-01 year"),
    ("last month", "last month = point 2023-12-01..2024-01-01 month"),
    ("Christmas Eve", "Christmas Eve = point 2023-12-24..2023-12-25 day"),
    ("in December", "December = point 2023-12-01..2024-01-01 month"),
    ("this week", "this week = point 2024-01-01..2024-01-08 day"),
    ("New Year's Eve", "New Year's Eve = point 2023-12-31..2024-01-01 day"),
]


@pytest.mark.parametrize(("text", "expected"), NEW_YEAR)
def test_just_after_midnight_of_new_year_the_old_year_is_last_year(text: str, expected: str) -> None:
    assert said(text, "2024-01-01T00:30:00Z") == expected


WEST = [
    ("today", "today = point 2023-05-08T05:00..2023-05-09T05:00 day"),
    ("yesterday", "yesterday = point 2023-05-07T05:00..2023-05-08T05:00 day"),
    ("tonight", "tonight = point 2023-05-08T23:00..2023-05-09T11:00 day"),
    ("last night", "last night = point 2023-05-07T23:00..2023-05-08T11:00 day"),
    ("last week", "last week = point 2023-05-01T05:00..2023-05-08T05:00 day"),
    ("on Monday we met", "Monday = point 2023-05-01T05:00..2023-05-02T05:00 day"),
    ("at 5pm", "at 5pm = point 2023-05-08T22:00..2023-05-08T22:01 instant"),
    ("2023-05-08 13:56", "2023-05-08 13:56 = point 2023-05-08T18:56..2023-05-08T18:57 instant"),
    ("2023-05-08T13:56:00-04:00", "2023-05-08T13:56:00-04:00 = point 2023-05-08T17:56..2023-05-08T17:56:01 instant"),
    ("in 2019", "2019 = point 2019-01-01T05:00..2020-01-01T05:00 year"),
]


@pytest.mark.parametrize(("text", "expected"), WEST)
def test_at_utc_minus_5_the_local_day_counts(text: str, expected: str) -> None:
    assert said(text, "2023-05-09T02:00:00Z", -300) == expected


EAST = [
    ("today", "today = point 2023-05-08T15:00..2023-05-09T15:00 day"),
    ("yesterday", "yesterday = point 2023-05-07T15:00..2023-05-08T15:00 day"),
    ("last week", "last week = point 2023-04-30T15:00..2023-05-07T15:00 day"),
    ("on Monday we met", "Monday = point 2023-05-07T15:00..2023-05-08T15:00 day"),
    ("at 5pm", "at 5pm = point 2023-05-09T08:00..2023-05-09T08:01 instant"),
    ("2023-05-08 13:56", "2023-05-08 13:56 = point 2023-05-08T04:56..2023-05-08T04:57 instant"),
    ("2023-05-08T13:56:00-04:00", "2023-05-08T13:56:00-04:00 = point 2023-05-08T17:56..2023-05-08T17:56:01 instant"),
]


@pytest.mark.parametrize(("text", "expected"), EAST)
def test_at_utc_plus_9_the_local_day_counts(text: str, expected: str) -> None:
    assert said(text, "2023-05-08T20:00:00Z", 540) == expected
