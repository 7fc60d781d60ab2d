"""Tokens to the words of a head or tail: "the new LGBTQ support group I told you of" -> "new LGBTQ support group".

Rules: determiners, clauses and dates are left out; adjectives, compounds and up to two prepositional phrases stay; at
most ten words. A possessive pronoun becomes its owner's name, or goes where the owner is the head of the fact already.
A phrase whose pronoun is not understood is no phrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memgraph_server.language.local_extractor.inflect import gerund
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.scene import FIRST, Phrase, is_pronoun, kin_of, possessive
from memgraph_server.language.local_extractor.tables import tables
from memgraph_server.language.local_extractor.wording import KEPT_PREPOSITIONS, NAMED, WORDS, says_something, words

_TYPES = {
    "PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organization", "DATE": "date",
    "TIME": "date", "WORK_OF_ART": "work", "EVENT": "event", "PRODUCT": "product", "LANGUAGE": "language",
    "NORP": "group", "MONEY": "quantity", "QUANTITY": "quantity", "CARDINAL": "quantity", "PERCENT": "quantity",
}  # fmt: skip
_MODIFIERS = frozenset({"compound", "amod", "nummod", "nmod", "quantmod", "npadvmod", "advmod", "case"})
_LOOSE = frozenset(
    "so very really pretty just also even super quite actually only too such much enough rather especially always "
    "still already now then maybe perhaps probably definitely totally absolutely literally basically honestly".split()
)
_OF_NOUNS = frozenset(
    "lot lots bunch couple ton tons kind kinds sort sorts bit plenty number all some many most one both few "
    "rest".split()
)
#: Verbs that the parser takes for nouns in a list of things done.
_NOT_NOUNS = frozenset(
    {"have", "has", "go", "get", "make", "do", "be", "take", "back", "forth", "non", "de", "re", "co"}
)
_VERBAL = frozenset({"dobj", "prep", "xcomp", "prt", "ccomp", "acomp", "attr"})
#: Verbs that say nothing without their object.
_LIGHT = frozenset(
    "make get have take do be go come give put let keep see know hear say tell want need feel look think realize "
    "understand hope wonder become seem mean happen try like love find bring use".split()
)
#: Without what is made or given these say nothing, whatever else stands with them.
_NEEDING_OBJECT = frozenset({"make", "give", "let"})
_OBJECTS = frozenset({"dobj", "acomp", "oprd", "attr", "prt", "xcomp"})
_KEPT_ADVERBS = frozenset(
    "out back away together abroad online outside outdoors home up down off over around there alone "
    "professionally".split()
)


def conjuncts(token: Any) -> list[Any]:
    """The token and what is joined to it by "and", "or" and commas."""
    found, queue = [token], [token]
    while queue:
        joined = [c for c in queue.pop().children if c.dep_ == "conj"]
        found += joined
        queue += joined
    return sorted(found, key=lambda t: t.i)


def noun_phrase(page: Page, token: Any, head: str = "") -> Phrase | None:
    """The phrase of a noun, pronoun or gerund; None where it would be empty or not understood."""
    if is_pronoun(token):
        return page.scene.resolve(token.text)
    if token.tag_ == "VBG" and (token.pos_ == "AUX" or any(c.dep_ in _VERBAL for c in token.children)):
        return verb_phrase(page, token, "gerund")
    if any(g.tag_ == "WRB" for c in token.children for g in (c, *c.children)):
        return None
    inner = _quantified(token)
    return _of_noun(page, token, head) if inner is None else noun_phrase(page, inner, head)


def _of_noun(page: Page, token: Any, head: str) -> Phrase | None:
    called = _called(token)
    name = noun_phrase(page, called) if called is not None else None
    if name is not None:
        return Phrase(name.text, "animal" if token.lemma_.lower() in tables().pets else name.type)
    if token.lower_ in _NOT_NOUNS or (token.lower_ in tables().empty_nouns and not _has_content(token)):
        return None
    return _owned(page, token) or _named(page, token) or _plain(page, token, head)


def noun_phrases(page: Page, token: Any, head: str = "") -> list[Phrase]:
    phrases = [noun_phrase(page, t, head) for t in conjuncts(token) if t.pos_ != "DET"]
    return [p for p in phrases if p is not None and says_something(p.text)]


def verb_phrase(page: Page, verb: Any, form: str, *, words: int = WORDS) -> Phrase | None:
    """What a verb and its objects say: "adopting a child" (gerund), "adopt a child" (base)."""
    if verb.lemma_ == "go":
        activity = next((c for c in verb.children if c.tag_ == "VBG" and c.dep_ in {"xcomp", "dobj", "advcl"}), None)
        activity = activity or next((c for c in verb.children if c.dep_ == "dobj" and c.text.endswith("ing")), None)
        if activity is not None:
            return verb_phrase(page, activity, "gerund", words=words)
    lemma = _lemma(verb)
    parts = [_form(verb, lemma, form)]
    for child in sorted(verb.children, key=lambda c: c.i):
        piece = _complement(page, child)
        if piece is None:
            return None
        if piece and len(" ".join([*parts, piece]).split()) <= words:
            parts.append(piece)
    if lemma in _NEEDING_OBJECT and not any(c.dep_ in _OBJECTS and c.i > verb.i for c in verb.children):
        return None
    joined = same_object(verb) if len(parts) == 1 else None
    if joined is not None:
        inner = verb_phrase(page, joined, form, words=words)
        return inner and Phrase(f"{parts[0]} and {inner.text}", "activity")
    text = " ".join(parts)
    bare = len(parts) == 1 or (len(parts) == 2 and parts[1] in _KEPT_ADVERBS | KEPT_PREPOSITIONS)
    if bare and lemma not in _LIGHT:
        adverbs = (c for c in verb.children if c.dep_ == "advmod" and c.i > verb.i and c.text.endswith("ly"))
        manner = [str(c.lower_) for c in adverbs if c.lower_ not in parts]
        text = " ".join([text, *manner[:1]])
    return None if lemma in _LIGHT and bare else Phrase(text, "activity")


def same_object(verb: Any) -> Any:
    """The verb after "and" whose object is this verb's too: "guide and mentor aspiring dancers"."""
    after = [c for c in verb.children if c.dep_ == "conj" and c.i == verb.i + 2 and c.pos_ == "VERB"]
    return next((c for c in after if any(o.dep_ in {"dobj", "prep"} for o in c.children)), None)


def _form(verb: Any, lemma: str, form: str) -> str:
    if any(c.dep_ == "auxpass" and c.lemma_ == "get" for c in verb.children):
        return f"{'getting' if form == 'gerund' else 'get'} {verb.lower_}"
    if verb.tag_ == "VBN" and any(c.dep_ == "auxpass" and c.lemma_ == "be" for c in verb.children):
        return f"{'being' if form == 'gerund' else 'be'} {verb.lower_}"
    if form == "gerund":
        return str(verb.lower_) if verb.tag_ == "VBG" else gerund(lemma)
    return lemma


def type_of(token: Any) -> str:
    if kin_of(token.lemma_.lower())[0]:
        return "person"
    if token.lemma_.lower() in tables().pets:
        return "animal"
    if token.tag_ == "VBG":
        return "activity"
    return _TYPES.get(token.ent_type_, "") if token.pos_ in {"PROPN", "NUM"} or token.ent_type_ == "DATE" else ""


def _lemma(verb: Any) -> str:
    lemma = {"hoping": "hope", "hoped": "hope"}.get(verb.lower_, verb.lemma_.lower())
    if verb.pos_ == "NOUN" and lemma.endswith("ing"):
        return {"swimming": "swim", "running": "run"}.get(lemma, re.sub(r"ing$", "", lemma))
    return str(lemma)


def _complement(page: Page, child: Any) -> str | None:
    """A complement's words, "" where it adds nothing, None where it needs a pronoun nobody understands."""
    dep = child.dep_
    if child.i in page.dated:
        return ""
    if dep in {"dobj", "attr", "oprd"} or (dep == "dative" and child.pos_ != "ADP"):
        return _listed(page, child)
    if dep in {"prep", "dative", "agent"}:
        return prepositional(page, child)
    if dep == "xcomp" and child.pos_ in {"VERB", "AUX"}:
        inner = verb_phrase(page, child, "gerund" if child.tag_ == "VBG" else "base", words=6)
        return None if inner is None else ("to " if child.tag_ != "VBG" else "") + inner.text
    return _adverbial(page, child)


def _adverbial(page: Page, child: Any) -> str:
    if child.dep_ == "acomp":
        return words(page, [child, *(c for c in child.children if c.dep_ == "advmod" and c.lower_ not in _LOOSE)])
    kept = child.dep_ == "prt" or (child.dep_ == "advmod" and child.lower_ in _KEPT_ADVERBS)
    return str(child.lower_) if kept else ("not" if child.dep_ == "neg" else "")


def _listed(page: Page, token: Any) -> str | None:
    phrases = [noun_phrase(page, t) for t in conjuncts(token)]
    if phrases[0] is None:
        return None if is_pronoun(token) else words(page, list(_members(page, token, 1, "")))
    return " and ".join(p.text for p in phrases[:3] if p is not None)


def prepositional(page: Page, preposition: Any) -> str | None:
    """ "at a bakery" without its article; "" for dates and for objects that say nothing."""
    target = next((c for c in preposition.children if c.dep_ in {"pobj", "pcomp", "prep"}), None)
    if target is None or target.i in page.dated:
        return ""
    if target.dep_ == "prep":
        inner = prepositional(page, target)
        return inner and f"{preposition.lower_} {inner}"
    if target.dep_ == "pcomp" and target.tag_ not in {"VBG", "NN", "NNS"}:
        return ""
    phrase = verb_phrase(page, target, "gerund", words=6) if target.tag_ == "VBG" else noun_phrase(page, target)
    return f"{preposition.lower_} {phrase.text}" if phrase is not None else ""


def _quantified(token: Any) -> Any:
    """ "a lot of support" is about support."""
    if token.lower_ not in _OF_NOUNS:
        return None
    of = next((c for c in token.children if c.dep_ == "prep" and c.lower_ == "of"), None)
    return next((c for c in of.children if c.dep_ == "pobj"), None) if of is not None else None


def _has_content(token: Any) -> bool:
    return any(c.dep_ in {"compound", "amod", "nmod"} and c.lower_ not in tables().praise for c in token.children)


def _owned(page: Page, token: Any) -> Phrase | None:
    """ "my sister" -> "Ann's sister", "my sister Anna" -> "Anna", each tied to its owner."""
    relation, _ = kin_of(token.lemma_.lower())
    pet = token.lemma_.lower() in tables().pets
    owner = _owner(page, token)
    if not (relation or pet) or not owner[:1].isupper():
        return None
    relation = relation or "has_pet"
    name = next((c for c in token.children if c.dep_ in {"appos", "compound"} and c.pos_ == "PROPN"), None)
    if token.pos_ == "PROPN" and token.ent_type_ == "PERSON":
        name = None
    kind = "person" if relation != "has_pet" else "animal"
    if name is not None and name.i > token.i:
        return Phrase(words(page, list(_members(page, name, 0, ""))), kind, owner, relation)
    described = words(
        page, [t for t in _members(page, token, 2, owner) if t.dep_ not in {"poss", "case"} or t.i == token.i]
    )
    return Phrase(f"{possessive(owner)} {described}", kind, owner, relation)


def _called(token: Any) -> Any:
    """The name in "a book called Dune"."""
    naming = (c for c in token.children if c.dep_ == "acl" and c.lemma_ in {"call", "name", "title"})
    names = (n for c in naming for n in c.children if n.dep_ in {"oprd", "dobj", "attr", "npadvmod"})
    return next((n for n in names if n.pos_ == "PROPN"), None)


def _owner(page: Page, token: Any) -> str:
    poss = next((c for c in token.children if c.dep_ == "poss"), None)
    if poss is None:
        return ""
    if poss.tag_ == "PRP$":
        owner = page.scene.resolve(poss.text)
        return owner.text if owner else ""
    phrase = noun_phrase(page, poss)
    return phrase.text if phrase else ""


def _named(page: Page, token: Any) -> Phrase | None:
    """A name as the recognizer or quotation marks delimit it."""
    entity = next((e for e in page.doc.ents if e.start <= token.i < e.end and e.label_ in NAMED), None)
    if entity is None or token.pos_ != "PROPN" or entity.root.i != token.i:
        return None
    text = re.sub(r"^(?:the|a|an|my)\s+|'s$|\s+'s$", "", entity.text.strip(" .,!?\"'"), flags=re.IGNORECASE)
    if entity.label_ == "PERSON":
        text = page.scene.person(text)
    return Phrase(text, _TYPES[entity.label_]) if len(text.split()) <= WORDS else None


def _plain(page: Page, token: Any, head: str) -> Phrase | None:
    members = list(_members(page, token, 0, head))
    text = words(page, members)
    if token.pos_ == "PROPN":
        text = page.scene.person(text)
    return Phrase(text, type_of(token)) if says_something(text) else None


def _members(page: Page, token: Any, depth: int, head: str) -> Iterator[Any]:
    yield token
    for child in token.children:
        if child.i in page.dated and child.dep_ not in {"compound", "nummod"}:
            continue
        if child.dep_ in _MODIFIERS and child.lower_ not in _LOOSE:
            yield from (t for t in child.subtree if t.dep_ != "det" and (t.lower_ not in _LOOSE or _hyphenated(t)))
        elif child.dep_ == "poss" and child.tag_ != "PRP$":
            yield from (t for t in child.subtree if t.dep_ != "det")
        elif (child.dep_ == "poss" and child.lower_ not in FIRST) or (child.dep_ == "punct" and _glued(child)):
            yield child
        elif child.dep_ == "prep" and depth < 2 and child.i > token.i and child.lower_ in KEPT_PREPOSITIONS:
            yield from _prepositional_members(page, child, depth, head)


def _prepositional_members(page: Page, preposition: Any, depth: int, head: str) -> Iterator[Any]:
    target = next((c for c in preposition.children if c.dep_ in {"pobj", "pcomp"}), None)
    if target is None or target.i in page.dated or is_pronoun(target):
        return
    if target.lower_ in tables().empty_nouns and not _has_content(target):
        return
    if target.dep_ == "pcomp" and target.tag_ != "VBG":
        return
    yield preposition
    if target.pos_ in {"VERB", "AUX"}:
        if target.tag_ != "VBG":
            return
        yield from (t for t in target.subtree if t.dep_ not in {"det", "punct"} and t.i not in page.dated)
        return
    for joined in conjuncts(target)[:3]:
        yield from _members(page, joined, depth + 1, head)
        yield from (c for c in joined.children if c.dep_ == "cc")


def _hyphenated(token: Any) -> bool:
    return (not token.whitespace_ and token.i + 1 < len(token.doc) and token.nbor(1).text == "-") or (
        token.i > 0 and token.nbor(-1).text == "-" and not token.nbor(-1).whitespace_
    )


def _glued(token: Any) -> bool:
    before = token.nbor(-1) if token.i > token.sent.start else None
    return token.text in {"-", "/", "&"} and not token.whitespace_ and before is not None and not before.whitespace_
