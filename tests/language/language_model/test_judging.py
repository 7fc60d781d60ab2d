"""Paths judged by a language model: one call a step, scores clamped, gaps filled by the local evaluator."""

from __future__ import annotations

from typing import Any

import pytest

from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.language_model.client import CompatibleModel
from memgraph_server.language.language_model.judging import ModelEvaluator
from memgraph_server.language.language_model.spending import Meter
from memgraph_server.memory.facts import Fact, Intent, Stratum
from memgraph_server.retrieval.beam import Scores, Trail
from memgraph_server.retrieval.evaluator import Features, LocalEvaluator
from memgraph_server.retrieval.evidence import Question, Step
from memgraph_server.retrieval.question import Anchor, Reading, read
from tests.language.language_model.scripted_server import Play, Script, fails, says, says_json

ANN = Anchor("ann", "Ann", Intent.FACT)


def trail(*tails: str) -> Trail:
    steps = []
    here = "ann"
    for number, tail in enumerate(tails):
        fact = Fact(f"f{number}{tail}", number, here, "likes", tail, Stratum.STABLE, 0, None, 0.95, Intent.FACT, 0)
        steps.append(Step(fact, here.title(), tail.title(), forward=True, confidence=0.95, similarity=0.5))
        here = tail
    return Trail(ANN, tuple(steps))


def asked() -> Reading:
    return read(Question("What does Ann like?", now=0), ["Ann"])


TRAILS = [trail("jazz"), trail("tea"), trail("jazz", "blues")]
LOCAL = LocalEvaluator().judge(asked(), TRAILS, Features())


def judged(model: CompatibleModel, script: Script, play: Play, **more: Any) -> tuple[list[Scores], Meter]:
    script.play(play)
    meter = Meter()
    return ModelEvaluator(model, meter, **more).judge(asked(), TRAILS, Features()), meter


def scores(path: int, **given: Any) -> dict[str, Any]:
    return {"path": path, "relevance": 0.9, "coherence": 0.8, "sufficiency": 0.7, "stop": True, **given}


def test_all_paths_of_a_step_are_judged_in_one_call(model: CompatibleModel, script: Script) -> None:
    found, meter = judged(model, script, says_json({"scores": [scores(1), scores(2), scores(3)]}))
    assert found == [Scores(0.9, 0.8, 0.7, stop=True)] * 3
    assert (len(script.asked), meter.usage.calls, meter.fallbacks) == (1, 1, 0)
    paths = script.asked[0].material["paths"]
    assert [len(path["steps"]) for path in paths] == [1, 1, 2]
    assert paths[0]["steps"][0].startswith("Ann likes Jazz (1970-01-01")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (scores(1, relevance=7, coherence=-2, sufficiency="90%"), Scores(1.0, 0.0, 0.9, stop=True)),
        (scores(1, relevance=None), Scores(LOCAL[0].relevance, 0.8, 0.7, stop=True)),
        (scores(1, coherence="?", stop="false"), Scores(0.9, LOCAL[0].coherence, 0.7, stop=False)),
        (scores("path 1", sufficiency="high"), Scores(0.9, 0.8, 0.9, stop=True)),
        ({"path": 1, "S_QR": 0.1, "S-LC": 0.2, "s as": 0.3, "decision": "expand"}, Scores(0.1, 0.2, 0.3, stop=False)),
        (scores(9), LOCAL[0]),
        ({"relevance": 0.9}, LOCAL[0]),
    ],
)
def test_scores_are_clamped_and_gaps_are_filled_locally(
    model: CompatibleModel, script: Script, given: dict[str, Any], expected: Scores
) -> None:
    found, _ = judged(model, script, says_json({"scores": [given, scores(2)]}))
    assert found == [expected, Scores(0.9, 0.8, 0.7, stop=True), LOCAL[2]]


def test_of_two_scores_for_one_path_the_first_counts(model: CompatibleModel, script: Script) -> None:
    found, _ = judged(model, script, says_json({"scores": [scores(1), scores(1, relevance=0.0)]}))
    assert found[0].relevance == 0.9


def test_a_reply_that_says_nothing_leaves_the_step_to_the_local_evaluator(
    model: CompatibleModel, script: Script
) -> None:
    found, meter = judged(model, script, says("All of them are fine."))
    assert (found, meter.fallbacks, meter.usage.calls) == (LOCAL, 1, 2)


def test_without_an_endpoint_the_local_evaluator_stands_in_only_where_it_may(
    model: CompatibleModel, script: Script
) -> None:
    with pytest.raises(ModelUnavailable):
        judged(model, script, fails(401))
    found, meter = judged(model, script, fails(401), stands_aside=True)
    assert (found, meter.fallbacks) == (LOCAL, 1)
