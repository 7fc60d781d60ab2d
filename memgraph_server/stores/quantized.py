"""Vectors as both stores keep them beside their own index: a byte a dimension with its scale, tokens a bit a dimension.

A store searches by bits or by an index of its own, takes more candidates than it needs, and answers with the cosines of
what is kept here. A vector that is not finite, all zero or of another dimension is as absent.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgraph_server.stores.port import TurnVectors
from memgraph_server.stores.vectors import Floats, from_int8, sign_bits, to_int8


@dataclass(frozen=True, slots=True)
class Space:
    """The embedder whose vectors a store searches now."""

    embedder: str
    dimension: int

    @property
    def width(self) -> int:
        """Dimensions kept: the next multiple of eight, so that signs fill whole bytes."""
        return -(-self.dimension // 8) * 8

    def usable(self, vector: Floats | None) -> Floats | None:
        """The vector at unit length and padded to `width`; None where it cannot be searched with."""
        if vector is None:
            return None
        values = np.asarray(vector, dtype=np.float32)
        if values.shape != (self.dimension,):
            return None
        square = float(values @ values)  # not finite where a value is not
        if not 0.0 < square < math.inf:
            return None
        unit = values / np.float32(math.sqrt(square))
        return unit if self.width == self.dimension else np.pad(unit, (0, self.width - self.dimension))


def quantized(vector: Floats) -> bytes:
    values, scale = to_int8(vector)
    return struct.pack("<f", scale) + values


def restored(stored: bytes) -> Floats:
    return from_int8(stored[4:], struct.unpack("<f", stored[:4])[0])


def restored_all(stored: Sequence[bytes]) -> Floats:
    """As rows, shape (n, width): what `restored` gives for each."""
    rows, scales = _parts(stored)
    values: Floats = (rows[:, 4:].view(np.int8) * scales.astype(np.float64)[:, None]).astype(np.float32)
    return values


def cosines(query: Floats, stored: Sequence[bytes]) -> Floats:
    """Of a unit query to quantized vectors, which are unit as well: shape (n,).

    Each is summed in one order, whatever is asked with it: a product of matrices sums in an order that depends on how
    many rows there are, and the last digit would decide otherwise in another store who of equals comes first.
    """
    rows, scales = _parts(stored)
    products: Floats = np.einsum("ij,j->i", rows[:, 4:].view(np.int8).astype(np.float32), query) * scales
    return products


def _parts(stored: Sequence[bytes]) -> tuple[NDArray[np.uint8], Floats]:
    """Rows as they are stored, (n, 4 + width), and their scales, (n,)."""
    rows = np.frombuffer(b"".join(stored), dtype=np.uint8).reshape(len(stored), -1)
    return rows, rows[:, :4].copy().view("<f4")[:, 0]


def tokens_of(vectors: TurnVectors, space: Space) -> tuple[bytes, tuple[str, ...]]:
    """Signs of the tokens' vectors; none where they do not fit the pieces or the dimension."""
    tokens = np.asarray(vectors.tokens, dtype=np.float32)
    pieces = _storable(vectors.pieces)
    if tokens.ndim != 2 or tokens.shape != (len(pieces), space.dimension) or not pieces:
        return b"", ()
    if space.width != space.dimension:
        tokens = np.pad(tokens, ((0, 0), (0, space.width - space.dimension)))
    return sign_bits(tokens).tobytes(), pieces


def _storable(pieces: tuple[str, ...]) -> tuple[str, ...]:
    try:
        "".join(pieces).encode()
    except UnicodeEncodeError:
        return tuple(piece.encode("utf-8", "replace").decode() for piece in pieces)
    return pieces
