"""Turns are said in sessions, and a session has one or two topics. Two corrections to turns' scores follow from it:

- a turn gains from its session's best turns: where three turns match, their neighbours are probably about it too;
- each further turn of one session adds less than the one before, so that evidence that lies in several sessions fits
  the budget: score − λ × log(1 + how many better turns of the same session there are).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memgraph_server.retrieval.signals import Array

BEST = 3  # turns that stand for their session


def session_strength(sessions: Sequence[str], relevance: Array) -> Array:
    """For each turn, the mean relevance of its session's best three (the best counts again where there are fewer)."""
    strength = np.zeros(len(sessions))
    for places in _by_session(sessions):
        best = np.sort(relevance[places])[::-1][:BEST]
        strength[places] = (best.sum() + best[-1] * (BEST - len(best))) / BEST
    return strength


def ranks_in_session(sessions: Sequence[str], scores: Array) -> Array:
    """For each turn, how many of its session come before it; ties by place."""
    ranks = np.zeros(len(sessions))
    for places in _by_session(sessions):
        ranks[places[np.argsort(-scores[places], kind="stable")]] = np.arange(len(places))
    return ranks


def _by_session(sessions: Sequence[str]) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    members: dict[str, list[int]] = {}
    for place, session in enumerate(sessions):
        members.setdefault(session, []).append(place)
    return [np.array(places, dtype=np.int64) for places in members.values()]
