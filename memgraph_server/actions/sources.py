"""Who has read a memory, and taking back all that one reader claimed, so that it can be brought back.

Every assertion names its reader (`source`: "local/3", "llm:MODEL/extract-1"). `undo` withdraws all that a source
claims: nothing is deleted, what was believed before is believed again, and what was believed meanwhile can still be
read. A withdrawal is for good, so `redo` claims the very same anew, under the next number of its id ("a_…~1").

What an operator has withdrawn for another reason stays withdrawn. Each step is its own transaction: either can be
stopped, and goes on where it was. Claims of callers ("api") are theirs to withdraw, one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field

from memgraph_server.errors import InvalidInput, NotFound
from memgraph_server.language.port import Embedder
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.stores.port import AssertionView, GraphStore
from memgraph_server.stores.records import AssertionRecord, Header

#: Why an undone assertion is withdrawn; by this `redo` knows it again.
UNDONE = "its source was withdrawn"
API = "api"
#: The number behind an id that the store has chosen; a caller's own ids mean nothing.
_AGAIN = re.compile(r"(a_[0-9a-f]{32})~(\d+)")
#: Assertions brought back in one transaction.
_CALL = 256


@dataclass(slots=True)
class Claims:
    """Of one source. `standing`, `undone`: assertion ids; `corrected`: how many were withdrawn for another reason;
    `turns`: ids of turns that it has claims from."""

    standing: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    corrected: int = 0
    turns: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Survey:
    """`recorded_at`: the namespace's clock; whatever is new from then on is recorded later."""

    recorded_at: Instant
    sources: Mapping[str, Claims]

    def of(self, source: str) -> Claims:
        """Raises NotFound, naming the sources there are."""
        if source not in self.sources:
            raise NotFound(f"no assertion is of {source!r}; there are {', '.join(sorted(self.sources)) or 'none'}",
                           field="source")  # fmt: skip
        return self.sources[source]


def survey(store: GraphStore, namespace: str) -> Survey:
    """One pass over the namespace. Of an assertion that was brought back only the last claim counts. Raises NotFound
    where nothing was ever written."""
    recorded_at, latest = 0, dict[str, tuple[int, AssertionRecord]]()
    with closing(store.dump(namespace)) as records:
        for record in records:
            if isinstance(record, Header):
                recorded_at = record.recorded_at
            elif isinstance(record, AssertionRecord):
                root, number = _numbered(record.id)
                if root not in latest or latest[root][0] < number:
                    latest[root] = (number, record)
    sources: dict[str, Claims] = {}
    for _, record in latest.values():
        _count(sources.setdefault(record.source, Claims()), record)
    return Survey(recorded_at, sources)


def _count(claims: Claims, record: AssertionRecord) -> None:
    if record.withdrawn is None:
        claims.standing.append(record.id)
    elif record.withdrawn.reason == UNDONE:
        claims.undone.append(record.id)
    else:
        claims.corrected += 1
    if record.turn_id is not None:
        claims.turns.add(record.turn_id)


def undo(
    store: GraphStore, namespace: str, claims: Claims, source: str, *, clock: Callable[[], Instant]
) -> Iterator[str]:
    """Withdraw what the source claims, one by one; each id when it is done. Raises InvalidInput."""
    if source == API:
        raise InvalidInput("claims of callers are withdrawn one by one: POST …/assertions/{id}/retract", field="source")
    for assertion_id in claims.standing:
        store.retract_assertion(namespace, assertion_id, reason=UNDONE, now=clock())
        yield assertion_id


def redo(
    store: GraphStore, namespace: str, claims: Claims, embedder: Embedder, *, clock: Callable[[], Instant]
) -> Iterator[str]:
    """Claim again what `undo` has withdrawn; each new id when it is done."""
    for start in range(0, len(claims.undone), _CALL):
        views = [store.assertion(namespace, each) for each in claims.undone[start : start + _CALL]]
        again = [_again(view) for view in views]
        texts = sorted({triple_text(one.head, one.relation, one.tail) for one in again if one.tail is not None})
        encoded = embedder.encode(texts) if texts else []
        vectors = {text: one.pooled for text, one in zip(texts, encoded, strict=True)}
        yield from store.assert_facts(namespace, again, vectors, now=clock())


def _again(view: AssertionView) -> Proposal:
    """The same claim under the next number."""
    one = view.assertion
    root, number = _numbered(one.id)
    return Proposal(
        head=view.head_name,
        relation=one.relation,
        tail=view.tail_name,
        valid_from=one.valid_from,
        evidence_at=one.evidence_at,
        valid_to=one.valid_to,
        confidence=one.confidence,
        intent=one.intent,
        polarity=one.polarity,
        ongoing=one.ongoing,
        from_precision=one.from_precision,
        to_precision=one.to_precision,
        from_basis=one.from_basis,
        to_basis=one.to_basis,
        source=one.source,
        span=one.span,
        turn_id=one.turn_id,
        id=f"{root}~{number + 1}",
    )


def _numbered(assertion_id: str) -> tuple[str, int]:
    """The id without its number, and that; 0 for an assertion that was not brought back."""
    found = _AGAIN.fullmatch(assertion_id)
    return (found[1], int(found[2])) if found else (assertion_id, 0)
