"""Cursors of paged reads: where to go on, as opaque text.

A cursor carries the sort key of the last row given and a digest over it, the verb with its filters (`listed`) and the
namespace, so that one that was altered, or belongs to another list, is refused instead of answering nonsense. It grants
nothing: every read is bound to its namespace anyway.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence

from memgraph_server.errors import InvalidInput

Key = Sequence[str | int]


def listed(verb: str, *filters: str | float | None) -> str:
    """The verb of a list that its filters make another list."""
    return json.dumps([verb, *filters], ensure_ascii=True)


def write_cursor(verb: str, namespace: str, key: Key) -> str:
    body = json.dumps(list(key), ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(_digest(verb, namespace, body) + body).decode().rstrip("=")


def read_cursor(verb: str, namespace: str, cursor: str | None, shape: tuple[type, ...]) -> list[str | int] | None:
    """The sort key, of the types in `shape`; None for no cursor. Raises InvalidInput where it is not one of ours."""
    if cursor is None:
        return None
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        digest, body = raw[:12], raw[12:]
        key = json.loads(body) if digest == _digest(verb, namespace, body) else None
    except (ValueError, binascii.Error, UnicodeError):
        key = None
    if not isinstance(key, list) or tuple(type(part) for part in key) != shape:
        raise InvalidInput(
            "the cursor is not one that this list, with these filters, gave; start again without one", field="cursor"
        )
    return key


def _digest(verb: str, namespace: str, body: bytes) -> bytes:
    return hashlib.sha256(b"\x00".join((verb.encode(), namespace.encode(), body))).digest()[:12]
