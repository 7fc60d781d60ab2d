"""Imported once by the fork server, so that a child starts in a moment: modules, and tables parsed from yaml."""

from memgraph_server import wiring
from memgraph_server.api import app as app
from memgraph_server.command_line import serving as serving
from memgraph_server.language import hashed_embedder as hashed_embedder
from memgraph_server.language import pattern_extractor
from memgraph_server.stores import sqlite as sqlite

wiring.registry()
pattern_extractor.warm()
