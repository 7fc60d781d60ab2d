"""The contract of search: terms, vectors, cards and neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from memgraph_server.memory.facts import Intent
from memgraph_server.memory.proposals import triple_text
from memgraph_server.memory.terms import terms
from memgraph_server.stores.about import Around, Between
from memgraph_server.stores.port import AsOf, Floats, TurnOutcome, TurnVectors
from tests.stores.material import (
    DAY,
    DIMENSION,
    EMBEDDER,
    NOW,
    Store,
    claim,
    entity_id,
    near,
    outcome,
    tell,
    turn,
    turn_vectors,
    vector,
)

NO_VECTORS: dict[str, Floats] = {
    "another dimension": np.ones(DIMENSION + 8, np.float32),
    "no dimension": np.zeros(0, np.float32),
    "zero": np.zeros(DIMENSION, np.float32),
    "not a number": np.full(DIMENSION, np.nan, np.float32),
    "infinite": np.full(DIMENSION, np.inf, np.float32),
}


def read(store: Store, namespace: str, *turn_ids: str) -> None:
    for turn_id in turn_ids:
        store.apply_outcome(namespace, outcome(turn_id), lease=None, now=NOW)


class SearchContract:
    def test_a_turn_is_found_by_its_terms_before_it_is_read(self, store: Store) -> None:
        texts = ["A cat sat. Cats!", "A dog", "The cat and the dog"]
        store.append_turns("n", [turn(f"t{i}", text) for i, text in enumerate(texts)], job_id="j", now=NOW)
        handles = store.handles("n", ["t0", "t1", "t2"])
        (cat,) = terms("cat")
        found = store.postings("n", [cat, *terms("dog"), "unheard"])
        assert set(found) == {cat, *terms("dog")}
        assert found[cat].documents == 2
        assert found[cat].handles.tolist() == [handles["t0"], handles["t2"]]
        assert found[cat].counts.tolist() == [2, 1]
        assert (str(found[cat].handles.dtype), str(found[cat].counts.dtype)) == ("int64", "int32")

    @pytest.mark.parametrize(
        "text", ["我住在巴黎", "東京に住んでいます", "서울에 산다", "أعيش في باريس", "ฉันอยู่กรุงเทพ", "Żółć gęślą"]
    )
    def test_every_script_is_found_by_its_terms(self, store: Store, text: str) -> None:
        store.append_turns("n", [turn("t", text), turn("u", "other words")], job_id="j", now=NOW)
        wanted = set(terms(text))
        assert wanted
        found = store.postings("n", sorted(wanted))
        assert set(found) == wanted
        assert {tuple(posting.handles.tolist()) for posting in found.values()} == {(store.handles("n", ["t"])["t"],)}

    def test_captions_are_indexed_with_the_text(self, store: Store) -> None:
        store.append_turns("n", [turn("t", "Look", captions=("a giraffe",))], job_id="j", now=NOW)
        assert store.postings("n", terms("giraffe"))[terms("giraffe")[0]].documents == 1

    def test_terms_from_questions_are_data(self, store: Store) -> None:
        store.append_turns("n", [turn("t", "plain words")], job_id="j", now=NOW)
        assert store.postings("n", ['"', "*", "plain OR words", "-", "a:b", "'; --", "\x00", "", "x" * 10_000]) == {}

    def test_the_corpus_is_counted_as_it_grows(self, store: Store) -> None:
        assert (store.corpus_size("n").turns, store.corpus_size("n").terms) == (0, 0)
        texts = ["one two three", "four", ""]
        store.append_turns("n", [turn(f"t{i}", text) for i, text in enumerate(texts)], job_id="j", now=NOW)
        size = store.corpus_size("n")
        assert (size.turns, size.terms) == (3, sum(len(terms(text)) for text in texts))

    def test_handles_ascend_with_arrival(self, store: Store) -> None:
        store.append_turns("n", [turn("b"), turn("a")], job_id="j", now=NOW)
        store.append_turns("n", [turn("c")], job_id="k", now=NOW)
        handles = store.handles("n", ["a", "b", "c", "nobody"])
        assert sorted(handles, key=lambda turn_id: handles[turn_id]) == ["b", "a", "c"]

    def test_a_card_knows_the_turns_beside_it_in_its_session(self, store: Store) -> None:
        turns = [turn("a", "One two"), turn("x", session="z"), turn("b", speaker="Bob"), turn("c")]
        store.append_turns("n", turns, job_id="j", now=NOW)
        handles = store.handles("n", ["a", "b", "c", "x"])
        cards = store.turn_cards("n", list(handles.values()))
        card = cards[handles["b"]]
        assert (card.turn_id, card.session_id, card.position, card.role, card.speaker) == ("b", "s", 1, "user", "Bob")
        assert (card.previous, card.next) == (handles["a"], handles["c"])
        assert (cards[handles["a"]].previous, cards[handles["c"]].next) == (None, None)
        assert (cards[handles["x"]].previous, cards[handles["x"]].next) == (None, None)
        assert (cards[handles["a"]].length, cards[handles["a"]].characters) == (len(terms("One two")), 7)
        assert (card.pooled, card.token_bits, card.pieces) == (None, None, ())
        assert store.turn_vectors("n", list(handles.values())) == {}

    def test_the_turns_vectors_come_nearly_as_given(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        given = turn_vectors("three small pieces")
        store.apply_outcome("n", TurnOutcome("a", (), (), given, {}), lease=None, now=NOW)
        handle = store.handles("n", ["a"])["a"]
        held = store.turn_vectors("n", [handle, handle])
        assert list(held) == [handle] == [held[handle].handle]
        np.testing.assert_allclose(held[handle].pooled, given.pooled, atol=0.01)
        np.testing.assert_array_equal(held[handle].token_bits, np.packbits(given.tokens > 0, axis=1))
        assert held[handle].pieces == ("three", "small", "pieces")
        assert store.turn_cards("n", [handle])[handle].pooled is None

    def test_handles_nobody_has_have_no_card(self, store: Store) -> None:
        assert store.turn_cards("n", [0, -1, 10**12]) == store.turn_vectors("n", [0, -1, 10**12]) == {}

    def test_the_nearest_turns_come_best_first_with_their_cosine(self, store: Store) -> None:
        base = vector("question")
        for index, share in enumerate([0.2, 0.95, 0.6, 0.8]):
            store.append_turns("n", [turn(f"t{index}")], job_id=f"j{index}", now=NOW)
            vectors = TurnVectors(near(base, share), np.zeros((0, DIMENSION), np.float32), ())
            store.apply_outcome("n", TurnOutcome(f"t{index}", (), (), vectors, {}), lease=None, now=NOW)
        names = {handle: turn_id for turn_id, handle in store.handles("n", [f"t{i}" for i in range(4)]).items()}
        found = store.nearest_turns("n", base, 3)
        assert [names[handle] for handle, _ in found] == ["t1", "t3", "t2"]
        np.testing.assert_allclose([score for _, score in found], [0.95, 0.8, 0.6], atol=0.05)

    @pytest.mark.parametrize("wrong", NO_VECTORS)
    def test_a_vector_of_no_use_breaks_no_search(self, store: Store, wrong: str) -> None:
        bad = NO_VECTORS[wrong]
        store.append_turns("n", [turn("bad"), turn("good")], job_id="j", now=NOW)
        said = claim("Ann", "likes", "tea")
        vectors = TurnVectors(bad, np.ones((2, 3), np.float32), ("one", "two", "three"))
        store.apply_outcome("n", TurnOutcome("bad", (said,), (), vectors, {"Ann likes tea": bad}), lease=None, now=NOW)
        store.apply_outcome("n", outcome("good", claim("Ann", "likes", "cake")), lease=None, now=NOW)
        handles = store.handles("n", ["bad", "good"])
        assert [handle for handle, _ in store.nearest_turns("n", vector("good"), 5)] == [handles["good"]]
        assert store.nearest_turns("n", bad, 5) == []
        assert list(store.turn_vectors("n", list(handles.values()))) == [handles["good"]]
        ann = entity_id(store, "n", "Ann")
        for query in (vector("Ann likes cake"), bad, None):
            found = store.neighbours(
                "n", ann, vector=query, as_of=AsOf(), minimum_confidence=0.0, intents=None, limit=5
            )
            assert {each.tail_name for each in found} == {"tea", "cake"}
        assert store.search_facts("n", bad, as_of=AsOf(), minimum_confidence=0.0, limit=5) == []
        assert ("n", "turn", "bad") in store.stale_vectors(EMBEDDER, 10)

    def test_samples_are_spread_evenly_and_the_same_for_the_same_content(self, store: Store) -> None:
        for start in range(0, 100, 10):
            for namespace in ("n", "m"):
                turns = [turn(f"t{i}") for i in range(start, start + 10)]
                store.append_turns(namespace, turns, job_id=f"j{start}", now=NOW)
        sampled = []
        for namespace in ("n", "m"):
            ids = {h: t for t, h in store.handles(namespace, [f"t{i}" for i in range(100)]).items()}
            sampled.append([ids[handle] for handle in store.sample_turns(namespace, 12)])
        assert sampled[0] == sampled[1]
        assert (sampled[0][0], sampled[0][-1], len(sampled[0])) == ("t0", "t99", 12)
        assert len(store.sample_turns("n", 1000)) == 100
        assert store.sample_turns("nobody", 5) == []

    def test_neighbours_are_seen_from_either_end_nearest_first(self, store: Store) -> None:
        base = vector("question")
        said = [claim("Ann", "likes", "tea"), claim("Bob", "knows", "Ann"), claim("Ann", "likes", "cake")]
        shares = [0.5, 0.9, 0.7]
        texts = [triple_text(each.head, each.relation, each.tail or "") for each in said]
        vectors = {text: near(base, share) for text, share in zip(texts, shares, strict=True)}
        store.assert_facts("n", said, vectors, now=NOW)
        ann, bob = entity_id(store, "n", "Ann"), entity_id(store, "n", "Bob")
        found = store.neighbours("n", ann, vector=base, as_of=AsOf(), minimum_confidence=0.0, intents=None, limit=2)
        assert [(each.here, each.there == bob, each.tail_name) for each in found] == [
            (ann, True, "Ann"),
            (ann, False, "cake"),
        ]
        np.testing.assert_allclose([each.similarity for each in found], [0.9, 0.7], atol=0.05)

    def test_neighbours_pass_the_filters_of_time_confidence_and_intent(self, store: Store) -> None:
        said = [
            claim("Ann", "likes", "tea", NOW, valid_to=NOW + DAY),
            claim("Ann", "likes", "cake", NOW + DAY, confidence=0.5),
            claim("Ann", "likes", "rum", NOW, intent=Intent.CAUSAL),
        ]
        tell(store, "n", *said)
        ann = entity_id(store, "n", "Ann")

        def names(as_of: AsOf, confidence: float = 0.0, intents: frozenset[Intent] | None = None) -> set[str]:
            found = store.neighbours(
                "n", ann, vector=None, as_of=as_of, minimum_confidence=confidence, intents=intents, limit=9
            )
            return {each.tail_name for each in found}

        assert names(AsOf()) == {"tea", "cake", "rum"}
        assert names(AsOf(valid_at=NOW)) == {"tea", "rum"}
        assert names(AsOf(valid_at=NOW + 2 * DAY)) == {"cake", "rum"}
        assert names(AsOf(known_at=NOW - 1)) == set()
        assert names(AsOf(), confidence=0.8) == {"tea", "rum"}
        assert names(AsOf(), intents=frozenset({Intent.CAUSAL})) == {"rum"}

    @pytest.mark.parametrize("hub_is_head", [True, False], ids=["head", "tail"])
    def test_a_hubs_nearest_facts_are_found_among_thousands(self, store: Store, hub_is_head: bool) -> None:
        base = vector("question")
        ends = [("Hub", f"x{i}") if hub_is_head else (f"x{i}", "Hub") for i in range(2000)]
        said = [claim(head, "knows", tail, NOW + i) for i, (head, tail) in enumerate(ends)]
        wanted = {17: 0.95, 900: 0.9, 1500: 0.85}
        vectors = {
            triple_text(head, "knows", tail): near(base, wanted[i]) if i in wanted else vector(f"{i}")
            for i, (head, tail) in enumerate(ends)
        }
        store.assert_facts("n", said, vectors, now=NOW)
        store.retract_assertion("n", store.assert_facts("n", [said[900]], {}, now=NOW)[0], reason="", now=NOW + 1)
        hub = entity_id(store, "n", "Hub")
        found = store.neighbours("n", hub, vector=base, as_of=AsOf(), minimum_confidence=0.0, intents=None, limit=5)
        assert [each.fact.valid_from - NOW for each in found[:2]] == [17, 1500]
        assert len(found) == 5
        late = AsOf(valid_at=NOW + 20)
        few = store.neighbours("n", hub, vector=base, as_of=late, minimum_confidence=0.0, intents=None, limit=30)
        assert {each.fact.valid_from - NOW for each in few} == set(range(21))

    def test_a_hubs_latest_facts_are_found_without_any_vector(self, store: Store) -> None:
        store.assert_facts("n", [claim("Hub", "knows", f"x{i}", NOW + i) for i in range(600)], {}, now=NOW)
        hub = entity_id(store, "n", "Hub")
        for query in (vector("question"), None):
            found = store.neighbours(
                "n", hub, vector=query, as_of=AsOf(), minimum_confidence=0.0, intents=None, limit=5
            )
            assert [each.tail_name for each in found] == [f"x{i}" for i in (599, 598, 597, 596, 595)]

    def test_what_is_asked_together_is_answered_as_alone(self, store: Store) -> None:
        said = [claim("Hub", "knows", f"x{i}", NOW + i, confidence=0.9 if i % 3 else 0.5) for i in range(300)]
        back = [claim(f"y{i}", "likes", "Hub", NOW + i) for i in range(300)]
        tell(store, "n", *said, *back, claim("Ann", "likes", "tea"), claim("Bob", "knows", "Ann", NOW + 5))
        hub, ann, bob = (entity_id(store, "n", name) for name in ("Hub", "Ann", "Bob"))
        store.merge("n", bob, ann, now=NOW + 9)
        earlier = AsOf(known_at=NOW + 8)
        asked = [
            *(Around(who, AsOf(), 0.0, 5) for who in (hub, ann, "nobody", bob)),
            Around(hub, AsOf(valid_at=NOW + 40), 0.8, 60),
            Around(bob, earlier, 0.0, 5),
            Around(hub, earlier, 0.0, 0),
            *(Between(who, ("knows", "likes"), AsOf(), 7) for who in (hub, bob, "nobody")),
            Between(hub, ("likes", "knows"), AsOf(valid_at=NOW + 9), 7, reverse=True),
            Between(bob, ("knows",), earlier, 7),
        ]
        for query in (vector("y7 likes Hub"), None):
            found = store.facts_about("n", asked, vector=query)
            assert found == [each.alone(store, "n", query) for each in asked]
            assert [len(each) for each in found] == [5, 2, 0, 2, 0 if query is None else 60, 1, 0, 7, 2, 0, 7, 1]
        assert store.facts_about("n", [], vector=None) == []

    def test_facts_are_found_by_vector_wherever_they_are(self, store: Store) -> None:
        said = [claim(f"p{i}", "likes", f"t{i}") for i in range(40)]
        tell(store, "n", *said)
        found = store.search_facts("n", vector("p7 likes t7"), as_of=AsOf(), minimum_confidence=0.0, limit=3)
        assert (found[0].head_name, found[0].tail_name, len(found)) == ("p7", "t7", 3)
        assert found[0].here == entity_id(store, "n", "p7")
        assert found[0].similarity > 0.97

    def test_vectors_of_another_embedder_are_stale_and_can_be_replaced(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b"), turn("pending")], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("a", claim("Ann", "likes", "tea")), lease=None, now=NOW)
        store.apply_outcome("n", TurnOutcome("b", (), (), None, {}), lease=None, now=NOW)
        assert store.stale_vectors(EMBEDDER, 10) == [("n", "turn", "b")]
        stale = [("n", "turn", "a"), ("n", "turn", "b"), ("n", "triple", "Ann likes tea")]
        assert sorted(store.stale_vectors("other/2", 10)) == sorted(stale)
        assert len(store.stale_vectors("other/2", 2)) == 2
        fresh = {"b": turn_vectors("new words"), "nobody": turn_vectors("x")}
        store.replace_vectors("n", EMBEDDER, fresh, {"Ann likes tea": vector("elsewhere"), "no such": vector("x")})
        assert store.stale_vectors(EMBEDDER, 10) == []
        handle = store.handles("n", ["b"])["b"]
        assert store.nearest_turns("n", vector("new words"), 1)[0][0] == handle
        (fact,) = store.search_facts("n", vector("elsewhere"), as_of=AsOf(), minimum_confidence=0.0, limit=1)
        assert fact.similarity > 0.97

    def test_vectors_of_another_embedder_are_counted_and_those_that_are_missing_are_not(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("wordless"), turn("pending")], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("a", claim("Ann", "likes", "tea")), lease=None, now=NOW)
        store.apply_outcome("n", TurnOutcome("wordless", (), (), None, {}), lease=None, now=NOW)
        store.assert_facts("m", [claim("Bob", "likes", "rum")], {}, now=NOW)
        assert store.outdated_vectors(EMBEDDER) == 0
        for other in ("a/1", "~/1"):  # before and after this one's name
            assert store.outdated_vectors(other) == 2
        store.replace_vectors("n", "a/1", {"a": turn_vectors("a")}, {})
        assert (store.outdated_vectors("a/1"), store.outdated_vectors(EMBEDDER), store.outdated_vectors("b")) == (
            1,
            1,
            2,
        )

    def test_a_vector_can_be_taken_away(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b")], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("a", claim("Ann", "likes", "tea")), lease=None, now=NOW)
        read(store, "n", "b")
        handles = store.handles("n", ["a", "b"])
        assert len(store.nearest_turns("n", vector("a"), 9)) == 2
        store.replace_vectors("n", EMBEDDER, {"a": None, "nobody": None}, {"Ann likes tea": None, "no such": None})
        assert [handle for handle, _ in store.nearest_turns("n", vector("a"), 9)] == [handles["b"]]
        assert list(store.turn_vectors("n", list(handles.values()))) == [handles["b"]]
        query = vector("Ann likes tea")
        assert store.search_facts("n", query, as_of=AsOf(), minimum_confidence=0.0, limit=5) == []
        assert sorted(store.stale_vectors(EMBEDDER, 9)) == [("n", "triple", "Ann likes tea"), ("n", "turn", "a")]
        assert store.outdated_vectors("other/2") == 1
        assert store.check() == []

    def test_searching_after_a_vector_was_replaced_sees_the_new_one_only(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b")], job_id="j", now=NOW)
        read(store, "n", "a", "b")
        assert len(store.nearest_turns("n", vector("a"), 9)) == 2
        store.replace_vectors("n", EMBEDDER, {"a": turn_vectors("z")}, {})
        found = store.nearest_turns("n", vector("a"), 9)
        assert len(found) == 2
        assert max(score for _, score in found) < 0.9

    def test_a_limit_of_nothing_gives_nothing(self, store: Store) -> None:
        tell(store, "n", claim("Ann", "likes", "tea"))
        ann = entity_id(store, "n", "Ann")
        common = {"as_of": AsOf(), "minimum_confidence": 0.0, "limit": 0}
        assert store.neighbours("n", ann, vector=None, intents=None, **common) == []  # type: ignore[arg-type]
        assert store.search_facts("n", vector("x"), **common) == []  # type: ignore[arg-type]
        assert store.nearest_turns("n", vector("x"), 0) == []
