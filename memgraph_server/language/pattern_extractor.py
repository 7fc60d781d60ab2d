"""`PatternExtractor`: plain statements read by patterns alone, without a parser.

For machines too small for the parser (it saves some 250 MB and nine tenths of the time), and for tests that start a
server a hundred times. It reads "I live in Paris", "Ann works at Acme", "Bob moved to Rome in May 2021" with the verbs
of `schema/extraction.yaml`, nothing between subject and verb, and no questions: it misses much and claims little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from memgraph_server.language.local_extractor.inflect import past, third_person
from memgraph_server.language.local_extractor.tables import VerbEntry, tables
from memgraph_server.language.port import Extraction, TurnInContext
from memgraph_server.memory.facts import Polarity
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.turns import Role, Turn

NAME = "patterns/1"
_READ_LIMIT = 8_000
_MOST_FACTS = 8
_LASTING = frozenset({"state", "plan"})
_CUT = re.compile(r"\b(?:and|but|because|since|when|while|with|who|which|that|now|these days|in \d|on \d|last|next)\b")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")


class PatternExtractor:
    """Thread-safe: it keeps no state. `canonical` names a relation (`memory.relations.Registry.canonical`)."""

    def __init__(self, canonical: Callable[[str], str]) -> None:
        self._canonical = canonical

    @property
    def name(self) -> str:
        return NAME

    def extract(self, turns: Sequence[TurnInContext]) -> list[Extraction]:
        return [self._extraction(one) for one in turns]

    def _extraction(self, context: TurnInContext) -> Extraction:
        if context.turn.role not in {Role.USER, Role.ASSISTANT}:
            return Extraction(())
        found = list(dict.fromkeys(self._proposals(context)))[:_MOST_FACTS]
        names = dict.fromkeys((one.head, one.head_type) for one in found)
        return Extraction(tuple(found), tuple(names))

    def _proposals(self, context: TurnInContext) -> Iterator[Proposal]:
        turn = context.turn
        me = turn.speaker.strip() or ("Assistant" if turn.role is Role.ASSISTANT else "User")
        for sentence in _SENTENCE.finditer(turn.text[:_READ_LIMIT]):
            if sentence[0].endswith("?"):
                continue
            for match in _statement().finditer(sentence[0]):
                tail = _CUT.split(match["tail"])[0].strip(" \t\"'-")
                if tail:
                    span = (sentence.start() + match.start(), sentence.start() + match.end())
                    who = me if match["who"] == "I" else match["who"]
                    yield self._proposal(context.turn, who, match["verb"], tail, span)

    def _proposal(self, turn: Turn, head: str, verb: str, tail: str, span: tuple[int, int]) -> Proposal:
        entry, is_past = _forms()[verb]
        at, ending = turn.at, entry.kind == "end"
        return Proposal(
            head=head,
            relation=self._canonical(entry.ends if ending and entry.ends else entry.relation),
            tail=tail,
            valid_from=at,
            valid_to=at + 1 if is_past and entry.kind == "event" else None,
            evidence_at=at,
            confidence=0.9,
            polarity=Polarity.ENDING if ending else Polarity.CLAIM,
            ongoing=not ending and (entry.kind == "start" or (entry.kind in _LASTING and not is_past)),
            head_type="person",
            source=NAME,
            span=span,
            turn_id=turn.id,
        )


def warm() -> None:
    """Build the patterns now rather than at the first turn."""
    _statement()


@cache
def _forms() -> dict[str, tuple[VerbEntry, bool]]:
    """The verb as it stands in a text, with its particle -> what it says, and whether that is past."""
    forms: dict[str, tuple[VerbEntry, bool]] = {}
    for key, entry in tables().verbs.items():
        verb, _, rest = key.partition(" ")
        tail = f" {rest}" if rest else ""
        for form in (verb, third_person(verb)):
            forms.setdefault(form + tail, (entry, False))
        if entry.kind not in _LASTING:
            forms.setdefault(past(verb, verb, "VB") + tail, (entry, True))
    return forms


@cache
def _statement() -> re.Pattern[str]:
    verbs = "|".join(re.escape(form) for form in sorted(_forms(), key=len, reverse=True))
    return re.compile(rf"\b(?P<who>I|[A-Z][\w'-]+) (?P<verb>{verbs}) (?P<tail>[^,;:.!?\n]{{1,80}})")
