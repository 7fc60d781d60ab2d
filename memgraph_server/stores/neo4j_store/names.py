"""Texts of any length as keys of an index, which takes some eight thousand bytes for all properties together."""

from __future__ import annotations

import hashlib

from memgraph_server.errors import InvalidInput

#: Longest text, in UTF-8 bytes, that is its own key; and longest id that is taken.
LONGEST = 1000


def indexable(text: str) -> str:
    """The text, or where it is long its digest behind a character that no normalized name begins with."""
    raw = text.encode()
    return text if len(raw) <= LONGEST else f"\x1f{hashlib.sha256(raw).hexdigest()}"


def check_length(text: str | None, field: str) -> None:
    """Ids are kept as they are, so they must be short. Raises InvalidInput."""
    if text is not None and len(text.encode()) > LONGEST:
        raise InvalidInput(f"{field} is longer than {LONGEST} bytes, which this store cannot hold", field=field)
