"""Sentence vectors without a model: words and character trigrams hashed into a fixed number of signed buckets
(Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", 2009).

For machines too small for the sentence model, and for tests that start a server a hundred times. It finds what shares
words or parts of words, in any script; it knows no synonyms. Deterministic across processes and machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from memgraph_server.language.encodings import absent, alone, clean, encoding
from memgraph_server.language.port import Encoding, Floats, InContext
from memgraph_server.memory.terms import terms

_DIMENSION = 384
_MOST_PIECES = 256


class HashedEmbedder:
    """See the module; safe to use from several threads, since it keeps no state."""

    @property
    def name(self) -> str:
        return "hashed/1"

    @property
    def dimension(self) -> int:
        return _DIMENSION

    def encode(self, texts: Sequence[str | InContext]) -> list[Encoding]:
        return [_encode(alone(text)) for text in texts]


def _encode(text: str) -> Encoding:
    pieces = tuple(terms(clean(text))[:_MOST_PIECES])
    if not pieces:
        return absent(_DIMENSION)
    tokens = np.stack([_word(piece) for piece in pieces])
    return encoding(tokens.sum(axis=0, dtype=np.float32), tokens, pieces)


def _word(piece: str) -> Floats:
    """The word itself has as much of the length as its trigrams together."""
    padded = f"<{piece}>"
    grams = [padded[start : start + 3] for start in range(len(padded) - 2)]
    row = np.zeros(_DIMENSION, dtype=np.float32)
    for gram, weight in [(padded, len(grams) ** 0.5), *((gram, 1.0) for gram in grams)]:
        digest = hashlib.blake2b(gram.encode(), digest_size=8).digest()
        row[int.from_bytes(digest[:4], "big") % _DIMENSION] += weight if digest[4] & 1 else -weight
    return row
