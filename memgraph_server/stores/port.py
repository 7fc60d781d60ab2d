"""The store port: domain verbs, no query text. Both adapters pass one contract suite (tests/stores/contract.py).

Rules that every adapter keeps:
- every verb takes the namespace first and sees nothing of any other namespace; namespaces are compared exactly;
- every write is one transaction: all of it is there, or none, and it is on disk when the verb returns;
- the recorded clock of a namespace only moves forward: a write is recorded at max(now, last + 1 µs);
- assertions and turns are never changed; facts change by closing a version and writing the next;
- names, texts and ids are bound parameters, never query syntax;
- `now` is an argument: an adapter never reads a clock. Verbs are safe to call from several threads and processes.

Errors: InvalidInput, NotFound, Conflict, StoreUnavailable, StoreCorrupt, SchemaMismatch.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memgraph_server.memory.facts import Assertion, Entity, Fact, Intent
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.turns import Turn, TurnState
from memgraph_server.stores.about import Around, Between

if TYPE_CHECKING:  # pydantic is not imported before something is moved
    from memgraph_server.stores.records import Record

Floats = NDArray[np.float32]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class AsOf:
    """Both clocks of a read. `valid_at` None: any valid time; `known_at` None: what is believed now."""

    valid_at: Instant | None = None
    known_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a language model took to read turns: calls that were answered, and their tokens. One call for several turns
    is shared among them, so that a turn may have tokens and no call."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """Progress of one call that stored turns. `reasons` maps dead turn ids to why; `cost`: of its turns together."""

    id: str
    total: int
    done: int
    dead: int
    created_at: Instant
    reasons: Mapping[str, str]
    cost: Cost = Cost()

    @property
    def pending(self) -> int:
        return self.total - self.done - self.dead


@dataclass(frozen=True, slots=True)
class StoredTurns:
    """`new` and `known` turn ids in the order given (known: same id and content were there already)."""

    job: Job
    new: tuple[str, ...]
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnStatus:
    turn_id: str
    state: TurnState
    attempts: int
    reason: str | None
    recorded_at: Instant
    cost: Cost = Cost()


#: Turns before the first of a lease that come with it, for whoever reads it.
CONTEXT = 4


@dataclass(frozen=True, slots=True)
class Lease:
    """Pending turns of one session, in order, lent to one worker until `until`; nobody else gets that session.

    `tries`: failed attempts at the first of them. `lost`: who had the session before let the lease run out, most likely
    since its process ended while the first of them was read. What reading them needs comes along, so that nothing more
    is asked: `before`, the turns just before the first, oldest first, at most CONTEXT; `speakers`, all who speak in the
    session.
    """

    namespace: str
    session_id: str
    token: str
    until: Instant
    turns: tuple[Turn, ...] = field(repr=False)
    tries: int = 0
    before: tuple[Turn, ...] = field(default=(), repr=False)
    speakers: tuple[str, ...] = field(default=(), repr=False)
    lost: bool = False

    @property
    def turn_ids(self) -> tuple[str, ...]:
        return tuple(turn.id for turn in self.turns)


@dataclass(frozen=True, slots=True)
class TurnVectors:
    """A turn's vectors: pooled (dimension,) unit float32; tokens (n, dimension) unit rows; pieces as many."""

    pooled: Floats
    tokens: Floats
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """All that reading one turn gave; applied with the turn's new state in one transaction.

    `triple_vectors`: pooled vectors of `triple_text(head, relation, tail)` for proposals with a tail, by that text.
    """

    turn_id: str
    proposals: tuple[Proposal, ...]
    mentions: tuple[tuple[str, str], ...]
    vectors: TurnVectors | None
    triple_vectors: Mapping[str, Floats]
    cost: Cost = Cost()


class Applied(IntEnum):
    """What became of an outcome; false where nothing was written.

    LAST: applied, and nothing of its session is pending any more, so that the lease was given back with it.
    """

    NOT = 0
    MORE = 1
    LAST = 2


@dataclass(frozen=True, slots=True)
class Timeline:
    """Facts with the names of their heads and tails and, for each, the supporting assertions and turns."""

    facts: tuple[FactView, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class FactView:
    fact: Fact
    head_name: str
    tail_name: str
    supports: tuple[str, ...]  # assertion ids
    turns: tuple[str, ...]  # turn ids, oldest first


@dataclass(frozen=True, slots=True)
class AssertionView:
    assertion: Assertion
    head_name: str
    tail_name: str | None
    withdrawn_at: Instant | None
    withdrawn_because: str | None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A fact seen from one of its ends: `here` is the entity asked about, `there` the other."""

    fact: Fact
    here: str
    there: str
    head_name: str
    tail_name: str
    similarity: float  # cosine of the triple's vector to the query's, 0.0 where either is absent
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Posting:
    """Where a term occurs: `handles` ascending, `counts` (occurrences) alongside; `documents` is its full frequency.

    A term in more documents than the adapter's ceiling has `documents` but empty arrays: it says nothing.
    """

    documents: int
    handles: NDArray[np.int64]
    counts: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TurnCard:
    """What ranking needs of a turn without its text. Handles are integers, dense within a store, ascending with time
    of arrival. `length` counts lexical terms; `tokens` the budget's tokens are counted from the text, not here.
    """

    handle: int
    turn_id: str
    session_id: str
    position: int
    role: str
    speaker: str
    at: Instant
    recorded_at: Instant
    length: int
    characters: int
    previous: int | None  # handle in the same session
    next: int | None
    pooled: Floats | None = None  # these three: as in CardVectors, where somebody put them together
    token_bits: NDArray[np.uint8] | None = None
    pieces: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CardVectors:
    """What a turn's card has besides, of the embedder that the store searches now."""

    handle: int
    pooled: Floats  # (dimension,), dequantized
    token_bits: NDArray[np.uint8]  # (n, dimension // 8), one bit a dimension
    pieces: Sequence[str]


@dataclass(frozen=True, slots=True)
class CorpusSize:
    turns: int
    terms: int  # summed lengths


@dataclass(frozen=True, slots=True)
class Readiness:
    pending: int
    oldest_pending_at: Instant | None
    dead: int
    schema_version: int
    embedder: str | None


class GraphStore(Protocol):
    """A namespace's memory. See the module's rules."""

    # -- turns: stored verbatim and committed before anything else happens
    def append_turns(
        self, namespace: str, turns: Sequence[Turn], *, job_id: str, now: Instant, key: str | None = None
    ) -> StoredTurns:
        """Store turns as PENDING, indexed for full-text search at once. Idempotent by turn id; with `key`, the whole
        call is (the same key answers the same job). Raises Conflict where an id is known with other content."""
        ...

    def job(self, namespace: str, job_id: str) -> Job: ...
    def turns(self, namespace: str, turn_ids: Sequence[str]) -> list[Turn]:
        """Those that exist, in the order asked."""
        ...

    def turn_status(self, namespace: str, turn_id: str) -> TurnStatus: ...
    def previous_turns(self, namespace: str, turn_id: str, count: int) -> list[Turn]:
        """The turns just before this one in its session, oldest first."""
        ...

    def session_speakers(self, namespace: str, session_id: str) -> list[str]: ...

    # -- reading outcomes
    def apply_outcome(self, namespace: str, outcome: TurnOutcome, *, lease: str | None, now: Instant) -> Applied:
        """Entities, assertions, facts, vectors and the turn's DONE state in one transaction, and the lease given back
        where nothing is left to read; NOT where the turn was DONE already or the lease is lost (nothing is written
        then)."""
        ...

    def fail_turn(
        self, namespace: str, turn_id: str, *, reason: str, final: bool, retry_at: Instant, now: Instant
    ) -> None: ...
    def replay(self, namespace: str, turn_ids: Sequence[str] | None, *, now: Instant) -> int:
        """DEAD turns (all, or these) back to PENDING; how many."""
        ...

    def dead_turns(self, namespace: str, limit: int, cursor: str | None) -> tuple[list[TurnStatus], str | None]: ...

    # -- entities
    def resolve(self, namespace: str, name: str) -> Entity | None:
        """The entity of that name or alias, merges followed; exact up to Unicode NFC, white space and case."""
        ...

    def find_names(self, namespace: str, names: Sequence[str]) -> dict[str, Entity]:
        """Many at once, for linking a question's words."""
        ...

    def entity(self, namespace: str, entity_id: str) -> Entity: ...
    def entities(
        self, namespace: str, *, limit: int, cursor: str | None = None, like: str | None = None
    ) -> tuple[list[Entity], str | None]: ...
    def merge(self, namespace: str, entity_id: str, into: str, *, now: Instant) -> Entity: ...
    def unmerge(self, namespace: str, entity_id: str, *, now: Instant) -> Entity: ...

    # -- assertions and facts
    def assert_facts(
        self, namespace: str, proposals: Sequence[Proposal], vectors: Mapping[str, Floats], *, now: Instant
    ) -> list[str]:
        """All of them or none; assertion ids in order. An id known with the same content is once; with other content,
        Conflict."""
        ...

    def assertion(self, namespace: str, assertion_id: str) -> AssertionView: ...
    def retract_assertion(self, namespace: str, assertion_id: str, *, reason: str, now: Instant) -> None:
        """Withdraw one claim as of now; a second time changes nothing."""
        ...

    def retract_fact(self, namespace: str, fact_id: str, *, reason: str, now: Instant) -> list[str]:
        """Withdraw all assertions that support the current fact; their ids."""
        ...

    def set_cardinality(self, namespace: str, relation: str, single: bool | None, *, reason: str, now: Instant) -> None:
        """Record a learned (or withdrawn: None) cardinality and derive the relation's facts again."""
        ...

    def cardinalities(self, namespace: str) -> dict[str, bool]: ...
    def timeline(
        self,
        namespace: str,
        *,
        entity_id: str | None = None,
        relation: str | None = None,
        tail_id: str | None = None,
        as_of: AsOf = AsOf(),
        minimum_confidence: float = 0.0,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Timeline:
        """Facts whose head is the entity (all heads: None), sorted by head, relation and start."""
        ...

    def fact_versions(self, namespace: str, fact_id: str) -> list[FactView]:
        """Every version of the fact's triple, oldest recorded first."""
        ...

    def facts_of_turns(
        self, namespace: str, turn_ids: Sequence[str], as_of: AsOf = AsOf()
    ) -> dict[str, list[FactView]]: ...
    def ends_of_turns(
        self, namespace: str, turn_ids: Sequence[str], known_at: Instant | None = None
    ) -> dict[str, frozenset[int]]:
        """Of each turn, the entities that its assertions are about, at either end, as they stood at `known_at` (None:
        now), by numbers that tell them apart; turns without any are left out. Reads no fact: for a hundred turns."""
        ...

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
        """Facts with the entity at either end, nearest to `vector` first. A hub's come by indexed search: the cost
        depends on `limit`, not on the hub's degree."""
        ...

    def facts_between(
        self, namespace: str, head: str, relations: Sequence[str], *, as_of: AsOf, limit: int, reverse: bool = False
    ) -> list[Neighbour]:
        """Facts of the entity with these relations (as tail where `reverse`), for counterfactual repair; latest start
        first."""
        ...

    def facts_about(
        self, namespace: str, asked: Sequence[Around | Between], *, vector: Floats | None
    ) -> list[list[Neighbour]]:
        """`neighbours` and `facts_between` of many entities, in the order asked, in as few round trips as for one."""
        ...

    def search_facts(
        self, namespace: str, vector: Floats, *, as_of: AsOf, minimum_confidence: float, limit: int
    ) -> list[Neighbour]: ...
    def corpus_size(self, namespace: str) -> CorpusSize: ...
    def postings(self, namespace: str, terms: Sequence[str]) -> dict[str, Posting]:
        """Of turns; terms as `memory.terms.terms` gives them."""
        ...

    def nearest_turns(self, namespace: str, vector: Floats, limit: int) -> list[tuple[int, float]]:
        """(handle, approximate cosine), best first."""
        ...

    def turn_cards(self, namespace: str, handles: Sequence[int]) -> dict[int, TurnCard]:
        """Without vectors."""
        ...

    def turn_vectors(self, namespace: str, handles: Sequence[int]) -> dict[int, CardVectors]:
        """Of the turns that have any."""
        ...

    def handles(self, namespace: str, turn_ids: Sequence[str]) -> dict[str, int]: ...
    def sample_turns(self, namespace: str, count: int) -> list[int]:
        """Handles spread evenly over the namespace, the same for the same content: the base of a score's mean and
        spread."""
        ...

    # -- moving and erasing
    def dump(self, namespace: str) -> Generator[Record, None, None]:
        """The whole namespace as records (stores/records.py), one state of it, in bounded memory; the same content
        gives the same records on every store. To be read to its end or closed, and not held while something slow is
        waited for: on Neo4j the namespace's writers wait. Raises NotFound where nothing was ever written."""
        ...

    def load(self, namespace: str, records: Iterable[Record]) -> bool:
        """What `dump` gave, into a namespace that is not there yet: ids, both clocks, order and vectors as they were;
        later writes are recorded after the last instant of the records. It appears whole or not at all. False where
        these very records are there already; Conflict where anything else is. Raises InvalidInput, naming the record's
        number as its line, where they are not consistent (stores/consistency.py)."""
        ...

    def erase(self, namespace: str, *, now: Instant) -> dict[str, int]:
        """Everything of the namespace, index entries too; rows removed, by kind. The only destructive verb."""
        ...

    def readiness(self, namespace: str) -> Readiness: ...


@runtime_checkable
class Snapshots(Protocol):
    """What a store may have beside its verbs: many reads as one, so that they agree and each costs less."""

    def snapshot(self, namespace: str) -> AbstractContextManager[None]:
        """Within the context, this thread's reads of the namespace see the state at its beginning, whatever others
        write meanwhile; its own writes may not be seen either. Not to be held while something slow is waited for."""
        ...


@runtime_checkable
class ReadsAhead(Protocol):
    """What a store on another machine may have beside its verbs: reads that wait for it at the same time."""

    def ahead(self, read: Callable[[], _T]) -> Callable[[], _T]:
        """Begin `read`, some of this store's reading verbs, in another thread; what is returned waits for its result,
        and raises what it raised. A read does not itself read ahead."""
        ...


class Operations(Protocol):
    """What concerns the whole store and reveals no content: used by workers, the command line and readiness."""

    def migrate(self) -> list[str]:
        """Apply missing migrations, each in one transaction with its record; names applied."""
        ...

    def check(self) -> list[str]:
        """Integrity problems in words; empty where there are none."""
        ...

    def namespaces(self) -> Iterator[str]: ...
    def overall(self) -> Readiness: ...
    def lease(
        self, worker: str, *, now: Instant, seconds: float, limit: int, session: tuple[str, str] | None = None
    ) -> Lease | None:
        """Lend the session whose oldest due pending turn has waited longest; or `session` (namespace, id) and no
        other. None where there is nothing to lend."""
        ...

    def renew(self, lease: Lease, *, now: Instant, seconds: float) -> Lease | None:
        """The same lease until `now` + `seconds`; None where it is lost: given back, or lent again."""
        ...

    def release(self, lease: Lease) -> None: ...
    def stale_vectors(self, embedder: str, limit: int) -> list[tuple[str, str, str]]:
        """(namespace, kind "turn" or "triple", id or text) embedded by another model, or by none, though DONE."""
        ...

    def outdated_vectors(self, embedder: str) -> int:
        """How many DONE turns and triples another model has embedded; those without any vector do not count."""
        ...

    def replace_vectors(
        self,
        namespace: str,
        embedder: str,
        turns: Mapping[str, TurnVectors | None],
        triples: Mapping[str, Floats | None],
    ) -> None:
        """None: it has no vector from now on."""
        ...

    def close(self) -> None: ...
