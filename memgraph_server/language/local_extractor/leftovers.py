"""What a passage that stated nothing is about: a turn with content must stay reachable by some fact.

Rules: the best thing that is named, as talked about by its speaker; best are things done, named things and long
phrases. Thanks, praise, guesses about what the listener said and remarks such as "it's amazing how …" are passed over.
A thing of one word is told with what is done with it ("bringing joy"). Where a turn only asks, it is what was asked
about.
"""

from __future__ import annotations

from typing import Any

from memgraph_server.language.local_extractor.clauses import asks
from memgraph_server.language.local_extractor.drafts import Draft
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.phrases import noun_phrase, verb_phrase
from memgraph_server.language.local_extractor.scene import FIRST, SECOND, Phrase
from memgraph_server.language.local_extractor.tables import tables
from memgraph_server.language.local_extractor.timing import Manner


def leftovers(page: Page) -> list[Draft]:
    """The best thing of a passage that stated nothing, or []."""
    speaker = Phrase(page.scene.speaker, "person")
    for relation, found in (("talked about", _candidates(page)), ("asked about", _asked_about(page))):
        if found:
            _, token, phrase = found[0]
            return [Draft(speaker, relation, phrase, 0.85, Manner.EVENT, (token,), salience=0.1, exact=True)]
    return []


def _asked_about(page: Page) -> list[tuple[float, Any, Phrase]]:
    """What the questions of a passage are about; one word is enough there."""
    found: list[tuple[float, Any, Phrase]] = []
    for token in (t for sentence in page.sentences() if asks(sentence) for t in sentence):
        if token.pos_ in {"NOUN", "PROPN"} and token.dep_ in _ASKED_FOR and token.i not in page.dated:
            phrase = noun_phrase(page, token, page.scene.speaker)
            if phrase is not None and _is_topic(page, token, phrase):
                found.append((_weight(token, phrase), token, phrase))
    return sorted(found, key=lambda each: (-each[0], each[1].i))


_ASKED_FOR = frozenset({"dobj", "pobj", "nsubj", "attr", "pcomp"})
_NO_TOPIC = frozenset(
    "time thing way question plan idea day week month year weekend kind sort lot bit tip advice detail thought sec "
    "help chance pic photo picture one news story stuff luck look mind".split()
)


def _is_topic(page: Page, token: Any, phrase: Phrase) -> bool:
    speakers = {page.scene.speaker, page.scene.listener}
    words = phrase.text.lower().split()
    return not (
        phrase.text in speakers
        or (len(words) == 1 and token.lemma_.lower() in _NO_TOPIC)
        or token.lower_ in tables().praise
        or len(words[-1]) < 3
        or words[0][0].isdigit()
        or _drawn_out(phrase.text)
    )


def _candidates(page: Page) -> list[tuple[float, Any, Phrase]]:
    """(weight, token, phrase), the best first."""
    found: list[tuple[float, Any, Phrase]] = []
    for sentence in page.sentences():
        own = any(t.lower_ in _MINE for t in sentence)
        for token in sentence if _tells(sentence) else ():
            if token.pos_ in {"NOUN", "PROPN"} and token.dep_ not in {"compound", "npadvmod", "intj"}:
                phrase = _told(page, token)
                concerns = own or (phrase is not None and (phrase.type or len(phrase.text.split()) > 2))
                if phrase is not None and concerns and _worth(page, token, phrase):
                    found.append((_weight(token, phrase), token, phrase))
    return sorted(found, key=lambda each: (-each[0], each[1].i))


#: A sentence without one of these is about the world; of it only what is named, or told at length, is worth a fact.
_MINE = frozenset({"i", "my", "me", "mine", "we", "our", "it", "they", "he", "she", "her", "his", "their"})


def _tells(sentence: Any) -> bool:
    return not (asks(sentence) or _commands(sentence) or _replies(sentence) or _remarks(sentence))


def _told(page: Page, token: Any) -> Phrase | None:
    phrase = noun_phrase(page, token, page.scene.speaker)
    alone = phrase is not None and len(phrase.text.split()) == 1 and not phrase.type
    if not alone or token.dep_ != "dobj" or token.head.pos_ != "VERB" or token.head.lemma_ == "use":
        return phrase
    denied = any(c.dep_ == "neg" or c.lower_ == "never" for c in token.head.children)
    if denied or token.head.lemma_ in {"take", "lend", "know", "let", "put", "say", "tell"}:
        return None
    return verb_phrase(page, token.head, "gerund")


_EMPTY_STARTS = frozenset(
    "bye woohoo woah whoa yay aw aww haha nah lol congrats congratulations thanks thank long you tips little own "
    "true whole".split()
)


def _replies(sentence: Any) -> bool:
    """Thanks, praise and guesses about what the listener said."""
    to_listener = any(t.lower_ in SECOND and not _within(t) for t in sentence)
    if to_listener or any(t.lower_ in {"thanks", "thank", "congrats"} for t in sentence):
        return not any(t.lower_ in {"i", "my"} and t.head.dep_ != "relcl" for t in sentence)
    guess = any(t.lower_ in {"must", "sounds", "sound"} for t in sentence)
    return guess or (any(t.lower_ == "hear" for t in sentence) and any(t.lower_ in _PLEASED for t in sentence))


def _remarks(sentence: Any) -> bool:
    """ "That's a good spot for it", "it's great to have such friends", "we can do it"."""
    root = sentence.root
    subject = next((c.lower_ for c in root.children if c.dep_ == "nsubj"), "")
    praised = any(t.lower_ in tables().praise for t in sentence)
    if root.lemma_ == "be" and subject in {"that", "this", "it"} and praised:
        return subject != "it" or not any(t.lower_ in FIRST for t in sentence)
    return subject == "we" and any(c.lemma_ in {"can", "will"} for c in root.children if c.dep_ == "aux")


def _within(token: Any) -> bool:
    """Deep in the sentence: "a stuffed animal to remind you of the good vibes"."""
    return bool(token.dep_ in {"dobj", "pobj", "dative"} and token.head.dep_ in {"relcl", "acl", "advcl", "xcomp"})


_PLEASED = frozenset({"glad", "great", "good", "happy", "sorry", "awesome", "nice"})


def _commands(sentence: Any) -> bool:
    root = sentence.root
    return root.tag_ == "VB" and not any(c.dep_ in {"nsubj", "nsubjpass"} for c in root.children)


def _worth(page: Page, token: Any, phrase: Phrase) -> bool:
    """Named, or described by more than praise; not the people who talk, nor what they do for each other."""
    words = phrase.text.lower().split()
    speakers = {page.scene.speaker.lower().split()[0], *page.scene.listener.lower().split()[:1]}
    if (
        words[0] in _EMPTY_STARTS
        or speakers & set(words)
        or token.lemma_.lower() in {"see", "tip", "congratulation", "question", "encouragement", "advice"}
    ):
        return False
    if token.i in page.dated or words[0][0].isdigit() or "=" in phrase.text or token.lemma_.lower() in _IDIOMS:
        return False
    if phrase.text in {page.scene.speaker, page.scene.listener} or phrase.owner == page.scene.listener:
        return False
    if phrase.text.startswith(f"{page.scene.listener}'s") or phrase.type == "date":
        return False
    telling = [w for w in words if w not in tables().praise and w not in _EMPTY_WORDS]
    if len(telling) < len(words) and len(telling) < 3:
        return False
    named = phrase.type in {"place", "organization", "work", "event"} or token.ent_type_ == "PERSON"
    return bool((named and not _drawn_out(phrase.text)) or len(words) > 1)


#: "Keep you in the loop", "running on fumes", "off the hook": nothing is meant by the noun itself.
_IDIOMS = frozenset("loop fume hook go get-go ball page plate mark track wagon roll bay hang bucket".split())
#: Words that make no phrase tell more.
_EMPTY_WORDS = frozenset("new big huge other different similar same such first last own".split())


def _drawn_out(text: str) -> bool:
    """ "Awww", "Yesss"."""
    return any(a == b == c for a, b, c in zip(text.lower(), text.lower()[1:], text.lower()[2:], strict=False))


def _weight(token: Any, phrase: Phrase) -> float:
    role = {"dobj": 3.0, "nsubj": 2.5, "pobj": 2.0, "attr": 1.5, "ROOT": 1.5}.get(token.dep_, 1.0)
    return role + (2.0 if phrase.type else 0.0) + 0.5 * min(6, len(phrase.text.split()))
