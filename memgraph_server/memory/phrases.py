"""Phrases that name relations: their normal form, the forms of their verb, and names made from their words.

English only where it inflects; everything else is Unicode, and no text is refused: what has no letters or digits at
all is named by its code points.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

#: Longest name of a relation, in characters.
NAME_LENGTH = 64

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: A letter or digit with all that follows; marks without one (an emoji's variation selector) are no word.
_WORD = re.compile(r"[^\W_]\S*")
_ARTICLES = frozenset(("a", "an", "the", "my", "his", "her", "their", "our", "your", "its", "one's", "ones"))
_SIBILANT = ("s", "x", "z", "ch", "sh", "o")
_VOWELS = "aeiou"


def slug(phrase: str) -> str:
    """The phrase as a name: its words in lower case, joined by underscores, at most NAME_LENGTH characters."""
    name = "_".join(words(phrase))[:NAME_LENGTH].strip("_")
    if not name:
        name = "_".join(f"u{ord(character):04x}" for character in phrase.strip())[:NAME_LENGTH].strip("_")
    return name or "related_to"


def words(phrase: str) -> list[str]:
    """Runs of letters, marks and digits of any script, in lower case; `livesIn` is two words."""
    if not any(character.isspace() or character == "_" for character in phrase):
        phrase = _CAMEL.sub(" ", phrase)
    lower = unicodedata.normalize("NFC", unicodedata.normalize("NFC", phrase).casefold())
    return _WORD.findall("".join(map(_kept, lower)))


def _kept(character: str) -> str:
    """Letters, digits and marks as they are, anything else as a gap."""
    return character if character.isalnum() or unicodedata.category(character).startswith("M") else " "


@dataclass(frozen=True)
class Inflection:
    """`irregular`: lemma to forms that the rules of spelling do not give. `spellings`: other spellings of a word.
    `fillers`: words that may stand before a phrase without changing which relation it means."""

    irregular: Mapping[str, Sequence[str]]
    spellings: Mapping[str, str]
    fillers: frozenset[str]

    def spelled(self, phrase: str) -> str:
        """The phrase's words in one spelling."""
        return " ".join(self.spellings.get(word, word) for word in words(phrase))

    def normal(self, phrase: str) -> str:
        """What two ways to write the same phrase have in common: no articles, one spelling, lower case."""
        spelled = self.spelled(phrase).split()
        return " ".join(word for word in spelled if word not in _ARTICLES) or " ".join(spelled)

    def candidates(self, phrase: str) -> Iterator[str]:
        """The phrase in normal form, then without the fillers before it, one by one."""
        rest = self.normal(phrase).split()
        while rest:
            yield " ".join(rest)
            if rest[0] not in self.fillers:
                return
            rest = rest[1:]

    def forms(self, phrase: str) -> set[str]:
        """The phrase with its first word, taken as a verb, in all its forms; without "be", too."""
        first, *rest = self.normal(phrase).split() or [""]
        lemma = next((each for each in ("be", "have") if first in self.irregular.get(each, ())), first)
        found = {" ".join((form, *rest)) for form in self._verb(lemma)}
        if lemma == "be" and rest:
            found.add(" ".join(rest))
        return found

    def _verb(self, lemma: str) -> set[str]:
        irregular = {lemma, *self.irregular.get(lemma, ())}
        return irregular if lemma in ("be", "have") else irregular | set(_regular(lemma))


def _regular(lemma: str) -> Iterator[str]:
    """live: lives, lived, living; carry: carries, carried, carrying; watch: watches, watched, watching."""
    consonant_y = lemma.endswith("y") and lemma[-2:-1] not in _VOWELS
    stem = lemma[:-1] if consonant_y else lemma
    yield f"{stem}ies" if consonant_y else f"{lemma}es" if lemma.endswith(_SIBILANT) else f"{lemma}s"
    yield f"{stem}ied" if consonant_y else f"{lemma}d" if lemma.endswith("e") else f"{lemma}ed"
    silent_e = lemma.endswith("e") and not lemma.endswith("ee")
    yield f"{lemma[:-1]}ing" if silent_e else f"{lemma}ing"
