"""The hybrid beam search of REAL (§III-B2) as a state machine without I/O: it asks, and is told.

`BeamSearch.requests()` says what it waits for: neighbours of entities, facts for a repair, aliases, judgements of
paths. `tell(request, reply)` answers one; replies come in any order, neighbours in any pieces (`complete=False` for all
but the last), and the outcome is the same. When nothing is asked any more the search is over, and `paths()` and `trace`
hold what it found and why each beam lived or died. It never touches a store, a model, a clock or chance.

One step, for all beams of all roots together:

    state    when                                                           next
    GATHER   all neighbours are told, and some beam has no candidate        REPAIR
    GATHER   all neighbours are told, and each beam has candidates          JUDGE
    REPAIR   every lookup is told (an alias first asks for its neighbours)  JUDGE
    JUDGE    max S_QR < δ_QR or max S_LC < δ_LC of a beam not yet repaired  REPAIR
    JUDGE    otherwise: prune; a beam goes on, and the depth is below D_max GATHER
    JUDGE    otherwise: prune; none goes on                                 DONE

When judged, a beam *stops* where its own path is worth at least as much as its best extension (or where the evaluator
says so, if it has a word on that), *expands* into its
reliable extensions (S_QR ≥ δ_QR and S_LC ≥ δ_LC) otherwise, and *dies* where neither it nor any extension is reliable.
Of all stopped and expanded paths the best k of each root live on.

The equations of our copy of the paper are lost. `worth` (what stop-or-expand and pruning compare) and the order of the
filters are this project's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memgraph_server.memory.interval import Instant, Interval
from memgraph_server.retrieval.compatibility import prefer_compatible
from memgraph_server.retrieval.evidence import Path, Step
from memgraph_server.retrieval.question import Anchor
from memgraph_server.retrieval.repair import Lookup, Repairs
from memgraph_server.retrieval.requests import NeedAliases, NeedFacts, NeedJudgement, NeedNeighbours, Request
from memgraph_server.retrieval.trails import Limits, Scores, Trail, in_order, path_of, step_key, there_name

__all__ = [
    "BeamSearch", "Limits", "NeedAliases", "NeedFacts", "NeedJudgement", "NeedNeighbours", "Request", "Scores", "State",
    "Trail",
]  # fmt: skip


class State(StrEnum):
    GATHER = "gather"
    REPAIR = "repair"
    JUDGE = "judge"
    DONE = "done"


@dataclass(slots=True)
class _Beam:
    """One beam within one step."""

    trail: Trail
    extensions: list[Trail] = field(default_factory=list)
    repaired: bool = False


class BeamSearch:
    """One search from all its roots. See the module's table."""

    def __init__(
        self,
        anchors: Sequence[Anchor],
        limits: Limits,
        *,
        reference_time: Instant,
        scope: Interval | None,
        repairs: Repairs,
    ) -> None:
        """`scope`: facts that share no instant with it are left out; None: facts of any time may serve."""
        self._limits = limits
        self._reference_time = reference_time
        self._scope = scope
        self._repairs = repairs
        self._pending: dict[Request, list[Any]] = {}
        self._told: dict[Request, list[Any]] = {}
        self._scores: dict[tuple[str, ...], Scores] = {}
        self._stopped: list[Trail] = []
        self._repairing: Sequence[_Beam] = ()
        self._beams = [_Beam(Trail(anchor)) for anchor in dict.fromkeys(anchors)]
        self._depth = 0
        self.trace: list[Mapping[str, Any]] = []
        self.state = State.DONE
        if self._beams and limits.depth > 0:
            self._gather()
            self._advance()

    # -- what the driver sees

    def requests(self) -> tuple[Request, ...]:
        """All that is waited for now; empty when the search is over."""
        return tuple(self._pending)

    def tell(self, request: Request, reply: Sequence[Any], *, complete: bool = True) -> None:
        """Answer (a part of) a request: Steps for NeedNeighbours and NeedFacts, entity ids for NeedAliases, Scores for
        NeedJudgement. Raises KeyError for what was not asked."""
        self._pending[request].extend(reply)
        if not complete:
            return
        told = self._told[request] = self._pending.pop(request)
        if isinstance(request, NeedJudgement):
            self._scores.update(zip((trail.key for trail in request.trails), told, strict=True))
        self._advance()

    def paths(self) -> tuple[Path, ...]:
        """What survived, best first."""
        return tuple(path_of(trail, self._scores[trail.key]) for trail in self._in_order_of_worth())

    def worths(self) -> tuple[float, ...]:
        """What each of `paths()` is worth."""
        return tuple(map(self.worth, self._in_order_of_worth()))

    def _in_order_of_worth(self) -> list[Trail]:
        return sorted(self._stopped, key=lambda trail: (-self.worth(trail), trail.key))

    def worth(self, trail: Trail) -> float:
        """What pruning and stop-or-expand compare, in [0, 1]; 0 for a bare root. Our own formula: the evaluator's three
        scores weighted for relevance and sufficiency, times the weakest confidence along the path."""
        scores = self._scores.get(trail.key)
        if scores is None or not trail.steps:
            return 0.0
        judged = 0.4 * scores.relevance + 0.2 * scores.coherence + 0.4 * scores.sufficiency
        return judged * min(step.confidence for step in trail.steps)

    # -- GATHER

    def _gather(self) -> None:
        self.state = State.GATHER
        for beam in self._beams:
            self._ask(self._neighbours_of(beam.trail.tail))

    def _gathered(self) -> None:
        for beam in self._beams:
            beam.extensions = self._candidates(beam.trail, self._told[self._neighbours_of(beam.trail.tail)])
        empty = [beam for beam in self._beams if not beam.extensions]
        if empty:
            self._repair(empty)
        else:
            self._judge()

    def _neighbours_of(self, entity: str) -> NeedNeighbours:
        at = self._scope.start if self._scope is not None and self._scope.end == self._scope.start + 1 else None
        return NeedNeighbours(entity, at, self._limits.minimum_confidence, self._limits.fetch)

    def _candidates(self, trail: Trail, steps: Iterable[Step]) -> list[Trail]:
        """Filters by time, confidence and intent, then the m nearest; it holds whatever the store filtered."""
        admitted = [step for step in in_order(steps) if self._admits(trail, step)]
        fitting = prefer_compatible(trail.anchor.intent, admitted, key=lambda step: step.fact.intent)
        kept = fitting[: self._limits.candidates]
        self._note("candidates", trail, admitted=len(admitted), compatible=len(fitting), kept=len(kept))
        return [trail.extended(step) for step in kept]

    def _admits(self, trail: Trail, step: Step) -> bool:
        in_time = self._scope is None or step.fact.interval.overlaps(self._scope)
        believed = step.fact.confidence >= self._limits.minimum_confidence
        return in_time and believed and step.there not in trail.visited

    # -- REPAIR

    def _repair(self, beams: Sequence[_Beam]) -> None:
        self.state = State.REPAIR
        self._repairing = beams
        for beam in beams:
            beam.repaired = True
            for lookup in self._lookups(beam.trail):
                self._ask(NeedFacts(lookup))
            self._ask(NeedAliases(beam.trail.tail))

    def _lookups(self, trail: Trail) -> tuple[Lookup, ...]:
        return self._repairs.lookups(trail.tail, self._reference_time)

    def _aliases(self, trail: Trail) -> list[str]:
        return sorted(set(self._told.get(NeedAliases(trail.tail), ())) - trail.visited)

    def _looked_up(self) -> None:
        """Aliases first need their own neighbours; then all that is inferred enters within the budget."""
        for beam in self._repairing:
            for alias in self._aliases(beam.trail):
                self._ask(self._neighbours_of(alias))
        if self._pending:
            return
        for beam in self._repairing:
            self._infer(beam)
        self._judge()

    def _infer(self, beam: _Beam) -> None:
        """Of what the rules give, the best within B = max(0, m − reliable candidates) (REAL, §III-B2)."""
        known = {step_key(trail.steps[-1]) for trail in beam.extensions}
        found = [step for step in self._inferred(beam.trail) if step_key(step) not in known]
        budget = max(0, self._limits.candidates - sum(map(self._reliable, beam.extensions)))
        kept = [step for step in in_order(found) if step.there not in beam.trail.visited][:budget]
        beam.extensions += [beam.trail.extended(step) for step in kept]
        self._note("repaired", beam.trail, budget=budget, found=len(found), rules=sorted({s.rule for s in kept}))

    def _inferred(self, trail: Trail) -> list[Step]:
        steps: list[Step] = []
        for lookup in self._lookups(trail):
            steps += self._repairs.infer(lookup, in_order(self._told[NeedFacts(lookup)]))
        for alias in self._aliases(trail):
            steps += self._repairs.through_alias(in_order(self._told[self._neighbours_of(alias)]))
        return steps

    # -- JUDGE

    def _judge(self) -> None:
        """All that is not judged yet, of all beams, in one request."""
        self.state = State.JUDGE
        shown = [trail for beam in self._beams for trail in (beam.trail, *beam.extensions) if trail.steps]
        fresh = {trail.key: trail for trail in shown if trail.key not in self._scores}
        if fresh:
            self._ask(NeedJudgement(tuple(fresh[key] for key in sorted(fresh))))

    def _judged(self) -> None:
        weak = [beam for beam in self._beams if not beam.repaired and self._weak(beam)]
        if weak:
            self._repair(weak)
        else:
            self._prune()

    def _reliable(self, trail: Trail) -> bool:
        scores = self._scores.get(trail.key)
        if scores is None:
            return False
        return scores.relevance >= self._limits.relevance and scores.coherence >= self._limits.coherence

    def _weak(self, beam: _Beam) -> bool:
        """The paper's conditions two and three for counterfactual inference; `_gathered` has the first."""
        judged = [self._scores[trail.key] for trail in beam.extensions]
        return (
            max((scores.relevance for scores in judged), default=0.0) < self._limits.relevance
            or max((scores.coherence for scores in judged), default=0.0) < self._limits.coherence
        )

    # -- stop, expand, prune

    def _prune(self) -> None:
        self._depth += 1
        expanded: list[Trail] = []
        for beam in self._beams:
            expanded += self._decide(beam)
        living = self._best(self._stopped, expanded)
        self._stopped = [trail for trail in living if trail in self._stopped]
        going = [trail for trail in living if trail not in self._stopped]
        if self._depth >= self._limits.depth:
            self._stopped, going = living, []
        self._beams = [_Beam(trail) for trail in going]
        if going:
            self._gather()
        else:
            self.state = State.DONE

    def _decide(self, beam: _Beam) -> list[Trail]:
        reliable = [trail for trail in beam.extensions if self._reliable(trail)]
        best = max(map(self.worth, reliable), default=0.0)
        word = self._scores[beam.trail.key].stop if beam.trail.steps else None
        if beam.trail.steps and (self.worth(beam.trail) >= best if word is None else word or not reliable):
            self._stopped.append(beam.trail)
            self._note("stopped", beam.trail, worth=self.worth(beam.trail), best_extension=best)
            return []
        self._note("expanded" if reliable else "died", beam.trail, reliable=len(reliable), best_extension=best)
        return reliable

    def _best(self, stopped: Sequence[Trail], expanded: Sequence[Trail]) -> list[Trail]:
        """The best k of each root; a path reached twice counts once."""
        living: list[Trail] = []
        pool = {trail.key: trail for trail in (*stopped, *expanded)}
        for root in sorted({trail.anchor.entity for trail in pool.values()}):
            mine = [trail for trail in pool.values() if trail.anchor.entity == root]
            mine.sort(key=lambda trail: (-self.worth(trail), trail.key))
            living += mine[: self._limits.width]
            for trail in mine[self._limits.width :]:
                self._note("pruned", trail, worth=self.worth(trail))
        return living

    # -- between states

    def _ask(self, request: Request) -> None:
        """Nothing is asked twice, whichever beam wants it."""
        if request not in self._told:
            self._pending.setdefault(request, [])

    def _advance(self) -> None:
        """Rows of the module's table, until something is asked."""
        while not self._pending and self.state is not State.DONE:
            self._transitions[self.state](self)

    _transitions: Mapping[State, Callable[[BeamSearch], None]] = {
        State.GATHER: _gathered,
        State.REPAIR: _looked_up,
        State.JUDGE: _judged,
    }

    def _note(self, event: str, trail: Trail, **values: Any) -> None:
        names = [there_name(step) for step in trail.steps]
        scores = self._scores.get(trail.key)
        judged = (
            {} if scores is None else {"S_QR": scores.relevance, "S_LC": scores.coherence, "S_AS": scores.sufficiency}
        )
        path = " → ".join((trail.anchor.name, *names))
        self.trace.append({"step": self._depth, "event": event, "path": path, **judged, **values})
