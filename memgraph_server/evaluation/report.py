"""Figures from what was measured: the report as JSON, as tables and as a plot.

The JSON has, in percent unless its name says otherwise:
- `budgets`: {"2048": {"all", a figure a category, "questions", "partial", "by_age", "intervals", …}};
- `baselines`: {"bm25": {"budgets": the same}, …};
- `abstention_auroc`: how well answerability tells answerable questions from others, in percent; null without both;
- `abstention`, `extraction`, `timings`, `versions`, and `questions`: what each question missed.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from memgraph_server import __version__
from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.recall import Outcome, abstaining, auroc, reliability, summarize
from memgraph_server.evaluation.transcripts import Conversation
from memgraph_server.language.port import ModelRole, Usage
from memgraph_server.wiring import Services

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memgraph_server.evaluation.run import Measured

_LIBRARIES = ("numpy", "onnxruntime", "spacy", "tokenizers")
_BAR_WIDTH = 40


def build(
    name: str,
    conversations: Sequence[Conversation],
    measured: Measured,
    versions: Mapping[str, str],
    seconds: float,
    *,
    reading: Mapping[str, float | None] | None = None,
) -> dict[str, Any]:
    """`reading`: what a language model took to read one turn."""
    return {
        "file": name,
        "conversations": len(conversations),
        "turns": measured.turns,
        "budgets": _budgets(measured.outcomes),
        "abstention_auroc": _abstention_auroc(measured.abstention),
        "abstention": _abstention(measured.abstention),
        "baselines": {name: {"budgets": _rival_budgets(found)} for name, found in measured.baselines.items()},
        "extraction": _extraction(measured) | {"cost_of_a_turn": dict(reading or {})},
        "timings": _timings(measured, seconds),
        "versions": dict(versions),
        "questions": _questions(conversations, measured),
    }


def versions(services: Services) -> dict[str, str]:
    libraries = {}
    for library in _LIBRARIES:
        try:
            libraries[library] = version(library)
        except PackageNotFoundError:
            continue
    return {
        "memgraph-server": __version__,
        "embedder": services.embedder.get().name,
        "extractor": services.extractor.get().name,
        "python": platform.python_version(),
        **libraries,
    }


def cost_of_a_turn(services: Services, turns: int) -> dict[str, float | None]:
    """Calls and tokens of a language model to read one turn, as a mean; nothing where none reads."""
    if services.language_model is None:
        return {}
    usage = services.language_model.model.spending.of_role(ModelRole.EXTRACT)
    return a_turn(usage, turns)


def a_turn(usage: Usage, turns: int) -> dict[str, float | None]:
    """Means over turns; None without any."""
    sums = {
        "model_calls": usage.calls,
        "model_prompt_tokens": usage.prompt_tokens,
        "model_completion_tokens": usage.completion_tokens,
    }
    return {name: round(value / turns, 2) if turns else None for name, value in sums.items()}


def _budgets(outcomes: Mapping[int, Sequence[Outcome]]) -> dict[str, Any]:
    return {str(budget): summarize(found) for budget, found in sorted(outcomes.items())}


def _rival_budgets(outcomes: Mapping[int, Sequence[Outcome]]) -> dict[str, Any]:
    """A baseline has no graph."""
    return {
        budget: {key: value for key, value in figures.items() if not key.endswith("reached_by_graph")}
        for budget, figures in _budgets(outcomes).items()
    }


def _abstention_auroc(forecasts: Sequence[tuple[float, bool]]) -> float | None:
    found = auroc(
        [p for p, answerable in forecasts if answerable], [p for p, answerable in forecasts if not answerable]
    )
    return None if found is None else round(100 * found, 2)


def _abstention(forecasts: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """Reliability needs both kinds; with one kind only it would call any confident memory well calibrated."""
    unanswerable = sum(not answerable for _, answerable in forecasts)
    counts = {"answerable": len(forecasts) - unanswerable, "unanswerable": unanswerable}
    if not counts["answerable"] or not unanswerable:
        return counts
    return counts | reliability(forecasts) | {"abstaining": abstaining(forecasts)}


def _extraction(measured: Measured) -> dict[str, Any]:
    turns = measured.facts_per_turn.total()
    facts = sum(facts * count for facts, count in measured.facts_per_turn.items())
    coverage = 100 * measured.evidence_with_facts / measured.evidence_turns if measured.evidence_turns else None
    return {
        "evidence_turns": measured.evidence_turns,
        "evidence_turns_with_a_fact": None if coverage is None else round(coverage, 2),
        "facts_a_turn": round(facts / turns, 3) if turns else None,
        "turns_without_a_fact": round(100 * measured.facts_per_turn[0] / turns, 2) if turns else None,
        "dead_turns": measured.dead_turns,
    }


def _timings(measured: Measured, seconds: float) -> dict[str, Any]:
    asked = [o.milliseconds for found in measured.outcomes.values() for o in found if o.milliseconds is not None]
    speed = measured.ingested_turns / measured.ingest_seconds if measured.ingest_seconds else None
    stages = sorted({name for usage in measured.stages for name in usage})
    return {
        "seconds": round(seconds, 2),
        "turns_a_second": None if speed is None else round(speed, 1),
        "ingested_turns": measured.ingested_turns,
        "query_milliseconds_p50": round(float(np.percentile(asked, 50)), 2) if asked else None,
        "query_milliseconds_p95": round(float(np.percentile(asked, 95)), 2) if asked else None,
        "mean_usage": {name: round(_mean(usage.get(name, 0.0) for usage in measured.stages), 3) for name in stages},
    }


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))


def _questions(conversations: Sequence[Conversation], measured: Measured) -> list[dict[str, Any]]:
    answerability = {
        (o.conversation, o.probe_id): o.answerability for found in measured.outcomes.values() for o in found
    }
    return [
        {
            "id": probe.id,
            "conversation": conversation.id,
            "category": probe.category,
            "text": probe.text,
            "evidence": sorted(probe.evidence_turns or probe.evidence_sessions),
            "answerability": answerability.get((conversation.id, probe.id)),
            "missing": {
                str(budget): lacking for budget, lacking in measured.missing[conversation.id, probe.id].items()
            },
        }
        for conversation in conversations
        for probe in conversation.probes
    ]


def show(result: Mapping[str, Any], console: Console) -> None:
    """Tables for people; everything is in the JSON too."""
    console.print(_recall_table(result))
    for budget, figures in result["budgets"].items():
        console.print(_line(budget, figures))
    console.print(_facts_line(result))
    if "abstaining" in result["abstention"]:
        console.print(_abstention_table(result["abstention"]))
    console.print(terminal_plot(result), markup=False, highlight=False)


def _recall_table(result: Mapping[str, Any]) -> Table:
    categories = list(next(iter(result["budgets"].values()))["questions_by_category"])
    table = Table(title=f"Evidence recall, {result['file']} (percent of questions with all evidence returned)")
    for column in ("budget", "policy", "all", "partial", *categories):
        table.add_column(column.replace("_", " "), justify="left" if column == "policy" else "right")
    for budget in result["budgets"]:
        for policy, figures in _policies(result, budget):
            shown = [f"{figures[c]:.1f}" for c in ("all", "partial", *categories)]
            table.add_row(budget, policy.replace("_", " "), *shown)
        table.add_section()
    return table


def _policies(result: Mapping[str, Any], budget: str) -> list[tuple[str, Mapping[str, Any]]]:
    rivals = [(name, found["budgets"][budget]) for name, found in result["baselines"].items()]
    return [("memory", result["budgets"][budget]), *rivals]


def _line(budget: str, figures: Mapping[str, Any]) -> str:
    ages = ", ".join(f"{name.replace('_', ' ')} {split['recall']:.0f}" for name, split in figures["by_age"].items())
    spread = figures["leave_one_conversation_out"]
    without = f"; leaving one conversation out {spread[0]:.1f}–{spread[1]:.1f}" if spread else ""
    low, high = figures["intervals"]["all"]
    return (
        f"{budget} tokens: {figures['questions']} questions, 95 % interval {low:.1f}–{high:.1f}; all evidence by the"
        f" graph {figures['reached_by_graph']:.1f} %; sessions back: {ages}{without}"
    )


def _abstention_table(abstention: Mapping[str, Any]) -> Table:
    """How far answerability can be believed, and what not answering below a threshold gains."""
    observed = {round(row["from"], 1): row for row in abstention["bins"]}
    error, brier = abstention["expected_calibration_error"], abstention["brier"]
    table = Table(
        title="Abstaining below a threshold of answerability (percent)",
        caption=f"expected calibration error {error:.3f}, Brier score {brier:.3f}",
    )
    for column in ("threshold", "answered", "answerable kept", "others refused", "answerable of the answered"):
        table.add_column(column, justify="right")
    table.add_column("from here: answerable, forecast", justify="right")
    for row in abstention["abstaining"]:
        here = observed.get(row["threshold"])
        shown = [f"{row[name]:.1f}" for name in ("answered", "kept", "refused", "answerable")]
        believed = "" if here is None else f"{100 * here['observed']:.0f}, {100 * here['forecast']:.0f}"
        table.add_row(f"{row['threshold']:.1f}", *shown, believed)
    return table


def _facts_line(result: Mapping[str, Any]) -> str:
    extraction, timings = result["extraction"], result["timings"]
    parts = [
        f"abstention AUROC {_or_none(result['abstention_auroc'])} %",
        f"evidence turns with a fact {_or_none(extraction['evidence_turns_with_a_fact'])} %",
        f"facts a turn {_or_none(extraction['facts_a_turn'])}",
        f"ingest {_or_none(timings['turns_a_second'])} turns/s",
        f"query p50 {_or_none(timings['query_milliseconds_p50'])} ms",
        f"p95 {_or_none(timings['query_milliseconds_p95'])} ms",
    ]
    parts += [
        f"{value:.1f} {name.replace('_', ' ')} a turn" for name, value in extraction["cost_of_a_turn"].items() if value
    ]
    return "; ".join(parts)


def _or_none(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def terminal_plot(result: Mapping[str, Any]) -> str:
    """Recall against budget as bars, for a terminal."""
    rows = []
    for budget in result["budgets"]:
        for policy, figures in _policies(result, budget):
            bar = "█" * round(_BAR_WIDTH * figures["all"] / 100)
            rows.append(f"{budget:>7} {policy:<18} {bar:<{_BAR_WIDTH}} {figures['all']:5.1f}")
    return "\n".join(rows)


def check_plot(path: Path) -> None:
    """Raises InvalidInput where a plot could not be written."""
    if path.suffix not in {".svg", ".png", ".pdf"}:
        raise InvalidInput("a plot is written as .svg, .png or .pdf", field="plot")
    if find_spec("matplotlib") is None:
        raise InvalidInput("a plot needs matplotlib: pip install 'memgraph-server[plots]'", field="plot")


def plot(result: Mapping[str, Any], path: Path) -> None:
    """Recall against budget; where unanswerable questions were asked, also how far answerability can be believed and
    what abstaining gains."""
    from matplotlib.figure import Figure

    panels = 3 if "abstaining" in result["abstention"] else 1
    figure = Figure(figsize=(7 if panels == 1 else 15, 4.5), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    _plot_recall(result, axes[0])
    if panels > 1:
        _plot_reliability(result["abstention"]["bins"], axes[1])
        _plot_abstaining(result["abstention"]["abstaining"], axes[2])
    for each in axes:
        each.grid(alpha=0.3)
        each.legend()
    figure.savefig(path)


def _plot_recall(result: Mapping[str, Any], axes: Axes) -> None:
    """One line a policy, the memory's with its interval."""
    budgets = [int(budget) for budget in result["budgets"]]
    for number, (policy, _) in enumerate(_policies(result, str(budgets[0]))):
        recall = [dict(_policies(result, str(budget)))[policy]["all"] for budget in budgets]
        axes.plot(budgets, recall, marker="o", label=policy, linewidth=2.5 if number == 0 else 1.2)
    bands = [result["budgets"][str(budget)]["intervals"]["all"] for budget in budgets]
    axes.fill_between(budgets, [low for low, _ in bands], [high for _, high in bands], alpha=0.15)
    axes.set_xscale("log", base=2)
    axes.set_xticks(budgets, [f"{budget:,}" for budget in budgets])
    axes.set(xlabel="context budget (tokens)", ylabel="questions with all evidence (%)", ylim=(0, 100))
    axes.set_title(f"Evidence recall, {result['file']}")


def _plot_reliability(bins: Sequence[Mapping[str, float]], axes: Axes) -> None:
    """Points on the diagonal: what is said to be answerable with 70 % is so in 70 of 100."""
    axes.plot([0, 100], [0, 100], linewidth=1, color="grey", label="as forecast")
    forecast, observed = ([100 * row[name] for row in bins] for name in ("forecast", "observed"))
    axes.plot(forecast, observed, marker="o", linewidth=1.2, label="answerability")
    for x, y, row in zip(forecast, observed, bins, strict=True):
        axes.annotate(f"{row['count']:,.0f}", (x, y), textcoords="offset points", xytext=(5, -10), fontsize=8)
    axes.set(xlabel="answerability (%)", ylabel="answerable (%)", xlim=(0, 100), ylim=(0, 100))
    axes.set_title("Can answerability be believed?")


def _plot_abstaining(rows: Sequence[Mapping[str, float]], axes: Axes) -> None:
    thresholds = [100 * row["threshold"] for row in rows]
    for name, label in (
        ("kept", "answerable questions answered"),
        ("refused", "others refused"),
        ("answerable", "answerable among the answered"),
    ):
        axes.plot(thresholds, [row[name] for row in rows], marker="o", linewidth=1.2, label=label)
    axes.set(xlabel="no answer below (%)", ylabel="%", xlim=(0, 100), ylim=(0, 102))
    axes.set_title("What abstaining gains")
