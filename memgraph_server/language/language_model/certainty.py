"""How sure a claim can be at most, by the words that make it (REAL, III-A, Confidence Stratification). Pure.

A model may say less than this bound, never more: "maybe" in the evidence keeps a fact below θ whatever the model says.
English hedges and reporting verbs are those of the local extractor's tables; of other languages the common ones.
"""

from __future__ import annotations

import re
from functools import cache

from memgraph_server.language.language_model.grounding import Span, sentence_of
from memgraph_server.language.local_extractor.tables import tables

#: Verbs that make an opinion of what follows; "I read", "I see" and the like are mostly no reports.
_OPINIONS = ("think", "believe", "guess", "suppose", "assume", "hope", "wish", "imagine", "bet")
#: A plain statement; something asked; something under "if"; a hedge of another language.
PLAIN, ASKED, CONDITIONAL, HEDGED = 0.95, 0.5, 0.55, 0.5

_CONDITION = re.compile(r"\b(?:if|unless|whether|suppose|wish)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(
    r"\bI(?:'m| am)? (?:not (?:entirely |really |so )?sure|unsure)\b"
    r"|\b(?:not sure|no idea|who knows|i guess|i suppose)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"可能|也许|或许|大概|说不定|好像|かもしれ|たぶん|多分|おそらく|と思う|아마|것 같|"
    r"\b(?:vielleicht|möglicherweise|wahrscheinlich|eventuell|vermutlich|ich glaube|peut[- ]être|probablement|"
    r"sans doute|je crois|je pense|quizás?|tal vez|a lo mejor|probablemente|posiblemente|creo que|forse|probabilmente|"
    r"penso che|talvez|provavelmente|acho que|misschien|waarschijnlijk|kanske|может быть|возможно|"
    r"наверное|вероятно|кажется)\b|"
    r"ربما|لعل|شاید|אולי|หรือเปล่า|อาจ|शायद",
    re.IGNORECASE,
)


def bound(text: str, evidence: Span) -> float:
    """The most that a claim with this evidence can be believed, in (0, 1]."""
    start, end = sentence_of(text, evidence)
    clause = text[start : evidence[1]]
    factors = [factor for pattern, factor in _english() if pattern.search(clause)]
    limits = [PLAIN * min(factors, default=1.0)]
    if text[start:end].rstrip().endswith(("?", "？", "؟")):
        limits.append(ASKED)
    if _CONDITION.search(clause):
        limits.append(CONDITIONAL)
    if _FIRST_PERSON.search(clause) or _OTHERS.search(clause):
        limits.append(HEDGED)
    return min(limits)


@cache
def _english() -> tuple[tuple[re.Pattern[str], float], ...]:
    """Hedging words ("May" and "Will" are a month and a name: small letters only) and "I think"."""
    words = [(re.compile(rf"\b{re.escape(word)}\b"), factor) for word, factor in tables().hedges.items()]
    capital = [
        (re.compile(rf"^\W*{re.escape(word.capitalize())}\b"), factor)
        for word, factor in tables().hedges.items()
        if word not in {"may", "will"}
    ]
    verbs = [
        (re.compile(rf"\bI {verb}\b"), tables().reporting[verb]) for verb in _OPINIONS if verb in tables().reporting
    ]
    return (*words, *capital, *verbs)
