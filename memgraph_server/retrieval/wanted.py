"""Which relations a question asks for, by its words: "where does Ann live" wants lives_in, and what is narrower.

A phrase of the question names a relation as the table of relations says; "where", "who" and "when" add the preposition
that such a relation has ("live" → "live in"). Relations outside the table are matched by the evaluator, by their words.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache
from typing import Protocol

from memgraph_server.memory.classes import ClassTable
from memgraph_server.memory.terms import STOPWORDS
from memgraph_server.retrieval.cues import Kind
from memgraph_server.retrieval.question import Reading
from memgraph_server.retrieval.repair import RelationSchema

_LONGEST_PHRASE = 3
_MOST_WORDS = 20
_PREPOSITIONS: dict[Kind, tuple[str, ...]] = {
    Kind.WHERE: ("in", "at", "to", "from"),
    Kind.WHO: ("with", "to", "of"),
    Kind.WHEN: ("on", "in"),
}


class RelationTable(RelationSchema, Hashable, Protocol):
    @property
    def names(self) -> Sequence[str]: ...
    def canonical(self, phrase: str) -> str: ...


def wanted_relations(reading: Reading, table: RelationTable) -> tuple[str, ...]:
    """Names from the table, in the order the question says them, each once."""
    known = frozenset(table.names)
    named = (_meant(table, phrase) for phrase in _phrases(reading))
    return tuple(dict.fromkeys(name for name in named if name in known))


@lru_cache(maxsize=4096)
def _meant(table: RelationTable, phrase: str) -> str:
    """Cached, since questions are made of the same verbs and a table is never changed."""
    return table.canonical(phrase)


def below_a_class(reading: Reading, classes: ClassTable) -> Callable[[str], bool]:
    """Whether a thing's name is below a class that the question names: swimming, for "which sports does she do?"."""
    named = reading.terms
    return lambda name: any(classes.is_a(name, term) for term in named)


def with_narrower(relations: Sequence[str], table: RelationSchema) -> frozenset[str]:
    """What answers the question as well: each relation, what implies it, and the other end's name for it."""
    below = (name for relation in relations for name in table.hyponyms(relation))
    inverses = (table.inverse(relation) for relation in relations)
    return frozenset((*relations, *below, *(name for name in inverses if name)))


def _phrases(reading: Reading) -> Iterator[str]:
    """Runs of up to three words that begin with a content word; a word also with the prepositions of the question's
    form, since "where does Ann live" leaves them out."""
    words = reading.bare.casefold().strip("?!. ").split()[:_MOST_WORDS]
    prepositions = _PREPOSITIONS.get(reading.kind, ())
    for length in range(_LONGEST_PHRASE, 0, -1):
        for first in range(len(words) - length + 1):
            run = words[first : first + length]
            if run[0] not in STOPWORDS:
                phrase = " ".join(run)
                yield phrase
                if length == 1:
                    yield from (f"{phrase} {preposition}" for preposition in prepositions)
