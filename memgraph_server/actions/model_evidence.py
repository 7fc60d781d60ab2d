"""Evidence for a question with a language model as reader and judge (REAL, §III-B), where the caller wants one.

One call reads the question, one a beam step judges. Where no endpoint answers, MEMGRAPH_SERVER_LLM_FALLBACK decides:
the local reader and evaluator stand in, and `usage.model_fallbacks` says how often, or the error goes to the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from memgraph_server.actions import ask as asking
from memgraph_server.actions.ask import ask
from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.language_model.client import CompatibleModel
from memgraph_server.language.language_model.judging import ModelEvaluator
from memgraph_server.language.language_model.reading import Hints, ModelQuestionReader
from memgraph_server.language.language_model.spending import Meter
from memgraph_server.language.port import ModelRole
from memgraph_server.retrieval.evidence import Evidence, Question
from memgraph_server.settings import Settings


class Services(asking.Services, Protocol):
    """What is taken of the program's services."""

    @property
    def settings(self) -> Settings: ...
    def model_for(self, *roles: ModelRole) -> CompatibleModel: ...


def gather(services: Services, namespace: str, question: Question, evaluator: str | None) -> Evidence:
    """`evaluator`: "local", "llm", or None for the configured one. Raises ModelUnavailable, StoreUnavailable."""
    if (evaluator or services.settings.evaluator) == "local":
        return ask(services, namespace, question)
    model = services.model_for(ModelRole.JUDGE, ModelRole.READ)
    model.spending.asked_about("query")
    meter, stands_aside = Meter(), services.settings.llm_fallback == "local"
    evidence = ask(
        services,
        namespace,
        question,
        evaluator=ModelEvaluator(model, meter, stands_aside=stands_aside),
        reader=_Reader(model, meter, stands_aside),
    )
    if meter.fallbacks:
        model.spending.fell_back("query", meter.fallbacks)
    return replace(evidence, usage={**evidence.usage, **meter.as_usage()})


class _Reader:
    """The question reader, standing aside where it may."""

    def __init__(self, model: CompatibleModel, meter: Meter, stands_aside: bool) -> None:
        self._inner, self._meter, self._stands_aside = ModelQuestionReader(model, meter), meter, stands_aside

    def __call__(self, question: Question, speakers: Sequence[str]) -> Hints | None:
        try:
            found = self._inner.read(question, speakers)
        except ModelUnavailable:
            if not self._stands_aside:
                raise
            found = None
        if found is None:
            self._meter.fallbacks += 1
        return found
