"""Lexical terms in every script: what is found by what."""

import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memgraph_server.memory.terms import LONGEST, STOPWORDS, content_terms, terms

ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.text(
    "ab1ıİßéΣς日のハ한สำאَ👍🏽🇩🇪 .-_@'’,\u0301\u200b\u200d\ud800\x00"
)

TEXTS = {
    "English, plurals and verbs": ("Swimming activities painted", "swim activity paint"),
    "possessive and plural possessive": ("Caroline's parents' house", "caroline parent house"),
    "contractions": ("I'm sure they don't, can't and won't", "i sure they do not can not and will not"),
    "typographic apostrophe": ("It’s Melanie’s; we’ve met", "it melanie we meet"),
    "names with an apostrophe": ("O'Neil d'Angelo", "o neil d angelo"),
    "a ticket": ("see SR-052.", "see sr-052 sr 052"),
    "snake case": ("snake_case __init__", "snake_case snake case init"),
    "an address": ("mail foo.bar@example.com now", "mail foo.bar@example.com foo bar example com now"),
    "a URL": ("https://ex.org/a?b=1", "https://ex.org/a?b=1 http ex org a b 1"),
    "numbers": ("1,000 at 12:30, 3.5", "1000 at 12:30 12 30 3.5 3 5"),
    "a list is no thousand": ("10,20 and 1,2,300", "10 20 and 1 2 300"),
    "hyphens and slashes between words": ("well-known and/or", "well know and or"),
    "languages with signs": ("C++, C# and #art", "c++ c# and art"),
    "French": ("l’été à Besançon", "l ete a besancon"),
    "German": ("Straße Größe STRASSE", "strasse grosse strasse"),
    "Polish, Danish, Icelandic": ("Łódź Ærø Þór", "lodz aero thor"),
    "Turkish": ("İstanbul'da ılık", "istanbul da ilik"),
    "Vietnamese": ("Đà Nẵng", "da nang"),
    "an accent of its own": ("cafe\u0301", "cafe"),
    "Greek": ("Αθήνα ΑΘΗΝΑ λόγος", "αθηνα αθηνα λογοσ"),
    "Cyrillic": ("Ёлка елка Йод", "елка елка йод"),
    "Arabic": ("السَّلَامُ أحمد كـتاب مدرسة", "السلام احمد كتاب مدرسه"),
    "Persian": ("کتاب می\u200cخواهم", "كتاب ميخواهم"),
    "Hebrew": ("שָׁלוֹם", "שלום"),
    "Hindi": ("हिन्दी में", "हिन्दी में"),
    "Tamil": ("தமிழ் மொழி", "தமிழ் மொழி"),
    "Chinese": ("我喜欢猫", "我 我喜 喜 喜欢 欢 欢猫 猫"),
    "Japanese": ("猫が好き", "猫 が 好 き"),
    "Katakana, half width too": ("コーヒー ｺｰﾋｰ", "コー ーヒ ヒー コー ーヒ ヒー"),
    "Korean": ("한국어를 공부", "한국 국어 어를 공부"),
    "Thai": ("สวัสดี", "สวั วัส สดี"),
    "Thai with zero-width spaces": ("กิน\u200bข้าว", "กิน ข้า าว"),
    "Lao": ("ລາວ", "ລາ າວ"),
    "Khmer": ("ខ្មែរ", "ខ្មែ មែរ"),
    "Burmese": ("မြန်မာ", "မြန် န်မာ"),
    "scripts side by side": ("iPhone手机", "iphone 手 手机 机"),
    "Arabic and full-width digits": ("٢٠٢٤ ２０２４", "2024 2024"),
    "emoji": ("👍🏽👍 ok ❤️", "👍 👍 ok ❤"),
    "a family and a flag": ("👩\u200d👧 🇩🇪", "👩 👧 🇩🇪"),
    "trade mark": ("Lego™", "lego"),
    "soft hyphen": ("ex\xadample", "example"),
    "nothing to find": ("  \x00 \ud800 … — ~~ ''", ""),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_gives_these_terms_in_order(name: str) -> None:
    text, expected = TEXTS[name]
    assert terms(text) == expected.split()


def test_content_terms_leave_out_function_words_in_whatever_form_they_are_written() -> None:
    assert content_terms("What did they DO with Caroline’s old paintings?") == ["caroline", "old", "paint"]
    assert content_terms(" ".join(STOPWORDS)) == []


def test_a_month_and_a_liking_are_content() -> None:
    assert content_terms("May likes it") == ["may", "like"]


def test_a_run_without_end_is_cut_into_pieces_that_can_be_stored() -> None:
    pieces = terms("Q" * 1000)
    assert "".join(pieces) == "q" * 1000
    assert max(map(len, pieces)) == LONGEST


@given(ANY_TEXT, ANY_TEXT)
@example("e", "\u0301")
@example("1,", "000")
@example("\u1100", "\u1161")
@example("don'", "t")
def test_terms_of_texts_with_a_space_between_are_the_terms_of_both(one: str, other: str) -> None:
    assert terms(one + " " + other) == terms(one) + terms(other)


@given(ANY_TEXT)
@example("\u0e2a" + "\u0e31" * 500)
@example("e" + "\u0301" * 500)
@example("a_" * 500)
def test_a_term_is_short_has_no_space_and_can_be_written_as_utf8(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= LONGEST
        assert not any(character.isspace() or character == "\x00" for character in term)
        term.encode("utf-8")


@given(st.text(st.characters(max_codepoint=127)))
def test_case_does_not_matter(text: str) -> None:
    assert terms(text.upper()) == terms(text)


@pytest.mark.parametrize(
    "unit",
    [
        "hello world I'm swimming. ",
        "a",
        "a.",
        "a'",
        "a--",
        "_",
        "日",
        "หสวัสดี",
        "हिन्दी में ",
        "e\u0301",
        "👍🏽",
        "1,000",
        "héé ",
    ],
)
def test_time_grows_with_the_length_of_the_text_and_not_its_square(unit: str) -> None:
    small, large = (seconds(unit * (size // len(unit.encode()))) for size in (100_000, 1_000_000))
    assert large < 30 * max(small, 0.002)  # 10 times as long


def test_words_never_seen_before_cost_little_more() -> None:
    """What is remembered of words makes the seen ones cheaper; without it none may cost more than a few times that."""
    source = random.Random(0)
    words = ["".join(source.choices("abcdeéingst", k=7)) for _ in range(110_000)]
    assert len(terms(" ".join(words))) == 110_000
    assert seconds(" ".join(words)) < 12 * seconds(" ".join(words[:1_000] * 110))


def seconds(text: str) -> float:
    """Of the processor; the better of two."""
    spent = []
    for _ in range(2):
        start = time.process_time()
        terms(text)
        spent.append(time.process_time() - start)
    return min(spent)
