"""What stands with a verb: its objects, its prepositional phrases, the noun of a relative clause, its dates."""

from __future__ import annotations

from typing import Any

from memgraph_server.language.local_extractor.clauses import Clause
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.phrases import conjuncts, noun_phrases, verb_phrase
from memgraph_server.language.local_extractor.scene import FIRST, Phrase
from memgraph_server.memory.dates.mention import DateMention

#: Prepositions whose phrase is no tail: time, manner and cause.
_CIRCUMSTANCE = frozenset(
    "as like because since before after during until without despite than except per unlike besides".split()
) | {"because of", "instead of", "due to"}
#: Nouns of time and manner: "in my free time" is no place.
_TIMES = frozenset(
    "time day week month year morning evening night moment weekend end case way fact general addition meantime "
    "process future past long first last once least most all hurry person".split()
)
_CAUSATIVES = {"make": ("makes", "made"), "help": ("helps", "helped"), "let": ("lets", "let"),
               "inspire": ("inspires", "inspired"), "encourage": ("encourages", "encouraged"),
               "remind": ("reminds", "reminded"), "motivate": ("motivates", "motivated"),
               "teach": ("teaches", "taught"), "allow": ("allows", "allowed")}  # fmt: skip


def objects_of(verb: Any) -> list[Any]:
    return [c for c in verb.children if c.dep_ == "dobj"]


#: Done by everybody: "my best", "a great job".
_NO_DOING = frozenset("job thing best good lot work stuff part well favor favour bit deal way something more".split())


def does_something(verb: Any) -> bool:
    """ "doing kickboxing", "did an analysis"; not "did my best"."""
    objects = [o for o in objects_of(verb) if o.pos_ in {"NOUN", "PROPN"}]
    return any(o.lemma_.lower() not in _NO_DOING for o in objects)


def prepositional_tails(page: Page, verb: Any, head: Phrase) -> list[tuple[str, list[Phrase]]]:
    """(preposition, what it leads to) for each phrase of the verb that is no date and no circumstance."""
    found: list[tuple[str, list[Phrase]]] = []
    for adverb in (c for c in verb.children if c.dep_ == "advmod" and c.lower_ in {"back", "out", "away", "over"}):
        for inner in (c for c in adverb.children if c.dep_ == "prep"):
            led = [p for t in inner.children if t.dep_ == "pobj" for p in noun_phrases(page, t, head.text)]
            found += [(f"{adverb.lower_} {inner.lower_}", led)] if led else []
    for preposition in (
        c for c in verb.children if c.dep_ in {"prep", "agent", "dative"} and c.pos_ in {"ADP", "SCONJ"}
    ):
        inner = next((c for c in preposition.children if c.dep_ == "prep"), None)
        words = f"{preposition.lower_} {inner.lower_}" if inner is not None else str(preposition.lower_)
        holder = inner if inner is not None else preposition
        targets = [
            c for c in holder.children if c.dep_ == "pobj" or (c.dep_ == "pcomp" and c.tag_ == "VBG" and words != "by")
        ]
        targets = [t for t in targets if t.i not in page.dated and t.lemma_.lower() not in _TIMES]
        tails = [p for t in targets for p in noun_phrases(page, t, head.text)]
        if tails and words not in _CIRCUMSTANCE:
            found.append((words, tails))
    return found


def stranded(verb: Any) -> tuple[str, ...]:
    """The preposition left at the end of "the people I work with"."""
    return tuple(str(c.lower_) for c in verb.children if c.dep_ == "prep" and not any(True for _ in c.children))[:1]


def dates_of(page: Page, clause: Clause) -> list[DateMention]:
    """The dates among the clause's own words."""
    places = [t.idx for t in clause.tokens]
    return [d for d in page.dates if any(d.span[0] <= place < d.span[1] for place in places)]


def _made_to_feel(page: Page, clause: Clause, forms: tuple[str, str]) -> tuple[str, Phrase] | None:
    """ "made me so calm and peaceful"."""
    adjective = next((c for c in clause.children("ccomp", "oprd", "acomp") if c.pos_ == "ADJ"), None)
    around = [*clause.children("dobj", "nsubj"), *(adjective.children if adjective is not None else ())]
    if clause.lemma != "make" or adjective is None or not any(c.lower_ in {"me", "us"} for c in around):
        return None
    feelings = " and ".join(str(t.lower_) for t in conjuncts(adjective)[:2])
    return forms[1] if clause.mood.past else forms[0], Phrase(f"{page.scene.speaker} {feelings}")


def causative_of(page: Page, clause: Clause) -> tuple[str, Phrase] | None:
    """ "made me feel accepted": ("made", "Ann feel accepted")."""
    forms = _CAUSATIVES.get(clause.lemma)
    inner = next((c for c in clause.children("ccomp", "xcomp") if c.pos_ in {"VERB", "AUX"}), None)
    if forms is not None and inner is None:
        return _made_to_feel(page, clause, forms)
    if forms is None or inner is None or inner.i < clause.verb.i:
        return None
    whom = next((c for c in inner.children if c.dep_ in {"nsubj", "nsubjpass"}), None)
    whom = whom if whom is not None else next(iter(objects_of(clause.verb)), None)
    if whom is None or whom.lower_ not in FIRST:
        return None
    phrase = verb_phrase(page, inner, "base", words=8)
    relation = forms[1] if clause.mood.past else forms[0]
    return (relation, Phrase(f"{page.scene.speaker} {phrase.text}")) if phrase is not None else None
