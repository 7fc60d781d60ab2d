"""Token F1: worked examples of LoCoMo's rules, and stems as NLTK's Porter stemmer gives them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.evaluation.porter import stem
from memgraph_server.evaluation.token_f1 import overlap, token_f1, words

#: From NLTK 3.9's PorterStemmer; the module agreed with it on 228,426 words.
STEMS = """
caresses:caress ponies:poni ties:tie cats:cat feed:feed agreed:agre plastered:plaster motoring:motor sing:sing
conflated:conflat troubled:troubl sized:size hopping:hop falling:fall hissing:hiss fizzed:fizz failing:fail filing:file
happy:happi sky:sky relational:relat conditional:condit valenci:valenc digitizer:digit radically:radic
vietnamization:vietnam operator:oper feudalism:feudal decisiveness:decis hopefulness:hope formality:formal
sensibility:sensibl triplicate:triplic formative:form electrical:electr goodness:good revival:reviv allowance:allow
adjustable:adjust replacement:replac adoption:adopt communism:commun effective:effect probate:probat rate:rate
cease:ceas controll:control roll:roll dying:die news:news enjoy:enjoy by:by died:die spied:spi flies:fli
counseling:counsel psychology:psycholog university:univers paintings:paint 2023:2023
"""


@pytest.mark.parametrize("pair", STEMS.split())
def test_stems_are_those_of_the_published_scores(pair: str) -> None:
    word, expected = pair.split(":")
    assert stem(word) == expected


@given(st.text(st.characters(min_codepoint=97, max_codepoint=122), max_size=20))
def test_any_word_has_a_stem_that_is_no_longer_than_one_more_letter(word: str) -> None:
    assert len(stem(word)) <= len(word) + 1


def test_words_lose_case_punctuation_articles_and_endings() -> None:
    assert words("The cat, and a Dog's running!") == ["cat", "dog", "run"]


@pytest.mark.parametrize(
    ("reply", "gold", "category", "expected"),
    [
        ("7 May 2023", "7 May 2023", "temporal", 1.0),
        ("She went on 7 May 2023.", "7 May 2023", "temporal", 2 * 3 / (6 + 3)),
        ("It was in June", "7 May 2023", "temporal", 0.0),
        ("", "7 May 2023", "temporal", 0.0),
        ("adoption adoption", "adoption", "single_hop", 2 * 1 / 3),
        ("counseling", "Psychology; counseling", "open_domain", 0.0),
        ("Psychology", "Psychology; counseling", "open_domain", 1.0),
        ("counseling", "Psychology; counseling", "single_hop", 2 / 3),
        ("pottery, camping", "camping, swimming, pottery", "multi_hop", 2 / 3),
        ("camping and swimming, pottery", "camping, swimming, pottery", "multi_hop", (2 / 3 + 2 / 3 + 1) / 3),
        ("camping", "camping, swimming", "single_hop", 2 / 3),
    ],
)
def test_a_reply_is_scored_by_the_rule_of_its_category(reply: str, gold: str, category: str, expected: float) -> None:
    assert token_f1(reply, gold, category) == pytest.approx(expected)


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abc"), max_size=6))
def test_overlap_is_a_symmetric_share_that_is_whole_for_the_same_words_only(a: list[str], b: list[str]) -> None:
    found = overlap(a, b)
    assert 0 <= found <= 1
    assert found == overlap(b, a)
    assert (found == 1) == (sorted(a) == sorted(b) and bool(a))
