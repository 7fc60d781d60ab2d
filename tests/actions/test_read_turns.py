"""Reading turns: what the models are shown, what comes of their answers, and when a turn is tried again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memgraph_server import wiring
from memgraph_server.actions.read_turns import (
    CONTEXT,
    SLICE,
    SLICE_CHARACTERS,
    Reader,
    Retries,
    embed_again,
    in_context,
    outcomes,
    reason,
    slices_of,
)
from memgraph_server.language.hashed_embedder import HashedEmbedder
from memgraph_server.language.onnx_embedder import OnnxEmbedder
from memgraph_server.language.pattern_extractor import PatternExtractor
from memgraph_server.language.port import Extraction, InContext, TurnInContext
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.stores.sqlite import SqliteStore


def said(number: int, speaker: str = "Ann", role: Role = Role.USER) -> Turn:
    return Turn(f"t{number}", "s", role, speaker, f"text {number}", at=number, position=number)


def listeners(turns: Sequence[Turn], speakers: Sequence[str]) -> list[str]:
    return [one.listener for one in in_context([], turns, speakers)]


def test_each_turn_is_shown_with_the_few_before_it_in_and_out_of_its_batch() -> None:
    before, batch = [said(n) for n in range(4)], [said(n) for n in range(4, 10)]
    shown = list(in_context(before, batch, ["Ann"]))
    assert [one.turn.id for one in shown] == [turn.id for turn in batch]
    for one in shown:
        numbers = [turn.position for turn in one.previous]
        assert numbers == list(range(one.turn.position - CONTEXT, one.turn.position))


def test_the_listener_is_the_other_of_two_and_nobody_in_a_crowd() -> None:
    assert listeners([said(0, "Ann"), said(1, "Bob")], ["Ann", "Bob"]) == ["Bob", "Ann"]
    assert listeners([said(0, "Ann")], ["Ann", "Bob", "Eve"]) == [""]
    assert listeners([said(0, "Ann")], ["Ann"]) == [""]
    assert listeners([said(0, "")], ["Ann", ""]) == [""]


def test_waits_double_up_to_the_longest_and_tries_are_bounded() -> None:
    retries = Retries(attempts=5, first_seconds=1, longest_seconds=6)
    assert [retries.wait(tries) for tries in (1, 2, 3, 4, 50)] == [1, 2, 4, 6, 6]
    assert [retries.final(tries) for tries in (1, 4, 5, 6)] == [False, False, True, True]


def claim(**changes: object) -> Proposal:
    return replace(Proposal("Ann", "lives_in", "Paris", valid_from=0, evidence_at=0), **changes)  # type: ignore[arg-type]


def test_an_outcome_has_the_vectors_of_its_turn_and_of_its_own_triples() -> None:
    turns = [TurnInContext(said(0)), TurnInContext(said(1))]
    extractions = [Extraction((claim(), claim(tail="Rome"))), Extraction((claim(polarity="ending", tail=None),))]
    embedder = HashedEmbedder()
    first, second = outcomes(embedder, turns, extractions)
    assert first.triple_vectors.keys() == {"Ann lives in Paris", "Ann lives in Rome"}
    assert second.triple_vectors == {}
    (expected,) = embedder.encode(["Ann lives in Paris"])
    assert np.array_equal(first.triple_vectors["Ann lives in Paris"], expected.pooled)
    assert first.vectors is not None
    assert np.array_equal(first.vectors.pooled, embedder.encode(["text 0"])[0].pooled)


def test_a_turn_is_embedded_in_the_light_of_the_one_before_it_and_again_alike(tmp_path: Path) -> None:
    embedder = OnnxEmbedder()
    texts = ["Do you still go swimming with the kids?", "Yes, I love it!"]
    turns = [replace(said(number), text=text) for number, text in enumerate(texts)]
    path, dimension = tmp_path / "memory.db", embedder.dimension
    with closing(SqliteStore(path, wiring.registry(), embedder_name=embedder.name, dimension=dimension)) as store:
        store.migrate()
        store.append_turns("n", turns, job_id="j", now=0)
        first, reply = outcomes(embedder, list(in_context([], turns, ["Ann"])), [Extraction(()), Extraction(())])
        for outcome in (first, reply):
            store.apply_outcome("n", outcome, lease=None, now=1)
        (expected,) = embedder.encode([InContext(texts[1], texts[0])])
        assert reply.vectors is not None
        assert np.array_equal(reply.vectors.pooled, expected.pooled)

        def pooled() -> list[np.ndarray]:
            held = store.turn_vectors("n", list(store.handles("n", ["t0", "t1"]).values()))
            return [held[handle].pooled for handle in sorted(held)]

        before = pooled()
        reader = Reader(store, PatternExtractor(str), embedder)
        assert embed_again(reader, [("n", "turn", "t1"), ("n", "turn", "t0")], store.replace_vectors) == []
        assert [one.tobytes() for one in pooled()] == [one.tobytes() for one in before]
        reader.close()


@pytest.mark.parametrize("role", [Role.SYSTEM, Role.TOOL])
def test_nothing_is_believed_because_of_a_prompt_or_a_tool(role: Role) -> None:
    (outcome,) = outcomes(HashedEmbedder(), [TurnInContext(said(0, role=role))], [Extraction((claim(),))])
    assert outcome.proposals == ()
    assert outcome.vectors is not None


def test_an_extractor_that_answers_for_another_number_of_turns_is_wrong() -> None:
    with pytest.raises(ValueError, match="2 turns gave 1"):
        outcomes(HashedEmbedder(), [TurnInContext(said(0)), TurnInContext(said(1))], [Extraction(())])


def test_a_reason_can_always_be_stored() -> None:
    assert reason(ValueError("a\0b\ud800" + "x" * 1000)).encode()
    assert len(reason(ValueError("x" * 1000))) == 300


def test_a_slice_is_small_in_turns_and_in_characters() -> None:
    short = [TurnInContext(said(n)) for n in range(SLICE + 1)]
    assert [len(part) for part in slices_of(short)] == [SLICE, 1]
    long = [TurnInContext(replace(said(n), text="x" * (SLICE_CHARACTERS - 10))) for n in range(3)]
    assert [len(part) for part in slices_of(long)] == [1, 1, 1]
    mixed = [*short[:2], long[0], short[2]]
    assert [len(part) for part in slices_of(mixed)] == [2, 2]
    assert list(slices_of([])) == []


def test_captions_count_among_the_characters_of_a_slice() -> None:
    captioned = [TurnInContext(replace(said(n), captions=("a dog",) * (SLICE_CHARACTERS // 20))) for n in range(4)]
    for part in slices_of(captioned):
        assert len(part) == 1 or sum(len(each.turn.full_text()) for each in part) <= SLICE_CHARACTERS
    assert [len(part) for part in slices_of(captioned)] == [1, 1, 1, 1]
