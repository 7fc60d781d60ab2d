"""`memgraph-server eval --answers`: are the answers right, through the real answer path, beside the whole conversation.

    question ──> memory: evidence in a budget of tokens ──> the answering model ─┐
             └─> full context: the conversation itself ───> the same model ──────┴─> token F1, judges

Rules:
- the same questions in the same run for both, the same prompt and the same model; what differs is what it is shown;
- a question that can be answered counts where it has a gold answer; an abstention on it is wrong, which needs no judge;
- a question that cannot be answered (LoCoMo's category 5, LongMemEval's `_abs`) is right where the answer abstains;
- an answer that was not had (a refusal, an endpoint that failed) and a verdict that cannot be read are counted, and
  nothing is guessed for them;
- an endpoint that stays away ends the run; what was measured until then is reported, and that it ended early;
- a sample is drawn by a seed, and evenly from nothing: every question is as likely.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from memgraph_server.actions import answer as answering
from memgraph_server.actions.answer import Answer
from memgraph_server.errors import InvalidInput, ModelUnavailable, UnusableReply
from memgraph_server.evaluation import answer_figures as figures
from memgraph_server.evaluation.answer_figures import FULL_CONTEXT, MEMORY, Asked, Reply
from memgraph_server.evaluation.full_context import LEAST, FullContext
from memgraph_server.evaluation.judges import Judge, judges_of
from memgraph_server.evaluation.pipeline import Pipeline, namespace_of, opened
from memgraph_server.evaluation.progress import progress_on
from memgraph_server.evaluation.report import cost_of_a_turn, versions
from memgraph_server.evaluation.run import can_be_kept, returned
from memgraph_server.evaluation.token_f1 import token_f1
from memgraph_server.evaluation.transcripts import Conversation, Probe, read_conversations, sampled
from memgraph_server.language.language_model.answering import without_marks
from memgraph_server.language.language_model.spending import Meter
from memgraph_server.language.port import ModelRole
from memgraph_server.settings import Settings
from memgraph_server.wiring import Services

#: Tokens that the answering model reads at most, where nobody says otherwise.
CONTEXT = 100_000
BUDGET = 2048
#: Questions that are answered before any of them is graded; as many are lost where a run ends early.
_ROUND = 16
#: So many answers in a row that an endpoint did not give end the run.
_PATIENCE = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """`questions`: as many, drawn by `seed`; None: all. `judges`: see `judges.py`. `budget`, `context`: tokens."""

    budget: int = BUDGET
    context: int = CONTEXT
    judges: tuple[str, ...] = ()
    questions: int | None = None
    seed: int = 0


def evaluate_answers(
    path: Path,
    *,
    settings: Settings,
    plan: Plan,
    json_path: Path | None = None,
    keep: Path | None = None,
    limit: int | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Measure the answers to a file's questions; the report, as written to `json_path`.

    Raises InvalidInput for what cannot be measured; ModelUnavailable where no answering (or judging) model is set, or
    it stays away: the report of what was measured is written before that.
    """
    console = console or Console(quiet=True)
    if plan.context < LEAST:
        raise InvalidInput(f"context must be at least {LEAST} tokens", field="context")
    conversations = sampled(answered(read_conversations(path)[:limit], path.name), plan.questions, plan.seed)
    with (
        opened(settings, keep) as services,
        _judges(services, plan.judges) as judges,
        progress_on(console) as progress,
    ):
        run = _Run(services, judges, plan, FullContext(services.model_for(ModelRole.ANSWER), plan.context))
        stopped = run.all(conversations, kept=keep is not None, progress=progress)
        result = figures.build(path.name, run.asked, [judge.name for judge in judges]) | run.conditions(stopped)
    figures.show(result, console)
    if json_path is not None:
        json_path.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if stopped is not None:
        raise stopped
    return result


@contextmanager
def _judges(services: Services, specs: Sequence[str]) -> Iterator[list[Judge]]:
    model = services.model_for(ModelRole.JUDGE) if specs else None
    with judges_of(specs, model) as found:
        yield found


# -- which questions


def answered(conversations: Sequence[Conversation], name: str) -> list[Conversation]:
    """With the questions that have a gold answer, or none at all. Raises InvalidInput where there are none."""
    found = [replace(c, probes=tuple(p for p in c.probes if p.answer or not p.answerable)) for c in conversations]
    if not any(conversation.probes for conversation in found):
        raise InvalidInput(f"{name} has no question with an answer ('answer' beside its text)", field="path")
    return found


# -- asking


@dataclass
class _Run:
    """One evaluation. Questions that see the same turns are asked side by side."""

    services: Services
    judges: Sequence[Judge]
    plan: Plan
    full: FullContext
    asked: list[Asked] = field(default_factory=list)
    turns: int = 0
    seconds: float = 0.0
    _failures: int = 0
    _stopped: ModelUnavailable | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def all(self, conversations: Sequence[Conversation], *, kept: bool, progress: Progress) -> ModelUnavailable | None:
        """Why it ended early; None where it did not."""
        questions = sum(len(each.probes) for each in conversations)
        bar = progress.add_task("answers, then grades", total=4 * questions)
        for conversation in conversations:
            if self._stopped is None:
                self._conversation(conversation, kept=kept, tick=lambda: progress.advance(bar))
        return self._stopped

    def _conversation(self, conversation: Conversation, *, kept: bool, tick: Callable[[], None]) -> None:
        pipeline = Pipeline(self.services, namespace_of(conversation, self.services))
        ready = kept and can_be_kept(conversation) and pipeline.holds(conversation)
        if not ready:
            pipeline.erase()
        for said, probes in conversation.steps():
            if not ready:
                self.seconds += pipeline.ingest(said)
                self.turns += len(said)
            for start in range(0, len(probes), _ROUND):
                self._ask(conversation, pipeline, probes[start : start + _ROUND], tick)

    def _ask(
        self, conversation: Conversation, pipeline: Pipeline, probes: Sequence[Probe], tick: Callable[[], None]
    ) -> None:
        """All from the memory, then all from the conversation, then all graded: an endpoint that keeps the beginning of
        its last prompt reads the instructions once a phase."""

        def memory(probe: Probe) -> Answer:
            question = pipeline.question(probe, self.plan.budget)
            found = answering.answer(self.services, pipeline.namespace, question, None)
            returned(found.evidence, self.plan.budget, conversation)
            return found

        def full(probe: Probe) -> Answer:
            question = pipeline.question(probe, self.plan.budget)
            return self.full.answer(conversation.turns[: probe.sees], probe, question)

        with ThreadPoolExecutor(self.services.settings.llm_concurrency, "questions") as pool:
            answers = [
                (system, list(pool.map(lambda probe, way=way: self._reply(probe, way, tick), probes)))
                for system, way in ((MEMORY, memory), (FULL_CONTEXT, full))
            ]
            graded = {
                system: list(pool.map(lambda probe, reply: self._graded(probe, reply, tick), probes, replies))
                for system, replies in answers
            }
        for place, probe in enumerate(probes):
            replies = {system: reply for system, found in graded.items() if (reply := found[place]) is not None}
            if len(replies) == len(graded):
                self.asked.append(Asked(conversation.id, probe, replies))

    def _reply(self, probe: Probe, ask: Callable[[Probe], Answer], tick: Callable[[], None]) -> Reply | None:
        """Not graded yet; None where the run has ended before."""
        if self._stopped is not None:
            return None
        began = time.perf_counter()
        try:
            found = ask(probe)
        except (ModelUnavailable, UnusableReply) as error:
            self._note(error)
            return Reply(failed=error.message, seconds=time.perf_counter() - began)
        finally:
            tick()
        self._note(None)
        text = "" if found.abstained else without_marks(found.text)
        return Reply(
            text=found.text,
            abstained=found.abstained,
            f1=token_f1(text, probe.answer, probe.category) if probe.answerable else float(found.abstained),
            usage=found.usage,
            turns=len(found.evidence.turns),
            of_turns=probe.sees,
            answerability=found.evidence.answerability,
            seconds=time.perf_counter() - began,
        )

    def _graded(self, probe: Probe, reply: Reply | None, tick: Callable[[], None]) -> Reply | None:
        """What needs no judge has none: an abstention, and a question that cannot be answered."""
        tick()
        if reply is None or reply.failed or not probe.answerable:
            return reply
        if reply.abstained:
            return replace(reply, verdicts={judge.name: False for judge in self.judges})
        meter = Meter()
        verdicts = {judge.name: self._verdict(judge, probe, reply.text, meter) for judge in self.judges}
        return replace(reply, verdicts=verdicts, grading=meter.usage)

    def _verdict(self, judge: Judge, probe: Probe, text: str, meter: Meter) -> bool | None:
        if self._stopped is not None:
            return None
        try:
            found = judge.grade(probe, text, meter)
        except ModelUnavailable as error:
            self._note(error)
            return None
        self._note(None)
        return found

    def _note(self, error: Exception | None) -> None:
        """An endpoint that was away so many times in a row will not come back."""
        with self._lock:
            self._failures = self._failures + 1 if isinstance(error, ModelUnavailable) else 0
            if isinstance(error, ModelUnavailable) and self._failures >= _PATIENCE:
                self._stopped = self._stopped or error

    def conditions(self, stopped: ModelUnavailable | None) -> dict[str, Any]:
        """What the figures depend on."""
        model = self.services.model_for(ModelRole.ANSWER)
        return {
            "model": model.model(ModelRole.ANSWER),
            "budget": self.plan.budget,
            "context": {"asked_for": self.plan.context, "used": self.full.tokens},
            "seed": self.plan.seed,
            "answer_threshold": self.services.settings.answer_threshold,
            "evaluator": self.services.settings.evaluator,
            "ingested": {
                "turns": self.turns,
                "seconds": round(self.seconds, 1),
                "a_turn": cost_of_a_turn(self.services, self.turns),
            },
            "ended_early": None if stopped is None else stopped.message,
            "versions": versions(self.services),
        }
