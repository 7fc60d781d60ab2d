"""The beam search, driven through every branch of its table over graphs of a few facts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.memory.facts import Intent
from memgraph_server.memory.interval import Instant, Interval
from memgraph_server.retrieval.beam import BeamSearch, Limits, NeedJudgement, NeedNeighbours, State
from memgraph_server.retrieval.question import Anchor
from memgraph_server.retrieval.repair import Repairs
from tests.retrieval.graphs import Graph, drive, drive_in_pieces, fact, judged_by
from tests.retrieval.tables import Relations

GOOD, POOR = (0.8, 0.9, 0.4), (0.1, 0.9, 0.1)
TABLE = Relations(
    inverse={"parent_of": "child_of", "child_of": "parent_of", "friend_of": "friend_of"},
    antonym={"likes": "dislikes", "dislikes": "likes"},
    hypernym={"adores": "likes"},
)


def search(
    *roots: str,
    wanted: tuple[str, ...] = (),
    scope: Interval | None = None,
    at: Instant = 100,
    intent: Intent = Intent.FACT,
    **limits: Any,
) -> BeamSearch:
    anchors = [Anchor(root, root.title(), intent) for root in roots]
    repairs = Repairs(TABLE, wanted)
    return BeamSearch(anchors, Limits(**limits), reference_time=at, scope=scope, repairs=repairs)


def reached(found: BeamSearch) -> list[str]:
    """What each surviving path says, best first."""
    return [
        " ".join(f"{s.fact.relation}>{s.there}{'!' + s.rule if s.rule else ''}" for s in p.steps) for p in found.paths()
    ]


def events(found: BeamSearch) -> list[str]:
    return [entry["event"] for entry in found.trace]


def test_no_root_means_nothing_is_asked() -> None:
    found = search()
    assert found.requests() == ()
    assert found.state is State.DONE


def test_a_depth_of_zero_means_nothing_is_asked() -> None:
    assert search("ann", depth=0).requests() == ()


def test_a_path_grows_while_its_extension_is_worth_more_and_stops_where_none_is() -> None:
    graph = Graph(
        [
            (fact("ann", "bought", "shoes"), 0.7),
            (fact("shoes", "made_of", "leather"), 0.6),
            (fact("leather", "is", "old"), 0.5),
        ],
        judged_by({"shoes": (0.6, 1, 0.3), "leather": (0.9, 1, 0.9), "old": (0.6, 1, 0.2)}, GOOD),
    )
    found = drive(search("ann"), graph)
    assert reached(found) == ["bought>shoes made_of>leather"]
    assert events(found)[-1] == "stopped"


def test_the_search_ends_at_the_greatest_depth() -> None:
    chain = [(fact(f"e{n}", "leads_to", f"e{n + 1}"), 0.5) for n in range(6)]
    rising = {f"e{n}": (0.6 + 0.05 * n, 1.0, 0.1 * n) for n in range(7)}
    found = drive(search("e0", depth=3), Graph(chain, judged_by(rising, GOOD)))
    assert [len(path.steps) for path in found.paths()] == [3]


def test_all_paths_of_a_step_are_judged_in_one_call() -> None:
    graph = Graph(
        [(fact("ann", "likes", "tea"), 0.7), (fact("bob", "likes", "jam"), 0.6)], judged_by({}, (0.9, 1, 0.9))
    )
    drive(search("ann", "bob"), graph)
    judgements = [request for request in graph.asked if isinstance(request, NeedJudgement)]
    assert [len(request.trails) for request in judgements] == [2]


def test_an_entity_is_asked_for_once_however_many_beams_stand_there() -> None:
    graph = Graph(
        [(fact("ann", "knows", "cat"), 0.7), (fact("bob", "knows", "cat"), 0.7), (fact("cat", "owns", "car"), 0.6)],
        judged_by({"car": (0.9, 1, 0.9)}, GOOD),
    )
    drive(search("ann", "bob"), graph)
    asked = [request.entity for request in graph.asked if isinstance(request, NeedNeighbours)]
    assert sorted(asked) == sorted(set(asked))


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Interval(15, 16), ["lives_in>rome"]),
        (Interval(25, 26), ["lives_in>oslo"]),
        (Interval(12, 30), ["lives_in>oslo", "lives_in>rome"]),
        (Interval(0, 5), []),
        (None, ["lives_in>oslo", "lives_in>rome"]),
    ],
)
def test_only_facts_that_share_an_instant_with_the_scope_are_walked(
    scope: Interval | None, expected: list[str]
) -> None:
    graph = Graph(
        [(fact("ann", "lives_in", "rome", start=10, end=20), 0.5), (fact("ann", "lives_in", "oslo", start=20), 0.5)],
        judged_by({"rome": (0.8, 1, 0.8), "oslo": (0.9, 1, 0.9)}, GOOD),
    )
    assert reached(drive(search("ann", scope=scope), graph)) == expected


@pytest.mark.parametrize(("least", "expected"), [(0.8, ["likes>tea"]), (0.0, ["likes>tea", "likes>jam"])])
def test_hedged_facts_are_walked_only_where_uncertain_things_are_asked_for(least: float, expected: list[str]) -> None:
    graph = Graph(
        [(fact("ann", "likes", "tea"), 0.5), (fact("ann", "likes", "jam", confidence=0.4), 0.9)],
        judged_by({}, (0.9, 1, 0.9)),
    )
    assert reached(drive(search("ann", minimum_confidence=least), graph)) == expected


def test_facts_of_a_compatible_intent_come_first_and_others_only_where_there_is_none() -> None:
    because = fact("ann", "left_because_of", "noise", intent=Intent.CAUSAL)
    plain = fact("ann", "left", "acme")
    judge = judged_by({}, (0.9, 1, 0.9))
    assert reached(drive(search("ann", intent=Intent.CAUSAL), Graph([(plain, 0.9), (because, 0.2)], judge))) == [
        "left_because_of>noise"
    ]
    assert reached(drive(search("ann", intent=Intent.CAUSAL), Graph([(plain, 0.9)], judge))) == ["left>acme"]


def test_the_m_nearest_facts_are_judged() -> None:
    graph = Graph([(fact("ann", "likes", f"thing{n}"), n / 10) for n in range(9)], judged_by({}, (0.9, 1, 0.9)))
    found = drive(search("ann", candidates=2), graph)
    assert reached(found) == ["likes>thing7", "likes>thing8"] or reached(found) == ["likes>thing8", "likes>thing7"]


def test_a_path_never_returns_to_where_it_was() -> None:
    graph = Graph(
        [(fact("ann", "knows", "bob"), 0.9), (fact("bob", "knows", "ann"), 0.9)], judged_by({}, (0.6, 1, 0.1))
    )
    assert all(
        len({"ann", *(s.there for s in p.steps)}) == len(p.steps) + 1 for p in drive(search("ann"), graph).paths()
    )


def test_the_best_k_paths_of_each_root_live_on() -> None:
    facts = [(fact(root, "likes", f"{root}{n}"), n / 10) for root in ("ann", "bob") for n in range(5)]
    worth = {f"{root}{n}": (0.6 + n / 20, 1.0, 0.9) for root in ("ann", "bob") for n in range(5)}
    found = drive(search("ann", "bob", width=2), Graph(facts, judged_by(worth, GOOD)))
    assert sorted(reached(found)) == ["likes>ann3", "likes>ann4", "likes>bob3", "likes>bob4"]
    assert "pruned" in events(found)


def test_a_beam_without_any_reliable_path_dies() -> None:
    found = drive(search("ann"), Graph([(fact("ann", "likes", "tea"), 0.9)], judged_by({}, POOR)))
    assert found.paths() == ()
    assert "died" in events(found)


# -- repair: the three conditions, and the budget


def test_repair_begins_where_no_neighbour_is_left() -> None:
    graph = Graph([(fact("ann", "lives_in", "rome", start=10, end=20), 0.6)], judged_by({}, (0.9, 1, 0.9)))
    found = drive(search("ann", wanted=("lives_in",), scope=Interval(50, 51), at=50), graph)
    assert reached(found) == ["lives_in>rome!before"]
    assert found.paths()[0].steps[0].confidence < found.paths()[0].steps[0].fact.confidence


@pytest.mark.parametrize("poor", [(0.4, 1.0, 0.4), (0.9, 0.4, 0.9)], ids=["relevance", "coherence"])
def test_repair_begins_where_all_candidates_are_poor(poor: tuple[float, float, float]) -> None:
    graph = Graph(
        [(fact("ann", "likes", "tea"), 0.9), (fact("ann", "dislikes", "jam"), 0.1)],
        judged_by({"tea": poor, "jam": (0.8, 1, 0.8)}, GOOD),
    )
    found = drive(search("ann", wanted=("likes",), candidates=1), graph)
    assert "dislikes>jam!antonym" in reached(found)


def test_repair_keeps_to_its_budget_of_m_less_the_reliable() -> None:
    facts = [(fact("ann", "dislikes", f"x{n}"), 0.1 + n / 100) for n in range(9)]
    graph = Graph(
        [(fact("ann", "likes", "tea"), 0.9), *facts],
        lambda trail: judged_by({}, POOR if trail.tail == "tea" else GOOD)(trail),
    )
    found = drive(search("ann", wanted=("likes",), candidates=1), graph)
    assert next(entry["budget"] for entry in found.trace if entry["event"] == "repaired") == 1


def test_a_beam_is_repaired_once_a_step() -> None:
    graph = Graph([(fact("ann", "likes", "tea"), 0.9)], judged_by({}, POOR))
    assert events(drive(search("ann", wanted=("likes",)), graph)).count("repaired") == 1


def test_an_alias_is_walked_through_its_own_facts() -> None:
    graph = Graph([(fact("mel", "likes", "tea"), 0.9)], judged_by({}, (0.9, 1, 0.9)), aliases={"melanie": ["mel"]})
    found = drive(search("melanie"), graph)
    assert reached(found) == ["likes>tea!alias"]


def test_what_is_inferred_counts_less_than_the_same_thing_said() -> None:
    said, inferred = fact("ann", "likes", "tea"), fact("ann", "dislikes", "jam")
    graph = Graph([(said, 0.9)], judged_by({}, (0.9, 1, 0.9)))
    first = drive(search("ann"), graph)
    graph = Graph([(inferred, 0.9), (fact("ann", "likes", "x"), 0.95)], judged_by({"x": POOR}, (0.9, 1, 0.9)))
    second = drive(search("ann", wanted=("likes",), candidates=1), graph)
    assert first.worths()[0] > second.worths()[0] > 0


# -- sans I/O


def test_what_was_not_asked_cannot_be_told() -> None:
    with pytest.raises(KeyError):
        search("ann").tell(NeedNeighbours("zoe", None, 0.8, 20), [])


def test_as_many_scores_are_told_as_paths_were_shown() -> None:
    found = search("ann")
    (request,) = found.requests()
    found.tell(request, Graph([(fact("ann", "likes", "tea"), 0.5)], judged_by({}, GOOD)).answer(request))
    (request,) = found.requests()
    assert isinstance(request, NeedJudgement)
    with pytest.raises(ValueError, match="zip"):
        found.tell(request, [])


_NAMES = st.sampled_from(["ann", "bob", "cat", "dan", "eve"])
_FACTS = st.lists(
    st.tuples(
        _NAMES,
        st.sampled_from(["likes", "dislikes", "adores", "parent_of", "child_of", "friend_of"]),
        _NAMES,
        st.integers(0, 3),
        st.sampled_from([0.1, 0.3, 0.3, 0.6, 0.9]),
        st.sampled_from([0.5, 0.95]),
        st.sampled_from(list(Intent)),
    ),
    max_size=14,
    unique_by=lambda one: one[:4],  # a version of a fact has one content
)


@given(facts=_FACTS, seed=st.integers(0, 1000), poor=st.sets(_NAMES), past=st.booleans())
def test_the_answer_is_the_same_however_the_replies_arrive(
    facts: list[tuple[Any, ...]], seed: int, poor: set[str], *, past: bool
) -> None:
    edges = [
        (fact(head, relation, tail, start=10 * start, end=10 * start + 10, confidence=sure, intent=intent), near)
        for head, relation, tail, start, near, sure, intent in facts
        if head != tail
    ]
    judge = judged_by(dict.fromkeys(poor, POOR), (0.7, 0.9, 0.6))
    graph = Graph(edges, judge, aliases={"ann": ["bob"], "cat": ["dan", "ann"]})
    scope = None if past else Interval(15, 16)
    made = [search("ann", "cat", wanted=("likes", "parent_of", "friend_of"), scope=scope, at=15) for _ in range(2)]
    plain, pieces = drive(made[0], graph), drive_in_pieces(made[1], graph, seed)
    assert plain.paths() == pieces.paths()
    assert plain.trace == pieces.trace
    assert plain.state is pieces.state is State.DONE


@given(facts=_FACTS, width=st.integers(1, 4), depth=st.integers(1, 3), candidates=st.integers(1, 4))
def test_limits_are_kept_and_every_path_hangs_together(
    facts: list[tuple[Any, ...]], width: int, depth: int, candidates: int
) -> None:
    edges = [
        (fact(head, relation, tail, start=start), near)
        for head, relation, tail, start, near, *_ in facts
        if head != tail
    ]
    limits = {"width": width, "depth": depth, "candidates": candidates, "minimum_confidence": 0.0}
    found = drive(search("ann", wanted=("likes",), **limits), Graph(edges, judged_by({}, (0.7, 0.9, 0.5))))
    paths = found.paths()
    assert len(paths) <= width
    for path in paths:
        assert 1 <= len(path.steps) <= depth
        assert path.steps[0].here == "ann"
        assert all(one.there == two.here for one, two in zip(path.steps, path.steps[1:], strict=False))
        assert all(step.rule == "" or step.confidence < step.fact.confidence for step in path.steps)
    assert list(found.worths()) == sorted(found.worths(), reverse=True)
