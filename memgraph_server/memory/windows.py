"""Who is believed inside a window of instants, from no more assertions than can matter there (see `reach.py`).

What matters in `[start, end)`:
- stakes that arrive in it, of claims and endings (`Arriving`);
- claims that stand at its start, in descending order of their stakes (`Standing`), down to the first that nothing
  inside the window ends: it outdoes all lower ones throughout. Of one tail, an open claim outdoes all lower ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from memgraph_server.memory.belief import bid, ends
from memgraph_server.memory.facts import Assertion, Polarity, Stratum
from memgraph_server.memory.interval import Instant, earliest
from memgraph_server.memory.reach import Change, Window
from memgraph_server.memory.requests import Arriving, Asking, Speculation, Speculations, Standing
from memgraph_server.memory.sweep import Bid, End, Order, Run, runs, stakes

#: Standing claims asked for at a time.
_PAGE = 8


def believed_in(change: Change, stratum: Stratum, window: Window) -> Asking[list[Run]]:
    """The runs of the stratum inside the window, clipped to it."""
    if stratum is Stratum.SPECULATIVE and change.single:
        (answer,) = yield (Speculation(change.key, window.tail, window.interval),)
        return _clipped(_speculative_runs(answer), window)
    if window.own is not None and not change.single:
        return [Run(window.own.tail, window.interval.start, window.interval.end)]
    (arriving,) = yield (Arriving(change.key, stratum, window.tail, window.interval),)
    arrived = _arrived(arriving, window)
    ending = ends(each for each in arriving if each.polarity is Polarity.ENDING)
    standing = yield from _standing(change, stratum, window, ending)
    own = [] if window.own is None else [window.own]
    return _clipped(runs([*arrived, *standing, *own], ending, single=change.single), window)


def _speculative_runs(answer: Speculations) -> list[Run]:
    bids = (each for claim, settled in answer.claims for each in bid(claim, earliest(claim.valid_to, settled)))
    return runs(bids, ends(answer.endings), single=False)


def _arrived(arriving: Iterable[Assertion], window: Window) -> list[Bid]:
    """Bids that arrive in the window; an earlier one of the same claim counts only if it stands."""
    return [
        each
        for claim in arriving
        if claim.polarity is Polarity.CLAIM
        for each in bid(claim, claim.valid_to)
        if window.interval.contains(each.stake[0])
    ]


def _standing(change: Change, stratum: Stratum, window: Window, ending: list[End]) -> Asking[list[Bid]]:
    """Bids that stand at the window's start, as far down as they matter."""
    at, found = window.interval.start, list[Bid]()
    below, passed = None, set[str]()
    silence = min((end.stake[0] for end in ending if end.tail is None), default=window.interval.end)
    if silence == at or (window.above is not None and window.above[0] >= at):
        return found  # everything that stands is ended at once, or is out of the question
    while True:
        request = Standing(change.key, stratum, window.tail, at, window.above, below, frozenset(passed), _PAGE)
        (page,) = yield (request,)
        for claim in page:
            below = _stake_before(claim, at)
            found.append(Bid(below, claim.tail, claim.valid_to))
            if _outdoes(found[-1], ending, silence) or (claim.valid_to is None and claim.tail == window.tail):
                return found
            if claim.valid_to is None:
                passed.add(claim.tail)
        if len(page) < _PAGE:
            return found


def _stake_before(claim: Assertion, at: Instant) -> Order:
    return max(stake for stake in stakes(claim) if stake[0] < at)


def _outdoes(standing: Bid, ending: Iterable[End], silence: Instant | None) -> bool:
    """Whether it is in force for the whole window, or as long as anything that stands at its start can be."""
    covers = standing.end is None or (silence is not None and silence <= standing.end)
    return covers and all(end.tail != standing.tail for end in ending if silence is None or end.stake[0] < silence)


def _clipped(found: Iterable[Run], window: Window) -> list[Run]:
    start, end = window.interval.start, window.interval.end
    clipped = (Run(run.tail, max(run.start, start), earliest(run.end, end)) for run in found)
    return [run for run in clipped if run.end is None or run.start < run.end]
