"""`LocalExtractor`: what a turn states, read by a parser and rules; no language model, no network.

A turn's way: roles and recalled text (`readable`) → parse (`parsing`) → clauses (`clauses`, `moods`) → triples
(`verbs`, `copula`, `reader`) → dates, intent, certainty → proposals. English only; of other languages the names.
Nothing in a turn's text is ever an instruction: text is only read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from memgraph_server.language.local_extractor.captions import shown
from memgraph_server.language.local_extractor.clauses import of_another
from memgraph_server.language.local_extractor.drafts import Draft
from memgraph_server.language.local_extractor.foreign import is_english, names_in
from memgraph_server.language.local_extractor.intents import intent_of
from memgraph_server.language.local_extractor.leftovers import leftovers
from memgraph_server.language.local_extractor.lists import items, outside, suggests
from memgraph_server.language.local_extractor.mentions import mentions_of
from memgraph_server.language.local_extractor.page import Page
from memgraph_server.language.local_extractor.parsing import Parser
from memgraph_server.language.local_extractor.readable import READ_LIMIT, Passage, passages, without_recalled
from memgraph_server.language.local_extractor.reader import read_page, remember
from memgraph_server.language.local_extractor.scene import Phrase, Scene, scene_of
from memgraph_server.language.local_extractor.timing import Manner, happened, placed
from memgraph_server.language.port import Extraction, TurnInContext
from memgraph_server.memory.dates import DateMention, find_dates
from memgraph_server.memory.facts import Intent, Polarity
from memgraph_server.memory.interval import Precision
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.relations import Registry
from memgraph_server.memory.turns import Role, Turn

#: Recorded as `source` with every assertion; a change of rules that changes facts raises the number.
NAME = "local/3"
#: Facts of one turn, the most salient first: of a turn of conversation, and of a long answer with lists.
MOST_FACTS = 8
MOST_OF_LISTS = 12
#: Items of an answer's lists that become facts, the first of them.
MOST_ITEMS = 8
#: Facts below this salience are kept only where a turn gives nothing else, and then one.
WEAK = 0.2
#: A user's turn longer than this is mostly pasted; of it only what is said in the first person is the user's word.
PASTED = 1_500
#: How many turns before are parsed, for pronouns.
_LOOK_BACK = 2


_Cleaned: TypeAlias = dict[tuple[str, tuple[str, ...]], list[Passage]]


@dataclass(frozen=True, slots=True)
class _Reading:
    """One turn with its cleaned passages."""

    context: TurnInContext
    scene: Scene
    passages: list[Passage]
    before: list[Passage]
    listed: list[tuple[str, tuple[int, int]]] = field(default_factory=list)
    offering: str = "suggested"  # or "listed"


class LocalExtractor:
    """Extractor by parser and rules. Thread-safe; loads its model at the first turn that needs it."""

    def __init__(self, registry: Registry | None = None, parser: Parser | None = None) -> None:
        self._registry = registry
        self._canonical: Callable[[str], str] = registry.canonical if registry is not None else slug
        self._parser = parser or Parser()

    @property
    def name(self) -> str:
        return NAME

    def extract(self, turns: Sequence[TurnInContext]) -> list[Extraction]:
        """One extraction a turn, in order. Raises ModelUnavailable where the parser is not installed."""
        cleaned: _Cleaned = {}
        readings = [_prepared(t, cleaned) for t in turns]
        texts = dict.fromkeys(p.text for r in readings for p in (*r.before, *r.passages))
        docs = dict(zip(texts, self._parser.parse(list(texts)), strict=True)) if texts else {}
        return [self._extracted(reading, docs) for reading in readings]

    def _extracted(self, reading: _Reading, docs: dict[str, Any]) -> Extraction:
        turn = reading.context.turn
        if turn.role not in {Role.USER, Role.ASSISTANT}:
            return Extraction(())
        for passage in reading.before:
            page = Page(docs[passage.text], passage, reading.scene)
            for sentence in page.sentences():
                remember(page, sentence)
        reading.scene.begin()
        pages = [_page(turn, passage, docs[passage.text], reading.scene) for passage in reading.passages]
        proposals = self._proposals(reading, pages)
        mentions = [m for page in pages for m in mentions_of(page)]
        if not pages:
            mentions = names_in(turn.text[:READ_LIMIT])
        return Extraction(tuple(proposals), tuple(dict.fromkeys(mentions)))

    def _proposals(self, reading: _Reading, pages: list[Page]) -> list[Proposal]:
        turn, speaker = reading.context.turn, reading.scene.speaker
        drafts = [(page, d) for page in pages for d in read_page(page) if _kept(turn, reading.scene, d)]
        weak = [(page, d) for page, d in drafts if d.salience < WEAK]
        found = [(d.salience, self._proposal(turn, page, d)) for page, d in drafts if d.salience >= WEAK]
        found += [
            (0.5, _said(turn, speaker, self._canonical(reading.offering), title, span))
            for title, span in reading.listed[:MOST_ITEMS]
        ]
        found += [
            (0.6, _said(turn, speaker, self._canonical("shared"), shown(c), None)) for c in turn.captions if shown(c)
        ]
        if not found:
            kept = speaker not in {"User", "Assistant"}
            best = [(page, d) for page in pages for d in leftovers(page) if kept] or weak
            best.sort(key=lambda each: -len((each[1].tail or each[1].head).text.split()))
            found = [(d.salience, self._proposal(turn, page, d)) for page, d in best[:1]]
        return _most_salient(found, MOST_OF_LISTS if reading.listed else MOST_FACTS)

    def _relation(self, draft: Draft) -> str:
        """The registry's name, unless it would make a habit of what happened, or an event of a habit.

        "I lived in Rome", undated, must not become where somebody lives: it stays `lived_in`.
        """
        known = self._canonical(draft.relation)
        if draft.exact:
            return slug(draft.relation)
        if self._registry is None or draft.polarity is Polarity.ENDING:
            return known
        if _unfit(known, draft) or _figure_of_speech(known, draft):
            return slug(draft.relation)
        event = self._registry.is_event(known)
        past_state = draft.manner is Manner.EVENT and not event
        habit = draft.manner is Manner.STATE and event
        return slug(draft.relation) if past_state or habit else known

    def _proposal(self, turn: Turn, page: Page, draft: Draft) -> Proposal:
        clause_span = (min(t.idx for t in draft.tokens), max(t.idx + len(t.text) for t in draft.tokens))
        dates = [d for d in page.dates if d.span[0] < clause_span[1] and clause_span[0] < d.span[1]]
        dates = [d for d in dates if not of_another(draft.tokens[0], page.place(d))]
        if not dates and draft.manner is Manner.EVENT:
            dates = _of_its_noun(page, draft.tokens[0])
        interval, ongoing = placed(draft.manner, dates, turn.at)
        sentence = draft.tokens[0].sent.text
        return Proposal(
            head=_balanced(draft.head.text),
            relation=self._relation(draft),
            tail=_balanced(draft.tail.text) if draft.tail is not None else None,
            valid_from=interval.valid_from,
            valid_to=interval.valid_to if draft.polarity is Polarity.CLAIM else None,
            evidence_at=turn.at,
            confidence=round(min(1.0, max(0.05, draft.certainty)), 3),
            intent=intent_of(sentence, bool(dates)),
            polarity=draft.polarity,
            ongoing=ongoing and draft.polarity is Polarity.CLAIM,
            from_precision=interval.from_precision,
            to_precision=interval.to_precision,
            from_basis=interval.from_basis,
            to_basis=interval.to_basis,
            head_type=draft.head.type,
            tail_type=draft.tail.type if draft.tail is not None else "",
            source=NAME,
            span=page.span(list(draft.tokens)),
            turn_id=turn.id,
        )


def _of_its_noun(page: Page, verb: Any) -> list[DateMention]:
    """The date that "when" refers to: "our trip last year, when we saw the meteors"."""
    if not any(c.lower_ == "when" and c.dep_ == "advmod" for c in verb.children):
        return []
    start = verb.sent[0].idx
    before = [d for d in page.dates if d.placed and start <= d.span[0] and d.span[1] <= verb.idx]
    return before if len(before) == 1 else []


def _balanced(text: str) -> str:
    """Without a bracket or quotation mark whose other half is elsewhere."""
    kept = text.replace('"', "") if text.count('"') == 1 else text
    kept = kept[: kept.index("(")] if "(" in kept and ")" not in kept else kept
    return kept.strip() or text


def _kept(turn: Turn, scene: Scene, draft: Draft) -> bool:
    """Whether a draft is worth believing, by who says it of whom."""
    own = scene.speaker in {draft.head.text, draft.head.owner}
    if draft.head.text.startswith("Assistant") and not own:
        return False
    if draft.tail is not None and _talks_of_partner(draft, scene):
        return False
    if turn.role is Role.ASSISTANT and scene.speaker == "Assistant":
        return own and draft.relation in {"recommends", "suggested"}  # of the user it only repeats or guesses
    return own or len(turn.text) <= PASTED


def _talks_of_partner(draft: Draft, scene: Scene) -> bool:
    """ "I have you", "I need your help": about the two who talk, not about the world."""
    tail = draft.tail.text if draft.tail is not None else ""
    partner = scene.listener or "Assistant"
    return (
        (tail == partner and draft.relation in {"has", "needs", "wants"})
        or tail.startswith("Assistant")
        or (draft.relation in {"plans to", "wants to"} and "Assistant" in tail.split())
    )


#: Relations whose tail is what somebody is to do.
_OF_VERBS = frozenset({"plans_to", "wants_to", "needs_to", "hopes_to", "tries_to", "learns_to", "decided_to"})
_PLACED = re.compile(r"\b(?:in|at|to|from|on|resides?|home|hometown)\b|lives_in")
#: Relations that only people have, whatever a verb is made to mean ("desserts that work for everyone").
_OF_PEOPLE = frozenset(
    {"works_at", "lives_in", "occupation", "married_to", "dating", "reports_to", "studies_at", "member_of"}
)
#: Relations that two people have ("I dated the note"), and those whose tail is a number ("I weigh my options").
_BETWEEN_PEOPLE = frozenset({"dating", "married_to", "engaged_to"})
_OF_NUMBERS = frozenset({"age", "weight", "height", "salary"})


def _unfit(known: str, draft: Draft) -> bool:
    """Whether head or tail is not of the kind that the registry's relation is about."""
    return (
        (known in _OF_PEOPLE and draft.head.type != "person")
        or (known in _OF_NUMBERS and not _has_number(draft.tail))
        or (known in _BETWEEN_PEOPLE and not _may_be_somebody(draft.tail))
        or (known in _OF_VERBS and not draft.relation.replace("_", " ").endswith(" to"))  # "plan events"
    )


def _figure_of_speech(known: str, draft: Draft) -> bool:
    """ "Keeping track of it" continues nothing, "living my true self" is nowhere."""
    activity = draft.tail is not None and draft.tail.type == "activity"
    return (known == "continues" and not activity) or (known == "lives_in" and not _PLACED.search(draft.relation))


def _may_be_somebody(tail: Phrase | None) -> bool:
    return tail is None or tail.type == "person" or tail.text[:1].isupper()


def _has_number(tail: Phrase | None) -> bool:
    return tail is not None and any(c.isdigit() for c in tail.text)


def slug(phrase: str) -> str:
    """A relation's name from its words: "works at" -> "works_at"."""
    return re.sub(r"\W+", "_", phrase.lower()).strip("_")


def _prepared(context: TurnInContext, cleaned: _Cleaned) -> _Reading:
    turn = context.turn
    speaker = turn.speaker.strip() or ("Assistant" if turn.role is Role.ASSISTANT else "User")
    others = [t.speaker for t in context.previous if t.role in {Role.USER, Role.ASSISTANT}]
    listener = context.listener.strip() or _listener(context, speaker)
    scene = scene_of(speaker, listener, others)
    if turn.role not in {Role.USER, Role.ASSISTANT} or not is_english(turn.text[:READ_LIMIT]):
        return _Reading(context, scene, [], [])
    listed = list(items(without_recalled(turn.text))) if turn.role is Role.ASSISTANT else []
    pasted = speaker == "User" and turn.text.count("\n- ") + turn.text.count("\n* ") > 2
    text = outside(turn.text[:READ_LIMIT]) if turn.role is Role.ASSISTANT or pasted else turn.text
    spoken = [t for t in context.previous if t.role in {Role.USER, Role.ASSISTANT}][-_LOOK_BACK:]
    before = [p for t in spoken for p in _passages(t.text[:600], scene.names, cleaned)]
    read = _passages(text, scene.names, cleaned)
    offering = "suggested" if suggests(without_recalled(turn.text)) else "listed"
    return _Reading(context, scene, read, before, listed if len(listed) > 1 else [], offering)


def _passages(text: str, names: tuple[str, ...], cleaned: _Cleaned) -> list[Passage]:
    """Passages of English text, each text of a batch cleaned once; [] for other languages."""
    key = (text, names)
    if key not in cleaned:
        cleaned[key] = passages(text, names) if is_english(text) else []
    return cleaned[key]


def _listener(context: TurnInContext, speaker: str) -> str:
    """The other party: whoever spoke last before, else the other role's usual name."""
    others = [t.speaker.strip() for t in reversed(context.previous) if t.speaker.strip() not in {"", speaker}]
    if others:
        return others[0]
    if speaker in {"User", "Assistant"} or context.turn.role is Role.ASSISTANT:
        return "User" if context.turn.role is Role.ASSISTANT else "Assistant"
    return ""


def _page(turn: Turn, passage: Passage, doc: Any, scene: Scene) -> Page:
    return Page(doc, passage, scene, tuple(find_dates(passage.text, turn.at, turn.utc_offset_minutes)))


def _said(turn: Turn, speaker: str, relation: str, tail: str, span: tuple[int, int] | None) -> Proposal:
    """That the speaker shared or suggested something in this turn."""
    interval = happened(turn.at)
    return Proposal(
        head=speaker,
        relation=relation,
        tail=tail,
        valid_from=interval.valid_from,
        valid_to=interval.valid_to,
        evidence_at=turn.at,
        confidence=0.92,
        intent=Intent.FACT,
        head_type="person",
        from_precision=Precision.INSTANT,
        source=NAME,
        span=span or (0, len(turn.text)),
        turn_id=turn.id,
    )


def _most_salient(found: list[tuple[float, Proposal]], most: int) -> list[Proposal]:
    """Each triple once, the most salient of them, in the order they were said."""
    once: dict[tuple[Any, ...], tuple[float, int, Proposal]] = {}
    for place, (salience, p) in enumerate(found):
        key = (p.head.lower(), p.relation, (p.tail or "").lower(), p.polarity)
        if p.tail is not None and p.head.lower() == p.tail.lower():
            continue
        if key not in once or once[key][2].confidence < p.confidence:
            once[key] = (salience, place, p)
    best = sorted(once.values(), key=lambda each: (-each[0], each[1]))[:most]
    return [p for _, _, p in sorted(best, key=lambda each: each[1])]


__all__ = ["NAME", "LocalExtractor", "slug"]
