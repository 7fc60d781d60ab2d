"""`Neo4jStore`: the store port over one Neo4j database. Each verb is one transaction and hands it to the file that
knows; nothing is decided here (stores/port.py has the contract, the files beside this one the rules)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from memgraph_server.errors import NotFound
from memgraph_server.memory.facts import Entity, Intent
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.turns import Turn, TurnState
from memgraph_server.stores.about import Around, Between
from memgraph_server.stores.checks import (
    check_instant,
    check_limit,
    check_name,
    check_proposal,
    check_texts,
    check_turn,
)
from memgraph_server.stores.cursor import listed, read_cursor, write_cursor
from memgraph_server.stores.neo4j_store import (
    claims,
    entities,
    facts,
    maintenance,
    queue,
    schema,
    search,
    turns,
)
from memgraph_server.stores.neo4j_store.beliefs import Beliefs
from memgraph_server.stores.neo4j_store.connection import Statements
from memgraph_server.stores.neo4j_store.erase import erase
from memgraph_server.stores.neo4j_store.names import check_length
from memgraph_server.stores.neo4j_store.neighbours import Search, search_together
from memgraph_server.stores.neo4j_store.transactions import Transactions, check_namespace
from memgraph_server.stores.neo4j_store.vectors import turn_embedding
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

if TYPE_CHECKING:
    from memgraph_server.stores.records import Record

_T = TypeVar("_T")
#: What is believed now, at any valid time.
_NOW = AsOf()
#: A number that no entity has.
_NOBODY = -1


class Neo4jStore(Transactions):
    """GraphStore and Operations. Thread-safe; any number of processes may use one database. Call `migrate` once."""

    # -- turns

    def append_turns(
        self, namespace: str, new: Sequence[Turn], *, job_id: str, now: Instant, key: str | None = None
    ) -> StoredTurns:
        check_namespace(namespace)
        check_name(job_id, "job_id")
        check_texts([key] if key is not None else [], "key")
        check_instant(now, "now")
        for field, text in (("job_id", job_id), ("key", key)):
            check_length(text, field)
        for turn in new:
            check_turn(turn)
            check_length(turn.id, "id")
            check_length(turn.session_id, "session_id")
        prepared = turns.prepare(new)  # before the lock is taken
        return self._write(
            namespace, lambda ask: turns.append(ask, namespace, prepared, job_id=job_id, now=now, key=key)
        )

    def job(self, namespace: str, job_id: str) -> Job:
        return self._read(namespace, lambda ask: turns.job(ask, namespace, job_id))

    def turns(self, namespace: str, turn_ids: Sequence[str]) -> list[Turn]:
        return self._read(namespace, lambda ask: turns.fetch(ask, namespace, turn_ids))

    def turn_status(self, namespace: str, turn_id: str) -> TurnStatus:
        return self._read(namespace, lambda ask: queue.status(ask, namespace, turn_id))

    def previous_turns(self, namespace: str, turn_id: str, count: int) -> list[Turn]:
        check_limit(count)
        return self._read(namespace, lambda ask: turns.previous(ask, namespace, turn_id, count))

    def session_speakers(self, namespace: str, session_id: str) -> list[str]:
        return self._read(namespace, lambda ask: turns.speakers(ask, namespace, session_id))

    # -- reading outcomes

    def apply_outcome(self, namespace: str, outcome: TurnOutcome, *, lease: str | None, now: Instant) -> Applied:
        for name, kind in outcome.mentions:
            check_name(name, "mentions")
            check_texts([kind], "mentions")
        check_instant(now, "now")
        proposals = [_of_turn(proposal, outcome.turn_id) for proposal in outcome.proposals]
        for proposal in proposals:
            _check_proposal(proposal)
        return self._write(namespace, lambda ask: self._apply(ask, namespace, outcome, proposals, lease=lease, now=now))

    def _apply(
        self,
        ask: Statements,
        namespace: str,
        outcome: TurnOutcome,
        proposals: Sequence[Proposal],
        *,
        lease: str | None,
        now: Instant,
    ) -> Applied:
        mentioned = [name for name, _ in outcome.mentions]
        beliefs = self._beliefs(ask, namespace, now, proposals, mentions=mentioned, turn=outcome.turn_id)
        if beliefs.loaded.state is None:
            raise NotFound(f"there is no turn {outcome.turn_id!r}")
        if beliefs.loaded.state != TurnState.PENDING or (lease is not None and lease != beliefs.loaded.token):
            return Applied.NOT
        beliefs.assert_all(proposals, outcome.triple_vectors)
        mentions = list(dict.fromkeys(beliefs.name_all(outcome.mentions)))
        vectors = turn_embedding(self._space, outcome.vectors)
        embedded = [] if vectors is None else [vectors]
        return beliefs.pending.send_outcome(ask, outcome.turn_id, mentions, embedded, lease=lease, cost=outcome.cost)

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
        said = _readable(reason)
        self._change(
            namespace, lambda ask: queue.fail(ask, namespace, turn_id, reason=said, final=final, retry_at=retry_at)
        )

    def replay(self, namespace: str, turn_ids: Sequence[str] | None, *, now: Instant) -> int:
        return self._change(namespace, lambda ask: queue.replay(ask, namespace, turn_ids, now))

    def dead_turns(self, namespace: str, limit: int, cursor: str | None) -> tuple[list[TurnStatus], str | None]:
        check_namespace(namespace)
        after = read_cursor("dead_turns", namespace, cursor, (int,)) or [0]
        check_limit(limit)
        found, more = self._read(namespace, lambda ask: queue.dead_turns(ask, namespace, limit, int(after[0])))
        return found, None if more is None else write_cursor("dead_turns", namespace, [more])

    # -- entities

    def resolve(self, namespace: str, name: str) -> Entity | None:
        return self.find_names(namespace, [name]).get(name)

    def find_names(self, namespace: str, names: Sequence[str]) -> dict[str, Entity]:
        return self._read(namespace, lambda ask: entities.find(ask, namespace, names))

    def entity(self, namespace: str, entity_id: str) -> Entity:
        return self._read(namespace, lambda ask: entities.get(ask, namespace, entity_id))

    def entities(
        self, namespace: str, *, limit: int, cursor: str | None = None, like: str | None = None
    ) -> tuple[list[Entity], str | None]:
        check_namespace(namespace)
        asked = listed("entities", like)
        after = read_cursor(asked, namespace, cursor, (str,)) or [""]
        check_limit(limit)
        found, more = self._read(namespace, lambda ask: entities.page(ask, namespace, limit, str(after[0]), like))
        return found, None if more is None else write_cursor(asked, namespace, [more])

    def merge(self, namespace: str, entity_id: str, into: str, *, now: Instant) -> Entity:
        def change(beliefs: Beliefs) -> Entity:
            target = entities.numbers_of(beliefs.ask, namespace, into)
            moved = entities.numbers_of(beliefs.ask, namespace, entity_id)
            entities.merge(beliefs.ask, namespace, moved, target, beliefs.stamp)
            beliefs.follow_merges(moved[0])
            return entities.get(beliefs.ask, namespace, into)

        return self._writing_beliefs(namespace, now, change)

    def unmerge(self, namespace: str, entity_id: str, *, now: Instant) -> Entity:
        def change(beliefs: Beliefs) -> Entity:
            number, stood = entities.numbers_of(beliefs.ask, namespace, entity_id)
            entities.unmerge(beliefs.ask, namespace, number, beliefs.stamp)
            beliefs.follow_merges(stood)
            return entities.get(beliefs.ask, namespace, entity_id)

        return self._writing_beliefs(namespace, now, change)

    # -- assertions and facts

    def assert_facts(
        self, namespace: str, proposals: Sequence[Proposal], vectors: Mapping[str, Floats], *, now: Instant
    ) -> list[str]:
        check_namespace(namespace)
        check_instant(now, "now")
        for proposal in proposals:
            _check_proposal(proposal)

        def change(ask: Statements) -> list[str]:
            beliefs = self._beliefs(ask, namespace, now, proposals)
            ids = beliefs.assert_all(proposals, vectors)
            beliefs.send()
            return ids

        return self._write(namespace, change)

    def assertion(self, namespace: str, assertion_id: str) -> AssertionView:
        return self._read(namespace, lambda ask: claims.view(ask, namespace, assertion_id))

    def retract_assertion(self, namespace: str, assertion_id: str, *, reason: str, now: Instant) -> None:
        def change(beliefs: Beliefs) -> None:
            number = claims.number_of(beliefs.ask, namespace, assertion_id)
            beliefs.withdraw([number], _readable(reason))

        self._writing_beliefs(namespace, now, change)

    def retract_fact(self, namespace: str, fact_id: str, *, reason: str, now: Instant) -> list[str]:
        def change(beliefs: Beliefs) -> list[str]:
            behind = facts.supporters(beliefs.ask, namespace, fact_id)
            return beliefs.withdraw(behind, _readable(reason))

        return self._writing_beliefs(namespace, now, change)

    def set_cardinality(self, namespace: str, relation: str, single: bool | None, *, reason: str, now: Instant) -> None:
        check_name(relation, "relation")
        check_length(relation, "relation")
        said = _readable(reason)
        self._writing_beliefs(namespace, now, lambda beliefs: beliefs.set_cardinality(relation, single, said))

    def cardinalities(self, namespace: str) -> dict[str, bool]:
        return self._read(namespace, lambda ask: claims.cardinalities(ask, namespace))

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
        check_namespace(namespace)
        asked = listed("timeline", entity_id, relation, tail_id, as_of.valid_at, as_of.known_at, minimum_confidence)
        after = read_cursor(asked, namespace, cursor, (int, str, int, int))
        most = None if limit is None else check_limit(limit)

        def read(ask: Statements) -> tuple[list[FactView], tuple[str | int, ...] | None]:
            return facts.timeline(
                ask,
                namespace,
                head=_standing(ask, namespace, entity_id, as_of),
                relation=relation,
                tail=_standing(ask, namespace, tail_id, as_of),
                as_of=as_of,
                minimum_confidence=minimum_confidence,
                limit=most,
                after=after,
            )

        found, more = self._read(namespace, read)
        return Timeline(tuple(found), None if more is None else write_cursor(asked, namespace, more))

    def fact_versions(self, namespace: str, fact_id: str) -> list[FactView]:
        return self._read(namespace, lambda ask: facts.versions(ask, namespace, fact_id))

    def facts_of_turns(self, namespace: str, turn_ids: Sequence[str], as_of: AsOf = _NOW) -> dict[str, list[FactView]]:
        return self._read(namespace, lambda ask: facts.of_turns(ask, namespace, turn_ids, as_of))

    def ends_of_turns(
        self, namespace: str, turn_ids: Sequence[str], known_at: Instant | None = None
    ) -> dict[str, frozenset[int]]:
        return self._read(namespace, lambda ask: facts.ends_of_turns(ask, namespace, turn_ids, known_at))

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
        check_limit(limit)

        def read(ask: Statements) -> list[Neighbour]:
            asked = Search(ask, namespace, self._space, as_of, minimum_confidence, intents)
            return asked.around([entity_id], vector, limit)[0]

        return self._read(namespace, read)

    def facts_between(
        self, namespace: str, head: str, relations: Sequence[str], *, as_of: AsOf, limit: int, reverse: bool = False
    ) -> list[Neighbour]:
        asked = Between(head, tuple(relations), as_of, limit, reverse)
        return self.facts_about(namespace, [asked], vector=None)[0]

    def facts_about(
        self, namespace: str, asked: Sequence[Around | Between], *, vector: Floats | None
    ) -> list[list[Neighbour]]:
        for each in asked:
            check_limit(each.limit)
        return self._read(namespace, lambda ask: search_together(ask, namespace, self._space, asked, vector))

    def search_facts(
        self, namespace: str, vector: Floats, *, as_of: AsOf, minimum_confidence: float, limit: int
    ) -> list[Neighbour]:
        check_limit(limit)
        return self._read(
            namespace,
            lambda ask: Search(ask, namespace, self._space, as_of, minimum_confidence).anywhere(vector, limit),
        )

    def corpus_size(self, namespace: str) -> CorpusSize:
        return self._read(namespace, lambda ask: search.corpus_size(ask, namespace))

    def postings(self, namespace: str, terms: Sequence[str]) -> dict[str, Posting]:
        return self._read(namespace, lambda ask: search.postings(ask, namespace, terms))

    def nearest_turns(self, namespace: str, vector: Floats, limit: int) -> list[tuple[int, float]]:
        check_limit(limit)
        return self._read(namespace, lambda ask: search.nearest_turns(ask, namespace, vector, limit, self._space))

    def turn_cards(self, namespace: str, handles: Sequence[int]) -> dict[int, TurnCard]:
        return self._read(namespace, lambda ask: search.turn_cards(ask, namespace, handles))

    def turn_vectors(self, namespace: str, handles: Sequence[int]) -> dict[int, CardVectors]:
        return self._read(namespace, lambda ask: search.turn_vectors(ask, namespace, handles, self._space))

    def handles(self, namespace: str, turn_ids: Sequence[str]) -> dict[str, int]:
        return self._read(namespace, lambda ask: turns.handles(ask, namespace, turn_ids))

    def sample_turns(self, namespace: str, count: int) -> list[int]:
        check_limit(count)
        return self._read(namespace, lambda ask: search.sample_turns(ask, namespace, count))

    # -- moving and erasing

    def dump(self, namespace: str) -> Generator[Record, None, None]:
        from memgraph_server.stores.neo4j_store.dumping import dump

        check_namespace(namespace)
        self.connection.accept(schema.accept)
        yield from dump(self.connection, namespace)

    def load(self, namespace: str, records: Iterable[Record]) -> bool:
        from memgraph_server.stores import records as form
        from memgraph_server.stores.consistency import consistent
        from memgraph_server.stores.neo4j_store.moving import Loading

        check_namespace(namespace)
        self.connection.accept(schema.accept)
        header, given = form.begun(namespace, consistent(records))
        if Loading(self.connection, namespace, self._registry.antonym).load(header, given):
            return True
        with closing(self.dump(namespace)) as stored:
            form.require_same(namespace, stored, given)
        return False

    def erase(self, namespace: str, *, now: Instant) -> dict[str, int]:  # noqa: ARG002  the port's
        check_namespace(namespace)
        self.connection.accept(schema.accept)
        self._whole.discard(namespace)
        return erase(self.connection, namespace)

    def readiness(self, namespace: str) -> Readiness:
        embedder, version = self._space.embedder, schema.version()
        return self._read(namespace, lambda ask: queue.readiness(ask, namespace, embedder, version))

    # -- the whole store

    def migrate(self) -> list[str]:
        return schema.apply_missing(self.connection, schema.neo4j_migrations())

    def check(self) -> list[str]:
        cut_off = self._any(lambda ask: ask(maintenance.CUT_OFF))
        found = [f"{name!r}: its import or its erasure was cut off" for (name,) in cut_off]
        for name in self.namespaces():
            found += self._any(lambda ask, name=name: maintenance.problems(ask, name))  # type: ignore[misc]
        return found

    def namespaces(self) -> Iterator[str]:
        yield from self._any(lambda ask: [name for (name,) in ask(queue.NAMESPACES)])

    def overall(self) -> Readiness:
        return self._any(lambda ask: queue.readiness(ask, None, self._space.embedder, schema.version()))

    def lease(
        self, worker: str, *, now: Instant, seconds: float, limit: int, session: tuple[str, str] | None = None
    ) -> Lease | None:
        check_limit(limit)
        name = _readable(worker)
        # an idle worker takes no lock
        asked = [session] if session is not None else self._any(lambda ask: queue.candidates(ask, now))
        self.connection.accept(schema.accept)
        for found in asked:
            lease = self.connection.stating(
                lambda ask, found=found: queue.lend(ask, found, name, now=now, seconds=seconds, limit=limit)  # type: ignore[misc]
            )
            if lease is not None:
                return lease
        return None

    def renew(self, lease: Lease, *, now: Instant, seconds: float) -> Lease | None:
        self.connection.accept(schema.accept)
        until = now + round(seconds * 1_000_000)
        held = self.connection.stating(lambda ask: queue.renew(ask, lease, until))
        return dataclasses.replace(lease, until=until) if held else None

    def release(self, lease: Lease) -> None:
        self.connection.accept(schema.accept)
        self.connection.stating(lambda ask: queue.release(ask, lease))

    def stale_vectors(self, embedder: str, limit: int) -> list[tuple[str, str, str]]:
        check_limit(limit)
        return self._any(lambda ask: maintenance.stale_vectors(ask, embedder, limit))

    def outdated_vectors(self, embedder: str) -> int:
        return self._any(lambda ask: maintenance.outdated_vectors(ask, embedder))

    def replace_vectors(
        self,
        namespace: str,
        embedder: str,
        turns: Mapping[str, TurnVectors | None],
        triples: Mapping[str, Floats | None],
    ) -> None:
        space = dataclasses.replace(self._space, embedder=embedder)
        self._change(namespace, lambda ask: maintenance.replace_vectors(ask, namespace, space, turns, triples))

    def ahead(self, read: Callable[[], _T]) -> Callable[[], _T]:
        return self.connection.ahead(read)

    def close(self) -> None:
        self.connection.close()


def _check_proposal(proposal: Proposal) -> None:
    check_proposal(proposal)
    for field in ("relation", "id", "turn_id"):
        check_length(getattr(proposal, field), field)


def _standing(ask: Statements, namespace: str, entity_id: str | None, as_of: AsOf) -> int | None:
    """The entity that stood for this one then; an id nobody has matches nothing."""
    if entity_id is None:
        return None
    number = entities.standing(ask, namespace, entity_id, as_of.known_at)
    return _NOBODY if number is None else number


def _of_turn(proposal: Proposal, turn_id: str) -> Proposal:
    """A turn's proposal points to the turn, whoever forgot to say so."""
    return proposal if proposal.turn_id == turn_id else dataclasses.replace(proposal, turn_id=turn_id)


def _readable(reason: str) -> str:
    """A reason is made for people, out of errors: what cannot be stored in it is replaced."""
    return reason.encode("utf-8", "replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")
