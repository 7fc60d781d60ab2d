"""Imported once by the fork server, so that a child starts in a moment: modules, and tables parsed from yaml."""

import importlib

from memgraph_server import wiring
from memgraph_server.language import pattern_extractor

for module in ("api.app", "command_line.serving", "language.hashed_embedder", "stores.sqlite"):
    importlib.import_module(f"memgraph_server.{module}")
wiring.registry()
pattern_extractor.warm()
