"""Turns are said in sessions, and a session has one or two topics. Two corrections to turns' scores follow from it:

- a turn gains from its session's best turns: where three turns match, their neighbours are probably about it too;
- what a session has said already makes its next turn worth less, so that evidence that lies in several sessions fits
  the budget: score − λ × log(1 + tokens of the session's better turns ÷ 60). In tokens, not in turns: three remarks of
  a chat say less than three answers of an assistant, and one λ serves both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memgraph_server.retrieval.signals import Array

Places: TypeAlias = NDArray[np.int64]

BEST = 3  # turns that stand for their session
REMARK = 60  # tokens: about two remarks of a chat between people


def session_strength(sessions: Sequence[str], relevance: Array) -> Array:
    """For each turn, the mean relevance of its session's best three (the last counts again where there are fewer)."""
    order, starts, counts = _grouped(sessions, relevance)
    best = [relevance[order[starts + np.minimum(rank, counts - 1)]] for rank in range(BEST)]
    strength = np.empty(len(sessions))
    strength[order] = np.repeat(sum(best) / BEST, counts)
    return strength


def said_before(sessions: Sequence[str], scores: Array, tokens: Array) -> Array:
    """For each turn, the tokens of its session's turns that score better; ties by place."""
    order, starts, counts = _grouped(sessions, scores)
    before = np.cumsum(tokens[order]) - tokens[order]
    said = np.empty(len(sessions))
    said[order] = before - np.repeat(before[starts], counts)
    return said


def repetition(sessions: Sequence[str], scores: Array, tokens: Array) -> Array:
    """log(1 + tokens said before ÷ 60): 0 for the best turn of each session."""
    return np.asarray(np.log1p(said_before(sessions, scores, tokens) / REMARK))


def _grouped(sessions: Sequence[str], scores: Array) -> tuple[Places, Places, Places]:
    """Places session by session, best score first; where each session starts among them; how many it has."""
    numbers: dict[str, int] = {}
    session = np.array([numbers.setdefault(name, len(numbers)) for name in sessions], dtype=np.int64)
    order = np.lexsort((-scores, session))
    counts = np.bincount(session, minlength=len(numbers)).astype(np.int64)
    return order, np.cumsum(counts) - counts, counts
