"""`memgraph-server worker` whose extractor never returns from a turn that says "hang", as native code may."""

from __future__ import annotations

import time
from collections.abc import Sequence

from memgraph_server.__main__ import main
from memgraph_server.language.pattern_extractor import PatternExtractor
from memgraph_server.language.port import Extraction, TurnInContext

extract = PatternExtractor.extract


def hanging(self: PatternExtractor, turns: Sequence[TurnInContext]) -> list[Extraction]:
    if any("hang" in turn.turn.text for turn in turns):
        time.sleep(3600)
    return extract(self, turns)


if __name__ == "__main__":
    PatternExtractor.extract = hanging  # type: ignore[method-assign]
    main()
