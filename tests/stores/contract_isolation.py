"""The contract of isolation and erasure: every verb of the port, enumerated, so that a new one cannot be forgotten."""

# ruff: noqa: ARG005  the verbs' calls share one signature

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from memgraph_server.errors import Conflict, NotFound
from memgraph_server.memory.terms import terms
from memgraph_server.stores.about import Around, Between
from memgraph_server.stores.port import AsOf, GraphStore
from memgraph_server.stores.records import CardinalityRecord, Header, to_line
from tests.stores.material import NOW, Store, claim, entity_id, outcome, tell, turn, vector

#: Names that a careless comparison would take for one another.
NAMESPACES = ("a", "a-b", "A")
VERBS = {name for name, member in vars(GraphStore).items() if callable(member) and not name.startswith("_")}


@dataclass(frozen=True)
class Ids:
    """What a caller of one namespace knows."""

    ann: str
    bob: str
    zed: str
    fact: str
    handles: tuple[int, ...]


def settle(store: Store, namespace: str) -> Ids:
    """The same ids, names and texts in every namespace: read, dead and pending turns, facts, a merge, a cardinality."""
    turns = [turn(f"t{i}", "A secret tea") for i in range(4)]
    store.append_turns(namespace, turns, job_id="j", now=NOW, key="k")
    said = claim("Ann", "likes", "Bob", id="x", turn_id="t0")
    store.apply_outcome(namespace, outcome("t0", said, mentions=(("Zed", ""),)), lease=None, now=NOW)
    store.fail_turn(namespace, "t1", reason="poison", final=True, retry_at=NOW, now=NOW)
    tell(store, namespace, claim("Zed", "likes", "cake", id="y"))
    store.merge(namespace, entity_id(store, namespace, "Zed"), entity_id(store, namespace, "Ann"), now=NOW)
    store.set_cardinality(namespace, "drives", True, reason="seen", now=NOW)
    return know(store, namespace)


def know(store: Store, namespace: str) -> Ids:
    fact = next(view.fact.id for view in store.timeline(namespace).facts if view.tail_name == "Bob")
    zed = next(iter(view.assertion.head for view in [store.assertion(namespace, "y")]))
    handles = tuple(store.handles(namespace, [f"t{i}" for i in range(4)]).values())
    return Ids(entity_id(store, namespace, "Ann"), entity_id(store, namespace, "Bob"), zed, fact, handles)


Call = Callable[[Store, str, Ids], Any]
OTHER = CardinalityRecord("knows", True, "seen", NOW)
_AROUND: dict[str, Any] = {"as_of": AsOf(), "minimum_confidence": 0.0, "limit": 9}
READS: dict[str, Call] = {
    "job": lambda s, n, i: s.job(n, "j"),
    "turns": lambda s, n, i: s.turns(n, ["t0", "t1", "t2", "t3"]),
    "turn_status": lambda s, n, i: s.turn_status(n, "t0"),
    "previous_turns": lambda s, n, i: s.previous_turns(n, "t2", 5),
    "session_speakers": lambda s, n, i: s.session_speakers(n, "s"),
    "dead_turns": lambda s, n, i: s.dead_turns(n, 9, None),
    "resolve": lambda s, n, i: s.resolve(n, "Ann"),
    "find_names": lambda s, n, i: s.find_names(n, ["Ann", "Bob"]),
    "entity": lambda s, n, i: s.entity(n, i.ann),
    "entities": lambda s, n, i: s.entities(n, limit=9),
    "assertion": lambda s, n, i: s.assertion(n, "x"),
    "cardinalities": lambda s, n, i: s.cardinalities(n),
    "timeline": lambda s, n, i: (s.timeline(n), s.timeline(n, entity_id=i.ann), s.timeline(n, tail_id=i.bob)),
    "fact_versions": lambda s, n, i: s.fact_versions(n, i.fact),
    "facts_of_turns": lambda s, n, i: s.facts_of_turns(n, ["t0"]),
    "ends_of_turns": lambda s, n, i: s.ends_of_turns(n, ["t0"]),
    "neighbours": lambda s, n, i: s.neighbours(n, i.ann, vector=vector("Ann likes Bob"), intents=None, **_AROUND),
    "facts_between": lambda s, n, i: s.facts_between(n, i.ann, ["likes"], as_of=AsOf(), limit=9),
    "facts_about": lambda s, n, i: s.facts_about(
        n, [Around(i.ann, AsOf(), 0.0, 9), Between(i.ann, ("likes",), AsOf(), 9)], vector=vector("Ann likes Bob")
    ),
    "search_facts": lambda s, n, i: s.search_facts(n, vector("Ann likes Bob"), **_AROUND),
    "corpus_size": lambda s, n, i: s.corpus_size(n),
    "postings": lambda s, n, i: s.postings(n, terms("secret tea")),
    "nearest_turns": lambda s, n, i: s.nearest_turns(n, vector("t0"), 9),
    "turn_cards": lambda s, n, i: s.turn_cards(n, i.handles),
    "turn_vectors": lambda s, n, i: s.turn_vectors(n, i.handles),
    "handles": lambda s, n, i: s.handles(n, ["t0", "t1"]),
    "sample_turns": lambda s, n, i: s.sample_turns(n, 9),
    "readiness": lambda s, n, i: s.readiness(n),
    "dump": lambda s, n, i: [each for each in s.dump(n) if not isinstance(each, Header)],
}
WRITES: dict[str, Call] = {
    "append_turns": lambda s, n, i: s.append_turns(n, [turn("t9", "secret")], job_id="j", now=NOW),
    "apply_outcome": lambda s, n, i: s.apply_outcome(
        n, outcome("t2", claim("Ann", "likes", "Bob")), lease=None, now=NOW
    ),
    "fail_turn": lambda s, n, i: s.fail_turn(n, "t2", reason="r", final=True, retry_at=NOW, now=NOW),
    "replay": lambda s, n, i: s.replay(n, None, now=NOW),
    "merge": lambda s, n, i: s.merge(n, i.bob, i.ann, now=NOW),
    "unmerge": lambda s, n, i: s.unmerge(n, i.zed, now=NOW),
    "assert_facts": lambda s, n, i: tell(s, n, claim("Ann", "likes", "Bob"), claim("Bob", "drives", "x")),
    "retract_assertion": lambda s, n, i: s.retract_assertion(n, "x", reason="r", now=NOW),
    "retract_fact": lambda s, n, i: s.retract_fact(n, i.fact, reason="r", now=NOW),
    "set_cardinality": lambda s, n, i: s.set_cardinality(n, "likes", True, reason="r", now=NOW),
    "erase": lambda s, n, i: s.erase(n, now=NOW),
    "load": lambda s, n, i: (s.erase(n, now=NOW), s.load(n, [Header(n, NOW, {"cardinality": 1}), OTHER])),
}


def seen(store: Store, namespace: str, ids: Ids) -> dict[str, str]:
    """All that reads answer, as text; "nothing", where they find nothing."""

    def told(call: Call) -> str:
        try:
            return repr(call(store, namespace, ids))
        except NotFound:
            return "nothing"

    return {name: told(call) for name, call in READS.items()}


def says_nothing(answer: Any) -> bool:
    """Empty, zero, or made of such; `readiness` may say what is the same for everybody."""
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        common = ("schema_version", "embedder")
        return all(says_nothing(getattr(answer, f.name)) for f in dataclasses.fields(answer) if f.name not in common)
    if isinstance(answer, tuple | list):
        return all(says_nothing(part) for part in answer)
    return not answer


class IsolationContract:
    def test_every_verb_of_the_port_is_tried_here(self) -> None:
        assert READS.keys() | WRITES.keys() == VERBS

    @pytest.mark.parametrize("verb", sorted(VERBS))
    def test_every_verb_takes_the_namespace_first(self, store: Store, verb: str) -> None:
        for owner in (GraphStore, type(store)):
            _, first, *_ = inspect.signature(getattr(owner, verb)).parameters.values()
            assert first.name == "namespace"
            assert first.default is inspect.Parameter.empty

    @pytest.mark.parametrize("verb", sorted(READS))
    def test_a_read_tells_another_namespace_nothing(self, store: Store, verb: str) -> None:
        ids = settle(store, "a")
        assert not says_nothing(READS[verb](store, "a", ids)), "the read must have something to tell its own"
        for other in ("a-b", "A", "a ", "ａ", "%", "*"):
            try:
                assert says_nothing(READS[verb](store, other, ids)), other
            except NotFound:
                continue

    @pytest.mark.parametrize("verb", sorted(WRITES))
    def test_a_write_with_anothers_ids_changes_nothing_of_theirs(self, store: Store, verb: str) -> None:
        ids = settle(store, "a")
        before = seen(store, "a", ids)
        for other in ("a-b", "A"):
            try:
                WRITES[verb](store, other, ids)
            except (NotFound, Conflict):
                continue
        assert seen(store, "a", ids) == before

    @pytest.mark.parametrize("verb", sorted(WRITES))
    def test_a_write_changes_its_own_namespace_and_no_other_with_the_same_content(
        self, store: Store, verb: str
    ) -> None:
        known = {namespace: settle(store, namespace) for namespace in NAMESPACES}
        before = {namespace: seen(store, namespace, known[namespace]) for namespace in NAMESPACES}
        WRITES[verb](store, "a", known["a"])
        for namespace in ("a-b", "A"):
            assert seen(store, namespace, known[namespace]) == before[namespace]
        if verb != "erase":
            assert seen(store, "a", known["a"]) != before["a"]

    def test_namespaces_are_told_apart_byte_by_byte(self, store: Store) -> None:
        names = ["a", "A", "a-b", "a ", "\u00e9", "e\u0301", "a/b", "a.b", "%", "_", "x" * 200]
        for name in names:
            store.append_turns(name, [turn("t", name)], job_id="j", now=NOW)
        assert sorted(store.namespaces()) == sorted(names)
        assert [store.turns(name, ["t"])[0].text for name in names] == names

    def test_a_search_for_several_namespaces_never_mixes_their_vectors(self, store: Store) -> None:
        for namespace in NAMESPACES:
            tell(store, namespace, *(claim(f"p{i}", "likes", f"{namespace}{i}") for i in range(5)))
        for namespace in (*NAMESPACES, *reversed(NAMESPACES)):
            found = store.search_facts(namespace, vector("p1 likes a1"), **_AROUND)
            assert {each.tail_name for each in found} == {f"{namespace}{i}" for i in range(5)}

    def test_namespaces_with_the_same_content_are_moved_one_at_a_time(self, store: Store) -> None:
        known = {namespace: settle(store, namespace) for namespace in NAMESPACES}
        before = {namespace: seen(store, namespace, known[namespace]) for namespace in NAMESPACES}
        records = {namespace: list(store.dump(namespace)) for namespace in NAMESPACES}
        lines = {namespace: [to_line(each) for each in records[namespace][1:]] for namespace in NAMESPACES}
        store.erase("a", now=NOW)
        assert {namespace: seen(store, namespace, known[namespace]) for namespace in ("a-b", "A")} == {
            namespace: before[namespace] for namespace in ("a-b", "A")
        }
        for other in ("a-b", "A"):
            with pytest.raises(Conflict):
                store.load(other, [dataclasses.replace(records["a"][0], namespace=other), *records["a"][1:]])  # type: ignore[arg-type, type-var]
        assert store.load("a", records["a"])
        for namespace in NAMESPACES:
            assert [to_line(each) for each in list(store.dump(namespace))[1:]] == lines[namespace]

    def test_what_was_erased_answers_like_what_never_was(self, store: Store) -> None:
        ids = settle(store, "a")
        receipt = store.erase("a", now=NOW)
        assert receipt["turns"] == 4
        assert receipt["assertions"] == 2
        assert receipt["entities"] == 4
        assert receipt["facts"] >= 2
        assert receipt["embeddings"] >= 3  # a merge may have copied one
        assert list(store.namespaces()) == []
        assert store.overall().pending == 0
        assert store.lease("w", now=NOW + 10**9, seconds=1, limit=1) is None
        assert store.stale_vectors("other", 9) == []
        assert store.outdated_vectors("other") == 0
        for name, call in READS.items():
            try:
                assert says_nothing(call(store, "a", ids)), name
            except NotFound:
                continue
        assert set(store.erase("a", now=NOW).values()) == {0}

    def test_a_namespace_that_was_erased_can_begin_anew(self, store: Store) -> None:
        settle(store, "a")
        store.nearest_turns("a", vector("t0"), 1)
        store.erase("a", now=NOW)
        ids = settle(store, "a")
        assert len(store.nearest_turns("a", vector("t0"), 9)) == 1
        assert len(store.timeline("a", entity_id=ids.ann).facts) == 2
        assert store.check() == []
