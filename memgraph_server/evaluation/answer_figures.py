"""Figures from answers that were had, graded and counted. Pure, but for the table.

- shares are in percent, with 95 % bootstrap intervals over questions; `unjudged` answers are in no share;
- of the two ways to answer, the difference is taken question by question, where both were judged;
- cost is a mean over questions: `model_calls` and tokens of reading, judging paths and answering; grading is apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from rich.console import Console
from rich.table import Table

from memgraph_server.evaluation.judges import agreement
from memgraph_server.evaluation.recall import bootstrap_interval
from memgraph_server.evaluation.transcripts import Probe
from memgraph_server.language.port import Usage

MEMORY, FULL_CONTEXT = "memory", "full_context"
_SEED = 0
_COST = ("model_calls", "model_prompt_tokens", "model_completion_tokens", "model_fallbacks", "tokens")


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `failed`: why there is none; `verdicts`: by judge, None where it could not be read; `turns` shown
    `of_turns`; `grading`: what judging it took; `seconds` to answer."""

    text: str = ""
    abstained: bool = False
    failed: str = ""
    f1: float | None = None
    verdicts: Mapping[str, bool | None] = field(default_factory=dict)
    usage: Mapping[str, float] = field(default_factory=dict)
    grading: Usage = field(default_factory=Usage)
    turns: int = 0
    of_turns: int = 0
    answerability: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the answer of each system."""

    conversation: str
    probe: Probe
    replies: Mapping[str, Reply]


def build(name: str, asked: Sequence[Asked], judges: Sequence[str]) -> dict[str, Any]:
    answerable = [one for one in asked if one.probe.answerable]
    return {
        "file": name,
        "questions": len(asked),
        "questions_by_category": {key: len(group) for key, group in _by_category(asked).items()},
        "judges": list(judges),
        "systems": {system: _system(asked, system, judges) for system in (MEMORY, FULL_CONTEXT)},
        "difference": {judge: _difference(answerable, judge) for judge in judges},
        "agreement": [_agreement(answerable, *pair) for pair in combinations(judges, 2)],
        "answers": [_detail(one) for one in asked],
    }


# -- one system


def _system(asked: Sequence[Asked], system: str, judges: Sequence[str]) -> dict[str, Any]:
    answerable = [one for one in asked if one.probe.answerable]
    replies = [one.replies[system] for one in asked]
    return {
        "judged": {judge: _judged(answerable, system, judge) for judge in judges},
        "f1": _f1(asked, system),
        "abstention": _abstention(asked, system),
        "failed": sum(bool(reply.failed) for reply in replies),
        "a_question": _cost(replies),
        "grading": _grading(replies),
        "turns_shown": {
            "mean": _mean(reply.turns for reply in replies if not reply.failed),
            "whole_conversation": sum(reply.turns == reply.of_turns for reply in replies if not reply.failed),
        },
    }


def _judged(asked: Sequence[Asked], system: str, judge: str) -> dict[str, Any]:
    found = {key: _verdicts(group, system, judge) for key, group in {"all": asked, **_by_category(asked)}.items()}
    said = {key: [right for right in verdicts if right is not None] for key, verdicts in found.items()}
    return {
        **{key: _percent(right) for key, right in said.items()},
        "interval": _interval([float(right) for right in said["all"]]),
        "judged": len(said["all"]),
        "unjudged": len(found["all"]) - len(said["all"]),
    }


def _verdicts(asked: Sequence[Asked], system: str, judge: str) -> list[bool | None]:
    """None too where there is no answer."""
    return [one.replies[system].verdicts.get(judge) for one in asked]


def _f1(asked: Sequence[Asked], system: str) -> dict[str, Any]:
    """`all` over questions that can be answered; `with_unanswerable` as LoCoMo publishes it."""
    answerable = [one for one in asked if one.probe.answerable]
    scores = _scores(answerable, system)
    return {
        "all": _mean_percent(scores),
        **{key: _mean_percent(_scores(group, system)) for key, group in _by_category(asked).items()},
        "with_unanswerable": _mean_percent(_scores(asked, system)),
        "interval": _interval(scores),
    }


def _scores(asked: Iterable[Asked], system: str) -> list[float]:
    return [score for one in asked if (score := one.replies[system].f1) is not None]


def _abstention(asked: Sequence[Asked], system: str) -> dict[str, Any]:
    """`rightly`: of the questions that cannot be answered; `wrongly`: of those that can."""
    kinds: dict[bool, list[bool]] = {True: [], False: []}
    for one in asked:
        if not one.replies[system].failed:
            kinds[one.probe.answerable].append(one.replies[system].abstained)
    return {
        "unanswerable": len(kinds[False]),
        "rightly": _percent(kinds[False]),
        "answerable": len(kinds[True]),
        "wrongly": _percent(kinds[True]),
    }


def _cost(replies: Sequence[Reply]) -> dict[str, float | None]:
    had = [reply for reply in replies if not reply.failed]
    means = {name: _mean(reply.usage.get(name, 0.0) for reply in had) for name in _COST}
    return {"turn_tokens" if name == "tokens" else name: value for name, value in means.items()} | {
        "seconds": _mean(reply.seconds for reply in had)
    }


def _grading(replies: Sequence[Reply]) -> dict[str, int]:
    usage = sum((reply.grading for reply in replies), Usage())
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached": usage.cached,
    }


# -- between systems, and between judges


def _difference(asked: Sequence[Asked], judge: str) -> dict[str, Any]:
    """Memory minus full context, in points."""
    pairs = zip(_verdicts(asked, MEMORY, judge), _verdicts(asked, FULL_CONTEXT, judge), strict=True)
    gains = [float(a) - float(b) for a, b in pairs if a is not None and b is not None]
    return {"points": _mean_percent(gains), "interval": _interval(gains), "questions": len(gains)}


def _agreement(asked: Sequence[Asked], first: str, second: str) -> dict[str, Any]:
    """Over the answers of both systems that were put to judges."""
    put = [reply for one in asked for reply in one.replies.values() if not reply.abstained and not reply.failed]
    found = agreement(*([reply.verdicts.get(judge) for reply in put] for judge in (first, second)))
    return {
        "judges": [first, second],
        "answers": found.both,
        "same": None if found.same is None else round(100 * found.same, 1),
        "kappa": None if found.kappa is None else round(found.kappa, 3),
    }


def _detail(one: Asked) -> dict[str, Any]:
    return {
        "id": one.probe.id,
        "conversation": one.conversation,
        "category": one.probe.category,
        "question": one.probe.text,
        "gold": one.probe.answer,
        "answerable": one.probe.answerable,
        **{system: _shown(reply) for system, reply in one.replies.items()},
    }


def _shown(reply: Reply) -> dict[str, Any]:
    return {
        "answer": reply.text,
        "abstained": reply.abstained,
        "failed": reply.failed or None,
        "f1": None if reply.f1 is None else round(reply.f1, 4),
        "verdicts": dict(reply.verdicts),
        "answerability": reply.answerability,
        "turns": reply.turns,
        "of_turns": reply.of_turns,
        "usage": {name: value for name, value in reply.usage.items() if name in _COST},
        "seconds": round(reply.seconds, 2),
    }


def _by_category(asked: Iterable[Asked]) -> dict[str, list[Asked]]:
    groups: dict[str, list[Asked]] = {}
    for one in asked:
        groups.setdefault(one.probe.category, []).append(one)
    return dict(sorted(groups.items()))


def _percent(flags: Iterable[bool]) -> float | None:
    return _mean_percent(float(flag) for flag in flags)


def _mean_percent(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return round(100 * sum(numbers) / len(numbers), 2) if numbers else None


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return round(sum(numbers) / len(numbers), 2) if numbers else None


def _interval(values: Sequence[float]) -> list[float] | None:
    if not values:
        return None
    low, high = bootstrap_interval(values, seed=_SEED)
    return [round(100 * low, 2), round(100 * high, 2)]


# -- for people


def show(result: Mapping[str, Any], console: Console) -> None:
    """One row a system and measure; everything is in the JSON too."""
    categories = list(result["questions_by_category"])
    table = Table(title=f"Answers: {result['file']}, {result['questions']} questions (percent)", title_justify="left")
    for column in ("", "by", "all", "95 %", *categories, "no verdict"):
        table.add_column(column.replace("_", " "), justify="left" if column in {"", "by"} else "right", overflow="fold")
    for system, found in result["systems"].items():
        for judge, of in found["judged"].items():
            table.add_row(*_row(system, judge, of, categories), str(of["unjudged"]))
        table.add_row(*_row(system, "token F1", found["f1"], categories), str(found["failed"]))
        table.add_section()
    console.print(table)
    for system, found in result["systems"].items():
        console.print(_line(system, found), markup=False, highlight=False)
    for line in _comparisons(result):
        console.print(line, markup=False, highlight=False)


def _row(system: str, by: str, of: Mapping[str, Any], categories: Sequence[str]) -> list[str]:
    interval = of["interval"]
    band = f"{interval[0]:.0f}–{interval[1]:.0f}" if interval else "–"
    return [system.replace("_", " "), by, _or_none(of["all"]), band, *(_or_none(of.get(each)) for each in categories)]


def _line(system: str, found: Mapping[str, Any]) -> str:
    abstained, cost, shown = found["abstention"], found["a_question"], found["turns_shown"]
    tokens = f"{_or_none(cost['model_prompt_tokens'])} + {_or_none(cost['model_completion_tokens'])} tokens"
    parts = [
        f"abstains on {_or_none(abstained['rightly'])} % of {abstained['unanswerable']} that cannot be answered",
        f"on {_or_none(abstained['wrongly'])} % of {abstained['answerable']} that can",
        f"a question: {_or_none(cost['model_calls'])} calls, {tokens}, {_or_none(shown['mean'])} turns shown",
        f"the whole conversation {shown['whole_conversation']} times",
        f"{found['failed']} failed",
    ]
    return f"{system.replace('_', ' ')}: {'; '.join(parts)}"


def _comparisons(result: Mapping[str, Any]) -> Iterable[str]:
    for judge, of in result["difference"].items():
        if of["interval"]:
            low, high = of["interval"]
            yield f"{judge}: memory less full context {of['points']:+.1f} points ({low:+.0f} to {high:+.0f})"
    for pair in result["agreement"]:
        kappa = "–" if pair["kappa"] is None else f"{pair['kappa']:.2f}"
        yield f"{' and '.join(pair['judges'])} agree on {_or_none(pair['same'])} % of {pair['answers']}, kappa {kappa}"


def _or_none(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
