"""Turns are said in sessions, and a session has one or two topics. Two corrections to turns' scores follow from it:

- a turn gains from its session's best turns: where three turns match, their neighbours are probably about it too;
- what a session has said already makes its next turn worth less, so that evidence that lies in several sessions fits
  the budget: score − λ × log(1 + tokens of the session's better turns ÷ 60). In tokens, not in turns: three remarks of
  a chat say less than three answers of an assistant, and one λ serves both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memgraph_server.retrieval.signals import Array

BEST = 3  # turns that stand for their session
REMARK = 60  # tokens: about two remarks of a chat between people


def session_strength(sessions: Sequence[str], relevance: Array) -> Array:
    """For each turn, the mean relevance of its session's best three (the best counts again where there are fewer)."""
    strength = np.zeros(len(sessions))
    for places in _by_session(sessions):
        best = np.sort(relevance[places])[::-1][:BEST]
        strength[places] = (best.sum() + best[-1] * (BEST - len(best))) / BEST
    return strength


def said_before(sessions: Sequence[str], scores: Array, tokens: Array) -> Array:
    """For each turn, the tokens of its session's turns that score better; ties by place."""
    said = np.zeros(len(sessions))
    for places in _by_session(sessions):
        order = places[np.argsort(-scores[places], kind="stable")]
        said[order] = np.cumsum(tokens[order]) - tokens[order]
    return said


def repetition(sessions: Sequence[str], scores: Array, tokens: Array) -> Array:
    """log(1 + tokens said before ÷ 60): 0 for the best turn of each session."""
    return np.asarray(np.log1p(said_before(sessions, scores, tokens) / REMARK))


def _by_session(sessions: Sequence[str]) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    members: dict[str, list[int]] = {}
    for place, session in enumerate(sessions):
        members.setdefault(session, []).append(place)
    return [np.array(places, dtype=np.int64) for places in members.values()]
