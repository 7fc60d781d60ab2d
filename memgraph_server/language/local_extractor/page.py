"""One passage being read: its parse, its dates, and the scene it belongs to. No rules here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memgraph_server.language.local_extractor.readable import Passage
from memgraph_server.language.local_extractor.scene import Scene
from memgraph_server.memory.dates.mention import DateMention

#: Tokens of a sentence that is read; people's own have some twenty.
LONGEST_SENTENCE = 120


@dataclass(slots=True)
class Page:
    """`doc` is the parse of `passage.text`; `dates` are found in it, in order."""

    doc: Any
    passage: Passage
    scene: Scene
    dates: tuple[DateMention, ...] = ()
    read: int = 0  # tokens before this one are noted in the scene
    dated: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        covered = (d.span for d in self.dates)
        spans = [self.doc.char_span(start, end, alignment_mode="expand") for start, end in covered]
        self.dated = frozenset(token.i for span in spans if span is not None for token in span)

    def sentences(self) -> Iterator[Any]:
        """Those that are read: a parser's guess at a longer one is worth little, and costs the square of its length."""
        return (sentence for sentence in self.doc.sents if len(sentence) <= LONGEST_SENTENCE)

    def place(self, date: DateMention) -> int:
        """The first token of a date."""
        return next((token.i for token in self.doc if token.idx + len(token.text) > date.span[0]), 0)

    def span(self, tokens: list[Any]) -> tuple[int, int]:
        """Where these tokens stand in the turn's own text."""
        first, last = min(tokens, key=lambda t: t.i), max(tokens, key=lambda t: t.i)
        return self.passage.span(first.idx, last.idx + len(last.text))
