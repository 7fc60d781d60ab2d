"""A passage to drafts: sentence by sentence, clause by clause, keeping track of who was mentioned.

Rules: what is said to the listener in praise or thanks gives nothing; an exclamation or a fragment gives something only
when nothing else in the turn does (`leftovers`), since a turn with content must stay reachable.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memgraph_server.language.local_extractor.clauses import Clause, asks, clauses
from memgraph_server.language.local_extractor.drafts import Draft
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.phrases import conjuncts, noun_phrase, noun_phrases
from memgraph_server.language.local_extractor.scene import FIRST, SECOND, Mentioned, Phrase, kin_of
from memgraph_server.language.local_extractor.tables import tables
from memgraph_server.language.local_extractor.timing import Manner
from memgraph_server.language.local_extractor.verbs import read_verb, recommended, used_to

_SUGGESTIONS = frozenset({"try", "check", "read", "watch", "visit", "consider", "download", "use"})


def read_page(page: Page) -> list[Draft]:
    """All drafts of a passage, in the order of its sentences."""
    drafts: list[Draft] = []
    for sentence in page.doc.sents:
        found = list(_read_sentence(page, sentence))
        drafts += found
        remember(page, sentence)
    return drafts


def _read_sentence(page: Page, sentence: Any) -> Iterator[Draft]:
    for clause in clauses(sentence):
        if clause.mood.unreal:
            continue
        if clause.subject is None:
            yield from _command(page, clause)
            continue
        heads = heads_of(page, clause)
        yield from _ties(page, clause)
        if not heads or _idle(clause):
            continue
        former = _formerly(clause)
        if former is not None:
            yield from used_to(page, clause, heads, former)
        else:
            yield from read_verb(page, clause, heads)


def heads_of(page: Page, clause: Clause) -> list[Phrase]:
    """Whom or what the clause is about; [] where that is nothing or not understood."""
    subject = clause.subject
    if subject.dep_ == "expl" or subject.tag_ in {"EX", "WP", "WDT", "DT"} or subject.pos_ == "DET":
        return []
    return noun_phrases(page, subject)


def _command(page: Page, clause: Clause) -> Iterator[Draft]:
    """ "Check out the Blue Door": a recommendation by whoever says it."""
    if (
        clause.verb.tag_ == "VB"
        and clause.verb.dep_ == "ROOT"
        and clause.lemma in _SUGGESTIONS
        and not clause.mood.negated
    ):
        speaker = Phrase(page.scene.speaker, "person")
        yield from recommended(page, clause, speaker, clause.verb)


def _idle(clause: Clause) -> bool:
    """Praise, thanks and talk about the talk."""
    subject, lemma = clause.subject.lower_, clause.lemma
    if lemma in tables().idle_verbs and not clause.children("prt"):
        return lemma not in {"hope", "think", "look", "know", "see", "deserve"} or not _goes_on(clause)
    if subject in SECOND:
        return lemma in {"be", "make", "get", "have", "rock", "inspire", "give"} and _judges(clause)
    if subject in {"it", "this", "that", "these", "those"}:
        return lemma in {"be", "mean", "sound", "feel", "take", "make", "get"}
    return lemma == "be" and _thanks(clause)


def _goes_on(clause: Clause) -> bool:
    return bool(clause.children("xcomp", "prep"))


def _judges(clause: Clause) -> bool:
    complements = clause.children("acomp", "attr", "dobj", "ccomp", "xcomp")
    return bool(complements) or clause.lemma != "have"


def _thanks(clause: Clause) -> bool:
    """ "I'm proud of you", "I'm glad you liked it"."""
    about_you = any(t.lower_ in SECOND for t in clause.tokens)
    complement = next(iter(clause.children("acomp")), None)
    return complement is not None and about_you and clause.subject.lower_ in FIRST


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
        if phrase is not None and phrase.owner and phrase.text not in seen and phrase.owner != phrase.text:
            seen.add(phrase.text)
            named = not phrase.text.startswith(phrase.owner)
            yield Draft(Phrase(phrase.owner, "person"), phrase.relation, phrase, 0.92, Manner.STATE, (token,),
                        salience=0.85 if named else 0.35)  # fmt: skip


def remember(page: Page, sentence: Any) -> None:
    """Note whom and what a sentence names, for the pronouns after it."""
    for token in sentence:
        if (
            token.pos_ not in {"NOUN", "PROPN"}
            or token.dep_ in {"compound", "npadvmod", "amod"}
            or token.i in page.dated
        ):
            continue
        if token.dep_ == "pobj" and token.ent_type_ != "PERSON" and not kin_of(token.lemma_.lower())[0]:
            continue
        phrase = noun_phrase(page, token)
        if phrase is not None:
            page.scene.mention(_mentioned(token, phrase))


def _mentioned(token: Any, phrase: Phrase) -> Mentioned:
    gender = kin_of(token.lemma_.lower())[1]
    joined = len(conjuncts(token)) > 1
    plural = (token.tag_ in {"NNS", "NNPS"} and not joined) or token.lemma_.lower() in {"family", "team", "couple"}
    living = phrase.type in {"person", "animal"} or token.lemma_.lower() in {"family", "team"}
    return Mentioned(phrase, gender, plural, living)


def leftovers(page: Page) -> list[Draft]:
    """What a passage that stated nothing is about: the best thing it names, said by its speaker."""
    best: list[tuple[float, Any, Phrase]] = []
    speaker = Phrase(page.scene.speaker, "person")
    for sentence in page.doc.sents:
        if asks(sentence):
            continue
        for token in sentence:
            if token.pos_ in {"NOUN", "PROPN"} and token.dep_ not in {"compound", "npadvmod", "intj"}:
                phrase = noun_phrase(page, token, speaker.text)
                if phrase is not None and _worth(page, token, phrase):
                    best.append((_weight(token, phrase), token, phrase))
    best.sort(key=lambda each: (-each[0], each[1].i))
    return [
        Draft(speaker, "mentioned", phrase, 0.9, Manner.EVENT, (token,), salience=0.1) for _, token, phrase in best[:1]
    ]


def _worth(page: Page, token: Any, phrase: Phrase) -> bool:
    names = {page.scene.speaker.lower(), page.scene.listener.lower()}
    lemma = token.lemma_.lower()
    return phrase.text.lower() not in names and lemma not in {
        "thank",
        "thanks",
        "congrat",
        "congrats",
        "luck",
        "wow",
        "hey",
    }


def _weight(token: Any, phrase: Phrase) -> float:
    role = {"dobj": 3.0, "nsubj": 2.5, "pobj": 2.0, "attr": 1.5, "ROOT": 1.5}.get(token.dep_, 1.0)
    return role + (2.0 if phrase.type else 0.0) + 0.3 * min(3, len(phrase.text.split()))
