"""Text that is not English: names, numbers and dates as mentions; nothing is claimed, and nothing is translated.

A language is guessed cheaply: by script, then by the commonest words of English against those of its neighbours.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_ENGLISH = frozenset(
    "the a an and or but of to in on at for with is are was were be been i you he she it we they my your his her "
    "our their me him them this that these those have has had do does did not no yes so just what when where who "
    "how why can will would could should about from as if than then there here all some any more very really good "
    "great thanks thank hey hi hello wow yeah i'm it's that's i've don't you're can't".split()
)
_OTHERS = frozenset(
    "der die das und ich ist nicht ein eine einen mit auf für von den dem zu wir sie es war habe haben bin sind "
    "auch el la los las un una y que de en es no por con para soy estoy mi tu se lo del muy pero como más le les "
    "des et est je ne pas vous nous mon ma dans sur avec du au il elle di che il è sono non per mi ho da com um "
    "uma não eu meu minha são os as em é och jag är inte det att som en på med het een ik van niet dat op te hij "
    "zij".split()
)
_NAME = re.compile(r"(?<![.!?¿¡]\s)(?<!^)\b[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}(?:\s+[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}){0,3}")


def is_english(text: str) -> bool:
    """Whether the English rules may read it; short text in Latin script passes."""
    letters = [c for c in text if c.isalpha()]
    if not letters:
        return False
    if sum(1 for c in letters if c < "\u0250") < 0.7 * len(letters):
        return False
    words = [w.lower() for w in _WORD.findall(text)]
    english, other = sum(w in _ENGLISH for w in words), sum(w in _OTHERS for w in words)
    accented = sum(1 for c in letters if c > "\u007f") > 0.04 * len(letters)
    return english >= other and not (accented and english == 0)


def names_in(text: str) -> list[tuple[str, str]]:
    """Capitalized names inside sentences of Latin script, as they are written."""
    return [(m.group(), "") for m in _NAME.finditer(text)][:20]
