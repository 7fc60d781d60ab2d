"""Belief kept up to date: what one assertion, applied or withdrawn, changes in the facts of its key.

The answer is always that of `belief.derive` over the whole key; this finds it by looking only where the assertion
can matter. No I/O: a generator that yields batches of requests (`requests.py`) and is sent their answers, so that one
algorithm serves every store and is tested against plain lists.

1. Ask for the slice: all assertions of the key (of a multi-valued relation: of the tail). Up to `limit` of them, they
   are derived anew, and that is all. Nearly every key ends here, after one round trip.
2. Otherwise, for each stratum the assertion plays in, find the *windows* of instants it can change (`reach.py`), and
   who is believed there (`windows.py`).
3. Stitch: current facts without the windows, and the runs found inside them; touching pieces of one tail are one fact.
4. Ask for the support of what changed, and of the facts that the assertion itself supports; all else stays.

Cost in a large key is that of what changes, for claims and endings in order or late, of one tail or thousands. It can
grow with the key in these cases: an ending of everything in a multi-valued relation, or its withdrawal (the key is
derived anew); a claim that fills gaps between thousands of ended ones (it changes them all); the search for who is
left when the believed claim of a single-valued relation ends below thousands of dead ones (the store skips those); a
withdrawn claim that supports thousands of facts (each is weighed again); thousands of unsettled hedged claims of one
single-valued key.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from memgraph_server.memory.belief import BelievedFact, derive, overlap
from memgraph_server.memory.confidence import most_confident
from memgraph_server.memory.facts import Assertion, Fact, Intent, Stratum
from memgraph_server.memory.interval import Instant, Interval, difference, union
from memgraph_server.memory.reach import Change, Window, reach
from memgraph_server.memory.requests import Asking, CurrentFacts, Slice, Support
from memgraph_server.memory.sweep import Run
from memgraph_server.memory.windows import believed_in

#: A key (or a tail's slice of it) of up to so many assertions is derived whole.
SMALL = 64


@dataclass(frozen=True, slots=True)
class NewFact:
    """A version to write: `Fact` without version and recorded time, which the store gives."""

    id: str
    head: str
    relation: str
    tail: str
    stratum: Stratum
    valid_from: Instant
    valid_to: Instant | None
    confidence: float
    intent: Intent


@dataclass(frozen=True, slots=True)
class Revision:
    """Versions to close at the recorded time, and versions to write then. Facts that stay as they are: in neither."""

    close: tuple[Fact, ...] = ()
    open: tuple[NewFact, ...] = ()


def revise(assertion: Assertion, *, present: bool, single: bool, limit: int = SMALL) -> Asking[Revision]:
    """What changes in the facts of the assertion's key because it was applied (`present`) or withdrawn.

    Drive it inside the transaction, after the assertion was inserted, or marked as withdrawn. A claim of a relation
    that has an antonym changes two keys: revise both, the other with `as_endings([claim], antonym)`.
    """
    change = Change(assertion, present, single)
    tail = None if single else assertion.tail
    everything = not single and tail is None  # ends, or no longer ends, any tail of thousands
    (sliced,) = yield (Slice(change.key, tail, None if everything else limit),)
    if sliced.assertions is not None:
        return rederive(sliced.assertions, sliced.facts, single=single)
    whole = Revision()
    for stratum in _strata(change):
        part = yield from _revise_stratum(change, stratum)
        whole = Revision(whole.close + part.close, whole.open + part.open)
    return whole


def rederive(assertions: Iterable[Assertion], current: Iterable[Fact], *, single: bool) -> Revision:
    """All facts of a key (or of a tail's slice of it) derived anew, against those that are current."""
    return _compared(current, map(_new, derive(assertions, single=single)))


def fact_id(head: str, relation: str, tail: str, stratum: Stratum, valid_from: Instant) -> str:
    """The fact's id: 128 bits of SHA-256 over its parts, the same whatever the order of arrival."""
    parts = (head, relation, tail, stratum.value, str(valid_from))
    framed = b"".join(b"%d:%b" % (len(raw), raw) for raw in (part.encode("utf-8", "surrogatepass") for part in parts))
    return f"f_{hashlib.sha256(framed).hexdigest()[:32]}"


def _strata(change: Change) -> list[Stratum]:
    """Where the assertion counts: hedged ones among speculations; assertive endings, and what settles, in both."""
    if not change.assertion.assertive:
        return [Stratum.SPECULATIVE]
    if change.claims and not change.single:
        return [Stratum.STABLE]
    return [Stratum.STABLE, Stratum.SPECULATIVE]


def _revise_stratum(change: Change, stratum: Stratum) -> Asking[Revision]:
    windows = yield from reach(change, stratum)
    inside: list[Run] = []
    for window in windows:
        inside += yield from believed_in(change, stratum, window)
    current = yield from _current(change, stratum, windows)
    runs = _stitched(current, windows, inside)
    kept = {_run(fact) for fact in current if _run(fact) in runs and _stays(change, fact)}
    new = yield from _weighed(change, stratum, sorted(runs - kept, key=lambda run: run[:2]))
    return _compared((fact for fact in current if _run(fact) not in kept), new)


def _current(change: Change, stratum: Stratum, windows: Iterable[Window]) -> Asking[list[Fact]]:
    """Current facts in and beside the windows, and those whose support the assertion changes."""
    x = change.assertion
    asked = [CurrentFacts(change.key, stratum, window.tail, window.interval) for window in windows]
    if change.claims and x.assertive == (stratum is Stratum.STABLE):
        unless = (most_confident(stratum), x.intent) if change.present else None
        asked.append(CurrentFacts(change.key, stratum, x.tail, x.interval, unless))
    if not asked:
        return []
    answers = yield tuple(asked)
    return list({fact.id: fact for facts in answers for fact in facts}.values())


def _stitched(current: Iterable[Fact], windows: list[Window], inside: list[Run]) -> set[Run]:
    """The current facts outside the windows and the runs inside them, as longest runs."""
    pieces: defaultdict[str, list[Interval]] = defaultdict(list)
    for fact in current:
        holes = (window.interval for window in windows if window.tail in (None, fact.tail))
        pieces[fact.tail] += difference(fact.interval, holes)
    for run in inside:
        pieces[run.tail].append(Interval(run.start, run.end))
    return {Run(tail, whole.start, whole.end) for tail, parts in pieces.items() for whole in union(parts)}


def _stays(change: Change, fact: Fact) -> bool:
    """Whether a fact with its interval unchanged has the same confidence and intent for sure."""
    x = change.assertion
    if not change.claims or fact.tail != x.tail or x.assertive != (fact.stratum is Stratum.STABLE):
        return True
    if not overlap(x, fact.valid_from, fact.valid_to):
        return True
    return change.present and (fact.confidence, fact.intent) == (most_confident(fact.stratum), x.intent)


def _weighed(change: Change, stratum: Stratum, changed: list[Run]) -> Asking[list[NewFact]]:
    if not changed:
        return []
    key = change.key
    answers = yield tuple(Support(key, stratum, run.tail, Interval(run.start, run.end)) for run in changed)
    return [
        NewFact(
            fact_id(key.head, key.relation, run.tail, stratum, run.start),
            key.head,
            key.relation,
            run.tail,
            stratum,
            run.start,
            run.end,
            support.confidence,
            support.intent,
        )
        for run, support in zip(changed, answers, strict=True)
    ]


def _run(fact: Fact) -> Run:
    return Run(fact.tail, fact.valid_from, fact.valid_to)


def _new(fact: BelievedFact) -> NewFact:
    known_by = fact_id(fact.head, fact.relation, fact.tail, fact.stratum, fact.valid_from)
    return NewFact(
        known_by,
        fact.head,
        fact.relation,
        fact.tail,
        fact.stratum,
        fact.valid_from,
        fact.valid_to,
        fact.confidence,
        fact.intent,
    )


def _compared(current: Iterable[Fact], new: Iterable[NewFact]) -> Revision:
    """Close what is no longer so, open what is not so yet; leave alone what is the same."""
    wanted = {fact.id: fact for fact in new}
    close = []
    for fact in current:
        successor = wanted.get(fact.id)
        if successor is not None and _content(successor) == _content(fact):
            del wanted[fact.id]
        else:
            close.append(fact)
    return Revision(tuple(close), tuple(wanted.values()))


def _content(fact: Fact | NewFact) -> tuple[Instant | None, float, Intent]:
    return fact.valid_to, fact.confidence, fact.intent
