"""What becomes of what a model proposes: checked against the turn, dated and weighed in code, or dropped. Pure.

    proposed by the model            decided here
    turn number                      the turn, if the evidence stands in it; else the one turn of the call where it does
    head, tail                       kept if said in the turn, or around it where the turn refers back ("there", "yes");
                                     "I" and "you" are speaker and listener
    relation                         canonical, by the registry
    evidence                         a span of the turn, or the fact is dropped
    when                             words in the turn; `memory.dates` reads them against the turn's time
    kind                             how those dates bound the claim; the registry overrules it for events
    ended                            an ending, if the turn names what ended, or says that it did ("quit")
    confidence                       at most what the words allow (`certainty.py`)
    intent                           one of the five, else by cue words

A model that was talked into anything by a turn can thus change no fact that the turn does not speak of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memgraph_server.language.language_model.certainty import PLAIN, bound
from memgraph_server.language.language_model.forms import FactForm
from memgraph_server.language.language_model.grounding import Span, is_said, sentence_of, span_of
from memgraph_server.language.language_model.material import Readable, speaks_to_the_reader
from memgraph_server.language.local_extractor.intents import intent_of
from memgraph_server.language.local_extractor.timing import Manner, happened, observed, placed
from memgraph_server.memory.dates import DateMention, claimed_interval, find_dates
from memgraph_server.memory.dates.mention import ClaimedInterval
from memgraph_server.memory.facts import Intent, Polarity
from memgraph_server.memory.phrases import slug
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.relations import Registry
from memgraph_server.memory.turns import Role

#: Facts of one turn, in the order they were proposed.
MOST_FACTS = 8
#: What a model's own "how sure" counts where it gives none; a plan is never more than a speculation about its outcome.
_UNSAID, _PLANNED = PLAIN, 0.6
#: Longest head or tail.
_LONGEST = 200
_ME = frozenset("i me my mine myself we us our user speaker self narrator".split()) | {"the speaker", "the user"}
_YOU = frozenset("you your yours listener assistant".split()) | {"the listener", "the assistant"}
_MANNERS = {
    "state": Manner.STATE, "past": Manner.PAST_STATE, "past_state": Manner.PAST_STATE, "event": Manner.EVENT,
    "start": Manner.START, "started": Manner.START, "plan": Manner.PLAN, "planned": Manner.PLAN, "wish": Manner.PLAN,
}  # fmt: skip
#: Relations that say by their name that something is only intended.
_INTENDED = re.compile(r"plan|want|hope|wish|intend|would|consider|going_to|dream|like_to|goal|aim")
_SPEAKING = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|[我私俺僕]", re.IGNORECASE)
_SPOKEN_TO = re.compile(r"\b(?:you|your|yours|yourself|we|us|our|ours|both)\b|[你您君]|あなた", re.IGNORECASE)
#: Words that stand for something said before, and answers to a question.
_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|there|here|they|them|their|he|him|his|she|her|hers|one|ones|both|too|also|same"
    r"|yes|yeah|yep|sure|definitely|absolutely|of course|exactly|right|no|nope|do|did|does|am|have|was|will)\b"
    r"|[它他她那这此其]|そ[れここの]|あ[れそ]|こ[れこ]|彼|はい|그|거기|네|"
    r"\b(?:es|sie|er|ihn|ihm|das|dort|da|ja|il|elle|le|la|lui|ça|cela|y|là|oui|él|ella|lo|eso|allí|ahí|sí|ele|isso|lá|sim"
    r"|он|она|оно|его|её|там|это|да)\b",
    re.IGNORECASE,
)
#: What an unnamed assistant may state of itself.
_OF_ASSISTANTS = frozenset({"recommends", "recommended", "suggests", "suggested"})


@dataclass(frozen=True, slots=True)
class Disposed:
    """`dropped`: proposals that did not hold."""

    proposals: tuple[Proposal, ...] = ()
    dropped: int = 0


def dispose(group: Sequence[Readable], facts: Sequence[FactForm], registry: Registry, source: str) -> list[Disposed]:
    """What is believed of each turn of one call."""
    found: list[dict[tuple[object, ...], Proposal]] = [{} for _ in group]
    dropped = [0] * len(group)
    for fact in facts:
        place, span = _home(group, fact)
        made = list(_Fact(group[place], fact, span, registry, source).proposals()) if span is not None else []
        dropped[place] += not made
        for proposal in made:
            tail = (proposal.tail or "").casefold()
            found[place].setdefault((proposal.head.casefold(), proposal.relation, tail, proposal.polarity), proposal)
    return [Disposed(tuple(kept.values())[:MOST_FACTS], lost) for kept, lost in zip(found, dropped, strict=True)]


def _home(group: Sequence[Readable], fact: FactForm) -> tuple[int, Span | None]:
    """The turn that says it, and where; the model's number is a hint."""
    guess = fact.turn - 1 if 1 <= fact.turn <= len(group) else 0
    spans = {place: span_of(fact.evidence, one.text) for place, one in enumerate(group)}
    found = [place for place, span in spans.items() if span is not None]
    if guess in found or not found:
        shared = span_of(fact.evidence, group[guess].shares) is not None
        whole = (0, len(group[guess].text))
        return guess, spans[guess] if spans[guess] is not None or not shared else whole
    return (found[0], spans[found[0]]) if len(found) == 1 else (guess, None)


@dataclass(frozen=True, slots=True)
class _Fact:
    """One proposed fact with the turn that says it and the characters that do."""

    said: Readable
    fact: FactForm
    span: Span
    registry: Registry
    source: str

    def proposals(self) -> Iterator[Proposal]:
        head, tail = self._name(self.fact.head), self._value(self.fact.tail)
        if head is None or tail is None or head.casefold() == tail.casefold() or not self._credible(head):
            return
        relation = self.registry.canonical(self.fact.relation)
        if self.fact.ended:
            if self._ends(relation, tail):
                yield self._ending(head, relation, tail)
            return
        yield self._claim(head, relation, tail)
        if is_said(tail, self.said.text):
            for ended in self.registry.ended_by(self.fact.relation.replace("_", " ")):
                yield self._ending(head, ended, tail)

    # -- who and what

    def _name(self, given: str) -> str | None:
        """The name, with "I" and "you" resolved; None where nobody said it."""
        name = " ".join(given.split())[:_LONGEST]
        if name.casefold() in _ME:
            return self.said.speaker
        if name.casefold() in _YOU:
            return self.said.listener or None
        for party in (self.said.speaker, self.said.listener):
            if name and set(name.casefold().split()) <= set(party.casefold().split()):
                return party
        if is_said(name, self.said.text, self.said.shares):
            return name
        return name if self._refers_back and is_said(name, *self.said.around) else None

    def _value(self, given: str) -> str | None:
        """As a name; but who speaks or listens is a fact's value only where the words speak of them."""
        plain = given if "_" not in given or given in self.said.text else given.replace("_", " ")
        name, (start, end) = self._name(plain), sentence_of(self.said.text, self.span)
        meant = {self.said.speaker: _SPEAKING, self.said.listener: _SPOKEN_TO}.get(name or "")
        spoken_of = meant is None or is_said(name or "", self.said.text) or meant.search(self.said.text[start:end])
        return name if spoken_of else None

    @property
    def _refers_back(self) -> bool:
        """Whether what is meant may stand in another turn. Not for one that speaks to the reader: nothing but what it
        says itself is its own."""
        start, end = sentence_of(self.said.text, self.span)
        return not speaks_to_the_reader(self.said.text) and bool(_BACK.search(self.said.text[start:end]))

    def _credible(self, head: str) -> bool:
        """An unnamed assistant speaks for itself and of the user; what else it knows is not this memory's."""
        turn = self.said.turn
        if turn.role is not Role.ASSISTANT or turn.speaker.strip():
            return True
        if head == self.said.speaker:
            return slug(self.fact.relation) in _OF_ASSISTANTS
        return head.startswith(self.said.listener)

    def _ends(self, relation: str, tail: str) -> bool:
        """Whether the turn says that this ended: it names the value, or has words that end such a relation."""
        if is_said(tail, self.said.text):
            return True
        words = self.said.text[slice(*self.span)].split()
        phrases = (" ".join(words[at : at + length]) for length in (1, 2, 3) for at in range(len(words)))
        return any(relation in self.registry.ended_by(phrase.strip(".,!;:")) for phrase in phrases)

    # -- when

    @property
    def _dates(self) -> list[DateMention]:
        """Those that the model's words point to, else those in the evidence."""
        turn, text = self.said.turn, self.said.text
        mentions = [one for one in find_dates(text, turn.at, turn.utc_offset_minutes) if one.placed]
        pointed = span_of(self.fact.when, text) if self.fact.when else None
        for span in (pointed, self.span):
            among = [one for one in mentions if span is not None and one.span[0] < span[1] and span[0] < one.span[1]]
            if among:
                return among
        return []

    def _manner(self, relation: str) -> Manner:
        event = self.registry.is_event(relation)
        begins = relation in self.registry.started_by(self.fact.relation.replace("_", " "))
        manner = _MANNERS.get(self.fact.kind.casefold().replace(" ", "_"), Manner.EVENT if event else Manner.STATE)
        if begins and manner in {Manner.EVENT, Manner.STATE}:
            return Manner.START
        return Manner.EVENT if event and manner in {Manner.STATE, Manner.START} else manner

    def _placed(self, manner: Manner) -> tuple[ClaimedInterval, bool]:
        at, dates = self.said.turn.at, self._dates
        coming = next((one for one in dates if one.start is not None and one.start > at), None)
        if manner is Manner.EVENT and coming is not None:
            return claimed_interval(coming, at) or observed(at), False
        return placed(manner, dates, at)

    def _undated(self, interval: ClaimedInterval) -> bool:
        return interval in (observed(self.said.turn.at), happened(self.said.turn.at))

    # -- what is claimed

    def _claim(self, head: str, relation: str, tail: str) -> Proposal:
        manner, event = self._manner(relation), self.registry.is_event(relation)
        interval, ongoing = self._placed(manner)
        over = manner in {Manner.PAST_STATE, Manner.EVENT} and not event and self._undated(interval)
        if over:  # it held some time before: not now, and nobody said when
            relation = f"formerly_{relation}" if slug(self.fact.relation) == relation else slug(self.fact.relation)
        confidence = self._confidence(PLAIN)
        if manner is Manner.PLAN and not _INTENDED.search(slug(self.fact.relation)):
            confidence = min(confidence, _PLANNED)
        claim = self._proposal(head, relation, tail, interval, confidence)
        return replace(claim, ongoing=ongoing and interval.valid_to is None)

    def _ending(self, head: str, relation: str, tail: str) -> Proposal:
        at = self.said.turn.at
        date = next((one for one in self._dates if one.start is not None), None)
        interval = observed(at) if date is None else claimed_interval(date, at, ongoing=True) or observed(at)
        ending = self._proposal(head, relation, tail, interval, self._confidence(PLAIN))
        return replace(ending, polarity=Polarity.ENDING, valid_to=None)

    def _confidence(self, otherwise: float) -> float:
        own = self.fact.confidence if self.fact.confidence is not None else otherwise
        return round(max(0.05, min(own, bound(self.said.text, self.span))), 3)

    def _intent(self) -> Intent:
        try:
            return Intent(self.fact.intent.strip().upper())
        except ValueError:
            start, end = sentence_of(self.said.text, self.span)
            return intent_of(self.said.text[start:end], bool(self._dates))

    def _proposal(self, head: str, relation: str, tail: str, interval: ClaimedInterval, confidence: float) -> Proposal:
        turn = self.said.turn
        return Proposal(
            head=head,
            relation=relation,
            tail=tail,
            valid_from=interval.valid_from,
            valid_to=interval.valid_to,
            evidence_at=turn.at,
            confidence=confidence,
            intent=self._intent(),
            from_precision=interval.from_precision,
            to_precision=interval.to_precision,
            from_basis=interval.from_basis,
            to_basis=interval.to_basis,
            head_type="person" if head in {self.said.speaker, self.said.listener} else "",
            source=self.source,
            span=self.span,
            turn_id=turn.id,
        )
