"""Signals of a turn's relevance, each on its own."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from memgraph_server.memory.interval import Interval
from memgraph_server.retrieval import signals
from tests.retrieval.cards import DIMENSION, WrittenCard, bits, conversation, direction, postings

DAY = 86_400_000_000
Vector: TypeAlias = NDArray[np.float32]


def test_a_rare_word_weighs_more_and_no_word_weighs_less_than_nothing() -> None:
    weights = [signals.rarity(documents, 100) for documents in (0, 1, 10, 100, 500)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_words_of_the_neighbours_count_half_as_much_as_a_turns_own() -> None:
    cards = conversation("hello there friend", "what did you paint", "a sunrise", "nice work today", "good bye now")
    found = postings(cards, "sunrise")
    scores = signals.lexical(cards, found, len(cards), 3.0)
    assert scores[2] > scores[1] > 0
    assert scores[2] > scores[3] > 0
    assert scores[0] == scores[4] == 0


def test_words_do_not_leak_from_one_session_into_another() -> None:
    first, second = WrittenCard(0, "a sunrise", session_id="a"), WrittenCard(1, "good bye", session_id="b")
    scores = signals.lexical([first, second], postings([first, second], "sunrise"), 2, 2.0)
    assert scores[1] == 0


def test_the_day_in_words_matches_a_question_that_names_it() -> None:
    may = WrittenCard(0, "we danced", at=1_683_504_000_000_000)  # 8 May 2023
    july = WrittenCard(1, "we danced", at=1_688_774_400_000_000)  # 8 July 2023
    other = WrittenCard(2, "see you in may")
    found = postings([may, july, other], "danced in may")
    scores = signals.lexical([may, july], found, 3, 3.0)
    assert scores[0] > scores[1]
    assert signals.day_terms(may.at) == {"8", "may", "2023"}


def test_the_first_stage_finds_the_turns_that_the_exact_one_scores() -> None:
    cards = conversation("we went home", "did you paint a sunrise", "yes twice", "the sunrise again", "bye")
    found = postings(cards, "sunrise paint")
    handles, rough = signals.first_stage(found, len(cards))
    exact = signals.lexical(cards, found, len(cards), 3.0)
    assert {int(handle) for handle in handles} >= {int(handle) for handle in np.flatnonzero(exact)}
    assert handles[rough.argmax()] == exact.argmax()
    assert [len(part) for part in signals.first_stage({}, 5)] == [0, 0]


def test_a_turn_without_a_vector_has_no_cosine() -> None:
    cards = [WrittenCard(0, "a", pooled=direction(1)), WrittenCard(1, "b")]
    assert signals.pooled(cards, direction(1)).tolist() == pytest.approx([1.0, 0.0])
    assert signals.pooled(cards, None).tolist() == [0.0, 0.0]


def late(
    cards: list[WrittenCard], *question: np.ndarray[tuple[int], np.dtype[np.float32]]
) -> tuple[list[float], list[float]]:
    weights = np.full(len(question), 1 / len(question))
    own, either = signals.late_interaction(cards, {card.handle: card for card in cards}, np.stack(question), weights)
    return own.sum(axis=1).tolist(), either.sum(axis=1).tolist()


def test_each_piece_takes_its_best_token_of_the_turn_or_of_the_one_before() -> None:
    first, second = direction(*range(8)), direction(*range(8, 16))
    cards = [
        WrittenCard(0, "a", token_bits=bits(first)),
        WrittenCard(1, "b", previous=0, token_bits=bits(second)),
        WrittenCard(2, "c", previous=1),
    ]
    own, either = late(cards, first)
    assert own[0] == pytest.approx(either[0])
    assert either[1] == pytest.approx(own[0])
    assert either[1] > own[1]
    assert own[2] == 0.0
    assert either[2] == pytest.approx(own[1])


def test_one_bit_a_dimension_gives_the_cosine_of_the_signs() -> None:
    dice = np.random.default_rng(7)
    token, question = dice.normal(size=DIMENSION).astype(np.float32), dice.normal(size=DIMENSION).astype(np.float32)
    question /= np.linalg.norm(question)
    own, _ = late([WrittenCard(0, "a", token_bits=bits(token))], question)
    signs = np.where(token > 0, 1.0, -1.0) / math.sqrt(DIMENSION)
    assert own[0] == pytest.approx(float(signs @ question), abs=1e-6)


def test_pieces_weigh_by_the_rarity_of_their_word_and_function_words_nothing() -> None:
    cards = conversation("the paint is here", "the paint is there", "a sunrise", "bye")
    found = postings(cards, "the paint sunrise")
    weights = signals.piece_weights(("the", "paint", "sun", "##rise", "?"), found, len(cards))
    assert weights.sum() == pytest.approx(1.0)
    assert weights[0] == weights[4] == 0.0
    assert weights[2] == weights[3]
    assert weights[2:4].sum() > weights[1] > 0


def test_of_several_named_the_one_who_acts_stands_out_less() -> None:
    cards = [WrittenCard(0, "a"), WrittenCard(1, "b", speaker="Bob"), WrittenCard(2, "c", speaker="")]
    assert signals.speaker(cards, ["Ann", "Bob"], "Ann", "Bob").tolist() == [0, signals.SUBJECT, 0]


def test_a_question_of_function_words_counts_all_its_pieces_alike() -> None:
    assert signals.piece_weights(("who", "is", "it"), {}, 5).tolist() == pytest.approx([1 / 3] * 3)
    assert signals.piece_weights((), {}, 5).tolist() == []


@pytest.mark.parametrize(
    ("asked", "asker", "expected"),
    [
        (["Ann"], None, [1, 0, 0]),
        (["Ann", "Bob"], None, [0, 0, 0]),
        (["Bob"], "Ann", [0, 1, 0]),
        ([], "Ann", [1, 0, 0]),
        ([], None, [1, 0, 1]),
    ],
)
def test_turns_of_the_one_who_is_asked_about_stand_out(
    asked: list[str], asker: str | None, expected: list[int]
) -> None:
    cards = [WrittenCard(0, "a"), WrittenCard(1, "b", speaker="Bob", role="assistant"), WrittenCard(2, "c", speaker="")]
    assert signals.speaker(cards, asked, asker).tolist() == expected


def test_turns_that_ask_are_told_from_turns_that_tell() -> None:
    cards = [
        WrittenCard(0, "what?", pieces=("what", "?")),
        WrittenCard(1, "so.", pieces=("so", ".")),
        WrittenCard(2, "什么?"),
    ]
    assert signals.questions(cards).tolist() == [1, 0, 0]


def test_of_two_turns_the_later_said_is_nearer_to_now() -> None:
    scores = signals.recency(
        [WrittenCard(0, "a"), WrittenCard(1, "b", at=9 * DAY), WrittenCard(2, "c", at=20 * DAY)], 10 * DAY
    )
    assert scores[0] < scores[1] < scores[2] == 0


def test_nearness_is_one_within_the_stated_time_and_halves_with_distance() -> None:
    cards = [WrittenCard(n, "a", at=day * DAY) for n, day in enumerate((3, 12, 17, 24))]
    scores = signals.nearness(cards, Interval(10 * DAY, 17 * DAY))
    assert scores.tolist() == pytest.approx([0.5, 1.0, 1.0, 0.5])
    assert signals.nearness(cards, Interval(10 * DAY, None)).tolist() == pytest.approx([0.5, 1, 1, 1])
    assert signals.nearness(cards, None).tolist() == [0.0] * 4


def test_a_turn_counts_by_its_nearest_fact_above_the_farthest_that_was_found() -> None:
    near = [(0.9, ("t1", "t2")), (0.6, ("t2", "t3")), (0.4, ())]
    assert signals.fact_scores(near) == pytest.approx({"t1": 0.5, "t2": 0.5, "t3": 0.2})
    assert signals.fact_scores([]) == {}
