"""What answerability goes by where the embedder cannot read the question: how much of its words a turn holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from memgraph_server.memory.terms import terms
from memgraph_server.retrieval.answerability import coverage, legible, probability

COEFFICIENTS = {"intercept": -1.2, "lead": 1.0, "match": 0.25, "facts": 0.0, "unread": -2.0, "coverage": 12.0}


@dataclass(frozen=True)
class Held:
    documents: int
    handles: NDArray[np.int64]
    counts: NDArray[np.int32]


def index(*texts: str) -> dict[str, Held]:
    found: dict[str, list[int]] = {}
    for handle, text in enumerate(texts):
        for term in set(terms(text)):
            found.setdefault(term, []).append(handle)
    return {
        term: Held(len(handles), np.array(handles), np.ones(len(handles), np.int32)) for term, handles in found.items()
    }


@pytest.mark.parametrize(
    ("pieces", "share"),
    [((), 1.0), (("where", "did", "tom", "##s", "?"), 1.0), (("小", "##明", "[UNK]", "？"), 0.0), (("a", "明"), 0.5)],
)
def test_a_question_is_legible_by_its_word_pieces(pieces: tuple[str, ...], share: float) -> None:
    assert legible(pieces) == share


def test_coverage_is_that_of_the_best_turn_without_names_and_inflection() -> None:
    said = index("我养了一只猫", "我对花生过敏", "私は猫を飼っています")
    whole = coverage(said, terms("花生过敏"), ["小明"], 3)
    part = coverage(said, terms("花生过敏吗小明"), ["小明"], 3)
    assert whole == 1.0
    assert 0.5 < part < whole
    assert coverage(said, terms("小明ます"), ["小明"], 3) == 0.0
    assert coverage(said, terms("电话号码"), ["小明"], 3) == 0.0
    assert coverage({}, [], [], 0) == 0.0


def test_matches_do_not_count_where_the_question_was_not_read() -> None:
    near = {"lead": 0.0, "match": 8.0, "facts": 0.0, "legible": 0.0}
    little, much = (probability({**near, "coverage": share}, COEFFICIENTS) for share in (0.0, 0.5))
    assert little < 0.2
    assert much > 0.9
    assert probability({**near, "legible": 1.0, "coverage": 0.0}, COEFFICIENTS) > 0.6
