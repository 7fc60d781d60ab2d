"""The contract of entities: what is one name, what is not, and merges that can be undone."""

from __future__ import annotations

import pytest

from memgraph_server.errors import Conflict, InvalidInput
from memgraph_server.stores.port import AsOf
from tests.stores.material import NOW, Store, believed, claim, entity_id, tell

ONE_NAME = [
    ("Ann", "ann"),
    ("Ann", "  ANN "),
    ("Ann Lee", "Ann \t\n lee"),
    ("Jos\u00e9", "Jose\u0301"),
    ("STRASSE", "straße"),
    ("ΣΟΦΙΑ", "σοφια"),
]
TWO_NAMES = [
    ("SR-052", "SR-053"),
    ("José", "Jose"),
    ("李明", "李鸣"),
    ("Иван", "Ивана"),
    ("محمد", "محمود"),
    ("Ann", "Anne"),
    ("v1.0", "v10"),
    ("C", "C++"),
    ("Ann", "An n"),
]


class EntityContract:
    @pytest.mark.parametrize(("one", "other"), ONE_NAME)
    def test_these_spellings_are_one_entity(self, store: Store, one: str, other: str) -> None:
        tell(store, "n", claim(one, "likes", "tea"), claim(other, "likes", "coffee"))
        assert entity_id(store, "n", one) == entity_id(store, "n", other)
        assert len(believed(store, "n", one)) == 2

    @pytest.mark.parametrize(("one", "other"), TWO_NAMES)
    def test_these_names_are_two_entities(self, store: Store, one: str, other: str) -> None:
        tell(store, "n", claim(one, "likes", "tea"), claim(other, "likes", "tea"))
        assert entity_id(store, "n", one) != entity_id(store, "n", other)

    def test_an_unknown_name_is_nobody(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "likes", "tea"))
        assert store.resolve("n", "Bob") is None
        assert store.find_names("n", ["Bob", "ANN", "tea"]).keys() == {"ANN", "tea"}

    def test_an_entity_keeps_the_name_it_was_first_given(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "likes", "tea"), claim("ANN", "likes", "Tea"))
        assert store.entity("n", entity_id(store, "n", "ann")).name == "Ann"

    def test_a_type_that_is_learned_later_fills_an_empty_one_and_replaces_none(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "likes", "Paris"))
        tell(store, "n", claim("Ann", "likes", "Rome", head_type="person"))
        tell(store, "n", claim("Ann", "likes", "Bonn", head_type="robot"))
        assert store.entity("n", entity_id(store, "n", "Ann")).type == "person"

    def test_names_are_data_and_not_query_syntax(self, store: Store) -> None:
        odd = ["a' OR '1'='1", "`x`", "a:b*", "$name", "{a: 1}", 'say "no"', "100%", "a_b", "-- x", "naïve; DROP"]
        tell(store, "n", *(claim(name, "likes\"`' :", "tea") for name in odd))
        for name in odd:
            assert store.entity("n", entity_id(store, "n", name)).name == name
        assert [each.name for each in store.entities("n", limit=99, like="100%")[0]] == ["100%"]
        assert store.entities("n", limit=99, like="_")[0] == [store.entity("n", entity_id(store, "n", "a_b"))]

    def test_entities_are_listed_by_page_in_the_order_of_names(self, store: Store) -> None:
        names = [f"p{index:02d}" for index in range(9)]
        tell(store, "n", *(claim(name, "knows", "p00") for name in reversed(names)))
        seen, cursor = [], None
        while True:
            page, cursor = store.entities("n", limit=4, cursor=cursor)
            seen += [each.name for each in page]
            if cursor is None:
                break
        assert seen == names

    def test_a_merge_gathers_facts_names_and_what_is_said_later(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "likes", "tea"), claim("Annie", "likes", "coffee"))
        annie, ann = entity_id(store, "n", "Annie"), entity_id(store, "n", "Ann")
        merged = store.merge("n", annie, ann, now=NOW + 1)
        assert (merged.id, merged.name, merged.aliases) == (ann, "Ann", ("Annie",))
        assert store.resolve("n", "annie") == merged
        assert store.entity("n", annie).merged_into == ann
        tell(store, "n", claim("Annie", "likes", "cake"), now=NOW + 2)
        assert [tail for tail, *_ in believed(store, "n", "Ann")] == ["cake", "coffee", "tea"]
        assert [each.name for each in store.entities("n", limit=9, like="annie")[0]] == ["Ann"]

    def test_an_entity_merged_as_a_tail_stands_there_too(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "lives_in", "NYC"), claim("Bob", "lives_in", "New York"))
        store.merge("n", entity_id(store, "n", "NYC"), entity_id(store, "n", "New York"), now=NOW + 1)
        facts = store.timeline("n", tail_id=entity_id(store, "n", "New York")).facts
        assert [view.head_name for view in facts] == ["Ann", "Bob"]

    def test_merging_two_heads_derives_their_single_values_together(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "lives_in", "Paris", NOW), claim("Annie", "lives_in", "Rome", NOW + 10))
        store.merge("n", entity_id(store, "n", "Annie"), entity_id(store, "n", "Ann"), now=NOW + 1)
        rows = [("Paris", NOW, NOW + 10, "stable"), ("Rome", NOW + 10, None, "stable")]
        assert believed(store, "n", "Ann", "lives_in") == rows

    def test_an_undone_merge_leaves_all_as_if_it_had_not_been(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "lives_in", "Paris", NOW), claim("Annie", "lives_in", "Rome", NOW + 10))
        ann, annie = entity_id(store, "n", "Ann"), entity_id(store, "n", "Annie")
        before = [believed(store, "n", name) for name in ("Ann", "Annie")]
        store.merge("n", annie, ann, now=NOW + 1)
        tell(store, "n", claim("Annie", "likes", "cake"), now=NOW + 2)
        split = store.unmerge("n", annie, now=NOW + 3)
        assert (split.id, split.merged_into) == (annie, None)
        assert [believed(store, "n", name, "lives_in") for name in ("Ann", "Annie")] == before
        assert [tail for tail, *_ in believed(store, "n", "Annie", "likes")] == ["cake"]

    def test_what_was_believed_before_a_merge_is_read_as_it_was(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "lives_in", "Paris", NOW), claim("Annie", "lives_in", "Rome", NOW + 10))
        ann, annie = entity_id(store, "n", "Ann"), entity_id(store, "n", "Annie")
        then = AsOf(known_at=NOW)
        before = [store.timeline("n", entity_id=each, as_of=then) for each in (ann, annie)]
        store.merge("n", annie, ann, now=NOW + 1)
        assert [store.timeline("n", entity_id=each, as_of=then) for each in (ann, annie)] == before
        assert len(store.timeline("n", entity_id=annie).facts) == 2  # now, Annie is Ann
        store.unmerge("n", annie, now=NOW + 2)
        assert [store.timeline("n", entity_id=each, as_of=then) for each in (ann, annie)] == before
        assert len(store.timeline("n", entity_id=annie, as_of=AsOf(known_at=NOW + 1)).facts) == 2

    def test_merges_in_a_chain_are_followed_to_the_end(self, store: Store) -> None:
        tell(store, "n", *(claim(name, "likes", f"tea {name}") for name in ("A1", "B1", "C1")))
        a, b, c = (entity_id(store, "n", name) for name in ("A1", "B1", "C1"))
        store.merge("n", a, b, now=NOW + 1)
        store.merge("n", b, c, now=NOW + 2)
        assert entity_id(store, "n", "A1") == c
        assert store.entity("n", c).aliases == ("A1", "B1")
        assert len(believed(store, "n", "C1")) == 3
        store.unmerge("n", b, now=NOW + 3)
        assert entity_id(store, "n", "A1") == b
        assert len(believed(store, "n", "B1")) == 2

    def test_a_merge_into_itself_or_in_a_circle_is_refused(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "knows", "Bob"))
        ann, bob = entity_id(store, "n", "Ann"), entity_id(store, "n", "Bob")
        with pytest.raises(InvalidInput):
            store.merge("n", ann, ann, now=NOW)
        store.merge("n", ann, bob, now=NOW)
        with pytest.raises(InvalidInput):
            store.merge("n", bob, ann, now=NOW)
        with pytest.raises(Conflict):
            store.merge("n", ann, bob, now=NOW)
        with pytest.raises(Conflict):
            store.unmerge("n", bob, now=NOW)

    def test_one_name_in_two_namespaces_is_two_entities_with_two_ids(self, store: Store) -> None:
        tell(store, "a", claim("Ann", "likes", "tea"))
        tell(store, "b", claim("Ann", "likes", "tea"))
        assert entity_id(store, "a", "Ann") != entity_id(store, "b", "Ann")
