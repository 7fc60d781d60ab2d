"""What is known of a turn's relevance, one named signal at a time; `fusion.py` adds them up.

Every signal is an array over the same cards, in their order, larger is better, and says nothing (0) where its source is
absent: turns without vectors still rank by words. Sources: BM25 (Robertson and Zaragoza 2009), late interaction
(Khattab and Zaharia 2020, ColBERT) over one bit a dimension of a turn's token vectors.

Rules that a study of evidence retrieval led to:
- words are matched against a turn with its surroundings: previous + 2 × turn + next + the day it was said;
- late interaction looks at a turn and the one before it, whichever matches a piece of the question better;
- a piece of the question counts by its word's rarity in this memory; function words count nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memgraph_server.memory.interval import Instant, Interval, to_datetime
from memgraph_server.memory.terms import STOPWORDS, terms

Array = NDArray[np.float64]

_K1, _B = 1.2, 0.75
_DAY_TERMS = 3  # a day in words has three terms: 8 may 2023
SUBJECT = 0.6  # who acts is likelier to tell of it, but the other may: any share from 0.25 to 1 finds as much
_CHUNK = 8192  # token vectors unpacked at a time
_QUESTION_MARKS = frozenset("?？؟")
_DAY = timedelta(days=1) // timedelta(microseconds=1)


class Card(Protocol):
    """What ranking reads of a turn (stores/port.py, TurnCard)."""

    @property
    def handle(self) -> int: ...
    @property
    def turn_id(self) -> str: ...
    @property
    def session_id(self) -> str: ...
    @property
    def position(self) -> int: ...
    @property
    def role(self) -> str: ...
    @property
    def speaker(self) -> str: ...
    @property
    def at(self) -> Instant: ...
    @property
    def recorded_at(self) -> Instant: ...
    @property
    def length(self) -> int: ...
    @property
    def characters(self) -> int: ...
    @property
    def previous(self) -> int | None: ...
    @property
    def next(self) -> int | None: ...
    @property
    def pooled(self) -> NDArray[np.float32] | None: ...
    @property
    def token_bits(self) -> NDArray[np.uint8] | None: ...
    @property
    def pieces(self) -> Sequence[str]: ...


class Tokens(Protocol):
    """A turn's token vectors, as signs."""

    @property
    def handle(self) -> int: ...
    @property
    def token_bits(self) -> NDArray[np.uint8] | None: ...


class Posting(Protocol):
    """Where a term occurs (stores/port.py, Posting)."""

    @property
    def documents(self) -> int: ...
    @property
    def handles(self) -> NDArray[np.int64]: ...
    @property
    def counts(self) -> NDArray[np.int32]: ...


def rarity(documents: int, turns: int) -> float:
    """Inverse document frequency, never negative."""
    documents = min(documents, turns)
    return math.log(1.0 + (turns - documents + 0.5) / (documents + 0.5))


def first_stage(postings: Mapping[str, Posting], turns: int) -> tuple[NDArray[np.int64], Array]:
    """(handles ascending, scores) of every turn that holds a term or stands next to one that does.

    Handles ascend with arrival, so the neighbours of h are h - 1 and h + 1 in all but interleaved sessions: near enough
    to choose candidates by, and no turn has to be read for it. `lexical` is exact.
    """
    found = [posting for posting in postings.values() if len(posting.handles)]
    if not found:
        return np.zeros(0, np.int64), np.zeros(0)
    near = [posting.handles + offset for posting in found for offset in (-1, 0, 1)]
    merged = np.sort(np.concatenate(near), kind="stable")  # runs that are sorted already: a merge
    handles = merged[np.concatenate(([True], merged[1:] != merged[:-1]))]
    scores = np.zeros(len(handles))
    for posting in found:
        counts = np.zeros(len(handles))
        for offset, weight in ((-1, 1.0), (0, 2.0), (1, 1.0)):
            counts[np.searchsorted(handles, posting.handles + offset)] += weight * posting.counts
        scores += rarity(posting.documents, turns) * counts * (_K1 + 1) / (counts + _K1)
    return handles, scores


def lexical(cards: Sequence[Card], postings: Mapping[str, Posting], turns: int, mean_length: float) -> Array:
    """BM25 over previous + 2 × turn + next + the day in words. `mean_length`: of a turn, in terms."""
    handles, before, after = (
        np.array([_or_none(value) for value in column], dtype=np.int64)
        for column in zip(*((card.handle, card.previous, card.next) for card in cards), strict=True)
    )
    length = 2.0 * np.array([card.length for card in cards]) + 2.0 * mean_length + _DAY_TERMS
    norm = _K1 * (1 - _B + _B * length / (4.0 * mean_length + _DAY_TERMS))
    days = [day_terms(card.at) for card in cards] if any(_is_date_like(term) for term in postings) else []
    scores = np.zeros(len(cards))
    for term, posting in postings.items():
        counts = 2.0 * _counts(posting, handles) + _counts(posting, before) + _counts(posting, after)
        counts += [float(term in day) for day in days] or 0.0
        scores += rarity(posting.documents, turns) * counts * (_K1 + 1) / (counts + norm)
    return scores


def _or_none(handle: int | None) -> int:
    return -1 if handle is None else handle


def _counts(posting: Posting, handles: NDArray[np.int64]) -> Array:
    """Occurrences in each of the turns; 0 where there is no such turn."""
    if not len(posting.handles):
        return np.zeros(len(handles))
    places = np.minimum(np.searchsorted(posting.handles, handles), len(posting.handles) - 1)
    return np.where(posting.handles[places] == handles, posting.counts[places], 0).astype(np.float64)


_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")  # fmt: skip


def day_terms(at: Instant) -> frozenset[str]:
    """The day in words, UTC, as terms: 8, may, 2023."""
    day = to_datetime(at)
    return frozenset({str(day.day), _MONTHS[day.month - 1], str(day.year)})


def _is_date_like(term: str) -> bool:
    return term in _MONTHS or (term.isdecimal() and len(term) in (1, 2, 4))


def pooled(cards: Sequence[Card], vector: NDArray[np.float32] | None) -> Array:
    """Cosine of the turn's vector to the question's."""
    scores = np.zeros(len(cards))
    if vector is not None:
        known = [index for index, card in enumerate(cards) if card.pooled is not None]
        if known:
            scores[known] = np.stack([cards[index].pooled for index in known]) @ vector  # type: ignore[misc]
    return scores


def piece_weights(pieces: Sequence[str], postings: Mapping[str, Posting], turns: int) -> Array:
    """Of each word piece of a question: its word's rarity, shared over the word's pieces; they sum to 1.

    A piece that goes on a word begins with ## (WordPiece). Without any content word all pieces count alike.
    """
    weights = np.zeros(len(pieces))
    for word, places in _words(pieces):
        known = [term for term in terms(word) if term not in STOPWORDS]
        rarities = [rarity(postings[t].documents if t in postings else 0, turns) for t in known]
        weights[places] = max(rarities, default=0.0) / math.sqrt(len(places))
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(pieces), 1.0 / max(1, len(pieces)))


def _words(pieces: Sequence[str]) -> list[tuple[str, list[int]]]:
    words: list[tuple[str, list[int]]] = []
    for place, piece in enumerate(pieces):
        if piece.startswith("##") and words:
            word, places = words[-1]
            words[-1] = (word + piece[2:], [*places, place])
        else:
            words.append((piece, [place]))
    return words


def late_interaction(
    cards: Sequence[Card], before: Mapping[int, Tokens], question: NDArray[np.float32], weights: Array
) -> tuple[Array, Array]:
    """Weight × best match, shape (cards, pieces that count): among the tokens of the turn, and of the turn and the one
    before it. Summed over pieces, they are the signals `own` and `late`.

    question: shape (pieces, dimension), unit rows; before: the tokens of previous turns by handle (those that are
    absent are passed over).
    """
    counted = weights > 0
    question, weights = question[counted], weights[counted]
    wanted: dict[int, Tokens] = {card.handle: card for card in cards}
    wanted.update((h, before[h]) for c in cards if (h := c.previous) is not None and h in before and h not in wanted)
    best = _best_matches(list(wanted.values()), question)
    nothing = np.full(len(weights), -np.inf)
    own = [best.get(card.handle, nothing) for card in cards]
    either = [np.maximum(mine, best.get(_or_none(c.previous), nothing)) for mine, c in zip(own, cards, strict=True)]
    return _weighted(own, weights), _weighted(either, weights)


def _weighted(matches: Sequence[Array], weights: Array) -> Array:
    table = np.stack(matches) if matches else np.zeros((0, len(weights)))
    return np.where(np.isfinite(table), table, 0.0) * weights


def _best_matches(cards: Sequence[Tokens], question: NDArray[np.float32]) -> dict[int, Array]:
    """Of each card that has tokens, the best cosine for each row of the question; shape (pieces,)."""
    held = [card for card in cards if card.token_bits is not None and len(card.token_bits)]
    if not held or not len(question):
        return {}
    bits = np.concatenate([card.token_bits for card in held if card.token_bits is not None])
    sizes = np.array([len(card.token_bits) for card in held if card.token_bits is not None])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    best = np.maximum.reduceat(_cosines(bits, question), starts, axis=0)
    return {card.handle: row for card, row in zip(held, best, strict=True)}


def _cosines(bits: NDArray[np.uint8], question: NDArray[np.float32]) -> Array:
    """Cosines of sign vectors (±1 from bits, most significant first) to the question's rows: (tokens, pieces)."""
    dimension = question.shape[1]
    total = question.sum(axis=1)
    parts = []
    for start in range(0, len(bits), _CHUNK):
        ones = np.unpackbits(bits[start : start + _CHUNK], axis=1, count=dimension).astype(np.float32)
        parts.append((2.0 * (ones @ question.T) - total) / math.sqrt(dimension))
    return np.concatenate(parts).astype(np.float64)


def speaker(cards: Sequence[Card], asked: Iterable[str], asker: str | None, subject: str | None = None) -> Array:
    """1 for turns of the one participant who is asked about; where several are named, SUBJECT for those of the one
    whose doing is asked about, if it is one's (Reading.subject), and 0 for the others.

    Where nobody is named, a question is about whoever asks it: `asker`, else who speaks as user.
    """
    names = set(asked)
    if len(names) > 1:
        return np.array([SUBJECT * float(card.speaker == subject) for card in cards])
    if asker is not None:
        names = names or {asker}
    if names:
        return np.array([float(card.speaker in names) for card in cards])
    return np.array([float(card.role == "user") for card in cards])


def questions(cards: Sequence[Card]) -> Array:
    """1 for turns that end in a question mark: they ask for what others tell."""
    return np.array([float(bool(card.pieces) and card.pieces[-1] in _QUESTION_MARKS) for card in cards])


def recency(cards: Sequence[Card], reference_time: Instant) -> Array:
    """−log(1 + days before the reference time): of equals, the later said comes first. At most 0."""
    days = np.maximum(0.0, reference_time - np.array([card.at for card in cards], dtype=np.float64)) / _DAY
    return -np.log1p(days)


def nearness(cards: Sequence[Card], period: Interval | None, scale_days: float = 7.0) -> Array:
    """1 within the stated period, falling by half for every `scale_days` away from it; 0 where none is stated."""
    if period is None:
        return np.zeros(len(cards))
    at = np.array([card.at for card in cards], dtype=np.float64)
    end = period.start + 1 if period.end is None else period.end
    away = (
        np.maximum(0.0, np.maximum(period.start - at, at - end))
        if period.end is not None
        else np.maximum(0.0, period.start - at)
    )
    return np.exp2(-away / (_DAY * scale_days))


def turn_scores(cards: Sequence[Card], scores: Mapping[str, float]) -> Array:
    """Scores given by turn id as an array; 0 for the others."""
    return np.array([scores.get(card.turn_id, 0.0) for card in cards])


def fact_scores(near: Sequence[tuple[float, Sequence[str]]]) -> dict[str, float]:
    """By turn id, how much nearer the best fact that the turn states is to the question than the farthest of `near`.

    near: (cosine, turn ids) of the facts nearest to the question. A fact names its subject and spells out what a turn
    says with pronouns, so that the turns which state it are found by who it is about, whoever speaks.
    """
    floor = min((cosine for cosine, _ in near), default=0.0)
    found: dict[str, float] = {}
    for cosine, turns in near:
        for turn_id in turns:
            found[turn_id] = max(found.get(turn_id, 0.0), cosine - floor)
    return found
