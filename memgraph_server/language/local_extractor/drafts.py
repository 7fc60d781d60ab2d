"""A draft: a triple as rules give it, before dates, intent and certainty make it a proposal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from memgraph_server.language.local_extractor.scene import Phrase
from memgraph_server.language.local_extractor.timing import Manner
from memgraph_server.memory.facts import Polarity


@dataclass(frozen=True, slots=True)
class Draft:
    """(head, relation, tail); `relation` is a phrase for the registry. `tokens`: what says it, never empty.

    `salience` orders the drafts of a turn where there are too many: 1 for named and lasting things, less for moods.
    """

    head: Phrase
    relation: str
    tail: Phrase | None
    certainty: float
    manner: Manner
    tokens: tuple[Any, ...] = field(repr=False)
    polarity: Polarity = Polarity.CLAIM
    salience: float = 0.6
    exact: bool = False  # the relation is named as it is, without the registry
