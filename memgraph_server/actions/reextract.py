"""Read stored turns again with another model: its assertions are added beside the old ones.

Nothing is replaced: every assertion names who read it (`source`), and a turn's readers count as one voice. All that a
reader has claimed can be taken back, and brought back again (`sources.py`); or just what one run has added, by the ids
that it gave (`added`, its receipt). The same model again adds what is new only, since what says the very same has the
same id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from memgraph_server.actions.read_turns import SLICE, in_context, known_names, triple_texts
from memgraph_server.errors import InvalidInput, UnusableReply
from memgraph_server.language.port import Embedder, Extraction, Extractor, TurnInContext, Usage
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.turns import Turn
from memgraph_server.stores.port import CONTEXT, GraphStore


@dataclass(frozen=True, slots=True)
class Reread:
    """What reading one turn again came to. `added`: ids of assertions that were not there; `known`: how many were.

    `trouble`: why the model gave nothing, or another reader stood in for it; nothing is added then.
    """

    turn_id: str
    added: tuple[str, ...]
    usage: Usage
    trouble: str = ""
    known: int = 0


@dataclass(slots=True)
class Summary:
    """What a run came to. `troubles`: turns of which the model gave nothing, by reason."""

    read: int = 0
    added: list[str] = field(default_factory=list)
    known: int = 0
    troubles: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)

    def note(self, one: Reread) -> None:
        self.read += 1
        self.added += one.added
        self.known += one.known
        self.usage += one.usage
        self.troubles.update([one.trouble] if one.trouble else [])


def reextract(
    store: GraphStore,
    namespace: str,
    extractor: Extractor,
    embedder: Embedder,
    turn_ids: Sequence[str],
    *,
    since: Instant,
    clock: Callable[[], Instant],
) -> Iterator[Reread]:
    """Each turn as it is done, so that a run can be stopped and goes on where it was. Raises ModelUnavailable.

    `since`: the namespace's clock before the run (`Survey.recorded_at`): what is recorded later is new.
    """
    for start in range(0, len(turn_ids), SLICE):
        turns = store.turns(namespace, turn_ids[start : start + SLICE])
        shown = [_in_context(store, namespace, turn) for turn in turns]
        for item, extraction in zip(shown, _extracted(extractor, shown), strict=True):
            ids = () if extraction.trouble else _asserted(store, namespace, embedder, extraction, clock())
            added = tuple(one for one in ids if store.assertion(namespace, one).assertion.recorded_at > since)
            yield Reread(item.turn.id, added, extraction.usage, extraction.trouble, len(ids) - len(added))


def withdraw(
    store: GraphStore, namespace: str, assertion_ids: Sequence[str], *, reason: str, clock: Callable[[], Instant]
) -> int:
    """Take a run back, by its receipt; how many assertions. A second time changes nothing."""
    for assertion_id in assertion_ids:
        store.retract_assertion(namespace, assertion_id, reason=reason, now=clock())
    return len(assertion_ids)


def every_turn(store: GraphStore, namespace: str, sessions: Collection[str] = ()) -> list[str]:
    """Ids of all turns of a namespace, or of these sessions, in the order they arrived. Raises InvalidInput for a
    session that has none."""
    handles = store.sample_turns(namespace, max(1, store.corpus_size(namespace).turns))
    cards = store.turn_cards(namespace, handles)
    absent = set(sessions) - {card.session_id for card in cards.values()}
    if absent:
        raise InvalidInput(f"no turn is of session {min(absent)!r}", field="session")
    return [cards[each].turn_id for each in sorted(cards) if not sessions or cards[each].session_id in sessions]


def _in_context(store: GraphStore, namespace: str, turn: Turn) -> TurnInContext:
    before = store.previous_turns(namespace, turn.id, CONTEXT)
    speakers = store.session_speakers(namespace, turn.session_id)
    return next(in_context(before, [turn], speakers, known_names(store, namespace, before)))


def _extracted(extractor: Extractor, shown: Sequence[TurnInContext]) -> list[Extraction]:
    """Side by side; where a turn has no usable reply, each alone, so that it takes none of the others with it."""
    try:
        return extractor.extract(shown)
    except UnusableReply as error:
        if len(shown) == 1:
            return [Extraction((), trouble=error.code)]
        return [each for one in shown for each in _extracted(extractor, [one])]


def _asserted(
    store: GraphStore, namespace: str, embedder: Embedder, extraction: Extraction, now: Instant
) -> tuple[str, ...]:
    texts = sorted(set(triple_texts(extraction)))
    encoded = embedder.encode(texts) if texts else []
    vectors = {text: one.pooled for text, one in zip(texts, encoded, strict=True)}
    found = store.assert_facts(namespace, extraction.proposals, vectors, now=now) if extraction.proposals else []
    return tuple(dict.fromkeys(found))
