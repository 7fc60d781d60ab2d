"""Verbs that take a verb, and what is planned, wished and advised.

| said                              | fact                                                          |
|-----------------------------------|---------------------------------------------------------------|
| I want to adopt a child           | (I, wants_to, adopt a child)                                  |
| I'm thinking about going camping  | (I, considers, camping), hedged                               |
| I started taking pottery classes  | (I, started, taking pottery classes)                          |
| I stopped eating meat             | (I, stopped, eating meat) and an ending of (I, eats, meat)    |
| I'll move to Rome                 | (I, plans_to, move to Rome), and (I, lives_in, Rome) hedged   |
| You should try the Blue Door      | (speaker, recommends, Blue Door)                              |
| I used to live in Rome            | (I, used_to_live_in, Rome) and an ending of (I, lives_in, …)  |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memgraph_server.language.local_extractor.clauses import Clause
from memgraph_server.language.local_extractor.complements import does_something, objects_of, prepositional_tails
from memgraph_server.language.local_extractor.drafts import Draft
from memgraph_server.language.local_extractor.moods import PLAIN, Mood
from memgraph_server.language.local_extractor.naming import entry_of, present
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.phrases import conjuncts, noun_phrases, verb_phrase
from memgraph_server.language.local_extractor.scene import FIRST, SECOND, Phrase
from memgraph_server.language.local_extractor.tables import MatrixEntry, tables
from memgraph_server.language.local_extractor.timing import Manner
from memgraph_server.memory.facts import Polarity

_TRYING = frozenset("try check read watch visit see use consider get explore download".split())
_PARTICLES = frozenset("out up on in back away down off over together there around home".split())
#: "You should receive an email" is what to expect.
_NO_ADVICE = frozenset("be have feel receive get notice expect find".split())
#: "You can use coconut oil": what people advise each other to do with things.
ADVISED = frozenset("use try add substitute swap replace check".split())
_HAPPENING = frozenset({"started", "stopped", "finished", "decided_to", "promised_to", "agreed_to"})
_NO_PLAN = frozenset("be have get do let need want love like make try see know keep".split())
_IN_THE_PAST = {
    "wants_to": "wanted to", "plans_to": "planned to", "needs_to": "needed to", "tries_to": "tried to",
    "hopes_to": "hoped to", "learns_to": "learned to", "considers": "considered", "continues": "continued",
    "likes": "liked", "loves": "loved", "enjoys": "enjoyed", "prefers": "preferred", "dislikes": "disliked",
    "misses": "missed", "looks_forward_to": "looked forward to", "dreams_of": "dreamed of", "looks_into": "looked into",
}  # fmt: skip


def read_matrix(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft] | None:
    """The facts of a clause of this kind; None where it is of another kind."""
    verb, mood = clause.verb, clause.mood
    future = _future_verb(verb, mood)
    if future is not None:
        return _plan(page, clause, head, future)
    if mood.modal in {"should", "must", "would"}:
        return _advice_or_wish(page, clause, head)
    if mood.modal in {"could", "can", "might"} and clause.subject.lower_ in SECOND:
        return _offered(page, clause, verb)
    inner = _inner_verb(verb, clause.particle)
    return _taken(page, clause, head, *inner) if inner is not None else None


def _future_verb(verb: Any, mood: Mood) -> Any:
    """The verb that is to come: "will paint", "going to paint"."""
    going = verb.dep_ == "conj" and verb.tag_ == "VB" and _joined_to_going(verb)
    if mood.tense == "future" or (going and not mood.modal):
        return verb
    if mood.progressive and mood.tense == "present" and _starts_something(verb):
        return verb
    if verb.lower_ in {"going", "gon"} and mood.tense == "present":
        return next((c for c in verb.children if c.dep_ == "xcomp" and c.tag_ == "VB"), None)
    return None


def _joined_to_going(verb: Any) -> bool:
    """ "going to chat with them, get support and gather ideas"."""
    while verb.dep_ in {"conj", "xcomp"} and verb.head.i != verb.i:
        verb = verb.head
        if verb.lower_ in {"going", "gon"}:
            return True
    return False


def _starts_something(verb: Any) -> bool:
    """ "I'm moving to Rome": still to come."""
    prepositions = [str(c.lower_) for c in verb.children if c.dep_ == "prep"]
    entries = (entry_of(verb.lemma_.lower(), p) for p in ["", *prepositions])
    return any(e is not None and e.kind == "start" for e in entries)


def _plan(page: Page, clause: Clause, head: Phrase, verb: Any) -> Iterator[Draft]:
    if head.type != "person" or clause.mood.negated or clause.subject.lower_ in SECOND:
        return
    for one in conjuncts(verb):
        idle = one.lemma_ in _NO_PLAN or one.lemma_ in tables().idle_verbs
        if (one.tag_ != "VB" and one is not verb) or (idle and not (one.lemma_ == "do" and does_something(one))):
            continue
        tail = verb_phrase(page, one, "base")
        if tail is not None and len(tail.text.split()) > 1:
            certainty = min(clause.mood.certainty, 0.9)
            says = len([w for w in tail.text.split() if w not in _PARTICLES]) > 1
            yield Draft(head, "plans to", tail, certainty, Manner.PLAN, clause.tokens, salience=0.7 if says else 0.15)
            yield from _foreseen(page, clause, head, one)


def _foreseen(page: Page, clause: Clause, head: Phrase, verb: Any) -> Iterator[Draft]:
    """ "I'll move to Rome": beside the plan, a speculation that it comes about."""
    for preposition, tails in prepositional_tails(page, verb, head):
        entry = entry_of(verb.lemma_.lower(), preposition)
        if entry is not None and entry.kind == "start":
            for tail in tails:
                yield Draft(head, entry.relation, tail, 0.6, Manner.COMING, clause.tokens, salience=0.6)


def _advice_or_wish(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    verb, modal = clause.verb, clause.mood.modal
    if modal == "would":
        if verb.lemma_ in {"love", "like"} and not clause.mood.negated and clause.subject.lower_ not in SECOND:
            for relation, tail in _wished(page, verb, head):
                yield Draft(head, relation, tail, 0.85, Manner.PLAN, clause.tokens, salience=0.6)
        return
    if clause.subject.lower_ in SECOND:
        if modal == "must" and verb.lemma_.lower() not in _TRYING:
            return  # a rule or a story rather than advice
        yield from recommended(page, clause, verb)
        return
    tail_phrase = verb_phrase(page, verb, "base")
    if tail_phrase is None or len(tail_phrase.text.split()) < 2 or verb.lemma_ in tables().idle_verbs:
        return
    if clause.subject.lower_ in {"i", "we"} and clause.lemma not in {"be", "have"} and not clause.mood.negated:
        yield Draft(head, "needs to", tail_phrase, 0.75, Manner.PLAN, clause.tokens, salience=0.4)


def recommended(page: Page, clause: Clause, verb: Any, relation: str = "recommends") -> Iterator[Draft]:
    """ "You should try the Blue Door": the speaker recommends it."""
    if clause.mood.negated or verb.lemma_ in {*tables().idle_verbs, *_NO_ADVICE}:
        return
    if any(c.dep_ == "poss" and c.lower_ in FIRST for o in objects_of(verb) for c in o.children):
        return
    inner = _inner_verb(verb, "")
    verb = inner[1][0] if inner is not None else verb
    tails = [p for o in objects_of(verb) for p in noun_phrases(page, o)] if verb.lemma_ in _TRYING else []
    phrase = verb_phrase(page, verb, "gerund")
    if phrase is not None and len(phrase.text.split()) < 2:
        phrase = None
    for tail in tails or ([phrase] if phrase is not None else []):
        shown = tail.text.lower().split()[-1] in {"pic", "pics", "photo", "photos", "picture", "one"}
        if tail.text not in {page.scene.speaker, page.scene.listener} and not shown:
            speaker = Phrase(page.scene.speaker, "person")
            yield Draft(speaker, relation, tail, PLAIN, Manner.EVENT, clause.tokens, salience=0.6)


def recommended_by_command(page: Page, verb: Any) -> Iterator[Draft]:
    """ "Check out the Blue Door": a recommendation by whoever says it; other commands say nothing."""
    if verb.lemma_.lower() in _TRYING - {"get", "see"} and not any(c.dep_ == "neg" for c in verb.children):
        clause = Clause(verb, None, Mood("present"))
        yield from recommended(page, clause, verb)


def _offered(page: Page, clause: Clause, verb: Any) -> Iterator[Draft]:
    """ "You could use servo motors": a suggestion, when an assistant says it."""
    if page.scene.speaker == "Assistant" or (clause.lemma in ADVISED and verb.dep_ == "ROOT" and objects_of(verb)):
        yield from recommended(page, clause, verb, "suggested")


def _wished(page: Page, verb: Any, head: Phrase) -> Iterator[tuple[str, Phrase]]:
    inner = next((c for c in verb.children if c.dep_ in {"xcomp", "ccomp"} and c.tag_ == "VB"), None)
    if inner is not None and any(c.dep_ == "nsubj" and c.lower_ not in FIRST for c in inner.children):
        return
    for one in conjuncts(inner) if inner is not None else []:
        phrase = verb_phrase(page, one, "base")
        if phrase is not None and one.lemma_ not in {*tables().idle_verbs, "be"}:
            yield "wants to", phrase
    if inner is None:
        yield from (("wants", p) for o in objects_of(verb) for p in noun_phrases(page, o, head.text))


def _inner_verb(verb: Any, particle: str) -> tuple[MatrixEntry, list[Any]] | None:
    """The entry and the verbs of "want to …", "thinking about …ing", "stopped …ing"."""
    for child in verb.children:
        preposition, inner = "", None
        is_verb = child.dep_ in {"xcomp", "ccomp"} and child.pos_ == "VERB" and not _has_subject(child)
        if is_verb or (child.dep_ == "dobj" and child.tag_ == "VBG"):
            inner = child
        elif child.dep_ == "prep":
            preposition = str(child.lower_)
            inner = next((c for c in child.children if c.dep_ in {"pcomp", "pobj"} and c.tag_ == "VBG"), None)
        lemma = {"hoping": "hope", "hoped": "hope"}.get(verb.lower_, verb.lemma_.lower())
        key = " ".join(w for w in (lemma, particle, preposition) if w)
        if inner is not None and key in tables().matrix:
            return tables().matrix[key], conjuncts(inner)
    return None


def _has_subject(verb: Any) -> bool:
    return any(c.dep_ in {"nsubj", "nsubjpass"} for c in verb.children)


def _taken(page: Page, clause: Clause, head: Phrase, entry: MatrixEntry, inner: list[Any]) -> Iterator[Draft]:
    mood = clause.mood
    certainty = min(1.0, mood.certainty * entry.certainty / PLAIN)
    for verb in inner:
        tail = verb_phrase(page, verb, entry.form)
        if tail is None or verb.lemma_ in tables().idle_verbs or (verb.lemma_ in {"make", "be"} and _says_little(tail)):
            continue
        if entry.relation in _HAPPENING and mood.modal:
            continue  # "so I can finally start feeling better"
        if len(tail.text.split()) == 1 and clause.verb.dep_ == "relcl":
            continue  # "places I want to visit": what is visited is in the noun
        manner = _manner(entry, mood)
        relation = _IN_THE_PAST.get(entry.relation, entry.relation) if manner is Manner.EVENT else entry.relation
        if mood.negated or mood.ended:
            relation = "dislikes" if relation in {"likes", "loves", "enjoys"} else f"not {relation}"
        yield Draft(head, relation, tail, certainty, manner, clause.tokens, salience=0.75)
        if entry.ends and not mood.negated and mood.past:
            yield from ended(page, clause, head, verb)


def _says_little(tail: Phrase) -> bool:
    return len(tail.text.split()) < 3


def _manner(entry: MatrixEntry, mood: Mood) -> Manner:
    if mood.tense == "past" or entry.relation in _HAPPENING:
        return Manner.EVENT
    return Manner.PLAN if entry.form == "base" else Manner.STATE


def ended(page: Page, clause: Clause, head: Phrase, verb: Any) -> Iterator[Draft]:
    """The endings of "stopped eating meat", "don't eat meat any more", "used to live in Rome"."""
    pairs = _what(page, verb, head)
    if not pairs and (phrase := verb_phrase(page, verb, "gerund")) is not None:
        tail = Phrase(phrase.text.replace(" not", ""), "activity")
        certainty = clause.mood.certainty
        yield Draft(head, "does", tail, certainty, Manner.EVENT, clause.tokens, Polarity.ENDING, 0.7, exact=True)
    for more, tail in pairs[:3]:
        relation = present(verb, *more.split())
        yield Draft(head, relation, tail, clause.mood.certainty, Manner.EVENT, clause.tokens, Polarity.ENDING, 0.8)


def used_to(page: Page, clause: Clause, heads: list[Phrase], verb: Any) -> Iterator[Draft]:
    """ "I used to live in Rome": (I, used_to_live_in, Rome), and an ending of living there, by now."""
    for head in heads:
        pairs = _what(page, verb, head)
        for more, tail in pairs:
            relation = " ".join(w for w in ("used to", verb.lemma_.lower(), more) if w)
            yield Draft(head, relation, tail, clause.mood.certainty, Manner.PAST_STATE, clause.tokens, salience=0.8)
        if not pairs and (phrase := verb_phrase(page, verb, "base")):
            yield Draft(head, "used to", phrase, clause.mood.certainty, Manner.PAST_STATE, clause.tokens, salience=0.7)
        yield from ended(page, clause, head, verb)


def _what(page: Page, verb: Any, head: Phrase) -> list[tuple[str, Phrase]]:
    """(particle and preposition, tail) of a verb's objects, else of its prepositional phrases."""
    particle = next((str(c.lower_) for c in verb.children if c.dep_ == "prt"), "")
    pairs = [(particle, p) for o in objects_of(verb) for p in noun_phrases(page, o, head.text)]
    if pairs:
        return pairs
    phrases = prepositional_tails(page, verb, head)
    return [(f"{particle} {preposition}".strip(), t) for preposition, tails in phrases for t in tails]
