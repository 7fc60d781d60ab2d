"""Learning the ranking's weights: the fit as laws over made questions, the whole over a conversation of five turns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memgraph_server.actions.ask import shipped_ranking
from memgraph_server.evaluation.learn import Example, fit, left_out, log_loss, main
from memgraph_server.retrieval.fusion import Ranking

NOTHING = np.zeros(2)


def questions(weights: tuple[float, float], count: int = 60, seed: int = 3) -> list[Example]:
    """Thirty turns each, of which the evidence is drawn by the softmax of the true score."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        features = random.normal(size=(30, 2))
        shares = np.exp(features @ np.array(weights))
        place = random.choice(30, p=shares / shares.sum())
        found.append(Example(f"c{number % 3}", features, (np.array([place]),)))
    return found


@pytest.mark.parametrize("weights", [(2.0, 0.0), (1.0, -1.5), (0.0, 0.0)])
def test_the_weights_that_made_the_evidence_are_found_again(weights: tuple[float, float]) -> None:
    assert fit(questions(weights, 400), NOTHING, ridge=0.1) == pytest.approx(np.array(weights), abs=0.3)


def test_a_strong_prior_is_kept_and_a_weak_one_is_left() -> None:
    examples, prior = questions((2.0, 0.0)), np.array([0.0, 1.0])
    assert fit(examples, prior, ridge=1e9) == pytest.approx(prior, abs=1e-4)
    assert log_loss(examples, fit(examples, prior, ridge=1.0)) < log_loss(examples, prior)


def test_a_session_is_found_by_any_of_its_turns_and_pieces_of_evidence_are_no_rivals() -> None:
    features = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    session = Example("c", features, (np.array([0, 1]),))
    alone = Example("c", features, (np.array([1]),))
    both = Example("c", features[:3], (np.array([0]), np.array([1])))
    weights = np.array([1.0, 0.0])
    assert log_loss([session], weights) < log_loss([alone], weights)
    rest = [log_loss([Example("c", features[[place, 2]], (np.array([0]),))], weights) for place in (0, 1)]
    assert log_loss([both], weights) == pytest.approx(np.mean(rest))


def test_every_conversation_is_judged_by_weights_that_have_not_seen_it() -> None:
    found = left_out(questions((2.0, 0.0), 120), NOTHING, ridge=1.0)
    assert sorted(found) == ["c0", "c1", "c2"]
    assert all(each["learned"] < each["prior"] for each in found.values())
    alone = left_out([Example("only", np.eye(2), (np.array([0]),))], NOTHING, ridge=1.0)
    assert alone["only"]["learned"] == alone["only"]["prior"]


def test_the_command_writes_a_ranking_that_says_what_it_was_learned_from(tmp_path: Path) -> None:
    said = ["I adopted a dog named Rex.", "How lovely!", "We paint on Sundays.", "The car broke down.", "Good night."]
    turns = [
        {
            "id": f"t{n}",
            "role": "user",
            "speaker": ("Ann", "Bob")[n % 2],
            "text": text,
            "at": f"2023-05-0{n + 1}T10:00:00+00:00",
        }
        for n, text in enumerate(said)
    ]
    asked = [{"text": "What is the name of Ann's dog?", "evidence": ["t3"]}]
    document = {"conversations": [{"id": "c", "sessions": [{"session_id": "s", "turns": turns}], "questions": asked}]}
    path, out = tmp_path / "own.json", tmp_path / "ranking.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    main([str(path), "--out", str(out), "--ridge", "1"])
    written = json.loads(out.read_text("utf-8"))
    ranking = Ranking.from_mapping(written)
    assert list(ranking.weights) == list(shipped_ranking().weights)
    assert ranking.weights != shipped_ranking().weights
    assert written["learned_from"]["questions"] == 1
    assert list(written["learned_from"]["files"]) == ["own.json"]
