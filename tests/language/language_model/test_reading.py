"""Questions read by a language model: what it says counts where the question's own words bear it out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memgraph_server.language.language_model.client import CompatibleModel
from memgraph_server.language.language_model.forms import QuestionForm
from memgraph_server.language.language_model.reading import ModelQuestionReader, hints
from memgraph_server.language.language_model.spending import Meter
from memgraph_server.memory.facts import Intent
from memgraph_server.memory.interval import instant, isoformat
from memgraph_server.retrieval.evidence import Question
from tests.language.language_model.scripted_server import Script, says, says_json

NOW = instant(datetime(2023, 5, 8, 12, tzinfo=UTC))


def ask(text: str, **more: object) -> Question:
    return Question(text, now=NOW, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("roots", "expected"),
    [
        ([{"name": "Ann", "intent": "CAUSAL"}, {"name": "Paris", "intent": "temporal"}],
         (("Ann", Intent.CAUSAL), ("Paris", Intent.TEMPORAL))),
        ([{"name": "ann", "intent": "why"}], (("ann", Intent.FACT),)),
        ([{"name": "Elvis", "intent": "FACT"}], ()),
        ([{"entity": "Bob"}], (("Bob", Intent.FACT),)),  # in the history
        ([{"name": "I", "intent": "FACT"}], (("Carol", Intent.FACT),)),  # who asks
        ([{"name": name} for name in ("Ann", "Ann", "did", "leave", "Paris", "Why")],
         tuple((name, Intent.FACT) for name in ("Ann", "did", "leave", "Paris"))),
        ([], ()),
    ],
)  # fmt: skip
def test_roots_are_names_that_the_question_bears(
    roots: list[dict[str, str]], expected: tuple[tuple[str, Intent], ...]
) -> None:
    parsed = QuestionForm.model_validate(
        {"roots": [{"name": root.get("name", root.get("entity")), **root} for root in roots]}
    )
    question = ask("Why did Ann leave Paris?", history=("Bob and I talked.",), speaker="Carol")
    assert hints(parsed, question).roots == expected


@pytest.mark.parametrize(
    ("when", "start"),
    [("in May 2021", "2021-05-01"), ("2021-07-01", None), ("last year", None), ("", None)],
)
def test_its_time_is_read_from_the_questions_words(when: str, start: str | None) -> None:
    found = hints(QuestionForm(when=when), ask("Where did Ann live in May 2021?")).period
    assert (None if found is None else isoformat(found.start)[:10]) == start


def test_one_call_reads_a_question(model: CompatibleModel, script: Script) -> None:
    script.play(says_json({"roots": [{"name": "Ann", "intent": "CAUSAL"}], "when": "", "uncertain": True}))
    meter = Meter()
    found = ModelQuestionReader(model, meter).read(ask("Why might Ann leave?"), ["Ann", "Bob"])
    assert found is not None
    assert (found.roots, found.uncertain) == ((("Ann", Intent.CAUSAL),), True)
    assert (len(script.asked), meter.usage.calls) == (1, 1)
    assert script.asked[0].material["people"] == ["Ann", "Bob"]


def test_a_reply_that_says_nothing_gives_no_hints(model: CompatibleModel, script: Script) -> None:
    script.play(says("Ann, I think."))
    assert ModelQuestionReader(model, Meter()).read(ask("Why might Ann leave?"), []) is None
