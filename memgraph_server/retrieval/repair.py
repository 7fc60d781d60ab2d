"""Counterfactual repair (REAL, §III-B2, Table I): what follows from the graph where plain expansion found nothing good.

The paper's rule table is lost in our copy; the families are those its text names, the discounts are our own. A rule
says which facts to look up; what is found becomes a step that names the rule and carries a discounted confidence, so
that nobody takes an inference for something that was said.

    rule         looked up for entity e and wanted relation r                   what it gives
    antonym      e –antonym(r)→ x                                               what is said against r
    inverse      x –inverse(r)→ e                                               e –r→ x (parent_of ⇔ child_of)
    symmetric    x –r→ e, r its own inverse                                     e –r→ x (friend_of)
    broader      e –hypernym(r)→ x                                              a weaker statement
    narrower     e –hyponym(r)→ x                                               a case of r: implies it
    class        e –r→ x for any x below a class that the question names        swimming for "activities"
    before       e –r→ x, the last version that ended before the reference time what held last
    after        e –r→ x, the first version that begins after it                what holds next
    alias        neighbours of another entity of the same or a part of the name
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from memgraph_server.memory.interval import Instant
from memgraph_server.retrieval.evidence import Step


class Rule(StrEnum):
    ANTONYM = "antonym"
    INVERSE = "inverse"
    SYMMETRIC = "symmetric"
    BROADER = "broader"
    NARROWER = "narrower"
    CLASS = "class"
    BEFORE = "before"
    AFTER = "after"
    ALIAS = "alias"


#: What a step keeps of its fact's confidence. By strength of the inference: a symmetric or inverse statement says the
#: same thing, a narrower one implies it; a broader one, a neighbour in time or another bearer of the name may not.
DISCOUNTS: Mapping[Rule, float] = {
    Rule.INVERSE: 0.95,
    Rule.SYMMETRIC: 0.95,
    Rule.NARROWER: 0.9,
    Rule.CLASS: 0.9,
    Rule.ANTONYM: 0.8,
    Rule.ALIAS: 0.7,
    Rule.BEFORE: 0.7,
    Rule.AFTER: 0.7,
    Rule.BROADER: 0.6,
}


class RelationSchema(Protocol):
    """What repair needs to know of relations; unknown relations have none of these."""

    def inverse(self, relation: str) -> str | None: ...
    def antonym(self, relation: str) -> str | None: ...
    def hypernyms(self, relation: str) -> Sequence[str]: ...
    def hyponyms(self, relation: str) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Lookup:
    """Facts of `entity` (as tail where `reverse`) with these relations, at `valid_at` (None: any time)."""

    rule: Rule
    entity: str
    relations: tuple[str, ...]
    reverse: bool
    valid_at: Instant | None
    reference_time: Instant


class Repairs:
    """The rules for one question. `wanted`: the relations it asks for; `below`: whether a tail's name is below a class
    that the question names (None: no classes)."""

    def __init__(
        self,
        schema: RelationSchema,
        wanted: Sequence[str],
        *,
        below: Callable[[str], bool] | None = None,
        valid_at: Instant | None = None,
    ) -> None:
        self._schema = schema
        self._wanted = tuple(dict.fromkeys(wanted))
        self._below = below
        self._valid_at = valid_at

    def lookups(self, entity: str, reference_time: Instant) -> tuple[Lookup, ...]:
        """What to look up from `entity`; nothing where no relation is known to be wanted."""
        found: list[Lookup] = []

        def add(rule: Rule, relations: Iterable[str | None], *, reverse: bool = False, ever: bool = False) -> None:
            names = tuple(dict.fromkeys(name for name in relations if name))
            if names:
                at = None if ever else self._valid_at
                found.append(Lookup(rule, entity, names, reverse, at, reference_time))

        inverses = {relation: self._schema.inverse(relation) for relation in self._wanted}
        add(Rule.ANTONYM, map(self._schema.antonym, self._wanted))
        add(Rule.SYMMETRIC, (r for r, inverse in inverses.items() if inverse == r), reverse=True)
        add(Rule.INVERSE, (inverse for r, inverse in inverses.items() if inverse != r), reverse=True)
        add(Rule.BROADER, (name for r in self._wanted for name in self._schema.hypernyms(r)))
        add(Rule.NARROWER, (name for r in self._wanted for name in self._schema.hyponyms(r)))
        if self._below is not None:
            add(Rule.CLASS, self._wanted)
        add(Rule.BEFORE, self._wanted, ever=True)
        add(Rule.AFTER, self._wanted, ever=True)
        return tuple(found)

    def infer(self, lookup: Lookup, steps: Sequence[Step]) -> list[Step]:
        """Steps that follow by the lookup's rule from the facts it found."""
        return [inferred(step, lookup.rule) for step in self._selected(lookup, steps)]

    def through_alias(self, steps: Sequence[Step]) -> list[Step]:
        """Steps from an entity that may be the same: their facts, under the alias rule."""
        return [inferred(step, Rule.ALIAS) for step in steps]

    def _selected(self, lookup: Lookup, steps: Sequence[Step]) -> list[Step]:
        if lookup.rule is Rule.BEFORE:
            return _last_before(steps, lookup.reference_time)
        if lookup.rule is Rule.AFTER:
            return _first_after(steps, lookup.reference_time)
        if lookup.rule is Rule.CLASS:
            below = self._below or (lambda _: False)
            return [step for step in steps if below(step.tail_name)]
        return list(steps)


def inferred(step: Step, rule: Rule) -> Step:
    """The step as a conclusion: its rule named, its confidence discounted once."""
    return replace(step, rule=rule.value, confidence=step.fact.confidence * DISCOUNTS[rule])


def _last_before(steps: Sequence[Step], at: Instant) -> list[Step]:
    """Of each relation, the versions that ended last before (or at) the instant."""
    last: dict[str, Instant] = {}
    for step in steps:
        end = step.fact.valid_to
        if end is not None and end <= at:
            last[step.fact.relation] = max(end, last.get(step.fact.relation, end))
    return [
        step for step in steps if step.fact.valid_to is not None and last.get(step.fact.relation) == step.fact.valid_to
    ]


def _first_after(steps: Sequence[Step], at: Instant) -> list[Step]:
    """Of each relation, the versions that begin first after the instant."""
    first: dict[str, Instant] = {}
    for step in steps:
        start = step.fact.valid_from
        if start > at:
            first[step.fact.relation] = min(start, first.get(step.fact.relation, start))
    return [step for step in steps if first.get(step.fact.relation) == step.fact.valid_from]
