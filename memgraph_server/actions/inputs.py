"""The rules for everything that comes from outside, in one place: REST, the command line and imports all pass here.

Rules:
- a namespace or an id is 1 to 128 characters, without control characters, slashes and U+FFFD (what an undecodable byte
  becomes, so that two different ones would be one), and is neither "." nor ".." (clients resolve those in a path);
- a text holds at most 256 KiB of UTF-8, no NUL and no lone surrogate; it may be empty only beside a caption;
- a time is RFC 3339 with a zone; where a date will do, it may also be a day, a month or a year, in UTC, and stands for
  its first instant; years 1 to 9999 in UTC.

Errors name the field (`turns.3.text`) and say what to send instead; they never quote a text.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime

from memgraph_server.errors import InvalidInput, TooLarge
from memgraph_server.memory.interval import Instant, Precision, instant, isoformat
from memgraph_server.memory.turns import Role, Turn

MAX_ID = 128
MAX_NAME = 512
MAX_TEXT_BYTES = 256 * 1024
MAX_CAPTION_BYTES = 16 * 1024
MAX_CAPTIONS = 64
MAX_TURNS = 10_000
MAX_ASSERTIONS = 10_000
MAX_IDS = 1_000
MAX_QUERY_BYTES = 32 * 1024

_FIRST, _LAST = instant(datetime.min.replace(tzinfo=UTC)), instant(datetime.max.replace(tzinfo=UTC))
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,18}))?)?\s?(Z|z|([+-])(\d\d):?(\d\d))", re.ASCII
)
_WITHOUT_ZONE = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,18})?)?", re.ASCII)
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
_SAY_TIME = "say a time with its zone, for example 2023-05-08T13:56:00-04:00 or 2023-05-08T17:56:00Z"
_SAY_DATE = f"{_SAY_TIME}; a day, month or year will do too: 2023-05-08, 2023-05, 2023"


@dataclass(frozen=True, slots=True)
class GivenTurn:
    """A turn as a caller sends it: nothing checked yet."""

    text: str
    at: str
    role: str = "user"
    speaker: str = ""
    id: str | None = None
    captions: tuple[str, ...] = ()


def namespace(text: str) -> str:
    return _path_part(text, "namespace")


def identifier(text: str, field: str) -> str:
    return _path_part(text, field)


def _path_part(text: str, field: str) -> str:
    if not 1 <= len(text) <= MAX_ID:
        raise InvalidInput(f"{field} must have 1 to {MAX_ID} characters", field=field)
    bad = {character for character in text if _unfit(character)}
    if bad or text in {".", ".."}:
        what = ", ".join(sorted(map(_shown, bad))) or "dots alone"
        raise InvalidInput(
            f"{field} may not hold slashes, control characters or dots alone (here: {what})", field=field
        )
    return text


def _shown(character: str) -> str:
    return character if character.isascii() and character.isprintable() else f"U+{ord(character):04X}"


def _unfit(character: str) -> bool:
    return character in "/\ufffd" or unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}


def name(text: str, field: str) -> str:
    """The name of an entity or relation: not blank, at most 512 characters."""
    if not well_formed(text, field, MAX_NAME * 4).strip():
        raise InvalidInput(f"{field} must not be empty", field=field)
    if len(text) > MAX_NAME:
        raise InvalidInput(f"{field} may have at most {MAX_NAME} characters", field=field)
    return text.strip()


def well_formed(text: str, field: str, limit: int) -> str:
    """Text that every store, index and model takes: no NUL, no lone surrogate, at most `limit` bytes of UTF-8."""
    if "\0" in text:
        raise InvalidInput(f"{field} holds a NUL character; leave it out", field=field)
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInput(f"{field} holds half of a surrogate pair, which is no character", field=field) from None
    if size > limit:
        raise TooLarge(f"{field} has {size} bytes; at most {limit} are taken, so split it", field=field)
    return text


def query_text(text: str, field: str = "query") -> str:
    if not well_formed(text, field, MAX_QUERY_BYTES).strip():
        raise InvalidInput(f"{field} must not be empty", field=field)
    return text


def time_of(text: str, field: str) -> tuple[Instant, int]:
    """The instant and the zone's offset in minutes; the zone has to be there."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise _no_time("is no time with a zone", _SAY_TIME, text, field)
    year, month, day, hour, minute, second, fraction, zone, sign, zone_hours, zone_minutes = match.groups()
    offset = 0 if zone in "Zz" else (int(zone_hours) * 60 + int(zone_minutes)) * (-1 if sign == "-" else 1)
    if abs(offset) >= 24 * 60 or int(zone_minutes or 0) >= 60:
        raise InvalidInput(f"{field} has a zone that does not exist; {_SAY_TIME}", field=field)
    try:
        local = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=UTC)
    except ValueError as error:
        raise InvalidInput(f"{field} does not exist ({error}); {_SAY_TIME}", field=field) from None
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    return _representable(instant(local) + micros - offset * 60_000_000, field), offset


def _representable(at: Instant, field: str) -> Instant:
    if not _FIRST <= at <= _LAST:
        raise InvalidInput(f"{field} is outside the years 1 to 9999 in UTC", field=field)
    return at


def date_of(text: str, field: str) -> tuple[Instant, Precision]:
    """A time, or a day, month or year in UTC, which stands for its first instant."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return _time_with(_SAY_DATE, text, field), Precision.INSTANT
    year, month, day = match.groups()
    try:
        first = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    except ValueError as error:
        raise InvalidInput(f"{field} does not exist ({error}); {_SAY_DATE}", field=field) from None
    precision = Precision.DAY if day else Precision.MONTH if month else Precision.YEAR
    return instant(first), precision


def _time_with(advice: str, text: str, field: str) -> Instant:
    if _TIME.fullmatch(text.strip()) is None:
        raise _no_time("is no date", advice, text, field)
    return time_of(text, field)[0]


def _no_time(what: str, advice: str, text: str, field: str) -> InvalidInput:
    if _WITHOUT_ZONE.fullmatch(text.strip()):
        what = "has no zone: put Z (UTC) or an offset such as +02:00 behind it"
    return InvalidInput(f"{field} {what}; {advice}", field=field)


def date_in_url(text: str, field: str) -> Instant:
    """As `date_of`; the plus sign of a zone that was not escaped, and so became a space, is put back."""
    return date_of(re.sub(r"(:\d\d(?:\.\d+)?) (\d\d:?\d\d)$", r"\1+\2", text.strip()), field)[0]


def role_of(text: str, field: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise InvalidInput(f"{field} must be one of {', '.join(Role)}", field=field) from None


def turn_of(given: GivenTurn, *, id: str, session_id: str, field: str) -> Turn:  # noqa: A002 - a turn's own word
    """The checked turn. Raises InvalidInput or TooLarge that name the member of `field`."""
    if len(given.captions) > MAX_CAPTIONS:
        raise TooLarge(f"{field}.attachments may be at most {MAX_CAPTIONS}", field=f"{field}.attachments")
    captions = tuple(
        well_formed(caption, f"{field}.attachments.{index}.caption", MAX_CAPTION_BYTES)
        for index, caption in enumerate(given.captions)
        if caption.strip()
    )
    text = well_formed(given.text, f"{field}.text", MAX_TEXT_BYTES)
    if not text.strip() and not captions:
        raise InvalidInput(f"{field}.text must not be empty", field=f"{field}.text")
    at, offset = time_of(given.at, f"{field}.at")
    return Turn(
        id=identifier(id, f"{field}.id"),
        session_id=session_id,
        role=role_of(given.role, f"{field}.role"),
        speaker=speaker(given.speaker, f"{field}.speaker"),
        text=text,
        at=at,
        utc_offset_minutes=offset,
        captions=captions,
    )


def speaker(text: str, field: str) -> str:
    if len(text) > MAX_ID:
        raise InvalidInput(f"{field} may have at most {MAX_ID} characters", field=field)
    return well_formed(text, field, MAX_ID * 4).strip()


def date_text(at: Instant, precision: Precision) -> str:
    """RFC 3339, cut to the precision where the instant is indeed the first of that UTC day, month or year."""
    iso = isoformat(at)
    size = {Precision.YEAR: 4, Precision.MONTH: 7, Precision.DAY: 10}.get(precision)
    if size is None:
        return iso
    padded = iso[:size] + "0000-01-01T00:00:00Z"[size:]
    return iso[:size] if padded == iso else iso
