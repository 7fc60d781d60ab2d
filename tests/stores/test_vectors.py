"""Sign bits, one-byte vectors and the Hamming index, against brute force."""

import math
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memgraph_server.evaluation.transcripts import read_conversations
from memgraph_server.language.onnx_embedder import OnnxEmbedder
from memgraph_server.stores import vectors
from memgraph_server.stores.quantized import cosines, quantized
from memgraph_server.stores.vectors import BitIndex, from_int8, sign_bits, to_int8
from tests.evaluation.data import LOCOMO

FINITE = st.floats(-1e6, 1e6, width=32)


def unit(rng: np.random.Generator, rows: int, dimension: int) -> np.ndarray:
    drawn = rng.standard_normal((rows, dimension)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def brute_force(handles, bits, query, k, keep=None):
    """(handles, distances), by definition."""
    distances = np.unpackbits(bits ^ query, axis=1).sum(axis=1, dtype=int)
    rows = [row for row in range(len(handles)) if keep is None or keep[row]]
    best = sorted((distances[row], handles[row]) for row in rows)[:k]
    return [int(handle) for _, handle in best], [int(distance) for distance, _ in best]


def check(index, rows, query, k, *, either=None, keep=None) -> None:
    """`rows`: handles and bits."""
    found, cosines = index.nearest(query, k, either)
    expected, distances = brute_force(*rows, query, k, keep)
    assert found.tolist() == expected
    assert cosines == pytest.approx([math.cos(math.pi * d / index.dimension) for d in distances], abs=1e-6)


def test_a_bit_is_set_where_the_dimension_is_positive_and_the_first_is_highest() -> None:
    assert sign_bits([[1, -1, 0, 2, -3, 0.5, -0.5, 0]]).tolist() == [[0b10010100]]
    assert sign_bits(np.ones(16)).tolist() == [255, 255]


@pytest.mark.parametrize("dimension", [1, 7, 12])
def test_dimensions_that_do_not_fill_bytes_are_refused(dimension: int) -> None:
    with pytest.raises(ValueError, match="bytes"):
        sign_bits(np.ones(dimension))
    with pytest.raises(ValueError, match="multiple of 8"):
        BitIndex(dimension)


@given(arrays.arrays(np.float32, st.integers(0, 50), elements=FINITE))
def test_one_byte_a_dimension_is_within_half_a_scale(vector: np.ndarray) -> None:
    stored, scale = to_int8(vector)
    assert len(stored) == len(vector)
    assert (
        np.abs(from_int8(stored, scale) - vector).max(initial=0.0)
        <= scale * 0.5001 + np.finfo(np.float32).smallest_subnormal
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_vector_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="undefined"):
        to_int8([0.5, bad])


def test_one_byte_a_dimension_keeps_the_cosine() -> None:
    for vector in unit(np.random.default_rng(1), 20, 384):
        restored = from_int8(*to_int8(vector))
        assert restored @ vector / np.linalg.norm(restored) > 0.9999


def test_a_cosine_is_the_same_to_the_last_digit_whatever_else_is_compared() -> None:
    rows = np.random.default_rng(7).normal(size=(700, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    stored = [quantized(row) for row in rows]
    together = cosines(rows[0], stored)
    assert np.allclose(together, rows @ rows[0], atol=0.01)
    for first, last in ((3, 4), (5, 7), (0, 31), (1, 640)):
        assert cosines(rows[0], stored[first:last]).tolist() == together[first:last].tolist()


@pytest.mark.parametrize("dimension", [8, 64, 72, 384])
@pytest.mark.parametrize("chunk", [7, 65_536])
@pytest.mark.parametrize("shuffled", [False, True])
def test_nearest_is_what_brute_force_finds_in_any_order_of_handles(
    dimension: int, chunk: int, shuffled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "CHUNK", chunk)
    rng = np.random.default_rng(dimension)
    handles = rng.permutation(500) if shuffled else np.arange(500) * 3
    bits = sign_bits(unit(rng, 500, dimension))
    index = BitIndex(dimension)
    for start in range(0, 500, 90):
        index.extend(handles[start : start + 90], bits[start : start + 90])
    assert len(index) == 500
    for k in (0, 1, 20, 499, 500, 900):
        query = unit(rng, 1, dimension)[0]
        check(index, (handles, bits), sign_bits(query), k)
        assert index.nearest(query, k)[0].tolist() == index.nearest(sign_bits(query), k)[0].tolist()


@given(st.data())
def test_a_group_gives_its_own_nearest_whatever_its_size(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 40))
    few = st.integers(-2, 3)
    handles = data.draw(st.lists(st.integers(-50, 50), min_size=count, max_size=count, unique=True))
    a = np.array(data.draw(st.lists(few, min_size=count, max_size=count)), dtype=np.int64)
    b = np.array(data.draw(st.lists(few, min_size=count, max_size=count)), dtype=np.int64)
    bits = data.draw(arrays.arrays(np.uint8, (count, 1)))
    cut = data.draw(st.integers(0, count))
    index = BitIndex(8)
    index.extend(handles[:cut], bits[:cut], a[:cut], b[:cut])
    index.extend(handles[cut:], bits[cut:], a[cut:], b[cut:])
    query = np.array([data.draw(st.integers(0, 255))], dtype=np.uint8)
    group, k = data.draw(few), data.draw(st.integers(0, 45))
    check(index, (handles, bits), query, k, either=group, keep=(a == group) | (b == group))


def test_a_small_group_beside_a_huge_one_returns_its_own_k() -> None:
    rng = np.random.default_rng(2)
    bits = sign_bits(unit(rng, 20_000, 64))
    a = np.where(np.arange(20_000) % 2_000 == 0, 7, 1)
    index = BitIndex(64)
    index.extend(np.arange(20_000), bits, a=a)
    query = bits[1]
    for group in (7, 1):
        check(index, (np.arange(20_000), bits), query, 10, either=group, keep=a == group)


def test_rows_added_before_any_group_was_named_are_in_none() -> None:
    index = BitIndex(8)
    index.extend([1, 2], [[0], [255]])
    index.extend([3], [[1]], b=[5])
    assert index.nearest(np.array([255], np.uint8), 5, either=5)[0].tolist() == [3]
    assert index.nearest(np.array([255], np.uint8), 5, either=6)[0].tolist() == []
    assert index.nearest(np.array([255], np.uint8), 5)[0].tolist() == [2, 3, 1]


def test_an_empty_index_and_an_empty_addition_find_nothing() -> None:
    index = BitIndex(16)
    index.extend([], np.zeros((0, 2), np.uint8))
    found, cosines = index.nearest(np.ones(16), 3)
    assert (found.tolist(), cosines.tolist()) == ([], [])


def test_equal_rows_come_in_the_order_of_their_handles() -> None:
    index = BitIndex(8)
    index.extend([9, 4, 6, 1], np.full((4, 1), 3, np.uint8))
    assert index.nearest(np.array([3], np.uint8), 3)[0].tolist() == [1, 4, 6]


def test_handles_and_bits_of_different_number_are_refused_and_nothing_is_added() -> None:
    index = BitIndex(8)
    with pytest.raises(ValueError, match="2 handles for 1 rows"):
        index.extend([1, 2], [[0]])
    with pytest.raises(ValueError, match="shape"):
        index.nearest(np.ones(16), 1)
    assert len(index) == 0


def test_memory_is_accounted_and_grows_in_proportion() -> None:
    index = BitIndex(384)
    index.extend(np.arange(100_000), np.zeros((100_000, 48), np.uint8), a=np.arange(100_000) % 100)
    assert 100_000 * (48 + 8 + 16 + 4) <= index.nbytes <= 2 * 100_000 * (48 + 8 + 16 + 4)


def test_readers_beside_a_writer_always_see_whole_rows() -> None:
    """Row i has a distance of i % 8 to zero and is in group i % 3: any answer can be checked by itself."""
    index = BitIndex(8)
    stop = threading.Event()
    problems: list[str] = []

    def read() -> None:
        while not stop.is_set():
            before = len(index)
            for group in (None, 1):
                found, cosines = index.nearest(np.zeros(1, np.uint8), 50, group)
                if group is not None and any(handle % 3 != group for handle in found.tolist()):
                    problems.append("a row of another group")
                if [round(math.acos(min(c, 1)) / math.pi * 8) for c in cosines] != [h % 8 for h in found.tolist()]:
                    problems.append("a torn row")
                if group is None and len(found) < min(before, 50):
                    problems.append("a row lost")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for start in range(0, 30_000, 30):
        rows = np.arange(start, start + 30)
        index.extend(rows, ((1 << (rows % 8)) - 1).astype(np.uint8)[:, None], a=rows % 3, b=rows % 3)
    stop.set()
    for reader in readers:
        reader.join()
    assert problems == []


@pytest.mark.slow
@pytest.mark.skipif(not LOCOMO.exists(), reason="the development data is not on this machine")
def test_the_nearest_by_bits_hold_the_nearest_by_cosine_on_real_sentences() -> None:
    conversation = read_conversations(LOCOMO)[0]
    embedder = OnnxEmbedder()
    turns = np.stack([one.pooled for one in embedder.encode([turn.full_text() for turn in conversation.turns])])
    asked = np.stack([one.pooled for one in embedder.encode([probe.text for probe in conversation.probes[:60]])])
    index = BitIndex(384)
    index.extend(np.arange(len(turns)), sign_bits(turns))
    held = [np.isin(np.argsort(-(turns @ query))[:10], index.nearest(query, 50)[0]).mean() for query in asked]
    assert len(turns) > 400
    assert np.mean(held) > 0.95
