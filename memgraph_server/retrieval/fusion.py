"""Few named signals of a turn's relevance, added up.

    relevance = Σ weight × signal ÷ scale                       over lexical, late, own and pooled
    score     = relevance + Σ weight × signal ÷ scale           over facts, speaker, question, recency, graph, time, hop
                − length × log(tokens + 4)
                + session × strength of the turn's session − repeat × log(1 + tokens of its better turns ÷ 60)

`repeat` depends on what is sought (cues.Sought). The members of a list lie in several sessions, and so, still more,
does a matter that a remark goes on with. What answers a question for one thing is said in one place, and the turns
around it tell more of it: nothing is taken from them.

Linear and small on purpose: over two kinds of conversation (two people; a person and an assistant) relevance and the
speaker carry over with the same weights, and most features of style do not. `scale` brings a signal to its usual spread
over a question's turns; BM25's grows with the question, so its scale is computed (`lexical_scale`) from the rarity of
the question's terms, and no sample of turns is needed. Length is taken out, since BM25 and late interaction grow with
it and an assistant's turn is five times a person's.

The weights that ship are in `schema/ranking.json`, with where they come from; a caller may pass others.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgraph_server.retrieval.answerability import COEFFICIENTS
from memgraph_server.retrieval.cues import Sought
from memgraph_server.retrieval.sessions import repetition, session_strength
from memgraph_server.retrieval.signals import Array, Card, Posting, rarity

RELEVANCE = ("lexical", "late", "own", "pooled")
#: A weight beyond it is no weight; NaN and infinity, which JSON in Python may hold, are beyond it too.
_LARGEST = 1e6
_SIGNALS = frozenset({*RELEVANCE, "facts", "speaker", "question", "recency", "graph", "time", "hop"})


@dataclass(frozen=True, slots=True)
class Ranking:
    """What `schema/ranking.json` holds; a signal without a weight counts nothing, one without a scale has 1.
    `repeat`: by what is sought."""

    weights: Mapping[str, float]
    scales: Mapping[str, float]
    length: float
    session: float
    repeat: Mapping[str, float]
    answerability: Mapping[str, float]

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Ranking:
        """From the parsed file. Raises ValueError, which says what is wrong, where it is not of that shape, a number is
        not finite, or a name is none that counts."""
        if not isinstance(values, Mapping):
            raise ValueError("it is no object")
        lacking = [name for name in cls.__dataclass_fields__ if name not in values]
        if lacking:
            raise ValueError(f"it lacks {', '.join(lacking)}")
        scales = _numbers(values, "scales", _SIGNALS)
        if any(scale <= 0 for scale in scales.values()):
            raise ValueError("scales must be above 0")
        return cls(
            weights=_numbers(values, "weights", _SIGNALS),
            scales=scales,
            length=_number(values["length"], "length"),
            session=_number(values["session"], "session"),
            repeat=_numbers(values, "repeat", frozenset(Sought)),
            answerability=_numbers(values, "answerability", COEFFICIENTS),
        )

    def without(self, *signals: str) -> Ranking:
        """These count nothing."""
        return replace(self, weights={**self.weights, **dict.fromkeys(signals, 0.0)})


def _numbers(values: Mapping[str, Any], table: str, known: Collection[str]) -> dict[str, float]:
    if not isinstance(values[table], Mapping):
        raise ValueError(f"{table} must map names to numbers")
    for name in values[table]:
        if name not in known:
            raise ValueError(f"{table}.{name} is not known; there are {', '.join(sorted(known))}")
    return {str(name): _number(number, f"{table}.{name}") for name, number in values[table].items()}


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
        raise ValueError(f"{name} must be a number")
    return float(value)


@dataclass(frozen=True, slots=True)
class Fused:
    """Arrays over the cards: `score` ranks; `relevance` is what matching alone says, for answerability."""

    score: Array
    relevance: Array


def fuse(
    cards: Sequence[Card],
    signals: Mapping[str, Array],
    ranking: Ranking,
    lexical_scale: float,
    *,
    complete: bool = True,
    sought: Sought = Sought.MATTER,
) -> Fused:
    """Scores of the cards, in their order; signals as `signals.py` gives them, by name. `complete`: work out what a
    card without vectors lacks; False where the signals are whole though the cards were read without vectors.
    `sought`: by the question (question.Reading)."""
    scaled = _scaled(cards, signals, ranking, lexical_scale, complete)
    weighted = {name: ranking.weights.get(name, 0.0) * values for name, values in scaled.items()}
    relevance = _sum([values for name, values in weighted.items() if name in RELEVANCE], len(cards))
    score = relevance + _sum([values for name, values in weighted.items() if name not in RELEVANCE], len(cards))
    tokens = _tokens(cards)
    score -= ranking.length * np.log(tokens + 4.0)
    sessions = [card.session_id for card in cards]
    score += ranking.session * session_strength(sessions, relevance)
    score -= ranking.repeat.get(sought, 0.0) * repetition(sessions, score, tokens)
    return Fused(score, relevance)


def features(
    cards: Sequence[Card], signals: Mapping[str, Array], ranking: Ranking, lexical_scale: float
) -> NDArray[np.float64]:
    """What the linear part of the score adds up, shape (cards, weights + 1): each signal in its scale, in the order of
    the ranking's weights, and −log(tokens + 4), whose weight is `length`. For learning (evaluation/learn.py)."""
    scaled = _scaled(cards, signals, ranking, lexical_scale, True)
    nothing = np.zeros(len(cards))
    columns = [scaled.get(name, nothing) for name in ranking.weights]
    return np.stack([*columns, -np.log(_tokens(cards) + 4.0)], axis=1)


def _scaled(
    cards: Sequence[Card], signals: Mapping[str, Array], ranking: Ranking, lexical_scale: float, complete: bool
) -> dict[str, Array]:
    scales = {**ranking.scales, "lexical": lexical_scale}
    scaled = {name: values / scales.get(name, 1.0) for name, values in signals.items()}
    return _completed(scaled, np.array([c.pooled is not None for c in cards], dtype=bool)) if complete else scaled


def _tokens(cards: Sequence[Card]) -> Array:
    return np.array([card.characters for card in cards], dtype=np.float64) / 4.0


def _completed(scaled: Mapping[str, Array], known: NDArray[np.bool_]) -> dict[str, Array]:
    """A turn without vectors yet is ranked as if its vectors agreed with its words: by as many spreads as its lexical
    signal is above that of the turns with vectors, it is above their mean in the signals that it lacks."""
    words = scaled.get("lexical")
    if known.all() or words is None:
        return dict(scaled)
    ahead = words[~known] - (words[known].mean() if known.any() else 0.0)
    completed = dict(scaled)
    for name in RELEVANCE[1:]:
        if name in scaled:
            completed[name] = scaled[name].copy()
            completed[name][~known] = ahead + (scaled[name][known].mean() if known.any() else 0.0)
    return completed


def _sum(parts: Sequence[Array], length: int) -> Array:
    return np.sum(parts, axis=0) if parts else np.zeros(length)


def lexical_scale(postings: Mapping[str, Posting], turns: int) -> float:
    """The spread of BM25 that chance gives: the root of Σ idf² p (1 − p), p a term's share of windows of three turns;
    at least 1, so that a single very rare term is not blown up."""
    variance = 0.0
    for posting in postings.values():
        share = min(1.0, 3.0 * posting.documents / max(1, turns))
        variance += rarity(posting.documents, turns) ** 2 * share * (1.0 - share)
    return max(1.0, math.sqrt(variance))
