"""What is measured, as pure functions of what was returned. No store, no clock; randomness is a seed.

Rules, those of retainkit 0.1.0 with whole turns, so that figures can be compared:
- a question counts when *all* its evidence turns are whole in the returned context (or, where a data set names
  sessions only, when each evidence session has a returned turn); partial recall is the share that is there;
- the age of a question's evidence is the number of sessions from its oldest evidence to the last session it sees;
- evidence is reached *by the graph* where every evidence turn came by a fact or by the cascade from one, not by the
  turn search that fills the rest.

That the evidence is there is necessary for a right answer, not sufficient: this measures a ceiling.
Figures are in percent, intervals are 95 % bootstrap intervals over questions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memgraph_server.evaluation.transcripts import Conversation, Probe

#: (name, fewest, most) sessions back; the last is open. As in retainkit, so that the splits line up.
AGES = (("same_session", 0, 0), ("1_to_2", 1, 2), ("3_to_5", 3, 5), ("6_to_10", 6, 10), ("11_or_more", 11, 10**9))
RESAMPLES = 1000
#: Answerability below which a caller may choose not to answer.
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Returned:
    """One returned turn, as far as the measure cares."""

    turn_id: str
    session_id: str
    by_graph: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question under one budget. `partial`, `graph_share`: shares in [0, 1] of the evidence."""

    probe_id: str
    conversation: str
    category: str
    answerable: bool
    age: int
    covered: bool
    partial: float
    graph_share: float
    tokens: int
    answerability: float | None = None
    milliseconds: float | None = None


def coverage(probe: Probe, returned: Iterable[Returned]) -> float:
    """The share of the question's evidence that was returned; 1.0 is all of it."""
    returned = list(returned)
    if probe.evidence_turns:
        return len(probe.evidence_turns & {r.turn_id for r in returned}) / len(probe.evidence_turns)
    if probe.evidence_sessions:
        return len(probe.evidence_sessions & {r.session_id for r in returned}) / len(probe.evidence_sessions)
    return 0.0


def outcome(
    conversation: Conversation,
    probe: Probe,
    returned: Sequence[Returned],
    *,
    tokens: int,
    answerability: float | None = None,
    milliseconds: float | None = None,
) -> Outcome:
    found = coverage(probe, returned)
    return Outcome(
        probe_id=probe.id,
        conversation=conversation.id,
        category=probe.category,
        answerable=probe.answerable,
        age=evidence_age(conversation, probe),
        covered=found == 1.0,
        partial=found,
        graph_share=coverage(probe, (r for r in returned if r.by_graph)),
        tokens=tokens,
        answerability=answerability,
        milliseconds=milliseconds,
    )


def evidence_age(conversation: Conversation, probe: Probe) -> int:
    """Sessions between the question's oldest evidence and the last session it sees."""
    seen = list(dict.fromkeys(turn.session_id for turn in conversation.turns[: probe.sees]))
    places = [place for place, session in enumerate(seen) if session in probe.evidence_sessions]
    return len(seen) - 1 - min(places) if places else 0


def summarize(outcomes: Sequence[Outcome], *, seed: int = 0) -> dict[str, Any]:
    """Recall of answerable questions: `all`, each category by name, and the splits; percent, see the module's rules."""
    asked = [o for o in outcomes if o.answerable]
    by_category = _split(asked, lambda o: o.category)
    by_conversation = {name: _percent(group) for name, group in _split(asked, lambda o: o.conversation).items()}
    return {
        "all": _percent(asked),
        **{category: _percent(group) for category, group in by_category.items()},
        "questions": len(asked),
        "questions_by_category": {category: len(group) for category, group in by_category.items()},
        "intervals": _intervals({"all": asked, **by_category}, seed),
        "partial": _mean_percent(o.partial for o in asked),
        "partial_by_category": {c: _mean_percent(o.partial for o in group) for c, group in by_category.items()},
        "by_age": _by_age(asked),
        "by_conversation": by_conversation,
        "leave_one_conversation_out": _leave_one_out(asked),
        "reached_by_graph": _mean_percent(o.graph_share == 1.0 for o in asked),
        "evidence_reached_by_graph": _mean_percent(o.graph_share for o in asked),
        "tokens": round(float(np.mean([o.tokens for o in asked])), 1) if asked else 0.0,
    }


def bootstrap_interval(values: Sequence[float], *, seed: int, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of the mean of `values`, from seeded resamples."""
    if not values:
        return 0.0, 0.0
    data = np.asarray(values, dtype=np.float64)
    draws = np.random.default_rng(seed).integers(0, len(data), size=(RESAMPLES, len(data)))
    low, high = np.quantile(data[draws].mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """The probability that a positive scores above a negative, ties counted half; None where either is empty."""
    if not positives or not negatives:
        return None
    above, below = np.sort(np.asarray(negatives)), np.asarray(positives)
    wins = np.searchsorted(above, below, side="left") + np.searchsorted(above, below, side="right")
    return float(wins.mean() / (2 * len(above)))


def reliability(forecasts: Sequence[tuple[float, bool]], *, bins: int = 10) -> dict[str, Any]:
    """Forecast probabilities against what was true: bins of equal width, Brier score, expected calibration error."""
    if not forecasts:
        return {"bins": [], "brier": None, "expected_calibration_error": None}
    said = np.array([probability for probability, _ in forecasts], dtype=np.float64)
    true = np.array([happened for _, happened in forecasts], dtype=np.float64)
    place = np.minimum((np.clip(said, 0.0, 1.0) * bins).astype(int), bins - 1)
    rows = [_bin(said[place == b], true[place == b], b, bins) for b in range(bins) if (place == b).any()]
    gap = sum(row["count"] * abs(row["forecast"] - row["observed"]) for row in rows) / len(said)
    brier = float(np.mean((said - true) ** 2))
    return {"bins": rows, "brier": round(brier, 4), "expected_calibration_error": round(gap, 4)}


def abstaining(
    forecasts: Sequence[tuple[float, bool]], thresholds: Sequence[float] = (0.0, *THRESHOLDS)
) -> list[dict[str, float]]:
    """What a caller gains who does not answer below a threshold, in percent: `answered` of all questions; `kept` of the
    answerable and `refused` of the others; `answerable` of what is answered. Both kinds must be there."""
    said = np.array([probability for probability, _ in forecasts], dtype=np.float64)
    true = np.array([happened for _, happened in forecasts], dtype=bool)
    rows = []
    for threshold in thresholds:
        answered = said >= threshold
        shares = {
            "answered": answered.mean(),
            "kept": answered[true].mean(),
            "refused": 1.0 - answered[~true].mean(),
            "answerable": true[answered].mean() if answered.any() else 1.0,
        }
        rows.append({"threshold": threshold} | {name: round(100 * float(value), 2) for name, value in shares.items()})
    return rows


def _bin(said: np.ndarray[Any, Any], true: np.ndarray[Any, Any], number: int, bins: int) -> dict[str, float]:
    return {
        "from": number / bins,
        "to": (number + 1) / bins,
        "count": len(said),
        "forecast": round(float(said.mean()), 4),
        "observed": round(float(true.mean()), 4),
    }


def _split(outcomes: Iterable[Outcome], key: Callable[[Outcome], Hashable]) -> dict[Any, list[Outcome]]:
    groups: dict[Any, list[Outcome]] = defaultdict(list)
    for o in outcomes:
        groups[key(o)].append(o)
    return dict(sorted(groups.items()))


def _percent(outcomes: Sequence[Outcome]) -> float:
    return _mean_percent(o.covered for o in outcomes)


def _mean_percent(values: Iterable[float]) -> float:
    numbers = [float(v) for v in values]
    return round(100 * sum(numbers) / len(numbers), 4) if numbers else 0.0


def _intervals(groups: Mapping[str, Sequence[Outcome]], seed: int) -> dict[str, list[float]]:
    found = {name: bootstrap_interval([float(o.covered) for o in group], seed=seed) for name, group in groups.items()}
    return {name: [round(100 * low, 2), round(100 * high, 2)] for name, (low, high) in found.items()}


def _by_age(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    found = {name: [o for o in outcomes if low <= o.age <= high] for name, low, high in AGES}
    return {name: {"recall": _percent(group), "questions": len(group)} for name, group in found.items() if group}


def _leave_one_out(outcomes: Sequence[Outcome]) -> list[float]:
    """The lowest and highest recall over all but one conversation: how much one of them decides."""
    names = {o.conversation for o in outcomes}
    if len(names) < 2:
        return []
    without = [_percent([o for o in outcomes if o.conversation != name]) for name in names]
    return [min(without), max(without)]
