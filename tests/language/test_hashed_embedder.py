"""Vectors by hashing: the port's promises, and that what shares words is near."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.language.hashed_embedder import HashedEmbedder


def nearness(one: str, other: str) -> float:
    first, second = HashedEmbedder().encode([one, other])
    return float(first.pooled @ second.pooled)


@given(st.text())
def test_any_text_has_unit_vectors_or_none(text: str) -> None:
    (encoding,) = HashedEmbedder().encode([text])
    assert encoding.pooled.shape == (384,)
    assert encoding.tokens.shape == (len(encoding.pieces), 384)
    assert float(np.linalg.norm(encoding.pooled)) == pytest.approx(1.0 if encoding.pieces else 0.0, abs=1e-5)
    assert np.allclose(np.linalg.norm(encoding.tokens, axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("Ann moved to Paris", "When did Ann move to Paris?", "Bob cooks soup"),
        ("東京に住んでいます", "東京に行った", "大阪の天気"),
        ("interoperability", "interoperable", "banana"),
    ],
)
def test_what_shares_words_or_their_parts_is_nearer(text: str, near: str, far: str) -> None:
    assert nearness(text, near) > nearness(text, far) + 0.1


def test_another_process_gives_the_same_bits() -> None:
    code = (
        "import sys; from memgraph_server.language.hashed_embedder import HashedEmbedder as H; "
        "sys.stdout.buffer.write(H().encode(['Ann moved to Paris'])[0].pooled.tobytes())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == HashedEmbedder().encode(["Ann moved to Paris"])[0].pooled.tobytes()
