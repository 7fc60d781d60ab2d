"""When two spellings are one name: equal after Unicode NFC, case folding and collapsed white space. Nothing else.

Accents, scripts, digits and punctuation keep names apart: SR-052 is not SR-053, and José is not Jose. An identity that
is guessed wrong cannot be told apart again; a merge that is missing can be made (and undone).
"""

from __future__ import annotations

import unicodedata


def normalized_name(name: str) -> str:
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return " ".join(folded.split())
