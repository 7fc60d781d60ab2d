"""Learn the weights of the turn ranking again, from conversations whose evidence is known.

    python -m memgraph_server.evaluation.learn FILE_OR_FOLDER --out ranking.json

A linear fusion, fitted listwise: each piece of evidence against all turns that are none (a softmax over the score).
Where a data set names sessions only, a session is found by any of its turns. The prior is the ranking that ships, and
`ridge` says how much evidence it takes to leave it: with three labelled people, little is learned and that is right.

What is learned: the weights of the signals and of length. What needs an order of turns first (a session's strength,
repetition) keeps its value. Before anything is written, each conversation is left out once: the file says how well the
weights learned on the others explain its evidence, beside the prior's (mean log-loss, lower is better), and from what
they were learned. The ranking that ships was not made by this command: on RealMem the learned weights find as much as
those set by hand, within the noise (docs/benchmarks.md).

Only learn weights that you pass on from data whose licence allows it. LoCoMo (CC BY-NC) measures; it trains nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgraph_server.actions.ask import find_evidence, shipped_ranking
from memgraph_server.actions.rank_turns import Ranked
from memgraph_server.evaluation.pipeline import Pipeline, namespace_of, opened
from memgraph_server.evaluation.transcripts import Conversation, Probe, read_conversations
from memgraph_server.retrieval.fusion import Ranking, features
from memgraph_server.settings import Settings

Array = NDArray[np.float64]

RIDGE = 100.0
STEPS = 50
_ENOUGH = 1e-6


@dataclass(frozen=True, slots=True)
class Example:
    """One question: `features`, shape (turns, signals), and for each piece of evidence the places of the turns that
    are it. `conversation` says what to leave out together."""

    conversation: str
    features: Array
    evidence: tuple[NDArray[np.int64], ...]


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
    """Mean over questions of −log of the share that the evidence gets."""
    return float(np.mean([_loss(example, weights)[0] for example in examples])) if examples else 0.0


def _objective(examples: Sequence[Example], weights: Array, prior: Array, ridge: float) -> tuple[float, Array, Array]:
    away = weights - prior
    loss, slope, curvature = 0.5 * ridge * float(away @ away), ridge * away, ridge * np.eye(len(weights))
    for example in examples:
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


def left_out(examples: Sequence[Example], prior: Array, ridge: float) -> dict[str, dict[str, float]]:
    """For each conversation, the log-loss of the prior and of weights learned on all others."""
    found = {}
    for name in dict.fromkeys(example.conversation for example in examples):
        held = [example for example in examples if example.conversation == name]
        others = [example for example in examples if example.conversation != name]
        learned = fit(others, prior, ridge) if others else prior
        found[name] = {"prior": round(log_loss(held, prior), 4), "learned": round(log_loss(held, learned), 4)}
    return found


def examples_of(conversations: Sequence[Conversation], settings: Settings, keep: Path | None) -> Iterator[Example]:
    """By the real pipeline and the real query path, as `eval` asks: no question sees its future."""
    with opened(settings, keep) as services:
        for conversation in conversations:
            pipeline = Pipeline(services, namespace_of(conversation, services))
            pipeline.erase()
            for said, asked in conversation.steps():
                pipeline.ingest(said)
                for probe in asked:
                    example = _example(conversation.id, probe, ranked(pipeline, probe)) if probe.answerable else None
                    if example is not None:
                        yield example


def ranked(pipeline: Pipeline, probe: Probe) -> Ranked:
    """The candidates of a question with their signals, before any budget."""
    seen: list[Ranked] = []
    services = pipeline.services
    find_evidence(
        services.store,
        pipeline.namespace,
        services.embedder.get(),
        pipeline.question(probe, 1),
        ranking=shipped_ranking(),
        registry=services.relations,
        watch=seen.append,
    )
    return seen[0]


def _example(conversation: str, probe: Probe, found: Ranked) -> Example | None:
    """None where no evidence is among the candidates: nothing can be learned from it."""
    wanted = probe.evidence_turns or probe.evidence_sessions
    names = [card.turn_id if probe.evidence_turns else card.session_id for card in found.cards]
    places = [np.flatnonzero([name == one for name in names]) for one in sorted(wanted)]
    evidence = tuple(place for place in places if len(place))
    if not evidence:
        return None
    return Example(conversation, features(found.cards, found.signals, shipped_ranking(), found.lexical_scale), evidence)


def learned(prior: Ranking, weights: Array) -> Ranking:
    names = [*prior.weights]
    return replace(prior, weights=dict(zip(names, weights[:-1].tolist(), strict=True)), length=float(weights[-1]))


def document(ranking: Ranking, about: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """As `schema/ranking.json`: numbers that a person can read, and where they are from."""
    return {
        "about": about,
        "learned_from": dict(source),
        "weights": {name: round(weight, 3) for name, weight in ranking.weights.items()},
        "scales": dict(ranking.scales),
        "length": round(ranking.length, 3),
        "session": ranking.session,
        "repeat": ranking.repeat,
        "answerability": dict(ranking.answerability),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m memgraph_server.evaluation.learn", description=__doc__)
    parser.add_argument("path", type=Path, help="conversations with known evidence: a file, or a folder of them")
    parser.add_argument("--out", type=Path, required=True, help="the ranking is written here")
    parser.add_argument("--ridge", type=float, default=RIDGE, help="how strongly the prior holds")
    parser.add_argument("--keep", type=Path, help="a folder for the store, kept afterwards")
    given = parser.parse_args(arguments)
    prior = shipped_ranking()
    start = np.array([*prior.weights.values(), prior.length])
    examples = list(examples_of(read_conversations(given.path), Settings(), given.keep))
    held = left_out(examples, start, given.ridge)
    source = {
        "files": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in _files(given.path)},
        "questions": len(examples),
        "ridge": given.ridge,
        "left_out": held,
    }
    ranking = learned(prior, fit(examples, start, given.ridge))
    about = "Weights of the turn ranking, learned listwise from the conversations below with the shipped ones as prior."
    given.out.write_text(json.dumps(document(ranking, about, source), indent=2) + "\n", encoding="utf-8")


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.json")) if path.is_dir() else [path]


if __name__ == "__main__":
    main()
