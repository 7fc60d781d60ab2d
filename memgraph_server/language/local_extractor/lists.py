"""Lists of an assistant's answer: each item's title is something suggested.

Rules: an item begins with a number, a bullet or a letter; its title is what stands in bold, else what stands before
a colon, else a short item as a whole; after a short title follow the first words of what is said of it. Items that
are headings of the answer itself ("Action plan") are suggested all the same: that they were proposed is true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ITEM = re.compile(r"^(?P<indent>[ \t]*)(?:\d{1,2}[.)]|[-*•+]|[a-z][.)])[ \t]+(?P<body>[^\n]+)", re.MULTILINE)
_BOLD = re.compile(r"\*\*(?P<title>[^*\n]{2,90}?)\*\*|__(?P<other>[^_\n]{2,90}?)__")
_ASKING = re.compile(r"(?:why|how|what|when|where|who|which|is|are|do|does|did|can|could|would|will)\b", re.IGNORECASE)
_LEAD = re.compile(r"(?P<title>[^:\n]{2,60}):\s+\S")
_WORDS = 10
#: Titles of more words than this say something by themselves; with what is said of it an item has this many words.
_LONG_TITLE, _TOLD = 4, 24
#: A form's lines end in one of these and a colon.
_BLANKS = frozenset("cost time name number date notes total price amount airport layovers status".split())
#: A first clause that says only when or how: what is said stands after its comma.
_LEADING = re.compile(
    r"^[*_ ]*(?:if|when|by|since|while|with|in|as|for|this is where|given)\b[^,.;:]*,\s+", re.IGNORECASE
)
_LOOSE_ENDS = frozenset(
    "a an the and or but of to in on at for with from by as is are was be that which who this your our their its if "
    "so not can will could should might may very more how what when where why into about like".split()
)
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
    "tone focus dates milepost otherwise citation".split()
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

    A bare quantity says nothing.
    """
    found = list(_ITEM.finditer(text))
    least = min((len(m["indent"]) for m in found), default=0)
    for match in (m for m in found if len(m["indent"]) <= least + 1):
        body, start = match["body"], match.start("body")
        place = _title_place(body)
        rest = _after(body, place[1]) if place is not None else ""
        title = _title(body[place[0] : place[1]], labels=0 < len(rest.split()) <= 6) if place is not None else ""
        if not rest and body.rstrip("* ").endswith(":") and title.rpartition(" ")[2].lower() in _BLANKS:
            continue
        if re.match(r"\s*\(e\.g\.", body[place[1] :].lstrip(":* ") if place is not None else ""):
            continue
        if not rest and re.match(r"(?:if|when|for|in|on|at)\b", title, re.IGNORECASE):
            continue
        if place is not None and title and not title[0].isdigit():
            told = _told(title, rest) if rest or not _goes_on(body, place[1]) else _first_words(body)
            yield told, (start + place[0], start + (place[1] if told == title else len(body)))


def _after(body: str, end: int) -> str:
    """What is said of the title that ends there, after its colon or dash; "" where nothing is."""
    rest = re.sub(r"^[*_ ]*(?:\([^)]*\))?[*_ ]*", "", body[end:])
    return rest if body[end - 1 : end] == ":" or rest[:1] in {":", "–", "—", "-"} else ""


def _goes_on(body: str, end: int) -> bool:
    """ "**Achieved** team objectives": what is in bold is only the beginning."""
    return bool(re.match(r"[*_]*\s+[^\W\d_]{2}", body[end:]))


def _first_words(body: str) -> str:
    words = _plain_words(re.split(r"(?<=[.!?;:])\s", body)[0])
    return " ".join(words if len(words) <= _TOLD else _until_comma(words[:_TOLD]))


def _plain_words(text: str) -> list[str]:
    return re.sub(r"\s+", " ", re.sub(r"[*_]{2}", "", text)).strip(" *_:;,.\"'!()[]–—-").split()


def _told(title: str, rest: str) -> str:
    """The title with the first words of what is said of it: a title alone is a label more often than not ("Clear
    Instructions")."""
    if len(title.split()) > _LONG_TITLE:
        return title
    plain = re.sub(r"\s*\([^)]*\)?", "", rest.lstrip(":–—- *_"))
    piece = re.split(r"(?<=[.!?;])\s", plain)[0]
    words = _plain_words(_LEADING.sub("", piece) if len(piece.split()) > _TOLD // 2 else piece)
    room = _TOLD - len(title.split())
    kept = words if len(words) <= room else _until_comma(words[:room])
    return f"{title}: {' '.join(kept)}" if kept else title


def _until_comma(words: list[str]) -> list[str]:
    """Words that were cut off, up to their last comma where that leaves enough, else without loose ends."""
    commas = [n for n, word in enumerate(words) if word.endswith((",", ";", ":")) and n >= 3]
    kept = words[: commas[-1] + 1] if commas else list(words)
    while kept and kept[-1].lower().strip(",") in _LOOSE_ENDS:
        kept.pop()
    return [*kept[:-1], kept[-1].rstrip(",;:")] if kept else []


def _title_place(body: str) -> tuple[int, int] | None:
    bold, lead = _BOLD.match(body), _LEAD.match(body)
    if bold is not None:
        return bold.span("title") if bold["title"] else bold.span("other")
    if lead is not None:
        return lead.span("title")
    return (0, len(body)) if len(body.split()) <= 8 else None


def _title(words: str, *, labels: bool) -> str:
    """The title's own words, "" where they are a question or only a label (unless `labels` may stand)."""
    title = re.sub(r"\s+|\([^)]*\)?", " ", words)
    before, _, after = title.partition(":")
    title = after if after.strip() and _only_labels(before) else title
    title = re.sub(r"\s+", " ", title).strip(" *_:;,.\"'!()[]")
    asked = title.endswith("?") or bool(_ASKING.match(title))
    says = re.search(r"[^\W\d_]{2}", title) and len(title.split()) <= _WORDS
    return title if says and not asked and not title.startswith("To ") and (labels or not _only_labels(title)) else ""


def _only_labels(title: str) -> bool:
    return all(len(w) == 1 or w.lower() in _LABELS for w in re.findall(r"[^\W\d_]+", title))


def outside(text: str) -> str:
    """The text with its list items masked by spaces of the same length."""
    return _ITEM.sub(lambda m: " " * len(m.group()), text)
