"""Vectors as a store keeps and searches them: one byte or one bit a dimension.

The sign of each dimension is a hyperplane hash (Charikar 2002): for two unit vectors at angle θ a bit differs with
probability θ / π, so a Hamming distance h over d bits estimates their cosine as cos(π h / d). That is a first stage:
a caller takes more than it needs and refines with the vectors themselves.

Rules:
- a bit is 1 where the dimension is > 0; a zero vector is all zeros, and no rule here treats it apart;
- `BitIndex` is append-only. One writer and any number of readers may use it at once: a reader works on the snapshot
  that was published last, and rows beyond it are invisible. Two writers need a lock of their own;
- rows can be members of up to two groups (a fact: its head and its tail), and a search within one looks at its members
  only, so that a small group beside a huge one gives its own nearest.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Distances = NDArray[np.uint16]

CHUNK = 65_536  # rows compared at a time: distances and scratch stay in the cache
NO_GROUP = int(np.iinfo(np.int64).min)
#: Gathering a member's bits costs about five times as much as passing over a row in order.
_GATHER_COST = 5


def sign_bits(vectors: ArrayLike) -> Bytes:
    """Shape (…, d) to (…, d // 8), packed, first dimension in the highest bit. d is a multiple of 8."""
    values = np.asarray(vectors, dtype=np.float32)
    if values.shape[-1] % 8:
        raise ValueError(f"{values.shape[-1]} dimensions do not fill whole bytes")
    return np.packbits(values > 0, axis=-1)


def to_int8(vector: ArrayLike) -> tuple[bytes, float]:
    """One byte a dimension and the scale that undoes it; the error of a dimension is at most scale / 2."""
    values = np.asarray(vector, dtype=np.float32)
    scale = float(np.abs(values).max(initial=0.0)) / 127.0
    if not np.isfinite(scale):
        raise ValueError("a vector with infinite or undefined dimensions cannot be stored")
    return np.rint(values / np.float32(scale or 1.0)).astype(np.int8).tobytes(), scale


def from_int8(stored: bytes, scale: float) -> Floats:
    """Shape (d,): what `to_int8` was given, to within half a scale and float32's own precision."""
    return (np.frombuffer(stored, dtype=np.int8) * np.float64(scale)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """What readers see: the first `size` rows. Arrays are shared with the writer, who only writes beyond `size`."""

    size: int
    bits: Words  # (words, capacity): one contiguous column a word
    handles: Integers
    groups: Integers | None  # (2, capacity), NO_GROUP where a row is in none
    ascending: bool  # handles ascend with rows, so ties need no second key


class BitIndex:
    """Nearest rows by Hamming distance. `dimension` is a multiple of 8."""

    def __init__(self, dimension: int) -> None:
        if dimension <= 0 or dimension % 8:
            raise ValueError(f"a dimension is a positive multiple of 8, not {dimension}")
        self.dimension = dimension
        self._words = -(-dimension // 64)
        self._members: dict[int, array[int]] = {}
        self._now = _Snapshot(
            0, np.zeros((self._words, 0), np.uint64), np.zeros(0, np.int64), groups=None, ascending=True
        )

    def __len__(self) -> int:
        return self._now.size

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes: arrays with their spare capacity, and the groups' lists of members."""
        now = self._now
        arrays = now.bits.nbytes + now.handles.nbytes + (0 if now.groups is None else now.groups.nbytes)
        # Each group: its key in the dictionary (about 100 bytes) and its list.
        return arrays + sum(100 + rows.buffer_info()[1] * rows.itemsize for rows in list(self._members.values()))

    def extend(
        self, handles: ArrayLike, bits: ArrayLike, a: ArrayLike | None = None, b: ArrayLike | None = None
    ) -> None:
        """Append rows: handles (n,), bits (n, d // 8) as of `sign_bits`, and the groups (n,) they are members of.

        Amortised constant time a row. Rows become visible together, at the end.
        """
        new = np.atleast_1d(np.asarray(handles, dtype=np.int64))
        packed = np.asarray(bits, dtype=np.uint8).reshape(-1, self.dimension // 8)
        pair = _pair(len(new), a, b)
        if len(packed) != len(new):
            raise ValueError(f"{len(new)} handles for {len(packed)} rows of bits")
        if not len(new):
            return
        grown = self._with_room(len(new), grouped=pair is not None)
        first, last = grown.size, grown.size + len(new)
        grown.bits[:, first:last] = self._as_words(packed).T
        grown.handles[first:last] = new
        if pair is not None and grown.groups is not None:
            grown.groups[:, first:last] = pair
            self._enroll(first, pair)
        self._now = _Snapshot(last, grown.bits, grown.handles, grown.groups, _ascends(grown, new))

    def nearest(self, query: ArrayLike, k: int, either: int | None = None) -> tuple[Integers, Floats]:
        """The k rows nearest to a vector (d,) or its packed bits (uint8, (d // 8,)): handles and estimated cosines.

        Best first, ties by ascending handle. `either`: only rows with that group as `a` or `b`.
        """
        now = self._now
        words = self._query_words(query)
        if either is None:
            return self._answer(now, _scan(now, words, k, None))
        members = self._members.get(either)
        if members is None:
            return self._answer(now, _nothing())
        if len(members) * _GATHER_COST > now.size:
            return self._answer(now, _scan(now, words, k, either))
        copied = members[:]  # one step under the interpreter's lock: the writer may append meanwhile
        rows = np.frombuffer(copied, dtype=np.int32)
        return self._answer(now, _gather(now, words, k, rows[rows < now.size]))

    def _answer(self, now: _Snapshot, best: tuple[Distances, NDArray[np.int64]]) -> tuple[Integers, Floats]:
        distances, rows = best
        cosines = np.cos(np.pi / self.dimension * distances.astype(np.float64)).astype(np.float32)
        return now.handles[rows], cosines

    def _query_words(self, query: ArrayLike) -> Words:
        values = np.asarray(query)
        packed = values if values.dtype == np.uint8 else sign_bits(values)
        if packed.shape != (self.dimension // 8,):
            raise ValueError(f"a query of shape {values.shape} for an index of {self.dimension} dimensions")
        words: Words = self._as_words(packed.reshape(1, -1))[0]
        return words

    def _as_words(self, packed: Bytes) -> Words:
        """(n, d // 8) bytes to (n, words); the last word is filled up with zeros."""
        padded = np.zeros((len(packed), self._words * 8), np.uint8)
        padded[:, : packed.shape[1]] = packed
        return padded.view(np.uint64)

    def _with_room(self, rows: int, *, grouped: bool) -> _Snapshot:
        """The present rows with room for more; a new array is filled before anyone sees it."""
        now = self._now
        capacity = now.handles.size
        groups = now.groups
        if groups is None and grouped:
            groups = np.full((2, capacity), NO_GROUP, np.int64)
        if now.size + rows <= capacity:
            return _Snapshot(now.size, now.bits, now.handles, groups, now.ascending)
        extra = max(rows, capacity // 2, 1024)
        return _Snapshot(
            now.size,
            np.pad(now.bits, ((0, 0), (0, extra))),
            np.pad(now.handles, (0, extra)),
            None if groups is None else np.pad(groups, ((0, 0), (0, extra)), constant_values=NO_GROUP),
            now.ascending,
        )

    def _enroll(self, first: int, pair: Integers) -> None:
        """Append the rows to their groups' lists; a row whose two groups are one is listed once."""
        rows = np.arange(first, first + pair.shape[1], dtype=np.int32)
        second = pair[1] != pair[0]
        keys = np.concatenate([pair[0], pair[1][second]])
        members = np.concatenate([rows, rows[second]])
        order = np.argsort(keys, kind="stable")
        keys, members = keys[order], members[order]
        starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        for key, some in zip(keys[starts].tolist(), np.split(members, starts[1:]), strict=True):
            if key != NO_GROUP:
                self._members.setdefault(key, array("i")).frombytes(some.tobytes())


def _pair(count: int, a: ArrayLike | None, b: ArrayLike | None) -> Integers | None:
    if a is None and b is None:
        return None
    pair = np.full((2, count), NO_GROUP, np.int64)
    for column, given in enumerate((a, b)):
        if given is not None:
            pair[column] = given
    return pair


def _ascends(before: _Snapshot, new: Integers) -> bool:
    joined = before.size == 0 or bool(before.handles[before.size - 1] < new[0])
    return before.ascending and joined and bool(np.all(new[1:] > new[:-1]))


def _nothing() -> tuple[Distances, NDArray[np.int64]]:
    return np.zeros(0, np.uint16), np.zeros(0, np.int64)


def _hamming(columns: Words, words: Words, scratch: Words) -> Distances:
    """Distances (n,) of columns (words, n) to a query. `scratch`: room for n words, used again so that none is fetched
    from the system for every word of every chunk."""
    differing = scratch[: columns.shape[1]]
    total = np.zeros(columns.shape[1], np.uint16)
    for column, word in zip(columns, words, strict=True):
        total += np.bitwise_count(np.bitwise_xor(column, word, out=differing))
    return total


def _scan(now: _Snapshot, words: Words, k: int, group: int | None) -> tuple[Distances, NDArray[np.int64]]:
    """Pass over all rows in chunks, keeping the best k; a chunk's row matters only if it beats the worst kept."""
    best = _nothing()
    if k <= 0 or (group is not None and now.groups is None):
        return best
    scratch = np.empty(min(CHUNK, now.size), np.uint64)
    for start in range(0, now.size, CHUNK):
        stop = min(start + CHUNK, now.size)
        distances = _hamming(now.bits[:, start:stop], words, scratch)
        wanted = None
        if group is not None and now.groups is not None:
            wanted = (now.groups[0, start:stop] == group) | (now.groups[1, start:stop] == group)
        if best[0].size == k:
            # Where handles ascend, a later row loses every tie; else it may win one.
            beats = distances < best[0][-1] if now.ascending else distances <= best[0][-1]
            wanted = beats if wanted is None else wanted & beats
        rows = np.arange(stop - start) if wanted is None else np.flatnonzero(wanted)
        if rows.size:
            merged = np.concatenate([best[0], distances[rows]]), np.concatenate([best[1], rows + start])
            best = _best(now, *merged, k)
    return best


def _gather(now: _Snapshot, words: Words, k: int, rows: NDArray[np.int32]) -> tuple[Distances, NDArray[np.int64]]:
    if not rows.size or k <= 0:
        return _nothing()
    return _best(now, _hamming(now.bits[:, rows], words, np.empty(rows.size, np.uint64)), rows.astype(np.int64), k)


def _best(now: _Snapshot, distances: Distances, rows: NDArray[np.int64], k: int) -> tuple[Distances, NDArray[np.int64]]:
    """The k least distances in order, ties by handle. Rows come in ascending order among equals."""
    if distances.size > k:
        near = np.flatnonzero(distances <= np.partition(distances, k - 1)[k - 1])
        distances, rows = distances[near], rows[near]
    if now.ascending:
        order = np.argsort(distances, kind="stable")[:k]
    else:
        order = np.lexsort((now.handles[rows], distances))[:k]
    return distances[order], rows[order]
