"""Which later question a fact may serve, by cue words (REAL, III-A, Exploration Intent Enrichment)."""

from __future__ import annotations

import re

from memgraph_server.memory.facts import Intent

_EVOLUTION = re.compile(
    r"\b(?:used to|no longer|not? \w+ anymore|anymore|started|stopped|quit|gave up|switched|changed|became|turned into"
    r"|moved on|began|these days|nowadays|lately|grew into|have gotten|over the years|in the past)\b"
)
_CAUSAL = re.compile(
    r"\b(?:because|so that|due to|thanks to|therefore|that's why|which is why|as a result|in order to|led to|caused?"
    r"|made (?:me|us|him|her|them)|(?:motivated|inspired) (?:me|us|him|her|them|by)|the reason)\b"
    r"|\bsince (?:i|we|he|she|they|it|you|my|our|there)\b(?! (?:last|was (?:a|\d)|were|started|moved|joined))"
)
_CONTRAST = re.compile(
    r"\b(?:but|unlike|rather than|instead of|although|though|however|whereas|prefer\w* .+ (?:to|over)|even though"
    r"|despite|compared (?:to|with)|on the other hand|more than)\b"
)
_TEMPORAL = re.compile(r"\b(?:before|after|when|while|until|till|during|as soon as|by the time|ever since|since)\b")


def intent_of(words: str, dated: bool) -> Intent:
    """`words`: the clause and what hangs on it; `dated`: it holds a date."""
    lowered = words.lower()
    for pattern, intent in ((_EVOLUTION, Intent.EVOLUTION), (_CAUSAL, Intent.CAUSAL), (_CONTRAST, Intent.CONTRAST)):
        if pattern.search(lowered):
            return intent
    return Intent.TEMPORAL if dated or _TEMPORAL.search(lowered) else Intent.FACT
