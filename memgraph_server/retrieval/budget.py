"""Which turns are returned: the best whole turns that fit the caller's budget, and nothing beyond it.

Rules:
- greedy by score; a turn that does not fit is passed over and the next is tried; a turn is whole or absent;
- a near-duplicate of a chosen turn says little new: it comes after everything else;
- turns that the graph points to, and the earliest turn about each entity on the paths (the cascade: one hop, at most
  five extra), are candidates like any other, raised by the graph's signal. They add; they displace nothing better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memgraph_server.memory.interval import Instant
from memgraph_server.retrieval.evidence import Path

CASCADE = 5
#: Cosine from which two turns of this memory are as good as the same.
NEAR_DUPLICATE = 0.97
#: How many of the best candidates are compared with each other.
COMPARED = 120


def choose(tokens: Sequence[int], scores: Sequence[float], budget: int, vectors: NDArray[np.float32]) -> list[int]:
    """Places of the chosen turns, best first.

    tokens, scores: of each candidate; vectors: shape (candidates, dimension), unit rows, a row of zeros where a turn
    has none. Ties go to the earlier candidate.
    """
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable").tolist()
    repeated = _repeated(order, vectors)
    chosen: list[int] = []
    left = budget
    for place in [p for p in order if p not in repeated] + [p for p in order if p in repeated]:
        if tokens[place] <= left:
            chosen.append(place)
            left -= tokens[place]
    return chosen


def _repeated(order: Sequence[int], vectors: NDArray[np.float32]) -> set[int]:
    """Candidates that nearly repeat a better one."""
    if not len(vectors):
        return set()
    ranked = vectors[list(order[:COMPARED])]
    alike = np.tril(ranked @ ranked.T >= NEAR_DUPLICATE, k=-1)
    return {place for row, place in enumerate(order[:COMPARED]) if bool(alike[row].any())}


def path_turns(paths: Sequence[Path], worths: Sequence[float]) -> dict[str, float]:
    """Turn ids that support a step of a path, with the worth of the best such path."""
    found: dict[str, float] = {}
    for path, worth in zip(paths, worths, strict=True):
        for step in path.steps:
            for turn_id in step.turns:
                found[turn_id] = max(worth, found.get(turn_id, 0.0))
    return found


def entities_on(paths: Iterable[Path]) -> list[str]:
    """Entities of the paths, roots first, each once."""
    places = (entity for path in paths for entity in (path.root, *(step.there for step in path.steps)))
    return list(dict.fromkeys(places))


def cascade(definitions: Mapping[str, Sequence[tuple[Instant, str]]], known: Iterable[str]) -> list[str]:
    """The earliest turn about each entity that is not known already, at most five; entities in the order given.

    definitions: for each entity, (time, turn id) of the turns that state facts of it.
    """
    seen = set(known)
    found: list[str] = []
    for turns in definitions.values():
        if not turns:
            continue
        _, first = min(turns)
        if first not in seen and len(found) < CASCADE:
            seen.add(first)
            found.append(first)
    return found
