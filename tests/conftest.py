"""Fixtures that tests of several folders share."""

from tests.services.neo4j_server import neo4j_server

__all__ = ["neo4j_server"]
