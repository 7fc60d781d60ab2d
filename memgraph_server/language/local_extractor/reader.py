"""A passage to drafts: sentence by sentence, clause by clause, keeping track of who was mentioned.

Rules: what is said to the listener in praise or thanks gives nothing; an exclamation or a fragment gives something only
when nothing else in the turn does (`leftovers`), since a turn with content must stay reachable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from memgraph_server.language.local_extractor.clauses import Clause, clauses
from memgraph_server.language.local_extractor.complements import does_something
from memgraph_server.language.local_extractor.copula import names_someone, read_attribute, states_attribute
from memgraph_server.language.local_extractor.drafts import Draft
from memgraph_server.language.local_extractor.matrix import ADVISED, used_to
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.phrases import conjuncts, noun_phrase, noun_phrases
from memgraph_server.language.local_extractor.requests import read_request
from memgraph_server.language.local_extractor.scene import FIRST, SECOND, Mentioned, Phrase, kin_of
from memgraph_server.language.local_extractor.tables import tables
from memgraph_server.language.local_extractor.timing import Manner
from memgraph_server.language.local_extractor.verbs import read_verb


def read_page(page: Page) -> list[Draft]:
    """All drafts of a passage, in the order of its sentences."""
    drafts: list[Draft] = []
    for sentence in page.sentences():
        found = list(_read_sentence(page, sentence))
        drafts += found
        remember(page, sentence)
    return drafts


def _read_sentence(page: Page, sentence: Any) -> Iterator[Draft]:
    request = read_request(page, sentence)
    if request is not None:
        yield from request
        return
    for clause in clauses(sentence):
        remember(page, sentence, clause.subject.i if clause.subject is not None else sentence.start)
        if clause.mood.unreal or clause.subject is None:
            continue
        heads = heads_of(page, clause)
        yield from _ties(page, clause)
        if states_attribute(clause):
            yield from read_attribute(page, clause)
            continue
        if not heads or _idle(clause):
            continue
        former = _formerly(clause)
        if former is not None:
            yield from used_to(page, clause, heads, former)
        else:
            weak = _general(clause)
            for draft in read_verb(page, clause, heads):
                yield replace(draft, salience=0.15) if weak else draft


def _general(clause: Clause) -> bool:
    """ "Taking care of yourself helps", "simple moments make memories": true of everybody, so of little use."""
    subject = clause.subject
    bare = subject.tag_ == "NNS" and not any(c.dep_ in {"det", "poss", "nummod"} for c in subject.children)
    return subject.dep_ == "csubj" or subject.pos_ == "VERB" or (bare and not subject.ent_type_)


def heads_of(page: Page, clause: Clause) -> list[Phrase]:
    """Whom or what the clause is about; [] where that is nothing or not understood."""
    subject = clause.subject
    if subject.lower_ in {"let", "lets"} or (subject.pos_ == "VERB" and not any(True for _ in subject.children)):
        return []
    if clause.verb.dep_ == "relcl" and subject.i == clause.verb.head.i and _of_the_clause(clause):
        return []
    if clause.verb.dep_ == "relcl" and subject.i == clause.verb.head.i and not _definite(subject):
        return []
    if (
        subject.pos_ in {"ADV", "ADJ", "INTJ", "X"}
        or subject.dep_ == "expl"
        or subject.tag_ in {"EX", "WP", "WDT", "DT"}
        or subject.pos_ == "DET"
    ):
        return []
    return noun_phrases(page, subject)


def _of_the_clause(clause: Clause) -> bool:
    """ "…, which is a relief": more often about what was said than about its last noun."""
    which = next((c for c in clause.verb.children if c.lower_ == "which"), None)
    return which is not None and which.i > 0 and which.nbor(-1).text == "," and clause.lemma in {"be", "make", "mean"}


def _definite(noun: Any) -> bool:
    """Known or named: "the painting that …", "my friend who …", not "friends who …"."""
    known = any(c.dep_ == "poss" or c.lower_ in {"the", "this", "that", "these", "those"} for c in noun.children)
    return known or noun.pos_ == "PROPN"


def _idle(clause: Clause) -> bool:
    """Praise, thanks and talk about the talk."""
    subject, lemma = clause.subject.lower_, clause.lemma
    if lemma in _TALKING and any(_of_our_talk(c) for c in clause.children("mark", "advmod", "prep")):
        return True
    if lemma == "wait" and clause.mood.negated:
        return False
    if lemma in tables().idle_verbs and not clause.children("prt"):
        return lemma not in _GOING_ON or not _goes_on(clause)
    return _about_listener(clause) or _vague(subject, lemma) or (lemma == "be" and _thanks(clause))


def _about_listener(clause: Clause) -> bool:
    subject = clause.subject.lower_
    advised = subject == "you" and clause.lemma in ADVISED
    can = subject in {"we", "you"} and clause.mood.modal == "can"
    return (subject in SECOND and _judged(clause) and not advised) or (can and not advised)


def _vague(subject: str, lemma: str) -> bool:
    pointing = subject in {"it", "this", "that", "these", "those"}
    return pointing and lemma in {"be", "mean", "sound", "feel", "take", "make", "get"}


def _goes_on(clause: Clause) -> bool:
    """ "talk to the mayor", "know how to cook": there is something to it beyond the verb."""
    if clause.lemma in {"know", "care", "see"} and clause.mood.negated:
        return False
    if clause.lemma == "do":
        return clause.subject.lower_ not in SECOND and does_something(clause.verb)
    if clause.lemma == "look" and clause.verb.tag_ in {"VB", "VBP"} and clause.verb.dep_ == "conj":
        return False  # "…, and look at my students": a command
    if clause.lemma == "think":
        return any(c.lower_ in {"about", "of"} for c in clause.children("prep"))
    objects = [o for p in clause.children("prep") for o in p.children if o.pos_ != "PRON"]
    if clause.lemma == "talk":
        return bool(objects)  # "we're talking real money" is no talk
    return bool(objects or clause.children("xcomp", "dobj"))


def _of_our_talk(token: Any) -> bool:
    return token.lower_ in {"since", "last", "when"}


def _judged(clause: Clause) -> bool:
    """ "You're doing an awesome job": said of the listener, with a word of praise or a verb of it."""
    praised = any(t.lower_ in tables().praise or t.lemma_.lower() in _PRAISED for t in clause.tokens)
    return praised or clause.lemma in {
        "be",
        "make",
        "rock",
        "inspire",
        "give",
        "show",
        "become",
        "do",
        "get",
        "take",
        "change",
        "mention",
    }


_TALKING = frozenset({"talk", "chat", "speak", "catch", "meet"})
_GOING_ON = frozenset("do hope look know see talk chat speak listen think hear ask care".split())
_PRAISED = frozenset("job heart work passion dedication strength courage attitude point way".split())


def _thanks(clause: Clause) -> bool:
    """ "I'm proud of you", "I'm glad you liked it"."""
    about_you = any(t.lower_ in SECOND for t in clause.tokens)
    complement = next(iter(clause.children("acomp")), None)
    to_do = complement is not None and any(c.dep_ == "xcomp" and c.tag_ == "VB" for c in complement.children)
    return complement is not None and about_you and not to_do and clause.subject.lower_ in FIRST


def _formerly(clause: Clause) -> Any:
    """The verb of "used to …"."""
    if clause.lemma == "use" and clause.verb.lower_ in {"used", "use"} and not clause.children("dobj"):
        return next((c for c in clause.verb.children if c.dep_ == "xcomp" and c.tag_ == "VB"), None)
    return None


def _ties(page: Page, clause: Clause) -> Iterator[Draft]:
    """ "my sister Anna" anywhere in a clause ties Anna to her owner."""
    seen: set[str] = set()
    for token in (*clause.tokens, clause.subject):
        relation = kin_of(token.lemma_.lower())[0] or ("has_pet" if token.lemma_.lower() in tables().pets else "")
        if not relation or token.pos_ not in {"NOUN", "PROPN"}:
            continue
        phrase = noun_phrase(page, token)
        if names_someone(clause) and token.i == clause.subject.i:
            continue
        if phrase is not None and phrase.owner and phrase.text not in seen and phrase.owner != phrase.text:
            seen.add(phrase.text)
            named = not phrase.text.startswith(phrase.owner)
            if not named and relation in _EVERYBODY_HAS:
                continue
            yield Draft(Phrase(phrase.owner, "person"), phrase.relation, phrase, 0.92, Manner.STATE, (token,),
                        salience=0.85 if named else 0.35)  # fmt: skip


#: That somebody has one of these is news only with a name.
_EVERYBODY_HAS = frozenset(
    "has_friend has_parent has_mother has_father has_colleague has_boss has_neighbor has_teacher has_coach "
    "has_grandmother has_grandfather".split()
)


def remember(page: Page, sentence: Any, until: int | None = None) -> None:
    """Note whom and what a sentence names, up to the token `until`, for the pronouns after it."""
    end = sentence.end if until is None else until
    for token in page.doc[max(page.read, sentence.start) : end]:
        page.read = token.i + 1
        if token.pos_ not in {"NOUN", "PROPN"} or token.i in page.dated or not _prominent(token):
            continue
        phrase = noun_phrase(page, token)
        if phrase is not None:
            page.scene.mention(_mentioned(token, phrase))


def _prominent(token: Any) -> bool:
    """A subject or object, or any person: what a pronoun may mean."""
    first = token
    while first.dep_ == "conj" and first.head.i != first.i:
        first = first.head
    if token.ent_type_ == "PERSON" and token.dep_ in {"npadvmod", "dep", "ROOT"}:
        return True
    if token.dep_ in {"compound", "npadvmod", "amod"} or token.lemma_.lower() in _NO_THINGS:
        return False
    if token.tag_ == "NNS" and first.dep_ in {"nsubj", "nsubjpass", "dobj"}:
        return True
    if token.dep_ == "conj" and not token.ent_type_ and token.lemma_.lower() not in _PEOPLE:
        return bool(kin_of(token.lemma_.lower())[0])
    if first.dep_ in {"nsubj", "nsubjpass"} and not token.ent_type_ and token.lemma_.lower() not in _PEOPLE:
        return bool(kin_of(token.lemma_.lower())[0]) or token.lemma_.lower() in tables().pets
    return first.dep_ not in {"pobj", "poss"} or token.ent_type_ == "PERSON" or bool(kin_of(token.lemma_.lower())[0])


_PEOPLE = frozenset(
    "family team girl boy man woman guy lady person child people kid baby doctor student customer couple stranger "
    "player fan crowd gang".split()
)
_NO_THINGS = frozenset(
    "woohoo woo yay wow haha prob problem worry thank thanks congrats luck way time heart pic job".split()
)


def _mentioned(token: Any, phrase: Phrase) -> Mentioned:
    gender = kin_of(token.lemma_.lower())[1]
    joined = len(conjuncts(token)) > 1
    plural = (token.tag_ in {"NNS", "NNPS"} and not joined) or token.lemma_.lower() in {"family", "team", "couple"}
    living = phrase.type in {"person", "animal"} or token.lemma_.lower() in _PEOPLE
    return Mentioned(phrase, gender, plural, living)
