"""Lists of an assistant's answer: each item's title is something suggested.

Rules: an item begins with a number, a bullet or a letter; its title is what stands in bold, else what stands before
a colon, else a short item as a whole. Items that are headings of the answer itself ("Action plan") are suggested all
the same: that they were proposed is true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ITEM = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-*•+]|[a-z][.)])[ \t]+(?P<body>[^\n]+)", re.MULTILINE)
_BOLD = re.compile(r"\*\*(?P<title>[^*\n]{2,90}?)\*\*|__(?P<other>[^_\n]{2,90}?)__")
_LEAD = re.compile(r"(?P<title>[^:\n]{2,60}):\s+\S")
_WORDS = 10


def items(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """(title, span in the text) of each item of the lists in a text, in order."""
    for match in _ITEM.finditer(text):
        body, start = match["body"], match.start("body")
        bold, lead = _BOLD.match(body), _LEAD.match(body)
        if bold is not None:
            place = bold.span("title") if bold["title"] else bold.span("other")
        elif lead is not None:
            place = lead.span("title")
        elif len(body.split()) <= 8:
            place = (0, len(body))
        else:
            continue
        title = re.sub(r"\s+", " ", body[place[0] : place[1]]).strip(" *_:;,.\"'!?()[]")
        if re.search(r"[^\W\d_]{2}", title) and len(title.split()) <= _WORDS and not title.endswith("?"):
            yield title, (start + place[0], start + place[1])


def outside(text: str) -> str:
    """The text with its list items masked by spaces of the same length."""
    return _ITEM.sub(lambda m: " " * len(m.group()), text)
