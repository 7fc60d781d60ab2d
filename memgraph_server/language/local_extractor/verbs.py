"""What other verbs say: their objects, and what they are done with and to.

Rules, the first that fits: what is planned, wished or advised, and verbs that take a verb, are read by `matrix`; an
ending ("left Acme") also ends the relation it ends; an object is the tail (that of a relative clause is its noun:
"the book I read"); without one, what the preposition leads to is; without either, the activity itself ("she paints").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memgraph_server.language.local_extractor.clauses import Clause
from memgraph_server.language.local_extractor.complements import (
    causative_of,
    dates_of,
    objects_of,
    prepositional_tails,
    stranded,
)
from memgraph_server.language.local_extractor.copula import LINKING, read_copula
from memgraph_server.language.local_extractor.drafts import Draft
from memgraph_server.language.local_extractor.matrix import ended, read_matrix
from memgraph_server.language.local_extractor.naming import entry_of, name
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.phrases import noun_phrases, same_object, verb_phrase
from memgraph_server.language.local_extractor.scene import Phrase
from memgraph_server.language.local_extractor.tables import tables
from memgraph_server.language.local_extractor.timing import Manner
from memgraph_server.memory.facts import Polarity

_WORK_NOUNS = frozenset({"job", "work", "company", "position", "firm", "career", "role"})
#: With an object there already, a second fact for what these lead to, if it is named.
_COMPANIONS = frozenset({"with", "for", "from", "to", "at", "in"})
_NAMED_TYPES = frozenset({"person", "place", "organization"})
_NO_ACTIVITY = frozenset(
    "have get go come want try make take need start begin end find give put turn use bring lead stick speak help "
    "mean work keep push happen grow hang stay manage improve continue".split()
)


_PONDERING = frozenset({"consider", "contemplate", "ponder"})
#: Verbs whose "to" and "from" say as much as their object.
_CARRYING = frozenset({"take", "bring", "send", "drive", "invite", "donate", "move"})
_CARRIED = frozenset({"to", "from", "into", "for", "on"})
#: With "me" as their object these say nothing by themselves ("dedication got me here").
_LIGHT_ON_ME = frozenset("get keep bring make take give put leave do have let see hit".split())
#: Nouns that are had by everybody; with no more than "nice" or "similar" before them they say nothing.
_COMMON = frozenset(
    "experience experiences time moment moments feeling idea chance day thing adventure opportunity laugh blast ride "
    "impact influence detail details possibility possibilities option options information progress situation way "
    "challenge challenges result results shot try go look pic photo picture hang point gist".split()
)
_HAD_BY_ALL = frozenset(
    "friends family people faith fun doubt doubts work coffee task list energy patience kids children parents".split()
)
_SAYING_LITTLE = frozenset("similar same different such own new little whole real".split())


def read_verb(page: Page, clause: Clause, heads: list[Phrase]) -> Iterator[Draft]:
    """Facts of a clause about each head."""
    if clause.lemma in LINKING and (clause.lemma == "be" or not clause.children("dobj")):
        yield from read_copula(page, clause, heads)
        return
    for head in heads:
        yield from _wedding(page, clause, head) if clause.lemma == "get" else ()
        yield from _read(page, clause, head)


def _wedding(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    """ "I got married to Tom": the start of a status and of a tie."""
    for adjective in clause.children("acomp", "oprd"):
        status = tables().marital.get(adjective.lower_)
        if status is None or clause.mood.negated or not clause.mood.past:
            continue
        yield from _said(clause, head, "relationship status", [Phrase(status)], Manner.START)
        for preposition, tails in prepositional_tails(page, adjective, head):
            yield from _said(clause, head, f"{status} {preposition}", tails, Manner.START)


def _read(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    if clause.passive:
        yield from _passive(page, clause, head)
        return
    if clause.lemma == "wait" and clause.mood.negated and clause.mood.modal == "can":
        yield from _awaited(page, clause, head)
        return
    if clause.lemma in {"name", "call"} and clause.children("oprd"):
        yield from _christened(page, clause)
        return
    found = read_matrix(page, clause, head)
    if found is not None:
        yield from found
    elif (caused := causative_of(page, clause)) is not None:
        relation, tail = caused
        manner = Manner.EVENT if clause.mood.past else Manner.STATE
        yield Draft(head, relation, tail, clause.mood.certainty, manner, clause.tokens, salience=0.5)
    elif clause.mood.ended:
        yield from _no_longer(page, clause, head)
    else:
        yield from _plain(page, clause, head)


def _christened(page: Page, clause: Clause) -> Iterator[Draft]:
    """ "I named her Tilly"; calling somebody on the phone is left to other sentences."""
    names = [p for o in clause.children("oprd") if o.pos_ == "PROPN" for p in noun_phrases(page, o)]
    whom = [p for o in objects_of(clause.verb) for p in noun_phrases(page, o)]
    for one in whom[:1]:
        yield from _said(clause, one, "named", names[:1], Manner.STATE)


def _awaited(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    """ "I can't wait for the concert": looking forward to it."""
    tails = [p for word, phrases in prepositional_tails(page, clause.verb, head) if word == "for" for p in phrases]
    verbs = (verb_phrase(page, c, "gerund") for c in clause.children("xcomp"))
    for tail in [*tails, *(v for v in verbs if v is not None and len(v.text.split()) > 1)]:
        if tail.text in {"hearing more", "seeing more", "knowing more"}:
            continue
        yield Draft(head, "looks forward to", tail, 0.92, Manner.PLAN, clause.tokens, salience=0.6)


def _plain(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    dated = any(d.placed for d in dates_of(page, clause))
    tails, more = _tails(page, clause, head)
    for tail in tails:
        yield from _with_tail(clause, head, (clause.particle, *more), tail, dated)
    any_tail = bool(tails)
    for preposition, objects in prepositional_tails(page, clause.verb, head):
        carried = clause.lemma in _CARRYING and preposition in _CARRIED and _led_somewhere(preposition, objects)
        if tails and not (_companions(preposition, objects) or carried):
            continue
        if not tails and (objects_of(clause.verb) or clause.lemma == "have"):
            continue  # "the times you've had with it"
        for tail in objects:
            any_tail = True
            yield from _with_tail(clause, head, (clause.particle, *preposition.split()), tail, dated)
    if not any_tail and verb_stands_alone(clause) and same_object(clause.verb) is None:
        yield from _activity(page, clause, head)


def verb_stands_alone(clause: Clause) -> bool:
    """Not part of a noun ("something I enjoy") or of a circumstance ("while I write")."""
    described = any(c.dep_ in {"advmod", "prep"} for c in clause.verb.children)
    return clause.verb.dep_ not in {"relcl", "advcl"} and (described or entry_of(clause.lemma) is None)


def _tails(page: Page, clause: Clause, head: Phrase) -> tuple[list[Phrase], tuple[str, ...]]:
    """Objects, or the noun of a relative clause that has no object of its own, with its stranded preposition."""
    tails = [p for o in objects_of(clause.verb) for p in noun_phrases(page, o, head.text)]
    if tails or clause.gap is None or objects_of(clause.verb):
        return tails, ()
    unknown = any(c.lower_ in {"a", "an", "some", "any"} for c in clause.gap.children)
    told = [p for p in noun_phrases(page, clause.gap, head.text) if p.type or not unknown or " " in p.text]
    return told, stranded(clause.verb)


def _companions(preposition: str, objects: list[Phrase]) -> bool:
    return preposition in _COMPANIONS and any(o.type in _NAMED_TYPES for o in objects)


def _led_somewhere(preposition: str, objects: list[Phrase]) -> bool:
    """ "Took her to the vet", "sent it for Tom"; not "took notes for my own writing"."""
    return preposition not in {"for", "on"} or any(o.type in _NAMED_TYPES for o in objects)


def _with_tail(clause: Clause, head: Phrase, more: tuple[str, ...], tail: Phrase, dated: bool) -> Iterator[Draft]:
    verb, mood = clause.verb, clause.mood
    if tail.text == head.text or _unable(clause) or _light_on_me(clause, tail) or _common(tail):
        return
    if clause.lemma == "have" and tail.text.lower() in _HAD_BY_ALL:
        return
    named = name(verb, mood, head, *more, dated=dated)
    entry = entry_of(clause.lemma, *more)
    salience = 0.8 if tail.type or entry is not None else 0.6
    relation, certainty = named.relation, mood.certainty * (0.65 if clause.lemma in _PONDERING else 1.0)
    if clause.lemma in {"have", "own"} and tail.type == "animal" and relation in {"has", "owns"}:
        relation = "has pet"
    draft = Draft(head, relation, tail, certainty, named.manner, clause.tokens, salience=salience)
    yield draft
    if entry is not None and entry.ends and mood.past and not mood.negated:
        yield from _ending(draft, tail, entry.ends)


def _light_on_me(clause: Clause, tail: Phrase) -> bool:
    objects = [o.lower_ for o in objects_of(clause.verb)]
    return clause.lemma in _LIGHT_ON_ME and tail.type == "person" and bool(set(objects) & {"me", "us"})


def _common(tail: Phrase) -> bool:
    """ "a similar experience", "a great time"."""
    *before, noun = tail.text.lower().split()
    return noun in _COMMON and all(w in _SAYING_LITTLE or w in tables().praise for w in before)


def _unable(clause: Clause) -> bool:
    """ "I can't show you": no fact, unless it is about what somebody cannot take."""
    lasting = {"eat", "drink", "stand", "tolerate", "digest", "swim", "drive"}
    if (clause.mood.modal == "could" and clause.lemma == "use") or (clause.mood.modal and clause.lemma == "do"):
        return True  # "I could use some help" is a wish
    return clause.mood.negated and clause.mood.modal in {"can", "could"} and clause.lemma not in lasting


def _ending(draft: Draft, tail: Phrase, ends: str) -> Iterator[Draft]:
    """ "left Acme" ends working there; "quit my job" ends whatever job there was."""
    job = bool(set(tail.text.lower().split()) & _WORK_NOUNS)
    if ends == "works_at" and not (job or tail.type == "organization" or tail.text[:1].isupper()):
        return
    yield replace(draft, relation=ends, tail=None if job else tail, polarity=Polarity.ENDING, manner=Manner.EVENT)


def _no_longer(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    phrase = verb_phrase(page, clause.verb, "gerund")
    if phrase is not None:
        tail = Phrase(phrase.text.replace(" not", ""), "activity")
        yield Draft(head, "stopped", tail, clause.mood.certainty, Manner.EVENT, clause.tokens, salience=0.8)
    yield from ended(page, clause, head, clause.verb)


def _activity(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    """A verb without an object: (she, does, painting)."""
    verb, mood = clause.verb, clause.mood
    if (
        verb.tag_ == "MD"
        or verb.lower_.startswith("had")
        or clause.lemma in {*tables().idle_verbs, *LINKING, *_NO_ACTIVITY, "should", "would"}
    ):
        return
    shared_participle = verb.dep_ == "conj" and verb.tag_ == "VBN"
    if mood.negated or mood.modal or shared_participle or objects_of(verb) or clause.children("ccomp", "xcomp"):
        return
    phrase = verb_phrase(page, verb, "gerund")
    if phrase is not None and head.type in {"person", "animal"}:
        relation, manner = (
            ("did", Manner.EVENT)
            if mood.past and not (mood.tense == "perfect" and mood.progressive)
            else ("does", Manner.STATE)
        )
        alone = len(phrase.text.split()) == 1 and (mood.progressive or mood.past)
        salience = 0.15 if alone else 0.4
        yield Draft(head, relation, phrase, mood.certainty, manner, clause.tokens, salience=salience, exact=True)


def _passive(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    """ "He is called Max", "I got married", "I was promoted to manager"."""
    verb, mood = clause.verb, clause.mood
    manner = Manner.EVENT if mood.past else Manner.STATE
    if verb.lemma_ == "bear" and mood.past:
        manner = Manner.START  # where and when somebody was born stays true
    if verb.lemma_ in {"call", "name"}:
        for o in clause.children("oprd", "attr", "dobj"):
            yield from _said(clause, head, "named", noun_phrases(page, o), Manner.STATE)
        return
    if verb.lemma_ == "marry":
        start = Manner.START if mood.past else Manner.STATE
        yield from _said(clause, head, "relationship status", [Phrase("married")], start)
    for preposition, tails in prepositional_tails(page, verb, head):
        if verb.lemma_ == "bear":
            relation = f"born {preposition}"
        else:
            relation = f"{'not ' if mood.negated else ''}{'was' if mood.past else 'is'} {verb.lower_} {preposition}"
        yield from _said(clause, head, relation, tails, manner)
    if verb.lemma_ == "bear":
        born = [Phrase(d.text, "date") for d in dates_of(page, clause) if d.placed]
        yield from _said(clause, head, "born on", born[:1], manner)


def _said(clause: Clause, head: Phrase, relation: str, tails: list[Phrase], manner: Manner) -> Iterator[Draft]:
    for tail in tails:
        yield Draft(head, relation, tail, clause.mood.certainty, manner, clause.tokens, salience=0.8)
