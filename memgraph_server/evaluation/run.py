"""`memgraph-server eval`: evidence recall against budgets, by the real pipeline, beside baselines in the same run.

Rules:
- each conversation is ingested through the pipeline, each question asked through the query path, once for every
  budget; a question never sees a turn from its own future (`transcripts.Conversation.steps`);
- what is returned is checked here again: turns over the budget, or a turn that is not word for word the one that was
  said, end the evaluation with an error, since every figure would be worthless;
- unanswerable questions are asked at one budget only, for abstention;
- coverage by extraction is measured over the evidence of every category but those whose answer needs more than what
  was said (LoCoMo's open domain, and unanswerable ones).
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from memgraph_server.errors import InvalidInput, MemgraphServerError
from memgraph_server.evaluation import report as reporting
from memgraph_server.evaluation.baselines import Baseline, default_baselines
from memgraph_server.evaluation.pipeline import Pipeline, namespace_of, opened
from memgraph_server.evaluation.progress import progress_on
from memgraph_server.evaluation.recall import Outcome, Returned, outcome
from memgraph_server.evaluation.transcripts import Conversation, Probe, read_conversations, sampled
from memgraph_server.memory.turns import Turn
from memgraph_server.retrieval.evidence import Evidence, four_characters_a_token
from memgraph_server.settings import Settings
from memgraph_server.wiring import Services

BUDGETS = (512, 1024, 2048, 4096)
#: Unanswerable questions are asked at this budget, or at the one nearest to it.
ABSTENTION_BUDGET = 2048
_BY_GRAPH = {"graph", "cascade"}
_NEEDS_MORE_THAN_WAS_SAID = {"open_domain"}


class BrokenPromise(MemgraphServerError):
    """The memory returned what it may not return (over the budget, altered, unknown): a fault of this server."""

    code = "broken_promise"


@dataclass
class Measured:
    """Everything that was observed; `report.build` makes figures of it."""

    outcomes: dict[int, list[Outcome]] = field(default_factory=lambda: defaultdict(list))
    baselines: dict[str, dict[int, list[Outcome]]] = field(default_factory=dict)
    abstention: list[tuple[float, bool]] = field(default_factory=list)  # (answerability, answerable)
    missing: dict[tuple[str, str], dict[int, list[str]]] = field(default_factory=lambda: defaultdict(dict))
    facts_per_turn: Counter[int] = field(default_factory=Counter)  # turns by how many facts point to them
    evidence_turns: int = 0
    evidence_with_facts: int = 0
    turns: int = 0
    dead_turns: int = 0
    ingested_turns: int = 0
    ingest_seconds: float = 0.0
    stages: list[Mapping[str, float]] = field(default_factory=list)


def evaluate(
    path: Path,
    *,
    settings: Settings,
    budgets: Sequence[int] = BUDGETS,
    json_path: Path | None = None,
    plot_path: Path | None = None,
    keep: Path | None = None,
    baselines: bool = True,
    limit: int | None = None,
    questions: int | None = None,
    seed: int = 0,
    console: Console | None = None,
) -> dict[str, Any]:
    """Measure a file (or folder) of conversations; the report, as written to `json_path`.

    `keep`: a folder where ingested conversations stay for the next run. `limit`: only the first so many conversations.
    `questions`: of theirs as many, drawn by `seed`; None: all. A language model, where one is set to read and judge, is
    asked several times a question.
    `console`: where tables and progress go; None is silent. Raises InvalidInput for a file that cannot be measured.
    """
    console = console or Console(quiet=True)
    _check(budgets, plot_path)
    conversations = sampled(read_conversations(path)[:limit], questions, seed)
    with opened(settings, keep) as services, progress_on(console) as progress:
        began = time.perf_counter()
        measured = measure(
            conversations, services, sorted(set(budgets)), baselines=baselines, kept=keep is not None, progress=progress
        )
        seconds = time.perf_counter() - began
        reading = reporting.cost_of_a_turn(services, measured.ingested_turns)
        said = reporting.versions(services)
        result = reporting.build(path.name, conversations, measured, said, seconds, reading=reading)
        if questions is not None:
            result["sample"] = {"questions": questions, "seed": seed}
    reporting.show(result, console)
    if json_path is not None:
        json_path.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if plot_path is not None:
        reporting.plot(result, plot_path)
    return result


def _check(budgets: Sequence[int], plot_path: Path | None) -> None:
    """Before an hour of work, not after it."""
    if not budgets or min(budgets) < 1:
        raise InvalidInput("budgets are whole numbers of tokens, 1 or more", field="budget")
    if plot_path is not None:
        reporting.check_plot(plot_path)


def measure(
    conversations: Sequence[Conversation],
    services: Services,
    budgets: Sequence[int],
    *,
    baselines: bool,
    kept: bool,
    progress: Progress,
) -> Measured:
    measured = Measured()
    for conversation in conversations:
        pipeline = Pipeline(services, namespace_of(conversation, services))
        rivals = default_baselines(services.embedder.get()) if baselines else []
        _One(conversation, pipeline, rivals, budgets, measured).run(kept=kept, progress=progress)
    return measured


@dataclass(frozen=True, slots=True)
class _One:
    """One conversation's evaluation; what it observes goes into `measured`."""

    conversation: Conversation
    pipeline: Pipeline
    rivals: Sequence[Baseline]
    budgets: Sequence[int]
    measured: Measured

    def run(self, *, kept: bool, progress: Progress) -> None:
        """Ingest and ask in turns: what is asked in the middle sees what was said before it only."""
        turns, probes = self.conversation.turns, self.conversation.probes
        asking = progress.add_task(f"{self.conversation.id}: questions", total=len(probes))
        reading = progress.add_task(f"{self.conversation.id}: turns", total=len(turns))
        ready = kept and can_be_kept(self.conversation) and self.pipeline.holds(self.conversation)
        if not ready:
            self.pipeline.erase()
        for said, asked in self.conversation.steps():
            if not ready:
                self._ingest(said, lambda read: progress.advance(reading, read))
            for rival in self.rivals:
                rival.add(said)
            for probe in asked:
                self._ask(probe)
                progress.advance(asking)
        progress.update(reading, completed=len(turns))
        self._extraction()

    def _ingest(self, turns: Sequence[Turn], tick: Callable[[int], None]) -> None:
        self.measured.ingest_seconds += self.pipeline.ingest(turns, tick)
        self.measured.ingested_turns += len(turns)

    def _ask(self, probe: Probe) -> None:
        abstention_budget = min(self.budgets, key=lambda budget: abs(budget - ABSTENTION_BUDGET))
        for budget in self.budgets if probe.answerable else [abstention_budget]:
            began = time.perf_counter()
            evidence = self.pipeline.ask(probe, budget)
            self._note(probe, budget, evidence, 1000 * (time.perf_counter() - began))
            if budget == abstention_budget:
                self.measured.abstention.append((evidence.answerability, probe.answerable))
        if probe.answerable:
            self._ask_rivals(probe)

    def _note(self, probe: Probe, budget: int, evidence: Evidence, milliseconds: float) -> None:
        found = outcome(
            self.conversation,
            probe,
            returned(evidence, budget, self.conversation),
            tokens=sum(turn.tokens for turn in evidence.turns),
            answerability=evidence.answerability,
            milliseconds=milliseconds,
        )
        self.measured.outcomes[budget].append(found)
        self.measured.stages.append(evidence.usage)
        self.measured.missing[self.conversation.id, probe.id][budget] = _missing(probe, evidence)

    def _ask_rivals(self, probe: Probe) -> None:
        for rival in self.rivals:
            by_budget = self.measured.baselines.setdefault(rival.name, defaultdict(list))
            for budget, (turns, spent) in zip(self.budgets, rival.select(probe.text, self.budgets), strict=True):
                there = [Returned(turn.id, turn.session_id) for turn in turns]
                by_budget[budget].append(outcome(self.conversation, probe, there, tokens=spent))

    def _extraction(self) -> None:
        facts = self.pipeline.facts_of([turn.id for turn in self.conversation.turns])
        asked = [p for p in self.conversation.probes if p.answerable and p.category not in _NEEDS_MORE_THAN_WAS_SAID]
        evidence = {turn_id for probe in asked for turn_id in probe.evidence_turns}
        self.measured.facts_per_turn.update(facts.values())
        self.measured.evidence_turns += len(evidence)
        self.measured.evidence_with_facts += sum(facts[turn_id] > 0 for turn_id in evidence)
        self.measured.turns += len(self.conversation.turns)
        self.measured.dead_turns += self.pipeline.dead()


def can_be_kept(conversation: Conversation) -> bool:
    """Only where all is asked at the end: a full store would show a question its future."""
    return all(probe.sees == len(conversation.turns) for probe in conversation.probes)


def returned(evidence: Evidence, budget: int, conversation: Conversation) -> list[Returned]:
    """What counts, after checking that every turn is whole and all of them fit. Raises BrokenPromise."""
    said = {turn.id: turn for turn in conversation.turns}
    for item in evidence.turns:
        original = said.get(item.turn.id)
        if original is None or original.full_text() != item.turn.full_text():
            raise BrokenPromise(f"turn {item.turn.id} came back altered, or was never said")
    if sum(four_characters_a_token(item.turn.full_text()) for item in evidence.turns) > budget:
        raise BrokenPromise(f"more than {budget} tokens were returned")
    return [Returned(item.turn.id, item.turn.session_id, item.reached_by in _BY_GRAPH) for item in evidence.turns]


def _missing(probe: Probe, evidence: Evidence) -> list[str]:
    there = {item.turn.id for item in evidence.turns} | {item.turn.session_id for item in evidence.turns}
    return sorted((probe.evidence_turns or probe.evidence_sessions) - there)
