"""Captions of shared images: "a photo of a dog walking past a wall" -> (speaker, shared, "dog walking past a wall")."""

from __future__ import annotations

import re

from memgraph_server.language.local_extractor.wording import WORDS

_FRAME = re.compile(
    r"^\W*(?:there (?:is|are)\s+)?(?:(?:an?|the|this|two|some)\s+)?(?:close[- ]up\s+)?"
    r"(?:photo(?:graph(?:y|s)?)?|photos|picture|pictures|image|images|pic|screenshot|snapshot|view|shot)s?\s+"
    r"(?:of|showing|with|from)\s+",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:an?|the|some|there (?:is|are))\s+", re.IGNORECASE)
_INNER = re.compile(r"\b(?:an?|the)\s+", re.IGNORECASE)
_LOOSE_ENDS = frozenset("of with and in on at to from by for over under near next past a the is are".split())


def shown(caption: str) -> str:
    """What a caption shows, at most ten words; "" where it says nothing."""
    text = _ARTICLE.sub("", _FRAME.sub("", re.sub(r"\s+", " ", caption).strip()))
    text = re.split(r"\s+(?:that|which) (?:says|reads|has)\b", text)[0]
    words = _INNER.sub("", text).strip(" .,;:!?\"'").split()[:WORDS]
    while len(words) > 1 and words[-1].lower() in _LOOSE_ENDS:
        words.pop()
    shown_text = " ".join(words)
    return shown_text if re.search(r"\w", shown_text) else ""
