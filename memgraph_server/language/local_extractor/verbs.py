"""What other verbs say: their objects, what they are done with and to, and the verbs they take.

Rules, the first that fits: a verb that takes a verb ("started taking pottery classes") relates its subject to that
activity; an ending ("left Acme", "stopped smoking") also ends the relation it ends; an object is the tail; without
one, what the preposition leads to is; without either, the activity itself ("she paints": does, painting).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from memgraph_server.language.local_extractor.clauses import Clause
from memgraph_server.language.local_extractor.copula import read_copula
from memgraph_server.language.local_extractor.drafts import Draft
from memgraph_server.language.local_extractor.moods import Mood
from memgraph_server.language.local_extractor.naming import entry_of, name, present
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.phrases import conjuncts, noun_phrases, verb_phrase
from memgraph_server.language.local_extractor.scene import FIRST, Phrase
from memgraph_server.language.local_extractor.tables import MatrixEntry, tables
from memgraph_server.language.local_extractor.timing import Manner
from memgraph_server.memory.facts import Polarity

_LINKING = frozenset({"be", "become", "feel", "turn", "stay", "remain"})
_WORK_NOUNS = frozenset({"job", "work", "company", "position", "firm", "career", "role"})
_COMPANIONS = frozenset({"with", "for", "from", "to", "at", "in"})


def read_verb(page: Page, clause: Clause, heads: list[Phrase]) -> Iterator[Draft]:
    """Facts of a clause about each head."""
    if clause.lemma in _LINKING and not clause.children("dobj"):
        yield from read_copula(page, clause, heads)
        if clause.lemma == "be":
            return
    for head in heads:
        yield from _read(page, clause, head)


def _read(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    verb, mood = clause.verb, clause.mood
    if clause.passive:
        yield from _passive(page, clause, head)
        return
    future = _future_verb(verb, mood)
    if future is not None:
        yield from _plan(page, clause, head, future)
    elif mood.modal in {"should", "must", "would"}:
        yield from _advice_or_wish(page, clause, head)
    elif (inner := _inner_verb(verb, clause.particle)) is not None:
        yield from _matrix(page, clause, head, *inner)
    else:
        yield from _plain(page, clause, head, verb, mood)


def _future_verb(verb: Any, mood: Mood) -> Any:
    """The verb that is to come: "will paint", "going to paint"."""
    if mood.tense == "future":
        return verb
    if verb.lower_ in {"going", "gon"} and mood.tense == "present":
        return next((c for c in verb.children if c.dep_ == "xcomp" and c.tag_ == "VB"), None)
    return None


def _plan(page: Page, clause: Clause, head: Phrase, verb: Any) -> Iterator[Draft]:
    if head.type != "person" or verb.lemma_ in tables().idle_verbs or clause.mood.negated:
        return
    for one in conjuncts(verb):
        if one.tag_ != "VB" and one is not verb:
            continue
        tail = verb_phrase(page, one, "base")
        if tail is not None and one.lemma_ not in {"be", "have"} and len(tail.text.split()) > 1:
            certainty = clause.mood.certainty
            yield Draft(head, "plans to", tail, min(certainty, 0.9), Manner.PLAN, clause.tokens, salience=0.7)
            yield from _foreseen(page, clause, head, one)


def _foreseen(page: Page, clause: Clause, head: Phrase, verb: Any) -> Iterator[Draft]:
    """ "I'll move to Rome": beside the plan, a speculation that it comes about."""
    for preposition, tails in _prepositional_tails(page, verb, head):
        entry = entry_of(verb.lemma_.lower(), preposition)
        if entry is not None and entry.kind == "start":
            for tail in tails:
                yield Draft(head, entry.relation, tail, 0.6, Manner.COMING, clause.tokens, salience=0.6)


def _advice_or_wish(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    verb, modal = clause.verb, clause.mood.modal
    if modal == "would":
        if verb.lemma_ in {"love", "like"}:
            for relation, tail in _wished(page, verb, head):
                yield Draft(head, relation, tail, 0.85, Manner.PLAN, clause.tokens, salience=0.6)
        return
    tail_phrase = verb_phrase(page, verb, "base")
    if tail_phrase is None or len(tail_phrase.text.split()) < 2 or verb.lemma_ in {*tables().idle_verbs, "be", "have"}:
        return
    if clause.subject is not None and clause.subject.lower_ == "you":
        speaker = Phrase(page.scene.speaker, "person")
        yield from recommended(page, clause, speaker, verb)
    elif modal == "must" or clause.subject is None or clause.subject.lower_ in FIRST:
        yield Draft(head, "needs to", tail_phrase, 0.75, Manner.PLAN, clause.tokens, salience=0.4)


def recommended(page: Page, clause: Clause, speaker: Phrase, verb: Any) -> Iterator[Draft]:
    """ "You should try the Blue Door": the speaker recommends it."""
    tails = [p for o in _objects(verb) for p in noun_phrases(page, o, "")] if verb.lemma_ in _TRYING else []
    phrase = verb_phrase(page, verb, "gerund")
    for tail in tails or ([phrase] if phrase is not None else []):
        if tail.text not in {page.scene.speaker, page.scene.listener}:
            yield Draft(speaker, "recommends", tail, clause.mood.certainty, Manner.STATE, clause.tokens, salience=0.6)


_TRYING = frozenset({"try", "check", "read", "watch", "visit", "see", "use", "consider", "get"})


def _wished(page: Page, verb: Any, head: Phrase) -> Iterator[tuple[str, Phrase]]:
    inner = next((c for c in verb.children if c.dep_ in {"xcomp", "ccomp"} and c.tag_ == "VB"), None)
    for one in conjuncts(inner) if inner is not None else []:
        phrase = verb_phrase(page, one, "base")
        if phrase is not None and one.lemma_ not in {*tables().idle_verbs, "be"}:
            yield "wants to", phrase
    if inner is None:
        yield from (("wants", p) for o in _objects(verb) for p in noun_phrases(page, o, head.text))


def _inner_verb(verb: Any, particle: str) -> tuple[MatrixEntry, list[Any]] | None:
    """The entry and the verbs of "want to …", "thinking about …ing", "stopped …ing"."""
    matrix = tables().matrix
    for child in verb.children:
        preposition, inner = "", None
        if (child.dep_ in {"xcomp", "ccomp"} and child.pos_ == "VERB" and not _has_subject(child)) or (
            child.dep_ == "dobj" and child.tag_ == "VBG"
        ):
            inner = child
        elif child.dep_ == "prep":
            preposition = child.lower_
            inner = next((c for c in child.children if c.dep_ in {"pcomp", "pobj"} and c.tag_ == "VBG"), None)
        key = " ".join(w for w in (verb.lemma_.lower(), particle, preposition) if w)
        if inner is not None and key in matrix:
            return matrix[key], conjuncts(inner)
    return None


def _has_subject(verb: Any) -> bool:
    return any(c.dep_ in {"nsubj", "nsubjpass"} for c in verb.children)


_IN_THE_PAST = {
    "wants_to": "wanted to", "plans_to": "planned to", "needs_to": "needed to", "tries_to": "tried to",
    "hopes_to": "hoped to", "learns_to": "learned to", "considers": "considered", "continues": "continued",
    "likes": "liked", "loves": "loved", "enjoys": "enjoyed", "prefers": "preferred", "dislikes": "disliked",
    "misses": "missed", "looks_forward_to": "looked forward to", "dreams_of": "dreamed of", "looks_into": "looked into",
}  # fmt: skip


def _matrix(page: Page, clause: Clause, head: Phrase, entry: MatrixEntry, inner: list[Any]) -> Iterator[Draft]:
    mood = clause.mood
    certainty = min(mood.certainty, 1.0) * entry.certainty / 0.92
    for verb in inner:
        tail = verb_phrase(page, verb, entry.form)
        if tail is None or (verb.lemma_ in {"see", "hear", "say", "be", "do"} and len(tail.text.split()) < 3):
            continue
        relation = entry.relation
        if mood.negated or mood.ended:
            relation = "dislikes" if relation in {"likes", "loves", "enjoys"} else f"not {relation}"
        manner = _matrix_manner(entry, mood)
        if manner is Manner.EVENT:
            relation = _IN_THE_PAST.get(relation, relation)
        yield Draft(head, relation, tail, certainty, manner, clause.tokens, salience=0.75)
        if entry.ends and not mood.negated and mood.past:
            yield from _ended(page, clause, head, verb)


def _matrix_manner(entry: MatrixEntry, mood: Mood) -> Manner:
    if mood.tense == "past":
        return Manner.EVENT
    if entry.relation in {"started", "stopped", "finished", "decided_to", "promised_to", "agreed_to"}:
        return Manner.EVENT
    return Manner.PLAN if entry.form == "base" else Manner.STATE


def _ended(page: Page, clause: Clause, head: Phrase, verb: Any) -> Iterator[Draft]:
    """The endings of "stopped eating meat", "don't eat meat any more", "used to live in Rome"."""
    particle = next((c.lower_ for c in verb.children if c.dep_ == "prt"), "")
    found = [(particle, p) for o in _objects(verb) for p in noun_phrases(page, o, head.text)]
    if not found:
        found = [
            (f"{particle} {prep}".strip(), t) for prep, tails in _prepositional_tails(page, verb, head) for t in tails
        ]
    for more, tail in found[:3]:
        relation = present(verb, *more.split())
        yield Draft(head, relation, tail, clause.mood.certainty, Manner.EVENT, clause.tokens, Polarity.ENDING, 0.8)


def used_to(page: Page, clause: Clause, heads: list[Phrase], verb: Any) -> Iterator[Draft]:
    """ "I used to live in Rome": (I, used_to_live_in, Rome), and an ending of living there, by now."""
    particle = next((c.lower_ for c in verb.children if c.dep_ == "prt"), "")
    for head in heads:
        pairs = [(particle, p) for o in _objects(verb) for p in noun_phrases(page, o, head.text)]
        if not pairs:
            pairs = [(prep, t) for prep, tails in _prepositional_tails(page, verb, head) for t in tails]
        for more, tail in pairs:
            relation = " ".join(["used to", verb.lemma_.lower(), more]).strip()
            yield Draft(head, relation, tail, clause.mood.certainty, Manner.EVENT, clause.tokens, salience=0.8)
        if not pairs and (phrase := verb_phrase(page, verb, "base")):
            yield Draft(head, "used to", phrase, clause.mood.certainty, Manner.EVENT, clause.tokens, salience=0.7)
        yield from _ended(page, clause, head, verb)


def _plain(page: Page, clause: Clause, head: Phrase, verb: Any, mood: Mood) -> Iterator[Draft]:
    dated = any(d.placed for d in dates_of(page, clause))
    tails = [p for o in _objects(verb) for p in noun_phrases(page, o, head.text)]
    prepositions = _prepositional_tails(page, verb, head)
    if mood.ended:
        yield from _no_longer(page, clause, head, verb)
        return
    for tail in tails:
        yield from _with_tail(clause, head, (clause.particle,), tail, dated)
    for preposition, objects in prepositions:
        if tails and (
            preposition not in _COMPANIONS or not any(o.type in {"person", "place", "organization"} for o in objects)
        ):
            continue
        if not tails and _objects(verb):
            continue
        for tail in objects:
            yield from _with_tail(clause, head, (clause.particle, *preposition.split()), tail, dated)
    if not tails and not any(o for _, o in prepositions):
        yield from _activity(page, clause, head, verb, mood)


def _with_tail(clause: Clause, head: Phrase, more: tuple[str, ...], tail: Phrase, dated: bool) -> Iterator[Draft]:
    verb, mood = clause.verb, clause.mood
    if tail.text == head.text:
        return
    named = name(verb, mood, *more, dated=dated)
    entry = entry_of(verb.lemma_.lower(), *more)
    salience = 0.8 if tail.type or entry is not None else 0.6
    draft = Draft(head, named.relation, tail, mood.certainty, named.manner, clause.tokens, salience=salience)
    yield draft
    if entry is not None and entry.ends and mood.past and not mood.negated:
        yield from _ending(draft, entry.ends)


def _ending(draft: Draft, ends: str) -> Iterator[Draft]:
    """ "left Acme" ends working there; "quit my job" ends whatever job there was."""
    tail = draft.tail
    assert tail is not None  # noqa: S101 - drafts of verbs have a tail
    job = bool(set(tail.text.lower().split()) & _WORK_NOUNS)
    if ends == "works_at" and not (job or tail.type == "organization"):
        return
    yield replace(draft, relation=ends, tail=None if job else tail, polarity=Polarity.ENDING, manner=Manner.EVENT)


def _no_longer(page: Page, clause: Clause, head: Phrase, verb: Any) -> Iterator[Draft]:
    phrase = verb_phrase(page, verb, "gerund")
    if phrase is not None:
        tail = Phrase(phrase.text.replace(" not", ""), "activity")
        yield Draft(head, "stopped", tail, clause.mood.certainty, Manner.EVENT, clause.tokens, salience=0.8)
    yield from _ended(page, clause, head, verb)


def _activity(page: Page, clause: Clause, head: Phrase, verb: Any, mood: Mood) -> Iterator[Draft]:
    """A verb without an object: (she, does, painting)."""
    if verb.lemma_ in {
        *tables().idle_verbs,
        *_LINKING,
        "have",
        "get",
        "go",
        "come",
        "want",
        "try",
        "make",
        "take",
        "need",
    }:
        return
    if mood.negated or _objects(verb) or clause.children("ccomp", "xcomp"):
        return
    phrase = verb_phrase(page, verb, "gerund")
    if phrase is not None and head.type in {"person", "animal"}:
        relation, manner = ("did", Manner.EVENT) if mood.past and not mood.progressive else ("does", Manner.STATE)
        yield Draft(head, relation, phrase, mood.certainty, manner, clause.tokens, salience=0.4)


def _passive(page: Page, clause: Clause, head: Phrase) -> Iterator[Draft]:
    """ "I was promoted to manager", "he is called Max", "they were adopted by us"."""
    verb, mood = clause.verb, clause.mood
    if verb.lemma_ in {"call", "name"}:
        for o in clause.children("oprd", "attr", "dobj"):
            yield from (
                Draft(head, "named", p, mood.certainty, Manner.STATE, clause.tokens, salience=0.9)
                for p in noun_phrases(page, o)
            )
        return
    if verb.lemma_ == "marry":
        yield Draft(
            head, "relationship status", Phrase("married"), mood.certainty, Manner.STATE, clause.tokens, salience=0.9
        )
    for preposition, tails in _prepositional_tails(page, verb, head):
        for tail in tails:
            relation = f"{'was' if mood.past else 'is'} {verb.lower_} {preposition}"
            if mood.negated:
                relation = f"not {relation}"
            manner = Manner.EVENT if mood.past else Manner.STATE
            yield Draft(head, relation, tail, mood.certainty, manner, clause.tokens, salience=0.6)


def _objects(verb: Any) -> list[Any]:
    return [c for c in verb.children if c.dep_ == "dobj"]


def _prepositional_tails(page: Page, verb: Any, head: Phrase) -> list[tuple[str, list[Phrase]]]:
    found = []
    for preposition in (
        c for c in verb.children if c.dep_ in {"prep", "agent", "dative"} and c.pos_ in {"ADP", "SCONJ"}
    ):
        inner = next((c for c in preposition.children if c.dep_ == "prep"), None)
        name_of = f"{preposition.lower_} {inner.lower_}" if inner is not None else preposition.lower_
        holder = inner if inner is not None else preposition
        targets = [c for c in holder.children if c.dep_ in {"pobj", "pcomp"} and c.i not in page.dated]
        tails = [p for t in targets if t.pos_ != "SCONJ" for p in noun_phrases(page, t, head.text)]
        if tails and name_of not in {
            "as",
            "like",
            "because of",
            "because",
            "since",
            "before",
            "after",
            "during",
            "until",
        }:
            found.append((name_of, tails))
    return found


def dates_of(page: Page, clause: Clause) -> list[Any]:
    """The dates among the clause's own words."""
    places = [t.idx for t in clause.tokens]
    return [d for d in page.dates if any(d.span[0] <= place < d.span[1] for place in places)]
