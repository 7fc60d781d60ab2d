"""What "be" says: what somebody is, feels, is called, is at, likes best.

| said                                | fact                                      |
|-------------------------------------|-------------------------------------------|
| I'm single                          | (I, relationship_status, single)          |
| I'm a nurse                         | (I, occupation, nurse)                    |
| I'm allergic to nuts, proud of her  | (I, allergic_to, nuts), (I, proud_of, …)  |
| My favorite book is X               | (I, favorite_book, X)                     |
| My goal is to …, my dog's name is … | (I, goal, …), (my dog, named, …)          |
| Comfort is my main concern          | (I, main_concern, comfort)                |
| I'm from Sweden, into jazz          | (I, from, Sweden), (I, interested_in, …)  |
| The X was inspiring                 | (X, is, inspiring), little salient        |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memgraph_server.language.local_extractor.clauses import Clause
from memgraph_server.language.local_extractor.complements import dates_of
from memgraph_server.language.local_extractor.drafts import Draft
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.phrases import (
    conjuncts,
    noun_phrase,
    noun_phrases,
    prepositional,
    verb_phrase,
)
from memgraph_server.language.local_extractor.scene import FIRST, SECOND, Phrase, kin_of
from memgraph_server.language.local_extractor.tables import tables
from memgraph_server.language.local_extractor.timing import Manner
from memgraph_server.language.local_extractor.wording import words
from memgraph_server.memory.dates.mention import DateKind

#: Verbs that link their subject to what it is.
LINKING = frozenset({"be", "become", "feel", "turn", "stay", "remain"})
#: Nouns that with an owner are an attribute of the owner: "my goal is …".
_ATTRIBUTES = frozenset(
    "goal dream plan hobby passion concern priority idea focus challenge problem aim intention wish hope fear job "
    "favorite favourite name birthday age role position major specialty title motto nickname address number "
    "budget background worry issue".split()
)
_FAVORITE = frozenset({"favorite", "favourite"})
_SELF_NAMED = re.compile(r"(?:ist|ician|eer|ologist|grapher)$")
_PLACES = {"from": "from", "into": "interested in", "at": "is at", "in": "is in", "on": "is on",
           "near": "is near"}  # fmt: skip
#: What somebody is on, beside a figure of speech ("on track").
_ON = frozenset("leave diet medication vacation holiday team committee board trip antibiotic".split())
#: What "I became" and "I turned" begin, rather than what is over.
_BECOMING = frozenset({"become", "turn"})
_BECOME = frozenset({"occupation", "relationship status", "age", "nationality"})
#: Organisations where one is to learn, not to work.
_SCHOOLS = re.compile(r"\b(?:school|university|college|academy|institute|uni)\b", re.IGNORECASE)
_WEAK_PREPOSITIONS = frozenset({"on", "for", "about", "like", "at", "with"})


def read_copula(page: Page, clause: Clause, heads: list[Phrase]) -> Iterator[Draft]:
    """Facts of a clause whose verb is "be" (or "become", "feel", "turn"), about each head."""
    if any(c.lower_ in {"here", "there"} for c in clause.children("advmod", "expl")):
        return
    if clause.mood.modal in {"would", "could", "should", "must", "can"} or clause.mood.tense == "future":
        return
    if clause.lemma in {"stay", "remain"} and not clause.children("nsubj"):
        return  # whose it is, is too often mistaken
    owned = list(_of_possession(page, clause))
    yield from owned
    for head in heads if not owned else ():
        for complement in clause.children("attr", "acomp", "oprd", "prep", "xcomp", "advmod", "dobj"):
            yield from _complement(page, clause, head, complement)


def _draft(
    clause: Clause, head: Phrase, relation: str, tail: Phrase, salience: float = 0.6, *, exact: bool = False
) -> Draft:
    if clause.lemma in _BECOMING and clause.mood.past and not clause.mood.negated and relation in _BECOME:
        return Draft(head, relation, tail, clause.mood.certainty, Manner.START, clause.tokens, salience=salience)
    past = clause.mood.tense == "past" or relation == "visited"
    if clause.mood.negated:
        relation = f"not {relation}"
    elif past and relation in {"relationship status", "occupation", "is", "is in", "is at", "age", "is on"}:
        relation = {"is": "was", "is in": "was in", "is at": "was at", "is on": "was on", "is with": "was with"}.get(
            relation, f"former {relation}"
        )
    manner = Manner.EVENT if past else Manner.STATE
    return Draft(head, relation, tail, clause.mood.certainty, manner, clause.tokens, salience=salience, exact=exact)


def _complement(page: Page, clause: Clause, head: Phrase, token: Any) -> Iterator[Draft]:
    if token.dep_ == "acomp" or (token.pos_ == "ADJ" and token.dep_ in {"attr", "oprd"}):
        for adjective in (a for a in conjuncts(token) if a.i == token.i or a.tag_ != "VBG"):
            yield from _adjective(page, clause, head, adjective)
    elif token.dep_ == "prep":
        yield from _preposition(page, clause, head, token)
    elif token.dep_ in {"attr", "oprd"} or (token.dep_ == "dobj" and clause.lemma == "become"):
        for noun in (n for n in conjuncts(token) if n.i == token.i or _introduced(n)):
            yield from _noun(page, clause, head, noun)


def _adjective(page: Page, clause: Clause, head: Phrase, token: Any) -> Iterator[Draft]:
    lower, person = token.lower_, head.type == "person"
    if lower in tables().marital and person:
        yield _draft(clause, head, "relationship status", Phrase(tables().marital[lower]), 0.9)
        yield from (_draft(clause, head, f"{lower} to", p, 0.9) for p in _objects_of(page, token, "to"))
    elif token.ent_type_ == "NORP" and person:
        yield _draft(clause, head, "nationality", Phrase(token.text, "group"), 0.8)
    elif lower == "old" and (age := _age(token)):
        yield _draft(clause, head, "age", Phrase(age, "quantity"), 0.9)
    elif token.lower_ != "up":
        related = list(_related(page, clause, head, token))
        yield from related
        if not related:
            yield from _plain_adjective(page, clause, head, token)


def _age(token: Any) -> str:
    years = next((c for c in token.children if c.dep_ == "npadvmod"), None)
    number = next((c for c in years.children if c.dep_ == "nummod"), None) if years is not None else None
    return str(number.text) if number is not None else ""


def _related(page: Page, clause: Clause, head: Phrase, token: Any) -> Iterator[Draft]:
    """ "proud of her", "keen on counseling", "excited to start": the adjective with what it is about."""
    for preposition in (
        c for c in token.children if c.dep_ == "prep" and token.lower_ not in _OF_MOOD and c.lower_ != "than"
    ):
        for tail in _objects_of(page, token, preposition.lower_):
            if tail.text != head.text:
                judged = token.lower_ in tables().praise and head.type != "person"
                yield _draft(clause, head, f"{token.lower_} {preposition.lower_}", tail, 0.15 if judged else 0.6)
    if token.lower_ == "sure":
        return
    for inner in (c for c in token.children if c.dep_ in {"xcomp", "ccomp"} and c.tag_ == "VB"):
        tail_phrase = verb_phrase(page, inner, "base")
        if tail_phrase and head.type == "person" and inner.lemma_ not in {"hear", "see", "say", "help", "be"}:
            yield _draft(clause, head, f"{token.lower_} to", tail_phrase, 0.5)


_POINTING = frozenset({"this", "that", "these", "those", "your"})
#: "Better about it", "good with that": how one takes it, and nothing about it.
_OF_MOOD = frozenset({"better", "good", "fine", "okay", "ok", "cool", "sure"})


def _objects_of(page: Page, token: Any, preposition: str) -> list[Phrase]:
    found = [c for c in token.children if c.dep_ == "prep" and c.lower_ == preposition]
    targets = [t for p in found for t in p.children if t.dep_ in {"pobj", "pcomp"} and t.i not in page.dated]
    return [p for t in targets for p in noun_phrases(page, t)]


def _plain_adjective(page: Page, clause: Clause, head: Phrase, token: Any) -> Iterator[Draft]:
    if clause.verb.dep_ == "advcl" and clause.mood.past:
        return  # "when I was young": a circumstance
    general = clause.subject is not None and not clause.mood.past and _done_by_anyone(clause.subject)
    if token.lower_ in tables().praise and general:
        return
    text = words(
        page, [token, *(c for c in token.children if c.dep_ in {"npadvmod", "compound"} and c.i not in page.dated)]
    )
    if not text or token.lower_ in {
        "sure",
        "able",
        "ready",
        "welcome",
        "right",
        "okay",
        "ok",
        "sorry",
        "glad",
        "up",
        "off",
        "back",
        "down",
        "lucky",
        "fortunate",
        "capable",
    }:
        return
    if any(c.dep_ == "prep" and _led_away(c) for t in (token, clause.verb) for c in t.children):
        return  # "pets I'm not allergic to"
    if any(c.dep_ in {"xcomp", "ccomp"} and c.lemma_ in {"help", "hear", "see", "say"} for c in token.children):
        return  # "happy to help"
    feeling = head.type == "person" and (
        clause.lemma == "feel" or token.lemma_.lower() in tables().feelings or token.tag_ == "VBN"
    )
    if feeling:
        yield _draft(clause, head, "felt" if clause.mood.tense == "past" else "feels", Phrase(text, "feeling"), 0.3)
    elif clause.subject is not None and clause.subject.lower_ not in {"it", "this", "that", "you"}:
        if token.lower_ in tables().praise and any(c.lower_ in _POINTING for c in clause.subject.children):
            return
        judged = token.lower_ in tables().praise or head.type not in {"person", "animal"}
        yield _draft(clause, head, "is", Phrase(text), 0.15 if judged else 0.4, exact=True)


def _done_by_anyone(subject: Any) -> bool:
    """ "Taking time for yourself is crucial"."""
    return bool(subject.dep_ == "csubj" or subject.pos_ == "VERB" or subject.tag_ == "VBG")


def _led_away(preposition: Any) -> bool:
    """Its noun stands outside the clause."""
    return all(c.tag_ in {"WDT", "WP"} or c.lower_ == "that" for c in preposition.children)


def _preposition(page: Page, clause: Clause, head: Phrase, token: Any) -> Iterator[Draft]:
    relation = "works at" if _employed(page, clause, token) else _PLACES.get(token.lower_)
    if token.lower_ == "to" and clause.mood.tense == "perfect":
        relation = "visited"
    target = next((c for c in token.children if c.dep_ in {"pobj", "pcomp"}), None)
    if relation is None or target is None or target.i in page.dated or clause.children("acomp", "attr"):
        return
    if relation == "is on" and target.lemma_.lower() not in _ON:
        return
    for tail in noun_phrases(page, target, head.text):
        yield _draft(clause, head, relation, tail, 0.4 if token.lower_ in _WEAK_PREPOSITIONS else 0.7)


def _employed(page: Page, clause: Clause, preposition: Any) -> bool:
    """ "I've been at Siemens since 2018": at an organisation for so long is working there."""
    lasting = any(d.kind in {DateKind.SINCE, DateKind.DURATION} for d in dates_of(page, clause))
    named = any(c.ent_type_ == "ORG" and not _SCHOOLS.search(c.text) for c in preposition.children)
    return (
        clause.lemma == "be"
        and clause.mood.tense == "perfect"
        and preposition.lower_ in {"at", "with"}
        and (lasting and named)
    )


def _noun(page: Page, clause: Clause, head: Phrase, token: Any) -> Iterator[Draft]:
    subject = clause.subject
    favorite = next((c for c in token.children if c.lower_ in _FAVORITE), None)
    bound = {"friend": ("friends with", "with"), "member": ("member of", "of"), "part": ("part of", "of")}.get(
        token.lemma_.lower()
    )
    others = _objects_of(page, token, bound[1]) if bound else []
    yield from (_draft(clause, head, bound[0], p, 0.9) for p in others if bound and p.text != head.text)
    if others:
        return
    if favorite is not None:
        yield from _favorite_of(page, clause, head, token)
        return
    if token.i in page.dated or token.lower_ in tables().praise:
        return
    owner = _owner(page, token) if token.lemma_.lower() in _ATTRIBUTES and not _vaguely(subject) else None
    if owner is not None and owner.text != head.text:
        yield _draft(clause, owner, _attribute(token), head, 0.75)
        return
    if token.lemma_ in {"fan", "lover"} and (liked := _liked(page, token)):
        yield from (_draft(clause, head, "likes", p, 0.7) for p in liked)
        return
    tail = noun_phrase(page, token, head.text)
    if tail is None or tail.text == head.text or token.lemma_ in {"fan", "lover", "one"}:
        return
    if head.type == "person" and _is_job(token):
        yield _draft(clause, head, "occupation", Phrase(tail.text, "occupation"), 0.9)
    elif subject is not None and subject.lower_ not in {"it", "this", "that", "there"}:
        judged = any(c.lower_ in tables().praise for c in token.children) or subject.lower_ in SECOND
        yield _draft(clause, head, "is", tail, 0.15 if judged or subject.dep_ == "csubj" else 0.5)


def _introduced(noun: Any) -> bool:
    """A second thing that somebody is ("a nurse and a mother"), not one that "of" spoke of."""
    return noun.pos_ == "PROPN" or any(c.dep_ in {"det", "poss"} for c in noun.children)


def _is_job(token: Any) -> bool:
    lemma = token.lemma_.lower()
    article = any(c.dep_ == "det" and c.lower_ in {"a", "an", "the"} for c in token.children) or token.tag_ == "NNS"
    return article and (lemma in tables().occupations or bool(_SELF_NAMED.search(lemma)))


def _liked(page: Page, token: Any) -> list[Phrase]:
    of = _objects_of(page, token, "of")
    compound = [
        c for c in token.children if c.dep_ in {"compound", "amod"} and c.lower_ not in {"big", "huge", "great"}
    ]
    return of or [p for c in compound if (p := noun_phrase(page, c))]


def _favorite_of(page: Page, clause: Clause, head: Phrase, token: Any) -> Iterator[Draft]:
    """ "Pottery is my favorite hobby": (owner, favorite_hobby, pottery)."""
    owner = _owner(page, token)
    if owner is not None and head.text != owner.text:
        yield _draft(clause, owner, _favorite_relation(token), head, 0.9)


def _owner(page: Page, token: Any) -> Phrase | None:
    """Whose it is: "my main concern", "Tom's goal"."""
    poss = next((c for c in token.children if c.dep_ == "poss"), None)
    if poss is None:
        return None
    return page.scene.resolve(poss.text) if poss.tag_ == "PRP$" else noun_phrase(page, poss)


def _vaguely(subject: Any) -> bool:
    """ "That's my idea": says nothing of what it is."""
    return subject is None or subject.lower_ in {"it", "this", "that", "these", "those", "there", "what", "which"}


def _favorite_relation(token: Any) -> str:
    kind = [c.lower_ for c in token.children if c.dep_ in {"compound", "amod"} and c.lower_ not in _FAVORITE]
    noun = "" if token.lower_ in {"one", "thing", "things", "part", *_FAVORITE} else token.lemma_.lower()
    return " ".join(["favorite", *kind, noun]).strip()


def _of_possession(page: Page, clause: Clause) -> Iterator[Draft]:
    """ "My goal is to …", "her name is Ann", "my favorite book is X": the noun is the relation, the owner the head."""
    subject = clause.subject
    poss = next((c for c in subject.children if c.dep_ == "poss"), None) if subject is not None else None
    if poss is None or subject.lemma_.lower() in tables().pets:
        return
    if kin_of(subject.lemma_.lower())[0] and not names_someone(clause):
        return
    owner = page.scene.resolve(poss.text) if poss.tag_ == "PRP$" else noun_phrase(page, poss)
    if owner is None or not _attributes(clause, poss):
        return
    favorite = any(c.lower_ in _FAVORITE for c in subject.children)
    relation = _favorite_relation(subject) if favorite else _attribute(subject)
    for tail in _values(page, clause):
        yield _draft(clause, owner, relation, tail, 0.9 if favorite or relation == "named" else 0.75)


def _attributes(clause: Clause, poss: Any) -> bool:
    """Whether the owned noun is an attribute of its owner: a known one, or any of mine ("my car is a Tesla")."""
    subject = clause.subject
    if subject.lemma_.lower() in _ATTRIBUTES or kin_of(subject.lemma_.lower())[0]:
        return True
    if any(c.lower_ in _FAVORITE for c in subject.children):
        return True
    owned_too = any(g.dep_ == "poss" for c in clause.children("attr") for g in c.children)
    mine = poss.lower_ == "my" and clause.verb.dep_ != "relcl" and subject.tag_ == "NN"
    return mine and not owned_too and subject.lemma_.lower() not in {"family", "team", "being", "life", "heart"}


def names_someone(clause: Clause) -> bool:
    """ "My boss is John Smith"."""
    return any(t.pos_ == "PROPN" and t.ent_type_ == "PERSON" for t in clause.children("attr"))


def _attribute(subject: Any) -> str:
    if subject.lemma_.lower() == "name":
        return "named"
    if kin := kin_of(subject.lemma_.lower())[0]:
        return kin
    kind = [c.lower_ for c in subject.children if c.dep_ in {"compound", "amod"}]
    return " ".join([*kind, subject.lemma_.lower()])


def states_attribute(clause: Clause) -> bool:
    """ "My main concern is getting …": parsed as if the concern were getting something."""
    subject = clause.subject
    owned = subject is not None and any(c.dep_ == "poss" for c in subject.children)
    progressive = clause.verb.tag_ == "VBG" and any(c.lemma_ == "be" for c in clause.children("aux"))
    favorite = owned and any(c.lower_ in _FAVORITE for c in subject.children)
    return owned and progressive and (favorite or subject.lemma_.lower() in _ATTRIBUTES)


def read_attribute(page: Page, clause: Clause) -> Iterator[Draft]:
    """The facts of a clause that `states_attribute`."""
    subject = clause.subject
    owner = _owner(page, subject)
    favorite = any(c.lower_ in _FAVORITE for c in subject.children)
    phrase = verb_phrase(page, clause.verb, "gerund")
    if owner is not None and phrase is not None:
        first = phrase.text.split()[0]
        text = phrase.text.replace(first, clause.verb.text, 1) if clause.verb.text[0].isupper() else phrase.text
        relation = _favorite_relation(subject) if favorite else _attribute(subject)
        yield _draft(clause, owner, relation, Phrase(text), 0.85)


def _values(page: Page, clause: Clause) -> Iterator[Phrase]:
    for preposition in clause.children("prep"):
        said = [d.text for d in page.dates for t in preposition.children if d.span[0] <= t.idx < d.span[1]]
        yield from (Phrase(text, "date") for text in said[:1])
    for token in clause.children("attr", "xcomp", "dobj", "oprd"):
        if token.dep_ == "xcomp" or token.pos_ == "VERB":
            phrase = verb_phrase(page, token, "gerund" if token.tag_ == "VBG" else "base")
            if phrase is not None:
                yield phrase
        elif token.pos_ in {"NOUN", "PROPN", "NUM"}:
            dated = [d.text for d in page.dates if d.span[0] <= token.idx < d.span[1]]
            yield from ([Phrase(dated[0], "date")] if dated else noun_phrases(page, token))


def about_self(clause: Clause) -> bool:
    return clause.subject is not None and clause.subject.lower_ in FIRST


__all__ = ["about_self", "prepositional", "read_copula"]
