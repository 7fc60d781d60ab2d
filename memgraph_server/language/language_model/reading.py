"""What a question asks for, by a language model: roots with an intent each, its time, whether guesses are wanted.

The model proposes; here is decided: a root counts where the question, its history or the asker bears that name; the
time is read from the question's own words by `memory.dates`; everything else is the local reading's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgraph_server.language import prompts
from memgraph_server.language.language_model.forms import QuestionForm
from memgraph_server.language.language_model.grounding import span_of
from memgraph_server.language.language_model.spending import Meter
from memgraph_server.language.language_model.wire import clean
from memgraph_server.language.port import LanguageModel, ModelRole
from memgraph_server.memory.dates import find_dates
from memgraph_server.memory.facts import Intent
from memgraph_server.memory.interval import Interval
from memgraph_server.retrieval.evidence import Question

_MOST_ROOTS, _MOST_TOKENS = 4, 300
#: Messages of the live prompt that are shown, and characters of each.
_HISTORY, _LONGEST = 6, 500


@dataclass(frozen=True, slots=True)
class Hints:
    """`period`: of the words that say which time is asked about; None where no words do."""

    roots: tuple[tuple[str, Intent], ...] = ()
    period: Interval | None = None
    uncertain: bool = False


class ModelQuestionReader:
    """One call a question."""

    def __init__(self, model: LanguageModel, meter: Meter) -> None:
        self._model, self._meter = model, meter

    def read(self, question: Question, speakers: Sequence[str]) -> Hints | None:
        """None where the model gave nothing usable. Raises ModelUnavailable."""
        material = {
            "question": clean(question.text),
            "speaker": clean(question.speaker or ""),
            "people": [clean(name) for name in speakers[:20]],
            "history": [clean(text[:_LONGEST]) for text in question.history[-_HISTORY:]],
        }
        messages = prompts.prompt(prompts.READ).about(material)
        reply = self._model.structured(ModelRole.READ, messages, QuestionForm, _MOST_TOKENS)
        self._meter.add(reply.usage)
        return hints(reply.value, question) if reply.value is not None else None


def hints(form: QuestionForm, question: Question) -> Hints:
    """What of the reply holds against the question's words."""
    texts = [question.text, *question.history, question.speaker or ""]
    roots: dict[str, Intent] = {}
    for root in form.roots[: 2 * _MOST_ROOTS]:
        name = (question.speaker or "") if root.name.casefold() in {"i", "me", "speaker"} else root.name
        if name and any(name.casefold() in text.casefold() for text in texts):
            roots.setdefault(name, _intent(root.intent))
    return Hints(tuple(roots.items())[:_MOST_ROOTS], _period(form.when, question), form.uncertain)


def _intent(said: str) -> Intent:
    try:
        return Intent(said.strip().upper())
    except ValueError:
        return Intent.FACT


def _period(when: str, question: Question) -> Interval | None:
    span = span_of(when, question.text) if when else None
    if span is None:
        return None
    at = question.now if question.reference_time is None else question.reference_time
    for one in find_dates(question.text, at):
        if one.start is not None and one.span[0] < span[1] and span[0] < one.span[1]:
            return Interval(one.start, one.end)
    return None
