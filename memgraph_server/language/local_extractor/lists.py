"""Lists of an assistant's answer: each item's title is something suggested.

Rules: an item begins with a number, a bullet or a letter; its title is what stands in bold, else what stands before
a colon, else a short item as a whole. Items that are headings of the answer itself ("Action plan") are suggested all
the same: that they were proposed is true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ITEM = re.compile(r"^(?P<indent>[ \t]*)(?:\d{1,2}[.)]|[-*•+]|[a-z][.)])[ \t]+(?P<body>[^\n]+)", re.MULTILINE)
_BOLD = re.compile(r"\*\*(?P<title>[^*\n]{2,90}?)\*\*|__(?P<other>[^_\n]{2,90}?)__")
_ASKING = re.compile(r"(?:why|how|what|when|where|who|which|is|are|do|does|did|can|could|would|will)\b", re.IGNORECASE)
_LEAD = re.compile(r"(?P<title>[^:\n]{2,60}):\s+\S")
_WORDS = 10
#: Titles that say nothing without what follows them.
_LABELS = frozenset(
    "purpose focus example examples key considerations consideration action actions why how what when where time "
    "safety note notes goal goals tip tips benefit benefits recommendation recommendations step steps objective "
    "objectives description details detail duration overview summary rationale reason result results outcome "
    "location cost price pros cons materials ingredients instructions effectiveness next impact strategy approach "
    "timeline method task tasks option options question questions concern concerns suggestion suggestions idea "
    "ideas explanation frequency set day week phase level part module session month stage round chapter scene act "
    "monday tuesday wednesday thursday friday saturday sunday morning afternoon evening and the for of your "
    "airline route concept privacy arrival departure drive hotel access best budget distance highlights theme "
    "tone focus dates milepost".split()
)


_CUES = re.compile(
    r"\b(?:suggest\w*|recommend\w*|(?:to|could|can|should|might) (?:try|consider|use|do)|tips|ideas"
    r"|ways to|steps to)\b",
    re.IGNORECASE,
)


def suggests(text: str) -> bool:
    """Whether the words before a text's first list offer its items as advice; else they are only listed."""
    first = _ITEM.search(text)
    before = text[: first.start()].rstrip() if first is not None else ""
    return bool(_CUES.search(before.rsplit("\n", 1)[-1][-300:]))


def items(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """(what it says, span in the text) of each item of the outermost lists in a text, in order.

    An item with a short value ("Total cost: $20") says both; a bare quantity says nothing.
    """
    found = list(_ITEM.finditer(text))
    least = min((len(m["indent"]) for m in found), default=0)
    for match in (m for m in found if len(m["indent"]) <= least + 1):
        body, start = match["body"], match.start("body")
        place = _title_place(body)
        title = _title(body[place[0] : place[1]]) if place is not None else ""
        if place is not None and title and not title[0].isdigit():
            yield _with_value(title, _value(body, place[1])), (start + place[0], start + place[1])


def _value(body: str, end: int) -> str:
    """What follows the title and its colon, "" where there is none."""
    around = body[max(0, end - 1) : end + 4]
    return body[end:] if ":" in around else ""


def _with_value(title: str, rest: str) -> str:
    value = re.sub(r"\s+", " ", rest).strip(" *_:;,.\"'!()[]")
    short = 0 < len(value.split()) <= 5 and len(title.split()) <= 5
    return f"{title}: {value}" if short else title


def _title_place(body: str) -> tuple[int, int] | None:
    bold, lead = _BOLD.match(body), _LEAD.match(body)
    if bold is not None:
        return bold.span("title") if bold["title"] else bold.span("other")
    if lead is not None:
        return lead.span("title")
    return (0, len(body)) if len(body.split()) <= 8 else None


def _title(words: str) -> str:
    """The title's own words, "" where they are a question or only a label."""
    title = re.sub(r"\s+|\([^)]*\)?", " ", words)
    before, _, after = title.partition(":")
    title = after if after.strip() and _only_labels(before) else title
    title = re.sub(r"\s+", " ", title).strip(" *_:;,.\"'!()[]")
    asked = title.endswith("?") or bool(_ASKING.match(title))
    says = re.search(r"[^\W\d_]{2}", title) and len(title.split()) <= _WORDS
    return title if says and not asked and not title.startswith("To ") and not _only_labels(title) else ""


def _only_labels(title: str) -> bool:
    return all(len(w) == 1 or w.lower() in _LABELS for w in re.findall(r"[^\W\d_]+", title))


def outside(text: str) -> str:
    """The text with its list items masked by spaces of the same length."""
    return _ITEM.sub(lambda m: " " * len(m.group()), text)
