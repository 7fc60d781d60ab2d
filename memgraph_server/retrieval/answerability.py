"""How likely the memory holds the answer, so that a caller can abstain. A logistic over three things that can be seen:

    lead     what the turns of the person who is asked about say on the question, against what the others' turns say:
             the mean of the best three matches of each side, in spreads. Questions that swap the person ("What did Ann
             paint?", where it was Bob) match well, but the wrong person's turns. 0 where nobody, or several, are asked
             about.
    match    the best match among the turns of the person asked about (all turns, where it is nobody)
    facts    what the best surviving path is worth

The coefficients are in `schema/ranking.json`. They were set by hand: no data set at hand whose licence allows training
has questions without an answer. They separate, and are roughly calibrated, on conversations of two people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from memgraph_server.retrieval.signals import Array

BEST = 3


def features(signals: Mapping[str, Array], scales: Mapping[str, float], worth: float) -> dict[str, float]:
    """The three, from the signals of the ranked turns; `worth` of the best path, 0 where none lived."""
    own = signals.get("own", np.zeros(0)) / scales.get("own", 1.0)
    theirs = signals.get("speaker", np.zeros(0)) > 0
    if not len(own):
        return {"lead": 0.0, "match": 0.0, "facts": worth}
    told_apart = theirs.any() and not theirs.all()
    lead = _best(own[theirs]) - _best(own[~theirs]) if told_apart else 0.0
    return {"lead": lead, "match": float((own[theirs] if told_apart else own).max()), "facts": worth}


def _best(values: Array) -> float:
    return float(np.sort(values)[-BEST:].mean())


def probability(found: Mapping[str, float], coefficients: Mapping[str, float]) -> float:
    """In [0, 1]; 0 for a memory without any turn that could be ranked."""
    if found.get("match", 0.0) == 0.0 and found.get("facts", 0.0) == 0.0:
        return 0.0
    weighted = (coefficients.get(name, 0.0) * value for name, value in found.items())
    logit = coefficients.get("intercept", 0.0) + sum(weighted)
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))
