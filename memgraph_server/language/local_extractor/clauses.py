"""Sentences to clauses: each verb that states something, with its subject, objects and mood.

Rules: a clause joined by "and" shares the subject before it; a relative clause is about its noun; the clause of
another verb ("want to adopt") belongs to that verb. Questions, commands and exclamations of thanks state nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memgraph_server.language.local_extractor.moods import Mood, mood_of

_STATING = frozenset({"ROOT", "conj", "ccomp", "advcl", "relcl", "parataxis", "dep"})
#: Nouns whose relative clause is about a time, a place or a manner: no object.
_GAPS_OF_TIME = frozenset(
    "time times day days way reason place moment year week month everything anything something all what thing "
    "things".split()
)
#: What somebody is made, helped or allowed to do is said of the maker (`complements.causative_of`).
_CAUSING = frozenset(
    "make help let get have inspire encourage remind motivate teach allow enable watch see hear keep ask".split()
)
#: "Do you think …" is a question without its mark too.
_ASKING = frozenset("do does did is are can could would will have has".split())
_ASKED = frozenset("you i we they he she it".split())
#: Adverbs that make another verb of theirs: "look forward to", "put together".
_PARTICLES = frozenset({"forward", "together"})
_RELATIVE = frozenset({"who", "which", "that"})


@dataclass(frozen=True, slots=True)
class Clause:
    """`subject`: the token that says of whom, None in a command. `passive`: the subject is what was acted on."""

    verb: Any
    subject: Any
    mood: Mood
    passive: bool = False

    @property
    def lemma(self) -> str:
        return {"hoping": "hope", "hoped": "hope"}.get(self.verb.lower_, str(self.verb.lemma_.lower()))

    @property
    def gap(self) -> Any:
        """The noun of a relative clause about what is acted on ("the book I read"), else None."""
        if self.verb.dep_ != "relcl" or self.subject is None or self.subject.i == self.verb.head.i:
            return None
        return self.verb.head if self.verb.head.lower_ not in _GAPS_OF_TIME else None

    @property
    def particle(self) -> str:
        kept = (c for c in self.verb.children if c.dep_ == "prt" or (c.dep_ == "advmod" and c.lower_ in _PARTICLES))
        near = (c for c in kept if c.i == self.verb.i + 1 or not _loose(c, self.verb))
        return next((str(c.lower_) for c in near), "")

    def children(self, *deps: str) -> list[Any]:
        return [c for c in self.verb.children if c.dep_ in deps]

    @property
    def tokens(self) -> tuple[Any, ...]:
        """The clause's own words, without those of clauses that state something themselves."""
        return tuple(_own(self.verb)) + ((self.subject,) if self.subject is not None else ())


def _loose(particle: Any, verb: Any) -> bool:
    """Another verb's ("the work I put in pays off"), or a direction ("the coast up in the north")."""
    between = verb.doc[verb.i + 1 : particle.i]
    after = particle.i + 1 < len(verb.doc) and particle.nbor(1).pos_ == "ADP"
    return after or any(t.pos_ == "VERB" for t in between)


def clauses(sentence: Any) -> Iterator[Clause]:
    """The clauses of a sentence that state something, in order. None for a question."""
    if asks(sentence):
        return
    for token in sentence:
        if states(token):
            subject, passive = subject_of(token)
            yield Clause(token, subject, mood_of(token), passive)


def asks(sentence: Any) -> bool:
    inverted = len(sentence) > 2 and sentence[0].lower_ in _ASKING and sentence[1].lower_ in _ASKED
    return inverted or "?" in sentence.text[-3:] or sentence[0].tag_ in {"WP", "WRB"}


def states(token: Any) -> bool:
    """A finite verb (or one that shares a finite verb's subject), not an auxiliary or another verb's complement."""
    hyphenated = token.i > token.sent.start and token.nbor(-1).text == "-" and not token.nbor(-1).whitespace_
    if hyphenated or token.pos_ not in {"VERB", "AUX"} or token.dep_ not in _STATING:
        return False
    if token.dep_ == "relcl" and any(c.tag_ == "WRB" for c in token.children):
        return False
    if token.dep_ == "ccomp" and token.i > token.head.i and token.head.lemma_.lower() in _CAUSING:
        return False
    if token.dep_ == "ccomp" and _asked(token):
        return False
    if token.dep_ == "conj":
        return token.head.pos_ in {"VERB", "AUX"} and _stating_head(token)
    return True


def _asked(verb: Any) -> bool:
    """An embedded question: "what we're capable of", "how strong they were"."""
    asking = [t for t in verb.subtree if t.tag_ in {"WP", "WRB"} and t.i < verb.i + 8]
    return any(verb.i in {t.head.i, t.head.head.i} for t in asking)


def _stating_head(token: Any) -> bool:
    """Joined to a clause; not to a complement ("wants to sing and dance" is one wish)."""
    while token.dep_ == "conj" and token.head.pos_ in {"VERB", "AUX"}:
        if any(c.dep_ in {"nsubj", "nsubjpass"} for c in token.children):
            return True
        token = token.head
    return states(token)


def subject_of(verb: Any) -> tuple[Any, bool]:
    """The token the clause is about, its own or shared, and whether the verb is passive."""
    passive = any(c.dep_ in {"nsubjpass", "auxpass"} for c in verb.children) and verb.tag_ == "VBN"
    around = [*verb.children, *(c for a in verb.children if a.dep_ == "aux" for c in a.children)]
    own = next((c for c in around if c.dep_ in {"nsubj", "nsubjpass", "expl", "csubj"}), None)
    if own is not None and own.lower_ in _RELATIVE and own.tag_ in {"WP", "WDT"}:
        return (
            (verb.head, passive)
            if verb.dep_ == "relcl" and verb.head.pos_ in {"NOUN", "PROPN", "PRON"}
            else (None, False)
        )
    if own is not None:
        return own, passive
    if verb.dep_ == "conj" and verb.head.pos_ in {"VERB", "AUX"}:
        shared, head_passive = subject_of(verb.head)
        return shared, passive or (head_passive and verb.tag_ == "VBN")
    having = any(g.dep_ == "xcomp" for c in verb.head.children if c.dep_ == "acomp" for g in c.children)
    if verb.dep_ == "advcl" and verb.tag_ == "VBG" and (having or verb.head.dep_ == "xcomp"):
        return None, passive  # "lucky to have you, bringing so much joy": whoever is meant
    if verb.dep_ == "advcl" and verb.tag_ == "VBG" and verb.head.pos_ in {"VERB", "AUX"}:
        return subject_of(verb.head)[0], False
    return None, passive


def of_another(verb: Any, place: int) -> bool:
    """Whether what stands at a place after a verb belongs to a later verb: the day of "a quiet weekend after we went
    camping on Friday" is that of camping."""
    later = verb.doc[verb.i + 1 : place]
    return any(t.dep_ in {"advcl", "relcl", "ccomp"} and states(t) and t.sent.start == verb.sent.start for t in later)


def _own(verb: Any) -> Iterator[Any]:
    yield verb
    for child in verb.children:
        if not states(child) and child.dep_ not in {"nsubj", "nsubjpass"}:
            yield from _without_clauses(child)


def _without_clauses(token: Any) -> Iterator[Any]:
    yield token
    for child in token.children:
        if not states(child):
            yield from _without_clauses(child)
