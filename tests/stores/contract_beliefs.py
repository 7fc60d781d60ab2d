"""The contract of claims and beliefs: the memory model's examples, through the port."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from memgraph_server.errors import Conflict, InvalidInput
from memgraph_server.memory.facts import Intent, Polarity
from memgraph_server.memory.interval import Basis, Precision
from memgraph_server.memory.proposals import Proposal
from memgraph_server.stores.port import AsOf
from tests.stores.material import DAY, NOW, Store, believed, claim, entity_id, tell

T0, T1, T2, T3 = NOW, NOW + DAY, NOW + 2 * DAY, NOW + 3 * DAY
LATER = NOW + 100 * DAY


def ending(head: str, relation: str, tail: str | None, at: int, **more: Any) -> Proposal:
    return claim(head, relation, tail, at, polarity=Polarity.ENDING, **more)


HISTORIES: dict[str, tuple[list[Proposal], list[tuple[str, int, int | None, str]]]] = {
    "a later different value closes the earlier one at its start": (
        [claim("Ann", "lives_in", "Paris", T0), claim("Ann", "lives_in", "Rome", T1)],
        [("Paris", T0, T1, "stable"), ("Rome", T1, None, "stable")],
    ),
    "the same value again extends the interval to the earlier start": (
        [claim("Ann", "lives_in", "Paris", T1), claim("Ann", "lives_in", "Paris", T0)],
        [("Paris", T0, None, "stable")],
    ),
    "a stay inside an open one takes its own portion": (
        [claim("Ann", "lives_in", "Paris", T0), claim("Ann", "lives_in", "Boston", T1, valid_to=T2)],
        [("Paris", T0, T1, "stable"), ("Boston", T1, T2, "stable"), ("Paris", T2, None, "stable")],
    ),
    "the same value after a gap is a new interval": (
        [claim("Ann", "lives_in", "Paris", T0, valid_to=T1), claim("Ann", "lives_in", "Paris", T2)],
        [("Paris", T0, T1, "stable"), ("Paris", T2, None, "stable")],
    ),
    "an ending closes, and a claim after it revives": (
        [claim("Ann", "likes", "tea", T0), ending("Ann", "likes", "tea", T1), claim("Ann", "likes", "tea", T2)],
        [("tea", T0, T1, "stable"), ("tea", T2, None, "stable")],
    ),
    "an ending without a tail ends every tail": (
        [claim("Ann", "likes", "tea", T0), claim("Ann", "likes", "cake", T0), ending("Ann", "likes", None, T1)],
        [("cake", T0, T1, "stable"), ("tea", T0, T1, "stable")],
    ),
    "values of a multi-valued relation leave each other alone": (
        [claim("Ann", "likes", "tea", T0), claim("Ann", "likes", "cake", T1)],
        [("tea", T0, None, "stable"), ("cake", T1, None, "stable")],
    ),
    "who disagrees is believed from when it was said": (
        [
            claim("Ann", "lives_in", "Paris", T1, ongoing=True),
            claim("Ann", "lives_in", "Boston", T0, evidence_at=T2, ongoing=True),
        ],
        [("Boston", T0, T1, "stable"), ("Paris", T1, T2, "stable"), ("Boston", T2, None, "stable")],
    ),
    "a hedged claim stands beside and settles with the next plain one": (
        [
            claim("Ann", "lives_in", "Paris", T0),
            claim("Ann", "lives_in", "Rome", T1, confidence=0.5),
            claim("Ann", "lives_in", "Boston", T2),
        ],
        [("Paris", T0, T2, "stable"), ("Rome", T1, T2, "speculative"), ("Boston", T2, None, "stable")],
    ),
    "a hedged claim never ends a stable fact": (
        [claim("Ann", "likes", "tea", T0), ending("Ann", "likes", "tea", T1, confidence=0.5)],
        [("tea", T0, None, "stable")],
    ),
}


class BeliefContract:
    @pytest.mark.parametrize("history", HISTORIES)
    def test_histories_are_believed_alike_in_any_order(self, store: Store, history: str) -> None:
        proposals, expected = HISTORIES[history]
        relation = proposals[0].relation
        for number, order in enumerate(permutations(proposals)):
            for proposal in order:
                tell(store, f"n{number}", proposal, now=LATER)
            assert believed(store, f"n{number}", "Ann", relation) == expected

    @pytest.mark.parametrize("history", HISTORIES)
    def test_one_call_for_all_is_believed_like_one_for_each(self, store: Store, history: str) -> None:
        proposals, expected = HISTORIES[history]
        tell(store, "n", *proposals, now=LATER)
        assert believed(store, "n", "Ann", proposals[0].relation) == expected

    def test_liking_ends_disliking_and_the_reverse(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "likes", "tea", T0), claim("Ann", "dislikes", "tea", T1))
        assert believed(store, "n", "Ann", "likes") == [("tea", T0, T1, "stable")]
        tell(store, "n", claim("Ann", "likes", "tea", T2), now=LATER)
        assert believed(store, "n", "Ann", "dislikes") == [("tea", T1, T2, "stable")]

    def test_a_withdrawn_antonym_gives_back_what_it_had_closed(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "likes", "tea", T0))
        (disliking,) = tell(store, "n", claim("Ann", "dislikes", "tea", T1))
        store.retract_assertion("n", disliking, reason="mistaken", now=LATER)
        assert believed(store, "n", "Ann") == [("tea", T0, None, "stable")]

    def test_the_same_assertion_twice_is_once(self, store: Store) -> None:
        said = claim("Ann", "likes", "tea", confidence=0.85, id="x")
        assert tell(store, "n", said, said) == ["x", "x"]
        before = store.timeline("n")
        assert tell(store, "n", said, now=LATER) == ["x"]
        assert store.timeline("n") == before
        assert before.facts[0].fact.confidence == 0.85

    def test_an_assertion_without_an_id_is_known_by_what_it_says(self, store: Store) -> None:
        said = claim("Ann", "likes", "tea", confidence=0.85)
        assert tell(store, "n", said) == tell(store, "n", said, now=LATER)
        assert tell(store, "n", claim("Ann", "likes", "tea", T1)) != tell(store, "n", said)

    @pytest.mark.parametrize(
        "other",
        [{"tail": "cake"}, {"valid_to": T1}, {"confidence": 0.9}, {"polarity": Polarity.ENDING}, {"turn_id": "t"}],
        ids=str,
    )
    def test_a_known_assertion_id_with_other_content_is_a_conflict(self, store: Store, other: dict[str, Any]) -> None:
        tell(store, "n", claim("Ann", "likes", "tea", id="x"))
        different = {"tail": "tea", "id": "x", **other}
        with pytest.raises(Conflict, match="'x'"):
            tell(store, "n", claim("Bob", "likes", "tea"), claim("Ann", "likes", different.pop("tail"), **different))
        assert store.resolve("n", "Bob") is None

    def test_more_voices_raise_the_confidence_and_one_voice_twice_does_not(self, store: Store) -> None:
        for turn_id in ("t1", "t2", "t2"):
            tell(store, "n", claim("Ann", "likes", "tea", confidence=0.9, turn_id=turn_id, span=(0, len(turn_id))))
        tell(store, "n", claim("Ann", "likes", "tea", confidence=0.9, turn_id="t2", span=(5, 9)))
        (view,) = store.timeline("n").facts
        assert view.fact.confidence == 0.99
        assert (len(view.supports), view.turns) == (3, ("t1", "t2"))

    def test_an_assertion_is_given_back_as_it_was_said(self, store: Store) -> None:
        said = claim(
            "Ann",
            "likes",
            "tea",
            T0,
            id="x",
            valid_to=T3,
            evidence_at=T1,
            confidence=0.7,
            intent=Intent.CAUSAL,
            from_precision=Precision.MONTH,
            to_precision=Precision.YEAR,
            from_basis=Basis.STATED,
            source="model/1",
            span=(3, 9),
            turn_id="t",
        )
        tell(store, "n", said, now=T2)
        view = store.assertion("n", "x")
        for name in (
            "relation",
            "valid_from",
            "valid_to",
            "evidence_at",
            "confidence",
            "intent",
            "polarity",
            "ongoing",
        ):
            assert getattr(view.assertion, name) == getattr(said, name)
        for name in ("from_precision", "to_precision", "from_basis", "to_basis", "source", "span", "turn_id"):
            assert getattr(view.assertion, name) == getattr(said, name)
        assert (view.head_name, view.tail_name, view.assertion.recorded_at) == ("Ann", "tea", T2)
        assert (view.withdrawn_at, view.withdrawn_because) == (None, None)

    def test_a_withdrawn_claim_is_no_longer_believed_and_what_it_closed_opens_again(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "lives_in", "Paris", T0), claim("Ann", "lives_in", "Rome", T1, id="x"))
        store.retract_assertion("n", "x", reason="it was Bob", now=LATER)
        assert believed(store, "n", "Ann") == [("Paris", T0, None, "stable")]
        view = store.assertion("n", "x")
        assert (view.withdrawn_at, view.withdrawn_because) == (LATER, "it was Bob")
        store.retract_assertion("n", "x", reason="again", now=LATER + 1)
        assert store.assertion("n", "x") == view

    def test_one_of_two_sources_withdrawn_leaves_the_fact(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "likes", "tea", id="x", turn_id="1"), claim("Ann", "likes", "tea", turn_id="2"))
        store.retract_assertion("n", "x", reason="", now=LATER)
        assert believed(store, "n", "Ann") == [("tea", T0, None, "stable")]

    def test_retracting_a_fact_withdraws_all_that_supports_it(self, store: Store) -> None:
        ids = tell(store, "n", claim("Ann", "likes", "tea", T0, turn_id="1"), claim("Ann", "likes", "tea", T1))
        tell(store, "n", claim("Ann", "likes", "cake"))
        tea = next(view for view in store.timeline("n").facts if view.tail_name == "tea")
        assert sorted(store.retract_fact("n", tea.fact.id, reason="no", now=LATER)) == sorted(ids)
        assert [tail for tail, *_ in believed(store, "n", "Ann")] == ["cake"]

    def test_a_recorded_cardinality_derives_the_relation_anew_and_can_be_taken_back(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "drives", "a van", T0), claim("Ann", "drives", "a bus", T1))
        both = believed(store, "n", "Ann")
        store.set_cardinality("n", "drives", True, reason="observed", now=LATER)
        assert store.cardinalities("n") == {"drives": True}
        assert believed(store, "n", "Ann") == [("a van", T0, T1, "stable"), ("a bus", T1, None, "stable")]
        tell(store, "n", claim("Ann", "drives", "a car", T2))
        assert [tail for tail, _, end, _ in believed(store, "n", "Ann") if end is None] == ["a car"]
        store.set_cardinality("n", "drives", None, reason="too bold", now=LATER)
        assert store.cardinalities("n") == {}
        assert believed(store, "n", "Ann") == [*both, ("a car", T2, None, "stable")]

    def test_a_cardinality_comes_before_the_relation_table(self, store: Store) -> None:
        store.set_cardinality("n", "lives_in", False, reason="nomads", now=NOW)
        tell(store, "n", claim("Ann", "lives_in", "Paris", T0), claim("Ann", "lives_in", "Rome", T1))
        assert [end for _, _, end, _ in believed(store, "n", "Ann")] == [None, None]

    @pytest.mark.parametrize(
        ("field", "wrong"),
        [
            ("head", claim("", "likes", "tea")),
            ("head", claim("a\x00", "likes", "tea")),
            ("relation", claim("Ann", " ", "tea")),
            ("tail", claim("Ann", "likes", "\ud800")),
            ("tail", claim("Ann", "likes", None)),
            ("valid_to", claim("Ann", "likes", "tea", NOW, valid_to=NOW)),
            ("valid_from", claim("Ann", "likes", "tea", 2**63)),
            ("confidence", claim("Ann", "likes", "tea", confidence=float("nan"))),
            ("confidence", claim("Ann", "likes", "tea", confidence=1.1)),
            ("turn_id", claim("Ann", "likes", "tea", turn_id="\x00")),
        ],
    )
    def test_a_proposal_that_cannot_be_is_refused_and_none_of_its_call_is_stored(
        self, store: Store, field: str, wrong: Proposal
    ) -> None:
        with pytest.raises(InvalidInput) as refused:
            tell(store, "n", claim("Bob", "likes", "tea"), wrong)
        assert refused.value.field == field
        assert store.timeline("n").facts == ()

    def test_an_assertion_changes_facts_of_its_own_key_only(self, store: Store) -> None:
        tell(
            store,
            "n",
            claim("Ann", "lives_in", "Paris"),
            claim("Bob", "lives_in", "Rome"),
            claim("Ann", "likes", "tea"),
        )
        ann, bob = entity_id(store, "n", "Ann"), entity_id(store, "n", "Bob")
        others = [store.timeline("n", entity_id=bob), store.timeline("n", entity_id=ann, relation="likes")]
        tell(store, "n", claim("Ann", "lives_in", "Boston", T1), now=LATER)
        assert [store.timeline("n", entity_id=bob), store.timeline("n", entity_id=ann, relation="likes")] == others

    def test_any_past_read_gives_the_same_answer_for_ever(self, store: Store) -> None:
        seen: list[tuple[AsOf, Any]] = []
        steps: list[Proposal] = [proposal for proposals, _ in HISTORIES.values() for proposal in proposals]
        for index, proposal in enumerate(steps):
            now = LATER + index * 10
            tell(store, "n", proposal, now=now)
            if index % 3 == 2:
                store.retract_assertion("n", tell(store, "n", proposal, now=now + 1)[0], reason="", now=now + 2)
            as_of = AsOf(known_at=now + 5)
            seen.append((as_of, store.timeline("n", as_of=as_of)))
        assert len({str(answer) for _, answer in seen}) > 10
        for as_of, answer in seen:
            assert store.timeline("n", as_of=as_of) == answer
