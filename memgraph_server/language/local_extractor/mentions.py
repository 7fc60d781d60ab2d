"""Names that a turn mentions, for Turn-MENTIONS-Entity: people, places, organizations, works, events, and the kin and
pets that are named by their owner."""

from __future__ import annotations

from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.phrases import noun_phrase

_TYPES = {"PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organization",
          "WORK_OF_ART": "work", "EVENT": "event", "PRODUCT": "product"}  # fmt: skip
_NOT_NAMES = frozenset("hey wow hi yeah haha lol omg congrats thanks yay aww whoa".split())


def mentions_of(page: Page) -> list[tuple[str, str]]:
    """(name, type) in order of appearance."""
    found: list[tuple[str, str]] = []
    for entity in page.doc.ents:
        kind = _TYPES.get(entity.label_)
        phrase = noun_phrase(page, entity.root) if kind and entity.root.pos_ == "PROPN" else None
        if (
            kind
            and phrase is not None
            and phrase.text.lower() not in _NOT_NAMES
            and any(c.isupper() for c in phrase.text)
        ):
            found.append((phrase.text, phrase.type or kind))
    return found
