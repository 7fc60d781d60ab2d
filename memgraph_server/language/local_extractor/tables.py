"""The word lists of `schema/extraction.yaml`, loaded once and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class VerbEntry:
    """How a verb with its particle or preposition is read; `kind`: state, plan, event, start or end (of `ends`)."""

    relation: str
    kind: str
    ends: str = ""


@dataclass(frozen=True, slots=True)
class MatrixEntry:
    """How a verb that takes another verb is read; `form` of the tail: base or gerund."""

    relation: str
    certainty: float
    form: str
    ends: bool = False


@dataclass(frozen=True, slots=True)
class PersonEntry:
    relation: str
    gender: str


@dataclass(frozen=True, slots=True)
class Tables:
    verbs: Mapping[str, VerbEntry]
    matrix: Mapping[str, MatrixEntry]
    people: Mapping[str, PersonEntry]
    reporting: Mapping[str, float]
    hedges: Mapping[str, float]
    marital: Mapping[str, str]
    transparent: frozenset[str]
    pets: frozenset[str]
    occupations: frozenset[str]
    praise: frozenset[str]
    feelings: frozenset[str]
    idle_verbs: frozenset[str]
    empty_nouns: frozenset[str]


@cache
def tables() -> Tables:
    """All lists; read from the package's data, so a broken file fails at the first use, naming the entry."""
    text = files("memgraph_server").joinpath("schema/extraction.yaml").read_text("utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the parser in C, where there is one, is ten times as fast
    raw: dict[str, Any] = yaml.load(text, Loader=loader)  # noqa: S506 - both loaders are safe ones
    sets = ("transparent", "pets", "occupations", "praise", "feelings", "idle_verbs", "empty_nouns")
    return Tables(
        verbs={k: VerbEntry(**v) for k, v in raw["verbs"].items()},
        matrix={k: MatrixEntry(**v) for k, v in raw["matrix"].items()},
        people={k: PersonEntry(**v) for k, v in raw["people"].items()},
        reporting=raw["reporting"],
        hedges=raw["hedges"],
        marital=raw["marital"],
        **{name: frozenset(raw[name]) for name in sets},
    )
