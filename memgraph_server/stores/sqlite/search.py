"""What finds turns besides their words (postings.py): vectors, and the cards that ranking reads (0002_search.sql)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import overload

import numpy as np

from memgraph_server.stores.port import CardVectors, CorpusSize, Floats, TurnCard
from memgraph_server.stores.quantized import Space, cosines, restored_all
from memgraph_server.stores.sqlite.vectors import Indexes, candidates_for

_CARD = """
    SELECT t.handle, t.id, s.id, t.position, t.role, t.speaker, t.at, t.recorded_at, t.length, t.characters,
        (SELECT b.handle FROM turn b WHERE b.namespace = t.namespace AND b.session = t.session
            AND b.position = t.position - 1),
        (SELECT a.handle FROM turn a WHERE a.namespace = t.namespace AND a.session = t.session
            AND a.position = t.position + 1)
    FROM json_each(?) wanted CROSS JOIN turn t ON t.handle = wanted.value JOIN session s ON s.handle = t.session
    WHERE t.namespace = ?"""


def corpus_size(connection: sqlite3.Connection, namespace: int) -> CorpusSize:
    row = connection.execute("SELECT turns, terms FROM namespace WHERE id = ?", (namespace,)).fetchone()
    return CorpusSize(*row) if row else CorpusSize(0, 0)


def nearest_turns(
    connection: sqlite3.Connection, namespace: int, vector: Floats, limit: int, *, space: Space, indexes: Indexes
) -> list[tuple[int, float]]:
    """By bits first, then by the quantized vectors."""
    query = space.usable(vector)
    if query is None or limit == 0:
        return []
    candidates, _ = indexes.nearest(connection, namespace, "turn", query, k=candidates_for(limit))
    statement = """
        SELECT v.turn, v.pooled FROM json_each(?) wanted CROSS JOIN turn_vector v
        WHERE v.namespace = ? AND v.turn = wanted.value"""
    rows = connection.execute(statement, (json.dumps(candidates.tolist()), namespace)).fetchall()
    if not rows:
        return []
    found, pooled = zip(*rows, strict=True)
    turns, scores = np.array(found, dtype=np.int64), cosines(query, pooled)
    order = np.lexsort((turns, -scores))[:limit]
    return list(zip(turns[order].tolist(), scores[order].tolist(), strict=True))


def turn_cards(connection: sqlite3.Connection, namespace: int, handles: Sequence[int]) -> dict[int, TurnCard]:
    rows = connection.execute(_CARD, (json.dumps([int(handle) for handle in handles]), namespace))
    return {row[0]: TurnCard(*row) for row in rows}


class Pieces(Sequence[str]):
    """Word pieces as they are stored, parsed where somebody looks: of the hundreds of cards that a question reads, few
    are asked for theirs."""

    __slots__ = ("_parsed", "_stored")

    def __init__(self, stored: str) -> None:
        self._stored = stored
        self._parsed: tuple[str, ...] | None = None

    @property
    def _pieces(self) -> tuple[str, ...]:
        if self._parsed is None:
            self._parsed = tuple(json.loads(self._stored))
        return self._parsed

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if place == -1 and self._parsed is None and (start := self._stored.rfind('", "')) >= 0:
            return str(json.loads(f"[{self._stored[start + 3 :]}")[0])  # no piece holds a quote and a space
        return self._pieces[place]

    def __bool__(self) -> bool:
        return self._stored != "[]"

    def __len__(self) -> int:
        return len(self._pieces)

    def __eq__(self, other: object) -> bool:
        return self._pieces == (other._pieces if isinstance(other, Pieces) else other)

    def __hash__(self) -> int:
        return hash(self._pieces)

    def __repr__(self) -> str:
        return repr(self._pieces)


def turn_vectors(
    connection: sqlite3.Connection, namespace: int, handles: Sequence[int], space: Space
) -> dict[int, CardVectors]:
    wanted = json.dumps([int(handle) for handle in handles])
    query = """
        SELECT v.turn, v.pooled, v.token_bits, v.pieces FROM json_each(?) wanted
        CROSS JOIN turn_vector v ON v.namespace = ? AND v.turn = wanted.value JOIN embedder e ON e.id = v.embedder
        WHERE e.name = ? AND e.dimension = ?"""
    rows = connection.execute(query, (wanted, namespace, space.embedder, space.dimension)).fetchall()
    if not rows:
        return {}
    turns, pooled, bits, pieces = zip(*rows, strict=True)
    vectors = restored_all(pooled)[:, : space.dimension]
    tokens = [np.frombuffer(signs, dtype=np.uint8).reshape(-1, space.width // 8) for signs in bits]
    parts = zip(turns, vectors, tokens, map(Pieces, pieces), strict=True)
    return {turn: CardVectors(turn, *rest) for turn, *rest in parts}


def sample_turns(connection: sqlite3.Connection, namespace: int, count: int) -> list[int]:
    """By order of arrival within the namespace, first and last included."""
    turns = corpus_size(connection, namespace).turns
    taken = min(count, turns)
    if taken <= 0:
        return []
    ordinals = np.unique(np.linspace(0, turns - 1, taken).round().astype(np.int64)).tolist()
    query = """
        SELECT t.handle FROM json_each(?) wanted CROSS JOIN turn t
        WHERE t.namespace = ? AND t.ordinal = wanted.value ORDER BY t.handle"""
    return [handle for (handle,) in connection.execute(query, (json.dumps(ordinals), namespace))]
