"""The local evaluator, the relations a question wants, and answerability."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest
import yaml

from memgraph_server.memory.classes import ClassTable
from memgraph_server.memory.facts import Intent
from memgraph_server.memory.relations import Registry
from memgraph_server.retrieval import answerability
from memgraph_server.retrieval.beam import Scores, Trail
from memgraph_server.retrieval.evaluator import Features, LocalEvaluator, similar
from memgraph_server.retrieval.evidence import Question, Step
from memgraph_server.retrieval.question import Anchor, Reading, read
from memgraph_server.retrieval.wanted import below_a_class, wanted_relations, with_narrower
from tests.retrieval.graphs import fact, step

TABLE = Registry.from_tables(
    yaml.safe_load((resources.files("memgraph_server") / "schema" / "relations.yaml").read_text("utf-8"))
)
ANN = Anchor("ann", "Ann", Intent.FACT)


def reading(text: str) -> Reading:
    return read(Question(text=text, now=0), ["Ann"])


def judged(text: str, *steps: Step, wanted: frozenset[str] = frozenset()) -> Scores:
    (scores,) = LocalEvaluator().judge(reading(text), [Trail(ANN, steps)], Features(wanted=wanted))
    return scores


LIKES = step(fact("ann", "likes", "italian food"), similarity=0.55)
WORKS = step(fact("ann", "works_at", "acme"), similarity=0.1)


def test_a_path_about_what_is_asked_is_relevant_and_another_is_not() -> None:
    question = "What food does Ann like?"
    assert judged(question, LIKES).relevance >= 0.5 > judged(question, WORKS).relevance
    assert judged(question, LIKES).sufficiency > judged(question, WORKS).sufficiency


@pytest.mark.parametrize(("cosine", "share"), [(-1.0, 0.0), (0.15, 0.0), (0.375, 0.5), (0.6, 1.0), (1.0, 1.0)])
def test_a_cosine_is_a_share_of_the_way_from_unrelated_to_meant(cosine: float, share: float) -> None:
    assert similar(cosine) == pytest.approx(share)


def test_a_step_over_a_shared_value_to_a_stranger_is_less_coherent() -> None:
    onwards = (step(fact("ann", "likes", "jazz")), step(fact("jazz", "born_in", "america")))
    sideways = (step(fact("ann", "likes", "jazz")), step(fact("bob", "likes", "jazz"), forward=False))
    assert judged("What does Ann like?", *onwards).coherence == 1.0
    assert judged("What does Ann like?", *sideways).coherence == 0.5


def test_steps_that_never_held_together_are_less_coherent() -> None:
    early, late = fact("ann", "works_at", "acme", start=0, end=10), fact("acme", "located_in", "rome", start=20)
    assert judged("Where?", step(early), step(late)).coherence < 1.0


@pytest.mark.parametrize("text", ["", "?", "Where does Ann live?", "\x00\ud800", "谁"])
def test_scores_stay_within_zero_and_one(text: str) -> None:
    for similarity in (-1.0, 0.0, 1.0):
        scores = judged(
            text, step(fact("ann", "lives_in", "rome"), similarity=similarity), wanted=frozenset({"lives_in"})
        )
        assert all(0.0 <= value <= 1.0 for value in (scores.relevance, scores.coherence, scores.sufficiency))


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Where does Ann live?", "lives_in"),
        ("What does Ann like?", "likes"),
        ("What did Ann visit?", "visited"),
        ("Where did Ann travel?", "traveled_to"),
    ],
)
def test_a_question_wants_the_relation_its_verb_names(text: str, relation: str) -> None:
    assert relation in wanted_relations(reading(text), TABLE)


def test_what_implies_a_wanted_relation_is_wanted_too_and_its_other_end() -> None:
    assert {"located_in", "lives_in", "location_of"} <= with_narrower(["located_in"], TABLE)


def test_a_question_for_a_class_reaches_what_is_below_it() -> None:
    classes = ClassTable({"swimming": "sport,activity", "couch": "furniture"})
    below = below_a_class(reading("Which activities does Ann do?"), classes)
    assert [name for name in ("swimming", "couch", "rome") if below(name)] == ["swimming"]


def answerable(own: list[float], theirs: list[float], worth: float = 0.0) -> float:
    signals = {"own": np.array(own), "speaker": np.array(theirs)}
    found = answerability.features(signals, {"own": 0.1}, worth)
    return answerability.probability(found, {"intercept": -1.0, "lead": 1.0, "match": 0.2})


def test_the_memory_holds_the_answer_less_likely_where_the_other_person_said_it() -> None:
    assert answerable([0.6, 0.1], [1, 0]) > 0.5 > answerable([0.1, 0.6], [1, 0])


def test_a_better_match_makes_an_answer_likelier() -> None:
    assert answerable([0.9, 0.2], [0, 0]) > answerable([0.3, 0.2], [0, 0])


def test_an_empty_memory_holds_no_answer() -> None:
    assert answerable([], []) == 0.0


def test_extreme_features_stay_probabilities() -> None:
    assert answerable([1e9], [0]) == pytest.approx(1.0)
    assert answerable([-1e9], [0]) == pytest.approx(0.0)
