"""What the memory is compared with, in the same run and under the same budget rule: recency, BM25, dense vectors.

Each ranks whole turns and takes, best first, those that still fit; a long turn does not shut the door on a shorter
one behind it. All of them grow turn by turn, so a question asked in the middle sees exactly what was said before it.

`bm25` is the `retrieval` policy of retainkit 0.1.0 (PyPI, MIT), built again here so that its figures can be checked
against this run: BM25 (k1 1.5, b 0.75) over words of a-z and 0-9, each turn charged four tokens more than its text.
`bm25_same_budget` is charged exactly what the memory is, and reads words of any script.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from memgraph_server.language.port import Embedder, Floats
from memgraph_server.memory.turns import Turn
from memgraph_server.retrieval.evidence import four_characters_a_token

Words = Callable[[str], list[str]]
_K1, _B = 1.5, 0.75


class Ranking(Protocol):
    """A way to order the turns added so far for a question, best first, as places in order of arrival."""

    def add(self, turns: Sequence[Turn]) -> None: ...
    def ranked(self, question: str) -> Sequence[int]: ...


@dataclass
class Baseline:
    """A ranking under the budget rule; `overhead` is charged a turn on top of its text."""

    name: str
    ranking: Ranking
    overhead: int = 0
    _turns: list[Turn] = field(default_factory=list)
    _costs: list[int] = field(default_factory=list)

    def add(self, turns: Sequence[Turn]) -> None:
        self._turns += turns
        self._costs += [four_characters_a_token(turn.full_text()) + self.overhead for turn in turns]
        self.ranking.add(turns)

    def select(self, question: str, budgets: Sequence[int]) -> list[tuple[list[Turn], int]]:
        """For each budget the turns taken, best first, and what they cost in tokens. Ranks once."""
        ranked = self.ranking.ranked(question)
        return [self._fill(ranked, budget) for budget in budgets]

    def _fill(self, ranked: Sequence[int], budget: int) -> tuple[list[Turn], int]:
        taken: list[Turn] = []
        spent = 0
        for place in ranked:
            if spent + self._costs[place] <= budget:
                taken.append(self._turns[place])
                spent += self._costs[place]
        return taken, spent


def default_baselines(embedder: Embedder | None) -> list[Baseline]:
    """Fresh ones for one conversation; dense only where there is an embedder."""
    dense = [Baseline("dense", Dense(embedder))] if embedder is not None else []
    return [
        Baseline("recency", Recency()),
        Baseline("bm25", Bm25(ascii_words), overhead=4),
        Baseline("bm25_same_budget", Bm25(words)),
        *dense,
    ]


def words(text: str) -> list[str]:
    """Runs of letters and digits of any script, lower case."""
    return re.findall(r"[^\W_]+", text.lower())


def ascii_words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


class Recency:
    """The latest turn first: a sliding window."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, turns: Sequence[Turn]) -> None:
        self._count += len(turns)

    def ranked(self, question: str) -> Sequence[int]:  # noqa: ARG002 (a window does not read the question)
        return range(self._count - 1, -1, -1)


class Bm25:
    """Okapi BM25 over turns with their captions; ties go to the earlier turn."""

    def __init__(self, words_of: Words) -> None:
        self._words = words_of
        self._lengths: list[int] = []
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(self, turns: Sequence[Turn]) -> None:
        for turn in turns:
            counts = Counter(self._words(turn.full_text()))
            for word, count in counts.items():
                self._postings[word].append((len(self._lengths), count))
            self._lengths.append(counts.total())

    def ranked(self, question: str) -> Sequence[int]:
        return [int(place) for place in np.argsort(-self._scores(question), kind="stable")]

    def _scores(self, question: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        lengths = np.asarray(self._lengths, dtype=np.float64)
        scores = np.zeros(len(lengths))
        if not lengths.any():
            return scores
        norms = _K1 * (1 - _B + _B * lengths / lengths.mean())
        for word in self._words(question):
            if word in self._postings:
                places, counts = np.asarray(self._postings[word]).T
                idf = math.log(1 + (len(lengths) - len(places) + 0.5) / (len(places) + 0.5))
                scores[places] += idf * counts * (_K1 + 1) / (counts + norms[places])
        return scores


class Dense:
    """Cosine of the question's pooled vector with each turn's, the turn's speaker before its text as in a script.

    Questions name people: without the speaker the same vectors find 58 % instead of 70 % (LoCoMo dev, 2,048 tokens).
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._blocks: list[Floats] = []

    def add(self, turns: Sequence[Turn]) -> None:
        if turns:
            encoded = self._embedder.encode([_line(turn) for turn in turns])
            self._blocks.append(np.stack([encoding.pooled for encoding in encoded]))

    def ranked(self, question: str) -> Sequence[int]:
        if not self._blocks:
            return ()
        asked = self._embedder.encode([question])[0].pooled
        return [int(place) for place in np.argsort(-(np.concatenate(self._blocks) @ asked), kind="stable")]


def _line(turn: Turn) -> str:
    return f"{turn.speaker}: {turn.full_text()}" if turn.speaker else turn.full_text()
