"""Vectors in rows, and the bit indexes that search them, kept by each process and refreshed from the rows.

Rules: rows are numbered and never changed; before a search a process reads the rows above the last number it saw, so it
finds what other processes wrote. Where rows were replaced or erased the namespace's generation has moved, and the index
is built anew. Only vectors of the store's present embedder and dimension are searched: others are as absent, and wait
to be replaced. A vector that is not finite, all zero or of another dimension is stored as none.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memgraph_server.stores.port import TurnVectors
from memgraph_server.stores.vectors import BitIndex, Floats, from_int8, sign_bits, to_int8

#: Namespaces whose indexes a process keeps; the one unused longest is dropped first.
KEPT = 64


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


@dataclass(frozen=True, slots=True)
class StoredSpace:
    """A space and the number of its embedder in one store."""

    space: Space
    embedder: int


def stored_space(connection: sqlite3.Connection, space: Space) -> StoredSpace:
    """The embedder's number is made where it is new; inside a write."""
    query = "SELECT id FROM embedder WHERE name = ? AND dimension = ?"
    row = connection.execute(query, (space.embedder, space.dimension)).fetchone()
    if row is not None:
        return StoredSpace(space, row[0])
    query = """
        INSERT INTO embedder (name, dimension) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET dimension = excluded.dimension RETURNING id"""
    return StoredSpace(space, connection.execute(query, (space.embedder, space.dimension)).fetchone()[0])


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


def candidates_for(limit: int) -> int:
    """How many to take by bits so that the best `limit` by the vectors themselves are among them: the top 200 by bits
    hold 99 % of the top 20 by cosine, and the more are wanted, the fewer are missed."""
    return max(limit + 50, min(4 * limit, limit + 128))


def cosines(query: Floats, stored: Sequence[bytes]) -> Floats:
    """Of a unit query to quantized vectors, which are unit as well: shape (n,), in one product."""
    rows, scales = _parts(stored)
    products: Floats = (rows[:, 4:].view(np.int8).astype(np.float32) @ query) * scales
    return products


def _parts(stored: Sequence[bytes]) -> tuple[NDArray[np.uint8], Floats]:
    """Rows as they are stored, (n, 4 + width), and their scales, (n,)."""
    rows = np.frombuffer(b"".join(stored), dtype=np.uint8).reshape(len(stored), -1)
    return rows, rows[:, :4].copy().view("<f4")[:, 0]


def write_turn_vectors(
    connection: sqlite3.Connection,
    namespace: int,
    turn: int,
    vectors: TurnVectors,
    space: StoredSpace,
) -> None:
    pooled = space.space.usable(vectors.pooled)
    if pooled is None:
        return
    tokens, pieces = tokens_of(vectors, space.space)
    row = (
        namespace,
        turn,
        space.embedder,
        quantized(pooled),
        sign_bits(pooled).tobytes(),
        tokens,
        json.dumps(pieces, ensure_ascii=False),
    )
    query = """
        INSERT OR REPLACE INTO turn_vector (namespace, turn, embedder, pooled, bits, token_bits, pieces)
        VALUES (?, ?, ?, ?, ?, ?, ?)"""
    connection.execute(query, row)


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


def write_triple_vector(
    connection: sqlite3.Connection,
    namespace: int,
    triple: tuple[int, int, int],
    vector: Floats | None,
    space: StoredSpace,
) -> None:
    """`triple`: its number, and its head and tail, the groups it can be searched within. Replaces one that is there."""
    usable = space.space.usable(vector)
    if usable is None:
        return
    number, head, tail = triple
    query = """
        INSERT OR REPLACE INTO triple_vector (namespace, triple, head, tail, embedder, pooled, bits)
        VALUES (?, ?, ?, ?, ?, ?, ?)"""
    stored = (space.embedder, quantized(usable), sign_bits(usable).tobytes())
    connection.execute(query, (namespace, number, head, tail, *stored))


@dataclass(slots=True)
class _Kept:
    index: BitIndex
    generation: int
    seen: int = 0
    guard: threading.Lock = field(default_factory=threading.Lock)


class Indexes:
    """This process's bit indexes: one of turns and one of triples for each namespace searched lately."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._kept: OrderedDict[tuple[int, str], _Kept] = OrderedDict()
        self._guard = threading.Lock()

    def nearest(
        self,
        connection: sqlite3.Connection,
        namespace: int,
        kind: str,
        query: Floats,
        *,
        k: int,
        either: int | None = None,
    ) -> tuple[NDArray[np.int64], Floats]:
        """Turn or triple numbers and estimated cosines, best first. `kind`: "turn" or "triple"."""
        row = connection.execute("SELECT generation FROM namespace WHERE id = ?", (namespace,)).fetchone()
        if row is None:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        kept = self._keep(namespace, kind, row[0])
        with kept.guard:
            self._refresh(connection, namespace, kind, kept)
        return kept.index.nearest(query, k, either)

    def forget(self, namespace: int) -> None:
        """Drop what is held of a namespace that was erased."""
        with self._guard:
            for kind in ("turn", "triple"):
                self._kept.pop((namespace, kind), None)

    def _keep(self, namespace: int, kind: str, generation: int) -> _Kept:
        with self._guard:
            kept = self._kept.get((namespace, kind))
            if kept is None or kept.generation != generation:
                kept = self._kept[namespace, kind] = _Kept(BitIndex(self._space.width), generation)
            self._kept.move_to_end((namespace, kind))
            while len(self._kept) > 2 * KEPT:
                self._kept.popitem(last=False)
            return kept

    def _refresh(self, connection: sqlite3.Connection, namespace: int, kind: str, kept: _Kept) -> None:
        groups = "v.head, v.tail" if kind == "triple" else "0, 0"
        query = f"""
            SELECT v.number, v.{kind}, v.bits, {groups} FROM {kind}_vector v JOIN embedder e ON e.id = v.embedder
            WHERE v.namespace = ? AND v.number > ? AND e.name = ? AND e.dimension = ?
            ORDER BY v.number"""  # noqa: S608  `kind` is one of two constants
        cursor = connection.execute(query, (namespace, kept.seen, self._space.embedder, self._space.dimension))
        while rows := cursor.fetchmany(50_000):
            numbers, handles, bits, heads, tails = zip(*rows, strict=True)
            packed = np.frombuffer(b"".join(bits), dtype=np.uint8).reshape(len(rows), -1)
            pair = (np.array(heads), np.array(tails)) if kind == "triple" else (None, None)
            kept.index.extend(np.array(handles), packed, *pair)
            kept.seen = numbers[-1]
