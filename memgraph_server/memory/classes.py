"""The classes of things: swimming is a sport and an activity, a couch is furniture.

A question often names a class ("which sports does she do?") where the turns name members. The table comes from
WordNet (`schema/classes.tsv.gz`, see `schema/build_classes.py`); it is parsed at the edge and passed in. Looking up is
pure: a phrase is tried whole, then from its head noun, which in English stands last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: Endings of plurals, longest first, and what stands in the singular.
_PLURALS = (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x"), ("s", ""))
_SHORTEST_STEM = 2


def singular(noun: str) -> str:
    """A guess by ending; irregular plurals are the caller's business."""
    for ending, instead in _PLURALS:
        if (
            noun.endswith(ending)
            and len(noun) >= len(ending) + _SHORTEST_STEM
            and not noun.endswith(("ss", "us", "is"))
        ):
            return noun[: -len(ending)] + instead
    return noun


class ClassTable:
    """Nouns to the classes above them, nearest first."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        """`classes` maps a noun to its classes, joined by commas (kept as text: 90,000 tuples cost 40 MB)."""
        self._classes = classes

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> ClassTable:
        """Lines `noun<TAB>class,class,…`."""
        pairs = (line.rstrip("\n").partition("\t") for line in lines)
        return cls({noun: classes for noun, _, classes in pairs})

    def of_noun(self, noun: str) -> tuple[str, ...]:
        found = self._classes.get(noun) or self._classes.get(singular(noun))
        return tuple(found.split(",")) if found else ()

    def of_phrase(self, phrase: str) -> tuple[str, ...]:
        """Classes of "a new video game" are those of "video game", and game itself: the head is a class too."""
        words = phrase.casefold().split()
        for start in range(max(0, len(words) - 3), len(words) - 1):
            if found := self.of_noun(" ".join(words[start:])):
                return tuple(dict.fromkeys((singular(words[-1]), *found)))
        found = self.of_noun(words[-1]) if words else ()
        return found if len(words) < 2 else (singular(words[-1]), *found)

    def is_a(self, phrase: str, name: str) -> bool:
        """Whether the phrase's thing is below the class `name` (singular or plural)."""
        classes = self.of_phrase(phrase)
        return name in classes or singular(name) in classes
