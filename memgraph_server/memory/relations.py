"""What the names of relations mean: cardinality, inverse, antonym, hypernym, aliases, and words that start or end them.

The table is data (schema/relations.yaml), parsed at the edge and handed in as plain mappings. It is checked whole when
it is loaded; a mistake in it is an InvalidInput that names the relation.

Relations that the table does not know are allowed: their name is a slug of their words, in any script, and they are
of unknown cardinality, which counts as multi-valued, until learned otherwise. Names are data, never query syntax.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from memgraph_server.errors import InvalidInput
from memgraph_server.memory.facts import Intent
from memgraph_server.memory.phrases import Inflection, slug


class Cardinality(StrEnum):
    """How many tails one head has at one instant; UNKNOWN counts as MULTI."""

    SINGLE = "single"
    MULTI = "multi"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Relation:
    """One line of the table. `event`: it happens rather than holds. `intent`: of its facts by default."""

    name: str
    cardinality: Cardinality = Cardinality.UNKNOWN
    inverse: str | None = None
    symmetric: bool = False
    antonym: str | None = None
    hypernym: str | None = None
    event: bool = False
    intent: Intent = Intent.FACT
    aliases: tuple[str, ...] = ()
    started_by: tuple[str, ...] = ()
    ended_by: tuple[str, ...] = ()


class Registry:
    """The table, and the rules for what is not in it. Immutable once made; all names are canonical."""

    def __init__(self, relations: Iterable[Relation], inflection: Inflection) -> None:
        self._relations = {relation.name: relation for relation in relations}
        self._inflection = inflection
        self._families = tuple(name[:-1] for name in self._relations if name.endswith("*"))
        self._antonyms = _both_ways(self._relations.values(), "antonym")
        self._inverses = _both_ways(self._relations.values(), "inverse")
        _check_references(self._relations)
        self._names = _index(self._relations.values(), inflection)
        self._starts = _effects(self._relations.values(), inflection, "started_by")
        self._ends = _effects(self._relations.values(), inflection, "ended_by")
        self._hyponyms: dict[str, list[str]] = {}
        for relation in self._relations.values():
            if relation.hypernym is not None:
                self._hyponyms.setdefault(relation.hypernym, []).append(relation.name)

    @classmethod
    def from_tables(cls, tables: Mapping[str, Any]) -> Registry:
        """From the parsed yaml: `relations`, `irregular_verbs`, `spellings`, `fillers` (only the first is needed)."""
        inflection = Inflection(
            tables.get("irregular_verbs", {}), tables.get("spellings", {}), frozenset(tables.get("fillers", ()))
        )
        relations = tables.get("relations")
        if not isinstance(relations, Mapping):
            raise InvalidInput("the table of relations needs a mapping under `relations`", field="relations")
        return cls([_relation(name, line) for name, line in relations.items()], inflection)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self._relations if not name.endswith("*"))

    def canonical(self, phrase: str) -> str:
        """The relation that a name or phrase means; a slug of it where none is known. Never empty, never fails."""
        for candidate in self._inflection.candidates(phrase):
            if candidate in self._names:
                return self._names[candidate]
        return slug(self._inflection.spelled(phrase) or phrase)

    def relation(self, name: str) -> Relation:
        """The table's line, or that of the family the name belongs to, or one of which nothing is known."""
        known = self._relations.get(name)
        if known is not None:
            return known
        family = max((each for each in self._families if name.startswith(each)), key=len, default=None)
        return Relation(name) if family is None else self._relations[f"{family}*"]

    def cardinality(self, name: str) -> Cardinality:
        return self.relation(name).cardinality

    def is_event(self, name: str) -> bool:
        return self.relation(name).event

    def intent(self, name: str) -> Intent:
        """What its facts serve: as the table says, TEMPORAL for other events."""
        relation = self.relation(name)
        return Intent.TEMPORAL if relation.event and relation.intent is Intent.FACT else relation.intent

    def inverse(self, name: str) -> str | None:
        """The relation that says the same from the other end; itself for a symmetric one."""
        return name if self.relation(name).symmetric else self._inverses.get(name)

    def antonym(self, name: str) -> str | None:
        return self._antonyms.get(name)

    def hypernyms(self, name: str) -> tuple[str, ...]:
        """What it implies, nearest first."""
        chain = []
        above = self.relation(name).hypernym
        while above is not None:
            chain.append(above)
            above = self.relation(above).hypernym
        return tuple(chain)

    def hyponyms(self, name: str) -> tuple[str, ...]:
        """What implies it, nearest first. Families are left out: their members are not known."""
        below: list[str] = []
        level = self._hyponyms.get(name, [])
        while level:
            below += (each for each in level if not each.endswith("*"))
            level = [each for parent in level for each in self._hyponyms.get(parent, [])]
        return tuple(below)

    def similar(self, name: str) -> tuple[str, ...]:
        """Relations near in meaning: what is above, below and beside it, and what says it from the other end."""
        above = self.relation(name).hypernym
        beside = self._hyponyms.get(above, []) if above is not None else []
        other = self.inverse(name)
        near = (*self.hypernyms(name), *self.hyponyms(name), *beside, *((other,) if other else ()))
        return tuple(dict.fromkeys(each for each in near if each != name and not each.endswith("*")))

    def started_by(self, phrase: str) -> tuple[str, ...]:
        """Relations that hold once it happened ("move to": lives_in)."""
        return self._effect(self._starts, phrase)

    def ended_by(self, phrase: str) -> tuple[str, ...]:
        """Relations that hold no more once it happened ("quit": works_at)."""
        return self._effect(self._ends, phrase)

    def _effect(self, effects: Mapping[str, tuple[str, ...]], phrase: str) -> tuple[str, ...]:
        found = (effects[each] for each in self._inflection.candidates(phrase) if each in effects)
        return next(found, ())


_FIELDS = frozenset(each.name for each in fields(Relation)) - {"name"}


def _relation(name: object, line: object) -> Relation:
    """One line, checked as far as it can be alone."""
    if not isinstance(name, str) or not isinstance(line, Mapping):
        raise InvalidInput("a relation is a name with a mapping", field=str(name))
    if name.removesuffix("*") != slug(name) + ("_" if name.endswith("*") else ""):
        raise InvalidInput(f"a relation's name is lower case with underscores, not {name!r}", field=name)
    if unknown := sorted(map(str, set(line) - _FIELDS)):
        raise InvalidInput(f"{name}: unknown properties {', '.join(unknown)}", field=name)
    phrases = {each: _phrases(name, each, line.get(each, ())) for each in ("aliases", "started_by", "ended_by")}
    kinds = {
        "cardinality": _member(name, Cardinality, line.get("cardinality", Cardinality.UNKNOWN)),
        "intent": _member(name, Intent, line.get("intent", Intent.FACT)),
    }
    return Relation(name, **{**line, **phrases, **kinds})


def _phrases(name: str, what: str, given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) and each.strip() for each in given):
        raise InvalidInput(f"{name}: {what} is a list of phrases", field=name)
    return tuple(given)


def _member(name: str, kind: type[StrEnum], given: object) -> StrEnum:
    try:
        return kind(str(given))
    except ValueError:
        allowed = ", ".join(kind)
        raise InvalidInput(f"{name}: {given!r} is none of {allowed}", field=name) from None


def _both_ways(relations: Iterable[Relation], what: str) -> dict[str, str]:
    """Antonyms and inverses hold both ways, whether one line says so or both."""
    pairs: dict[str, str] = {}
    for relation in relations:
        other = getattr(relation, what)
        if other is None:
            continue
        if other == relation.name:
            raise InvalidInput(f"{relation.name} cannot be its own {what}", field=relation.name)
        for one, two in ((relation.name, other), (other, relation.name)):
            if pairs.setdefault(one, two) != two:
                raise InvalidInput(f"{one} has two {what}s, {pairs[one]} and {two}", field=one)
    return pairs


def _check_references(relations: Mapping[str, Relation]) -> None:
    for relation in relations.values():
        for what in ("inverse", "antonym", "hypernym"):
            other = getattr(relation, what)
            if other is not None and other not in relations:
                raise InvalidInput(f"{relation.name}: its {what} {other!r} is no relation", field=relation.name)
        if relation.symmetric and relation.inverse is not None:
            raise InvalidInput(f"{relation.name} is symmetric: it is its own inverse", field=relation.name)
        _check_chain(relations, relation)


def _check_chain(relations: Mapping[str, Relation], relation: Relation) -> None:
    passed = {relation.name}
    above = relation.hypernym
    while above is not None:
        if above in passed:
            raise InvalidInput(f"{relation.name}: its hypernyms go round in a circle", field=relation.name)
        passed.add(above)
        above = relations[above].hypernym


def _index(relations: Iterable[Relation], inflection: Inflection) -> dict[str, str]:
    """Which relation a phrase means. Names and aliases outrank their inflected forms, and these the phrases that start
    a relation; a form of two relations means neither."""
    names: dict[str, str] = {}
    known = [relation for relation in relations if not relation.name.endswith("*")]
    for relation in known:
        for phrase in (relation.name, *relation.aliases):
            key = inflection.normal(phrase)
            if names.setdefault(key, relation.name) != relation.name:
                raise InvalidInput(f"{phrase!r} means both {names[key]} and {relation.name}", field=relation.name)
    for what in ("aliases", "started_by"):
        for form, owners in _owners(known, inflection, what).items():
            if len(owners) == 1:
                names.setdefault(form, *owners)
    return names


def _owners(relations: Iterable[Relation], inflection: Inflection, what: str) -> dict[str, set[str]]:
    owners: dict[str, set[str]] = {}
    for relation in relations:
        for phrase in getattr(relation, what):
            for form in inflection.forms(phrase):
                owners.setdefault(form, set()).add(relation.name)
    return owners


def _effects(relations: Iterable[Relation], inflection: Inflection, what: str) -> dict[str, tuple[str, ...]]:
    """Phrases that start or end relations, with all of these."""
    return {form: tuple(sorted(owners)) for form, owners in _owners(relations, inflection, what).items()}
