"""How likely the memory holds the answer, so that a caller can abstain. A logistic over three things that can be seen:

    lead     what the turns of the person who is asked about say on the question, against what the others' turns say:
             the mean of the best three matches of each side, in spreads. Questions that swap the person ("What did Ann
             paint?", where it was Bob) match well, but the wrong person's turns. 0 where nobody, or several, are asked
             about.
    match    the best match among the turns of the person asked about (all turns, where it is nobody)
    facts    what the best surviving path is worth

A question that the embedder cannot read (an English one cuts Chinese into single characters, each near to any other)
matches everything alike. There the words decide instead:

    coverage   what share of the question's terms, the rare ones counting most, the best turn holds; names of speakers
               and what only inflects (Hiragana alone) left out

The coefficients are in `schema/ranking.json`. They were set by hand: no data set at hand whose licence allows training
has questions without an answer. They separate, and are roughly calibrated, on conversations of two people; those of
coverage, on a small conversation in Chinese and in Japanese.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from memgraph_server.memory.terms import terms
from memgraph_server.retrieval.signals import Array, Posting, rarity

BEST = 3
#: What `schema/ranking.json` holds of it; one that is left out is 0.
COEFFICIENTS = frozenset({"intercept", "lead", "match", "facts", "unread", "coverage"})
#: Below this share of readable word pieces a question is one that the embedder cannot read.
LEGIBLE = 0.5
_INFLECTS = re.compile(r"[\u3041-\u309f\u30fc]+")


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


def legible(pieces: Sequence[str]) -> float:
    """The share of a question's word pieces that are more than one character, or one of English; 1 without pieces."""
    bare = [piece.removeprefix("##") for piece in pieces]
    known = [piece for piece in bare if piece != "[UNK]" and (len(piece) > 1 or piece.isascii())]
    return len(known) / len(bare) if bare else 1.0


def coverage(postings: Mapping[str, Posting], asked: Iterable[str], names: Iterable[str], turns: int) -> float:
    """In [0, 1]: the rarity of the question's terms that the best turn holds, of that of all. `asked`: its terms."""
    left_out = {term for name in names for term in terms(name)}
    wanted = [term for term in dict.fromkeys(asked) if term not in left_out and not _INFLECTS.fullmatch(term)]
    weights = {term: rarity(postings[term].documents if term in postings else 0, turns) for term in wanted}
    found = [(postings[term].handles, weight) for term, weight in weights.items() if term in postings]
    handles = np.concatenate([np.zeros(0, np.int64), *(there for there, _ in found)])
    held: Array = np.zeros(1)
    if len(handles):
        _, places = np.unique(handles, return_inverse=True)
        weighed = np.repeat([weight for _, weight in found], [len(there) for there, _ in found])
        held = np.bincount(places, weighed).astype(np.float64)
    total = sum(weights.values())
    return float(held.max()) / total if total > 0 else 0.0


def probability(found: Mapping[str, float], coefficients: Mapping[str, float]) -> float:
    """In [0, 1]; 0 for a memory without any turn that could be ranked."""
    if found.get("match", 0.0) == 0.0 and found.get("facts", 0.0) == 0.0:
        return 0.0
    if found.get("legible", 1.0) < LEGIBLE:
        logit = coefficients.get("unread", 0.0) + coefficients.get("coverage", 0.0) * found.get("coverage", 0.0)
    else:
        weighted = (coefficients.get(name, 0.0) * found.get(name, 0.0) for name in ("lead", "match", "facts"))
        logit = coefficients.get("intercept", 0.0) + sum(weighted)
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))
