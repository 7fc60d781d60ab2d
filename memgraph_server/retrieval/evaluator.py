"""The semantic evaluator of REAL (§III-B2): is a path relevant, coherent, sufficient? Here without a language model.

Both evaluators have one interface: `judge(question, trails, features) -> scores`, all paths of a step in one call. A
language model reads the paths as sentences; this one adds up four things that can be counted:

    similarity   cosine of the last triple to the question, brought to [0, 1] (`_SIMILAR`)
    overlap      the share of the question's terms, by rarity, that the path's names and relations say
    fit          the question wants this relation (by its words, or by the form of the answer: "where" → a place)
    continuity   neighbouring steps belong together

The equations of our copy of the paper are lost; the formulas are this project's own:

    S_QR = 0.5 similarity + 0.25 overlap + 0.25 fit     (of the best step; the last step counts for half)
    S_LC = Π continuity over neighbouring steps
    S_AS = 0.4 overlap + 0.4 fit of the last step + 0.2 similarity
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memgraph_server.memory.interval import Interval
from memgraph_server.memory.terms import content_terms
from memgraph_server.retrieval.beam import Scores, Trail
from memgraph_server.retrieval.cues import Kind
from memgraph_server.retrieval.evidence import Step
from memgraph_server.retrieval.question import Reading

#: Cosines of a small sentence encoder: what is unrelated lies below the first, what is meant above the second.
_SIMILAR = (0.15, 0.6)

#: Words in relations' names by which they give an answer of a form.
_ANSWERS: Mapping[Kind, frozenset[str]] = {
    Kind.WHERE: frozenset("in at from to city country place located location live born move visit travel".split()),
    Kind.WHO: frozenset("of with by friend parent child sibling partner married met name person".split()),
    Kind.HOW_MANY: frozenset("count number age many times".split()),
}
_NO_FIT, _SOME_FIT, _FULL_FIT = 0.2, 0.6, 1.0


@dataclass(frozen=True, slots=True)
class Features:
    """What the local evaluator counts with. rarity: of the question's terms (those absent weigh 1); wanted: relations
    that the question's words name, with their narrower ones."""

    rarity: Mapping[str, float] = field(default_factory=dict)
    wanted: frozenset[str] = frozenset()


class Evaluator(Protocol):
    """Scores of paths, in order. May call a model; raises ModelUnavailable."""

    @property
    def name(self) -> str: ...

    def judge(self, question: Reading, trails: Sequence[Trail], features: Features) -> list[Scores]: ...


class LocalEvaluator:
    """Counts; needs no service, gives the same scores for the same path."""

    name = "local"

    def judge(self, question: Reading, trails: Sequence[Trail], features: Features) -> list[Scores]:
        return [_judged(question, trail, features) for trail in trails]


def _judged(question: Reading, trail: Trail, features: Features) -> Scores:
    if not trail.steps:
        return Scores(0.0, 1.0, 0.0)
    covered = _overlap(question, trail, features)
    each = [_step_relevance(question, step, covered, features) for step in trail.steps]
    last = trail.steps[-1]
    sufficiency = 0.4 * covered + 0.4 * relation_fit(question, last, features) + 0.2 * similar(last.similarity)
    return Scores(0.5 * max(each) + 0.5 * each[-1], _coherence(trail), sufficiency)


def _step_relevance(question: Reading, step: Step, covered: float, features: Features) -> float:
    return 0.5 * similar(step.similarity) + 0.25 * covered + 0.25 * relation_fit(question, step, features)


def similar(cosine: float) -> float:
    """A cosine as a share of the way from unrelated to meant, in [0, 1]."""
    low, high = _SIMILAR
    return min(1.0, max(0.0, (cosine - low) / (high - low)))


def _overlap(question: Reading, trail: Trail, features: Features) -> float:
    """The share of the question's terms, by rarity, that occur on the path; participants' names are not among them."""
    if not question.terms:
        return 0.0
    said = {term for step in trail.steps for term in step_terms(step)}
    weights = {term: features.rarity.get(term, 1.0) for term in question.terms}
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in said) / total if total > 0 else 0.0


def step_terms(step: Step) -> list[str]:
    return content_terms(f"{step.head_name} {step.fact.relation.replace('_', ' ')} {step.tail_name}")


def relation_fit(question: Reading, step: Step, features: Features) -> float:
    """Whether the relation is one that the question wants: by name, by words in common, by the form of the answer."""
    words = frozenset(step.fact.relation.split("_"))
    if step.fact.relation in features.wanted:
        return _FULL_FIT
    if words & _ANSWERS.get(question.kind, frozenset()):
        return _SOME_FIT
    stems = {term for word in words for term in content_terms(word)}
    return _FULL_FIT if stems & set(question.terms) else _NO_FIT


def _coherence(trail: Trail) -> float:
    score = 1.0
    for before, after in zip(trail.steps, trail.steps[1:], strict=False):
        score *= _continuity(before, after)
    return score


def _continuity(before: Step, after: Step) -> float:
    """1 where one step goes on from the other; less where it goes over a shared value to a stranger ("likes pizza" ←
    "likes pizza"), or where the two never held at the same time, or where either is an inference."""
    sideways = before.forward and not after.forward and before.fact.relation == after.fact.relation
    apart = not _meet(before.fact.interval, after.fact.interval)
    guessed = bool(before.rule or after.rule)
    return (0.5 if sideways else 1.0) * (0.7 if apart else 1.0) * (0.9 if guessed else 1.0)


def _meet(first: Interval, second: Interval) -> bool:
    return first.touches_or_overlaps(second)
