"""Learning the ranking's weights: the fit as laws over made questions, the whole over a conversation of five turns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memgraph_server import wiring
from memgraph_server.actions.ask import shipped_ranking
from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation import learn
from memgraph_server.evaluation.learn import Example, fit, fit_ranking, log_loss
from memgraph_server.settings import InvalidSetting, Settings

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


def conversation(name: str, pet: str) -> dict[str, object]:
    said = [
        f"I adopted a {pet} named Rex.",
        "How lovely!",
        "We paint on Sundays.",
        "The car broke down.",
        "Good night.",
    ]
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
    asked = [{"text": f"What is the name of Ann's {pet}?", "evidence": ["t3"]}, {"text": "Who?", "answerable": False}]
    return {"id": name, "sessions": [{"session_id": "s", "turns": turns}], "questions": asked}


def written(path: Path, *names: str) -> Path:
    document = {"conversations": [conversation(name, pet) for name, pet in zip(names, ("dog", "cat"), strict=False)]}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget for one turn, so that a ranking can be wrong about five."""
    monkeypatch.setattr(learn, "BUDGET", 7)


@pytest.mark.usefixtures("narrow")
def test_weights_that_find_more_on_what_they_have_not_seen_are_written_and_can_be_used(tmp_path: Path) -> None:
    """The car is what answers, by these transcripts: only weights that were fitted to them can find that."""
    path, out = written(tmp_path / "own.json", "c", "d"), tmp_path / "ranking.json"
    found = fit_ranking(path, out, settings=Settings(), ridge=0.01)
    assert (found["shipped"], found["fitted"], found["written"], found["questions"]) == (0.0, 100.0, True, 2)
    assert set(found["left_out"]) == {"c", "d"}
    store = f"sqlite:///{tmp_path}/m.db"
    services = wiring.services(Settings(store=store, ranking=str(out)))
    try:
        assert list(services.ranking.weights) == list(shipped_ranking().weights)
        assert services.ranking.weights != shipped_ranking().weights
    finally:
        services.close()


def test_a_file_that_cannot_be_written_to_its_end_leaves_the_one_that_was_there(tmp_path: Path) -> None:
    out = tmp_path / "ranking.json"
    learn.written(out, "first")
    with pytest.raises(UnicodeEncodeError):
        learn.written(out, "half \ud800")
    assert out.read_text("utf-8") == "first"
    assert list(tmp_path.iterdir()) == [out]


def test_weights_that_find_no_more_are_not_written(tmp_path: Path) -> None:
    path, out = written(tmp_path / "own.json", "c", "d"), tmp_path / "ranking.json"
    found = fit_ranking(path, out, settings=Settings())
    assert (found["shipped"], found["fitted"], found["written"]) == (100.0, 100.0, False)
    assert not out.exists()


def test_one_conversation_leaves_nothing_to_measure_on(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="two conversations"):
        fit_ranking(written(tmp_path / "own.json", "c"), tmp_path / "ranking.json", settings=Settings())


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"weights": 3}', "[" * 100_000], ids=lambda text: text[:9])
def test_a_file_without_a_ranking_is_a_wrong_setting(tmp_path: Path, text: str) -> None:
    (tmp_path / "ranking.json").write_text(text, encoding="utf-8")
    settings = Settings(store=f"sqlite:///{tmp_path}/m.db", ranking=str(tmp_path / "ranking.json"))
    with pytest.raises(InvalidSetting, match="holds no ranking"):
        wiring.services(settings)
    assert not (tmp_path / "m.db").exists()
