"""One driver for one Neo4j: managed transactions, retried where that helps, and Neo4j's errors in this project's words.

Rules: text and values are apart, always: a `Query` is a constant of this package, everything else a parameter. A verb
is run again where the server says that this helps (deadlocks, a leader that moved, a connection that broke), so that a
verb's work must not change anything but the database.

A verb that writes is one transaction: opened, each statement, and committed, a round trip each. One that only reads, or
that writes by one statement, is sent without opening anything: one round trip a statement. Nothing is lost by that:
Neo4j's reads see what is committed when they come to it, within one transaction as in several.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import neo4j
from neo4j import exceptions

from memgraph_server.errors import MemgraphServerError, StoreUnavailable, TooLarge

if TYPE_CHECKING:
    from neo4j import ManagedTransaction, Transaction

_T = TypeVar("_T")
Row = list[Any]
#: Seconds that one verb is tried again before the caller is told that the store is unavailable.
RETRY_SECONDS = 8.0
#: And before it is first tried again.
RETRY_DELAY = 0.1
#: Reads begun ahead at once, at most, by all callers: with a server's forty threads they fit in the driver's pool of a
#: hundred connections.
MOST_AHEAD = 32
_Error = exceptions.Neo4jError | exceptions.DriverError
#: What a server answers to bookmarks that it cannot come to: the first after a wait of its own (a minute).
_NO_BOOKMARK = ("Transaction.BookmarkTimeout", "Transaction.InvalidBookmark")
#: In the code of what a server answers that cannot be used now, though the request is as it should be.
_AWAY = ("DatabaseNotFound", "General.OutOfMemory", *_NO_BOOKMARK)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a Neo4j is and who asks. `url`: neo4j://…, bolt://… or, with encryption, neo4j+s://…, bolt+s://…"""

    url: str
    user: str
    password: str
    database: str = "neo4j"


@dataclass(frozen=True, slots=True)
class Query:
    """A named statement in Cypher 25. Its text is put together from constants only.

    All its parameters are sent as the parts of one map. Neo4j plans a statement anew for every combination of the types
    of its parameters, and counts lists and texts of different lengths as such: twenty lists, each empty or not, would
    be a million plans of one statement.

    `listed`: it returns one list of all its rows. A record costs the driver and the server forty microseconds, as much
    as to find what is in it, so that whatever may have a hundred rows, and not a million, comes as one record.
    """

    name: str
    text: str
    listed: bool = False
    sent: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sent", "CYPHER 25\n" + re.sub(r"\$(?=[a-z])", "$given.", self.text))


def ordered(thing: str, index: str, *, falling: bool = False) -> str:
    """The order of an index, by its properties: named whole, since one that leaves out what is equal anyway is not
    known to the planner as the index's own, so that all entries are read to find the first few."""
    return ", ".join(f"{thing}.{name}{' DESC' if falling else ''}" for name in index.split(", "))


class Statements:
    """Runs queries inside one transaction, or each as one of its own (of a session)."""

    def __init__(
        self,
        transaction: ManagedTransaction | Transaction | neo4j.Session,
        watch: Callable[[Query, dict[str, Any]], None] | None,
    ) -> None:
        self._transaction = transaction
        self._watch = watch

    def __call__(self, query: Query, **values: Any) -> list[Row]:
        if self._watch is not None:
            self._watch(query, values)
        rows = [record.values() for record in self._transaction.run(query.sent, given=values)]
        return rows[0][0] if query.listed else rows

    def pairs(self, query: Query, **values: Any) -> dict[Any, Any]:
        """Of a query with two columns: the first to the second."""
        return {row[0]: row[1] for row in self(query, **values)}

    def one(self, query: Query, **values: Any) -> Row | None:
        rows = self(query, **values)
        return rows[0] if rows else None


class Connection:
    """A pool of connections, safe for threads. Nothing is asked of the server before the first verb.

    `watch` sees every statement before it runs: for tests and benchmarks.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.watch: Callable[[Query, dict[str, Any]], None] | None = None
        self._forget()
        self._accepted = False
        self._closed = False
        self._guard = threading.Lock()
        self._aside = ThreadPoolExecutor(MOST_AHEAD, "neo4j-ahead")  # has no thread before the first read ahead
        self._driver = neo4j.GraphDatabase.driver(
            target.url,
            auth=(target.user, target.password),
            connection_timeout=5.0,
            connection_acquisition_timeout=10.0,
            max_transaction_retry_time=RETRY_SECONDS,
            initial_retry_delay=RETRY_DELAY,
            keep_alive=True,
            user_agent="memgraph-server",
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )

    def reading(self, work: Callable[[Statements], _T]) -> _T:
        """Each statement on its own."""
        return self._again(work, neo4j.READ_ACCESS, lambda error: error.is_retryable())

    def stating(self, work: Callable[[Statements], _T]) -> _T:
        """One statement that writes. Not tried again where the connection broke: it may have been carried out."""
        return self._again(work, neo4j.WRITE_ACCESS, lambda error: isinstance(error, exceptions.TransientError))

    def writing(self, work: Callable[[Statements], _T]) -> _T:
        """One transaction: committed at the end, rolled back by any exception."""
        return self._asking(lambda session: session.execute_write(self._with(work)))

    @contextmanager
    def holding(self) -> Iterator[Statements]:
        """One transaction that is read from as long as the context lasts, and taken back at its end; never retried."""
        try:
            with self.session() as session, session.begin_transaction() as held:
                yield Statements(held, self.watch)
                held.rollback()
        except (exceptions.Neo4jError, exceptions.DriverError) as error:
            raise self._told(error) from error

    def ahead(self, read: Callable[[], _T]) -> Callable[[], _T]:
        """Raises StoreUnavailable, at once or when the result is asked for, where the store was closed before it."""
        with self._open():
            result = self._aside.submit(read).result

        def wait() -> _T:
            with self._open():
                return result()

        return wait

    @contextmanager
    def _open(self) -> Iterator[None]:
        """In our words, what an executor says that was shut down."""
        try:
            yield
        except (CancelledError, RuntimeError) as error:
            if not self._closed:
                raise
            raise closed(self.target) from error

    def session(self, **config: Any) -> neo4j.Session:
        """Of a cluster, a member that has what this process wrote before."""
        return self._driver.session(database=self.target.database, bookmark_manager=self._bookmarks, **config)

    def outside(self, work: Callable[[neo4j.Session], _T]) -> _T:
        """With a session of its own: for schema, which no transaction of data can hold."""
        return self._asking(work)

    def accept(self, require: Callable[[Statements], None]) -> None:
        """Ask once, before the first verb, whether the schema fits; `accept_again` makes it ask anew."""
        if not self._accepted:
            with self._guard:
                self.reading(require)
                self._accepted = True

    def accept_again(self) -> None:
        self._accepted = False

    def close(self) -> None:
        self._closed = True
        self._aside.shutdown(cancel_futures=True)
        self._driver.close()

    def _with(self, work: Callable[[Statements], _T]) -> Callable[[ManagedTransaction], _T]:
        return lambda transaction: work(Statements(transaction, self.watch))

    def _again(self, work: Callable[[Statements], _T], access: str, helps: Callable[[_Error], bool]) -> _T:
        """As the driver does with a transaction: after 0.1, 0.2, 0.4 … seconds, each by a fifth more or less."""
        until, delay = time.monotonic() + RETRY_SECONDS, RETRY_DELAY
        while True:
            try:
                with self.session(default_access_mode=access) as session:
                    return work(Statements(session, self.watch))
            except (exceptions.Neo4jError, exceptions.DriverError) as error:
                if not helps(error) or time.monotonic() + delay > until:
                    raise self._told(error) from error
            time.sleep(delay * random.uniform(0.8, 1.2))  # noqa: S311  nobody is to guess it
            delay *= 2

    def _asking(self, ask: Callable[[neo4j.Session], _T]) -> _T:
        try:
            with self.session() as session:
                return ask(session)
        except (exceptions.Neo4jError, exceptions.DriverError) as error:
            raise self._told(error) from error

    def _told(self, error: _Error) -> Exception:
        """In our words. A database that was put back to an earlier state has not, and never will have, what this
        process wrote: the next verb asks for nothing."""
        if (getattr(error, "code", None) or "").endswith(_NO_BOOKMARK):
            self._forget()
        return in_our_words(error, self.target)

    def _forget(self) -> None:
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()


def being_loaded(namespace: str) -> StoreUnavailable:
    """What every verb but `load` and `erase` answers until either is complete (moving.py, erase.py)."""
    return StoreUnavailable(
        f"the namespace {namespace!r} is being imported or erased, or that was cut off: run it again, or erase it"
    )


def closed(target: Target) -> StoreUnavailable:
    return StoreUnavailable("the store cannot be used: it is closed", where=target.url)


def in_our_words(error: Exception, target: Target) -> Exception:
    """Neo4j's error as one of errors.py, or itself where it can only be a fault of this program."""
    if isinstance(error, MemgraphServerError):
        return error
    what = "the store cannot be used"
    if isinstance(error, exceptions.AuthError):
        return StoreUnavailable(f"{what}: user or password are not accepted", where=target.url)
    if "too large to index" in str(error):
        return TooLarge("a name or id is longer than the store can hold")
    code = getattr(error, "code", None) or ""
    down = (exceptions.ServiceUnavailable, exceptions.SessionExpired, exceptions.TransientError)
    gone = (exceptions.ConnectionPoolError, exceptions.IncompleteCommit, exceptions.DatabaseUnavailable)
    if isinstance(error, (*down, *gone)) or any(part in code for part in _AWAY):
        why = f" ({code})" if code else ""
        return StoreUnavailable(
            f"{what}: {type(error).__name__}{why}", where=target.url if code else f"{target.url}: {error}"
        )
    if isinstance(error, exceptions.DriverError) and "closed" in str(error).lower():
        return closed(target)
    return error
