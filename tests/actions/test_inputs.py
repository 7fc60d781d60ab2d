"""The rules for what comes from outside, each by example, and the parsers by law."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.actions import inputs
from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.errors import InvalidInput, TooLarge
from memgraph_server.memory.interval import Precision, instant, isoformat

NOON = "2024-05-08T12:00:00Z"


@pytest.mark.parametrize("name", ["ann", "Ann Lee", "团队", "a.b:c_d-e@f", "👩‍👩‍👧", "x" * 128, "...", "a\\b"])
def test_a_namespace_may_be_any_printable_text(name: str) -> None:
    assert inputs.namespace(name) == name


@pytest.mark.parametrize("name", ["", "x" * 129, "a/b", "a\nb", "a\0b", "\x7f", ".", "..", "a\ufffdb", "a\u2028b"])
def test_a_namespace_that_a_path_or_a_log_would_misread_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        inputs.namespace(name)
    assert caught.value.field == "namespace"


def test_what_a_name_may_not_hold_is_shown_as_it_can_be_seen() -> None:
    with pytest.raises(InvalidInput, match=r"here: /, U\+0000, U\+FFFD\)"):
        inputs.namespace("a/b\0\ufffd")


@pytest.mark.parametrize(
    ("text", "utc", "offset"),
    [
        ("2023-05-08T13:56:00-04:00", "2023-05-08T17:56:00Z", -240),
        ("2023-05-08T13:56:00Z", "2023-05-08T13:56:00Z", 0),
        ("2023-05-08t13:56:00z", "2023-05-08T13:56:00Z", 0),
        ("2023-05-08 13:56:00.1234567+05:30", "2023-05-08T08:26:00.123456Z", 330),
        ("2023-05-08T13:56+0530", "2023-05-08T08:26:00Z", 330),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z", 0),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", 0),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", 0),
    ],
)
def test_a_time_is_read_with_its_zone(text: str, utc: str, offset: int) -> None:
    at, minutes = inputs.time_of(text, "at")
    assert (isoformat(at), minutes) == (utc, offset)


@pytest.mark.parametrize(
    "text",
    [
        "2023-05-08T13:56:00",  # no zone
        "2023-05-08T13:56:00 Mars/Phobos",
        "2023-05-08T13:56:00+25:00",
        "2023-05-08T13:56:00+01:75",
        "2023-05-08T13:56:00 EST",
        "2023-05-08",
        "0000-05-08T13:56:00Z",  # year 0
        "0001-01-01T00:00:00+01:00",  # year 0 in UTC
        "9999-12-31T23:59:59-01:00",  # year 10000 in UTC
        "10000-01-01T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "2023-05-08T24:01:00Z",
        "2016-12-31T23:59:60Z",
        "２０２３-05-08T13:56:00Z",
        "yesterday",
        "",
        "1" * 10_000,
    ],
)
def test_a_time_that_is_not_one_is_refused_with_advice(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        inputs.time_of(text, "turns.0.at")
    assert caught.value.field == "turns.0.at"
    assert len(caught.value.message) < 300


@given(
    st.datetimes(timezones=st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m)))),
)
def test_every_time_that_python_writes_is_read_as_the_same_instant(at: datetime) -> None:
    expected = instant(at)
    try:
        assert inputs.time_of(at.isoformat(), "at")[0] == expected
    except InvalidInput:
        first, last = (
            instant(datetime(1, 1, 1, tzinfo=UTC)),
            instant(datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)),
        )
        assert not first <= expected <= last


@given(st.text())
def test_any_text_as_a_date_is_read_or_refused(text: str) -> None:
    try:
        at, precision = inputs.date_of(text, "valid_from")
    except InvalidInput:
        return
    assert inputs.date_of(inputs.date_text(at, precision), "again") == (at, precision)


@pytest.mark.parametrize(
    ("text", "utc", "precision"),
    [
        ("2020", "2020-01-01T00:00:00Z", Precision.YEAR),
        ("2020-03", "2020-03-01T00:00:00Z", Precision.MONTH),
        ("2020-03-05", "2020-03-05T00:00:00Z", Precision.DAY),
        ("2020-03-05T10:00:00+02:00", "2020-03-05T08:00:00Z", Precision.INSTANT),
    ],
)
def test_a_coarse_date_stands_for_its_first_instant_and_keeps_its_precision(
    text: str, utc: str, precision: Precision
) -> None:
    at, found = inputs.date_of(text, "valid_from")
    assert (isoformat(at), found) == (utc, precision)


@pytest.mark.parametrize(
    ("precision", "iso", "shown"),
    [
        (Precision.MONTH, "2020-03-01T00:00:00Z", "2020-03"),
        (Precision.YEAR, "2020-01-01T00:00:00Z", "2020"),
        (Precision.DAY, "2020-03-04T15:00:00Z", "2020-03-04T15:00:00Z"),  # midnight in Tokyo: the day would be wrong
        (Precision.INSTANT, "2020-03-01T00:00:00Z", "2020-03-01T00:00:00Z"),
    ],
)
def test_a_date_is_shown_as_coarse_as_it_was_said_unless_that_would_be_another_day(
    precision: Precision, iso: str, shown: str
) -> None:
    assert inputs.date_text(inputs.time_of(iso, "at")[0], precision) == shown


def test_a_plus_sign_that_a_url_turned_into_a_space_is_put_back() -> None:
    assert inputs.date_in_url("2020-03-05T10:00:00 02:00", "at") == inputs.date_in_url(
        "2020-03-05T10:00:00+02:00", "at"
    )


def _turn(**changes: object) -> GivenTurn:
    return GivenTurn(**{"text": "hello", "at": NOON, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "field", "error"),
    [
        ({"text": ""}, "turns.3.text", InvalidInput),
        ({"text": " \n\t"}, "turns.3.text", InvalidInput),
        ({"text": "a\0b"}, "turns.3.text", InvalidInput),
        ({"text": "a\ud800b"}, "turns.3.text", InvalidInput),
        ({"text": "é" * (128 * 1024 + 1)}, "turns.3.text", TooLarge),
        ({"role": "narrator"}, "turns.3.role", InvalidInput),
        ({"speaker": "x" * 129}, "turns.3.speaker", InvalidInput),
        ({"speaker": "a\0"}, "turns.3.speaker", InvalidInput),
        ({"at": "2024-05-08T12:00:00"}, "turns.3.at", InvalidInput),
        ({"captions": ("x",) * 65}, "turns.3.attachments", TooLarge),
        ({"captions": ("fine", "a\0b")}, "turns.3.attachments.1.caption", InvalidInput),
        ({"captions": ("x" * 16385,)}, "turns.3.attachments.0.caption", TooLarge),
    ],
)
def test_a_turn_that_cannot_be_kept_is_refused_by_field(
    changes: dict[str, object], field: str, error: type[InvalidInput] | type[TooLarge]
) -> None:
    with pytest.raises(error) as caught:
        inputs.turn_of(_turn(**changes), id="t", session_id="s", field="turns.3")
    assert caught.value.field == field


@pytest.mark.parametrize("turn_id", ["", "a/b", "x" * 129, "a\nb"])
def test_an_id_that_no_path_can_name_is_refused(turn_id: str) -> None:
    with pytest.raises(InvalidInput):
        inputs.turn_of(_turn(), id=turn_id, session_id="s", field="turns.0")


def test_a_picture_without_words_is_a_turn() -> None:
    turn = inputs.turn_of(_turn(text="", captions=("a dog", " ")), id="t", session_id="s", field="turns.0")
    assert turn.captions == ("a dog",)
    assert turn.full_text() == "[shares a dog]"


def test_a_text_is_kept_verbatim() -> None:
    text = "  \u202eodd\u0007\r\n\ttext\u200d👩‍👩‍👧  "
    assert inputs.turn_of(_turn(text=text), id="t", session_id="s", field="turns.0").text == text
