"""Quotes are found where they stand, and nowhere else; names count where something of them was said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.language.language_model.grounding import is_said, sentence_of, span_of

WORDS = st.lists(st.sampled_from("ann lives in paris since may and likes 北京 jazz Über".split()), min_size=1)


@given(WORDS, st.data())
def test_a_part_of_a_text_is_found_in_it(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    quote = " ".join(words[first : last + 1])
    span = span_of(quote, text)
    assert span is not None
    assert text[slice(*span)] == quote


@given(WORDS)
def test_case_white_space_and_punctuation_do_not_matter(words: list[str]) -> None:
    text = " ".join(words)
    quote = "…" + " ,\n".join(words).upper() + "!"
    span = span_of(quote, f"Well: {text}.")
    assert span is not None
    assert text == f"Well: {text}."[slice(*span)]


@given(st.text(), st.text())
def test_any_texts_can_be_compared(quote: str, text: str) -> None:
    span = span_of(quote, text)
    assert span is None or 0 <= span[0] < span[1] <= len(text)
    assert not is_said(quote, "") or not quote.strip()
    if span is not None:
        start, end = sentence_of(text, span)
        assert start <= span[0] < span[1] <= end


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("I lost my job as a banker", "Lost my job as a banker yesterday", "Lost my job as a banker"),
        ("lives in Rome", "Ann lives in Paris", None),
        ("Ann lives in Paris with her two cats and a dog", "Ann lives in Paris", None),
        ("I'll continue my education and check out new jobs", "Gonna continue my edu and check out new jobs",
         "and check out new jobs"),
        ("jazz", "I like jazz", "jazz"),
        ("rock", "I like jazz", None),
        ("'I like jazz'", "I like jazz", "I like jazz"),
    ],
)  # fmt: skip
def test_a_quote_may_differ_at_its_ends_only(quote: str, text: str, found: str | None) -> None:
    span = span_of(quote, text)
    assert (None if span is None else text[slice(*span)]) == found


@pytest.mark.parametrize(
    ("phrase", "text", "said"),
    [
        ("Paris", "I live in Paris.", True),
        ("the city of Paris", "I live in paris", True),
        ("SR-053", "It is SR-052.", False),
        ("SR-052", "It is SR-052.", True),
        ("2 kids", "I have two kids.", True),
        ("3 kids", "I have two kids.", False),
        ("12:30", "It is at 12:30.", True),
        ("100 km", "I ran 10 km.", False),
        ("thing1", "thing10", False),
        ("北京2022", "我在北京2022年看过。", True),
        ("true", "I live in Paris.", False),
        ("running", "I run every day.", True),
        ("北京", "我住在北京。", True),
        ("Beijing", "我住在北京。", False),
        ("the", "the end", True),
        ("", "anything", False),
    ],
)
def test_a_name_is_said_where_a_content_word_of_it_is(phrase: str, text: str, said: bool) -> None:
    assert is_said(phrase, text) is said
