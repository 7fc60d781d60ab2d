"""What a user asks an assistant for: "Write me a story about …", "Can you help with my résumé?".

Only said to an assistant, and only by a command or a question to it; people who talk to each other ask all the time.
A request is a fact about what was asked, and no instruction: nothing is done about it here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memgraph_server.language.local_extractor.drafts import Draft
from memgraph_server.language.local_extractor.matrix import recommended_by_command
from memgraph_server.language.local_extractor.moods import PLAIN
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.phrases import noun_phrases, verb_phrase
from memgraph_server.language.local_extractor.scene import Phrase
from memgraph_server.language.local_extractor.timing import Manner

_GIVING = frozenset(
    "write give create show tell make generate provide send draft list suggest recommend find prepare build "
    "design produce compose share".split()
)
_ASKING = _GIVING | frozenset(
    "help explain plan summarize summarise translate compare describe analyze analyse rewrite edit fix check review "
    "improve outline calculate convert walk guide add include remove update change schedule remind book".split()
)
_WILLING = frozenset({"can", "could", "would", "will"})


def read_request(page: Page, sentence: Any) -> Iterator[Draft] | None:
    """The facts of a command or a request; None for a sentence that is neither."""
    verb = sentence.root
    subject = next((c for c in verb.children if c.dep_ in {"nsubj", "nsubjpass", "expl", "csubj"}), None)
    if subject is None and verb.tag_ == "VB" and not any(c.lower_ == "to" for c in verb.children if c.dep_ == "aux"):
        asked = _to_assistant(page) and verb.lemma_.lower() in _ASKING
        if asked or _to_assistant(page):
            return _asked(page, verb) if asked else iter(())
        return recommended_by_command(page, verb)
    asking = "?" in sentence.text[-3:] and subject is not None and subject.lower_ == "you"
    willing = any(c.dep_ == "aux" and c.lower_ in _WILLING for c in verb.children)
    if asking and willing and _to_assistant(page) and verb.lemma_.lower() in _ASKING:
        return _asked(page, verb)
    return None


def _to_assistant(page: Page) -> bool:
    return page.scene.listener == "Assistant"


def _asked(page: Page, verb: Any) -> Iterator[Draft]:
    if any(c.dep_ == "neg" for c in verb.children):
        return
    speaker = Phrase(page.scene.speaker, "person")
    tokens = tuple(t for t in verb.subtree)
    objects = [c for c in verb.children if c.dep_ == "dobj"]
    tails = [p for o in objects for p in noun_phrases(page, o)] if verb.lemma_.lower() in _GIVING else []
    phrase = verb_phrase(page, verb, "base") if not tails else None
    told = [Phrase(phrase.text)] if phrase is not None and len(phrase.text.split()) > 1 else []
    for tail in (tails or told)[:3]:
        text = tail.text.removeprefix("me ").removeprefix("us ")
        if tail.type != "person" and len(text.split()) > 1:
            relation = "asked for" if tails else "asked to"
            yield Draft(speaker, relation, Phrase(text, tail.type), PLAIN, Manner.EVENT, tokens, salience=0.5)
