"""Transcripts of other programs as sessions of turns; told apart by their shape."""

from memgraph_server.command_line.readers.detection import FORMATS, read_document, read_file
from memgraph_server.command_line.readers.session import Session

__all__ = ["FORMATS", "Session", "read_document", "read_file"]
