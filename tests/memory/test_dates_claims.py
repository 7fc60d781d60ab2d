"""What a date says about the valid interval of a claim made on Monday 8 May 2023, 13:56 UTC."""

from __future__ import annotations

import pytest

from memgraph_server.memory.dates import claimed_interval, find_dates
from memgraph_server.memory.interval import Basis, Precision
from tests.memory.dates_notation import _short, at

TURN = at("2023-05-08T13:56:00Z")

CLAIMED = [
    # an event or a state within the time
    ("I was there in 2019", "2019-01-01..2020-01-01 year year stated stated"),
    ("I lived there in March 2021", "2021-03-01..2021-04-01 month month stated stated"),
    ("I saw her yesterday", "2023-05-07..2023-05-08 day day stated stated"),
    ("I met her last week", "2023-05-01..2023-05-08 day day stated stated"),
    # open
    ("I've lived here since 2019", "2019-01-01.. year instant stated observed"),
    ("I've lived here for two years now", "2021-05-08.. year instant stated observed"),
    ("I've lived here since last March", "2023-03-01.. month instant stated observed"),
    # a range: a month or a day that names the end is part of it, a year stands for its first instant
    ("I lived there from 2015 to 2018", "2015-01-01..2018-01-01 year year stated stated"),
    ("I lived there from March to May 2021", "2021-03-01..2021-06-01 month month stated stated"),
    ("I was there from 3 to 5 May 2021", "2021-05-03..2021-05-06 day day stated stated"),
    ("I worked there over the past month", "2023-04-08..2023-05-08T13:56 month instant stated stated"),
    # only the end
    ("I'm in Berlin until Friday", "2023-05-08T13:56..2023-05-12 instant day observed stated"),
    ("I'm in Berlin through Friday", "2023-05-08T13:56..2023-05-13 instant day observed stated"),
    ("I'm in Berlin until June", "2023-05-08T13:56..2023-06-01 instant month observed stated"),
    ("I'm in Berlin through June", "2023-05-08T13:56..2023-07-01 instant month observed stated"),
    ("I lived there until 2019", "2018-01-01..2019-01-01 year year observed stated"),
    ("I lived there until 3 May 2021", "2021-05-02..2021-05-03 day day observed stated"),
]


@pytest.mark.parametrize(("text", "expected"), CLAIMED)
def test_a_claim_with_this_date_is_valid_then(text: str, expected: str) -> None:
    (mention,) = find_dates(text, TURN)
    claimed = claimed_interval(mention, TURN)
    assert claimed is not None
    line = f"{_short(claimed.valid_from)}..{_short(claimed.valid_to)} {claimed.from_precision} {claimed.to_precision}"
    assert f"{line} {claimed.from_basis} {claimed.to_basis}" == expected


def test_a_point_that_begins_something_ongoing_is_open() -> None:
    (mention,) = find_dates("I moved to Boston in June 2021", TURN)
    claimed = claimed_interval(mention, TURN, ongoing=True)
    assert claimed is not None
    assert (claimed.valid_from, claimed.valid_to) == (at("2021-06-01T00:00:00Z"), None)
    assert (claimed.from_precision, claimed.basis, claimed.to_basis) == (Precision.MONTH, Basis.STATED, Basis.OBSERVED)


@pytest.mark.parametrize(
    "text", ["when I was ten", "every Friday", "someday", "I lived there for two years", "in my 20s"]
)
def test_a_time_without_a_place_claims_nothing(text: str) -> None:
    mentions = find_dates(text, TURN)
    assert len(mentions) == 1
    assert claimed_interval(mentions[0], TURN) is None
