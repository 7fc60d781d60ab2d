"""`memgraph-server eval --fit OUT`: the weights of the turn ranking, fitted to transcripts whose evidence is known.

A linear fusion, fitted listwise: each piece of evidence against all turns that are none (a softmax over the score).
Where a data set names sessions only, a session is found by any of its turns. The prior is the ranking that ships, and
`ridge` says how much evidence it takes to leave it: with three labelled people, little is learned and that is right.

What is fitted: the weights of the signals and of length. What needs an order of turns first (a session's strength,
repetition) keeps its value. Each conversation is left out once, and weights fitted to the others are held against the
ranking that ships on it, by the recall that `eval` measures. OUT is written only where the fitted weights find more on
what they have not seen; it says what, and from what they were fitted. `MEMGRAPH_SERVER_RANKING=OUT` puts it to use.

The ranking that ships was not made by this command: on RealMem fitted weights find as much as those set by hand, within
the noise (docs/benchmarks.md). Only pass weights on that were fitted to data whose licence allows it: LoCoMo (CC
BY-NC) measures; it trains nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from memgraph_server.actions.ask import find_evidence, shipped_ranking, vectors_of
from memgraph_server.actions.rank_turns import Ranked
from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.pipeline import Pipeline, namespace_of, opened
from memgraph_server.evaluation.progress import progress_on
from memgraph_server.evaluation.transcripts import Conversation, Probe, read_conversations
from memgraph_server.retrieval.budget import choose
from memgraph_server.retrieval.evidence import tokens_of
from memgraph_server.retrieval.fusion import Ranking, features, fuse
from memgraph_server.settings import Settings
from memgraph_server.stores.port import TurnCard

Array = NDArray[np.float64]

#: Tokens at which the fitted ranking is held against the one that ships.
BUDGET = 2048
RIDGE = 100.0
STEPS = 50
_ENOUGH = 1e-6


@dataclass(frozen=True, slots=True)
class Example:
    """One question: `features`, shape (turns, signals), and for each piece of evidence the places of the turns that
    are it. `conversation` says what to leave out together; `seen`: what it takes to rank the turns anew."""

    conversation: str
    features: Array
    evidence: tuple[NDArray[np.int64], ...]
    seen: Seen | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A question's candidates, the ids that count as evidence, candidate by candidate, and those that are wanted."""

    ranked: Ranked
    ids: tuple[str, ...]
    wanted: frozenset[str]

    def found_by(self, ranking: Ranking, *budgets: int) -> list[bool]:
        """Whether all that is wanted is among the turns that fit each budget."""
        cards, ranked = self.ranked.cards, self.ranked
        fused = fuse(cards, ranked.signals, ranking, ranked.lexical_scale, sought=ranked.sought)
        tokens, scores = [tokens_of(card.characters) for card in cards], fused.score.tolist()
        vectors = vectors_of(cards)
        chosen = [choose(tokens, scores, budget, vectors) for budget in budgets]
        return [self.wanted <= {self.ids[place] for place in places} for places in chosen]


def fit(examples: Sequence[Example], prior: Array, ridge: float = RIDGE) -> Array:
    """The weights of least loss, by damped Newton steps from the prior; the curvature is that of the softmax over all
    turns, so that each step goes downhill."""
    weights = prior.astype(np.float64)
    loss, slope, curvature = _objective(examples, weights, prior, ridge)
    for _ in range(STEPS):
        step = np.linalg.solve(curvature, slope)
        size = 1.0
        while size > _ENOUGH:
            tried = _objective(examples, weights - size * step, prior, ridge)
            if tried[0] < loss:
                break
            size /= 2
        else:
            return weights
        weights, gain = weights - size * step, loss - tried[0]
        loss, slope, curvature = tried
        if gain < _ENOUGH * max(1.0, abs(loss)):
            return weights
    return weights


def log_loss(examples: Sequence[Example], weights: Array) -> float:
    """Mean over questions of −log of the share that the evidence gets; of those with any among the candidates."""
    told = [_loss(example, weights)[0] for example in examples if example.evidence]
    return float(np.mean(told)) if told else 0.0


def _objective(examples: Sequence[Example], weights: Array, prior: Array, ridge: float) -> tuple[float, Array, Array]:
    away = weights - prior
    loss, slope, curvature = 0.5 * ridge * float(away @ away), ridge * away, ridge * np.eye(len(weights))
    for example in examples:
        if not example.evidence:  # none of it is among the candidates: nothing to learn from
            continue
        one, gradient, spread = _loss(example, weights)
        loss, slope, curvature = loss + one, slope + gradient, curvature + spread
    return loss, slope, curvature


def _loss(example: Example, weights: Array) -> tuple[float, Array, Array]:
    """Loss, its gradient and curvature; each piece of evidence counts alike, and is no rival of another."""
    all_found = np.unique(np.concatenate(example.evidence))
    others = np.setdiff1d(np.arange(len(example.features)), all_found)
    loss, slope, curvature = 0.0, np.zeros(len(weights)), np.zeros((len(weights), len(weights)))
    for places in example.evidence:
        rows = example.features[np.concatenate([places, others])]
        scores = rows @ weights
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        found = shares[: len(places)]
        mean = shares @ rows
        loss -= float(np.log(max(found.sum(), 1e-300)))
        slope += mean - (found / max(found.sum(), 1e-300)) @ rows[: len(places)]
        curvature += (rows * shares[:, None]).T @ rows - np.outer(mean, mean)
    count = len(example.evidence)
    return loss / count, slope / count, curvature / count


def left_out(examples: Sequence[Example], prior: Ranking, ridge: float) -> dict[str, dict[str, float]]:
    """For each conversation, of the ranking that ships and of weights fitted to all others: recall in percent, and
    log-loss."""
    found = {}
    start = weights_of(prior)
    for name in dict.fromkeys(example.conversation for example in examples):
        held = [example for example in examples if example.conversation == name]
        weights = fit([example for example in examples if example.conversation != name], start, ridge)
        rankings = {"shipped": (prior, start), "fitted": (fitted(prior, weights), weights)}
        found[name] = {"questions": float(len(held))}
        for what, (ranking, weighed) in rankings.items():
            found[name] |= {what: recall(held, ranking), f"{what}_log_loss": round(log_loss(held, weighed), 4)}
    return found


def recall(examples: Sequence[Example], ranking: Ranking) -> float:
    """Percent of questions with all their evidence in the budget."""
    seen = [example.seen for example in examples if example.seen is not None]
    return round(100.0 * float(np.mean([one.found_by(ranking, BUDGET) for one in seen])), 2) if seen else 0.0


def examples_of(
    conversations: Sequence[Conversation], settings: Settings, keep: Path | None, progress: Progress
) -> Iterator[Example]:
    """By the real pipeline and the real query path, as `eval` asks: no question sees its future."""
    with opened(settings, keep) as services:
        for conversation in conversations:
            pipeline = Pipeline(services, namespace_of(conversation, services))
            pipeline.erase()
            reading = progress.add_task(f"{conversation.id}: turns", total=len(conversation.turns))
            cards: dict[int, TurnCard] = {}
            for said, asked in conversation.steps():
                pipeline.ingest(said, lambda more, task=reading: progress.advance(task, more))  # type: ignore[misc]
                for probe in asked:
                    if probe.answerable:
                        yield _example(conversation.id, probe, without_tokens(ranked(pipeline, probe), cards))


def without_tokens(found: Ranked, known: dict[int, TurnCard]) -> Ranked:
    """Token vectors have had their say; without them, and with each turn's card once, thousands of questions fit into
    memory."""
    cards = [known.setdefault(card.handle, replace(card, token_bits=None)) for card in found.cards]
    return replace(found, cards=cards)


def ranked(pipeline: Pipeline, probe: Probe, budget: int = 1) -> Ranked:
    """The candidates of a question with their signals, before any is left out; more of them for a large budget."""
    seen: list[Ranked] = []
    services = pipeline.services
    find_evidence(
        services.store,
        pipeline.namespace,
        services.embedder.get(),
        pipeline.question(probe, budget),
        ranking=shipped_ranking(),
        registry=services.relations,
        watch=seen.append,
    )
    return seen[0]


def seen_of(probe: Probe, found: Ranked) -> Seen:
    ids = tuple(card.turn_id if probe.evidence_turns else card.session_id for card in found.cards)
    return Seen(found, ids, probe.evidence_turns or probe.evidence_sessions)


def _example(conversation: str, probe: Probe, found: Ranked) -> Example:
    seen = seen_of(probe, found)
    places = [np.flatnonzero([each == one for each in seen.ids]) for one in sorted(seen.wanted)]
    columns = features(found.cards, found.signals, shipped_ranking(), found.lexical_scale)
    return Example(conversation, columns, tuple(place for place in places if len(place)), seen)


def weights_of(ranking: Ranking) -> Array:
    """What is fitted, as one row."""
    return np.array([*ranking.weights.values(), ranking.length])


def fitted(prior: Ranking, weights: Array) -> Ranking:
    return replace(
        prior, weights=dict(zip(prior.weights, weights[:-1].tolist(), strict=True)), length=float(weights[-1])
    )


def document(ranking: Ranking, about: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """As `schema/ranking.json`: numbers that a person can read, and where they are from."""
    return {
        "about": about,
        "fitted_to": dict(source),
        "weights": {name: round(weight, 3) for name, weight in ranking.weights.items()},
        "scales": dict(ranking.scales),
        "length": round(ranking.length, 3),
        "session": ranking.session,
        "repeat": dict(ranking.repeat),
        "answerability": dict(ranking.answerability),
    }


def fit_ranking(
    path: Path,
    out: Path,
    *,
    settings: Settings,
    ridge: float = RIDGE,
    keep: Path | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Fit, hold against the ranking that ships, and write where it finds more; the report. Raises InvalidInput for
    fewer than two conversations: nothing would be left to hold it against."""
    console = console or Console(quiet=True)
    conversations = read_conversations(path)
    if len(conversations) < 2:
        raise InvalidInput("a fit needs two conversations at least: one to fit to, one to measure on", field="path")
    with progress_on(console) as progress:
        examples = list(examples_of(conversations, settings, keep, progress))
    prior = shipped_ranking()
    held = left_out(examples, prior, ridge)
    shipped, better = (_over_all(held, what) for what in ("shipped", "fitted"))
    source = {
        "files": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in _files(path)},
        "questions": len(examples),
        "ridge": ridge,
        "budget": BUDGET,
        "left_out": held,
    }
    result = {"shipped": shipped, "fitted": better, "written": better > shipped, **source}
    if better > shipped:
        ranking = fitted(prior, fit(examples, weights_of(prior), ridge))
        about = "Weights of the turn ranking, fitted listwise to the conversations below from those that ship."
        written(out, json.dumps(document(ranking, about, source), indent=2) + "\n")
    show(result, out, console)
    return result


def written(out: Path, text: str) -> None:
    """Under another name until it is complete: a server may read the file, and what was there is worth something."""
    part = out.with_name(f"{out.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(out)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _over_all(held: Mapping[str, Mapping[str, float]], what: str) -> float:
    """Over all questions, each by weights that have not seen its conversation."""
    questions = sum(each["questions"] for each in held.values())
    return round(sum(each[what] * each["questions"] for each in held.values()) / questions, 2) if questions else 0.0


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.json")) if path.is_dir() else [path]


def show(result: Mapping[str, Any], out: Path, console: Console) -> None:
    table = Table(title=f"Questions with all evidence at {BUDGET:,} tokens, percent, by weights that did not see them")
    for column in ("conversation", "questions", "shipped", "fitted to the others"):
        table.add_column(column, justify="left" if column == "conversation" else "right")
    for name, each in result["left_out"].items():
        table.add_row(name, f"{each['questions']:.0f}", f"{each['shipped']:.1f}", f"{each['fitted']:.1f}")
    table.add_section()
    table.add_row("all", str(result["questions"]), f"{result['shipped']:.1f}", f"{result['fitted']:.1f}")
    console.print(table)
    if result["written"]:
        console.print(f"{out} is written; MEMGRAPH_SERVER_RANKING={out} puts it to use")
    else:
        console.print("the fitted weights find no more than those that ship: nothing is written")
