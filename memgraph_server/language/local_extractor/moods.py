"""How a clause is said: tense, negation, certainty. Read from the verb's auxiliaries, adverbs and governors.

Certainty is graded (REAL, III-A, Confidence Stratification): a plain statement has `PLAIN`; each hedge multiplies it,
and anything below 0.8 is kept as speculation. What is said under "if" is no claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memgraph_server.language.local_extractor.tables import tables

PLAIN = 0.92
_CONDITIONAL = frozenset({"if", "unless", "whether", "lest", "like", "though"})
#: Clauses in the present after these have not happened yet.
_NOT_YET = frozenset({"before", "until", "till", "once", "whenever", "as", "when"})
_PREDICATES = frozenset({"VERB", "AUX"})
_ENDED = frozenset({"anymore", "longer"})


@dataclass(frozen=True, slots=True)
class Mood:
    """`tense`: past, perfect, present or future. `modal`: a hedging or advising modal, else "".

    `ended`: "no longer", "not … any more". `progressive`: "is walking". `said_by_other`: reported speech.
    """

    tense: str
    modal: str = ""
    negated: bool = False
    ended: bool = False
    progressive: bool = False
    certainty: float = PLAIN
    unreal: bool = False

    @property
    def past(self) -> bool:
        return self.tense in {"past", "perfect"}


def mood_of(verb: Any) -> Mood:
    """The mood of a finite clause by its verb."""
    auxiliaries = _auxiliaries(verb)
    words = {a.lower_: a for a in auxiliaries}
    lemmas = [a.lemma_.lower() for a in auxiliaries]
    modal = next((m for m in ("might", "may", "could", "would", "should", "must", "can") if m in lemmas), "")
    if not modal and ("'d" in words and verb.tag_ == "VB"):
        modal = "would"
    adverbs = {c.lower_ for c in verb.children if c.dep_ in {"advmod", "npadvmod", "neg", "intj"}}
    adverbs |= {
        g.lower_ for c in verb.children if c.dep_ in {"advmod", "acomp"} for g in c.children if g.dep_ != "amod"
    }
    negated = any(c.dep_ == "neg" for c in verb.children) or bool(adverbs & {"never", "hardly", "rarely", "neither"})
    negated = negated or _denied_before(verb)
    ended = (negated and "anymore" in adverbs) or {"no", "longer"} <= adverbs
    return Mood(
        tense=_tense(verb, lemmas, words),
        modal=modal,
        negated=negated and not ended,
        ended=ended,
        progressive=verb.tag_ == "VBG",
        certainty=_certainty(verb, modal, adverbs) * _second_hand(verb),
        unreal=_unreal(verb, set()) or ("anymore" in adverbs and not negated),
    )


def _denied_before(verb: Any) -> bool:
    """ "You can't make calls or check it": the second verb is denied too."""
    joined = verb.dep_ == "conj" and verb.tag_ == "VB" and any(c.lower_ == "or" for c in verb.head.children)
    own = any(c.dep_ in {"nsubj", "aux"} for c in verb.children)
    return joined and not own and any(c.dep_ == "neg" for c in verb.head.children)


def _auxiliaries(verb: Any) -> list[Any]:
    own = [c for c in verb.children if c.dep_ in {"aux", "auxpass"} and c.lower_ != "to"]
    if own or verb.dep_ != "conj" or verb.head.pos_ not in _PREDICATES:
        return own
    if any(c.dep_ in {"nsubj", "nsubjpass"} for c in verb.children) or verb.tag_ in {"VBD", "VBZ", "VBP"}:
        return own
    return _auxiliaries(verb.head)


def _tense(verb: Any, lemmas: list[str], words: dict[str, Any]) -> str:
    if {"will", "shall", "wo", "'ll"} & {*lemmas, *words}:
        return "future"
    if any(a.lemma_.lower() == "have" or a.lower_ in {"'ve", "have", "has"} for a in words.values()):
        return "perfect"
    if any(a.tag_ == "VBD" for a in words.values()) or verb.tag_ == "VBD":
        return "past"
    if verb.tag_ == "VBN" and (("be" not in lemmas and not words) or ("'s" in words and words["'s"].lemma_ == "have")):
        return "perfect"
    aside = verb.tag_ == "VBG" and verb.dep_ == "advcl" and not words and verb.head.pos_ in _PREDICATES
    return _tense_of(verb.head) if aside else "present"  # "Seeing their faces, we knew …"


def _tense_of(verb: Any) -> str:
    auxiliaries = _auxiliaries(verb)
    return _tense(verb, [a.lemma_.lower() for a in auxiliaries], {a.lower_: a for a in auxiliaries})


def _certainty(verb: Any, modal: str, adverbs: set[str]) -> float:
    hedges = tables().hedges
    found = [hedges[w] for w in {modal, *adverbs} if w in hedges]
    certainty = PLAIN * min(found, default=1.0)
    if any(c.dep_ == "advcl" and _conditional(c) for c in verb.children):
        certainty *= 0.6
    return certainty * _governed(verb)


def _second_hand(verb: Any) -> float:
    """What one says of the listener is the listener's to say."""
    return 0.8 if any(c.dep_ in {"nsubj", "nsubjpass"} and c.lower_ == "you" for c in verb.children) else 1.0


def _governed(verb: Any) -> float:
    """The factor of what governs the clause: "I think …", "she said that …", and hedges of a clause it is joined to."""
    if verb.dep_ == "ccomp" and verb.head.pos_ in _PREDICATES:
        head = verb.head
        factor = tables().reporting.get(head.lemma_.lower(), 0.9)
        return factor * _governed(head)
    if verb.dep_ in {"conj", "relcl", "advcl"} and verb.head.pos_ in _PREDICATES and verb.dep_ == "conj":
        return _governed(verb.head)
    parenthetical = [c for c in verb.children if c.dep_ in {"parataxis", "ccomp"} and c.lemma_ in {"think", "guess"}]
    return 0.75 if any(sum(1 for _ in p.subtree) <= 3 for p in parenthetical) else 1.0


def _conditional(verb: Any) -> bool:
    return any(
        c.lower_ in _CONDITIONAL and (c.dep_ == "mark" or (c.dep_ == "advmod" and c.lower_ != "though"))
        for c in verb.children
    )


def _purpose(verb: Any) -> bool:
    """ "so I can reach more people": what is meant to come about."""
    can = any(c.dep_ == "aux" and c.lemma_ in {"can", "could", "may", "will", "would"} for c in verb.children)
    return verb.dep_ == "advcl" and can and any(c.lower_ in {"so", "that"} for c in verb.children)


def _not_yet(verb: Any) -> bool:
    marked = {c.lower_ for c in verb.children if c.dep_ in {"mark", "advmod"}}
    if verb.dep_ == "advcl" and ("once" in marked or (verb.lower_ == verb.lemma_ and "before" in marked)):
        return True
    finished = any(c.dep_ == "aux" and c.lower_ in {"'ve", "have", "has"} for c in verb.children)
    if verb.dep_ == "advcl" and finished and marked & {"once", "whenever", "until", "till", "when"}:
        return True
    present = verb.tag_ in {"VB", "VBP", "VBZ", "VBG"} and not any(
        c.tag_ == "VBD" for c in verb.children if c.dep_ == "aux"
    )
    return verb.dep_ == "advcl" and present and bool(marked & _NOT_YET)


def _unreal(verb: Any, seen: set[int]) -> bool:
    """Under "if", under a denied or questioned opinion, under a wish, or still to come."""
    if verb.i in seen:
        return False
    seen.add(verb.i)
    no_way = verb.dep_ == "relcl" and any(c.lower_ == "no" for c in verb.head.children)
    may_be = verb.dep_ == "relcl" and any(c.dep_ == "aux" and c.lower_ in _MAY_BE for c in verb.children)
    if no_way or may_be or _conditional(verb) or _purpose(verb) or _not_yet(verb):
        return True
    if verb.dep_ == "ccomp":
        return _unreal_opinion(verb.head, seen)
    if verb.dep_ in {"conj", "xcomp", "pcomp", "advcl", "relcl"} and verb.head.pos_ in _PREDICATES:
        return _unreal(verb.head, seen) if verb.dep_ != "advcl" or not _has_subject(verb) else False
    return False


def _unreal_opinion(head: Any, seen: set[int]) -> bool:
    """ "I don't think that …", "I wonder if …", "I'll make sure that …", "I'm scared that …"."""
    if head.pos_ not in _PREDICATES:
        return head.lower_ in _UNSURE
    denied = any(c.dep_ == "neg" for c in head.children) and head.lemma_ in tables().reporting
    return denied or head.lemma_ in _UNREAL_UNDER or _unreal(head, seen)


#: "Ways I can find candidates": what could be, of things that may not be.
_MAY_BE = frozenset({"can", "could", "might", "may", "would"})
_UNREAL_UNDER = frozenset({"hope", "wish", "wonder", "ask", "imagine", "let", "ensure", "make", "fear", "worry"})
_UNSURE = frozenset({"sure", "certain", "scared", "afraid", "worried", "nervous", "terrified", "anxious"})


def _has_subject(verb: Any) -> bool:
    return any(c.dep_ in {"nsubj", "nsubjpass"} for c in verb.children)
