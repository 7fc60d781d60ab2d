"""Dates in real conversations: gold dates of LoCoMo (category 2, one evidence turn), and no surprises in any turn.

The gold dates are read here by other, simpler code, from the annotators' own words ("The Friday before 15 July 2023").
"""

from __future__ import annotations

import json
import re
from calendar import day_name, month_name, monthrange
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from memgraph_server.memory.dates import DateMention, find_dates
from memgraph_server.memory.interval import instant
from tests.evaluation.data import LOCOMO, REALMEM

_MONTHS = {name.lower(): number for number, name in enumerate(month_name) if name}
_WEEKDAYS = {name.lower(): number for number, name in enumerate(day_name)}
_MONTH = "(" + "|".join(_MONTHS) + ")"
_DAY = timedelta(days=1)
_TEMPORAL = re.compile(
    r"(?i)\b(?:yesterday|today|tonight|tomorrow|last|next|ago|recently|lately|now|just|currently|this|\d{4}|"
    rf"(?:day|week|weekend|month|year|summer)s?|{'|'.join([*_MONTHS, *_WEEKDAYS])})\b"
)

needs_locomo = pytest.mark.skipif(not LOCOMO.exists(), reason="LoCoMo is not on this machine")
needs_realmem = pytest.mark.skipif(not REALMEM.exists(), reason="RealMem is not on this machine")


def _day(text: str) -> datetime | None:
    for pattern, order in ((rf"(\d+) {_MONTH} (\d{{4}})", (3, 2, 1)), (rf"{_MONTH} (\d+) (\d{{4}})", (3, 1, 2))):
        match = re.fullmatch(pattern, text)
        if match and int(match[order[2]]) < 32:
            year, month, day = (match[n] for n in order)
            return datetime(int(year), _MONTHS[month], int(day), tzinfo=UTC)
    return None


def _plain(answer: object) -> str:
    text = re.sub(r"(\d)(?=[a-z]{3})", r"\1 ", str(answer).lower().strip(" .").replace(",", " "))
    text = re.sub(r"(\d)\s?(?:st|nd|rd|th)\b", r"\1", text).replace("janury", "january").replace("januarty", "january")
    return re.sub(r"\s+", " ", text)


def gold(answer: object, session: datetime) -> tuple[datetime, datetime] | None:
    """The days that an answer names; None where it is no date."""
    text = _plain(answer)
    day = _day(text) or _day(f"{text} {session.year}")
    if day:
        return day, day + _DAY
    if match := re.fullmatch(r"(?:since |in |around )?(\d{4})", text):
        return datetime(int(match[1]), 1, 1, tzinfo=UTC), datetime(int(match[1]) + 1, 1, 1, tzinfo=UTC)
    if match := re.fullmatch(rf"(?:in |around )?{_MONTH} (\d{{4}})", text):
        return _month(int(match[2]), _MONTHS[match[1]])
    if match := re.fullmatch(rf"last week of {_MONTH} (\d{{4}})", text):
        end = _month(int(match[2]), _MONTHS[match[1]])[1]
        return end - 7 * _DAY, end
    if match := re.fullmatch(r"(?:the )?summer (?:of )?(\d{4})", text):
        return datetime(int(match[1]), 6, 1, tzinfo=UTC), datetime(int(match[1]), 9, 1, tzinfo=UTC)
    return _beside(text)


def _month(year: int, month: int) -> tuple[datetime, datetime]:
    start = datetime(year, month, 1, tzinfo=UTC)
    return start, start + monthrange(year, month)[1] * _DAY


def _beside(text: str) -> tuple[datetime, datetime] | None:
    match = re.fullmatch(r"(?:the )?(two )?(\w+?)s? (before|after|of) (.*)", text)
    day = _day(match[4]) if match else None
    if match is None or day is None:
        return None
    count, unit, side = 2 if match[1] else 1, match[2], match[3]
    if unit in _WEEKDAYS:
        start = _nearest(day - _DAY, _WEEKDAYS[unit], -1)
        return start, start + _DAY
    if unit == "weekend":
        start = (
            _nearest(day + _DAY, 5, 1) if side != "before" else _nearest(day - 2 * _DAY, 5, -1) - 7 * (count - 1) * _DAY
        )
        return start, start + 2 * _DAY
    if unit == "week" and side == "of":
        return day - day.weekday() * _DAY, day + (7 - day.weekday()) * _DAY
    return (day - 7 * count * _DAY, day - 7 * (count - 1) * _DAY) if unit == "week" else None


def _nearest(day: datetime, weekday: int, step: int) -> datetime:
    while day.weekday() != weekday:
        day += step * _DAY
    return day


def _turns() -> Iterator[tuple[dict[str, tuple[datetime, str]], list[dict[str, object]]]]:
    for sample in json.loads(LOCOMO.read_text()):
        talk = sample["conversation"]
        turns = {
            turn["dia_id"]: (_session_time(talk[f"{name}_date_time"]), turn["text"])
            for name, session in talk.items()
            if isinstance(session, list)
            for turn in session
        }
        yield turns, sample["qa"]


def _session_time(text: str) -> datetime:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _meets(mention: DateMention, first: int, last: int) -> bool:
    """The mention's time and the gold days have an instant in common ("the week before" is there seven days)."""
    if not mention.placed or mention.text.lower() in ("recently", "lately"):  # said of anything
        return False
    start = mention.start if mention.start is not None else first
    return start < last and (mention.end is None or first < mention.end)


@needs_locomo
def test_locomo_gold_dates_are_met_by_a_mention_of_their_evidence_turn() -> None:
    met = missed = 0
    for turns, questions in _turns():
        for question in questions:
            evidence = question.get("evidence", [])
            if (
                question["category"] != 2
                or not isinstance(evidence, list)
                or len(evidence) != 1
                or evidence[0] not in turns
            ):
                continue
            session, text = turns[evidence[0]]
            days = gold(question["answer"], session)
            mentions = find_dates(text, instant(session))
            if days is None or not (mentions or _TEMPORAL.search(text)):
                continue
            if any(_meets(mention, instant(days[0]), instant(days[1])) for mention in mentions):
                met += 1
            else:
                missed += 1
    assert met + missed > 100
    assert met / (met + missed) >= 0.85


@needs_locomo
def test_no_date_of_locomo_is_decades_away_from_its_session() -> None:
    for turns, _questions in _turns():
        for session, text in turns.values():
            for mention in find_dates(text, instant(session)):
                years = [to.year for to in _ends(mention)]
                assert all(1900 <= year <= session.year + 30 for year in years), (text, mention)


@needs_realmem
def test_every_turn_of_realmem_is_read() -> None:
    found = 0
    for file in sorted(REALMEM.glob("*.json")):
        for session in json.loads(file.read_text())["dialogues"]:
            at = instant(datetime.fromisoformat(f"{session['current_time'][:10]}T12:00:00+00:00"))
            found += sum(len(find_dates(turn["content"], at)) for turn in session["dialogue_turns"])
    assert found > 1000


def _ends(mention: DateMention) -> list[datetime]:
    moments = [moment for moment in (mention.start, mention.end) if moment is not None]
    return [datetime.fromtimestamp(moment / 1_000_000, tz=UTC) for moment in moments]
