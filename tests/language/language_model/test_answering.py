"""Citations: only what was given is cited, also while the text streams, however it is cut into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.language.language_model.answering import Citation, checked, cited, is_unknown

KNOWN = {mark: Citation(mark, "turn" if mark[0] == "T" else "fact", f"id-{mark}") for mark in ("T1", "T2", "F1")}


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("In Paris [T1].", "In Paris [T1]."),
        ("In Paris [T9].", "In Paris."),
        ("In Paris [T1, T9, F1].", "In Paris [T1, F1]."),
        ("In Paris [t1].", "In Paris [T1]."),
        ("In Paris [a_0123456789].", "In Paris."),
        ("In Paris [sic].", "In Paris [sic]."),
        ("In Paris [T1][T2]", "In Paris [T1][T2]"),
        ("In [Paris", "In [Paris"),
        ("A [very long remark that never ends " + "x" * 100, "A [very long remark that never ends " + "x" * 100),
        ("", ""),
    ],
)
def test_marks_that_were_not_given_are_taken_out(written: str, kept: str) -> None:
    assert "".join(checked([written], KNOWN)) == kept


@given(st.lists(st.sampled_from(["In Paris", " ", "[T1]", " [T9]", "[", "]", "T1", ", ", "[F1; T2]", "é"])),
       st.lists(st.integers(1, 7)))  # fmt: skip
def test_it_does_not_matter_how_a_text_is_cut(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    pieces, at = [], 0
    for cut in cuts:
        pieces.append(text[at : at + cut])
        at += cut
    pieces.append(text[at:])
    assert "".join(checked(pieces, KNOWN)) == "".join(checked([text], KNOWN))
    assert {one.mark for one in cited("".join(checked(pieces, KNOWN)), KNOWN)} <= KNOWN.keys()


def test_citations_come_in_order_each_once() -> None:
    assert [one.id for one in cited("A [T2] b [F1, T2].", KNOWN)] == ["id-T2", "id-F1"]


@pytest.mark.parametrize(
    ("text", "unknown"),
    [("UNKNOWN", True), ("UNKNOWN.", True), ("**UNKNOWN**", True), ("", True), (" \n", True), ("unknown", True),
     ("Unknown Pleasures is her favourite album [T1].", False), ("It is UNKNOWN to her.", False)],
)  # fmt: skip
def test_an_abstention_is_told_from_an_answer(text: str, unknown: bool) -> None:
    assert is_unknown(text) is unknown
