"""From a question to an answer with citations: evidence, one call of the answering model, and code that checks it.

Abstains, without a call, where the calibrated chance that the memory holds the answer is below the threshold of the
settings, or nothing was found; and where the model says that the material does not hold it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from memgraph_server.actions.model_evidence import Services, gather
from memgraph_server.language import prompts
from memgraph_server.language.language_model import answering
from memgraph_server.language.language_model.answering import Citation
from memgraph_server.language.language_model.client import CompatibleModel
from memgraph_server.language.language_model.spending import Meter
from memgraph_server.language.port import ModelRole
from memgraph_server.retrieval.evidence import Evidence, Question


@dataclass(frozen=True, slots=True)
class Answer:
    """`text`: with its marks; `citations`: what they stand for; `model` "" where none was asked."""

    text: str
    abstained: bool
    citations: tuple[Citation, ...]
    evidence: Evidence
    model: str
    usage: dict[str, float]


@dataclass(slots=True)
class Answering:
    """An answer as it comes: iterate `pieces`, then read `answer`."""

    evidence: Evidence
    model: str
    known: dict[str, Citation]
    pieces: Iterator[str]
    meter: Meter
    text: list[str] = field(default_factory=list)
    abstained: bool = False

    def __iter__(self) -> Iterator[str]:
        for piece in self.pieces:
            self.text.append(piece)
            yield piece

    @property
    def answer(self) -> Answer:
        text = "".join(self.text).strip()
        if self.abstained or text == answering.NOT_FOUND or answering.is_unknown(text):
            return self._answer(answering.NOT_FOUND, abstained=True)
        return self._answer(text, abstained=False)

    def _answer(self, text: str, *, abstained: bool) -> Answer:
        cited = () if abstained else answering.cited(text, self.known)
        usage = dict(self.evidence.usage)
        for name, value in self.meter.as_usage().items():
            usage[name] = usage.get(name, 0.0) + value
        return Answer(text, abstained, cited, self.evidence, self.model, usage)


def begin(services: Services, namespace: str, question: Question, evaluator: str | None) -> Answering:
    """The answer from its first words on: what can go wrong with the endpoint has gone wrong by then.

    Raises ModelUnavailable (also where no model is set), UnusableReply, StoreUnavailable.
    """
    model = services.model_for(ModelRole.ANSWER)
    evidence = gather(services, namespace, question, evaluator)
    return begin_from(model, evidence, services.settings.answer_threshold)


def begin_from(model: CompatibleModel, evidence: Evidence, threshold: float = 0.0) -> Answering:
    """The answer that this evidence gives; an abstention below the threshold. Raises as `begin`."""
    known, meter = answering.sources(evidence), Meter()
    if evidence.answerability < threshold or not known:
        return Answering(evidence, "", known, iter([answering.NOT_FOUND]), meter, abstained=True)
    model.spending.asked_about("answer")
    messages = prompts.prompt(prompts.ANSWER).about(answering.material(evidence))
    raw = model.stream(ModelRole.ANSWER, messages, answering.MOST_TOKENS, meter.add)
    pieces = _begun(answering.checked(raw, known))
    return Answering(evidence, model.model(ModelRole.ANSWER), known, pieces, meter)


def _begun(pieces: Iterator[str]) -> Iterator[str]:
    """The same pieces, the first ones read already: enough to know an abstention, which is replaced by its sentence."""
    head = ""
    for piece in pieces:
        head += piece
        if len(head.strip()) > len("UNKNOWN."):
            break
    if answering.is_unknown(head):
        for _ in pieces:  # to its end, so that it is counted
            pass
        return iter([answering.NOT_FOUND])
    return chain([head], pieces)


def answer(services: Services, namespace: str, question: Question, evaluator: str | None) -> Answer:
    """The whole answer. Raises as `begin`; ModelUnavailable too where it breaks off."""
    return whole(begin(services, namespace, question, evaluator))


def whole(coming: Answering) -> Answer:
    """Waits for all of it."""
    for _ in coming:
        pass
    return coming.answer
