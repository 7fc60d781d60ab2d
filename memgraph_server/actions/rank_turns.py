"""Rank the turns of a namespace for a question: a wide cheap choice, then the full signals on the best of it.

    words ── postings ──┐                                  lexical, speaker,            late interaction on
    vector ── nearest ──┼─> up to WIDE cards without ──────recency, length ──> up to ── the NARROW best and
    graph ── handles ───┘   vectors                        graph                        the turns before them

A handful of store calls, whatever the size of the namespace; turns without vectors yet are found by their words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memgraph_server.language.port import Encoding
from memgraph_server.memory.interval import Instant
from memgraph_server.retrieval import signals
from memgraph_server.retrieval.fusion import Fused, Ranking, fuse, lexical_scale
from memgraph_server.retrieval.question import Reading
from memgraph_server.retrieval.signals import Array
from memgraph_server.stores.port import GraphStore, Posting, TurnCard

WIDE = 360  # cards read without vectors
NEAREST = 160  # of these by vector
NARROW = 160  # cards read with vectors


@dataclass(frozen=True, slots=True)
class Words:
    """What the index knows of a question's terms."""

    postings: Mapping[str, Posting]
    turns: int
    mean_length: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """Cards and, alongside, what each signal says and their fusion."""

    cards: Sequence[TurnCard]
    signals: Mapping[str, Array]
    fused: Fused


def look_up(store: GraphStore, namespace: str, reading: Reading) -> Words:
    size = store.corpus_size(namespace)
    postings = store.postings(namespace, reading.terms) if size.turns and reading.terms else {}
    return Words(postings, size.turns, max(1.0, size.terms / max(1, size.turns)))


@dataclass(frozen=True, slots=True)
class TurnSearch:
    """One question to the turns of one namespace. `known_at`: turns recorded later are unseen."""

    store: GraphStore
    namespace: str
    reading: Reading
    words: Words
    ranking: Ranking
    encoding: Encoding
    asker: str | None = None
    known_at: Instant | None = None

    def ranked(self, graph: Mapping[str, float]) -> Ranked:
        """`graph`: scores in [0, 1], by turn id, of the turns that facts point to."""
        cosines = dict(self.store.nearest_turns(self.namespace, self.encoding.pooled, NEAREST))
        wide = self._cards(self._candidates(cosines, graph), vectors=False)
        narrow = self._best(wide, cosines, graph)
        before = [card.previous for card in narrow if card.previous is not None]
        full = self.store.turn_cards(self.namespace, list(dict.fromkeys([*(card.handle for card in narrow), *before])))
        cards = [full[card.handle] for card in narrow if card.handle in full]
        found = self._signals(cards, full, graph)
        return Ranked(cards, found, fuse(cards, found, self.ranking, self._scale))

    @property
    def _scale(self) -> float:
        return lexical_scale(self.words.postings, self.words.turns)

    def _candidates(self, cosines: Mapping[int, float], graph: Mapping[str, float]) -> list[int]:
        """Handles of the turns that words, vector or graph point to, best first by the first two."""
        handles, scores = signals.first_stage(self.words.postings, self.words.turns)
        lexical = dict(zip(handles.tolist(), (scores / self._scale).tolist(), strict=True))
        floor = min(cosines.values(), default=0.0)
        weights, scales = self.ranking.weights, self.ranking.scales

        def first_score(handle: int) -> float:
            near = cosines.get(handle, floor) / scales.get("pooled", 1.0)
            return float(weights.get("lexical", 0.0) * lexical.get(handle, 0.0) + weights.get("pooled", 0.0) * near)

        best = handles[np.argsort(-scores, kind="stable")[:WIDE]].tolist()
        found = sorted({*best, *cosines}, key=lambda handle: (-first_score(handle), handle))
        pointed = list(self.store.handles(self.namespace, list(graph)).values()) if graph else []
        return list(dict.fromkeys([*pointed, *found]))[:WIDE]

    def _cards(self, handles: Sequence[int], *, vectors: bool) -> list[TurnCard]:
        found = self.store.turn_cards(self.namespace, handles, vectors=vectors)
        cards = [found[handle] for handle in handles if handle in found]
        return [card for card in cards if self.known_at is None or card.recorded_at <= self.known_at]

    def _best(
        self, cards: Sequence[TurnCard], cosines: Mapping[int, float], graph: Mapping[str, float]
    ) -> list[TurnCard]:
        """By all signals that need no token vectors; a turn that is not among the nearest is no nearer than they."""
        if len(cards) <= NARROW:
            return list(cards)
        floor = min(cosines.values(), default=0.0)
        cheap = self._cheap(cards, graph)
        cheap["pooled"] = np.array([cosines.get(card.handle, floor) for card in cards])
        # what late interaction will say is guessed from its nearest relative, so that the stages agree
        cheap["late"] = cheap["own"] = (
            cheap["pooled"] * self.ranking.scales.get("late", 1.0) / self.ranking.scales.get("pooled", 1.0)
        )
        order = np.argsort(-fuse(cards, cheap, self.ranking, self._scale, complete=False).score, kind="stable")
        return [cards[place] for place in order[:NARROW].tolist()]

    def _cheap(self, cards: Sequence[TurnCard], graph: Mapping[str, float]) -> dict[str, Array]:
        if not cards:
            return {}
        reading, words = self.reading, self.words
        return {
            "lexical": signals.lexical(cards, words.postings, words.turns, words.mean_length),
            "speaker": signals.speaker(cards, reading.asked, self.asker),
            "recency": signals.recency(cards, reading.reference_time),
            "time": signals.nearness(cards, reading.period),
            "graph": signals.turn_scores(cards, graph),
        }

    def _signals(
        self, cards: Sequence[TurnCard], full: Mapping[int, TurnCard], graph: Mapping[str, float]
    ) -> dict[str, Array]:
        weights = signals.piece_weights(self.encoding.pieces, self.words.postings, self.words.turns)
        own, late = signals.late_interaction(cards, full, self.encoding.tokens, weights)
        pooled = signals.pooled(cards, self.encoding.pooled)
        return {
            **self._cheap(cards, graph),
            "late": late,
            "own": own,
            "pooled": pooled,
            "question": signals.questions(cards),
        }
