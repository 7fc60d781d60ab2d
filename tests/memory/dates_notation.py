"""Mentions as one line of text, so that a table of dates reads as a specification.

`words = kind start..end precision`, with ` ~` where it is approximate; midnight is left out, and
several are parted by ` ; `.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from memgraph_server.memory.dates import DateMention, find_dates
from memgraph_server.memory.interval import Instant, instant, isoformat


def at(text: str) -> Instant:
    """An instant from RFC 3339 text."""
    return instant(datetime.fromisoformat(text))


def said(text: str, turn: str, offset: int = 0, *, direction: Literal["past", "future"] | None = None) -> str:
    """What the text says when it is said at `turn`, in the notation above."""
    return " ; ".join(_line(mention) for mention in find_dates(text, at(turn), offset, direction=direction))


def _line(mention: DateMention) -> str:
    line = f"{mention.text} = {mention.kind.value}"
    if mention.placed:
        line += f" {_short(mention.start)}..{_short(mention.end)} {mention.precision.value}"
        line += " ~" if mention.approximate else ""
    return line


def _short(moment: Instant | None) -> str:
    text = "" if moment is None else isoformat(moment).removesuffix("Z").removesuffix("T00:00:00")
    return text[:16] if text.endswith(":00") else text
