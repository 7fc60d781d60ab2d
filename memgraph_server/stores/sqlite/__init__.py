"""The embedded store: one SQLite file, the standard library's driver, no other service."""

from memgraph_server.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
