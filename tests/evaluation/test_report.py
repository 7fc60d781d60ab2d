"""The report's shape on paper: plots, tables, and figures of nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation import report
from memgraph_server.evaluation.recall import Outcome, summarize
from memgraph_server.evaluation.run import Measured


def result(recall: int = 1) -> dict[str, Any]:
    """Two budgets, the memory and one baseline; `recall` of two questions are covered."""
    outcomes = [Outcome(f"p{n}", "c", "single_hop", True, 0, n < recall, float(n < recall), 0.0, 9) for n in range(2)]
    figures = {"512": summarize(outcomes), "1024": summarize(outcomes)}
    asked = report.build("made-up.json", [], Measured(abstention=[(0.9, True), (0.2, False)]), {}, 0.0)
    return asked | {"budgets": figures, "baselines": {"bm25": {"budgets": figures}}}


@pytest.mark.parametrize(("suffix", "magic"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_a_plot_is_written_in_the_format_of_its_name(tmp_path: Path, suffix: str, magic: bytes) -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    path = tmp_path / f"recall{suffix}"
    report.check_plot(path)
    report.plot(result(), path)
    assert path.read_bytes().startswith(magic)


def test_a_plot_shows_reliability_where_something_could_not_be_answered(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    sizes = []
    for number, measured in enumerate(([(0.9, True), (0.2, False)], [(0.9, True)])):
        asked = report.build("made-up.json", [], Measured(abstention=measured), {}, 0.0)
        report.plot(result() | {"abstention": asked["abstention"]}, tmp_path / f"{number}.svg")
        sizes.append((tmp_path / f"{number}.svg").read_text("utf-8").count('<g id="axes_'))
    assert sizes == [3, 1]


def test_a_plot_in_another_format_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        report.check_plot(tmp_path / "recall.docx")


def test_the_terminal_plot_has_a_bar_for_each_policy_and_budget() -> None:
    lines = report.terminal_plot(result()).splitlines()
    assert len(lines) == 4
    assert all(line.rstrip().endswith("50.0") and "█" * 20 in line and "█" * 21 not in line for line in lines)


def test_a_run_without_questions_or_facts_still_makes_a_report() -> None:
    found = report.build("made-up.json", [], Measured(), {}, 0.0)
    assert (found["budgets"], found["abstention_auroc"], found["extraction"]["facts_a_turn"]) == ({}, None, None)


def test_abstention_has_no_reliability_without_unanswerable_questions() -> None:
    found = report.build("made-up.json", [], Measured(abstention=[(0.9, True)]), {}, 0.0)
    assert found["abstention"] == {"answerable": 1, "unanswerable": 0}


def test_abstention_separates_perfectly_where_every_answerable_question_scores_higher() -> None:
    found = report.build("made-up.json", [], Measured(abstention=[(0.9, True), (0.2, False)]), {}, 0.0)
    assert found["abstention_auroc"] == 100.0


def test_abstaining_refuses_more_of_what_cannot_be_answered_and_says_what_it_costs() -> None:
    forecasts = [(0.95, True), (0.7, True), (0.3, True), (0.35, False), (0.05, False)]
    found = report.build("made-up.json", [], Measured(abstention=forecasts), {}, 0.0)["abstention"]["abstaining"]
    by_threshold = {row.pop("threshold"): row for row in found}
    assert by_threshold[0.0] == {"answered": 100.0, "kept": 100.0, "refused": 0.0, "answerable": 60.0}
    assert by_threshold[0.1] == {"answered": 80.0, "kept": 100.0, "refused": 50.0, "answerable": 75.0}
    assert by_threshold[0.4] == {"answered": 40.0, "kept": 66.67, "refused": 100.0, "answerable": 100.0}
