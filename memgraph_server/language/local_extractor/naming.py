"""Verbs to relations: known ones by the table, all others by the verb's own form ("carves out", "went to").

Rules: what happened is named in the past, what holds in the present; the particle and preposition belong to the name.
A past state without a date gets the past form ("lived in"), an open relation of its own, so that it can never pass for
what is true now. Denials begin with "not".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memgraph_server.language.local_extractor.inflect import past, third_person
from memgraph_server.language.local_extractor.moods import Mood
from memgraph_server.language.local_extractor.scene import Phrase
from memgraph_server.language.local_extractor.tables import VerbEntry, tables
from memgraph_server.language.local_extractor.timing import Manner

_ANTONYMS = {"likes": "dislikes", "loves": "dislikes", "enjoys": "dislikes", "dislikes": "likes"}


_OF_PEOPLE = frozenset(
    "lives_in lives_with works_at occupation studies studies_at married_to dating wants likes loves enjoys needs "
    "left quit".split()
)


@dataclass(frozen=True, slots=True)
class Named:
    relation: str
    manner: Manner


def entry_of(lemma: str, *more: str) -> VerbEntry | None:
    """The table's entry of a verb with its particle and preposition."""
    return tables().verbs.get(" ".join(w for w in (lemma, *more) if w))


def name(verb: Any, mood: Mood, head: Phrase, *more: str, dated: bool = False) -> Named:
    """The relation of a clause; `more`: particle and preposition; `dated`: the clause holds a usable date."""
    lemma = _lemma(verb, mood)
    entry = entry_of(lemma, *more)
    if entry is not None and entry.relation in _OF_PEOPLE and head.type != "person":
        entry = None
    if mood.negated:
        return Named(_denied(entry, lemma, more), Manner.STATE if not mood.past else Manner.EVENT)
    if entry is None:
        return _open(verb, mood, more)
    if entry.kind in {"state", "plan"} and mood.past and not (dated or _still(mood)):
        return _open(verb, mood, more)
    if entry.kind in {"event", "end"} and not mood.past:
        return _open(verb, mood, more)
    return Named(entry.relation, _manner(entry, mood))


def _lemma(verb: Any, mood: Mood) -> str:
    """ "I've got a box" is having one."""
    got = verb.lower_ == "got" and mood.tense == "perfect"
    return "have" if got else str(verb.lemma_.lower())


def present(verb: Any, *more: str) -> str:
    """The relation as it would be stated of the present: what an ending ends."""
    entry = entry_of(verb.lemma_.lower(), *more)
    return entry.relation if entry else " ".join([third_person(verb.lemma_.lower()), *(w for w in more if w)])


def _still(mood: Mood) -> bool:
    """ "I've been living there", "I've known her": perfect of a state goes on."""
    return mood.tense == "perfect"


def _manner(entry: VerbEntry, mood: Mood) -> Manner:
    if entry.kind == "start":
        return Manner.COMING if mood.modal else Manner.START
    if entry.kind in {"state", "plan"}:
        holds = Manner.PLAN if entry.kind == "plan" else Manner.STATE
        return Manner.PAST_STATE if mood.tense == "past" else holds
    return Manner.EVENT


def _open(verb: Any, mood: Mood, more: tuple[str, ...]) -> Named:
    goes_on = mood.tense == "perfect" and (mood.progressive or verb.lower_ == "got")
    happened = mood.past and not goes_on
    lemma = _lemma(verb, mood)
    form = past(lemma, verb.lower_, verb.tag_) if happened else third_person(lemma)
    return Named(" ".join([form, *(w for w in more if w)]), Manner.EVENT if happened else Manner.STATE)


def _denied(entry: VerbEntry | None, lemma: str, more: tuple[str, ...]) -> str:
    if entry is not None:
        return _ANTONYMS.get(entry.relation, f"not {entry.relation}")
    return " ".join(["not", lemma, *(w for w in more if w)])
