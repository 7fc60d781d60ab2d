"""Who speaks to whom, and whom a pronoun means.

Rules: "I" is the speaker and "you" the listener. "He", "she", "they" and "it" mean the one thing of fitting gender and
number that was named last in this turn or, for people, in the turns before; where two fit, none is meant. A pronoun
that is not understood makes its clause be dropped: a fact about the wrong person is worse than none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memgraph_server.language.local_extractor.tables import tables

FIRST = frozenset({"i", "me", "my", "mine", "we", "us", "our", "ours", "im", "i'm"})
SECOND = frozenset({"you", "your", "yours", "u", "ya"})
_GENDER = {"he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "hers": "f"}
_THEY = frozenset({"they", "them", "their", "theirs"})
_IT = frozenset({"it", "its"})
#: How many mentions of people back a pronoun may reach.
_REACH = 6


@dataclass(frozen=True, slots=True)
class Phrase:
    """A name or phrase as it becomes a head or tail. `relation` ties a person to `owner` ("has_sister", "Ann")."""

    text: str
    type: str = ""
    owner: str = ""
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Mentioned:
    phrase: Phrase
    gender: str  # "m", "f", "" unknown
    plural: bool
    person: bool


@dataclass(slots=True)
class Scene:
    """Mutable only in what was mentioned so far; one scene for one turn."""

    speaker: str
    listener: str
    names: tuple[str, ...] = ()
    mentioned: list[Mentioned] = field(default_factory=list)
    before: int = 0  # how many of them were mentioned in the turns before

    def mention(self, mentioned: Mentioned) -> None:
        if mentioned.phrase.text not in {self.speaker, self.listener, ""}:
            self.mentioned.append(mentioned)

    def begin(self) -> None:
        """The turn itself begins: of what was said before it, only people can be meant by a pronoun."""
        self.mentioned = [m for m in self.mentioned if m.person]
        self.before = len(self.mentioned)

    def person(self, name: str) -> str:
        """The full name of a speaker that is called by a short form ("Mel" for Melanie), else the name itself."""
        plain = name.strip().lower()
        for known in self.names:
            if len(plain) >= 3 and known.lower().startswith(plain) and " " not in plain:
                return known
        return name.strip()

    def resolve(self, word: str) -> Phrase | None:
        """Whom or what a pronoun means, or None."""
        word = word.lower()
        if word in FIRST:
            return Phrase(self.speaker, "person")
        if word in SECOND:
            return Phrase(self.listener, "person") if self.listener else None
        if word in _GENDER:
            return self._only(_GENDER[word])
        if word in _THEY:
            return self._group()
        return self._thing() if word in _IT else None

    def _only(self, gender: str) -> Phrase | None:
        people = [m for m in self.mentioned if m.person and not m.plural][-_REACH:]
        sure = [m for m in people if m.gender == gender]
        if sure:
            same = people[-1].phrase.text == sure[-1].phrase.text
            return sure[-1].phrase if same or people[-1].gender not in {"", gender} else None
        unknown = {m.phrase.text: m.phrase for m in people if m.gender == ""}
        return next(iter(unknown.values())) if len(unknown) == 1 else None

    def _group(self) -> Phrase | None:
        groups = [m for m in self.mentioned if m.plural][-2:]
        return groups[-1].phrase if groups and groups[-1].person else None

    def _thing(self) -> Phrase | None:
        """The thing named last, where it is a name or a pet; "it" means whole sentences too often otherwise."""
        here = self.mentioned[self.before :]
        things = [m for m in here if (not m.person or m.phrase.type == "animal") and not m.plural]
        sure = bool(things) and things[-1].phrase.type not in {"", "activity", "date", "quantity"}
        return things[-1].phrase if sure else None


def is_pronoun(token: Any) -> bool:
    return token.pos_ == "PRON" or token.tag_ in {"PRP", "PRP$", "WP", "WDT", "WP$", "EX"}


def kin_of(noun: str) -> tuple[str, str]:
    """(relation, gender) of a person noun, ("", "") for others."""
    entry = tables().people.get(noun)
    return (entry.relation, entry.gender) if entry else ("", "")


def possessive(name: str) -> str:
    return f"{name}'s"


def scene_of(speaker: str, listener: str, others: Sequence[str]) -> Scene:
    names = tuple(dict.fromkeys(n for n in (speaker, listener, *others) if n and n not in {"User", "Assistant"}))
    return Scene(speaker, listener, names)
