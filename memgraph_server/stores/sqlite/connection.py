"""Connections to one SQLite file: transactions, settings, and SQLite's errors in this project's words.

Rules: write-ahead log and synchronous=FULL, so that what was acknowledged is on disk; every read sees one snapshot,
every write is one `BEGIN IMMEDIATE` transaction. A connection serves one thread at a time and is lent from a pool, so
that there are never more than verbs running at once. Writers of one process queue on a lock (in order, without
polling); writers of several processes wait for SQLite's own lock up to `BUSY_MILLISECONDS`.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memgraph_server.errors import InvalidInput, SchemaMismatch, StoreCorrupt, StoreUnavailable, TooLarge

BUSY_MILLISECONDS = 15_000
#: Idle connections kept; more are closed when they are given back.
POOL_SIZE = 8

_SETTINGS = (
    f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",  # erased text is overwritten, not only unlinked
    "PRAGMA temp_store = MEMORY",  # no text in temporary files
    "PRAGMA cache_size = -32768",
    "PRAGMA mmap_size = 2147418112",  # pages beyond the cache are read in place, not copied by a call for each
    "PRAGMA wal_autocheckpoint = 4000",  # 16 MB: a page that many turns write is carried over once for all of them
)

#: Kept in the file, so set once, while it is empty: setting them again would wait for whoever writes.
_SETTINGS_OF_FILE = ("PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL")

_REASONS = {
    sqlite3.SQLITE_BUSY: "it is locked by another process",
    sqlite3.SQLITE_LOCKED: "it is locked",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_IOERR: "reading or writing the file failed",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; its folder must be there, and writable",
    sqlite3.SQLITE_PERM: "access is denied",
    sqlite3.SQLITE_AUTH: "access is denied",
    sqlite3.SQLITE_NOMEM: "memory is exhausted",
    sqlite3.SQLITE_NOLFS: "the file is too large for its file system",
}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def in_our_words(error: sqlite3.Error, path: Path) -> Exception:
    """SQLite's error as one of errors.py, or itself where it can only be a fault of this program."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else None
    if primary in _CORRUPT:
        return StoreCorrupt(f"the store is damaged or not a store ({error}); restore a backup", where=str(path))
    if primary in _REASONS:
        return StoreUnavailable(f"the store cannot be used: {_REASONS[primary]} ({error})", where=str(path))
    if primary == sqlite3.SQLITE_TOOBIG:
        return TooLarge("a text is larger than the store can hold")
    return error


def refuse_others(connection: sqlite3.Connection) -> None:
    """Raises SchemaMismatch where the file is another program's database: a mistyped path must not add to it."""
    query = """
        SELECT count(*), (SELECT count(*) FROM pragma_table_info('migration') WHERE name IN ('name', 'checksum'))
        FROM sqlite_schema WHERE type = 'table'"""
    tables, ours = connection.execute(query).fetchone()
    if tables and ours < 2:
        [(_, _, path), *_] = connection.execute("PRAGMA database_list")
        raise SchemaMismatch("the file is a database of another program; name another file", where=path)


class Connections:
    """A pool for one file. `prepare` is asked once for each new connection and may refuse it."""

    def __init__(self, path: Path) -> None:
        if str(path) == ":memory:":
            raise InvalidInput("a store needs a file; an in-memory database has one for each connection", field="store")
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._writing = threading.Lock()
        self._process = os.getpid()
        self._closed = False
        self._accepted = False

    @contextmanager
    def reading(self, accept: Callable[[sqlite3.Connection], None] | None = None) -> Iterator[sqlite3.Connection]:
        """A snapshot; nothing can be written."""
        with self._lent(accept) as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.rollback()

    @contextmanager
    def writing(self, accept: Callable[[sqlite3.Connection], None] | None = None) -> Iterator[sqlite3.Connection]:
        """One transaction: committed at the end, rolled back by any exception."""
        self._forget_after_fork()
        with self._writing, self._lent(accept) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """A connection outside any transaction, for checkpoints; writers of this process wait."""
        self._forget_after_fork()
        with self._writing, self._lent(None) as connection:
            yield connection

    def close(self) -> None:
        with self._guard:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def accept_again(self) -> None:
        """Ask `accept` once more before the next transaction: the schema may have changed."""
        self._accepted = False

    @contextmanager
    def _lent(self, accept: Callable[[sqlite3.Connection], None] | None) -> Iterator[sqlite3.Connection]:
        self._forget_after_fork()
        connection: sqlite3.Connection | None = None
        try:
            connection = self._take()
            if accept is not None and not self._accepted:
                accept(connection)
                self._accepted = True
            yield connection
        except sqlite3.Error as error:
            self._discard(connection)
            connection = None
            raise in_our_words(error, self.path) from error
        finally:
            if connection is not None:
                self._give_back(connection)

    def _take(self) -> sqlite3.Connection:
        with self._guard:
            if self._closed:
                raise StoreUnavailable("the store is closed", where=str(self.path))
            if self._idle:
                return self._idle.pop()
        return self._open()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=BUSY_MILLISECONDS / 1000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=512,
        )
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                refuse_others(connection)
                for setting in _SETTINGS_OF_FILE:
                    connection.execute(setting)
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            if not self._closed and len(self._idle) < POOL_SIZE:
                self._idle.append(connection)
                return
        connection.close()

    def _discard(self, connection: sqlite3.Connection | None) -> None:
        if connection is not None:
            connection.close()

    def _forget_after_fork(self) -> None:
        """A connection must not cross a fork: the child leaves the parent's alone and opens its own."""
        if os.getpid() != self._process:
            self._process = os.getpid()
            self._idle_of_parent = self._idle  # kept, unclosed: closing would drop the parent's file locks
            self._idle = []
            self._guard = threading.Lock()
            self._writing = threading.Lock()
