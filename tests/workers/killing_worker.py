"""`memgraph-server worker` whose process is killed outright by a turn that says "kill", as where memory runs out."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

from memgraph_server.__main__ import main
from memgraph_server.language.pattern_extractor import PatternExtractor
from memgraph_server.language.port import Extraction, TurnInContext

extract = PatternExtractor.extract


def killing(self: PatternExtractor, turns: Sequence[TurnInContext]) -> list[Extraction]:
    if any("kill" in turn.turn.text for turn in turns):
        os.kill(os.getpid(), signal.SIGKILL)
    return extract(self, turns)


if __name__ == "__main__":
    PatternExtractor.extract = killing  # type: ignore[method-assign]
    main()
