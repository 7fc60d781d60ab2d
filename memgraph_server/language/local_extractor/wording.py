"""Tokens joined to the words of a phrase: in order, articles and owners resolved, at most twelve words."""

from __future__ import annotations

import re
from typing import Any

from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.scene import FIRST, possessive
from memgraph_server.language.local_extractor.tables import tables

WORDS = 12
#: Entity labels that are names.
NAMED = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "WORK_OF_ART", "EVENT", "PRODUCT"})
KEPT_PREPOSITIONS = frozenset({"of", "for", "in", "at", "on", "about", "with", "from", "by", "to", "between"})


def words(page: Page, tokens: list[Any]) -> str:
    """Tokens in order as text, articles and owners resolved, at most twelve words."""
    out = ""
    last = None
    for token in sorted({t.i: t for t in tokens}.values(), key=lambda t: t.i):
        text = _word(page, token)
        glue = last is not None and last.i + 1 == token.i and not last.whitespace_
        out += ("" if glue or not out else " ") + text
        last = token
    text = re.sub(r"\s+", " ", out).strip(" -–—.,;:!?\"'()[]/&*")
    pieces = text.split()
    return " ".join(pieces[:WORDS]) if len(pieces) <= WORDS else _cut(pieces)


def _cut(pieces: list[str]) -> str:
    """The first twelve words, without a preposition or "and" left hanging."""
    kept = pieces[:WORDS]
    while len(kept) > 1 and kept[-1].lower() in {*KEPT_PREPOSITIONS, "and", "or", "the", "a"}:
        kept.pop()
    return " ".join(kept)


def _word(page: Page, token: Any) -> str:
    if token.tag_ == "PRP$":
        owner = page.scene.resolve(token.text)
        return possessive(owner.text) if owner and token.lower_ not in FIRST else ""
    first = token.i == token.sent.start
    named = token.pos_ == "PROPN" or token.ent_type_ in NAMED or (token.text[:1].isupper() and not first)
    named = named or token.text.isupper() or token.text[1:] != token.lower_[1:]
    return str(token.text if named else token.lower_)


def says_something(text: str) -> bool:
    return (
        bool(re.search(r"\w", text))
        and text.lower() not in tables().empty_nouns
        and text.lower() not in tables().praise
    )
