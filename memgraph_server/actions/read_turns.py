"""The worker's step: pending turns of one session are read by the models and their facts applied, in order.

    lease ── turns in context ──> extract ─┐
                    └───────────> embed ───┴─> outcome ──> apply (one transaction a turn)

Rules:
- a batch is cut into small slices: while one is embedded (outside the interpreter's lock) the next is parsed, and the
  one before is applied, so that the slower model alone sets the pace;
- a slice that fails is read again turn by turn, so that one turn cannot take its neighbours with it; where the first
  turn of a lease has failed before, each is read alone and applied before the next is begun;
- a lease that ran out was lost with its worker, maybe by a fault of the turn in hand, the first that is still pending:
  it counts a try, with twice the patience (decision 0013);
- the first turn that fails ends the batch: later turns of its session wait for it, until it is done or dead;
- a model or a store that is down is nobody's fault: the error goes to the caller and no try is counted;
- where the caller's time limit ends the reading, the first turn that is not applied yet has failed.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from memgraph_server.errors import MemgraphServerError, NotFound
from memgraph_server.language.port import Embedder, Encoding, Extraction, Extractor, InContext, TurnInContext
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import triple_text
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.stores.port import CONTEXT, Applied, Cost, GraphStore, Lease, TurnOutcome, TurnVectors

#: Turns parsed and embedded together, and their characters, captions included; small, so that the first facts are
#: there soon, overlap begins early, and whoever stops the worker waits a moment only.
SLICE = 16
SLICE_CHARACTERS = 8_000
#: How often a wait for the models looks whether it is to stop.
STOP_SECONDS = 0.1

log = logging.getLogger(__name__)


#: How many times as often a turn may lose its worker as it may fail: most that end a process are nobody's fault.
LOST_PATIENCE = 2


@dataclass(frozen=True, slots=True)
class Retries:
    """When a turn is tried again: after 1, 2, 4 … seconds, at most `longest`; dead after `attempts` tries, or twice as
    many where it was its worker that was lost."""

    attempts: int = 5
    first_seconds: float = 1.0
    longest_seconds: float = 60.0

    def final(self, tries: int, *, lost: bool = False) -> bool:
        return tries >= self.attempts * (LOST_PATIENCE if lost else 1)

    def wait(self, tries: int) -> float:
        """Seconds to wait after the given number of failed tries (1 or more)."""
        return min(self.longest_seconds, self.first_seconds * 2.0 ** (tries - 1))

    def wait_lost(self, tries: int) -> float:
        """None after the first lost worker, since the lease had to run out. Spread, so that turns that were read side
        by side when one of them ended the process do not meet again and again."""
        return 0.0 if tries == 1 else self.wait(tries - 1) * random.uniform(0.75, 1.25)  # noqa: S311  no secret


@dataclass(frozen=True, slots=True)
class Reader:
    """The models, two threads to run them side by side, and the rules of retry.

    `names_known`: the extractor wants the names of what the turns before are about. `interrupts`: what the caller's
    time limit raises in the middle of a reading.
    """

    store: GraphStore
    extractor: Extractor
    embedder: Embedder
    retries: Retries = field(default_factory=Retries)
    names_known: bool = False
    interrupts: tuple[type[Exception], ...] = ()
    parsing: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "extract"))
    embedding: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "embed"))

    def close(self) -> None:
        self.parsing.shutdown(wait=True, cancel_futures=True)
        self.embedding.shutdown(wait=True, cancel_futures=True)


@dataclass(slots=True)
class Reading:
    """What one lease came to."""

    applied: int = 0
    failed: str | None = None  # the turn that ended the batch
    lost: bool = False  # the lease went to somebody else
    returned: bool = False  # nothing was left to read, and the lease was given back with the last outcome


def read_lease(
    reader: Reader, lease: Lease, *, clock: Callable[[], Instant], stop: Callable[[], bool] = lambda: False
) -> Reading:
    """Read the lease's turns in order. Raises ModelUnavailable or StoreUnavailable; the turns stay pending then. Raises
    the reader's interrupts; the turn in hand has failed then."""
    reading = Reading()
    try:
        if lease.lost and lease.turns:
            failure = Failure(lease.turn_ids[0], "the process that read it ended, or could not be reached", lost=True)
            _fail(reader, lease, failure, reading, clock)
            return reading
        for outcome in _in_parts(reader, lease, stop):
            if stop() or not _apply(reader, lease, outcome, reading, clock):
                break
    except NotFound:  # the namespace was erased meanwhile
        reading.lost = True
    except reader.interrupts:
        turn_id = lease.turn_ids[min(reading.applied, len(lease.turn_ids) - 1)]
        _fail(reader, lease, Failure(turn_id, "reading it took longer than the time limit"), reading, clock)
        raise
    return reading


def _apply(
    reader: Reader, lease: Lease, outcome: TurnOutcome | Failure, reading: Reading, clock: Callable[[], Instant]
) -> bool:
    """Whether to go on with the next turn."""
    if isinstance(outcome, Failure):
        _fail(reader, lease, outcome, reading, clock)
        return False
    try:
        applied = reader.store.apply_outcome(lease.namespace, outcome, lease=lease.token, now=clock())
    except Exception as error:  # noqa: BLE001 - a fault in applying one turn is that turn's failure
        _raise_if_not_of_turn(reader, error)
        return _apply(reader, lease, Failure(outcome.turn_id, reason(error)), reading, clock)
    reading.applied += bool(applied)
    reading.lost = not applied
    reading.returned = applied is Applied.LAST
    return bool(applied)


@dataclass(frozen=True, slots=True)
class Failure:
    """`lost`: with the worker that read it, which may not be the turn's fault."""

    turn_id: str
    reason: str
    lost: bool = False


def _fail(reader: Reader, lease: Lease, failure: Failure, reading: Reading, clock: Callable[[], Instant]) -> None:
    """One more failed try of a turn: it waits, or is dead."""
    retries, store, now = reader.retries, reader.store, clock()
    tries = store.turn_status(lease.namespace, failure.turn_id).attempts + 1
    final = retries.final(tries, lost=failure.lost)
    wait = retries.wait_lost(tries) if failure.lost else retries.wait(tries)
    retry_at = now + round(wait * 1_000_000)
    log.warning("turn failed, try %d, %s (%s)", tries, "dead" if final else "again later", failure.reason.split(":")[0])
    store.fail_turn(lease.namespace, failure.turn_id, reason=failure.reason, final=final, retry_at=retry_at, now=now)
    reading.failed = failure.turn_id


def reason(error: BaseException) -> str:
    """For the dead letter, stored beside the turn and erased with it: the kind of error and the start of its words."""
    words = str(error).replace("\0", "").encode("utf-8", "replace").decode()
    return f"{type(error).__name__}: {words}"[:300]


def _raise_if_not_of_turn(reader: Reader, error: Exception) -> None:
    """Let errors through that say "try again later" about the whole, not about one turn; and the caller's own."""
    if isinstance(error, (NotFound, *reader.interrupts)) or (
        isinstance(error, MemgraphServerError) and error.status == 503
    ):
        raise error


def _in_parts(reader: Reader, lease: Lease, stop: Callable[[], bool]) -> Iterator[TurnOutcome | Failure]:
    """Outcomes in order. Where the first turn has failed before, nothing of a turn is begun before what comes before it
    was taken, so that whatever ends the process leaves the turn that did it as the first one pending."""
    turns = _in_context(reader, lease)
    for part in [[turn] for turn in turns] if lease.tries else [turns]:
        yield from _outcomes(reader, part, stop)


def _in_context(reader: Reader, lease: Lease) -> list[TurnInContext]:
    known = known_names(reader.store, lease.namespace, lease.before) if reader.names_known else ()
    return list(in_context(lease.before, lease.turns, lease.speakers, known))


def known_names(store: GraphStore, namespace: str, turns: Sequence[Turn]) -> tuple[str, ...]:
    """Heads and tails of the facts that these turns state, the latest turn's first."""
    of_turns = store.facts_of_turns(namespace, [turn.id for turn in turns]) if turns else {}
    views = [view for turn in reversed(turns) for view in of_turns.get(turn.id, [])]
    return tuple(dict.fromkeys(name for view in views for name in (view.head_name, view.tail_name)))


def in_context(
    before: Sequence[Turn], turns: Sequence[Turn], speakers: Sequence[str], names: tuple[str, ...] = ()
) -> Iterator[TurnInContext]:
    """Each turn with the ones before it; the listener is the other speaker where there are exactly two."""
    known = [*before, *turns]  # of each, the last few
    for index, turn in enumerate(turns, start=len(before)):
        others = [speaker for speaker in speakers if speaker and speaker != turn.speaker]
        listener = others[0] if len(others) == 1 and turn.speaker else ""
        yield TurnInContext(
            turn=turn, previous=tuple(known[max(0, index - CONTEXT) : index]), listener=listener, known=names
        )


@dataclass(slots=True)
class _Slice:
    """A few turns on their way through the two threads."""

    turns: Sequence[TurnInContext]
    parsed: Future[list[Extraction]]
    outcomes: Future[list[TurnOutcome]]

    def cancel(self) -> None:
        self.parsed.cancel()
        self.outcomes.cancel()


def _outcomes(
    reader: Reader, turns: Sequence[TurnInContext], stop: Callable[[], bool]
) -> Iterator[TurnOutcome | Failure]:
    """Outcomes in order. The parser is the faster one and works ahead: the embedding thread waits for the first slice
    only, and then finds each parsed already. Ends early, with what is not begun left undone, when told to stop."""
    slices = [_begun(reader, part) for part in slices_of(turns)]
    try:
        for part in slices:
            while not part.outcomes.done():
                if stop():
                    return
                wait([part.outcomes], timeout=STOP_SECONDS)
            yield from _each(reader, part)
    finally:
        for part in slices:
            part.cancel()


def slices_of(turns: Sequence[TurnInContext]) -> Iterator[Sequence[TurnInContext]]:
    """At most SLICE turns with at most SLICE_CHARACTERS, or one turn, at once."""
    start, size = 0, 0
    for index, turn in enumerate(turns):
        length = len(turn.turn.full_text())
        if index > start and (index - start == SLICE or size + length > SLICE_CHARACTERS):
            yield turns[start:index]
            start, size = index, 0
        size += length
    if start < len(turns):
        yield turns[start:]


def _begun(reader: Reader, turns: Sequence[TurnInContext]) -> _Slice:
    parsed = reader.parsing.submit(reader.extractor.extract, turns)
    return _Slice(turns, parsed, reader.embedding.submit(lambda: outcomes(reader.embedder, turns, parsed.result())))


def _each(reader: Reader, part: _Slice) -> Iterator[TurnOutcome | Failure]:
    try:
        yield from part.outcomes.result()
    except Exception as error:  # noqa: BLE001 - whatever a model raises, no turn may end the worker
        _raise_if_not_of_turn(reader, error)
        for turn in part.turns:
            yield _alone(reader, turn)


def _alone(reader: Reader, turn: TurnInContext) -> TurnOutcome | Failure:
    try:
        return outcomes(reader.embedder, [turn], reader.extractor.extract([turn]))[0]
    except Exception as error:  # noqa: BLE001 - as above
        _raise_if_not_of_turn(reader, error)
        return Failure(turn.turn.id, reason(error))


def outcomes(
    embedder: Embedder, turns: Sequence[TurnInContext], extractions: Sequence[Extraction]
) -> list[TurnOutcome]:
    """What is applied for these turns, embedded with their triples in one call. System and tool turns are kept and
    embedded, but nothing is read out of them."""
    if len(extractions) != len(turns):
        raise ValueError(f"{len(turns)} turns gave {len(extractions)} extractions")
    triples = sorted({text for extraction in extractions for text in triple_texts(extraction)})
    encodings = embedder.encode([*(_said(item.turn, item.previous) for item in turns), *triples])
    by_text = {text: encoding.pooled for text, encoding in zip(triples, encodings[len(turns) :], strict=True)}
    return [
        TurnOutcome(
            turn_id=item.turn.id,
            proposals=extraction.proposals if item.turn.role in {Role.USER, Role.ASSISTANT} else (),
            mentions=extraction.mentions,
            vectors=vectors_of(encoding),
            triple_vectors={text: by_text[text] for text in triple_texts(extraction)},
            cost=Cost(extraction.usage.calls, extraction.usage.prompt_tokens, extraction.usage.completion_tokens),
        )
        for item, extraction, encoding in zip(turns, extractions, encodings[: len(turns)], strict=True)
    ]


def _said(turn: Turn, previous: Sequence[Turn]) -> InContext:
    """What is embedded of a turn: its text and captions, in the light of the turn before it."""
    return InContext(turn.full_text(), previous[-1].full_text() if previous else "")


def triple_texts(extraction: Extraction) -> list[str]:
    return [triple_text(one.head, one.relation, one.tail) for one in extraction.proposals if one.tail is not None]


def vectors_of(encoding: Encoding) -> TurnVectors:
    return TurnVectors(pooled=encoding.pooled, tokens=encoding.tokens, pieces=encoding.pieces)


Stale = tuple[str, str, str]  # namespace, kind "turn" or "triple", id or text


def embed_again(reader: Reader, stale: Sequence[Stale], replace: Callable[..., None]) -> list[Stale]:
    """Vectors of turns and triples that another model, or none, has embedded. Gives those that are without from now on:
    what the model finds no word in (invisible characters) has no direction to be searched by. Called by the workers,
    which are in a package of their own (workers/reading.py)."""
    by_namespace: dict[str, dict[str, list[str]]] = {}
    for namespace, kind, item in stale:
        by_namespace.setdefault(namespace, {"turn": [], "triple": []})[kind].append(item)
    without: list[Stale] = []
    for namespace, kinds in by_namespace.items():
        turns = reader.store.turns(namespace, kinds["turn"])
        said = [_said(turn, reader.store.previous_turns(namespace, turn.id, 1)) for turn in turns]
        encodings = reader.embedder.encode([*said, *kinds["triple"]])
        of_turns: Mapping[str, TurnVectors | None] = {
            turn.id: vectors_of(encoding) if encoding.pooled.any() else None
            for turn, encoding in zip(turns, encodings[: len(turns)], strict=True)
        }
        of_triples = {
            text: encoding.pooled if encoding.pooled.any() else None
            for text, encoding in zip(kinds["triple"], encodings[len(turns) :], strict=True)
        }
        if of_turns or of_triples:
            replace(namespace, reader.embedder.name, of_turns, of_triples)
        without += [(namespace, "turn", each) for each in kinds["turn"] if of_turns.get(each) is None]
        without += [(namespace, "triple", each) for each in kinds["triple"] if of_triples[each] is None]
    return without
