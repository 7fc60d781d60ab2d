"""Judges of answers: a prompt, with its version in its name, and a model; several may judge the same answers.

    grade-1                  the prompt of that name, the model of the judge role
    grade-locomo-1@MODEL     another model at the judge role's endpoint
    ./mine-2.md@MODEL        a prompt of one's own, in a file

Rules:
- a judge sees question, gold answer, category, time and the answer without its citations, as JSON: an answer that
  grades itself is material like any other;
- a reply from which no verdict can be read is none: it is counted, and nothing is guessed (`None`);
- whether judges agree is measured over the answers that both have judged: the share, and Cohen's kappa.

The prompts `grade-locomo-1` and `grade-longmemeval-1` follow the rules of the protocols that are published for these
data sets, in this project's words; figures of other wordings may differ by some points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.transcripts import Probe
from memgraph_server.language import prompts
from memgraph_server.language.language_model.answering import without_marks
from memgraph_server.language.language_model.client import CompatibleModel
from memgraph_server.language.language_model.forms import GradeForm
from memgraph_server.language.language_model.spending import Meter
from memgraph_server.language.language_model.wire import clean
from memgraph_server.language.port import ModelRole
from memgraph_server.language.prompts import Prompt
from memgraph_server.memory.interval import isoformat

DEFAULT = "grade-1"
_MOST_TOKENS = 200
_VERDICTS = {
    True: {"correct", "right", "yes", "true", "accurate", "1"},
    False: {"wrong", "incorrect", "no", "false", "inaccurate", "0", "partially correct", "partly correct", "partial"},
}


@dataclass(frozen=True, slots=True)
class Judge:
    prompt: Prompt
    model: CompatibleModel

    @property
    def name(self) -> str:
        return f"{self.prompt.name}@{self.model.model(ModelRole.JUDGE)}"

    def grade(self, probe: Probe, answer: str, meter: Meter) -> bool | None:
        """Whether the answer is right; None where the reply has no verdict. Raises ModelUnavailable."""
        material = {
            "question": clean(probe.text),
            "category": probe.category,
            "now": isoformat(probe.asked_at),
            "gold": clean(probe.answer),
            "answer": clean(without_marks(answer)),
        }
        reply = self.model.structured(ModelRole.JUDGE, self.prompt.about(material), GradeForm, _MOST_TOKENS)
        meter.add(reply.usage)
        return verdict(reply.value.verdict) if reply.value is not None else None


def verdict(said: str) -> bool | None:
    """Only what is one verdict and nothing else."""
    word = " ".join(said.strip(" .!*'\"").lower().split())
    return next((right for right, words in _VERDICTS.items() if word in words), None)


@contextmanager
def judges_of(specs: Sequence[str], model: CompatibleModel | None) -> Iterator[list[Judge]]:
    """The judges that are named, each once. Raises InvalidInput for a prompt that is not there."""
    with ExitStack() as opened:
        found: dict[str, Judge] = {}
        for spec in dict.fromkeys(specs):
            assert model is not None  # noqa: S101 - whoever names a judge has asked for its role
            name, _, other = spec.partition("@")
            prompt = _prompt(name)
            asked = model.asking(ModelRole.JUDGE, other) if other else model
            if other:
                opened.callback(asked.close)
            judge = Judge(prompt, asked)
            if judge.name in found:
                raise InvalidInput(f"two judges are called {judge.name}", field="judge")
            found[judge.name] = judge
        yield list(found.values())


def _prompt(name: str) -> Prompt:
    if name.endswith(".md"):
        return Prompt(Path(name).stem, _text(Path(name)))
    known = [each for each in prompts.names() if each.startswith("grade-")]
    if name not in known:
        raise InvalidInput(f"no judge {name!r}: say {', '.join(known)}, or a file that ends in .md", field="judge")
    return prompts.prompt(name)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path.name} cannot be read as a prompt: {type(error).__name__}", field="judge") from None


# -- whether they agree


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over `both` answers: `same`: the share on which they agree; `kappa`: None where chance alone explains all."""

    both: int
    same: float | None
    kappa: float | None


def agreement(first: Sequence[bool | None], second: Sequence[bool | None]) -> Agreement:
    """Of two judges over the same answers, in order."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    if not pairs:
        return Agreement(0, None, None)
    count = len(pairs)
    same = sum(a == b for a, b in pairs) / count
    yes = sum(a for a, _ in pairs) / count, sum(b for _, b in pairs) / count
    chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    return Agreement(count, same, (same - chance) / (1 - chance) if chance < 1 else None)
