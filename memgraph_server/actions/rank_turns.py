"""Rank the turns of a namespace for a question: a wide cheap choice, then the full signals on the best of it.

    words ── postings ──┐                                  lexical, speaker,           late interaction on
    vector ── nearest ──┼─> up to `wide` cards without ────recency, length ──> up to ── the `narrow` best and
    graph ── handles ───┘   vectors                        graph                       the turns before them

Those ranked first by these then raise what goes on from them (`second_hop.py`). A handful of store calls, whatever the
size of the namespace; turns without vectors yet are found by their words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from memgraph_server.language.port import Encoding
from memgraph_server.memory.interval import Instant
from memgraph_server.retrieval import signals
from memgraph_server.retrieval.cues import Sought
from memgraph_server.retrieval.fusion import Fused, Ranking, fuse, lexical_scale
from memgraph_server.retrieval.question import Reading
from memgraph_server.retrieval.second_hop import REACHED, second_hop
from memgraph_server.retrieval.signals import Array
from memgraph_server.stores.port import CardVectors, GraphStore, Posting, TurnCard

NARROW = 128  # cards read with vectors, at least
MOST = 512  # and at most
TOKENS = 16  # of the budget for each of them: about half a remark, so that there are twice as many as fit


@dataclass(frozen=True, slots=True)
class Words:
    """What the index knows of a question's terms."""

    postings: Mapping[str, Posting]
    turns: int
    mean_length: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """Cards and, alongside, what each signal says and their fusion; `sought`: by the question (Reading)."""

    cards: Sequence[TurnCard]
    signals: Mapping[str, Array]
    fused: Fused
    lexical_scale: float = 1.0
    sought: Sought = Sought.MATTER


def look_up(store: GraphStore, namespace: str, reading: Reading) -> Words:
    size = store.corpus_size(namespace)
    found = store.postings(namespace, reading.terms) if size.turns and reading.terms else {}
    postings = {term: found[term] for term in reading.terms if term in found}  # summed in one order, whatever the store
    return Words(postings, size.turns, max(1.0, size.terms / max(1, size.turns)))


def nearest(store: GraphStore, namespace: str, encoding: Encoding, budget: int) -> dict[int, float]:
    """Cosines of the turns nearest to a question with this budget, by handle."""
    narrow = _narrow_of(budget)
    return dict(store.nearest_turns(namespace, encoding.pooled, narrow + narrow // 4))


def _narrow_of(budget: int) -> int:
    """How many cards are read with vectors: more where the budget has room for more turns."""
    return min(max(NARROW, budget // TOKENS), MOST)


@dataclass(frozen=True, slots=True)
class TurnSearch:
    """One question to the turns of one namespace. `cosines`: of those nearest to it (`nearest`); `known_at`: turns
    recorded later are unseen; `budget`: tokens."""

    store: GraphStore
    namespace: str
    reading: Reading
    words: Words
    ranking: Ranking
    encoding: Encoding
    cosines: Mapping[int, float]
    budget: int
    asker: str | None = None
    known_at: Instant | None = None

    def ranked(self, graph: Mapping[str, float], facts: Mapping[str, float] = MappingProxyType({})) -> Ranked:
        """By turn id: `graph`, scores in [0, 1] of the turns that paths point to; `facts`, of those that state facts
        near the question (`signals.fact_scores`)."""
        wide = self._cards(self._candidates({**facts, **graph}))
        cheap = self._cheap(wide, graph, facts)
        places = self._best(wide, cheap)
        narrow = [wide[place] for place in places]
        before = [card.previous for card in narrow if card.previous is not None]
        handles = dict.fromkeys([*(card.handle for card in narrow), *before])
        held = self.store.turn_vectors(self.namespace, list(handles))
        cards = [_with_vectors(card, held.get(card.handle)) for card in narrow]
        matches = self._matches(cards, held)
        found = {name: values[places] for name, values in cheap.items()} | self._signals(cards, matches)
        if self.ranking.weights.get("hop"):
            found["hop"] = self._hop(cards, self._fused(cards, found), matches[0])
        return Ranked(cards, found, self._fused(cards, found), self._scale, self.reading.sought)

    @property
    def _narrow(self) -> int:
        return _narrow_of(self.budget)

    @property
    def _wide(self) -> int:
        """How many are read without."""
        return 2 * self._narrow

    def _fused(self, cards: Sequence[TurnCard], found: Mapping[str, Array], *, complete: bool = True) -> Fused:
        sought = self.reading.sought
        return fuse(cards, found, self.ranking, self._scale, complete=complete, sought=sought)

    @property
    def _floor(self) -> float:
        """The cosine of a turn that is not among the nearest, at most."""
        return min(self.cosines.values(), default=0.0)

    @property
    def _scale(self) -> float:
        return lexical_scale(self.words.postings, self.words.turns)

    def _candidates(self, graph: Mapping[str, float]) -> list[int]:
        """Handles of the turns that words, vector or graph point to, best first by the first two."""
        handles, scores = signals.first_stage(self.words.postings, self.words.turns)
        best = _largest(scores, self._wide)
        near_handles = np.array(sorted(self.cosines), dtype=np.int64)
        found = np.union1d(handles[best], near_handles)
        lexical = _looked_up(found, handles, scores / self._scale, 0.0)
        cosines = np.array([self.cosines[handle] for handle in near_handles.tolist()])
        near = _looked_up(found, near_handles, cosines, self._floor)
        weights, scales = self.ranking.weights, self.ranking.scales
        first_score = weights.get("lexical", 0.0) * lexical + weights.get("pooled", 0.0) * (
            near / scales.get("pooled", 1.0)
        )
        pointed = list(self.store.handles(self.namespace, list(graph)).values()) if graph else []
        return list(dict.fromkeys([*pointed, *found[_largest(first_score, self._wide)].tolist()]))[: self._wide]

    def _cards(self, handles: Sequence[int]) -> list[TurnCard]:
        found = self.store.turn_cards(self.namespace, handles)
        cards = [found[handle] for handle in handles if handle in found]
        return [card for card in cards if self.known_at is None or card.recorded_at <= self.known_at]

    def _best(self, cards: Sequence[TurnCard], cheap: Mapping[str, Array]) -> list[int]:
        """Places, by all signals that need no token vectors; a turn that is not among the nearest is no nearer than
        they."""
        if len(cards) <= self._narrow:
            return list(range(len(cards)))
        floor = self._floor
        near = np.array([self.cosines.get(card.handle, floor) for card in cards])
        # what late interaction will say is guessed from its nearest relative, so that the stages agree
        late = near * self.ranking.scales.get("late", 1.0) / self.ranking.scales.get("pooled", 1.0)
        guessed = {**cheap, "pooled": near, "late": late, "own": late}
        score = self._fused(cards, guessed, complete=False).score
        places: list[int] = np.argsort(-score, kind="stable")[: self._narrow].tolist()
        return places

    def _cheap(
        self, cards: Sequence[TurnCard], graph: Mapping[str, float], facts: Mapping[str, float]
    ) -> dict[str, Array]:
        if not cards:
            return {}
        reading, words = self.reading, self.words
        return {
            "lexical": signals.lexical(cards, words.postings, words.turns, words.mean_length),
            "speaker": signals.speaker(cards, reading.asked, self.asker, reading.subject),
            "recency": signals.recency(cards, reading.reference_time),
            "time": signals.nearness(cards, reading.period),
            "graph": signals.turn_scores(cards, graph),
            "facts": signals.turn_scores(cards, facts),
        }

    def _matches(self, cards: Sequence[TurnCard], held: Mapping[int, CardVectors]) -> tuple[Array, Array]:
        weights = signals.piece_weights(self.encoding.pieces, self.words.postings, self.words.turns)
        return signals.late_interaction(cards, held, self.encoding.tokens, weights)

    def _hop(self, cards: Sequence[TurnCard], first: Fused, own: Array) -> Array:
        """Of turns that go on from those ranked first. One without vectors yet matches nothing, and all that is said
        would be beyond it: none goes on from it."""
        order = [place for place in _largest(first.score, REACHED).tolist() if cards[place].token_bits is not None]
        ends = self.store.ends_of_turns(self.namespace, [cards[place].turn_id for place in order], self.known_at)
        return second_hop(order, [ends.get(card.turn_id, ()) for card in cards], own)

    def _signals(self, cards: Sequence[TurnCard], matches: tuple[Array, Array]) -> dict[str, Array]:
        """Those that need vectors."""
        own, late = (each.sum(axis=1) for each in matches)
        pooled = signals.pooled(cards, self.encoding.pooled)
        return {
            "late": late,
            "own": own,
            "pooled": pooled,
            "question": signals.questions(cards),
        }


def _with_vectors(card: TurnCard, held: CardVectors | None) -> TurnCard:
    if held is None:
        return card
    return replace(card, pooled=held.pooled, token_bits=held.token_bits, pieces=held.pieces)


def _largest(values: Array, count: int) -> NDArray[np.int64]:
    """Places of the `count` largest, largest first; ties by place."""
    if values.size > count:
        places = np.flatnonzero(values >= np.partition(values, -count)[-count])
    else:
        places = np.arange(values.size)
    return places[np.argsort(-values[places], kind="stable")[:count]]


def _looked_up(keys: NDArray[np.int64], known: NDArray[np.int64], values: Array, otherwise: float) -> Array:
    """The value of each key, by a table whose keys ascend."""
    if not known.size:
        return np.full(keys.size, otherwise)
    places = np.minimum(np.searchsorted(known, keys), known.size - 1)
    return np.where(known[places] == keys, values[places], otherwise)
