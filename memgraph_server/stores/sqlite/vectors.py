"""Vectors in rows, and the bit indexes that search them, kept by each process and refreshed from the rows.

Rules: rows are numbered and never changed; before a search a process reads the rows above the last number it saw, so it
finds what other processes wrote. Where rows were replaced or erased the namespace's generation has moved, and the index
is built anew. Only vectors of the store's present embedder and dimension are searched: others are as absent, and wait
to be replaced. A vector that is not finite, all zero or of another dimension is stored as none.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memgraph_server.stores.port import TurnVectors
from memgraph_server.stores.quantized import Space, quantized, tokens_of
from memgraph_server.stores.vectors import BitIndex, Floats, sign_bits

#: Namespaces whose indexes a process keeps; the one unused longest is dropped first.
KEPT = 64


@dataclass(frozen=True, slots=True)
class StoredSpace:
    """A space and the number of its embedder in one store."""

    space: Space
    embedder: int


def candidates_for(limit: int) -> int:
    """How many to take by bits so that the best `limit` by the vectors themselves are among them: the top 200 by bits
    hold 99 % of the top 20 by cosine, and the more are wanted, the fewer are missed."""
    return max(limit + 50, min(4 * limit, limit + 128))


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
