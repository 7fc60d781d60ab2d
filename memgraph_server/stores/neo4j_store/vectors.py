"""Vectors as they are kept: whole, for Neo4j's own index, and quantized, for the cosines that a search answers with.

The index finds candidates by whole vectors; a hit that carried its whole embedding would take three times as long. So
hits carry one byte a dimension, as in the embedded store, and cosines are computed from these here: both stores give
the same numbers for the same vectors.

Only vectors of the store's present embedder are searched: `embedder` is a filter inside the index, and "" stands for
none. A vector that is not finite, all zero or of another dimension is stored as none.
"""

from __future__ import annotations

import numpy as np

from memgraph_server.stores.port import Floats, TurnVectors
from memgraph_server.stores.quantized import Space, cosines, quantized, tokens_of


def candidates_for(limit: int) -> int:
    """How many to take of the index: a few more than are wanted, since what hits carry is rounded, and facts of some
    may be filtered. Each more costs time in every segment of the index, of 25,000 vectors each."""
    return limit + 50


def embedding(space: Space, vector: Floats | None) -> dict[str, object] | None:
    """The properties of a vector; None for one that cannot be searched with."""
    usable = space.usable(vector)
    if usable is None:
        return None
    return {"embedder": space.embedder, "pooled": quantized(usable), "embedding": usable.tolist()}


def turn_embedding(space: Space, vectors: TurnVectors | None) -> dict[str, object] | None:
    row = None if vectors is None else embedding(space, vectors.pooled)
    if row is None or vectors is None:
        return None
    tokens, pieces = tokens_of(vectors, space)
    return {**row, "token_bits": tokens, "pieces": list(pieces)}


def similarities(space: Space, query: Floats, stored: dict[int, bytes]) -> dict[int, float]:
    """Of a usable query to quantized vectors, by what these belong to; those of another dimension are left out."""
    fitting = {number: pooled for number, pooled in stored.items() if len(pooled) == space.width + 4}
    if not fitting:
        return {}
    scores = np.asarray(cosines(query, list(fitting.values())))
    return {number: float(score) for number, score in zip(fitting, scores, strict=True)}
