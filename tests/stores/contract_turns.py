"""The contract of turns: verbatim, idempotent, all or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memgraph_server.errors import Conflict, InvalidInput, NotFound
from memgraph_server.memory.turns import Role, TurnState
from tests.stores.material import DAY, NOW, Store, outcome, turn

VERBATIM = [
    "plain",
    "",
    "  spaces\n and\ttabs  ",
    "emoji 👩‍👩‍👧 and flags 🇫🇷",
    "العربية עברית 漢字 한국어 ไทย",
    "e\u0301 is not \u00e9",
    "'; DROP TABLE turn; -- \" ` $ {x} MATCH (n)",
    "\ufeff\u200b\u202e",
    "\U0010ffff",
    "x" * 100_000,
]
OTHER_CONTENT: list[dict[str, Any]] = [
    {"role": Role.ASSISTANT},
    {"speaker": "Bob"},
    {"text": "Hello!"},
    {"at": NOW + 1},
    {"captions": ("a cat",)},
    {"session_id": "other"},
]
UNSTORABLE: list[tuple[str, dict[str, Any]]] = [
    ("text", {"text": "a\x00b"}),
    ("text", {"text": "a\ud800b"}),
    ("speaker", {"speaker": "\udfff"}),
    ("captions", {"captions": ("fine", "\x00")}),
    ("id", {"id": "\x00"}),
    ("id", {"id": ""}),
    ("session_id", {"session_id": " "}),
    ("session_id", {"session_id": "\ud800"}),
    ("at", {"at": 2**63}),
]


class TurnContract:
    @pytest.mark.parametrize("text", VERBATIM, ids=lambda text: ascii(text[:12]))
    def test_a_turn_is_given_back_verbatim(self, store: Store, text: str) -> None:
        given = turn("t", text, captions=(text, "two"), utc_offset_minutes=-330)
        store.append_turns("n", [given], job_id="j", now=NOW)
        assert store.turns("n", ["t"]) == [given]

    def test_turns_come_in_the_order_asked_and_unknown_ids_are_left_out(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b"), turn("c")], job_id="j", now=NOW)
        assert [each.id for each in store.turns("n", ["c", "nobody", "a"])] == ["c", "a"]

    def test_positions_count_within_a_session_whatever_comes_between(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("x", session="z"), turn("b")], job_id="j", now=NOW)
        store.append_turns("n", [turn("c")], job_id="k", now=NOW)
        assert [each.position for each in store.turns("n", ["a", "b", "c", "x"])] == [0, 1, 2, 0]

    def test_the_same_turn_again_is_known_and_stored_once(self, store: Store) -> None:
        first = store.append_turns("n", [turn("a"), turn("b")], job_id="j", now=NOW)
        again = store.append_turns("n", [turn("b"), turn("c")], job_id="k", now=NOW)
        assert (first.new, first.known) == (("a", "b"), ())
        assert (again.new, again.known) == (("c",), ("b",))
        assert store.corpus_size("n").turns == 3

    @pytest.mark.parametrize("other", OTHER_CONTENT, ids=lambda other: next(iter(other)))
    def test_a_known_id_with_other_content_is_a_conflict_and_nothing_is_stored(
        self, store: Store, other: dict[str, Any]
    ) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        with pytest.raises(Conflict, match="'a'"):
            store.append_turns("n", [turn("new"), replace(turn("a"), **other)], job_id="k", now=NOW)
        assert store.turns("n", ["a", "new"]) == [turn("a")]
        assert store.corpus_size("n").turns == 1

    def test_twins_in_one_call_are_one_turn(self, store: Store) -> None:
        stored = store.append_turns("n", [turn("a"), turn("a")], job_id="j", now=NOW)
        assert (stored.new, stored.known, stored.job.total) == (("a",), (), 1)

    def test_twins_that_differ_are_a_conflict_and_nothing_is_stored(self, store: Store) -> None:
        with pytest.raises(Conflict, match="'a'"):
            store.append_turns("n", [turn("a"), turn("a", "else")], job_id="j", now=NOW)
        assert store.turns("n", ["a"]) == []

    @pytest.mark.parametrize(("field", "wrong"), UNSTORABLE)
    def test_what_cannot_be_stored_is_refused_by_the_name_of_its_field(
        self, store: Store, field: str, wrong: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidInput) as refused:
            store.append_turns("n", [turn("fine"), replace(turn("a"), **wrong)], job_id="j", now=NOW)
        assert refused.value.field == field
        assert store.turns("n", ["fine"]) == []

    @pytest.mark.parametrize("namespace", ["", " ", "a\x00", "\ud800"])
    def test_a_namespace_that_cannot_be_stored_is_refused(self, store: Store, namespace: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            store.append_turns(namespace, [turn("a")], job_id="j", now=NOW)
        assert refused.value.field == "namespace"

    def test_a_call_with_a_known_key_answers_the_first_calls_job(self, store: Store) -> None:
        first = store.append_turns("n", [turn("a"), turn("b")], job_id="j", now=NOW, key="k")
        again = store.append_turns("n", [turn("generated-anew"), turn("b2")], job_id="other", now=NOW + 5, key="k")
        assert again.job == first.job
        assert (again.new, again.known) == ((), ("a", "b"))
        assert store.turns("n", ["generated-anew", "b2"]) == []

    def test_a_job_counts_what_is_done_and_dead_and_says_why(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b"), turn("c")], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("a"), lease=None, now=NOW)
        store.fail_turn("n", "b", reason="too odd \x00 \ud800", final=True, retry_at=NOW, now=NOW)
        job = store.job("n", "j")
        assert (job.total, job.done, job.dead, job.pending) == (3, 1, 1, 1)
        assert list(job.reasons) == ["b"]
        assert job.reasons["b"].startswith("too odd")

    def test_a_job_waits_for_the_known_turns_of_its_call_too(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        assert store.append_turns("n", [turn("a"), turn("b")], job_id="k", now=NOW).job.total == 2
        store.apply_outcome("n", outcome("a"), lease=None, now=NOW)
        assert (store.job("n", "k").done, store.job("n", "j").done) == (1, 1)

    def test_a_call_without_turns_is_a_job_that_is_over(self, store: Store) -> None:
        stored = store.append_turns("n", [], job_id="j", now=NOW)
        assert (stored.job.total, stored.job.pending, stored.new) == (0, 0, ())

    def test_recorded_time_only_moves_forward_though_the_clock_goes_back(self, store: Store) -> None:
        for index, now in enumerate([NOW, NOW, NOW - DAY, NOW + 5]):
            store.append_turns("n", [turn(f"t{index}")], job_id=f"j{index}", now=now)
        recorded = [store.turn_status("n", f"t{index}").recorded_at for index in range(4)]
        assert recorded == sorted(set(recorded))
        assert recorded[0] == NOW

    def test_a_new_turn_is_pending_and_was_not_tried(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        status = store.turn_status("n", "a")
        assert (status.state, status.attempts, status.reason) == (TurnState.PENDING, 0, None)

    def test_previous_turns_are_those_just_before_in_the_session_oldest_first(self, store: Store) -> None:
        turns = [turn(f"t{index}", session="s" if index % 2 else "z") for index in range(10)]
        store.append_turns("n", turns, job_id="j", now=NOW)
        assert [each.id for each in store.previous_turns("n", "t7", 2)] == ["t3", "t5"]
        assert [each.id for each in store.previous_turns("n", "t3", 9)] == ["t1"]
        assert store.previous_turns("n", "t1", 3) == []

    def test_speakers_of_a_session_come_in_the_order_in_which_they_first_spoke(self, store: Store) -> None:
        names = ["Bob", "Ann", "", "Bob", "Cat"]
        turns = [turn(f"t{index}", speaker=name) for index, name in enumerate(names)]
        store.append_turns("n", turns, job_id="j", now=NOW)
        assert store.session_speakers("n", "s") == ["Bob", "Ann", "Cat"]
        assert store.session_speakers("n", "nowhere") == []

    def test_ids_that_nobody_has_are_not_found(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        asked: list[Callable[[], object]] = [
            lambda: store.job("n", "x"),
            lambda: store.turn_status("n", "x"),
            lambda: store.previous_turns("n", "x", 1),
            lambda: store.fail_turn("n", "x", reason="", final=True, retry_at=0, now=NOW),
            lambda: store.apply_outcome("n", outcome("x"), lease=None, now=NOW),
            lambda: store.entity("n", "x"),
            lambda: store.assertion("n", "x"),
            lambda: store.fact_versions("n", "x"),
            lambda: store.retract_assertion("n", "x", reason="", now=NOW),
            lambda: store.retract_fact("n", "x", reason="", now=NOW),
            lambda: store.merge("n", "x", "x", now=NOW),
            lambda: store.unmerge("n", "x", now=NOW),
        ]
        for ask in asked:
            with pytest.raises(NotFound):
                ask()

    def test_ten_thousand_turns_fit_in_one_call(self, store: Store) -> None:
        turns = [turn(f"t{index}", f"I saw {index} birds", session=f"s{index % 50}") for index in range(10_000)]
        stored = store.append_turns("n", turns, job_id="j", now=NOW)
        assert (len(stored.new), stored.job.total, store.corpus_size("n").turns) == (10_000, 10_000, 10_000)
