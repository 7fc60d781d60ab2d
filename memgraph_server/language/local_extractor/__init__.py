"""Facts read out of conversation by a parser and rules, on this machine."""

from __future__ import annotations

from memgraph_server.language.local_extractor.extractor import NAME, LocalExtractor

__all__ = ["NAME", "LocalExtractor"]
