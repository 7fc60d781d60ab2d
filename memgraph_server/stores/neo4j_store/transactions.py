"""What every verb of the Neo4j store begins with: one managed transaction, of a namespace that is whole.

Reads, changes of what is there, writes to what may be new, and writes that change beliefs under the namespace's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal
from memgraph_server.stores.checks import check_instant, check_name
from memgraph_server.stores.neo4j_store import schema
from memgraph_server.stores.neo4j_store.beliefs import Beliefs
from memgraph_server.stores.neo4j_store.connection import Connection, Statements, Target
from memgraph_server.stores.neo4j_store.loading import load, require_whole
from memgraph_server.stores.neo4j_store.names import check_length
from memgraph_server.stores.quantized import Space
from memgraph_server.stores.relation_table import RelationTable

_T = TypeVar("_T")
#: Namespaces that a process remembers to have seen whole.
_REMEMBERED = 10_000


def check_namespace(namespace: str) -> None:
    check_name(namespace, "namespace")
    check_length(namespace, "namespace")


class Transactions:
    """How the store's verbs read and write.

    `registry`: the relation table; what the namespace has recorded comes before it. `embedder_name`, `dimension`: of
    the vectors that this store is given and searches; those of another embedder are as absent (`stale_vectors`).
    """

    def __init__(self, target: Target, registry: RelationTable, *, embedder_name: str, dimension: int) -> None:
        self.connection = Connection(target)
        self._registry = registry
        self._space = Space(embedder_name, dimension)
        self._whole: set[str] = set()

    def _read(self, namespace: str, work: Callable[[Statements], _T]) -> _T:
        check_namespace(namespace)
        return self._any(self._of_whole(namespace, work))

    def _write(self, namespace: str, work: Callable[[Statements], _T]) -> _T:
        """Of a namespace that may be new: the work's first statement asks under its lock whether it is whole."""
        check_namespace(namespace)
        self.connection.accept(schema.accept)
        return self.connection.writing(work)

    def _change(self, namespace: str, work: Callable[[Statements], _T]) -> _T:
        """Of what is there already."""
        return self._write(namespace, self._of_whole(namespace, work))

    def _of_whole(self, namespace: str, work: Callable[[Statements], _T]) -> Callable[[Statements], _T]:
        """Of a namespace that is being loaded nothing is told. One that was whole stays so until it is erased, so that
        it is asked about once by a process."""
        if namespace in self._whole:
            return work

        def checked(ask: Statements) -> _T:
            if require_whole(ask, namespace):
                if len(self._whole) >= _REMEMBERED:
                    self._whole.clear()
                self._whole.add(namespace)
            return work(ask)

        return checked

    def _any(self, work: Callable[[Statements], _T]) -> _T:
        self.connection.accept(schema.accept)
        return self.connection.reading(work)

    def _beliefs(
        self,
        ask: Statements,
        namespace: str,
        now: Instant,
        proposals: Sequence[Proposal] = (),
        *,
        mentions: Iterable[str] = (),
        turn: str | None = None,
    ) -> Beliefs:
        """Of a namespace that may be new; its node is locked from here to the end of the transaction."""
        loaded = load(ask, namespace, now, self._registry, proposals, mentions=mentions, turn=turn)
        return Beliefs(ask, loaded, self._registry, self._space)

    def _writing_beliefs(self, namespace: str, now: Instant, work: Callable[[Beliefs], _T]) -> _T:
        check_instant(now, "now")

        def change(ask: Statements) -> _T:
            beliefs = self._beliefs(ask, namespace, now)
            done = work(beliefs)
            beliefs.send()
            return done

        return self._write(namespace, change)
