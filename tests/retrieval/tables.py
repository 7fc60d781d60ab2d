"""A table of relations as small as a test needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Relations:
    """Relations by name; a hypernym has as hyponyms what names it."""

    inverses: Mapping[str, str] = field(default_factory=dict)
    antonyms: Mapping[str, str] = field(default_factory=dict)
    above: Mapping[str, str] = field(default_factory=dict)

    def __init__(
        self,
        inverse: Mapping[str, str] | None = None,
        antonym: Mapping[str, str] | None = None,
        hypernym: Mapping[str, str] | None = None,
    ) -> None:
        object.__setattr__(self, "inverses", inverse or {})
        object.__setattr__(self, "antonyms", antonym or {})
        object.__setattr__(self, "above", hypernym or {})

    def inverse(self, relation: str) -> str | None:
        return self.inverses.get(relation)

    def antonym(self, relation: str) -> str | None:
        return self.antonyms.get(relation)

    def hypernyms(self, relation: str) -> Sequence[str]:
        return (self.above[relation],) if relation in self.above else ()

    def hyponyms(self, relation: str) -> Sequence[str]:
        return tuple(name for name, above in self.above.items() if above == relation)
