"""Read stored turns again with another model: its assertions are added beside the old ones, and can be withdrawn.

Nothing is replaced: every assertion names who read it (`source`), a turn's readers count as one voice, and the ids that
a run added are its receipt: `withdraw` takes exactly these back, whatever was believed before is believed again.
Running it again with the same model adds what is new only, since what says the very same has the same id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memgraph_server.actions.read_turns import SLICE, in_context, known_names, triple_texts
from memgraph_server.language.port import Embedder, Extraction, Extractor, TurnInContext, Usage
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.turns import Turn
from memgraph_server.stores.port import CONTEXT, GraphStore


@dataclass(frozen=True, slots=True)
class Reread:
    """What reading one turn again came to. `added`: ids of assertions; with those of other turns, the receipt.

    `trouble`: why another reader stood in for the model; nothing is added then.
    """

    turn_id: str
    added: tuple[str, ...]
    usage: Usage
    trouble: str = ""


def reextract(
    store: GraphStore,
    namespace: str,
    extractor: Extractor,
    embedder: Embedder,
    turn_ids: Sequence[str],
    *,
    clock: Callable[[], Instant],
) -> Iterator[Reread]:
    """Each turn as it is done, so that a run can be stopped and goes on where it was. Raises ModelUnavailable."""
    turns = store.turns(namespace, turn_ids)
    for start in range(0, len(turns), SLICE):
        shown = [_in_context(store, namespace, turn) for turn in turns[start : start + SLICE]]
        extractions = extractor.extract(shown)
        for item, extraction in zip(shown, extractions, strict=True):
            added = () if extraction.trouble else _added(store, namespace, embedder, extraction, clock())
            yield Reread(item.turn.id, added, extraction.usage, extraction.trouble)


def withdraw(
    store: GraphStore, namespace: str, assertion_ids: Sequence[str], *, reason: str, clock: Callable[[], Instant]
) -> int:
    """Take a run back, by its receipt; how many assertions. A second time changes nothing."""
    for assertion_id in assertion_ids:
        store.retract_assertion(namespace, assertion_id, reason=reason, now=clock())
    return len(assertion_ids)


def every_turn(store: GraphStore, namespace: str) -> list[str]:
    """Ids of all turns of a namespace, in the order they arrived."""
    handles = store.sample_turns(namespace, max(1, store.corpus_size(namespace).turns))
    cards = store.turn_cards(namespace, handles, vectors=False)
    return [cards[handle].turn_id for handle in sorted(cards)]


def _in_context(store: GraphStore, namespace: str, turn: Turn) -> TurnInContext:
    before = store.previous_turns(namespace, turn.id, CONTEXT)
    speakers = store.session_speakers(namespace, turn.session_id)
    return next(in_context(before, [turn], speakers, known_names(store, namespace, before)))


def _added(
    store: GraphStore, namespace: str, embedder: Embedder, extraction: Extraction, now: Instant
) -> tuple[str, ...]:
    texts = sorted(set(triple_texts(extraction)))
    encoded = embedder.encode(texts) if texts else []
    vectors = {text: one.pooled for text, one in zip(texts, encoded, strict=True)}
    return tuple(store.assert_facts(namespace, extraction.proposals, vectors, now=now)) if extraction.proposals else ()
