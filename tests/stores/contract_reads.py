"""The contract of reads: both clocks, filters, pages, versions and provenance."""

from __future__ import annotations

import pytest

from memgraph_server.errors import InvalidInput
from memgraph_server.memory.facts import Polarity
from memgraph_server.stores.port import AsOf, FactView
from tests.stores.material import DAY, NOW, Store, claim, entity_id, outcome, tell, turn

LATER = NOW + 100 * DAY


class ReadContract:
    def test_what_holds_at_an_instant_is_half_open(self, store: Store) -> None:
        tell(
            store,
            "n",
            claim("Ann", "lives_in", "Paris", NOW, valid_to=NOW + 10),
            claim("Ann", "lives_in", "Rome", NOW + 10),
        )
        asked = [NOW - 1, NOW, NOW + 9, NOW + 10, NOW + DAY]
        held = [[view.tail_name for view in store.timeline("n", as_of=AsOf(valid_at=at)).facts] for at in asked]
        assert held == [[], ["Paris"], ["Paris"], ["Rome"], ["Rome"]]

    def test_what_was_known_at_an_instant_is_half_open(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "lives_in", "Paris"), now=NOW)
        tell(store, "n", claim("Ann", "lives_in", "Rome"), now=NOW + 10)
        asked = [NOW - 1, NOW, NOW + 9, NOW + 10]
        known = [[view.tail_name for view in store.timeline("n", as_of=AsOf(known_at=at)).facts] for at in asked]
        assert known[:3] == [[], ["Paris"], ["Paris"]]
        assert known[3] != ["Paris"]

    def test_both_clocks_at_once(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "lives_in", "Paris", NOW), now=NOW)
        tell(store, "n", claim("Ann", "lives_in", "Rome", NOW + DAY), now=NOW + 2 * DAY)
        at = NOW + DAY
        (then,) = store.timeline("n", as_of=AsOf(valid_at=at, known_at=at)).facts
        (today,) = store.timeline("n", as_of=AsOf(valid_at=at)).facts
        assert (then.tail_name, today.tail_name) == ("Paris", "Rome")

    def test_a_timeline_is_sorted_by_relation_and_start(self, store: Store) -> None:
        said = [("likes", "z", 5), ("knows", "y", 9), ("likes", "x", 1), ("knows", "w", 3), ("likes", "v", 3)]
        tell(store, "n", *(claim("Ann", relation, tail, NOW + start) for relation, tail, start in said))
        rows = [(view.fact.relation, view.fact.valid_from - NOW) for view in store.timeline("n").facts]
        assert rows == [("knows", 3), ("knows", 9), ("likes", 1), ("likes", 3), ("likes", 5)]

    def test_a_timeline_narrows_to_relation_tail_and_confidence(self, store: Store) -> None:
        tell(
            store,
            "n",
            claim("Ann", "likes", "tea", confidence=0.9),
            claim("Ann", "likes", "cake", confidence=0.4),
            claim("Ann", "knows", "Bob"),
            claim("Bob", "likes", "tea"),
        )
        ann, tea = entity_id(store, "n", "Ann"), entity_id(store, "n", "tea")
        found = [
            store.timeline("n", entity_id=ann),
            store.timeline("n", entity_id=ann, relation="likes"),
            store.timeline("n", tail_id=tea),
            store.timeline("n", entity_id=ann, tail_id=tea),
            store.timeline("n", minimum_confidence=0.8),
            store.timeline("n", entity_id="nobody"),
        ]
        assert [len(each.facts) for each in found] == [3, 2, 2, 1, 3, 0]

    @pytest.mark.parametrize("size", [1, 3, 7, 100])
    def test_pages_together_are_the_whole_list_each_fact_once(self, store: Store, size: int) -> None:
        tell(store, "n", *(claim(f"p{i % 3}", "likes", f"t{i}", NOW + i // 2) for i in range(20)))
        whole = store.timeline("n").facts
        seen: list[FactView] = []
        cursor = None
        while True:
            page = store.timeline("n", limit=size, cursor=cursor)
            assert len(page.facts) <= size
            seen += page.facts
            cursor = page.next_cursor
            if cursor is None:
                break
        assert tuple(seen) == whole
        assert len(seen) == 20

    def test_a_cursor_that_is_not_of_this_list_is_refused(self, store: Store) -> None:
        for namespace in ("n", "m"):
            tell(store, namespace, *(claim("Ann", "likes", f"t{i}") for i in range(5)))
        cursor = store.timeline("n", limit=2).next_cursor
        assert cursor is not None
        flipped = cursor[:-2] + ("A" if cursor[-2] != "A" else "B") + cursor[-1]
        for wrong in (flipped, "", "abc", cursor + "x", "\ud800", "é", "9" * 500):
            with pytest.raises(InvalidInput) as refused:
                store.timeline("n", limit=2, cursor=wrong)
            assert refused.value.field == "cursor"
        with pytest.raises(InvalidInput):
            store.timeline("m", limit=2, cursor=cursor)
        with pytest.raises(InvalidInput):
            store.timeline("n", relation="likes", limit=2, cursor=cursor)
        with pytest.raises(InvalidInput):
            store.timeline("n", as_of=AsOf(valid_at=NOW), limit=2, cursor=cursor)
        with pytest.raises(InvalidInput):
            store.timeline("n", minimum_confidence=0.5, limit=2, cursor=cursor)
        names = store.entities("n", limit=2)[1]
        with pytest.raises(InvalidInput):
            store.entities("n", limit=2, cursor=names, like="t1")
        with pytest.raises(InvalidInput):
            store.entities("n", limit=2, cursor=cursor)
        with pytest.raises(InvalidInput):
            store.dead_turns("n", 2, cursor)

    def test_versions_tell_how_a_belief_changed(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "lives_in", "Paris", NOW), now=NOW)
        tell(store, "n", claim("Ann", "lives_in", "Rome", NOW + DAY), now=NOW + DAY)
        paris = next(view for view in store.timeline("n").facts if view.tail_name == "Paris")
        versions = [view.fact for view in store.fact_versions("n", paris.fact.id)]
        assert [(v.valid_to, v.recorded_from, v.recorded_to) for v in versions] == [
            (None, NOW, NOW + DAY),
            (NOW + DAY, NOW + DAY, None),
        ]
        assert {v.id for v in versions} == {paris.fact.id}
        assert len({v.version for v in versions}) == 2

    def test_facts_point_to_the_turns_they_came_from_oldest_first(self, store: Store) -> None:
        store.append_turns("n", [turn("t1", at=NOW), turn("t2", at=NOW + 1)], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("t2", claim("Ann", "likes", "tea", NOW + 1)), lease=None, now=NOW + 2)
        store.apply_outcome("n", outcome("t1", claim("Ann", "likes", "tea", NOW)), lease=None, now=NOW + 3)
        (view,) = store.timeline("n").facts
        assert view.turns == ("t1", "t2")
        assert len(view.supports) == 2
        (then,) = store.timeline("n", as_of=AsOf(known_at=NOW + 2)).facts
        assert then.turns == ("t2",)

    def test_facts_of_turns_are_those_the_turn_supports(self, store: Store) -> None:
        store.append_turns("n", [turn("t1"), turn("t2"), turn("t3")], job_id="j", now=NOW)
        said = claim("Ann", "lives_in", "Paris", NOW), claim("Ann", "likes", "tea", NOW)
        store.apply_outcome("n", outcome("t1", *said), lease=None, now=NOW + 1)
        store.apply_outcome("n", outcome("t2", claim("Ann", "lives_in", "Rome", NOW + 5)), lease=None, now=NOW + 2)
        found = store.facts_of_turns("n", ["t2", "t1", "t3", "nobody"])
        assert {turn_id: sorted(view.tail_name for view in views) for turn_id, views in found.items()} == {
            "t2": ["Rome"],
            "t1": ["Paris", "tea"],
        }
        then = store.facts_of_turns("n", ["t1", "t2"], AsOf(known_at=NOW + 1))
        assert list(then) == ["t1"]
        held = store.facts_of_turns("n", ["t1", "t2"], AsOf(valid_at=NOW + 7))
        assert sorted(view.tail_name for views in held.values() for view in views) == ["Rome", "tea"]

    def test_ends_of_turns_tell_which_assert_something_of_one_entity(self, store: Store) -> None:
        store.append_turns("n", [turn(f"t{i}") for i in range(5)], job_id="j", now=NOW)
        said = claim("Ann", "lives_in", "Paris", NOW), claim("Ann", "likes", "tea", NOW)
        ended = claim("Ann", "likes", None, NOW + 3, polarity=Polarity.ENDING)
        store.apply_outcome("n", outcome("t1", *said), lease=None, now=NOW + 1)
        store.apply_outcome("n", outcome("t2", claim("Bob", "knows", "Annie")), lease=None, now=NOW + 2)
        store.apply_outcome("n", outcome("t3", ended), lease=None, now=NOW + 3)
        asked = ["t3", "t2", "t1", "t0", "nobody", "t1"]
        found = store.ends_of_turns("n", asked)
        assert {turn_id: len(ends) for turn_id, ends in found.items()} == {"t1": 3, "t2": 2, "t3": 1}
        assert found["t3"] < found["t1"]
        assert not found["t2"] & found["t1"]
        assert store.ends_of_turns("n", asked, NOW + 1) == {"t1": found["t1"]}
        store.merge("n", entity_id(store, "n", "Annie"), entity_id(store, "n", "Ann"), now=NOW + 4)
        assert store.ends_of_turns("n", asked)["t2"] & found["t3"]
        assert store.ends_of_turns("n", asked, NOW + 3) == found
        assert store.ends_of_turns("n", []) == {} == store.ends_of_turns("other", ["t1"])

    def test_facts_between_follow_relations_forward_and_backward_latest_start_first(self, store: Store) -> None:
        tell(
            store,
            "n",
            claim("Ann", "works_at", "Acme", NOW),
            claim("Ann", "works_at", "Bell", NOW + DAY),
            claim("Ann", "likes", "Acme", NOW + 2 * DAY),
            claim("Bob", "works_at", "Bell", NOW + 3 * DAY),
        )
        ann, bell = entity_id(store, "n", "Ann"), entity_id(store, "n", "Bell")
        forward = store.facts_between("n", ann, ["works_at"], as_of=AsOf(), limit=9)
        assert [(each.here, each.tail_name) for each in forward] == [(ann, "Bell"), (ann, "Acme")]
        both = store.facts_between("n", ann, ["works_at", "likes"], as_of=AsOf(), limit=2)
        assert [each.fact.relation for each in both] == ["likes", "works_at"]
        backward = store.facts_between("n", bell, ["works_at", "likes"], as_of=AsOf(), limit=9, reverse=True)
        assert [(each.here, each.head_name) for each in backward] == [(bell, "Bob"), (bell, "Ann")]
        at = AsOf(valid_at=NOW)
        assert [each.tail_name for each in store.facts_between("n", ann, ["works_at"], as_of=at, limit=9)] == ["Acme"]
        assert store.facts_between("n", "nobody", ["works_at"], as_of=AsOf(), limit=9) == []
