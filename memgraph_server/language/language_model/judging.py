"""The semantic evaluator of REAL (§III-B2) by a language model: all paths of a beam step in one call.

Scores are clamped to [0, 1]; a score that is missing, and a path that is, get the local evaluator's; so does a whole
step where the model gives nothing usable. Whether the model may stand aside when there is no endpoint, who asks says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memgraph_server.errors import ModelUnavailable
from memgraph_server.language import prompts
from memgraph_server.language.language_model.forms import ScoreForm, ScoresForm
from memgraph_server.language.language_model.spending import Meter
from memgraph_server.language.language_model.wire import clean
from memgraph_server.language.port import LanguageModel, ModelRole
from memgraph_server.memory.interval import isoformat
from memgraph_server.memory.proposals import triple_text
from memgraph_server.retrieval.beam import Scores, Trail
from memgraph_server.retrieval.evaluator import Evaluator, Features, LocalEvaluator
from memgraph_server.retrieval.evidence import Step
from memgraph_server.retrieval.question import Reading

#: Tokens of a reply: its frame, and a line for each path.
_FRAME, _A_PATH = 100, 45


class ModelEvaluator:
    """One for a question, since its meter is. `stands_aside`: without an endpoint the local evaluator judges."""

    name = "llm"

    def __init__(self, model: LanguageModel, meter: Meter, *, stands_aside: bool = False) -> None:
        self._model, self._meter, self._stands_aside = model, meter, stands_aside
        self._local: Evaluator = LocalEvaluator()

    def judge(self, question: Reading, trails: Sequence[Trail], features: Features) -> list[Scores]:
        """One call. Raises ModelUnavailable."""
        local = self._local.judge(question, trails, features)
        if not trails:
            return local
        messages = prompts.prompt(prompts.JUDGE).about(material(question, trails))
        try:
            reply = self._model.structured(ModelRole.JUDGE, messages, ScoresForm, _FRAME + _A_PATH * len(trails))
        except ModelUnavailable:
            if not self._stands_aside:
                raise
            self._meter.fallbacks += 1
            return local
        self._meter.add(reply.usage)
        if reply.value is None:
            self._meter.fallbacks += 1
            return local
        return filled(reply.value.scores, local)


def material(question: Reading, trails: Sequence[Trail]) -> Mapping[str, Any]:
    """The user message: the question, and each path as its triples with their time."""
    return {
        "question": clean(question.text),
        "now": isoformat(question.reference_time)[:10],
        "paths": [
            {"path": number, "root": clean(trail.anchor.name), "intent": trail.anchor.intent.value,
             "steps": [_step(step) for step in trail.steps]}
            for number, trail in enumerate(trails, start=1)
        ],
    }  # fmt: skip


def _step(step: Step) -> str:
    fact = step.fact
    until = "" if fact.valid_to is None else isoformat(fact.valid_to)[:10]
    inferred = f", inferred: {step.rule}" if step.rule else ""
    triple = triple_text(step.head_name, fact.relation, step.tail_name)[:300]
    return clean(f"{triple} ({isoformat(fact.valid_from)[:10]} – {until}{inferred})")


def filled(given: Sequence[ScoreForm], local: Sequence[Scores]) -> list[Scores]:
    """The model's scores by path; the local ones where it gave none. The first of two for one path counts."""
    by_path: dict[int, ScoreForm] = {}
    for score in given:
        by_path.setdefault(score.path, score)
    return [_scores(by_path.get(number), otherwise) for number, otherwise in enumerate(local, start=1)]


def _scores(given: ScoreForm | None, local: Scores) -> Scores:
    if given is None:
        return local
    return Scores(
        local.relevance if given.relevance is None else given.relevance,
        local.coherence if given.coherence is None else given.coherence,
        local.sufficiency if given.sufficiency is None else given.sufficiency,
        stop=given.stop,
    )
