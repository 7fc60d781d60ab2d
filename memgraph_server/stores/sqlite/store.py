"""`SqliteStore`: the store port over one SQLite file. Each verb opens one transaction and hands it to the file that
knows; nothing is decided here (stores/port.py has the contract, the files beside this one the rules)."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from memgraph_server.errors import NotFound
from memgraph_server.memory.facts import Entity, Intent
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.turns import Turn
from memgraph_server.stores.about import Around, Between
from memgraph_server.stores.checks import check_instant, check_limit, check_name, check_texts, check_turn
from memgraph_server.stores.cursor import listed, read_cursor, write_cursor
from memgraph_server.stores.port import (
    Applied,
    AsOf,
    AssertionView,
    CardVectors,
    CorpusSize,
    FactView,
    Floats,
    Job,
    Lease,
    Neighbour,
    Posting,
    Readiness,
    StoredTurns,
    Timeline,
    TurnCard,
    TurnOutcome,
    TurnStatus,
    TurnVectors,
)
from memgraph_server.stores.prepared import prepare
from memgraph_server.stores.quantized import Space
from memgraph_server.stores.relation_table import RelationTable
from memgraph_server.stores.sqlite import (
    assertions,
    entities,
    facts,
    maintenance,
    namespaces,
    queue,
    schema,
    search,
    turns,
)
from memgraph_server.stores.sqlite.beliefs import Beliefs, cardinalities, supporters
from memgraph_server.stores.sqlite.connection import Connections
from memgraph_server.stores.sqlite.erase import erase, shred
from memgraph_server.stores.sqlite.neighbours import Search
from memgraph_server.stores.sqlite.postings import Postings
from memgraph_server.stores.sqlite.vectors import Indexes

if TYPE_CHECKING:
    from memgraph_server.stores.records import Record

#: What is believed now, at any valid time.
_NOW = AsOf()


class SqliteStore:
    """GraphStore and Operations. Thread-safe; several processes may use one file. Call `migrate` once before use.

    `registry`: the relation table; what the namespace has recorded comes before it. `embedder_name`, `dimension`: of
    the vectors that this store is given and searches; those of another embedder are as absent (`stale_vectors`).
    """

    def __init__(self, path: str | Path, registry: RelationTable, *, embedder_name: str, dimension: int) -> None:
        self._connections = Connections(Path(path))
        self._registry = registry
        self._space = Space(embedder_name, dimension)
        self._indexes = Indexes(self._space)
        self._postings = Postings()
        self._held = threading.local()  # the read that this thread is within

    # -- transactions

    @contextmanager
    def snapshot(self, namespace: str) -> Iterator[None]:
        """Reads of the namespace by this thread within the context are one transaction (stores/port.py, Snapshots)."""
        with self._read(namespace) as found:
            before, self._held.read = getattr(self._held, "read", None), (namespace, *found)
            try:
                yield
            finally:
                self._held.read = before

    @contextmanager
    def _read(self, namespace: str) -> Iterator[tuple[Connection, int]]:
        held: tuple[str, Connection, int] | None = getattr(self._held, "read", None)
        if held is not None and held[0] == namespace:
            yield held[1:]
            return
        check_name(namespace, "namespace")
        with self._connections.reading(schema.accept) as connection:
            yield connection, namespaces.find(connection, namespace)

    @contextmanager
    def _write(self, namespace: str) -> Iterator[tuple[Connection, int]]:
        """Of a namespace that exists; where it does not, there is nothing to change and reads answer "nothing"."""
        check_name(namespace, "namespace")
        with self._connections.writing(schema.accept) as connection:
            yield connection, namespaces.find(connection, namespace)

    @contextmanager
    def _writing_beliefs(self, namespace: str, now: Instant) -> Iterator[Beliefs]:
        """Of a namespace that may be new."""
        check_name(namespace, "namespace")
        check_instant(now, "now")
        with self._connections.writing(schema.accept) as connection:
            number, stamp = namespaces.enter(connection, namespace, now)
            yield Beliefs(connection, number, namespace, stamp, self._registry, self._space)

    def _any(self) -> AbstractContextManager[Connection]:
        return self._connections.reading(schema.accept)

    # -- turns

    def append_turns(
        self, namespace: str, new: Sequence[Turn], *, job_id: str, now: Instant, key: str | None = None
    ) -> StoredTurns:
        check_name(namespace, "namespace")
        check_name(job_id, "job_id")
        check_texts([key] if key is not None else [], "key")
        check_instant(now, "now")
        for turn in new:
            check_turn(turn)
        prepared = prepare(new)  # before the lock is taken: it is most of the work
        with self._connections.writing(schema.accept) as connection:
            number = namespaces.ensure(connection, namespace, now)
            return turns.append(connection, number, prepared, job_id=job_id, now=now, key=key)

    def job(self, namespace: str, job_id: str) -> Job:
        with self._read(namespace) as (connection, number):
            return turns.job(connection, number, job_id)

    def turns(self, namespace: str, turn_ids: Sequence[str]) -> list[Turn]:
        with self._read(namespace) as (connection, number):
            return turns.fetch(connection, number, turn_ids)

    def turn_status(self, namespace: str, turn_id: str) -> TurnStatus:
        with self._read(namespace) as (connection, number):
            return queue.status(connection, number, turn_id)

    def previous_turns(self, namespace: str, turn_id: str, count: int) -> list[Turn]:
        with self._read(namespace) as (connection, number):
            return turns.previous(connection, number, turn_id, check_limit(count))

    def session_speakers(self, namespace: str, session_id: str) -> list[str]:
        with self._read(namespace) as (connection, number):
            return turns.speakers(connection, number, session_id)

    # -- reading outcomes

    def apply_outcome(self, namespace: str, outcome: TurnOutcome, *, lease: str | None, now: Instant) -> Applied:
        for name, kind in outcome.mentions:
            check_name(name, "mentions")
            check_texts([kind], "mentions")
        with self._writing_beliefs(namespace, now) as beliefs:
            turn = queue.pending_turn(beliefs.connection, beliefs.namespace, outcome.turn_id, lease)
            if turn is None:
                return Applied.NOT
            proposals = [_of_turn(proposal, outcome.turn_id) for proposal in outcome.proposals]
            beliefs.assert_all(proposals, outcome.triple_vectors, turn=turn, mentions=outcome.mentions)
            beliefs.embed(turn, outcome.vectors)
            return queue.finish(beliefs.connection, turn, lease, outcome.cost)

    def fail_turn(
        self,
        namespace: str,
        turn_id: str,
        *,
        reason: str,
        final: bool,
        retry_at: Instant,
        now: Instant,  # noqa: ARG002  the port's
    ) -> None:
        with self._write(namespace) as (connection, number):
            queue.fail(connection, number, turn_id, reason=_readable(reason), final=final, retry_at=retry_at)

    def replay(self, namespace: str, turn_ids: Sequence[str] | None, *, now: Instant) -> int:
        with self._write(namespace) as (connection, number):
            return queue.replay(connection, number, turn_ids, now)

    def dead_turns(self, namespace: str, limit: int, cursor: str | None) -> tuple[list[TurnStatus], str | None]:
        with self._read(namespace) as (connection, number):
            after = read_cursor("dead_turns", namespace, cursor, (int,)) or [0]
            found, more = queue.dead_turns(connection, number, check_limit(limit), int(after[0]))
            return found, None if more is None else write_cursor("dead_turns", namespace, [more])

    # -- entities

    def resolve(self, namespace: str, name: str) -> Entity | None:
        return self.find_names(namespace, [name]).get(name)

    def find_names(self, namespace: str, names: Sequence[str]) -> dict[str, Entity]:
        with self._read(namespace) as (connection, number):
            return entities.find_names(connection, number, names)

    def entity(self, namespace: str, entity_id: str) -> Entity:
        with self._read(namespace) as (connection, number):
            return entities.get(connection, number, entity_id)

    def entities(
        self, namespace: str, *, limit: int, cursor: str | None = None, like: str | None = None
    ) -> tuple[list[Entity], str | None]:
        with self._read(namespace) as (connection, number):
            asked = listed("entities", like)
            after = read_cursor(asked, namespace, cursor, (str,)) or [""]
            found, more = entities.page(connection, number, check_limit(limit), str(after[0]), like)
            return found, None if more is None else write_cursor(asked, namespace, [more])

    def merge(self, namespace: str, entity_id: str, into: str, *, now: Instant) -> Entity:
        with self._writing_beliefs(namespace, now) as beliefs:
            target = entities.handle_of(beliefs.connection, beliefs.namespace, into)
            beliefs.merge(entities.handle_of(beliefs.connection, beliefs.namespace, entity_id), target)
            return entities.get(beliefs.connection, beliefs.namespace, into)

    def unmerge(self, namespace: str, entity_id: str, *, now: Instant) -> Entity:
        with self._writing_beliefs(namespace, now) as beliefs:
            beliefs.unmerge(entities.handle_of(beliefs.connection, beliefs.namespace, entity_id))
            return entities.get(beliefs.connection, beliefs.namespace, entity_id)

    # -- assertions and facts

    def assert_facts(
        self, namespace: str, proposals: Sequence[Proposal], vectors: Mapping[str, Floats], *, now: Instant
    ) -> list[str]:
        with self._writing_beliefs(namespace, now) as beliefs:
            return beliefs.assert_all(proposals, vectors)

    def assertion(self, namespace: str, assertion_id: str) -> AssertionView:
        with self._read(namespace) as (connection, number):
            return assertions.view(connection, number, assertion_id)

    def retract_assertion(self, namespace: str, assertion_id: str, *, reason: str, now: Instant) -> None:
        with self._writing_beliefs(namespace, now) as beliefs:
            handle = assertions.handle_of(beliefs.connection, beliefs.namespace, assertion_id)
            beliefs.withdraw([handle], _readable(reason))

    def retract_fact(self, namespace: str, fact_id: str, *, reason: str, now: Instant) -> list[str]:
        with self._writing_beliefs(namespace, now) as beliefs:
            behind = supporters(beliefs.connection, beliefs.namespace, fact_id)
            return beliefs.withdraw(behind, _readable(reason))

    def set_cardinality(self, namespace: str, relation: str, single: bool | None, *, reason: str, now: Instant) -> None:
        check_name(relation, "relation")
        with self._writing_beliefs(namespace, now) as beliefs:
            beliefs.set_cardinality(relation, single, _readable(reason))

    def cardinalities(self, namespace: str) -> dict[str, bool]:
        with self._read(namespace) as (connection, number):
            return cardinalities(connection, number)

    def timeline(
        self,
        namespace: str,
        *,
        entity_id: str | None = None,
        relation: str | None = None,
        tail_id: str | None = None,
        as_of: AsOf = _NOW,
        minimum_confidence: float = 0.0,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Timeline:
        asked = listed("timeline", entity_id, relation, tail_id, as_of.valid_at, as_of.known_at, minimum_confidence)
        with self._read(namespace) as (connection, number):
            found, more = facts.timeline(
                connection,
                number,
                head=self._standing(connection, number, entity_id, as_of),
                relation=relation,
                tail=self._standing(connection, number, tail_id, as_of),
                as_of=as_of,
                minimum_confidence=minimum_confidence,
                limit=None if limit is None else check_limit(limit),
                after=read_cursor(asked, namespace, cursor, (int, str, int, int)),
            )
            return Timeline(tuple(found), None if more is None else write_cursor(asked, namespace, more))

    def fact_versions(self, namespace: str, fact_id: str) -> list[FactView]:
        with self._read(namespace) as (connection, number):
            return facts.versions(connection, number, fact_id)

    def facts_of_turns(self, namespace: str, turn_ids: Sequence[str], as_of: AsOf = _NOW) -> dict[str, list[FactView]]:
        with self._read(namespace) as (connection, number):
            return facts.of_turns(connection, number, turn_ids, as_of)

    def ends_of_turns(
        self, namespace: str, turn_ids: Sequence[str], known_at: Instant | None = None
    ) -> dict[str, frozenset[int]]:
        with self._read(namespace) as (connection, number):
            return facts.ends_of_turns(connection, number, turn_ids, known_at)

    # -- search

    def neighbours(
        self,
        namespace: str,
        entity_id: str,
        *,
        vector: Floats | None,
        as_of: AsOf,
        minimum_confidence: float,
        intents: frozenset[Intent] | None,
        limit: int,
    ) -> list[Neighbour]:
        with self._read(namespace) as (connection, number):
            entity = self._standing(connection, number, entity_id, as_of)
            asked = Search(connection, number, self._space, self._indexes, as_of, minimum_confidence, intents)
            return asked.around(entity or namespaces.NOWHERE, vector, check_limit(limit))

    def facts_between(
        self, namespace: str, head: str, relations: Sequence[str], *, as_of: AsOf, limit: int, reverse: bool = False
    ) -> list[Neighbour]:
        with self._read(namespace) as (connection, number):
            entity = self._standing(connection, number, head, as_of)
            asked = Search(connection, number, self._space, self._indexes, as_of)
            return asked.between(entity or namespaces.NOWHERE, relations, check_limit(limit), reverse)

    def facts_about(
        self, namespace: str, asked: Sequence[Around | Between], *, vector: Floats | None
    ) -> list[list[Neighbour]]:
        with self.snapshot(namespace):
            return [each.alone(self, namespace, vector) for each in asked]

    def search_facts(
        self, namespace: str, vector: Floats, *, as_of: AsOf, minimum_confidence: float, limit: int
    ) -> list[Neighbour]:
        with self._read(namespace) as (connection, number):
            asked = Search(connection, number, self._space, self._indexes, as_of, minimum_confidence)
            return asked.anywhere(vector, check_limit(limit))

    def corpus_size(self, namespace: str) -> CorpusSize:
        with self._read(namespace) as (connection, number):
            return search.corpus_size(connection, number)

    def postings(self, namespace: str, terms: Sequence[str]) -> dict[str, Posting]:
        with self._read(namespace) as (connection, number):
            return self._postings.of(connection, number, terms)

    def nearest_turns(self, namespace: str, vector: Floats, limit: int) -> list[tuple[int, float]]:
        with self._read(namespace) as (connection, number):
            return search.nearest_turns(
                connection, number, vector, check_limit(limit), space=self._space, indexes=self._indexes
            )

    def turn_cards(self, namespace: str, handles: Sequence[int]) -> dict[int, TurnCard]:
        with self._read(namespace) as (connection, number):
            return search.turn_cards(connection, number, handles)

    def turn_vectors(self, namespace: str, handles: Sequence[int]) -> dict[int, CardVectors]:
        with self._read(namespace) as (connection, number):
            return search.turn_vectors(connection, number, handles, self._space)

    def handles(self, namespace: str, turn_ids: Sequence[str]) -> dict[str, int]:
        with self._read(namespace) as (connection, number):
            return turns.handles(connection, number, turn_ids)

    def sample_turns(self, namespace: str, count: int) -> list[int]:
        with self._read(namespace) as (connection, number):
            return search.sample_turns(connection, number, check_limit(count))

    # -- moving and erasing

    def dump(self, namespace: str) -> Generator[Record, None, None]:
        from memgraph_server.stores.sqlite import moving

        with self._read(namespace) as (connection, number):
            if number == namespaces.NOWHERE:
                raise NotFound(f"there is no namespace {namespace!r}")
            yield from moving.dump(connection, number, namespace)

    def load(self, namespace: str, records: Iterable[Record]) -> bool:
        from memgraph_server.stores import records as form
        from memgraph_server.stores.consistency import consistent
        from memgraph_server.stores.sqlite import moving

        check_name(namespace, "namespace")
        _, given = form.begun(namespace, consistent(records))
        with self._connections.writing(schema.accept) as connection:
            if namespaces.find(connection, namespace) == namespaces.NOWHERE:
                moving.load(connection, given, space=self._space, antonym=self._registry.antonym)
                return True
        with closing(self.dump(namespace)) as stored:
            form.require_same(namespace, stored, given)
        return False

    def erase(self, namespace: str, *, now: Instant) -> dict[str, int]:  # noqa: ARG002  the port's
        with self._write(namespace) as (connection, number):
            receipt = erase(connection, number)
        self._indexes.forget(number)
        self._postings.forget(number)
        left = shred(self._connections)
        return receipt if not left else {**receipt, "log_pages_left": left}

    def readiness(self, namespace: str) -> Readiness:
        with self._read(namespace) as (connection, number):
            return queue.readiness(connection, number, self._space.embedder, schema.version())

    # -- the whole store

    def migrate(self) -> list[str]:
        return schema.apply_missing(self._connections, schema.sqlite_migrations())

    def check(self) -> list[str]:
        return maintenance.problems(self._connections)

    def namespaces(self) -> Iterator[str]:
        with self._any() as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM namespace ORDER BY name")]
        yield from names

    def overall(self) -> Readiness:
        with self._any() as connection:
            return queue.readiness(connection, None, self._space.embedder, schema.version())

    def lease(
        self, worker: str, *, now: Instant, seconds: float, limit: int, session: tuple[str, str] | None = None
    ) -> Lease | None:
        with self._any() as connection:
            if queue.due(connection, now, session) is None:  # an idle worker takes no write lock
                return None
        with self._connections.writing(schema.accept) as connection:
            return queue.lease(
                connection, _readable(worker), now=now, seconds=seconds, limit=check_limit(limit), of=session
            )

    def renew(self, lease: Lease, *, now: Instant, seconds: float) -> Lease | None:
        until = now + round(seconds * 1_000_000)
        with self._connections.writing(schema.accept) as connection:
            held = queue.renew(connection, lease, until)
        return dataclasses.replace(lease, until=until) if held else None

    def release(self, lease: Lease) -> None:
        with self._connections.writing(schema.accept) as connection:
            queue.release(connection, lease.token, lease.namespace, lease.session_id)

    def stale_vectors(self, embedder: str, limit: int) -> list[tuple[str, str, str]]:
        with self._any() as connection:
            return maintenance.stale_vectors(connection, embedder, check_limit(limit))

    def outdated_vectors(self, embedder: str) -> int:
        with self._any() as connection:
            return maintenance.outdated_vectors(connection, embedder)

    def replace_vectors(
        self,
        namespace: str,
        embedder: str,
        turns: Mapping[str, TurnVectors | None],
        triples: Mapping[str, Floats | None],
    ) -> None:
        space = dataclasses.replace(self._space, embedder=embedder)
        with self._write(namespace) as (connection, number):
            maintenance.replace_vectors(connection, number, space, turns, triples)

    def close(self) -> None:
        self._connections.close()

    @staticmethod
    def _standing(connection: Connection, namespace: int, entity_id: str | None, as_of: AsOf) -> int | None:
        """The entity that stood for this one then; an id nobody has matches nothing."""
        if entity_id is None:
            return None
        try:
            handle = entities.handle_of(connection, namespace, entity_id)
        except NotFound:
            return namespaces.NOWHERE
        return entities.canonical_at(connection, namespace, handle, as_of.known_at)


def _of_turn(proposal: Proposal, turn_id: str) -> Proposal:
    """A turn's proposal points to the turn, whoever forgot to say so."""
    return proposal if proposal.turn_id == turn_id else dataclasses.replace(proposal, turn_id=turn_id)


def _readable(reason: str) -> str:
    """A reason is made for people, out of errors: what cannot be stored in it is replaced."""
    return reason.encode("utf-8", "replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")
